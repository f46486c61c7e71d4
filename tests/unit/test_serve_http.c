/* Requests to origins, one after the other, with the world of serve_world.h. */
#include "tests/unit/serve_world.h"

#define GET	"GET http://a.test/ HTTP/1.1\r\n\r\n"
#define GOT	"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"
#define OK	"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"
#define FORBIDDEN "HTTP/1.1 403 Forbidden\r\n"
#define CLOSE	"Connection: close\r\n\r\n"

/* The next question is for this one; grants it. */
static int
grant_next(const char *name, int is_open)
{
	int server, for_worker;
	struct ask_msg m;

	next_question(&m);
	assert_int_equal(m.kind, ASK_DIAL);
	assert_string_equal(m.name, name);
	assert_int_equal(m.is_open, is_open);
	if (is_open) {
		answer(&m, (struct ask_answer){ .status = ASK_OK }, -1);
		return -1;
	}
	server = origin(&for_worker);
	answer(&m, (struct ask_answer){ .status = ASK_OK }, for_worker);
	close(for_worker);
	return server;
}

static int
granted(const char *request, int *server)
{
	int client = dial(PROXY_LISTEN_HTTP, SOCK_STREAM);

	put(client, request);
	*server = grant_next("a.test", 0);
	return client;
}

/* One more request, carried as it should be. */
static void
follow(int client, int server, int is_open)
{
	int other;

	put(client, GET);
	other = grant_next("a.test", is_open);
	put(is_open ? server : other, OK);
	expect(client, OK);
	close(other);
}

/* One more, by a connection of its own. */
static void
serve_next(int client, const char *name)
{
	int server = grant_next(name, 0);

	put(server, OK);
	expect(client, OK);
	close(server);
}

/* A request that failed, or one of which the monitor wanted to know. */
static void
expect_done(int code)
{
	struct ask_msg m;

	next_question(&m);
	assert_int_equal(m.kind, ASK_DONE);
	assert_int_equal(m.code, code);
	assert_string_equal(m.name, "a.test");
	assert_string_equal(m.method, "GET");
	assert_string_equal(m.url_path, "/");
}

static void
expect_end(int fd)
{
	assert_string_equal(read_all(fd), "");
	close(fd);
}

static void
test_forward(void **state)
{
	int client = dial(PROXY_LISTEN_HTTP, SOCK_STREAM), server;

	(void)state;
	put(client, "POST http://A.test:8080/p?q=1 HTTP/1.1\r\nHost: evil\r\n"
	    "Proxy-Connection: keep-alive\r\nConnection: x-hop\r\nX-Hop: 1\r\n"
	    "X-Stay: 2\r\nContent-Length: 10\r\n\r\n01234");
	server = grant_next("A.test", 0);
	expect(server, "POST /p?q=1 HTTP/1.1\r\nHost: A.test:8080\r\n"
	    "X-Stay: 2\r\nContent-Length: 10\r\n\r\n01234");
	/* The second request is not for this origin. */
	put(client, "56789" GET);
	expect(server, "56789");
	put(server, OK);
	expect(client, OK);
	serve_next(client, "a.test");
	expect_end(server);
	close(client);
}

/* Decided anew, carried by the same connection; refused in between. */
static void
test_keep(void **state)
{
	int server, client = granted(GET, &server);
	struct ask_msg m;

	(void)state;
	for (int i = 0; i < 3; i++) {
		expect(server, GOT);
		put(server, OK);
		expect(client, OK);
		put(client, i == 1 ? "HEAD http://A.TEST:80/ HTTP/1.1\r\n\r\n"
		    : GET);
		if (i < 2)
			grant_next(i == 1 ? "A.TEST" : "a.test", 1);
		if (i == 1) {
			expect(server, "HEAD / HTTP/1.1\r\nHost: A.TEST\r\n"
			    "\r\n");
			put(server, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n"
			    "\r\n");
			expect(client, "HTTP/1.1 200 OK\r\n"
			    "Content-Length: 4\r\n\r\n");
			put(client, GET);
			grant_next("a.test", 1);
		}
	}
	next_question(&m);
	assert_int_equal(m.is_open, 1);
	answer(&m, (struct ask_answer){ .status = ASK_DENIED }, -1);
	expect(client, FORBIDDEN);
	close(server);
	close(client);
}

