#include "platform/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "platform/fd.h"
#include "platform/mountinfo.h"

bool
tree_is_lack(int sys)
{
	return sys == EMFILE || sys == ENFILE || sys == ENOMEM || sys == EIO;
}

int
tree_look(struct arena *a, const char *path, struct tree_node *ret)
{
	char link[32], real[PATH_MAX];
	struct stat st;
	ssize_t n;

	*ret = (struct tree_node){ .path = path, .kind = TREE_MISSING };
	/* The kernel knows the way: a realpath() asks for every component. */
	auto_fd fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) != 0)
		return tree_is_lack(errno) ? -1 : 0;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof real);
	if (n < 0)
		return -1;
	if (n == 0 || (size_t)n == sizeof real || real[0] != '/')
		return 0;
	ret->real = arena_strndup(a, real, (size_t)n);
	ret->kind = S_ISDIR(st.st_mode) ? TREE_DIR : TREE_FILE;
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
	return 0;
}

/* Writing there is speaking to the kernel; uid 0 may, without capabilities. */
static const struct {
	const char	*name;
	unsigned long	 magic;
} kernel_fs[] = {
	{ "proc", 0x9fa0 }, { "sysfs", 0x62656572 },
	{ "cgroup", 0x27e0eb }, { "cgroup2", 0x63677270 },
	{ "debugfs", 0x64626720 }, { "tracefs", 0x74726163 },
	{ "securityfs", 0x73636673 }, { "bpf", 0xcafe4a11 },
	{ "configfs", 0x62656570 }, { "efivarfs", 0xde5e81e4 },
	{ "selinuxfs", 0xf97cff8c }, { "binfmt_misc", 0x42494e4d },
	{ "fusectl", 0x65735543 }, { "pstore", 0x6165676c },
	{ "devtmpfs", 0 }, { "devpts", 0x1cd1 },
};

enum { NKERNEL_FS = sizeof kernel_fs / sizeof kernel_fs[0] };

bool
tree_is_kernel(const char *path)
{
	struct statfs fs;

	if (statfs(path, &fs) != 0)
		return false;
	for (size_t i = 0; i < NKERNEL_FS; i++)
		if (kernel_fs[i].magic != 0 &&
		    (unsigned long)fs.f_type == kernel_fs[i].magic)
			return true;
	return false;
}

static bool
is_kernel_fs(const char *name)
{
	for (size_t i = 0; i < NKERNEL_FS; i++)
		if (strcmp(name, kernel_fs[i].name) == 0)
			return true;
	return false;
}

struct kernel_call {
	void	(*fn)(const char *, void *);
	void	*arg;
};

static void
kernel_mount(const struct mountinfo *m, void *arg)
{
	const struct kernel_call *call = arg;

	if (is_kernel_fs(m->type))
		call->fn(m->path, call->arg);
}

int
tree_kernel_mounts(void (*fn)(const char *, void *), void *arg)
{
	struct kernel_call call = { fn, arg };

	return mountinfo_each(kernel_mount, &call);
}
