/*
 * route, mint and nft together: a namespace as the jail's, looked at from
 * the inside with ordinary calls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <seccomp.h>
#include <sys/socket.h>

#include "platform/linux/mint.h"
#include "platform/linux/nft.h"
#include "platform/linux/route.h"
#include "tests/unit/netns.h"

union address {
	struct sockaddr		sa;
	struct sockaddr_in	in;
	struct sockaddr_in6	in6;
};

static int listen_fd[JAIL_NLISTENERS], local_fd[4];
/* The second is where the gate would like to be, and has to give way. */
static const uint16_t local_ports[] = { 5432, 2 };
static const struct jail_spec spec = { .http_port = 3128, .socks_port = 1080,
    .local_ports = local_ports, .nlocal_ports = 2 };
static const char *cannot;

static socklen_t
address(union address *a, const char *host, unsigned port)
{
	memset(a, 0, sizeof *a);
	if (strchr(host, ':') != NULL) {
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_port = htons(port);
		assert_int_equal(inet_pton(AF_INET6, host,
		    &a->in6.sin6_addr), 1);
		return sizeof a->in6;
	}
	a->in.sin_family = AF_INET;
	a->in.sin_port = htons(port);
	assert_int_equal(inet_pton(AF_INET, host, &a->in.sin_addr), 1);
	return sizeof a->in;
}

static bool
is_missing(const char *host)
{
	return strchr(host, ':') != NULL &&
	    listen_fd[JAIL_LISTEN_TRANSPARENT6] < 0;
}

/* A connected socket, or -1 with errno; blocking for at most 2 s. */
static int
dial(int type, const char *host, unsigned port)
{
	struct timeval limit = { 2, 0 };
	union address a;
	socklen_t len = address(&a, host, port);
	int fd = socket(a.sa.sa_family, type | SOCK_CLOEXEC, 0);
	int saved;

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	if (connect(fd, &a.sa, len) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static void
need_namespaces(void)
{
	if (cannot == NULL)
		return;
	print_message("SKIP: %s\n", cannot);
	if (getenv("FENCE_MUST_WORK") != NULL)
		fail_msg("%s", cannot);
	skip();
}

static void
test_refused(void **state)
{
	static const struct {
		int type;
		const char *host;
		unsigned port;
		int error;
	} cases[] = {
		{ SOCK_STREAM, "1.2.3.4", 443, EACCES },
		{ SOCK_STREAM, "10.0.0.1", 22, EACCES },
		{ SOCK_STREAM, "8.8.8.8", 443, EACCES },
		{ SOCK_STREAM, "8.8.8.8", 54, EACCES },
		{ SOCK_DGRAM, "8.8.8.8", 123, EACCES },
		{ SOCK_STREAM, "2606:4700::1111", 443, EACCES },
		{ SOCK_DGRAM, "2606:4700::1111", 443, EACCES },
		/* Next to the ranges, but outside. */
		{ SOCK_STREAM, "198.17.255.255", 443, EACCES },
		{ SOCK_STREAM, "198.20.0.0", 443, EACCES },
		{ SOCK_STREAM, "203.0.114.0", 443, EACCES },
		{ SOCK_STREAM, "2001:db9::1", 443, EACCES },
		/* The jail's own addresses are ordinary. */
		{ SOCK_STREAM, "198.18.0.1", 9, ECONNREFUSED },
		{ SOCK_STREAM, "127.0.0.1", 9, ECONNREFUSED },
		{ SOCK_STREAM, "::1", 9, ECONNREFUSED },
	};

	(void)state;
	need_namespaces();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int fd;

		if (is_missing(cases[i].host))
			continue;
		fd = dial(cases[i].type, cases[i].host, cases[i].port);
		if (fd >= 0 || errno != cases[i].error)
			fail_msg("%s:%u: %s", cases[i].host, cases[i].port,
			    fd >= 0 ? "connected" : strerror(errno));
	}
}

/* Where a TCP connection arrives, and under which address. */
static void
test_taken(void **state)
{
	static const struct {
		const char *host;
		unsigned port;
		enum jail_listener where;
	} cases[] = {
		{ "198.18.5.5", 443, JAIL_LISTEN_TRANSPARENT4 },
		{ "198.18.1.0", 1, JAIL_LISTEN_TRANSPARENT4 },
		{ "198.19.255.255", 65535, JAIL_LISTEN_TRANSPARENT4 },
		{ "203.0.113.7", 80, JAIL_LISTEN_TRANSPARENT4 },
		{ "192.0.2.1", 80, JAIL_LISTEN_TRANSPARENT4 },
		{ "2001:db8::5", 443, JAIL_LISTEN_TRANSPARENT6 },
		{ "127.0.0.1", 3128, JAIL_LISTEN_HTTP },
		{ "127.0.0.1", 53, JAIL_LISTEN_DNS_TCP },
		{ "198.18.5.5", 53, JAIL_LISTEN_DNS_TCP },
		{ "8.8.8.8", 53, JAIL_LISTEN_DNS_TCP },
		{ "2001:4860:4860::8888", 53, JAIL_LISTEN_DNS_TCP },
	};

	(void)state;
	need_namespaces();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		union address want, got;
		socklen_t want_len = address(&want, cases[i].host,
		    cases[i].port), len = sizeof got;
		char mapped[64];
		int fd, peer;

		if (is_missing(cases[i].host))
			continue;
		fd = dial(SOCK_STREAM, cases[i].host, cases[i].port);
		if (fd < 0)
			fail_msg("%s:%u: %s", cases[i].host, cases[i].port,
			    strerror(errno));
		peer = accept4(listen_fd[cases[i].where], NULL, NULL,
		    SOCK_CLOEXEC);
		if (peer < 0)
			fail_msg("%s:%u did not arrive", cases[i].host,
			    cases[i].port);
		assert_int_equal(getsockname(peer, &got.sa, &len), 0);
		if (got.sa.sa_family == AF_INET6 && want.sa.sa_family ==
		    AF_INET) {
			snprintf(mapped, sizeof mapped, "::ffff:%s",
			    cases[i].host);
			want_len = address(&want, mapped, cases[i].port);
		}
		assert_int_equal(len, want_len);
		assert_memory_equal(&got, &want, len);
		assert_int_equal(send(peer, "x", 1, 0), 1);
		assert_int_equal(recv(fd, mapped, 1, 0), 1);
		close(peer);
		close(fd);
	}
}

