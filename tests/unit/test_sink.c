/* sink: whole lines to a reader; what a slow one loses is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/record/chain.h"
#include "launcher/record/sink.h"
#include "launcher/writer.h"
#include "platform/base/json.h"
#include "platform/fd.h"

static const struct event_run run = { .id = "0123456789abcdef",
    .hostname = "box", .version = "0", .policy_name = "p.json" };

static struct event
dns(const char *host)
{
	return (struct event){ .kind = EVENT_DNS, .count = 1,
	    .witness = WITNESS_GATE, .enforcer = ENFORCER_DNS, .host = host,
	    .qtype = "A", .verdict.action = ACTION_DENY };
}

/* What a reader has got by now. */
static char *
take(int fd)
{
	struct buf b;
	char chunk[4096], *ret;
	ssize_t n;

	buf_init(&b, 0);
	while ((n = read(fd, chunk, sizeof chunk)) > 0)
		buf_add(&b, chunk, (size_t)n);
	ret = strdup(b.data);
	buf_release(&b);
	return ret;
}

static unsigned
count(const char *text, const char *words)
{
	unsigned n = 0;

	while ((text = strstr(text, words)) != NULL) {
		text += strlen(words);
		n++;
	}
	return n;
}

static void
test_forms(void **state)
{
	static const struct {
		const struct event_run	*run;
		int			 is_tty;
		const char		*has;
		unsigned		 lines;
	} t[] = {
		{ NULL, 0, "query(a.test, A) NXDOMAIN", 1 },
		{ NULL, 1, "query(a.test, A) NXDOMAIN", 1 },
		{ &run, 0, "\"hostname\":\"a.test\"", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct event e = dns("a.test");
		int fds[2];
		struct sink *s;
		char *text;

		assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
		s = sink_new(fds[1], t[i].run, t[i].is_tty);
		sink_event(s, &e);
		text = take(fds[0]);
		if (strstr(text, t[i].has) == NULL)
			fail_msg("row %zu: %s", i, text);
		assert_int_equal(count(text, "\n"), t[i].lines);
		free(text);
		sink_free(s);
		close(fds[0]);
		close(fds[1]);
	}
}

/* Each line is JSON, and their numbers have no holes. */
static void
check_numbers(const char *text, unsigned from)
{
	for (const char *p = text; *p != '\0'; p = strchr(p, '\n') + 1) {
		const char *at = strstr(p, "\"sequence\":");

		assert_non_null(at);
		assert_int_equal(strtoul(at + 11, NULL, 10), from++);
	}
}

/*
 * A reader that reads nothing: the sink gives up, counts, and tells it when
 * there is room again.
 */
static void
test_slow(void **state)
{
	struct event e;
	int fds[2];
	struct sink *s;
	char *text, *rest;
	unsigned nput = 0, nwhole;
	const char *lost;

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	s = sink_new(fds[1], &run, 0);
	for (; nput < 400; nput++) {
		e = dns("a.test");
		sink_event(s, &e);
	}
	sink_lost(s, 1000, false);
	text = take(fds[0]);
	sink_flush(s);			/* the rest of a line, and the count */
	rest = take(fds[0]);
	text = realloc(text, strlen(text) + strlen(rest) + 1);
	strcat(text, rest);
	nwhole = count(text, "\n");
	assert_true(nwhole > 1 && nwhole < nput);
	check_numbers(text, 1);
	lost = strstr(text, "\"dropped\":");
	assert_non_null(lost);
	assert_int_equal(strtoul(lost + 10, NULL, 10),
	    nput - (nwhole - 1) + 1000);
	free(rest);
	free(text);
	/* Told once. */
	sink_flush(s);
	e = dns("b.test");
	sink_event(s, &e);
	text = take(fds[0]);
	assert_int_equal(count(text, "\n"), 1);
	check_numbers(text, nwhole + 1);
	free(text);
	sink_free(s);
	close(fds[0]);
	close(fds[1]);
}

/* More bytes than a reader gets: the shim's claims end first, all of it is
 * told as lost, and the end of the run is written. */
static void
test_limit(void **state)
{
	FILE *f = tmpfile();
	struct sink *s = sink_new(fileno(f), &run, 0);
	struct event e;
	char *text;

	(void)state;
	sink_limit(s, 4000, 40000);
	for (unsigned i = 0; i < 200; i++) {
		e = dns("claimed.test");
		e.witness = WITNESS_SHIM;
		sink_event(s, &e);
		e = dns("seen.test");
		sink_event(s, &e);
	}
	sink_flush(s);
	e = (struct event){ .kind = EVENT_RUN_END, .count = 1 };
	sink_event(s, &e);
	sink_free(s);
	rewind(f);
	text = take(fileno(f));
	check_numbers(text, 1);
	assert_true(count(text, "\"hostname\":\"claimed.test\"") > 0);
	assert_true(count(text, "\"hostname\":\"claimed.test\"") < 10);
	assert_true(count(text, "\"hostname\":\"seen.test\"") > 10);
	assert_true(strlen(text) < 50000);
	assert_int_equal(count(text, "\n"), 2 + 400 -
	    strtoul(strstr(text, "\"dropped\":") + 10, NULL, 10));
	assert_non_null(strstr(text, "\"exit_status\":0"));
	free(text);
	fclose(f);
}

static void
test_none(void **state)
{
	struct sink *s = sink_new(-1, NULL, 0);
	struct event e = dns("a.test");

	(void)state;
	sink_event(s, &e);
	sink_lost(s, 7, false);
	sink_flush(s);
	sink_free(s);
	sink_free(NULL);
}

/* Each line names the hash of the line before it; text has no chain. */
static void
test_chain(void **state)
{
	char *text, *line, *save = NULL;
	struct chain chain;
	struct sink *s;
	unsigned n = 0;
	int fds[2];

	(void)state;
	chain_init(&chain);
	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	s = sink_new(fds[1], &run, 0);
	for (unsigned i = 0; i < 3; i++) {
		struct event e = dns(i == 1 ? "b.test" : "a.test");

		sink_event(s, &e);
	}
	text = take(fds[0]);
	for (line = strtok_r(text, "\n", &save); line != NULL;
	    line = strtok_r(NULL, "\n", &save), n++) {
		char want[96];

		(void)snprintf(want, sizeof want, "\"prev\":\"%s\"",
		    chain.prev);
		assert_non_null(strstr(line, want));
		chain_add(&chain, line, strlen(line));
	}
	assert_int_equal(n, 3);
	free(text);
	sink_free(s);
	close(fds[0]);
	close(fds[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_chain),
	};

	writer_set_mode(WRITER_WATCHES);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
