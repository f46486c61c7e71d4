/*
 * serve_world: the whole proxy without a jail.  The test plays the monitor,
 * the clients and the origins; a child serves loopback listeners.
 */
#ifndef FENCE_TESTS_SERVE_WORLD_H
#define FENCE_TESTS_SERVE_WORLD_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/confine.h"
#include "platform/fd.h"
#include "platform/net.h"
#include "proxy/ask.h"
#include "proxy/dnsmsg.h"
#include "proxy/proxy.h"

#define HELLO "HTTP/1.1 200 Connection established\r\n\r\n"

static int ask_fd = -1;
static pid_t worker = -1;
static struct sockaddr_storage where[PROXY_NLISTENERS];

static inline int
listen_on(int family, int type, int which)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
	    .sin6_addr = IN6ADDR_ANY_INIT };
	socklen_t len = sizeof where[which];
	int fd = socket(family, type | SOCK_CLOEXEC, 0), one = 1, zero = 0;

	assert_true(fd >= 0);
	if (family == AF_INET6) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
		setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &one,
		    sizeof one);
		assert_int_equal(bind(fd, (void *)&in6, sizeof in6), 0);
	} else
		assert_int_equal(bind(fd, (void *)&in, sizeof in), 0);
	if (type == SOCK_STREAM)
		assert_int_equal(listen(fd, 64), 0);
	assert_int_equal(getsockname(fd, (void *)&where[which], &len), 0);
	return fd;
}

/* Named as a v4 client sees it, whatever the family of the listener. */
static inline int
dial(int which, int type)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval limit = { .tv_sec = 10 };
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	in.sin_port = where[which].ss_family == AF_INET6 ?
	    ((struct sockaddr_in6 *)&where[which])->sin6_port :
	    ((struct sockaddr_in *)&where[which])->sin_port;
	assert_int_equal(connect(fd, (void *)&in, sizeof in), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	return fd;
}

/* Of proxy_limits, where a test wants another than the default. */
static int64_t give_way_ms = -1;

static inline _Noreturn void
worker_main(int fd, const int *fds)
{
	struct proxy_limits limits = proxy_default_limits;
	struct loop *loop = loop_new();
	struct proxy *p;
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	limits.max_connections = 8;
	limits.max_header_bytes = 4096;
	if (give_way_ms >= 0)
		limits.give_way_ms = give_way_ms;
	p = proxy_new(loop, fd, &limits);
	if (proxy_listen(p, (1u << PROXY_NLISTENERS) - 1, fds,
	    PROXY_NLISTENERS) != 0)
		_exit(98);
#ifndef __SANITIZE_ADDRESS__
	if (confine_net(NULL) != 0)
		_exit(99);
#endif
	status = loop_run(loop);
	proxy_free(p);
	loop_free(loop);
	_exit(status);
}

static inline int
setup(void **state)
{
	struct timeval limit = { .tv_sec = 10 };
	int sv[2], fds[PROXY_NLISTENERS];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    sv), 0);
	for (int i = 0; i < PROXY_NLISTENERS; i++)
		fds[i] = listen_on(i == PROXY_LISTEN_DNS_UDP ||
		    i == PROXY_LISTEN_TRANSPARENT6 ? AF_INET6 : AF_INET,
		    i == PROXY_LISTEN_DNS_UDP ? SOCK_DGRAM : SOCK_STREAM, i);
	worker = fork();
	if (worker == 0) {
		close(sv[0]);
		worker_main(sv[1], fds);
	}
	close(sv[1]);
	ask_fd = sv[0];
	setsockopt(ask_fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	for (int i = 0; i < PROXY_NLISTENERS; i++)
		close(fds[i]);
	return 0;
}

/* End of file on its socket is how a worker is told to go. */
static inline int
teardown(void **state)
{
	int status;

	(void)state;
	close(ask_fd);
	assert_int_equal(waitpid(worker, &status, 0), worker);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	return 0;
}

static inline void
next_question(struct ask_msg *m)
{
	struct ask_msg raw;
	ssize_t n = fd_recv(ask_fd, &raw, sizeof raw, NULL, 0, NULL, 0);

	assert_true(n > 0);
	assert_int_equal(ask_check_msg(&raw, (size_t)n, m), 0);
}

static inline void
answer(const struct ask_msg *m, struct ask_answer a, int fd)
{
	a.magic = ASK_MAGIC;
	a.id = m->id;
	assert_int_equal(fd_send(ask_fd, &a, sizeof a, &fd, fd >= 0, 0),
	    sizeof a);
}

/* A connected pair of TCP sockets: one for the worker, one is the origin. */
static inline int
origin(int *for_worker)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval limit = { .tv_sec = 10 };
	socklen_t len = sizeof in;
	int l = socket(AF_INET, SOCK_STREAM, 0), fd;

	assert_int_equal(bind(l, (void *)&in, sizeof in), 0);
	assert_int_equal(listen(l, 1), 0);
	assert_int_equal(getsockname(l, (void *)&in, &len), 0);
	*for_worker = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(*for_worker, (void *)&in, sizeof in), 0);
	fd = accept4(l, NULL, NULL, SOCK_CLOEXEC);
	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	close(l);
	return fd;
}

static inline void
put(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL),
	    strlen(text));
}

static inline void
expect(int fd, const char *text)
{
	char got[4096];
	size_t want = strlen(text), n = 0;
	ssize_t r;

	while (n < want) {
		r = recv(fd, got + n, want - n, 0);
		assert_true(r > 0);
		n += (size_t)r;
	}
	got[n] = '\0';
	assert_string_equal(got, text);
}

/* Everything up to end of file. */
static inline char *
read_all(int fd)
{
	static char got[16384];
	size_t n = 0;
	ssize_t r;

	while ((r = recv(fd, got + n, sizeof got - 1 - n, 0)) > 0)
		n += (size_t)r;
	assert_int_equal(r, 0);
	got[n] = '\0';
	return got;
}

/* One request, granted: the client's end and the origin's. */
static inline int
grant(int which, const char *request, size_t len, struct ask_answer a,
    int *ret_server, struct ask_msg *ret_asked)
{
	int client = dial(which, SOCK_STREAM), for_worker;

	assert_int_equal(send(client, request, len, MSG_NOSIGNAL), len);
	next_question(ret_asked);
	*ret_server = origin(&for_worker);
	a.status = ASK_OK;
	answer(ret_asked, a, for_worker);
	close(for_worker);
	return client;
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
