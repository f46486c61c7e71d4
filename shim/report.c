#include "shim/hook.h"

#include <sys/prctl.h>
#include <sys/un.h>

#include <netinet/in.h>

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "shim/hidden.h"
#include "shim/report.h"
#include "shim/sys.h"

/*
 * Room for a record with a path of up to n bytes.  Alternate signal stacks are
 * as small as 8 KiB and the kernel's own frame takes up to half of it, so the
 * usual report (an absolute path) must not bring a whole record.
 */
#define RECORD(n)	__builtin_alloca(WIRE_HEADER_BYTES + (n))

/* For a record without a path: gcc would say that it is no whole struct. */
static inline size_t
no_path(void)
{
	size_t n = 0;

	__asm__("" : "+r"(n));
	return n;
}

enum { SEARCH_MAX = 32 };	/* folders of PATH that are told of */

extern char **environ;

/*
 * Reports that could not be sent, since the last that could; above them the
 * pid whose they are: a child does not tell what its parent will.
 */
static uint64_t lost;

static void
lost_add(uint32_t n)
{
	uint64_t owner = (uint64_t)SYS(getpid) << 32;
	uint64_t was = __atomic_load_n(&lost, __ATOMIC_RELAXED), now;

	do
		now = (was >> 32 == owner >> 32 ? was : owner) + n;
	while (!__atomic_compare_exchange_n(&lost, &was, now, true,
	    __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static uint32_t
lost_take(void)
{
	uint64_t was = __atomic_exchange_n(&lost, 0, __ATOMIC_RELAXED);

	return was >> 32 == (uint64_t)SYS(getpid) ? (uint32_t)was : 0;
}

static void
record_init(struct wire_report *r, struct told t)
{
	memset(r, 0, WIRE_HEADER_BYTES);
	r->magic = WIRE_MAGIC;
	r->call = t.call;
	r->nr = t.nr;
	r->err = t.err;
	r->flags = t.flags;
	SYS(prctl, PR_GET_NAME, r->comm);
}

static long
send_on(int fd, const struct wire_report *r)
{
	static const struct sockaddr_un to = {
		.sun_family = AF_UNIX,
		.sun_path = WIRE_SOCKET,
	};

	return SYS(sendto, fd, r, WIRE_HEADER_BYTES + r->path_len,
	    MSG_DONTWAIT | MSG_NOSIGNAL, &to, WIRE_MARKED(sizeof to));
}

/* The header alone: a record of the caller's may have room for no other. */
static void
send_lost(int fd)
{
	struct wire_report *r = RECORD(no_path());
	uint32_t n = lost_take();

	if (n == 0)
		return;
	record_init(r, (struct told){ WIRE_LOST, .flags = n, .err = EAGAIN });
	if (send_on(fd, r) < 0)
		lost_add(n);
}

/*
 * The kernel queues ten datagrams, so a burst is faster than its reader: let
 * that run once.  It is not waited for.
 */
static void
record_send(const struct wire_report *r)
{
	int fd = SYS(socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	long rv = fd;

	if (fd >= 0) {
		rv = send_on(fd, r);
		if (rv == -EAGAIN) {
			SYS(sched_yield);
			rv = send_on(fd, r);
		}
	}
	if (rv < 0)
		lost_add(1);
	else if (__atomic_load_n(&lost, __ATOMIC_RELAXED) > 0)
		send_lost(fd);
	if (fd >= 0)
		SYS(close, fd);
}

/* Last words.  Where nothing was lost this costs nothing. */
__attribute__((destructor)) static void
end(void)
{
	int saved = errno, fd;

	if (__atomic_load_n(&lost, __ATOMIC_RELAXED) == 0)
		return;
	fd = SYS(socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		send_lost(fd);
		SYS(close, fd);
	}
	errno = saved;
}

/* "/proc/self/fd/N" without stdio. */
static void
fd_link(int fd, char link[32])
{
	static const char head[] = "/proc/self/fd/";
	char digits[12];
	size_t n = 0, at = sizeof head - 1;
	unsigned int rest = fd;

	memcpy(link, head, at);
	do {
		digits[n++] = '0' + rest % 10;
		rest /= 10;
	} while (rest > 0);
	while (n > 0)
		link[at++] = digits[--n];
	link[at] = '\0';
}

/* Length of the directory's path in buf, 0 if it has none. */
static size_t
dir_path(int dir_fd, char *buf)
{
	char link[32];
	long n;

	if (dir_fd == AT_FDCWD) {
		n = SYS(getcwd, buf, WIRE_PATH_MAX);
		n -= 1;			/* counts the NUL */
	} else if (dir_fd >= 0) {
		fd_link(dir_fd, link);
		n = SYS(readlinkat, AT_FDCWD, link, buf, WIRE_PATH_MAX);
	} else
		return 0;
	/* "pipe:[7]", "(unreachable)/x": no path */
	return n > 0 && buf[0] == '/' ? n : 0;
}

/* Appends up to n bytes or a NUL; answers the new length. */
static size_t
append(char *buf, size_t len, const char *s, size_t n)
{
	while (n-- > 0 && *s != '\0' && len < WIRE_PATH_MAX)
		buf[len++] = *s++;
	return len;
}

/* Appends below a directory (or to nothing). */
static size_t
append_below(char *buf, size_t len, const char *s, size_t n)
{
	if (len > 0 && n > 0 && *s != '\0' && buf[len - 1] != '/')
		len = append(buf, len, "/", 1);
	return append(buf, len, s, n);
}

/* Bytes of path that record_path() may write. */
static size_t
path_room(const char *path, size_t n)
{
	return n > 0 && path[0] == '/' ? n : WIRE_PATH_MAX;
}

static void
record_path(struct wire_report *r, int dir_fd, const char *path, size_t n)
{
	size_t len = 0;

	if (n == 0 || path[0] != '/')
		len = dir_path(dir_fd, r->path);
	r->path_len = append_below(r->path, len, path, n);
}

static void
report_bytes(struct told t, int dir_fd, const char *path, size_t n)
{
	struct wire_report *r = RECORD(path_room(path, n));
	int saved = errno;

	record_init(r, t);
	record_path(r, dir_fd, path, n);
	if (r->path_len > 0)
		record_send(r);
	errno = saved;
}

void
report_path(struct told t, int dir_fd, const char *path)
{
	report_bytes(t, dir_fd, path, strnlen(path, WIRE_PATH_MAX));
}

void
report_dir(struct told t, const char *path, size_t dir_len)
{
	while (dir_len > 1 && path[dir_len - 1] == '/')
		dir_len--;
	t.call = WIRE_OPEN;
	t.flags = REPORT_CHANGES;
	report_bytes(t, AT_FDCWD, path, dir_len);
}

void
report_call(struct told t, int type)
{
	struct wire_report *r = RECORD(no_path());
	int saved = errno;

	record_init(r, t);
	r->sock_type = type;
	record_send(r);
	errno = saved;
}

static const char *
search_path(void)
{
	char **e;

	for (e = environ; e != NULL && *e != NULL; e++)
		if (strncmp(*e, "PATH=", 5) == 0)
			return *e + 5;
	return "/bin:/usr/bin";
}

/* FILE below the first folder of a search path, as text; 0: too long. */
static size_t
candidate(const char *dirs, const char *file, size_t n, char *buf)
{
	size_t len = append(buf, 0, dirs, strchrnul(dirs, ':') - dirs);

	len = append_below(buf, len, file, n);
	return len < WIRE_PATH_MAX ? len : 0;
}

/* What follows the first folder of a search path; NULL: nothing. */
static const char *
next_dir(const char *dirs)
{
	dirs = strchrnul(dirs, ':');
	return *dirs == '\0' ? NULL : dirs + 1;
}

/*
 * execvp() says EACCES if any candidate did, and not which.  The first that
 * access(2) refuses is it; Landlock and supervisors do not show in access(2),
 * so failing that the first that is there.  Answers its length in buf, or 0.
 */
static size_t
find_program(const char *file, size_t n, char *buf)
{
	const char *dirs, *present = NULL;
	size_t len;
	long rv;

	for (dirs = search_path(); dirs != NULL; dirs = next_dir(dirs)) {
		len = candidate(dirs, file, n, buf);
		if (len == 0)
			return 0;
		buf[len] = '\0';
		rv = SYS(faccessat, AT_FDCWD, buf, X_OK);
		if (told_by_kernel(-rv))
			return len;
		if (rv == 0 && present == NULL)
			present = dirs;
	}
	return present == NULL ? 0 : candidate(present, file, n, buf);
}

/* Not inlined, or its record would stand below that of report_path(). */
static __attribute__((noinline)) void
report_searched(struct told t, const char *file, size_t n)
{
	struct wire_report *r = RECORD(WIRE_PATH_MAX);
	int saved = errno;
	size_t len;

	record_init(r, t);
	len = find_program(file, n, r->path);
	if (len == 0 || r->path[0] != '/')
		len = append(r->path, 0, file, n);
	r->path_len = len;
	record_send(r);
	errno = saved;
}

static __attribute__((noinline)) void
report_missing(struct told t, const char *file, size_t n)
{
	struct wire_report *r = RECORD(WIRE_PATH_MAX + 1);
	int saved = errno, left = SEARCH_MAX;
	const char *dirs = search_path();

	record_init(r, t);
	for (; dirs != NULL && left-- > 0; dirs = next_dir(dirs)) {
		r->path_len = candidate(dirs, file, n, r->path);
		if (r->path_len == 0 || r->path[0] != '/')
			continue;
		r->path[r->path_len] = '\0';
		if (hidden_look(AT_FDCWD, r->path))
			record_send(r);
	}
	errno = saved;
}

void
report_program(struct told t, const char *file)
{
	size_t n = strnlen(file, WIRE_PATH_MAX);

	if (memchr(file, '/', n) != NULL)
		report_path(t, AT_FDCWD, file);
	else if (t.err == ENOENT)
		report_missing(t, file, n);
	else
		report_searched(t, file, n);
}

/* Bytes of the socket's name; 0 for families that have numbers. */
static size_t
unix_len(const struct sockaddr *sa, socklen_t len)
{
	const struct sockaddr_un *un = (const void *)sa;
	const size_t at = offsetof(struct sockaddr_un, sun_path);

	if (sa->sa_family != AF_UNIX || len <= at || len > sizeof *un)
		return 0;
	return un->sun_path[0] == '\0' ? len - at :
	    strnlen(un->sun_path, len - at);
}

/* False if the address is none that is told. */
static bool
record_addr(struct wire_report *r, const struct sockaddr *sa, socklen_t len,
    size_t name_len)
{
	const struct sockaddr_in *in = (const void *)sa;
	const struct sockaddr_in6 *in6 = (const void *)sa;
	const struct sockaddr_un *un = (const void *)sa;

	r->family = sa->sa_family;
	if (sa->sa_family == AF_INET && len >= sizeof *in) {
		r->port = ntohs(in->sin_port);
		memcpy(r->addr, &in->sin_addr, sizeof in->sin_addr);
	} else if (sa->sa_family == AF_INET6 && len >= sizeof *in6) {
		r->port = ntohs(in6->sin6_port);
		memcpy(r->addr, &in6->sin6_addr, sizeof in6->sin6_addr);
	} else if (name_len == 0) {
		return false;
	} else if (un->sun_path[0] == '\0') {
		/* Abstract: bytes, NULs among them. */
		memcpy(r->path, un->sun_path, name_len);
		r->path[0] = '@';
		r->path_len = name_len;
	} else
		record_path(r, AT_FDCWD, un->sun_path, name_len);
	return true;
}

void
report_connect(struct told t, int fd, const struct sockaddr *sa,
    socklen_t len)
{
	int saved = errno, type = 0;
	socklen_t size = sizeof type;
	struct wire_report *r;
	size_t n, room = 0;

	if (len < sizeof sa->sa_family)
		return;
	n = unix_len(sa, len);
	if (n > 0)
		room = path_room(((const struct sockaddr_un *)sa)->sun_path,
		    n);
	r = RECORD(room);
	record_init(r, t);
	if (SYS(getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0)
		r->sock_type = type;
	if (record_addr(r, sa, len, n))
		record_send(r);
	errno = saved;
}
