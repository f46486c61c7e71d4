/* The projections of an event: text, JSON, and the cuts between them. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "launcher/record/event.h"
#include "platform/base/json.h"
#include "tests/unit/verdict_words.h"

#define X	"\xe2\x9c\x97"		/* the sign of a refusal */
#define OK	"\xe2\x9c\x93"
#define TO	" \xe2\x86\x92 "
#define DOTS	"\xe2\x80\xa6"

static const struct event_run run = {
	.id = "00112233445566778899aabbccddeeff", .hostname = "box",
	.version = "0.1.0", .policy_name = "fence.jsonc",
};

static void
add_process(struct event *e, pid_t pid, const char *comm)
{
	struct event_process *p = &e->process[e->nprocess++];

	p->pid = pid;
	strncpy(p->comm, comm, sizeof p->comm - 1);
}

static void
set_rule(struct event *e, const char *rule, const char *text,
    const char *file, int line, int col)
{
	e->verdict.action = ACTION_DENY;
	e->verdict.rule = rule_from(rule, text, file, line, col);
}

static void
set_remedy(struct event *e, enum remedy_kind kind, const char *key,
    const char *value)
{
	remedy_from(&e->verdict.remedy, kind, key, value);
}

/* 14:03:22 in the zone of the test. */
static struct event
event_of(enum event_kind kind)
{
	struct event e = { .kind = kind, .time_ms = 50602000, .count = 1,
	    .sequence = 7, .enforcer = ENFORCER_MOUNT };

	return e;
}

static struct event
open_event(void)
{
	struct event e = event_of(EVENT_OPEN);

	e.path = "/home/u/.ssh/id";
	e.sys = EACCES;
	add_process(&e, 4711, "cc1");
	add_process(&e, 4703, "sh");
	set_rule(&e, "filesystem.denyRead[2]", "~/.ssh", "fence.jsonc", 12,
	    5);
	set_remedy(&e, REMEDY_REMOVE, "filesystem.denyRead", "~/.ssh");
	return e;
}

static void
assert_text(const struct event *e, unsigned columns, const char *want)
{
	const struct event_look look = { .columns = columns };
	struct buf b;

	buf_init(&b, 0);
	event_text(e, columns > 0 ? &look : NULL, &b);
	assert_string_equal(b.data, want);
	buf_release(&b);
}

static void
test_text_open(void **state)
{
	struct event e = open_event();

	(void)state;
	assert_text(&e, 400, "[fence:fs]  14:03:22 " X " open(\"/home/u/.ssh/id\""
	    ", read) EACCES  sh[4703]" TO "cc1[4711]\n"
	    "            rule filesystem.denyRead[2] \"~/.ssh\" "
	    "fence.jsonc:12:5   allow: filesystem.denyRead "
	    "(remove \"~/.ssh\")");
	assert_text(&e, 0, "[fence:fs]  14:03:22 " X " open(\"/home/u/.ssh/id\""
	    ", read) EACCES  sh[4703]" TO "cc1[4711] | "
	    "rule filesystem.denyRead[2] \"~/.ssh\" "
	    "fence.jsonc:12:5   allow: filesystem.denyRead "
	    "(remove \"~/.ssh\")");
}

static void
test_text_no_entry(void **state)
{
	struct event e = open_event();

	(void)state;
	e.nprocess = 1;
	e.sys = EROFS;
	e.open_flags = O_WRONLY | O_CREAT;
	set_rule(&e, "filesystem.allowWrite", NULL, "fence.jsonc", 3, 17);
	strcpy(e.verdict.reason, "no entry of filesystem.allowWrite matches");
	set_remedy(&e, REMEDY_ADD, "filesystem.allowWrite", "~/a\"b");
	assert_text(&e, 0, "[fence:fs]  14:03:22 " X " open(\"/home/u/.ssh/id\""
	    ", write) EROFS  cc1[4711] | rule filesystem.allowWrite "
	    "(no entry matches) fence.jsonc:3:17   "
	    "allow: filesystem.allowWrite += \"~/a\\\"b\"");
	e.verdict.remedy.kind = REMEDY_NONE;
	e.nprocess = 0;
	e.verdict.rule.at = (struct origin){ "<built-in x>", 0, 0,
	    ORIGIN_BUILT_IN };
	strcpy(e.verdict.reason, "x is a private address");
	e.verdict.rule.id = RULE_KEY;
	assert_text(&e, 0, "[fence:fs]  14:03:22 " X " open(\"/home/u/.ssh/id\""
	    ", write) EROFS | rule filesystem.allowWrite "
	    "(x is a private address) <built-in x>");
}

