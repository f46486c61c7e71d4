#include "launcher/record/who.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/ip.h"
#include "platform/base/str.h"
#include "platform/fd.h"

/*
 * Ceilings of one search.  A jail can fill these tables on purpose; then a
 * refusal goes without a name rather than holding up the run.
 */
enum {
	MAX_SOCKETS = 65536,	/* lines of one table */
	MAX_PIDS = 65536,
	MAX_LINKS = 16384,	/* descriptors of jailed processes */
};

/* Up to size - 1 bytes of /proc/PID/NAME, NUL-terminated; -1 if gone. */
static ssize_t
read_proc(pid_t pid, const char *name, char *ret, size_t size)
{
	char path[64];
	size_t len = 0;
	ssize_t n;
	int fd;

	ret[0] = '\0';
	(void)snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while (len < size - 1 &&
	    (n = read(fd, ret + len, size - 1 - len)) > 0)
		len += (size_t)n;
	(void)close(fd);
	ret[len] = '\0';
	return (ssize_t)len;
}

static void
read_link(pid_t pid, const char *name, char *ret, size_t size)
{
	char path[64];
	ssize_t n;

	(void)snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
	n = readlink(path, ret, size - 1);
	ret[n > 0 ? n : 0] = '\0';
}

/* The parent's pid stands after the last ')': a name may hold any other. */
static pid_t
parent_of(pid_t pid)
{
	char stat[1024];
	const char *p;
	long parent;

	if (read_proc(pid, "stat", stat, sizeof stat) <= 0)
		return 0;
	p = strrchr(stat, ')');
	if (p == NULL || sscanf(p + 1, " %*c %ld", &parent) != 1)
		return 0;
	return (pid_t)parent;
}

bool
who_runs(pid_t pid, const char *exe)
{
	char now[sizeof ((struct event_process *)0)->exe];

	read_link(pid, "exe", now, sizeof now);
	return exe[0] != '\0' && strcmp(now, exe) == 0;
}

pid_t
who_thread(pid_t tid)
{
	char status[1024];
	const char *p;
	int pid;

	if (read_proc(tid, "status", status, sizeof status) <= 0)
		return tid;
	/* The name, before it, cannot hold a newline: it is escaped. */
	p = strstr(status, "\nTgid:");
	return p != NULL && sscanf(p, "\nTgid: %d", &pid) == 1 && pid > 0 ?
	    pid : tid;
}

/* How many filters its calls pass; -1 if that is not said. */
static int
count_filters(pid_t pid)
{
	char status[4096];
	const char *p;
	int n;

	if (pid <= 0 || read_proc(pid, "status", status, sizeof status) <= 0)
		return -1;
	p = strstr(status, "\nSeccomp_filters:");
	return p != NULL && sscanf(p, "\nSeccomp_filters: %d", &n) == 1 ? n :
	    -1;
}

/* A line of maps is as long as its path, so the name may span two pieces. */
bool
who_has_shim(pid_t pid)
{
	enum { PIECE = 4096, MAPS_MAX = 1 << 20 };
	static const char name[] = "/libfence-shim.so";
	char path[64], buf[sizeof name + PIECE];
	size_t have = 0, total = 0;
	auto_fd fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof path, "/proc/%ld/maps", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	while (total < MAPS_MAX && (n = read(fd, buf + have, PIECE)) > 0) {
		have += (size_t)n;
		total += (size_t)n;
		if (memmem(buf, have, name, sizeof name - 1) != NULL)
			return true;
		if (have >= sizeof name) {
			memmove(buf, buf + have - sizeof name, sizeof name);
			have = sizeof name;
		}
	}
	return total == 0;	/* it has no memory any more */
}

bool
who_is_filtered(const struct event *e)
{
	unsigned n = e->nprocess < EVENT_ANCESTORS ? e->nprocess :
	    EVENT_ANCESTORS;
	int oldest;

	if (n < 2)
		return false;
	oldest = count_filters(e->process[n - 1].pid);
	return oldest >= 0 && count_filters(e->process[0].pid) > oldest;
}

/* Arguments are separated by NUL and end with one, or with several. */
static void
read_cmdline(pid_t pid, char *ret, size_t size)
{
	ssize_t len = read_proc(pid, "cmdline", ret, size);

	while (len > 0 && ret[len - 1] == '\0')
		len--;
	for (ssize_t i = 0; i < len; i++)
		if (ret[i] == '\0')
			ret[i] = ' ';
}

static int
describe(pid_t pid, struct event_process *p)
{
	ssize_t n;

	*p = (struct event_process){ .pid = pid };
	n = read_proc(pid, "comm", p->comm, sizeof p->comm);
	if (n < 0)
		return -1;
	if (n > 0 && p->comm[n - 1] == '\n')
		p->comm[n - 1] = '\0';
	read_link(pid, "exe", p->exe, sizeof p->exe);
	read_cmdline(pid, p->cmdline, sizeof p->cmdline);
	read_link(pid, "cwd", p->cwd, sizeof p->cwd);
	return 0;
}

int
who_pid(pid_t pid, pid_t stop_pid, struct event *e)
{
	e->nprocess = 0;
	while (pid > 0 && pid != stop_pid && e->nprocess < EVENT_ANCESTORS) {
		if (describe(pid, &e->process[e->nprocess]) != 0)
			break;
		e->nprocess++;
		pid = parent_of(pid);
		if (pid == 1)
			break;		/* the host's init tells nothing */
	}
	return (int)e->nprocess;
}

