/*
 * The shim in other people's programs: every row is run twice, bare and with
 * the library preloaded.  Result and errno must be the same; a refused call
 * must send exactly one record, any other none.
 *
 * The socket's path is fixed, so the test makes namespaces of its own with a
 * private /run.  This program is also the child that makes the calls; it runs
 * as uid 1000 there, without capabilities, so that permissions count.
 */
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/rtnetlink.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
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

#include "tests/unit/shim_rows.h"

enum {
	RESULT_FD = 8,		/* child: results out */
	ACK_FD,			/* child: one byte in, before the next row */
	THREADS = 100,
	ROUNDS = 20,
};

struct result {
	int	ok;
	int	err;
};

static int
child_rows(void)
{
	struct result r;
	size_t i;
	char ack;

	umask(0);
	if (chdir(T "/dir") < 0)
		return 1;
	prctl(PR_SET_NAME, "rowchild", 0, 0, 0);
	for (i = 0; i < LEN(rows); i++) {
		errno = 0;
		r.ok = rows[i].fn() >= 0;
		r.err = errno;
		if (write(RESULT_FD, &r, sizeof r) != sizeof r ||
		    read(ACK_FD, &ack, 1) != 1)
			return 1;
	}
	return 0;
}

static void *
hammer(void *arg)
{
	int i, fd, *failed = arg;

	for (i = 0; i < ROUNDS; i++) {
		errno = 0;
		if (open(T "/none", O_RDONLY) >= 0 || errno != EACCES)
			__atomic_add_fetch(failed, 1, __ATOMIC_RELAXED);
		fd = open(T "/file", O_RDONLY);
		if (fd < 0)
			__atomic_add_fetch(failed, 1, __ATOMIC_RELAXED);
		else
			close(fd);
	}
	return NULL;
}

/* The number of the next descriptor tells whether one was kept. */
static int
child_threads(void)
{
	pthread_t th[THREADS];
	int i, failed = 0, first = dup(0), last;

	close(first);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&th[i], NULL, hammer, &failed) != 0)
			return 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(th[i], NULL);
	last = dup(0);
	return failed > 0 || last != first;
}

/* --- The world, made once --- */

static char	 no_world[128];		/* why not, or "" */
static char	 shim[4096];
static char	 self[4096];
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

