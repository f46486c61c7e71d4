/* Processes and sockets of this very test, as /proc tells them. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "launcher/record/who.h"

/* A child that lives until its pipe closes; says when it is ready. */
struct child {
	pid_t	pid;
	int	hold_fd, ready_fd;
	int	is_ready;
};

static void
child_wait(const int hold[2], const int ready[2])
{
	char c = 0;

	(void)close(hold[1]);
	(void)!write(ready[1], &c, 1);
	(void)!read(hold[0], &c, 1);
	_exit(0);
}

static struct child
child_start(void (*prepare)(void))
{
	int hold[2], ready[2];
	struct child c;
	char byte;

	assert_int_equal(pipe(hold), 0);
	assert_int_equal(pipe(ready), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (c.pid == 0) {
		prepare();
		child_wait(hold, ready);
	}
	(void)close(hold[0]);
	(void)close(ready[1]);
	c.hold_fd = hold[1];
	c.ready_fd = ready[0];
	c.is_ready = read(c.ready_fd, &byte, 1) == 1;
	return c;
}

static void
child_end(struct child *c)
{
	(void)close(c->hold_fd);
	(void)close(c->ready_fd);
	(void)waitpid(c->pid, NULL, 0);
}

/* A name that tries to pass for the fields behind it. */
static void
evil_name(void)
{
	(void)prctl(PR_SET_NAME, "x) S 1 1\n\x1b(");
	(void)!chdir("/");
}

static void
test_pid(void **state)
{
	struct event e = { 0 };
	struct child c = child_start(evil_name);

	(void)state;
	assert_true(c.is_ready);
	assert_int_equal(who_pid(c.pid, getppid(), &e), 2);
	assert_int_equal(e.process[0].pid, c.pid);
	assert_string_equal(e.process[0].comm, "x) S 1 1\n\x1b(");
	assert_string_equal(e.process[0].cwd, "/");
	assert_int_equal(e.process[0].exe[0], '/');
	assert_non_null(strstr(e.process[0].cmdline, "test_who"));
	assert_int_equal(e.process[1].pid, getpid());
	assert_string_equal(e.process[0].exe, e.process[1].exe);
	assert_int_equal(who_pid(c.pid, getpid(), &e), 1);
	assert_int_equal(who_pid(c.pid, c.pid, &e), 0);
	child_end(&c);
	assert_int_equal(who_pid(c.pid, getpid(), &e), 0);
	assert_int_equal(e.nprocess, 0);
	assert_int_equal(who_pid(0, 0, &e), 0);
	assert_int_equal(who_pid(-1, 0, &e), 0);
}

/* In a process that has more ancestors than an event has room for. */
static int
count_deep(void)
{
	struct event e = { 0 };

	for (int i = 0; i < EVENT_ANCESTORS + 2; i++) {
		pid_t pid = fork();
		int status = -1;

		if (pid == 0)
			continue;
		(void)waitpid(pid, &status, 0);
		return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	}
	return who_pid(getpid(), 0, &e);	/* all return to _exit() */
}

static void
test_depth(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(count_deep() & 0x7f);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), EVENT_ANCESTORS);
}

static struct ask_source
source_of(int fd)
{
	struct sockaddr_storage ss;
	const struct sockaddr_in *v4 = (void *)&ss;
	const struct sockaddr_in6 *v6 = (void *)&ss;
	struct ask_source src = { 0 };
	socklen_t len = sizeof ss;

	assert_int_equal(getsockname(fd, (void *)&ss, &len), 0);
	src.family = ss.ss_family;
	if (ss.ss_family == AF_INET) {
		src.port = ntohs(v4->sin_port);
		memcpy(src.addr, &v4->sin_addr, 4);
	} else {
		src.port = ntohs(v6->sin6_port);
		memcpy(src.addr, &v6->sin6_addr, 16);
	}
	return src;
}

static int
bound(int family, int type, const char *addr)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	int fd = socket(family, type | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (family == AF_INET) {
		assert_int_equal(inet_pton(AF_INET, addr, &v4.sin_addr), 1);
		assert_int_equal(bind(fd, (void *)&v4, sizeof v4), 0);
	} else {
		assert_int_equal(inet_pton(AF_INET6, addr, &v6.sin6_addr), 1);
		if (bind(fd, (void *)&v6, sizeof v6) != 0) {
			(void)close(fd);
			return -1;
		}
	}
	return fd;
}

static void
test_tcp(void **state)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	int server = bound(AF_INET, SOCK_STREAM, "127.0.0.1");
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct ask_source src = source_of(server);

	(void)state;
	to.sin_port = htons(src.port);
	memcpy(&to.sin_addr, src.addr, 4);
	assert_int_equal(listen(server, 1), 0);
	/* One that listens has asked for nothing. */
	assert_int_equal(who_socket(getpid(), 0, &src), 0);
	assert_int_equal(connect(client, (void *)&to, sizeof to), 0);
	src = source_of(client);
	assert_int_equal(who_socket(getpid(), 0, &src), getpid());
	assert_int_equal(who_socket(getpid(), 1, &src), 0);
	src.addr[3] = 9;		/* 127.0.0.9 is somebody else */
	assert_int_equal(who_socket(getpid(), 0, &src), 0);
	src.family = 0;			/* not known: the port has to do */
	assert_int_equal(who_socket(getpid(), 0, &src), getpid());
	src.port = 0;
	assert_int_equal(who_socket(getpid(), 0, &src), 0);
	(void)close(client);
	(void)close(server);
}

static void
test_udp(void **state)
{
	static const struct {
		int		 family;
		const char	*bind, *from;	/* from: what the gate saw */
		int		 is_found;
	} rows[] = {
		{ AF_INET, "127.0.0.1", "127.0.0.1", 1 },
		{ AF_INET, "0.0.0.0", "127.0.0.1", 1 },
		{ AF_INET, "127.0.0.1", "127.0.0.2", 0 },
		{ AF_INET6, "::ffff:127.0.0.1", "127.0.0.1", 1 },
		{ AF_INET6, "::", "127.0.0.1", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int fd = bound(rows[i].family, SOCK_DGRAM, rows[i].bind);
		struct ask_source src;

		if (fd < 0)
			continue;	/* no IPv6 here */
		src = source_of(fd);
		memset(src.addr, 0, sizeof src.addr);
		src.family = AF_INET;
		assert_int_equal(inet_pton(AF_INET, rows[i].from, src.addr),
		    1);
		assert_int_equal(who_socket(getpid(), 1, &src),
		    rows[i].is_found ? getpid() : 0);
		(void)close(fd);
	}
}

static void
other_net(void)
{
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		_exit(0);
}

/* The same address and port in another namespace is another socket. */
static void
test_namespace(void **state)
{
	int fd = bound(AF_INET, SOCK_DGRAM, "127.0.0.1");
	struct ask_source src = source_of(fd);
	struct child c = child_start(other_net);

	(void)state;
	if (c.is_ready) {	/* where namespaces can be had */
		assert_int_equal(who_socket(c.pid, 1, &src), 0);
		assert_int_equal(who_socket(getpid(), 1, &src), getpid());
	}
	child_end(&c);
	(void)close(fd);
	assert_int_equal(who_socket(c.pid, 1, &src), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pid),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_udp),
		cmocka_unit_test(test_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