static void
test_text_network(void **state)
{
	struct event e = event_of(EVENT_HTTP);

	(void)state;
	e.host = "denied.test";
	e.port = 443;
	e.method = "CONNECT";
	e.status = 403;
	e.duration_ms = 3;
	add_process(&e, 9, "curl");
	set_rule(&e, "network.deniedDomains[0]", "*.test", "f", 1, 2);
	assert_text(&e, 0, "[fence:http] 14:03:22 " X " CONNECT 403 denied.test"
	    " https://denied.test:443 (3ms)  curl[9] | "
	    "rule network.deniedDomains[0] \"*.test\" f:1:2");
	e.method = "GET";
	e.port = 80;
	e.verdict.action = ACTION_ALLOW;
	e.status = 200;
	assert_text(&e, 0, "[fence:http] 14:03:22 " OK " GET     200 denied.test"
	    " http://denied.test (3ms)  curl[9] | "
	    "rule network.deniedDomains[0] \"*.test\" f:1:2");
	e.status = 502;
	e.url_path = "/a\001b/01234567890123456789012345678901234567890123456789";
	set_remedy(&e, REMEDY_ADD, "key", "of a refusal alone");
	assert_text(&e, 0, "[fence:http] 14:03:22 ! GET     502 denied.test"
	    " http://denied.test/a\\x01b/012345678901234567890123456789012" DOTS
	    " (3ms)  curl[9] | rule network.deniedDomains[0] \"*.test\" f:1:2");
	e.verdict.remedy.kind = REMEDY_NONE;
	/* A proxy on the way that failed is trouble; one that did not, "to". */
	e.url_path = "/";
	e.verdict.action = ACTION_DENY;
	assert_text(&e, 0, "[fence:http] 14:03:22 ! GET     502 denied.test"
	    " http://denied.test/ (3ms)  curl[9] | "
	    "rule network.deniedDomains[0] \"*.test\" f:1:2");
	e.verdict.action = ACTION_ALLOW;
	e.verdict.via_upstream = true;
	e.status = 200;
	assert_text(&e, 0, "[fence:http] 14:03:22" TO "GET     200 denied.test"
	    " http://denied.test/ (3ms)  curl[9] | "
	    "rule network.deniedDomains[0] \"*.test\" f:1:2");
	e.verdict.via_upstream = false;
	e.kind = EVENT_DNS;
	e.verdict.action = ACTION_DENY;
	e.qtype = "A AAAA";
	assert_text(&e, 0, "[fence:dns] 14:03:22 " X " query(denied.test, "
	    "A AAAA) NXDOMAIN  curl[9] | "
	    "rule network.deniedDomains[0] \"*.test\" f:1:2");
	e.kind = EVENT_SNI;
	e.server = "allowed.test";
	assert_text(&e, 0, "[fence:gate] 14:03:22 " X " tls(denied.test) on a "
	    "connection to allowed.test:80  curl[9] | "
	    "rule network.deniedDomains[0] \"*.test\" f:1:2");
	e.kind = EVENT_CONNECT;
	e.host = NULL;
	e.ip = "2001:db8::1";
	e.sys = ENETUNREACH;
	assert_text(&e, 0, "[fence:gate] 14:03:22 " X " connect([2001:db8::1]:80)"
	    " ENETUNREACH  curl[9] | "
	    "rule network.deniedDomains[0] \"*.test\" f:1:2");
	e.is_socks = true;
	assert_text(&e, 0, "[fence:socks] 14:03:22 " X " CONNECT "
	    "[2001:db8::1]:80 BLOCKED  curl[9] | "
	    "rule network.deniedDomains[0] \"*.test\" f:1:2");
	e.verdict.action = ACTION_ALLOW;
	assert_text(&e, 0, "[fence:socks] 14:03:22 ! CONNECT "
	    "[2001:db8::1]:80 ALLOWED  curl[9] | "
	    "rule network.deniedDomains[0] \"*.test\" f:1:2");
	e.sys = 0;
	assert_text(&e, 0, "[fence:socks] 14:03:22 " OK " CONNECT "
	    "[2001:db8::1]:80 ALLOWED  curl[9] | "
	    "rule network.deniedDomains[0] \"*.test\" f:1:2");
	e.verdict.action = ACTION_DENY;
	e.sys = ENETUNREACH;
	e.is_socks = false;
	e.path = "/run/x.sock";
	e.nprocess = 0;
	assert_text(&e, 0, "[fence:gate] 14:03:22 " X " connect(\"/run/x.sock\")"
	    " ENETUNREACH | rule network.deniedDomains[0] \"*.test\" f:1:2");
}

