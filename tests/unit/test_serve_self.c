/* http://fence.internal/, with the world of serve_world.h. */
#include "tests/unit/serve_world.h"

#define CLOSE "Connection: close\r\n\r\n"

#define PAGE \
	"fence: what was refused in this run, the last first\n" \
	"\nquery(b.test, A) NXDOMAIN (3 times)\n" \
	"  rule:  network.allowedDomains f:1:2\n" \
	"  allow: network.allowedDomains += \"b.test\"\n" \
	"\nopen(\"/x\", read) EACCES\n  rule:  filesystem.denyRead[0]\n" \
	"\nThese lines belong in the policy, which only the person who " \
	"started this run can change.\n"
#define JSON \
	"{\"refusals\": [{\"what\": \"query(b.test, A) NXDOMAIN\"," \
	"\"rule\": \"network.allowedDomains f:1:2\",\"remedy\": " \
	"\"network.allowedDomains += \\\"b.test\\\"\",\"count\": 3}, " \
	"{\"what\": \"open(\\\"/x\\\", read) EACCES\",\"rule\": " \
	"\"filesystem.denyRead[0]\",\"remedy\": \"\",\"count\": 1}]}\n"

static void
tell_recent(unsigned n)
{
	static const struct ask_answer told[] = {
		{ .status = ASK_OK, .count = 3,
		    .what = "query(b.test, A) NXDOMAIN",
		    .rule = "network.allowedDomains f:1:2",
		    .remedy = "network.allowedDomains += \"b.test\"" },
		{ .status = ASK_OK, .count = 1,
		    .what = "open(\"/x\", read) EACCES",
		    .rule = "filesystem.denyRead[0]" },
		{ .status = ASK_NOHOST },
	};
	struct ask_msg m;

	for (unsigned i = 0; i <= n; i++) {
		next_question(&m);
		assert_int_equal(m.kind, ASK_RECENT);
		assert_int_equal(m.nth, i);
		assert_int_equal(m.port, 0);
		answer(&m, told[i < n ? i : 2], -1);
	}
}

static void
expect_page(int client, const char *want)
{
	char *got = read_all(client), *body = strstr(got, "\r\n\r\n");

	assert_memory_equal(got, "HTTP/1.1 200 OK\r\n", 17);
	assert_non_null(body);
	assert_string_equal(body + 4, want);
	close(client);
}

static void
test_page(void **state)
{
	static const struct {
		const char	*request;
		unsigned	 n;
		const char	*want;
	} t[] = {
		{ "GET http://fence.internal/ HTTP/1.1\r\n" CLOSE, 2, PAGE },
		{ "GET http://Fence.Internal:80/refusals HTTP/1.1\r\n"
		    "Accept: application/json\r\n" CLOSE, 2, JSON },
		{ "GET http://fence.internal/ HTTP/1.1\r\n" CLOSE, 0,
		    "fence: nothing was refused in this run\n" },
		{ "GET http://fence.internal/ HTTP/1.0\r\n"
		    "Accept: application/json\r\n" CLOSE, 0,
		    "{\"refusals\": []}\n" },
		{ "HEAD http://fence.internal/ HTTP/1.1\r\n" CLOSE, 2, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		int client = dial(PROXY_LISTEN_HTTP, SOCK_STREAM);

		put(client, t[i].request);
		tell_recent(t[i].n);
		expect_page(client, t[i].want);
	}
}

/* /why: a question of its own, answered as data. */
static void
test_why(void **state)
{
	static const struct {
		const char		*request;
		struct ask_answer	 told;
		const char		*code, *body;
	} t[] = {
		{ "/why?host=b.test&port=80", { .status = ASK_DENIED,
		    .reason = "no entry matches", .rule = "r f:1:2",
		    .remedy = "r += \"b.test\"" }, "200",
		    "fence: denied: connect b.test:80\n"
		    "reason: no entry matches\nrule: r f:1:2\n"
		    "allow: r += \"b.test\"\n\nThese lines belong" },
		{ "/why?host=b.test&format=json", { .status = ASK_OK,
		    .rule = "r" }, "200", "{\"verdict\": \"allowed\","
		    "\"host\": \"b.test\",\"port\": 443,\"reason\": \"\","
		    "\"rule\": \"r\",\"remedy\": \"\"}\n" },
		{ "/why?host=%0aallow:%1b%e2%80%ae", { .status = ASK_OK },
		    "200", "fence: allowed: connect \\x0aallow:\\x1b"
		    "\\xe2\\x80\\xae:443\n" },
		{ "/why?host=%20", { .status = ASK_NOHOST }, "400",
		    "fence: the host in the query is none\n" },
	};
	struct ask_msg m;
	char request[256];

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		int client = dial(PROXY_LISTEN_HTTP, SOCK_STREAM);
		char *got, *body;

		snprintf(request, sizeof request, "GET http://fence.internal"
		    "%s HTTP/1.1\r\n" CLOSE, t[i].request);
		put(client, request);
		next_question(&m);
		assert_int_equal(m.kind, ASK_WHY);
		answer(&m, t[i].told, -1);
		if (t[i].told.status == ASK_NOHOST) {
			next_question(&m);
			assert_int_equal(m.kind, ASK_NOTE);
		}
		got = read_all(client);
		assert_memory_equal(got + 9, t[i].code, 3);
		body = strstr(got, "\r\n\r\n");
		assert_non_null(body);
		if (strncmp(body + 4, t[i].body, strlen(t[i].body)) != 0)
			fail_msg("row %zu: %s", i, body + 4);
		close(client);
	}
}

