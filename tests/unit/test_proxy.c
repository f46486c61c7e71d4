/* Tunnels, transparent connections and DNS, with the world of serve_world.h. */
#include "tests/unit/serve_world.h"

static void
test_connect(void **state)
{
	int client = dial(PROXY_LISTEN_HTTP, SOCK_STREAM), server, worker_fd;
	struct net_addr self;
	struct ask_msg m;

	(void)state;
	put(client, "CONNECT allowed.test:443 HTTP/1.1\r\n"
	    "Host: allowed.test:443\r\n\r\nearly bird ");
	next_question(&m);
	assert_int_equal(m.kind, ASK_DIAL);
	assert_int_equal(m.via, ASK_VIA_HTTP);
	assert_int_equal(m.port, 443);
	assert_string_equal(m.name, "allowed.test");
	assert_string_equal(m.method, "CONNECT");
	assert_int_equal(net_local(client, &self), 0);
	assert_int_equal(m.source.port, self.port);
	assert_int_equal(m.source.family, AF_INET);
	server = origin(&worker_fd);
	answer(&m, (struct ask_answer){ .status = ASK_OK }, worker_fd);
	close(worker_fd);
	expect(client, HELLO);
	expect(server, "early bird ");
	put(client, "question");
	assert_int_equal(shutdown(client, SHUT_WR), 0);
	assert_string_equal(read_all(server), "question");
	put(server, "answer after the half-close");
	close(server);
	assert_string_equal(read_all(client), "answer after the half-close");
	close(client);
}