/* Ports that lead to the host: on both localhosts, and nowhere else. */
static void
test_local(void **state)
{
	static const struct {
		const char	*host;
		unsigned	 port;
		int		 where;		/* -1: refused */
	} cases[] = {
		{ "127.0.0.1", 5432, 0 }, { "::1", 5432, 1 },
		{ "127.0.0.1", 2, 2 }, { "::1", 2, 3 },
		{ "198.18.0.1", 5432, -1 }, { "127.0.0.2", 5432, -1 },
	};

	(void)state;
	need_namespaces();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int fd, peer;

		if (is_missing(cases[i].host))
			continue;
		fd = dial(SOCK_STREAM, cases[i].host, cases[i].port);
		if ((fd >= 0) != (cases[i].where >= 0))
			fail_msg("%s:%u", cases[i].host, cases[i].port);
		if (fd < 0)
			continue;
		peer = accept4(local_fd[cases[i].where], NULL, NULL,
		    SOCK_CLOEXEC);
		assert_true(peer >= 0);
		close(peer);
		close(fd);
	}
	assert_int_equal(mint_port(listen_fd[JAIL_LISTEN_TRANSPARENT4]), 3);
}

/* QUIC clients fall back at once. */
static void
test_udp_refused(void **state)
{
	char c;
	int fd;

	(void)state;
	need_namespaces();
	fd = dial(SOCK_DGRAM, "198.18.5.5", 443);
	assert_true(fd >= 0);
	assert_int_equal(send(fd, "x", 1, 0), 1);
	assert_int_equal(recv(fd, &c, 1, 0), -1);
	assert_int_equal(errno, ECONNREFUSED);
	close(fd);
}

