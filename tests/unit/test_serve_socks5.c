/* The SOCKS5 server, with the world of serve_world.h. */
#include "tests/unit/serve_world.h"

#define GREETING "\5\1\0"
#define CHOICE "\5\0"
#define GRANTED "\5\0\0\1\0\0\0\0\0\0"

struct bytes {
	const char	*p;
	size_t		 len;
};

#define BYTES(s) { s, sizeof s - 1 }

static void
send_bytes(int fd, struct bytes b)
{
	assert_int_equal(send(fd, b.p, b.len, MSG_NOSIGNAL), b.len);
}

static void
expect_bytes(int fd, struct bytes b)
{
	char got[512];
	size_t n = 0;
	ssize_t r;

	assert_true(b.len <= sizeof got);
	while (n < b.len) {
		r = recv(fd, got + n, b.len - n, 0);
		assert_true(r > 0);
		n += (size_t)r;
	}
	assert_memory_equal(got, b.p, b.len);
}

static const struct {
	struct bytes	 request;
	const char	*name;
	uint16_t	 port;
} granted_cases[] = {
	{ BYTES("\5\1\0\3\14allowed.test\1\273"), "allowed.test", 443 },
	{ BYTES("\5\1\0\1\306\63\144\12\0\120"), "198.51.100.10", 80 },
	{ BYTES("\5\1\0\4\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\x10\0\26"),
	    "2001:db8::10", 22 },
	{ BYTES("\5\1\0\3\4A.B.\0\7"), "A.B.", 7 },
};

/* As a client does it, and with all it has to say sent at once. */
static void
test_granted(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * sizeof granted_cases /
	    sizeof granted_cases[0]; i++) {
		int client = dial(PROXY_LISTEN_SOCKS, SOCK_STREAM), server, fd;
		bool is_early = i % 2 == 1;
		struct ask_msg m;

		send_bytes(client, (struct bytes)BYTES(GREETING));
		if (!is_early)
			expect_bytes(client, (struct bytes)BYTES(CHOICE));
		send_bytes(client, granted_cases[i / 2].request);
		if (is_early)
			put(client, "early ");
		next_question(&m);
		assert_int_equal(m.kind, ASK_DIAL);
		assert_int_equal(m.via, ASK_VIA_SOCKS);
		assert_string_equal(m.name, granted_cases[i / 2].name);
		assert_int_equal(m.port, granted_cases[i / 2].port);
		assert_int_equal(m.source.family, AF_INET);
		assert_int_not_equal(m.source.port, 0);
		server = origin(&fd);
		answer(&m, (struct ask_answer){ .status = ASK_OK }, fd);
		close(fd);
		if (is_early)
			expect_bytes(client, (struct bytes)BYTES(CHOICE));
		expect_bytes(client, (struct bytes)BYTES(GRANTED));
		put(client, "question");
		expect(server, is_early ? "early question" : "question");
		shutdown(client, SHUT_WR);
		assert_string_equal(read_all(server), "");
		put(server, "answer after the half-close");
		close(server);
		assert_string_equal(read_all(client),
		    "answer after the half-close");
		close(client);
	}
}

static void
test_byte_by_byte(void **state)
{
	static const char all[] = GREETING "\5\1\0\3\6a.test\0\7hello";
	int client = dial(PROXY_LISTEN_SOCKS, SOCK_STREAM), server, fd;
	struct ask_msg m;

	(void)state;
	for (size_t i = 0; i < sizeof all - 1; i++)
		assert_int_equal(send(client, all + i, 1, MSG_NOSIGNAL), 1);
	next_question(&m);
	assert_string_equal(m.name, "a.test");
	server = origin(&fd);
	answer(&m, (struct ask_answer){ .status = ASK_OK }, fd);
	close(fd);
	expect_bytes(client, (struct bytes)BYTES(CHOICE GRANTED));
	expect(server, "hello");
	close(server);
	close(client);
}

static void
test_refusals(void **state)
{
	static const struct {
		uint16_t	 status;
		int32_t		 sys;
		char		 code;
	} t[] = {
		{ ASK_DENIED, 0, 2 },
		{ ASK_NOHOST, 0, 4 },
		{ ASK_REFUSED, ECONNREFUSED, 5 },
		{ ASK_REFUSED, ENETUNREACH, 3 },
		{ ASK_REFUSED, EHOSTUNREACH, 4 },
		{ ASK_REFUSED, ETIMEDOUT, 4 },
		{ ASK_FULL, 0, 1 },
		{ ASK_OK, 0, 1 },		/* and no descriptor */
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct ask_answer a = { .status = t[i].status,
		    .sys = t[i].sys };
		int client = dial(PROXY_LISTEN_SOCKS, SOCK_STREAM);
		char want[13] = CHOICE GRANTED, byte;
		struct ask_msg m;

		want[3] = t[i].code;
		send_bytes(client, (struct bytes)
		    BYTES(GREETING "\5\1\0\3\6a.test\0\7early bird"));
		next_question(&m);
		answer(&m, a, -1);
		expect_bytes(client, (struct bytes){ want, 12 });
		assert_int_equal(recv(client, &byte, 1, 0), 0);
		close(client);
	}
}

static void
test_bad(void **state)
{
	static const struct {
		struct bytes	send, want;
		uint16_t	note;
	} t[] = {
		{ BYTES(GREETING "\5\2\0\1\306\63\144\12\0\120"),
		    BYTES(CHOICE "\5\7\0\1\0\0\0\0\0\0"), ASK_NOTE_COMMAND },
		{ BYTES(GREETING "\5\3\0\1\0\0\0\0\0\0"),
		    BYTES(CHOICE "\5\7\0\1\0\0\0\0\0\0"), ASK_NOTE_COMMAND },
		{ BYTES(GREETING "\5\1\0\5a"),
		    BYTES(CHOICE "\5\10\0\1\0\0\0\0\0\0"),
		    ASK_NOTE_BAD_REQUEST },
		{ BYTES(GREETING "\5\1\0\3\6a.test\0\0"),
		    BYTES(CHOICE "\5\1\0\1\0\0\0\0\0\0"),
		    ASK_NOTE_BAD_REQUEST },
		{ BYTES("\5\1\1"), BYTES("\5\377"), ASK_NOTE_BAD_REQUEST },
		{ BYTES("\4\1\0\120\306\63\144\12u\0"), BYTES("\0\133"),
		    ASK_NOTE_BAD_REQUEST },
		{ BYTES("GET http://a.test/ HTTP/1.1\r\n\r\n"),
		    BYTES("HTTP/1."), ASK_NOTE_BAD_REQUEST },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		int client = dial(PROXY_LISTEN_SOCKS, SOCK_STREAM);
		struct ask_msg m;

		send_bytes(client, t[i].send);
		next_question(&m);
		assert_int_equal(m.kind, ASK_NOTE);
		assert_int_equal(m.note, t[i].note);
		expect_bytes(client, t[i].want);
		(void)read_all(client);		/* up to the end of file */
		close(client);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_granted),
		CASE(test_byte_by_byte),
		CASE(test_refusals),
		CASE(test_bad),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
