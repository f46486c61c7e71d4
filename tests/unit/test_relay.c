#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/fd.h"
#include "proxy/relay.h"

static struct loop *loop;
static int client, server;	/* the far ends */
static struct relay *relay;
static int ndone;
static relay_look_fn *spec_look;
static void hear(void *, const char *, size_t);

static void
done(struct relay *r, void *arg)
{
	(void)arg;
	ndone++;
	relay_free(r);
	loop_stop(loop, 0);
}

static void
start(const char *to_server, int64_t idle_ms)
{
	struct relay_spec spec = { .idle_ms = idle_ms, .done = done,
	    .look = spec_look, .hear = spec_look != NULL ? hear : NULL,
	    .to_server = to_server, .to_server_len = strlen(to_server) };
	int a[2], b[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0,
	    a), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0,
	    b), 0);
	client = a[0];
	spec.client_fd = a[1];
	server = b[0];
	spec.server_fd = b[1];
	ndone = 0;
	loop = loop_new();
	relay = relay_start(loop, &spec);
	assert_non_null(relay);
}

static void
finish(void)
{
	if (ndone == 0)
		relay_free(relay);
	close(client);
	close(server);
	loop_free(loop);
}

static void
tick(struct watch *w, int what, void *arg)
{
	(void)what;
	(void)arg;
	watch_free(w);
	loop_stop(loop, 0);
}

/* Lets the relay work until it has nothing to do. */
static void
settle(void)
{
	for (int i = 0; i < 20 && ndone == 0; i++) {
		loop_after(loop, 0, tick, NULL);
		loop_run(loop);
	}
}

static void
put(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void
expect(int fd, const char *text)
{
	char got[256];
	ssize_t n = read(fd, got, sizeof got - 1);

	assert_int_equal(n, strlen(text));
	got[n] = '\0';
	assert_string_equal(got, text);
}

static void
expect_nothing(int fd)
{
	char byte;

	assert_int_equal(read(fd, &byte, 1), -1);
	assert_int_equal(errno, EAGAIN);
}

static void
test_both_ways(void **state)
{
	(void)state;
	start("first ", 60000);
	put(client, "ping");
	put(server, "pong");
	settle();
	expect(server, "first ping");
	expect(client, "pong");
	shutdown(client, SHUT_WR);
	settle();
	expect(server, "");
	expect_nothing(client);
	put(server, "late");
	settle();
	expect(client, "late");
	assert_int_equal(ndone, 0);
	shutdown(server, SHUT_WR);
	settle();
	assert_int_equal(ndone, 1);
	expect(client, "");
	finish();
}

/* The fast side is not read further than the slow one can be buffered. */
static void
test_back_pressure(void **state)
{
	static char chunk[32 * 1024];
	size_t sent = 0, got = 0;
	int much = 1 << 20;
	ssize_t n;

	(void)state;
	start("", 60000);
	/* More waits than one read takes, which is more than a write takes. */
	(void)setsockopt(server, SOL_SOCKET, SO_SNDBUF, &much, sizeof much);
	for (int quiet = 0; quiet < 3; settle()) {
		quiet++;
		while ((n = write(server, chunk, sizeof chunk)) > 0) {
			quiet = 0;
			sent += (size_t)n;
		}
		assert_true(sent < 16 * LOOP_BUF_BYTES);
	}
	assert_true(sent > LOOP_BUF_BYTES);
	shutdown(server, SHUT_WR);
	for (;;) {
		n = read(client, chunk, sizeof chunk);
		if (n == 0)
			break;
		if (n > 0)
			got += (size_t)n;
		else
			settle();
	}
	assert_int_equal(got, sent);
	assert_int_equal(ndone, 0);
	finish();
}

static void
test_gone_after_half_close(void **state)
{
	(void)state;
	start("", 60000);
	shutdown(client, SHUT_WR);
	settle();
	assert_int_equal(ndone, 0);
	close(client);
	settle();
	assert_int_equal(ndone, 1);
	client = -1;
	finish();
}

static void
test_idle(void **state)
{
	(void)state;
	start("", 5);
	loop_run(loop);
	assert_int_equal(ndone, 1);
	finish();
}

/* Lines pass one by one, once they are complete; "go" opens the gate. */
static ssize_t
look(void *arg, const char *p, size_t len, bool *is_over)
{
	const char *end = len > 0 ? memchr(p, ';', len) : NULL;

	(void)arg;
	if (end == NULL)
		return 0;
	if (*p == '!')
		return -1;
	*is_over = len >= 2 && memcmp(p, "go", 2) == 0;
	return *is_over ? (ssize_t)len : end + 1 - p;
}

static size_t nheard;

static void
hear(void *arg, const char *p, size_t len)
{
	(void)arg;
	(void)p;
	nheard += len;
}

static void
test_look(void **state)
{
	(void)state;
	spec_look = look;
	nheard = 0;
	start("a;b;c", 60000);
	settle();
	expect(server, "a;");
	put(server, "hm");
	settle();
	expect(client, "hm");
	expect(server, "b;");
	assert_int_equal(nheard, 2);
	put(client, "ont");
	settle();
	expect_nothing(server);
	put(client, "inued;go;");
	settle();
	expect(server, "continued;");
	relay_look(relay);
	settle();
	expect(server, "go;");
	put(client, "free");
	put(server, "too");
	settle();
	expect(server, "free");
	expect(client, "too");
	assert_int_equal(nheard, 2);
	finish();

	start("", 60000);
	put(client, "!;");
	settle();
	assert_int_equal(ndone, 1);
	finish();
	spec_look = NULL;
}

/* Who is not let pass waits; its end comes after what is held. */
static void
test_look_full(void **state)
{
	static char many[RELAY_HELD_MAX];
	size_t sent = 0, got = 0;
	ssize_t n;

	(void)state;
	spec_look = look;
	start("", 60000);
	memset(many, 'x', sizeof many);
	do {
		n = send(client, many, sizeof many, MSG_DONTWAIT);
		sent += n > 0 ? (size_t)n : 0;
		settle();
	} while (n > 0);
	assert_true(sent > RELAY_HELD_MAX);
	expect_nothing(server);
	assert_int_equal(ndone, 0);
	finish();

	start("", 60000);
	put(client, "a");
	assert_int_equal(shutdown(client, SHUT_WR), 0);
	settle();
	expect_nothing(server);
	finish();

	/* Held for too long. */
	start("", 30);
	put(client, "a");
	loop_run(loop);
	assert_int_equal(ndone, 1);
	got = (size_t)recv(client, many, 1, MSG_DONTWAIT);
	assert_true(got != 1);
	finish();
	spec_look = NULL;
}

static void
test_finish(void **state)
{
	char got[8];

	(void)state;
	start("", 60000);
	relay_finish(relay, "bye", 3);
	assert_int_equal(ndone, 1);
	assert_int_equal(recv(client, got, sizeof got, 0), 3);
	assert_int_equal(recv(client, got, sizeof got, 0), 0);
	finish();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_back_pressure),
		cmocka_unit_test(test_gone_after_half_close),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_look),
		cmocka_unit_test(test_look_full),
		cmocka_unit_test(test_finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