/* A refusal says how long it is, and another request may follow. */
static void
test_refused_between(void **state)
{
	int client = dial(PROXY_LISTEN_HTTP, SOCK_STREAM), server;
	char got[2048], *body;
	struct ask_msg m;
	ssize_t n;

	(void)state;
	put(client, "GET http://b.test/ HTTP/1.1\r\n\r\n");
	next_question(&m);
	answer(&m, (struct ask_answer){ .status = ASK_DENIED }, -1);
	n = recv(client, got, sizeof got - 1, 0);
	assert_true(n > 0);
	got[n] = '\0';
	assert_memory_equal(got, FORBIDDEN, strlen(FORBIDDEN));
	assert_null(strstr(got, "Connection:"));
	body = strstr(got, "\r\n\r\n");
	assert_int_equal(strlen(body + 4),
	    strtoul(strstr(got, "Content-Length: ") + 16, NULL, 10));
	put(client, GET);
	server = grant_next("a.test", 0);
	expect(server, GOT);
	put(server, OK);
	expect(client, OK);
	/* With a body that nobody reads it is the end. */
	put(client, "PUT http://b.test/ HTTP/1.1\r\nContent-Length: 9\r\n\r\n");
	next_question(&m);
	assert_int_equal(m.is_open, 0);
	answer(&m, (struct ask_answer){ .status = ASK_DENIED }, -1);
	assert_non_null(strstr(read_all(client), "\r\nConnection: close\r\n"));
	close(client);
	close(server);
}

/* What may not be asked twice is asked on a connection of its own. */
static void
test_not_repeatable(void **state)
{
	static const char *const requests[] = {
		"POST http://a.test/ HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
		"PUT http://a.test/ HTTP/1.1\r\nContent-Length: 1\r\n\r\nx",
		"GET http://a.test/ HTTP/1.1\r\nContent-Length: 1\r\n\r\nx",
		"DELETE http://a.test/ HTTP/1.1\r\n\r\n",
		"GET http://a.test:81/ HTTP/1.1\r\n\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
		int server, client = granted(GET, &server);

		put(server, OK);
		expect(client, OK);
		put(client, requests[i]);
		serve_next(client, "a.test");
		close(server);
		close(client);
	}
}

/* An origin that ends when it is asked again is dialled again. */
static void
test_stale(void **state)
{
	int server, client = granted(GET, &server);

	(void)state;
	expect(server, GOT);
	put(server, OK);
	expect(client, OK);
	put(client, GET);
	grant_next("a.test", 1);
	expect(server, GOT);
	close(server);
	server = grant_next("a.test", 0);
	expect(server, GOT);
	put(server, OK);
	expect(client, OK);
	/* Gone before it is asked: it is not asked. */
	close(server);
	for (int i = 0; i < 2; i++) {	/* the first turn sees its end */
		struct ask_msg m;
		char got[1024];

		put(client, "GET http://fence.internal/ HTTP/1.1\r\n\r\n");
		next_question(&m);
		assert_int_equal(m.kind, ASK_RECENT);
		answer(&m, (struct ask_answer){ .status = ASK_NOHOST }, -1);
		assert_true(recv(client, got, sizeof got, 0) > 0);
	}
	put(client, "GET http://a.test/ HTTP/1.1\r\n" CLOSE);
	close(grant_next("a.test", 0));
	assert_memory_equal(read_all(client), "HTTP/1.1 502", 12);
	expect_done(502);
	close(client);
}

static void
test_pipelined(void **state)
{
	int server, client = granted(GET GET "GET http://b.test/ HTTP/1.1\r\n"
	    CLOSE, &server);

	(void)state;
	expect(server, GOT);
	put(server, OK);
	grant_next("a.test", 1);
	expect(server, GOT);
	put(server, "HTTP/1.1 204 No Content\r\n\r\n");
	close(server);
	server = grant_next("b.test", 0);
	expect(server, "GET / HTTP/1.1\r\nHost: b.test\r\n" CLOSE);
	put(server, OK);
	close(server);
	assert_string_equal(read_all(client), OK
	    "HTTP/1.1 204 No Content\r\n\r\n"
	    "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n" CLOSE "body");
	close(client);
}

/* What an origin says, what the client gets, and who is used again. */
enum { CLIENT = 1, SERVER = 2, BOTH = 3 };

