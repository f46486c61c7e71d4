#include "platform/linux/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	CREATE_VERSION = 1 << 0,	/* landlock_create_ruleset() flag */
	RULE_PATH_BENEATH = 1, RULE_NET_PORT = 2,
	ABI_LAST = 7,			/* of the table; later ones add to it */

	READ_ONLY = LANDLOCK_FS_EXECUTE | LANDLOCK_FS_READ_FILE |
	    LANDLOCK_FS_READ_DIR,
	DEV = READ_ONLY | LANDLOCK_FS_WRITE_FILE | LANDLOCK_FS_TRUNCATE |
	    LANDLOCK_FS_IOCTL_DEV,
	/* The kernel refuses any other right on what is no directory. */
	NON_DIRECTORY = LANDLOCK_FS_EXECUTE | LANDLOCK_FS_WRITE_FILE |
	    LANDLOCK_FS_READ_FILE | LANDLOCK_FS_TRUNCATE |
	    LANDLOCK_FS_IOCTL_DEV,

	FS_1 = (LANDLOCK_FS_MAKE_SYM << 1) - 1,
	FS_2 = FS_1 | LANDLOCK_FS_REFER,
	FS_3 = FS_2 | LANDLOCK_FS_TRUNCATE,
	FS_5 = FS_3 | LANDLOCK_FS_IOCTL_DEV,
	NET_4 = LANDLOCK_NET_BIND | LANDLOCK_NET_CONNECT,
	SCOPE_6 = LANDLOCK_SCOPE_ABSTRACT | LANDLOCK_SCOPE_SIGNALS,
};

/* The kernel takes a longer structure than it knows if the rest is zero. */
struct ruleset_attr {
	uint64_t	handled_fs;
	uint64_t	handled_net;
	uint64_t	scoped;
};

struct path_beneath_attr {
	uint64_t	allowed;
	int32_t		parent_fd;
} __attribute__((packed));

struct net_port_attr {
	uint64_t	allowed;
	uint64_t	port;
};

static const struct landlock_rights by_abi[ABI_LAST + 1] = {
	[1] = { FS_1, 0, 0 },
	[2] = { FS_2, 0, 0 },
	[3] = { FS_3, 0, 0 },
	[4] = { FS_3, NET_4, 0 },
	[5] = { FS_5, NET_4, 0 },
	[6] = { FS_5, NET_4, SCOPE_6 },
	[7] = { FS_5, NET_4, SCOPE_6 },
};

int
landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    CREATE_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

static int
row_of(int abi)
{
	return abi < 0 ? 0 : abi > ABI_LAST ? ABI_LAST : abi;
}

uint64_t
landlock_handled(int abi)
{
	return by_abi[row_of(abi)].fs;
}

uint64_t
landlock_scoped(int abi)
{
	return by_abi[row_of(abi)].scoped;
}

uint64_t
landlock_read_rights(int abi)
{
	return landlock_handled(abi) & READ_ONLY;
}

uint64_t
landlock_list_rights(void)
{
	return LANDLOCK_FS_READ_DIR;
}

uint64_t
landlock_write_rights(int abi)
{
	return landlock_handled(abi) & ~(uint64_t)LANDLOCK_FS_IOCTL_DEV;
}

uint64_t
landlock_dev_rights(int abi)
{
	return landlock_handled(abi) & DEV;
}

uint64_t
landlock_stdio_read(int abi)
{
	return landlock_handled(abi) &
	    (LANDLOCK_FS_READ_FILE | LANDLOCK_FS_IOCTL_DEV);
}

uint64_t
landlock_stdio_write(int abi)
{
	return landlock_handled(abi) & (LANDLOCK_FS_WRITE_FILE |
	    LANDLOCK_FS_TRUNCATE | LANDLOCK_FS_IOCTL_DEV);
}