/*
 * The kernel prints each 32-bit word of an address in host order.  An IPv4
 * address becomes a mapped one, so that both families are spelled alike.
 */
static int
parse_addr(const char *hex, uint8_t ret[16])
{
	size_t len = strlen(hex);
	uint8_t raw[16];

	if (len != 8 && len != 32)
		return -1;
	for (size_t i = 0; i < len / 8; i++) {
		uint32_t word;

		if (sscanf(hex + i * 8, "%8" SCNx32, &word) != 1)
			return -1;
		memcpy(raw + i * 4, &word, 4);
	}
	if (len == 8)
		ip_map(raw, ret);
	else
		memcpy(ret, raw, 16);
	return 0;
}

static int
is_wildcard(const uint8_t addr[16])
{
	static const uint8_t any6[16];
	static const uint8_t any4[16] = { [10] = 0xff, [11] = 0xff };

	return memcmp(addr, any6, 16) == 0 || memcmp(addr, any4, 16) == 0;
}

/* How well one line of the table fits: 2 address and port, 1 port, 0 not. */
static int
match_line(const char *line, int is_udp, const struct ask_source *src,
    uint64_t *ret_inode)
{
	static const unsigned listening = 0x0a;
	char hex[33];
	uint8_t addr[16], want[16];
	unsigned port, state;
	uint64_t inode;

	if (sscanf(line, " %*u: %32[0-9A-Fa-f]:%x %*32[0-9A-Fa-f]:%*x %x "
	    "%*x:%*x %*x:%*x %*x %*u %*d %" SCNu64, hex, &port, &state,
	    &inode) != 4)
		return 0;
	if (port != src->port || inode == 0 || parse_addr(hex, addr) != 0 ||
	    (!is_udp && state == listening))
		return 0;
	*ret_inode = inode;
	if (src->family == AF_INET)
		ip_map(src->addr, want);
	else
		memcpy(want, src->addr, 16);
	if (src->family != 0 && memcmp(addr, want, 16) == 0)
		return 2;
	return src->family == 0 || (is_udp && is_wildcard(addr)) ? 1 : 0;
}

/* Best match of one table; keeps what an earlier table found better. */
static void
search_table(pid_t jail_pid, const char *name, int is_udp,
    const struct ask_source *src, int *best, uint64_t *ret_inode)
{
	char path[64], line[512];
	FILE *f;

	(void)snprintf(path, sizeof path, "/proc/%ld/net/%s", (long)jail_pid,
	    name);
	f = fopen(path, "re");
	if (f == NULL)
		return;
	for (int i = 0; i < MAX_SOCKETS && *best < 2 &&
	    fgets(line, sizeof line, f) != NULL; i++) {
		uint64_t inode = 0;
		int score = match_line(line, is_udp, src, &inode);

		if (score > *best) {
			*best = score;
			*ret_inode = inode;
		}
	}
	(void)fclose(f);
}

/* 1 found, 0 not; each look at a descriptor is taken from *links. */
static int
owns_socket(pid_t pid, const char *socket_link, int *links)
{
	char path[64], link[64];
	const struct dirent *d;
	int found = 0;
	DIR *dir;

	(void)snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
	dir = opendir(path);
	if (dir == NULL)
		return 0;
	while (!found && *links > 0 && (d = readdir(dir)) != NULL) {
		ssize_t n;

		(*links)--;
		n = readlinkat(dirfd(dir), d->d_name, link, sizeof link - 1);
		if (n <= 0)
			continue;
		link[n] = '\0';
		found = strcmp(link, socket_link) == 0;
	}
	(void)closedir(dir);
	return found;
}

static int
net_of(pid_t pid, struct stat *ret)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%ld/ns/net", (long)pid);
	return stat(path, ret);
}

/*
 * /proc lists pids upwards, so of several that share the socket the oldest
 * is found: the one that made it, more often than not.
 */
static pid_t
find_owner(pid_t jail_pid, uint64_t inode)
{
	int links = MAX_LINKS, pids = MAX_PIDS;
	char socket_link[64];
	struct stat jail, st;
	const struct dirent *d;
	pid_t found = 0;
	uint64_t pid;
	DIR *dir;

	if (net_of(jail_pid, &jail) != 0 || (dir = opendir("/proc")) == NULL)
		return 0;
	(void)snprintf(socket_link, sizeof socket_link,
	    "socket:[%" PRIu64 "]", inode);
	while (found == 0 && links > 0 && pids > 0 &&
	    (d = readdir(dir)) != NULL) {
		if (str_to_u64(str_of(d->d_name), INT32_MAX, &pid) != 0)
			continue;
		pids--;
		if (net_of((pid_t)pid, &st) != 0 ||
		    st.st_ino != jail.st_ino || st.st_dev != jail.st_dev)
			continue;
		if (owns_socket((pid_t)pid, socket_link, &links))
			found = (pid_t)pid;
	}
	(void)closedir(dir);
	return found;
}

pid_t
who_socket(pid_t jail_pid, int is_udp, const struct ask_source *src)
{
	int best = 0;
	uint64_t inode = 0;

	if (jail_pid <= 0 || src->port == 0)
		return 0;
	search_table(jail_pid, is_udp ? "udp" : "tcp", is_udp, src, &best,
	    &inode);
	search_table(jail_pid, is_udp ? "udp6" : "tcp6", is_udp, src, &best,
	    &inode);
	return best > 0 ? find_owner(jail_pid, inode) : 0;
}