static const struct {
	const char	*request;	/* NULL: GET */
	const char	*says;
	const char	*gets;		/* NULL: the same */
	int		 kept;
	bool		 ends;		/* the origin ends behind it */
} answers[] = {
	{ NULL, OK, NULL, BOTH, false },
	{ NULL, "HTTP/1.1 204 No\r\n\r\n", NULL, BOTH, false },
	{ NULL, "HTTP/1.1 304 No\r\nContent-Length: 9\r\n\r\n", NULL, BOTH,
	    false },
	{ NULL, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	    "4\r\nbody\r\n0\r\nX: 1\r\n\r\n", NULL, BOTH, false },
	{ NULL, "HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 103 Soon\r\nLink: x\r\n\r\n"
	    OK, NULL, BOTH, false },
	{ NULL, OK "surplus", OK, CLIENT, false },
	{ NULL, "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n1",
	    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1", CLIENT, false },
	{ NULL, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n" CLOSE "1",
	    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1", CLIENT, false },
	{ NULL, "HTTP/1.1 200 OK\r\n\r\nbody", "HTTP/1.1 200 OK\r\n" CLOSE
	    "body", 0, true },
	{ NULL, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut", NULL, 0,
	    true },
	{ NULL, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n",
	    NULL, 0, true },
	{ NULL, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	    "4 ;\nodd!", NULL, 0, true },
	{ NULL, "HTTP/1.1 200 OK\nContent-Length: 1\n\n1",
	    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n" CLOSE "1", 0, false },
	{ NULL, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
	    "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" CLOSE
	    "0\r\n\r\n", 0, false },
	{ "HEAD http://a.test/ HTTP/1.1\r\n\r\n",
	    "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", NULL, BOTH, false },
	{ "HEAD http://a.test/ HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n"
	    "Transfer-Encoding: chunked\r\n\r\n", NULL, BOTH, false },
	{ "GET http://a.test/ HTTP/1.0\r\n\r\n", "HTTP/1.1 100 Go\r\n\r\n" OK,
	    "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n" CLOSE "body", 0,
	    false },
	{ "GET http://a.test/ HTTP/1.1\r\n" CLOSE, OK,
	    "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n" CLOSE "body", 0,
	    false },
};

static void
check_answer(size_t i, size_t step)
{
	const char *says = answers[i].says;
	const char *gets = answers[i].gets != NULL ? answers[i].gets : says;
	int server, client = granted(answers[i].request != NULL ?
	    answers[i].request : GET, &server);
	size_t len = strlen(says);

	for (size_t n; len > 0; says += n, len -= n) {
		n = len < step ? len : step;
		assert_int_equal(send(server, says, n, MSG_NOSIGNAL), n);
	}
	if (answers[i].ends)
		shutdown(server, SHUT_WR);
	if ((answers[i].kept & CLIENT) == 0) {
		assert_string_equal(read_all(client), gets);
	} else {
		expect(client, gets);
		follow(client, server, (answers[i].kept & SERVER) != 0);
	}
	close(server);
	close(client);
}

static void
test_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
		check_answer(i, 1 << 20);
		check_answer(i, 1);
	}
}

static void
test_bad_answers(void **state)
{
	static const struct { const char *says, *why; } t[] = {
		{ "", "it ended before its answer did" },
		{ "HTTP/1.1 20", "it ended before its answer did" },
		{ "HTTP/1.1 100 Go\r\n\r\n", "it ended before its answer" },
		{ "SSH-2.0-x\r\n\r\n", "no status line" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2"
		    "\r\n\r\n", "bad Content-Length" },
		{ "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "with a blank" },
		{ "HTTP/1.1 101 Go\r\n\r\n", "nobody asked for" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		int server, client = granted("GET http://a.test/ HTTP/1.1\r\n"
		    CLOSE, &server);
		const char *got;

		put(server, t[i].says);
		shutdown(server, SHUT_WR);
		got = read_all(client);
		assert_non_null(strstr(got, "HTTP/1.1 502 Bad Gateway\r\n"));
		assert_non_null(strstr(got, "a.test:80: "));
		assert_non_null(strstr(got, t[i].why));
		expect_done(502);
		close(server);
		close(client);
	}
}

/* An answer before the body: the client is told that none follows. */
static void
test_early_answer(void **state)
{
	static const char request[] = "PUT http://a.test/ HTTP/1.1\r\n"
	    "Expect: 100-continue\r\nContent-Length: 9\r\n\r\n";
	int server, client = granted(request, &server);

	(void)state;
	expect(server, "PUT / HTTP/1.1\r\nHost: a.test\r\n"
	    "Expect: 100-continue\r\nContent-Length: 9\r\n\r\n");
	put(server, "HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno");
	assert_string_equal(read_all(client),
	    "HTTP/1.1 413 No\r\nContent-Length: 2\r\n" CLOSE "no");
	close(client);
	close(server);
	/* It may still say it, and be heard. */
	client = granted(request, &server);
	put(server, "HTTP/1.1 100 Continue\r\n\r\n");
	expect(client, "HTTP/1.1 100 Continue\r\n\r\n");
	put(client, "1234");
	put(server, OK);
	expect(client, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n" CLOSE
	    "body");
	put(client, "56789");
	assert_non_null(strstr(read_all(server), "\r\n\r\n123456789"));
	close(server);
	assert_string_equal(read_all(client), "");
	close(client);
}

/*
 * Of an answer whose end is in doubt nobody waits long while another request
 * waits; what came of it is no whole answer.  One that lasts as long as its
 * connection may take its time.
 */
static void
test_pause(void **state)
{
	int slow, client = granted(GET GET, &slow);
	int odd, other = granted(GET GET, &odd);
	char byte;

	(void)state;
	expect(slow, GOT);
	put(slow, "HTTP/1.1 200 OK\r\n\r\nslow");
	expect(client, "HTTP/1.1 200 OK\r\n" CLOSE "slow");
	put(odd, "HTTP/1.1 200 OK\nContent-Length: 9\n\ncut");
	expect(other, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n" CLOSE
	    "cut");
	assert_int_equal(recv(other, &byte, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	put(slow, "ly");
	close(slow);
	assert_string_equal(read_all(client), "ly");
	close(odd);
	close(other);
	close(client);
}

#define UPLOAD "PUT http://a.test/ HTTP/1.1\r\nTransfer-Encoding: chunked" \
	"\r\n\r\n"
#define UPLOADED "PUT / HTTP/1.1\r\nHost: a.test\r\n" \
	"Transfer-Encoding: chunked\r\n\r\n"
#define SECOND "GET http://b.test/ HTTP/1.1\r\nAuthorization: s\r\n\r\n"

/* A chunked body ends where it ends; the next request is not its origin's. */
static void
test_chunked(void **state)
{
	static const struct { const char *first, *then, *want; } t[] = {
		{ "5\r\nhello\r\n0\r\n\r\n" SECOND, "",
		    "5\r\nhello\r\n0\r\n\r\n" },
		{ "5\r\nhello\r\n0\r\n\r\n", SECOND,
		    "5\r\nhello\r\n0\r\n\r\n" },
		{ "5\r\nhel", "lo\r\n0\r\nX: 1\r\n\r\n" SECOND,
		    "5\r\nhello\r\n0\r\nX: 1\r\n\r\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		char request[512], want[512];
		int client, server;

		snprintf(request, sizeof request, UPLOAD "%s", t[i].first);
		snprintf(want, sizeof want, UPLOADED "%s", t[i].want);
		client = granted(request, &server);
		put(client, t[i].then);
		expect(server, want);
		put(server, OK);
		expect(client, OK);
		serve_next(client, "b.test");
		expect_end(server);
		close(client);
	}
}

static void
test_chunked_bad(void **state)
{
	static const struct { const char *first, *then; } t[] = {
		{ "5\nhello", "" },
		{ "5\r\nhello", "GET http://b.test/" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		char request[512], byte;
		int client, server;
		struct ask_msg m;

		snprintf(request, sizeof request, UPLOAD "%s", t[i].first);
		client = granted(request, &server);
		if (t[i].then[0] != '\0') {
			expect(server, UPLOADED);
			expect(server, t[i].first);
			put(client, t[i].then);
			assert_true(recv(client, &byte, 1, 0) <= 0);
		} else {
			assert_memory_equal(read_all(client), "HTTP/1.1 400",
			    12);
			next_question(&m);
			assert_int_equal(m.note, ASK_NOTE_BAD_REQUEST);
		}
		assert_true(recv(server, &byte, 1, 0) <= 0);
		close(server);
		close(client);
	}
}

#define WEBSOCKET "GET http://a.test/ HTTP/1.1\r\nUpgrade: websocket\r\n" \
	"Connection: Upgrade\r\n\r\n"
#define WEBSOCKETED "GET / HTTP/1.1\r\nHost: a.test\r\n" \
	"Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
#define SWITCHED "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n" \
	"Connection: Upgrade\r\n\r\n"

/* A tunnel once the server agrees, however its words are cut; else none. */
static void
test_websocket(void **state)
{
	static const char *const says[][2] = {
		{ "HTTP/1.1 101 Switching\r\n\r\n", "hi" },
		{ "HTTP/1.1 1", "01 Switching\r\n\r\nhi" },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		int server, client = granted(WEBSOCKET "early ", &server);

		expect(server, WEBSOCKETED);
		put(server, says[i][0]);
		put(server, says[i][1]);
		expect(client, SWITCHED "hi");
		put(client, "frame");
		expect(server, "early frame");
		put(server, "frame back");
		expect(client, "frame back");
		shutdown(client, SHUT_WR);
		expect_end(server);
		expect_end(client);
	}
}

static void
test_no_websocket(void **state)
{
	int server, client = granted(WEBSOCKET, &server);

	(void)state;
	expect(server, WEBSOCKETED);
	put(server, OK);
	expect(client, OK);
	follow(client, server, 1);
	close(server);
	close(client);
}

/* The monitor hears of an answer if it wants to. */
static void
test_done(void **state)
{
	int client = dial(PROXY_LISTEN_HTTP, SOCK_STREAM), server, for_worker;
	struct ask_msg m;

	(void)state;
	put(client, GET);
	next_question(&m);
	assert_string_equal(m.url_path, "/");
	server = origin(&for_worker);
	answer(&m, (struct ask_answer){ .status = ASK_OK, .wants_done = 1 },
	    for_worker);
	close(for_worker);
	put(server, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
	expect(client, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
	expect_done(404);
	follow(client, server, 1);	/* and not of this one */
	put(client, GET);
	grant_next("a.test", 1);
	put(server, OK);
	expect(client, OK);
	close(client);
	close(server);
}

/* The server hears of a client that gives up, however it does so. */
static void
test_abort(void **state)
{
	(void)state;
	for (int is_reset = 0; is_reset < 2; is_reset++) {
		int server, client = granted(GET, &server);
		char byte;

		expect(server, GOT);
		if (is_reset)
			net_reset(&client);
		else
			close(client);
		assert_int_equal(recv(server, &byte, 1, 0), is_reset ? -1 : 0);
		if (is_reset)
			assert_int_equal(errno, ECONNRESET);
		close(server);
	}
}

static void
test_half_close(void **state)
{
	int server, client = granted(GET, &server);

	(void)state;
	shutdown(client, SHUT_WR);
	assert_string_equal(read_all(server), GOT);
	put(server, OK);
	assert_non_null(strstr(read_all(client), "\r\n\r\nbody"));
	close(server);
	close(client);
}

enum { TOTAL = 24 * 1024 * 1024 };

static void
pour(int fd, size_t n)
{
	static char chunk[65536];

	for (; n > 0; n -= sizeof chunk)
		if (send(fd, chunk, sizeof chunk, 0) != sizeof chunk)
			_exit(1);
	_exit(0);
}

static size_t
count(int fd, size_t most)
{
	static char chunk[65536];
	size_t n = 0;
	ssize_t r;

	while (n < most && (r = recv(fd, chunk, n < 4096 ? 1 : sizeof chunk,
	    0)) > 0)
		n += (size_t)r;
	return n;
}

/* Both ways, with readers that are slow at first. */
static void
test_back_pressure(void **state)
{
	static const char head[] = "PUT / HTTP/1.1\r\nHost: a.test\r\n"
	    "Content-Length: 25165824\r\n\r\n";
	int server, client = granted("PUT http://a.test/ HTTP/1.1\r\n"
	    "Content-Length: 25165824\r\n\r\n", &server);
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0)
		pour(client, TOTAL);
	assert_int_equal(count(server, sizeof head - 1 + TOTAL),
	    sizeof head - 1 + TOTAL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	put(server, "HTTP/1.1 200 OK\r\nContent-Length: 25165824\r\n\r\n");
	expect(client, "HTTP/1.1 200 OK\r\nContent-Length: 25165824\r\n\r\n");
	pid = fork();
	if (pid == 0)
		pour(server, TOTAL);
	assert_int_equal(count(client, TOTAL), TOTAL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	follow(client, server, 1);
	close(server);
	close(client);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_forward),
		CASE(test_keep),
		CASE(test_refused_between),
		CASE(test_not_repeatable),
		CASE(test_stale),
		CASE(test_pipelined),
		CASE(test_answers),
		CASE(test_bad_answers),
		CASE(test_early_answer), CASE(test_pause),
		CASE(test_chunked),
		CASE(test_chunked_bad),
		CASE(test_websocket),
		CASE(test_no_websocket),
		CASE(test_done),
		CASE(test_abort),
		CASE(test_half_close),
		CASE(test_back_pressure),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
