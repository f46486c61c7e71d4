/*
 * shim_world: where the shim is tried.  A row is one call: what it must
 * answer, and what the shim must say of it.
 *
 * The socket's path is fixed, so the test makes namespaces of its own with a
 * private /run.  The test program is also the child that makes the calls; it
 * runs as uid 1000 there, without capabilities, so that permissions count.
 */
#ifndef FENCE_TESTS_UNIT_SHIM_WORLD_H
#define FENCE_TESTS_UNIT_SHIM_WORLD_H

#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "shim/wire.h"

#define T	"/run/t"
#define LEN(a)	(sizeof(a) / sizeof((a)[0]))

enum {
	RESULT_FD = 100,	/* child: results out; no pipe is so high */
	ACK_FD,			/* child: one byte in, before the next row */
};

struct row {
	const char	*name;
	int		(*fn)(void);
	int		 err;		/* 0: it succeeds */
	int		 call;		/* of the record; 0: there is none */
	const char	*path;		/* or address; NULL: none */
	uint32_t	 flags;		/* or port */
	int		 old_call;	/* told before: of the old name, or 0 */
	const char	*old_path;
};

/* R(name, kind, call, errno expected, record expected) */
#define ROW_FN(id, kind, expr, err, ...)				\
static int row_##id(void) { AS_##kind(expr); }
#define ROW_DATA(id, kind, expr, err, ...)				\
	{ #id, row_##id, ROW_SAID(err __VA_OPT__(,) __VA_ARGS__, 0, \
	    NULL, 0) },
#define ROW_SAID(err, call, path, flags, old_call, old_path, ...)	\
	err, call, path, flags, old_call, old_path

#define NONE	0, NULL, 0
#define OPEN(p, flags)	WIRE_OPEN, p, flags
#define WRITE(p)	WIRE_OPEN, p, O_WRONLY | O_CREAT
#define MAKE(p)		WIRE_MAKE, p, 0
#define REMOVE(p)	WIRE_REMOVE, p, 0
#define CHANGE(p)	WIRE_CHANGE, p, 0
#define LOOK(p)		WIRE_LOOK, p, 0
#define EXEC(p)		WIRE_EXEC, p, 0
#define SYSTEM(arg)	WIRE_SYSTEM, NULL, arg
/* Two records: of the old name, and of the new one. */
#define MOVE(old, p)	WIRE_MAKE, p, 0, WIRE_REMOVE, old
#define LINK(old, p)	WIRE_MAKE, p, 0, WIRE_CHANGE, old

/* How the call answers. */
#define AS_FD(expr)	int v = (expr); if (v >= 0) close(v); return v
#define AS_ST(expr)	return (expr)
#define AS_FP(expr)	FILE *v = (expr); return v ? (fclose(v), 0) : -1
#define AS_DP(expr)	DIR *v = (expr); return v ? (closedir(v), 0) : -1
#define AS_EX(expr)							\
	pid_t p = fork();						\
	if (p == 0) {							\
		errno = 0;						\
		(void)!(expr);						\
		_exit(errno);						\
	}								\
	return reaped(p)
#define AS_VF(expr)							\
	pid_t p = vfork();						\
	if (p == 0) {							\
		(void)!(expr);						\
		_exit(errno);						\
	}								\
	return reaped(p)
#define AS_SP(expr)	pid_t p = 0; int e = (expr); return spawned(e, p)

struct result {
	int	ok;
	int	err;
};

/* --- In the child --- */

static int
at(const char *path)
{
	return syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
}

static inline int
spawned(int err, pid_t pid)
{
	if (err == 0)
		waitpid(pid, NULL, 0);
	errno = err;
	return err == 0 ? 0 : -1;
}

static inline int
reaped(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : ECANCELED;
	return errno == 0 ? 0 : -1;
}

static int
child_rows(const struct row *row, size_t n, const char *cwd)
{
	struct result r;
	size_t i;
	char ack;

	umask(0);
	if (chdir(cwd) < 0)
		return 1;
	prctl(PR_SET_NAME, "rowchild", 0, 0, 0);
	for (i = 0; i < n; i++) {
		errno = 0;
		r.ok = row[i].fn() >= 0;
		r.err = errno;
		if (write(RESULT_FD, &r, sizeof r) != sizeof r ||
		    read(ACK_FD, &ack, 1) != 1)
			return 1;
	}
	return 0;
}