static void
test_reset_is_passed_on(void **state)
{
	int client = dial(PROXY_LISTEN_HTTP, SOCK_STREAM), server, worker_fd;
	struct ask_msg m;
	char byte;

	(void)state;
	put(client, "CONNECT a.test:1 HTTP/1.1\r\n\r\n");
	next_question(&m);
	server = origin(&worker_fd);
	answer(&m, (struct ask_answer){ .status = ASK_OK }, worker_fd);
	close(worker_fd);
	expect(client, HELLO);
	net_reset(&server);
	assert_int_equal(recv(client, &byte, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	close(client);
}

static void
test_refusals(void **state)
{
	static const struct {
		uint16_t	 status;
		const char	*accept;
		const char	*code;
		const char	*want;
	} t[] = {
		{ ASK_DENIED, "*/*", "HTTP/1.1 403 ",
		    "fence: denied.test:443: not allowed by the policy\n"
		    "reason: because\n"
		    "rule: network.allowedDomains x.json:1:2\n"
		    "allow: allowedDomains += \"denied.test\"\n" },
		{ ASK_DENIED, "text/html, application/json;q=1",
		    "HTTP/1.1 403 ", "{\"error\": \"blocked\",\"detail\": "
		    "\"denied.test:443: not allowed by the policy\",\"reason\": "
		    "\"because\",\"rule\": "
		    "\"network.allowedDomains x.json:1:2\",\"remedy\": "
		    "\"allowedDomains += \\\"denied.test\\\"\"}\n" },
		{ ASK_NOHOST, "*/*", "HTTP/1.1 502 ",
		    "fence: denied.test:443: the name does not resolve\n" },
		{ ASK_REFUSED, "*/*", "HTTP/1.1 502 ",
		    "fence: denied.test:443: Connection refused\n" },
		{ ASK_FULL, "*/*", "HTTP/1.1 503 ",
		    "fence: denied.test:443: too many connections\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct ask_answer a = { .status = t[i].status,
		    .sys = ECONNREFUSED, .reason = "because",
		    .rule = "network.allowedDomains x.json:1:2",
		    .remedy = "allowedDomains += \"denied.test\"" };
		int client = dial(PROXY_LISTEN_HTTP, SOCK_STREAM);
		char text[256], *got, *body;
		struct ask_msg m;

		snprintf(text, sizeof text, "CONNECT denied.test:443 HTTP/1.1"
		    "\r\nAccept: %s\r\n\r\nhello", t[i].accept);
		put(client, text);
		next_question(&m);
		answer(&m, a, -1);
		got = read_all(client);
		assert_memory_equal(got, t[i].code, strlen(t[i].code));
		body = strstr(got, "\r\n\r\n");
		assert_non_null(body);
		assert_string_equal(body + 4, t[i].want);
		assert_non_null(strstr(got, t[i].status == ASK_DENIED ?
		    "\r\nX-Fence-Error: blocked by network.allowedDomains\r\n" :
		    "\r\nX-Fence-Error: "));
		assert_non_null(strstr(got, "\r\nConnection: close\r\n"));
		close(client);
	}
}

/* One that asks on and on gets no answer. */
static void
test_hold(void **state)
{
	static const int ways[] = { PROXY_LISTEN_HTTP, PROXY_LISTEN_SOCKS };
	static const char *const asks[] = { "CONNECT b.test:443 HTTP/1.1\r\n"
	    "\r\n", "\5\1" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		int client = dial(ways[i], SOCK_STREAM);
		struct ask_msg m;

		put(client, asks[i]);
		if (i == 1) {
			assert_int_equal(send(client, "\0\5\1\0\3\6b.test\1"
			    "\273", 14, 0), 14);
			assert_int_equal(recv(client, &m, 2, MSG_WAITALL), 2);
		}
		next_question(&m);
		answer(&m, (struct ask_answer){ .status = ASK_DENIED,
		    .is_loop = 1 }, -1);
		assert_string_equal(read_all(client), "");
		close(client);
	}
}

/*
 * A client that goes away while it is decided about: what was dialled for it
 * is closed, and it counts no more.
 */
static void
test_gone_while_asked(void **state)
{
	static const char socks[] = "\5\1\0\5\1\0\3\6a.test\1\273";
	static const struct {
		int		 way;
		const char	*says;
		size_t		 len;
	} t[] = {
#define SAYS(way, text)	{ way, text, sizeof text - 1 }
		SAYS(PROXY_LISTEN_HTTP, "CONNECT a.test:443 HTTP/1.1\r\n\r\n"),
		SAYS(PROXY_LISTEN_HTTP, "GET http://a.test/ HTTP/1.1\r\n\r\n"),
		SAYS(PROXY_LISTEN_SOCKS, socks),
	};

	(void)state;
	for (int i = 0; i < 60; i++) {		/* of 8 at a time */
		int client = dial(t[i % 3].way, SOCK_STREAM), server, fd;
		struct ask_msg m;

		assert_int_equal(send(client, t[i % 3].says, t[i % 3].len, 0),
		    t[i % 3].len);
		next_question(&m);
		assert_int_equal(m.kind, ASK_DIAL);
		if (i % 2 == 0)
			net_reset(&client);
		else
			close(client);
		server = origin(&fd);
		answer(&m, (struct ask_answer){ .status = ASK_OK }, fd);
		close(fd);
		(void)read_all(server);
		close(server);
	}
}

static void
test_bad_request(void **state)
{
	static const struct { const char *request, *code; } t[] = {
		{ "CONNECT a.test HTTP/1.1\r\n\r\n", "HTTP/1.1 400 " },
		{ "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 400 " },
		{ "GET http://a/ HTTP/2.0\r\n\r\n", "HTTP/1.1 505 " },
		{ "\026\003\001", "HTTP/1.1 400 " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		int client = dial(PROXY_LISTEN_HTTP, SOCK_STREAM);
		struct ask_msg m;

		put(client, t[i].request);
		next_question(&m);
		assert_int_equal(m.kind, ASK_NOTE);
		assert_int_equal(m.note, ASK_NOTE_BAD_REQUEST);
		assert_memory_equal(read_all(client), t[i].code,
		    strlen(t[i].code));
		close(client);
	}
}

/* A slow reader is waited for, and every byte arrives. */
static void
test_back_pressure(void **state)
{
	enum { TOTAL = 24 * 1024 * 1024 };
	int client = dial(PROXY_LISTEN_HTTP, SOCK_STREAM), server, worker_fd;
	static char chunk[65536];
	struct ask_msg m;
	size_t n = 0, i;
	ssize_t r;
	pid_t pid;

	(void)state;
	put(client, "CONNECT a.test:1 HTTP/1.1\r\n\r\n");
	next_question(&m);
	server = origin(&worker_fd);
	answer(&m, (struct ask_answer){ .status = ASK_OK }, worker_fd);
	close(worker_fd);
	expect(client, HELLO);
	pid = fork();
	if (pid == 0) {
		for (n = 0; n < TOTAL; n += sizeof chunk) {
			for (i = 0; i < sizeof chunk; i++)
				chunk[i] = (char)((n + i) % 251);
			if (send(server, chunk, sizeof chunk, 0) !=
			    sizeof chunk)
				_exit(1);
		}
		_exit(0);
	}
	close(server);
	while ((r = recv(client, chunk, n < 4096 ? 1 : sizeof chunk, 0)) > 0)
		for (i = 0; i < (size_t)r; i++, n++)
			if (chunk[i] != (char)(n % 251))
				fail_msg("byte %zu is wrong", n);
	assert_int_equal(n, TOTAL);
	close(client);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Called by its own name, the transparent listener wants nothing of it. */
static void
test_transparent_loopback(void **state)
{
	int client = dial(PROXY_LISTEN_TRANSPARENT4, SOCK_STREAM);
	char byte;

	(void)state;
	assert_true(recv(client, &byte, 1, 0) <= 0);
	close(client);
}

/* An address of this machine that is not loopback; false: it has none. */
static bool
own_address(struct sockaddr_in *ret)
{
	struct ifaddrs *list, *i;
	bool found = false;

	assert_int_equal(getifaddrs(&list), 0);
	for (i = list; i != NULL && !found; i = i->ifa_next) {
		if (i->ifa_addr == NULL || i->ifa_addr->sa_family != AF_INET)
			continue;
		memcpy(ret, i->ifa_addr, sizeof *ret);
		found = ntohl(ret->sin_addr.s_addr) >> 24 != 127;
	}
	freeifaddrs(list);
	return found;
}

static int
dial_transparent(const struct sockaddr_in *in)
{
	struct timeval limit = { .tv_sec = 10 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (const void *)in, sizeof *in), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	return fd;
}

/* Through the dual-stack listener, so the destination is a mapped one. */
static void
test_transparent(void **state)
{
	struct sockaddr_in in;
	char text[INET_ADDRSTRLEN], byte;
	int client, server, worker_fd;
	struct ask_msg m;

	(void)state;
	if (!own_address(&in))
		skip();
	in.sin_port = ((struct sockaddr_in6 *)
	    &where[PROXY_LISTEN_TRANSPARENT6])->sin6_port;
	inet_ntop(AF_INET, &in.sin_addr, text, sizeof text);
	client = dial_transparent(&in);
	put(client, "early ");
	next_question(&m);
	assert_int_equal(m.kind, ASK_DIAL);
	assert_int_equal(m.via, ASK_VIA_TRANSPARENT);
	assert_string_equal(m.name, text);
	assert_int_equal(m.port, ntohs(in.sin_port));
	server = origin(&worker_fd);
	answer(&m, (struct ask_answer){ .status = ASK_OK }, worker_fd);
	close(worker_fd);
	expect(server, "early ");
	put(server, "reply");
	expect(client, "reply");
	close(server);
	close(client);

	client = dial_transparent(&in);
	next_question(&m);
	answer(&m, (struct ask_answer){ .status = ASK_DENIED }, -1);
	assert_int_equal(recv(client, &byte, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	close(client);
}

static size_t
query(uint8_t *out, const char *name, unsigned qtype, int edns)
{
	static const uint8_t opt[] = { 0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0 };
	size_t n = 12, len;

	memset(out, 0, 12);
	out[0] = 0xab;
	out[1] = 0xcd;
	out[2] = 1;
	out[5] = 1;
	out[11] = (uint8_t)edns;
	while (*name != '\0') {
		len = strcspn(name, ".");
		out[n++] = (uint8_t)len;
		memcpy(out + n, name, len);
		n += len;
		name += len + (name[len] == '.');
	}
	out[n++] = 0;
	out[n++] = (uint8_t)(qtype >> 8);
	out[n++] = (uint8_t)qtype;
	out[n++] = 0;
	out[n++] = 1;
	if (edns) {
		memcpy(out + n, opt, sizeof opt);
		n += sizeof opt;
	}
	return n;
}

static const struct dns_case {
	const char	*name;
	unsigned	 qtype;
	uint16_t	 kind;		/* of the question, 0: none comes */
	uint16_t	 status;
	unsigned	 rcode, nanswers, nauthority;
} dns_cases[] = {
	{ "allowed.test", DNS_TYPE_A, ASK_LOOKUP, ASK_OK, 0, 1, 0 },
	{ "allowed.test", DNS_TYPE_AAAA, ASK_LOOKUP, ASK_OK, 0, 0, 1 },
	{ "allowed.test", 65, ASK_LOOKUP, ASK_OK, 0, 0, 1 },
	{ "denied.test", DNS_TYPE_A, ASK_LOOKUP, ASK_DENIED, 3, 0, 1 },
	{ "full.test", DNS_TYPE_A, ASK_LOOKUP, ASK_FULL, 2, 0, 0 },
	{ "7.0.18.198.in-addr.arpa", DNS_TYPE_PTR, ASK_PTR, ASK_OK, 0, 1, 0 },
	{ "8.0.18.198.in-addr.arpa", DNS_TYPE_PTR, ASK_PTR, ASK_DENIED, 3, 0,
	    1 },
	{ "1.0.0.127.in-addr.arpa", DNS_TYPE_PTR, 0, 0, 3, 0, 1 },
	{ "", 2, 0, 0, 0, 0, 1 },
	{ "LocalHost", DNS_TYPE_AAAA, 0, 0, 0, 0, 1 },
	{ "a.localhost", 65, 0, 0, 0, 0, 1 },
	{ "notlocalhost", DNS_TYPE_A, ASK_LOOKUP, ASK_DENIED, 3, 0, 1 },
};

static void
dns_exchange(int fd, bool is_tcp, const struct dns_case *t, int edns)
{
	struct ask_answer a = { .status = t->status, .name = "allowed.test",
	    .rule = "network.allowedDomains" };
	uint8_t data[1024], *p = data + 2;
	size_t len = query(p, t->name, t->qtype, edns);
	struct ask_msg m;
	ssize_t n;

	data[0] = (uint8_t)(len >> 8);
	data[1] = (uint8_t)len;
	assert_true(send(fd, is_tcp ? data : p, len + (is_tcp ? 2 : 0), 0) > 0);
	if (t->kind != 0) {
		next_question(&m);
		assert_int_equal(m.kind, t->kind);
		assert_int_equal(m.is_udp, !is_tcp);
		assert_string_equal(m.name, t->kind == ASK_LOOKUP ? t->name :
		    t->name[0] == '7' ? "198.18.0.7" : "198.18.0.8");
		if (t->kind == ASK_LOOKUP) {
			a.naddrs = t->status == ASK_OK;
			a.addrs[0] = (struct ask_addr){ .family = AF_INET,
			    .addr = { 198, 18, 1, 2 } };
			assert_int_equal(m.qtype, t->qtype);
		}
		answer(&m, a, -1);
	}
	n = recv(fd, is_tcp ? data : p, 1000, 0);
	assert_true(n > 12);
	if (is_tcp) {
		assert_int_equal(data[0] << 8 | data[1], n - 2);
		n -= 2;
	}
	assert_int_equal(p[0] << 8 | p[1], 0xabcd);
	assert_int_equal(p[2] & 0x80, 0x80);
	assert_int_equal(p[3] & 15, t->rcode);
	assert_int_equal(p[7], t->nanswers);
	assert_int_equal(p[9], t->nauthority);
	assert_int_equal(p[11], edns);
	if (t->nanswers == 1 && t->qtype == DNS_TYPE_A && !edns)
		assert_memory_equal(p + n - 4, "\306\22\1\2", 4);
	if (edns && t->status == ASK_DENIED && t->kind == ASK_LOOKUP)
		assert_non_null(memmem(p, (size_t)n, "network.allowedDomains",
		    22));
}

static void
test_dns(void **state)
{
	(void)state;
	for (int is_tcp = 0; is_tcp < 2; is_tcp++) {
		int fd = dial(is_tcp ? PROXY_LISTEN_DNS_TCP :
		    PROXY_LISTEN_DNS_UDP, is_tcp ? SOCK_STREAM : SOCK_DGRAM);

		for (size_t i = 0; i < sizeof dns_cases / sizeof dns_cases[0];
		    i++) {
			dns_exchange(fd, is_tcp, &dns_cases[i], 0);
			dns_exchange(fd, is_tcp, &dns_cases[i], 1);
		}
		close(fd);
	}
}

/* Over the ceiling of pending queries the oldest is given up. */
static void
test_dns_flood(void **state)
{
	enum { N = 520 };
	int fd = dial(PROXY_LISTEN_DNS_UDP, SOCK_DGRAM);
	uint8_t data[512];
	struct ask_msg m;
	size_t len;

	(void)state;
	for (int i = 0; i < N; i++) {
		len = query(data, "flood.test", DNS_TYPE_A, 0);
		data[0] = (uint8_t)(i >> 8);
		data[1] = (uint8_t)i;
		assert_int_equal(send(fd, data, len, 0), len);
		next_question(&m);
	}
	assert_true(recv(fd, data, sizeof data, 0) > 12);
	assert_int_equal(data[0] << 8 | data[1], 0);
	assert_int_equal(data[3] & 15, DNS_SERVFAIL);
	close(fd);
}

/* The ninth waits until one of the eight ends; that is told once. */
static void
test_limit(void **state)
{
	int fds[10];
	struct ask_msg m;

	(void)state;
	for (int i = 0; i < 10; i++)
		fds[i] = dial(PROXY_LISTEN_HTTP, SOCK_STREAM);
	for (int i = 8; i < 10; i++)
		put(fds[i], "CONNECT a.test:1 HTTP/1.1\r\n\r\n");
	next_question(&m);
	assert_int_equal(m.kind, ASK_NOTE);
	assert_int_equal(m.note, ASK_NOTE_LIMIT);
	for (int i = 8; i < 10; i++) {
		assert_int_equal(fd_recv(ask_fd, &m, sizeof m, NULL, 0, NULL,
		    MSG_DONTWAIT), -1);
		close(fds[i - 8]);
		next_question(&m);
		assert_int_equal(m.kind, ASK_DIAL);
		answer(&m, (struct ask_answer){ .status = ASK_DENIED }, -1);
		assert_memory_equal(read_all(fds[i]), "HTTP/1.1 403", 12);
	}
	for (int i = 2; i < 10; i++)
		close(fds[i]);
}

static int
setup_impatient(void **state)
{
	int rc;

	give_way_ms = 0;
	rc = setup(state);
	give_way_ms = -1;
	return rc;
}

static void
ask_and_hear(int fd)
{
	struct ask_msg m;

	put(fd, "CONNECT a.test:1 HTTP/1.1\r\n\r\n");
	do
		next_question(&m);
	while (m.kind == ASK_NOTE);
	assert_int_equal(m.kind, ASK_DIAL);
	answer(&m, (struct ask_answer){ .status = ASK_DENIED }, -1);
	assert_memory_equal(read_all(fd), "HTTP/1.1 403", 12);
}

/* Eight fill their own kind; of it the one idle for the longest ends. */
static void
test_gives_way(void **state)
{
	int fds[10], socks;
	struct ask_msg m;
	char c;

	(void)state;
	for (int i = 0; i < 8; i++)
		fds[i] = dial(PROXY_LISTEN_HTTP, SOCK_STREAM);
	socks = dial(PROXY_LISTEN_SOCKS, SOCK_STREAM);
	assert_int_equal(send(socks, "\5\1\0\5\1\0\3\6a.test\0\1", 16, 0), 16);
	next_question(&m);
	assert_int_equal(m.kind, ASK_DIAL);
	assert_int_equal(m.via, ASK_VIA_SOCKS);
	fds[8] = dial(PROXY_LISTEN_HTTP, SOCK_STREAM);
	ask_and_hear(fds[8]);
	assert_true(recv(fds[0], &c, 1, 0) <= 0);
	/* The answered one still drains: it is there, and not idle. */
	fds[9] = dial(PROXY_LISTEN_HTTP, SOCK_STREAM);
	ask_and_hear(fds[9]);
	assert_true(recv(fds[1], &c, 1, 0) <= 0);
	for (int i = 0; i < 10; i++)
		close(fds[i]);
	close(socks);
}

/* Whoever came before the monitor's last word is heard, and that is all. */
static void
test_last(void **state)
{
	int client = dial(PROXY_LISTEN_HTTP, SOCK_STREAM);
	int idle = dial(PROXY_LISTEN_SOCKS, SOCK_STREAM);
	int dns = dial(PROXY_LISTEN_DNS_UDP, SOCK_DGRAM);
	uint8_t bytes[512];
	size_t n = query(bytes, "last.test", 1, 0);
	bool has_dial = false, has_lookup = false;
	struct ask_msg m;

	(void)state;
	kill(worker, SIGSTOP);
	put(client, "CONNECT a.test:1 HTTP/1.1\r\n\r\n");
	assert_int_equal(send(dns, bytes, n, 0), (ssize_t)n);
	close(client);
	close(dns);
	assert_int_equal(shutdown(ask_fd, SHUT_WR), 0);
	kill(worker, SIGCONT);
	for (int i = 0; i < 2; i++) {
		next_question(&m);
		has_dial |= m.kind == ASK_DIAL;
		has_lookup |= m.kind == ASK_LOOKUP;
	}
	assert_true(has_dial && has_lookup);
	assert_int_equal(fd_recv(ask_fd, &m, sizeof m, NULL, 0, NULL, 0), 0);
	close(idle);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_connect),
		CASE(test_reset_is_passed_on),
		CASE(test_refusals),
		CASE(test_hold),
		CASE(test_gone_while_asked),
		CASE(test_bad_request),
		CASE(test_back_pressure),
		CASE(test_transparent_loopback),
		CASE(test_transparent),
		CASE(test_dns),
		CASE(test_dns_flood),
		CASE(test_limit),
		cmocka_unit_test_setup_teardown(test_gives_way,
		    setup_impatient, teardown),
		CASE(test_last),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