static void
test_text_other(void **state)
{
	struct event e = event_of(EVENT_DROPPED);

	(void)state;
	e.dropped = 12;
	assert_text(&e, 0, "[fence] 12 records were dropped");
	e.is_least = true;
	assert_text(&e, 0, "[fence] at least 12 records were dropped");
	e.is_least = false;
	e.dropped = 1;
	assert_text(&e, 400, "[fence] 1 record was dropped");
	e.kind = EVENT_RUN_END;
	e.status = 143;
	assert_text(&e, 0, "[fence]     14:03:22 run ended: exit status 143");
	e.kind = EVENT_WORKER;
	e.detail = "a\nb";
	assert_text(&e, 0, "[fence]     14:03:22 a\\x0ab");
	e = open_event();
	e.kind = EVENT_EXEC;
	e.count = 3;
	e.sys = 200;
	e.verdict.rule.id = RULE_NONE;
	e.nprocess = 1;
	assert_text(&e, 0, "[fence:exec] 14:03:22 " X " exec(\"/home/u/.ssh/id\")"
	    " errno 200 (3 times)  cc1[4711]");
}

/* Bytes a terminal must not see, from every place the jail can write to. */
static void
test_text_hostile(void **state)
{
	struct event e = open_event();
	struct buf b;

	(void)state;
	e.path = "/a\x1b]0;x\x07\r\n\xff\xe2\x80\xae\"b";
	strcpy(e.process[0].comm, "c\n\x1b[2J");
	buf_init(&b, 0);
	event_text(&e, NULL, &b);
	assert_non_null(strstr(b.data, "open(\"/a\\x1b]0;x\\x07\\x0d\\x0a\\xff"
	    "\\xe2\\x80\\xae\\\"b\", read)"));
	assert_non_null(strstr(b.data, "c\\x0a\\x1b[2J[4711]"));
	for (const char *p = b.data; *p != '\0'; p++)
		assert_false((unsigned char)*p < 0x20 || *p == 0x7f);
	buf_release(&b);
}