/* As the resolver does: read, and answer with the same packet info. */
static void
answer(int fd)
{
	char data[64], control[256], back[CMSG_SPACE(sizeof(struct
	    in6_pktinfo))];
	union address from;
	struct iovec iov = { data, sizeof data };
	struct msghdr m = { .msg_name = &from, .msg_namelen = sizeof from,
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof control };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	assert_int_equal(poll(&p, 1, 2000), 1);
	n = recvmsg(fd, &m, 0);
	assert_true(n > 0);
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c != NULL;
	    c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == IPPROTO_IPV6 &&
		    c->cmsg_type == IPV6_PKTINFO) {
			memcpy(back, c, CMSG_LEN(sizeof(struct in6_pktinfo)));
			iov.iov_len = n;
			m.msg_control = back;
			m.msg_controllen = sizeof back;
			assert_int_equal(sendmsg(fd, &m, 0), n);
			return;
		}
	fail_msg("no IPV6_PKTINFO");
}

static void
test_resolver(void **state)
{
	static const char *const hosts[] = { "8.8.8.8", "198.18.5.5",
		"198.18.0.1", "127.0.0.1", "127.0.0.53", "203.0.113.7",
		"2001:4860:4860::8888", "2001:db8::5", "::1" };
	union address a;
	char data[64];

	(void)state;
	need_namespaces();
	if (listen_fd[JAIL_LISTEN_TRANSPARENT6] < 0)
		skip();
	for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
		/* A connected socket takes answers from there alone. */
		int fd = dial(SOCK_DGRAM, hosts[i], 53);
		socklen_t len = address(&a, hosts[i], 53);

		assert_true(fd >= 0);
		assert_int_equal(send(fd, "ask", 3, 0), 3);
		answer(listen_fd[JAIL_LISTEN_DNS_UDP]);
		assert_int_equal(recv(fd, data, sizeof data, 0), 3);
		close(fd);
		/* And one that is not. */
		fd = socket(a.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		assert_int_equal(sendto(fd, "ask", 3, 0, &a.sa, len), 3);
		answer(listen_fd[JAIL_LISTEN_DNS_UDP]);
		assert_int_equal(recv(fd, data, sizeof data, 0), 3);
		close(fd);
	}
}

static void
test_steps_are_named(void **state)
{
	static const struct jail_range odd[] = {
		{ .family = AF_INET, .addr = { 192, 0, 2, 0 }, .bits = 24 },
		{ .family = AF_UNIX },
	};
	static const struct jail_range wide[] = {
		{ .family = AF_INET, .bits = 33 },
	};
	const struct jail_spec proxies = { .http_port = 3128,
	    .socks_port = 1080 };
	int step, fds[JAIL_NLISTENERS], local[4];

	(void)state;
	need_namespaces();
	assert_int_equal(route_setup(NULL, 0, &step), -1);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(step, ROUTE_ADDRESS);
	assert_int_equal(route_setup(odd, 2, &step), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(step, ROUTE_RANGE + 1);
	assert_int_equal(route_setup(wide, 1, &step), -1);
	assert_int_equal(step, ROUTE_RANGE);
	assert_int_equal(mint_listeners(&spec, false, fds, local, &step), -1);
	assert_int_equal(errno, EADDRINUSE);
	assert_int_equal(step, JAIL_NLISTENERS);
	for (int i = 0; i < 4; i++)
		assert_int_equal(local[i], -1);
	/* Without the local ports the gate makes way, the others cannot. */
	assert_int_equal(mint_listeners(&proxies, false, fds, NULL,
	    &step), -1);
	assert_int_equal(errno, EADDRINUSE);
	assert_int_equal(step, JAIL_LISTEN_DNS_UDP);
	assert_int_equal(mint_gate(fds, &step), -1);
	assert_int_equal(step, JAIL_LISTEN_DNS_UDP);
	assert_int_equal(mint_listeners(&proxies, true, fds, NULL, &step),
	    -1);
	assert_int_equal(errno, EADDRINUSE);
	assert_int_equal(step, JAIL_LISTEN_HTTP);
	for (int i = 0; i < JAIL_NLISTENERS; i++)
		assert_int_equal(fds[i], -1);
}

/* As a kernel built without it says. */
static int
lose_ipv6(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	struct scmp_arg_cmp is_inet6 = { .arg = 0, .op = SCMP_CMP_EQ,
	    .datum_a = AF_INET6 };
	int rv;

	assert_non_null(ctx);
	rv = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EAFNOSUPPORT),
	    SCMP_SYS(socket), 1, is_inet6);
	if (rv == 0)
		rv = seccomp_load(ctx);
	seccomp_release(ctx);
	return rv;
}