/* parent_fd need not be O_PATH; the rule holds the inode, not the path. */
static int
allow_fd(int ruleset_fd, int fd, uint64_t rights)
{
	struct path_beneath_attr attr = { .parent_fd = fd };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	if (!S_ISDIR(st.st_mode))
		rights &= NON_DIRECTORY;
	if (rights == 0)
		return 0;	/* the kernel calls an empty rule an error */
	attr.allowed = rights;
	return syscall(SYS_landlock_add_rule, ruleset_fd, RULE_PATH_BENEATH,
	    &attr, 0);
}

static int
allow_path(int ruleset_fd, const char *path, uint64_t rights)
{
	int fd, rv, saved;

	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		/* Nothing granted where nothing is, or below a mask. */
		return errno == ENOENT || errno == ENOTDIR ||
		    errno == EACCES ? 0 : -1;
	rv = allow_fd(ruleset_fd, fd, rights);
	saved = errno;
	(void)close(fd);
	errno = saved;
	return rv;
}

static int
allow_stdio(int ruleset_fd, const struct init_plan *plan)
{
	for (int fd = 0; fd <= 2; fd++) {
		int mode = fcntl(fd, F_GETFL);
		uint64_t rights = 0;
		struct stat st;

		if (mode < 0 || (mode & O_PATH) || fstat(fd, &st) < 0 ||
		    (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode)))
			continue;
		if ((mode & O_ACCMODE) != O_WRONLY)
			rights |= plan->stdio_read;
		if ((mode & O_ACCMODE) != O_RDONLY)
			rights |= plan->stdio_write;
		/* EBADFD: a memfd or the like, where Landlock has no say. */
		if (allow_fd(ruleset_fd, fd, rights & plan->handled_fs) < 0 &&
		    errno != EBADFD)
			return -1;
	}
	return 0;
}

static int
allow_all(int ruleset_fd, const struct init_plan *plan, const char *base)
{
	const struct init_rule *rules =
	    (const struct init_rule *)(base + plan->rules);

	for (uint32_t i = 0; i < plan->nrules; i++)
		if (allow_path(ruleset_fd, base + rules[i].path,
		    rules[i].rights & plan->handled_fs) < 0)
			return -1;
	return allow_stdio(ruleset_fd, plan);
}

static int
allow_port(int ruleset_fd, uint16_t port)
{
	struct net_port_attr attr = { LANDLOCK_NET_CONNECT, port };

	return (int)syscall(SYS_landlock_add_rule, ruleset_fd, RULE_NET_PORT,
	    &attr, 0);
}

/* Enters the domain of the rules, if all of them could be added; closes. */
static int
restrict_self(int ruleset_fd, int rv)
{
	int saved;

	if (rv == 0)
		rv = (int)syscall(SYS_landlock_restrict_self, ruleset_fd, 0);
	saved = errno;
	(void)close(ruleset_fd);
	errno = saved;
	return rv;
}

static int
create(const struct ruleset_attr *attr)
{
	return (int)syscall(SYS_landlock_create_ruleset, attr, sizeof *attr,
	    0);
}

int
landlock_apply(const struct init_plan *plan, const char *base)
{
	struct ruleset_attr attr = {
		.handled_fs = plan->handled_fs, .scoped = plan->scoped,
	};
	int fd;

	if (plan->handled_fs == 0 && plan->scoped == 0)
		return 0;
	fd = create(&attr);
	return fd < 0 ? -1 : restrict_self(fd, allow_all(fd, plan, base));
}

int
landlock_enter(const struct landlock_rights *wanted, uint16_t port)
{
	const struct landlock_rights *known = &by_abi[row_of(landlock_abi())];
	struct ruleset_attr attr = { .handled_fs = wanted->fs & known->fs,
	    .handled_net = wanted->net & known->net,
	    .scoped = wanted->scoped & known->scoped };
	int fd;

	if (known->fs == 0)
		return 0;
	fd = create(&attr);
	return fd < 0 ? -1 : restrict_self(fd, port != 0 &&
	    (attr.handled_net & LANDLOCK_NET_CONNECT) != 0 ?
	    allow_port(fd, port) : 0);
}