static size_t
utf8_chars(const char *s)
{
	size_t n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void
test_text_length(void **state)
{
	static char path[4097], host[256], place[4000];
	struct event e = open_event();
	struct buf b;

	(void)state;
	memset(path, 'p', 4096);
	memcpy(path, "/first", 6);
	memcpy(path + 4092, "last", 4);
	memset(host, '\x01', 255);
	memset(place, 'f', sizeof place - 1);
	buf_init(&b, 0);
	e.path = path;
	while (e.nprocess < EVENT_ANCESTORS)
		add_process(&e, 123456, "\x01\x02\x03\x04\x05\x06\x07\x08");
	event_text(&e, NULL, &b);
	assert_in_range(utf8_chars(b.data), 390, 400);
	assert_non_null(strstr(b.data, "\"/first"));
	assert_non_null(strstr(b.data, "last\", read)"));
	assert_non_null(strstr(b.data, DOTS));
	assert_non_null(strstr(b.data, "rule filesystem.denyRead[2] \"~/.ssh\" "
	    "fence.jsonc:12:5   allow: filesystem.denyRead "
	    "(remove \"~/.ssh\")"));
	for (int kind = EVENT_OPEN; kind <= EVENT_NEST; kind++) {
		e.kind = (enum event_kind)kind;
		e.method = e.host = e.qtype = host;
		e.detail = path;
		e.verdict.rule.text = path;
		e.verdict.rule.at.file = place;
		memset(e.verdict.remedy.value, '\xff', 4000);
		buf_clear(&b);
		event_text(&e, NULL, &b);
		assert_in_range(utf8_chars(b.data), 1, 400);
		if (kind < EVENT_RUN_START)
			assert_non_null(strstr(b.data,
			    "rule filesystem.denyRead[2] \""));
	}
	buf_release(&b);
}

/* Two lines that fit the terminal, whatever it is shown. */
static void
test_text_terminal(void **state)
{
	static const unsigned columns[] = { 40, 80, 120, 200 };
	static char path[4097];
	struct event e = open_event();
	struct buf b;

	(void)state;
	memset(path, 'p', 4096);
	path[0] = '/';
	memcpy(path + 100, "\xe6\xbc\xa2\xe5\xad\x97", 6);
	e.path = path;
	while (e.nprocess < EVENT_ANCESTORS)
		add_process(&e, 123456, "\xe6\xbc\xa2\xe5\xad\x97");
	e.verdict.rule.text = path;
	memset(e.verdict.remedy.value, 'v', 4000);
	buf_init(&b, 0);
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		struct event_look look = { .columns = columns[i] };
		char *second;

		buf_clear(&b);
		event_text(&e, &look, &b);
		second = strchr(b.data, '\n');
		assert_non_null(second);
		*second++ = '\0';
		assert_null(strchr(second, '\n'));
		assert_in_range(event_chars(b.data), 30, columns[i]);
		assert_in_range(event_chars(second), 30, columns[i]);
		assert_memory_equal(second, "            rule ", 17);
		assert_null(strchr(second, 27));
		look.has_colour = true;
		buf_clear(&b);
		event_text(&e, &look, &b);
		assert_non_null(strstr(b.data, "\n\033[2m            rule "));
		assert_string_equal(b.data + b.len - 4, "\033[0m");
	}
	/* A finding is a sentence: none of it is cut off. */
	e.kind = EVENT_NEST;
	e.detail = "a sentence that is longer than forty columns are wide";
	buf_clear(&b);
	event_text(&e, &(struct event_look){ .columns = 40 }, &b);
	assert_non_null(strstr(b.data, "columns are wide"));
	buf_release(&b);
}

static void
test_cut(void **state)
{
	static const struct {
		const char	*text;
		size_t		 head, tail;
		const char	*want;
	} rows[] = {
		{ "abcdef", 3, 2, "abcdef" },
		{ "abcdefg", 3, 2, "abc" DOTS "fg" },
		{ "abcdefg", 3, 0, "abc" DOTS },
		{ "a\\x0abcdefg", 3, 2, "a" DOTS "fg" },
		{ "abcdefgh\\x0a", 3, 2, "abc" DOTS },
		{ "ab\\\"cdefgh", 3, 1, "ab" DOTS "h" },
		{ "\xc3\xa4\xc3\xb6\xc3\xbc" "d", 1, 1, "\xc3\xa4" DOTS "d" },
		{ "", 0, 0, "" },
		{ "a", 0, 0, "a" },
		{ "ab", 0, 0, DOTS },
	};
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		buf_clear(&b);
		event_cut(&b, rows[i].text, rows[i].head, rows[i].tail);
		assert_string_equal(b.data, rows[i].want);
	}
	buf_release(&b);
}