/* --- The world, made once --- */

static char	 no_world[128];		/* why not, or "" */
static char	 shim[4096];
static const char self[] = "/proc/self/exe";	/* in the child, too */
static int	 wire_fd = -1;

static int
put(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0 ||
	    fchmod(fd, mode) < 0)
		return -1;
	return close(fd);
}

static int
listen_at(const char *path, int type, mode_t mode)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	strcpy(un.sun_path, path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&un, sizeof un) < 0 ||
	    chmod(path, mode) < 0)
		return -1;
	if (type == SOCK_STREAM && listen(fd, 16) < 0)
		return -1;
	return fd;
}

/* Every address that is not ours answers EACCES, as in the jail. */
static int
prohibit(int family)
{
	struct {
		struct nlmsghdr	h;
		struct rtmsg	r;
	} m = {
		.h = { .nlmsg_len = sizeof m, .nlmsg_type = RTM_NEWROUTE,
		    .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK },
		.r = { .rtm_family = family, .rtm_table = RT_TABLE_MAIN,
		    .rtm_protocol = RTPROT_STATIC, .rtm_type = RTN_PROHIBIT },
	};
	struct { struct nlmsghdr h; struct nlmsgerr e; char more[256]; } a;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0 || send(fd, &m, sizeof m, 0) < 0 ||
	    recv(fd, &a, sizeof a, 0) < (ssize_t)sizeof a.h)
		return -1;
	close(fd);
	errno = -a.e.error;
	return errno == 0 ? 0 : -1;
}

static int
lo_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rv = ioctl(fd, SIOCSIFFLAGS, &ifr);

	close(fd);
	return rv;
}

static int
make_world(void)
{
	char map[64];
	unsigned int uid = getuid(), gid = getgid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) < 0)
		return -1;
	put("/proc/self/setgroups", "deny", 0644);
	snprintf(map, sizeof map, "1000 %u 1", uid);
	put("/proc/self/uid_map", map, 0644);
	snprintf(map, sizeof map, "1000 %u 1", gid);
	put("/proc/self/gid_map", map, 0644);
	if (getuid() != 1000 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/run", "tmpfs", 0, "mode=755") < 0 ||
	    mkdir("/run/fence", 0755) < 0 || mkdir(T, 0755) < 0)
		return -1;
	if (lo_up() < 0 || prohibit(AF_INET) < 0 || prohibit(AF_INET6) < 0)
		return -1;
	wire_fd = listen_at(WIRE_SOCKET, SOCK_DGRAM, 0777);
	return wire_fd < 0 ? -1 : 0;
}

static void
need_world(void)
{
	const char *must = getenv("FENCE_MUST_WORK");

	if (no_world[0] == '\0')
		return;
	if (must != NULL && strcmp(must, "1") == 0)
		fail_msg("%s", no_world);
	print_message("SKIP: %s\n", no_world);
	skip();
}

/* --- Children and their records --- */

/* Starts argv with results on *ret_fd; *ack_fd answers it. */
static pid_t
start(const char *const *argv, int with_shim, int *ret_fd, int *ack_fd)
{
	int out[2], in[2];
	pid_t pid;

	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(out[1], RESULT_FD);
		dup2(in[0], ACK_FD);
		setenv("ASAN_OPTIONS",
		    "verify_asan_link_order=0:detect_leaks=0", 1);
		setenv("PATH", "/usr/bin:/bin", 1);
		if (with_shim)
			setenv("LD_PRELOAD", shim, 1);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(out[1]);
	close(in[0]);
	*ret_fd = out[0];
	*ack_fd = in[1];
	return pid;
}