/* Files as the rows expect them. */
static void
make_files(void)
{
	if (umount2(T, MNT_DETACH) < 0)
		assert_int_equal(errno, EINVAL);	/* the first time */
	assert_int_equal(mount("tmpfs", T, "tmpfs", 0, "mode=755"), 0);
	assert_int_equal(put(T "/file", "text", 0644), 0);
	assert_int_equal(put(T "/file.x", "text", 0644), 0);
	assert_int_equal(put(T "/empty", "\1", 0755), 0);
	assert_int_equal(put(T "/none", "text", 0), 0);
	assert_int_equal(mkdir(T "/dir", 0755), 0);
	assert_int_equal(mkdir(T "/shut", 0), 0);
	assert_int_equal(symlink("loop", T "/loop"), 0);
	assert_true(listen_at(T "/sock", SOCK_STREAM, 0777) >= 0);
	assert_true(listen_at(T "/sock.shut", SOCK_STREAM, 0) >= 0);
	assert_int_equal(mkdir(T "/ro", 0755), 0);
	assert_int_equal(mount("tmpfs", T "/ro", "tmpfs", 0, "mode=755"), 0);
	assert_int_equal(put(T "/ro/file", "text", 0644), 0);
	assert_int_equal(mkdir(T "/ro/dir", 0755), 0);
	assert_int_equal(mount(NULL, T "/ro", NULL, MS_REMOUNT | MS_BIND |
	    MS_RDONLY, NULL), 0);
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

/* Takes what is queued; each record must be well formed. */
static int
drain(struct wire_report *last)
{
	ssize_t n;
	int count = 0;

	for (;;) {
		n = recv(wire_fd, last, sizeof *last, MSG_DONTWAIT);
		if (n < 0)
			break;
		assert_true(n >= (ssize_t)WIRE_HEADER_BYTES);
		assert_int_equal(last->magic, WIRE_MAGIC);
		assert_int_equal(n, WIRE_HEADER_BYTES + last->path_len);
		count++;
	}
	assert_int_equal(errno, EAGAIN);
	return count;
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
check_record(const struct row *row, const struct wire_report *r)
{
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
	assert_int_equal(r->path_len, strlen(row->path));
	assert_memory_equal(r->path, row->path, r->path_len);
}

static void
check_row(const struct row *row, const struct result *res, int with_shim)
{
	struct wire_report r;
	int count = drain(&r), expect = with_shim && row->call != 0;

	if (count != expect || res->err != row->err ||
	    res->ok != (row->err == 0))
		fail_msg("%s (%s): ok %d errno %d, expected %d; "
		    "%d records, expected %d", row->name,
		    with_shim ? "shim" : "bare", res->ok, res->err,
		    row->err, count, expect);
	if (count > 0)
		check_record(row, &r);
}

static void
run_rows(int with_shim)
{
	const char *argv[] = { self, "--rows", NULL };
	struct result res;
	int fd, ack;
	pid_t pid;
	size_t i;

	make_files();
	pid = start(argv, with_shim, &fd, &ack);
	for (i = 0; i < LEN(rows); i++) {
		assert_int_equal(read(fd, &res, sizeof res), sizeof res);
		check_row(&rows[i], &res, with_shim);
		assert_int_equal(write(ack, "", 1), 1);
	}
	close(fd);
	close(ack);
	assert_int_equal(finish(pid), 0);
}

static void
rows_bare(void **state)
{
	(void)state;
	need_world();
	run_rows(0);
}

static void
rows_with_shim(void **state)
{
	(void)state;
	need_world();
	run_rows(1);
}

/* A burst may overflow the socket; nobody waits, and nothing is garbled. */
static void
threads(void **state)
{
	const char *argv[] = { self, "--threads", NULL };
	struct wire_report r;
	struct pollfd pfd[2];
	int fd, ack, count = 0;
	pid_t pid;

	(void)state;
	need_world();
	make_files();
	pid = start(argv, 1, &fd, &ack);
	pfd[0] = (struct pollfd){ .fd = wire_fd, .events = POLLIN };
	pfd[1] = (struct pollfd){ .fd = fd };
	do {
		assert_true(poll(pfd, 2, 60000) > 0);
		count += drain(&r);
	} while (pfd[1].revents == 0);
	assert_int_equal(finish(pid), 0);
	count += drain(&r);
	close(fd);
	close(ack);
	assert_true(count > 0 && count <= THREADS * ROUNDS);
}

/* What people run: one refusal, one record. */
static void
tools(void **state)
{
	static const struct {
		const char	*line, *path, *comm;
		int		 call;
	} t[] = {
		{ "echo x > " T "/ro/e", T "/ro/e", "sh", WIRE_OPEN },
		{ "cat " T "/none", T "/none", "cat", WIRE_OPEN },
		{ "touch " T "/ro/e", T "/ro/e", "touch", WIRE_OPEN },
		{ "mkdir " T "/ro/e", T "/ro/e", "mkdir", WIRE_OPEN },
		{ "rm -f " T "/ro/file", T "/ro/file", "rm", WIRE_OPEN },
		{ "mv " T "/ro/file " T "/ro/e", T "/ro/e", "mv", WIRE_OPEN },
		{ "ln -s x " T "/ro/e", T "/ro/e", "ln", WIRE_OPEN },
		{ "ls " T "/shut", T "/shut", "ls", WIRE_OPEN },
		{ "exec " T "/file", T "/file", "sh", WIRE_EXEC },
		{ "cd " T "; cat none", T "/none", "cat", WIRE_OPEN },
		{ "cat " T "/file; ls " T "/nope", NULL, NULL, 0 },
	};
	struct wire_report r;
	char line[256];
	size_t i;
	int fd, ack, count;

	(void)state;
	need_world();
	make_files();
	for (i = 0; i < LEN(t); i++) {
		snprintf(line, sizeof line, "exec >/dev/null 2>&1; %s",
		    t[i].line);
		finish(start((const char *[]){ "/bin/sh", "-c", line, NULL },
		    1, &fd, &ack));
		close(fd);
		close(ack);
		count = drain(&r);
		if (count != (t[i].path != NULL))
			fail_msg("%s: %d records", t[i].line, count);
		if (count == 0)
			continue;
		assert_int_equal(r.call, t[i].call);
		assert_string_equal(r.comm, t[i].comm);
		assert_int_equal(r.path_len, strlen(t[i].path));
		assert_memory_equal(r.path, t[i].path, r.path_len);
	}
}

/* Nobody listens, nobody reads: the program does not notice. */
static void
unheard(void **state)
{
	const char *argv[] = { self, "--threads", NULL };
	struct wire_report r;
	int fd, ack;

	(void)state;
	need_world();
	make_files();
	assert_int_equal(finish(start(argv, 1, &fd, &ack)), 0);
	close(fd);
	close(ack);
	assert_true(drain(&r) > 0);
	assert_int_equal(rename(WIRE_SOCKET, "/run/fence/gone"), 0);
	assert_int_equal(finish(start(argv, 1, &fd, &ack)), 0);
	close(fd);
	close(ack);
	assert_int_equal(rename("/run/fence/gone", WIRE_SOCKET), 0);
	assert_int_equal(drain(&r), 0);
}

static void
set_up(void)
{
	const char *path = getenv("FENCE_TEST_SHIM");

	if (path == NULL)
		path = "libexec/fence/libfence-shim.so";
	if (readlink("/proc/self/exe", self, sizeof self - 1) < 0 ||
	    realpath(path, shim) == NULL)
		snprintf(no_world, sizeof no_world, "no shim at %.80s", path);
	else if (make_world() < 0)
		snprintf(no_world, sizeof no_world,
		    "no private namespaces here: %s", strerror(errno));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_bare),
		cmocka_unit_test(rows_with_shim),
		cmocka_unit_test(threads),
		cmocka_unit_test(tools),
		cmocka_unit_test(unheard),
	};

	if (argc == 2 && strcmp(argv[1], "--rows") == 0)
		return child_rows();
	if (argc == 2 && strcmp(argv[1], "--threads") == 0)
		return child_threads();
	set_up();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