/* Walks the whole object with the reader; -1 if it is not one JSON value. */
static int
read_json(const struct buf *b)
{
	struct json_reader r;
	struct json_token t;
	struct err e;
	int rv;

	json_init(&r, "event", b->data, b->len, 1 << 20);
	do
		rv = json_next(&r, &t, &e);
	while (rv == 0 && t.kind != JSON_END);
	json_release(&r);
	return rv;
}

static void
test_json(void **state)
{
	static const char *const has[] = {
		"\"class_uid\":1001", "\"activity_id\":14",
		"\"type_uid\":100114", "\"status_code\":\"EACCES\"",
		"\"action_id\":2", "\"sequence\":7",
		"\"correlation_uid\":\"00112233445566778899aabbccddeeff\"",
		"\"file\":{\"path\":\"/home/u/.ssh/id\",\"name\":\"id\"",
		"\"firewall_rule\":{\"uid\":\"filesystem.denyRead[2]\","
		"\"name\":\"~/.ssh\",\"type\":\"deny\"}",
		"\"policy\":{\"name\":\"fence.jsonc:12:5\"}",
		"\"actor\":{\"process\":{\"pid\":4711,\"name\":\"cc1\","
		"\"parent_process\":{\"pid\":4703,\"name\":\"sh\"},"
		"\"ancestry\":[{\"pid\":4703,\"name\":\"sh\"}]}}",
		"\"remedy\":{\"key\":\"filesystem.denyRead\","
		"\"value\":\"(remove \\\"~/.ssh\\\")\",\"flag\":\"\"}",
		"\"trust\":\"claim\"", "\"enforcer\":\"mount\"",
		"\"message\":\"[fence:fs]  14:03:22 ",
	};
	struct event e = open_event();
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	event_json(&e, &run, &b);
	assert_int_equal(read_json(&b), 0);
	assert_int_equal(b.data[b.len - 1], '}');
	for (size_t i = 0; i < sizeof has / sizeof *has; i++)
		if (strstr(b.data, has[i]) == NULL)
			fail_msg("no %s in %s", has[i], b.data);
	buf_release(&b);
}

/* Every kind, plain and with hostile bytes: always one line, always JSON. */
static void
test_json_kinds(void **state)
{
	static const char evil[] = "\"}\\\n\x1b\xff\xc0\xaf\xe2\x80\xa8,{";
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	for (int i = 0; i < 2 * (EVENT_NEST + 1); i++) {
		struct event e = open_event();

		e.kind = (enum event_kind)(i / 2);
		e.dropped = 3;
		if (i % 2 == 1) {
			e.path = e.host = e.ip = e.method = e.qtype =
			    e.detail = e.verdict.rule.text = evil;
			strcpy(e.process[0].comm, evil);
			strcpy(e.process[1].cmdline, evil);
			strcpy(e.verdict.remedy.value, evil);
		}
		buf_clear(&b);
		event_json(&e, &run, &b);
		assert_int_equal(read_json(&b), 0);
		assert_null(strchr(b.data, '\n'));
		assert_null(strchr(b.data, 0x1b));
	}
	buf_release(&b);
}

static void
test_json_ceiling(void **state)
{
	struct event e = open_event();

	(void)state;
	for (size_t max = 1; max < 2000; max += 37) {
		struct buf b;

		buf_init(&b, max);
		event_json(&e, &run, &b);
		assert_true(b.len <= max);
		buf_release(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_open),
		cmocka_unit_test(test_text_no_entry),
		cmocka_unit_test(test_text_network),
		cmocka_unit_test(test_text_other),
		cmocka_unit_test(test_text_hostile),
		cmocka_unit_test(test_text_length),
		cmocka_unit_test(test_text_terminal),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_kinds),
		cmocka_unit_test(test_json_ceiling),
	};

	(void)setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
