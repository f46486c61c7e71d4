/* Tunnels that are looked into, with the world of serve_world.h. */
#include "tests/unit/hello.h"
#include "tests/unit/serve_world.h"

#define CONNECT "CONNECT a.test:443 HTTP/1.1\r\n\r\n"

static void
put_bytes(int fd, const void *p, size_t len)
{
	assert_int_equal(send(fd, p, len, MSG_NOSIGNAL), len);
}

static void
expect_bytes(int fd, const void *p, size_t len)
{
	char got[HELLO_MAX];
	size_t n = 0;
	ssize_t r;

	while (n < len) {
		r = recv(fd, got + n, len - n, 0);
		assert_true(r > 0);
		n += (size_t)r;
	}
	assert_memory_equal(got, p, len);
}

static void
expect_silence(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&p, 1, 50), 0);
}

/* dialled: "" makes it a tunnel that nobody looks into. */
static int
open_tunnel(const char *early, size_t len, const char *dialled, int *server)
{
	struct ask_answer a = { .naddrs = 0 };
	char request[1024];
	struct ask_msg m;
	int client;

	memcpy(request, CONNECT, sizeof CONNECT - 1);
	memcpy(request + sizeof CONNECT - 1, early, len);
	strcpy(a.tls_name, dialled);
	client = grant(PROXY_LISTEN_HTTP, request, sizeof CONNECT - 1 + len, a,
	    server, &m);
	expect(client, HELLO);
	return client;
}

static void
judge(const char *sni, uint16_t status)
{
	struct ask_msg m;

	next_question(&m);
	assert_int_equal(m.kind, ASK_SNI);
	assert_int_equal(m.via, ASK_VIA_HTTP);
	assert_int_equal(m.port, 443);
	assert_string_equal(m.granted, "a.test");
	assert_string_equal(m.name, sni);
	assert_int_not_equal(m.source.port, 0);
	answer(&m, (struct ask_answer){ .status = status }, -1);
}

/* The client's first bytes come with its request, or behind it, in pieces. */
static void
test_hello(void **state)
{
	static const struct {
		const char	*sni, *dialled;
		uint16_t	 status;	/* 0: nobody is asked */
	} t[] = {
		{ "a.test", "a.test", 0 },
		{ "A.Test", "a.test", 0 },
		{ "b.test", "", 0 },
		{ NULL, "a.test", 0 },
		{ "b.test", "a.test", ASK_OK },
		{ "b.test", "a.test", ASK_DENIED },
		{ "b.test", "a.test", ASK_FULL },
	};
	static const uint8_t alert[] = { 21, 3, 3, 0, 2, 2, 49 };
	uint8_t hello[HELLO_MAX], reply[HELLO_MAX];
	size_t n, m, early;
	int client, server;

	(void)state;
	for (size_t i = 0; i < 3 * sizeof t / sizeof t[0]; i++) {
		n = hello_client(hello, t[i / 3].sni);
		early = i % 3 == 0 ? 0 : i % 3 == 1 ? n / 2 : n;
		client = open_tunnel((char *)hello, early, t[i / 3].dialled,
		    &server);
		put_bytes(client, hello + early, n - early);
		if (t[i / 3].status != 0)
			judge("b.test", t[i / 3].status);
		if (t[i / 3].status > ASK_OK) {
			expect_bytes(client, alert, sizeof alert);
			assert_string_equal(read_all(client), "");
			assert_string_equal(read_all(server), "");
			close(client);
			close(server);
			continue;
		}
		expect_bytes(server, hello, n);
		m = hello_server(reply, 0);
		put_bytes(server, reply, m);
		expect_bytes(client, reply, m);
		put(client, "secrets");
		expect(server, "secrets");
		close(client);
		assert_string_equal(read_all(server), "");
		close(server);
	}
}

/* The second hello waits for the server's word, and is judged as well. */
static void
test_retry(void **state)
{
	uint8_t hello[HELLO_MAX], second[HELLO_MAX], reply[HELLO_MAX];
	size_t n = hello_client(hello, "a.test"), m, k;
	int client, server;

	(void)state;
	k = hello_server(reply, 1);
	for (int is_ok = 0; is_ok < 2; is_ok++) {
		client = open_tunnel((char *)hello, n, "a.test", &server);
		m = hello_client(second, "b.test");
		put_bytes(client, second, m);
		expect_bytes(server, hello, n);
		expect_silence(server);
		put_bytes(server, reply, k);
		expect_bytes(client, reply, k);
		judge("b.test", is_ok ? ASK_OK : ASK_DENIED);
		if (is_ok)
			expect_bytes(server, second, m);
		else
			assert_string_equal(read_all(server), "");
		close(client);
		close(server);
	}
}

/* Who begins with something else is not waited for, nor is its server. */
static void
test_other(void **state)
{
	int server, client = open_tunnel("", 0, "a.test", &server);

	(void)state;
	put(server, "220 ready\r\n");
	expect(client, "220 ready\r\n");
	put(client, "E");
	expect(server, "E");
	put(client, "HLO\r\n");
	expect(server, "HLO\r\n");
	shutdown(client, SHUT_WR);
	assert_string_equal(read_all(server), "");
	put(server, "bye");
	close(server);
	assert_string_equal(read_all(client), "bye");
	close(client);
}

/* Like TLS, and not to be understood: the monitor says what becomes of it. */
static void
test_bad(void **state)
{
	static const char bytes[] = "\x15\3\3\0\2\1";
	int client, server;

	(void)state;
	for (int is_ok = 0; is_ok < 2; is_ok++) {
		client = open_tunnel(bytes, 6, "a.test", &server);
		judge("", is_ok ? ASK_OK : ASK_DENIED);
		if (is_ok)
			expect(server, "\x15\3\3");
		else
			assert_string_equal(read_all(server), "");
		close(client);
		close(server);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_hello),
		CASE(test_retry),
		CASE(test_other),
		CASE(test_bad),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