/* Last, since it moves to a namespace of its own; IPv6 is off there. */
static void
test_without_ipv6(void **state)
{
	static const struct jail_range ranges[] = {
		{ AF_INET6, { 0x20, 0x01, 0x0d, 0xb8 }, 32 },
	};
	int step, fds[JAIL_NLISTENERS], local[4], fd;

	(void)state;
	need_namespaces();
	if (netns_enter() < 0 || netns_put(
	    "/proc/sys/net/ipv6/conf/all/disable_ipv6", "1") < 0 || netns_put(
	    "/proc/sys/net/ipv6/conf/lo/disable_ipv6", "1") < 0 ||
	    lose_ipv6() < 0)
		skip();
	if (route_setup(ranges, 1, &step) < 0)
		fail_msg("%s: %s", route_step_text(step), strerror(errno));
	assert_int_equal(mint_listeners(&spec, false, fds, local, &step), 0);
	assert_int_equal(fds[JAIL_LISTEN_TRANSPARENT6], -1);
	assert_true(local[0] >= 0 && local[1] == -1 && local[2] >= 0);
	assert_int_equal(mint_port(fds[JAIL_LISTEN_TRANSPARENT6]), 0);
	assert_int_equal(nft_apply(fds[JAIL_LISTEN_TRANSPARENT4], -1, &step),
	    0);
	fd = dial(SOCK_STREAM, "198.18.5.5", 443);
	assert_true(fd >= 0);
	close(fd);
	fd = dial(SOCK_DGRAM, "8.8.8.8", 53);
	assert_int_equal(send(fd, "ask", 3, 0), 3);
	assert_int_equal(recv(fds[JAIL_LISTEN_DNS_UDP], &step, 4, 0), 3);
	close(fd);
}

static int
setup(void **state)
{
	/* The host bits of the second are ours to cut off. */
	static const struct jail_range base[] = {
		{ AF_INET, { 203, 0, 113, 0 }, 24 },
		{ AF_INET, { 203, 0, 113, 9 }, 24 },
		{ AF_INET, { 198, 18, 0, 0 }, 15 },
		{ AF_INET6, { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 }, 32 },
	};
	static struct jail_range ranges[600];	/* more than one send */
	size_t n = sizeof base / sizeof base[0];
	int step;

	(void)state;
	memcpy(ranges, base, sizeof base);
	for (; n < 600; n++)
		ranges[n] = (struct jail_range){ .family = AF_INET,
		    .addr = { 192, 0, 2 + n / 256, n % 256 }, .bits = 32 };
	ranges[599] = (struct jail_range){ .family = AF_INET,
	    .addr = { 192, 0, 2, 1 }, .bits = 32 };
	if (netns_enter() < 0) {
		cannot = "no user and network namespaces here";
		return 0;
	}
	if (route_setup(ranges, n, &step) < 0) {
		print_error("%s: %s\n", route_step_text(step),
		    strerror(errno));
		return -1;
	}
	if (mint_listeners(&spec, false, listen_fd, local_fd, &step) < 0) {
		print_error("%s: %s\n", mint_step_text(step),
		    strerror(errno));
		return -1;
	}
	if (nft_apply(listen_fd[JAIL_LISTEN_TRANSPARENT4],
	    listen_fd[JAIL_LISTEN_TRANSPARENT6], &step) < 0) {
		cannot = "no nf_tables with tproxy here";
		print_error("%s: %s\n", nft_step_text(step), strerror(errno));
	}
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_local),
		cmocka_unit_test(test_udp_refused),
		cmocka_unit_test(test_resolver),
		cmocka_unit_test(test_steps_are_named),
		cmocka_unit_test(test_without_ipv6),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