static int
finish(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* Takes what is queued, into v[0] to v[max - 1]; each must be well formed. */
static int
drain_some(struct wire_report *v, int max)
{
	struct wire_report *r;
	ssize_t n;
	int count = 0;

	for (;;) {
		r = &v[count < max ? count : max - 1];
		n = recv(wire_fd, r, sizeof *r, MSG_DONTWAIT);
		if (n < 0)
			break;
		assert_true(n >= (ssize_t)WIRE_HEADER_BYTES);
		assert_int_equal(r->magic, WIRE_MAGIC);
		assert_int_equal(n, WIRE_HEADER_BYTES + r->path_len);
		count++;
	}
	assert_int_equal(errno, EAGAIN);
	return count;
}

static inline int
drain(struct wire_report *last)
{
	return drain_some(last, 1);
}

static void
check_connect(const struct row *row, const struct wire_report *r)
{
	char text[INET6_ADDRSTRLEN];

	assert_int_equal(r->port, row->flags);
	assert_int_equal(r->path_len, 0);
	assert_int_equal(r->flags, 0);
	assert_non_null(inet_ntop(r->family, r->addr, text, sizeof text));
	assert_string_equal(text, row->path);
}

static void
check_path(const struct wire_report *r, const char *path)
{
	assert_int_equal(r->path_len, path == NULL ? 0 : strlen(path));
	if (path != NULL)
		assert_memory_equal(r->path, path, r->path_len);
}

static void
check_record(const struct row *row, const struct wire_report *r)
{
	assert_int_not_equal(r->nr, 0);
	assert_int_equal(r->call, row->call);
	assert_int_equal(r->err, row->err);
	assert_string_equal(r->comm,
	    strncmp(row->name, "sh_", 3) == 0 ? "sh" : "rowchild");
	if (r->family == AF_INET || r->family == AF_INET6) {
		check_connect(row, r);
		return;
	}
	assert_int_equal(r->family,
	    row->call == WIRE_CONNECT ? AF_UNIX : 0);
	assert_int_equal(r->flags, row->flags);
	check_path(r, row->path);
}

static void
check_row(const struct row *row, const struct result *res, int with_shim)
{
	struct wire_report r[2];
	int count = drain_some(r, 2);
	int expect = !with_shim || row->call == 0 ? 0 :
	    row->old_call == 0 ? 1 : 2;

	if (count != expect || res->err != row->err ||
	    res->ok != (row->err == 0))
		fail_msg("%s (%s): ok %d errno %d, expected %d; "
		    "%d records, expected %d", row->name,
		    with_shim ? "shim" : "bare", res->ok, res->err,
		    row->err, count, expect);
	if (count > 1) {
		assert_int_equal(r[0].call, row->old_call);
		check_path(&r[0], row->old_path);
	}
	if (count > 0)
		check_record(row, &r[count - 1]);
}

static void
run_rows(const char *mode, const struct row *row, size_t n, int with_shim)
{
	const char *argv[] = { self, mode, NULL };
	struct result res;
	int fd, ack;
	pid_t pid;
	size_t i;

	pid = start(argv, with_shim, &fd, &ack);
	for (i = 0; i < n; i++) {
		if (read(fd, &res, sizeof res) != sizeof res)
			fail_msg("the child ended at %s", row[i].name);
		check_row(&row[i], &res, with_shim);
		assert_int_equal(write(ack, "", 1), 1);
	}
	close(fd);
	close(ack);
	assert_int_equal(finish(pid), 0);
}

/* To where it stays, whatever is mounted over the place it was built in. */
static int
move_shim(void)
{
	static const char to[] = "/run/fence/shim.so";

	if (put(to, "", 0755) < 0 ||
	    mount(shim, to, NULL, MS_BIND, NULL) < 0)
		return -1;
	strcpy(shim, to);
	return 0;
}

static void
set_up(void)
{
	const char *path = getenv("FENCE_TEST_SHIM");

	if (path == NULL)
		path = "libexec/fence/libfence-shim.so";
	if (realpath(path, shim) == NULL)
		snprintf(no_world, sizeof no_world, "no shim at %.80s", path);
	else if (make_world() < 0 || move_shim() < 0)
		snprintf(no_world, sizeof no_world,
		    "no private namespaces here: %s", strerror(errno));
}

#endif