static void
test_no_page(void **state)
{
	int client = dial(PROXY_LISTEN_HTTP, SOCK_STREAM);
	char *got;

	(void)state;
	put(client, "GET http://fence.internal/policy HTTP/1.1\r\n" CLOSE);
	got = read_all(client);
	assert_memory_equal(got, "HTTP/1.1 404 Not Found\r\n", 24);
	assert_non_null(strstr(got, "there are /refusals and /why?host="));
	close(client);
}

/* By the other ways in the monitor says who is meant. */
static void
test_ways(void **state)
{
	static const char socks[] = "\5\1\0\5\1\0\3\16fence.internal\0\120";
	struct ask_answer self = { .status = ASK_SELF };
	int client = dial(PROXY_LISTEN_SOCKS, SOCK_STREAM);
	struct ask_msg m;
	char reply[12];

	(void)state;
	assert_int_equal(send(client, socks, sizeof socks - 1, 0),
	    sizeof socks - 1);
	put(client, "GET / HTTP/1.1\r\n");
	next_question(&m);
	assert_string_equal(m.name, "fence.internal");
	answer(&m, self, -1);
	assert_int_equal(recv(client, reply, 12, MSG_WAITALL), 12);
	assert_int_equal(reply[3], 0);
	put(client, "Host: fence.internal\r\n" CLOSE);
	tell_recent(2);
	expect_page(client, PAGE);

	client = dial(PROXY_LISTEN_HTTP, SOCK_STREAM);
	put(client, "CONNECT fence.internal:80 HTTP/1.1\r\n\r\n"
	    "GET / HTTP/1.1\r\n" CLOSE);
	next_question(&m);
	assert_int_equal(m.kind, ASK_DIAL);
	answer(&m, self, -1);
	expect(client, HELLO);
	tell_recent(2);
	expect_page(client, PAGE);

	/* In a spelling that only the monitor knows. */
	client = dial(PROXY_LISTEN_HTTP, SOCK_STREAM);
	put(client, "GET http://fence.internal./ HTTP/1.1\r\n" CLOSE);
	next_question(&m);
	assert_int_equal(m.kind, ASK_DIAL);
	answer(&m, self, -1);
	tell_recent(2);
	expect_page(client, PAGE);

	/* Another port is another matter. */
	client = dial(PROXY_LISTEN_HTTP, SOCK_STREAM);
	put(client, "GET http://fence.internal:81/ HTTP/1.1\r\n" CLOSE);
	next_question(&m);
	assert_int_equal(m.kind, ASK_DIAL);
	answer(&m, (struct ask_answer){ .status = ASK_REFUSED }, -1);
	assert_memory_equal(read_all(client), "HTTP/1.1 502", 12);
	close(client);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_page), CASE(test_why), CASE(test_no_page),
		CASE(test_ways),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
