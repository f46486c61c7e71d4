/* history: records of any bytes, groups, the chain, lines of a policy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/history/history.h"
#include "launcher/history/suggest.h"
#include "launcher/record/chain.h"
#include "platform/base/vec.h"
#include "platform/fd.h"

#define META(n)	"\"metadata\":{\"correlation_uid\":\"ab12\",\"sequence\":" n "}"
#define OPEN(n, path, key, value, trust)				\
	"{" META(n) ",\"class_uid\":1001,\"action_id\":2,\"count\":1,"	\
	"\"message\":\"open " path "\",\"file\":{\"path\":\"" path "\"},"	\
	"\"actor\":{\"process\":{\"pid\":7,\"name\":\"cc\","		\
	"\"path\":\"/bin/cc\"}},\"firewall_rule\":{\"uid\":\"" key "\"},"	\
	"\"policy\":{\"name\":\"p:1:2\"},\"unmapped\":{\"fence\":{"	\
	"\"trust\":\"" trust "\",\"remedy\":{\"key\":\"" key		\
	"\",\"value\":\"" value "\",\"flag\":\"\"}}}}"
#define WRITE_KEY "filesystem.allowWrite"

static void
test_parse(void **state)
{
	static const struct {
		const char	*line, *object, *process;
		enum record_kind kind;
	} t[] = {
		{ OPEN("2", "/x", WRITE_KEY, "/x", "claim"), "/x", "cc[7]",
		  RECORD_REFUSAL },
		{ "{" META("1") ",\"class_uid\":6002,\"activity_id\":3}", "",
		  "", RECORD_START },
		{ "{" META("1") ",\"class_uid\":6002,\"activity_id\":4}", "",
		  "", RECORD_END },
		{ "{" META("1") ",\"class_uid\":2004,\"finding_info\":"
		  "{\"title\":\"t\"}}", "t", "", RECORD_FINDING },
		{ "{" META("1") ",\"action_id\":2,\"dst_endpoint\":"
		  "{\"ip\":\"::1\",\"port\":80}}", "[::1]:80", "",
		  RECORD_REFUSAL },
		{ "{" META("1") ",\"action_id\":2,\"dst_endpoint\":"
		  "{\"domain\":\"a.test\",\"port\":80}}", "a.test:80", "",
		  RECORD_REFUSAL },
		{ "{" META("1") ",\"class_uid\":1007,\"action_id\":2,"
		  "\"process\":{\"path\":\"/bin/id\"}}", "/bin/id", "",
		  RECORD_REFUSAL },
		/* Of another shape than ours, and harmless. */
		{ "{" META("-1") ",\"action_id\":2.5,\"actor\":[1],"
		  "\"file\":\"x\",\"count\":99999999999999999999999}", "", "",
		  RECORD_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct arena *a = arena_new();
		struct err e = { 0 };
		struct record r;

		assert_int_equal(record_parse(a, t[i].line,
		    strlen(t[i].line), &r, &e), 0);
		assert_string_equal(r.object, t[i].object);
		assert_string_equal(r.process, t[i].process);
		assert_int_equal(r.kind, t[i].kind);
		assert_string_equal(r.run, "ab12");
		assert_true(r.count >= 1);
		/* None of these is the kernel's word. */
		assert_true(r.is_claim);
		arena_free(a);
	}
}

static void
test_no_record(void **state)
{
	static const char *const t[] = { "", "{", "[]", "{}", "null", "\"x\"",
	    "{\"metadata\":{\"correlation_uid\":7}}", "\xff\xfe" };

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct arena *a = arena_new();
		struct err e = { 0 };
		struct record r;

		assert_int_equal(record_parse(a, t[i], strlen(t[i]), &r, &e),
		    -1);
		assert_true(e.msg[0] != '\0');
		arena_free(a);
	}
}

static void
load(struct history *h, const char *text)
{
	int fd = fd_memfd("trace", text, strlen(text));
	struct err e = { 0 };

	assert_int_equal(history_read(h, fd, "F", &e), 0);
	close(fd);
}

static void
test_read(void **state)
{
	char *text = malloc(RECORD_LINE_BYTES * 3);
	struct history h;

	(void)state;
	strcpy(text, "{" META("1") ",\"class_uid\":6002,\"activity_id\":3,"
	    "\"unmapped\":{\"fence\":{\"command\":\"make all\"}}}\n"
	    "nonsense\n");
	memset(text + strlen(text) + 1, 0, 1);
	memset(strchr(text, '\0'), 'x', RECORD_LINE_BYTES * 2);
	text[RECORD_LINE_BYTES * 2 + 120] = '\0';
	strcat(text, "\n" OPEN("2", "/x", WRITE_KEY, "/x", "claim") "\n{\"a");
	load(&h, text);
	assert_int_equal(h.n, 2);
	assert_int_equal(h.refusals, 1);
	assert_int_equal(h.bad, 2);
	assert_int_equal(h.first_bad, 2);
	assert_true(h.is_cut);
	assert_string_equal(h.start->command, "make all");
	assert_null(h.end);
	history_release(&h);
	load(&h, "");
	assert_int_equal(h.n, 0);
	assert_false(h.is_cut);
	history_release(&h);
	free(text);
}

static void
test_groups(void **state)
{
	static const char text[] =
	    OPEN("1", "/x", WRITE_KEY, "/x", "claim") "\n"
	    OPEN("2", "/y\\u001b[31m", WRITE_KEY, "/y", "claim") "\n"
	    OPEN("3", "/x", WRITE_KEY, "/x", "kernel") "\n"
	    OPEN("4", "/z", "filesystem.denyRead[0]", "(remove it)", "kernel")
	    "\n";
	struct history h;
	struct buf b;

	(void)state;
	load(&h, text);
	buf_init(&b, 0);
	history_put_groups(&b, &h, HISTORY_BY_RULE);
	assert_string_equal(b.data,
	    "     3  filesystem.allowWrite p:1:2\n"
	    "             2  /x\n"
	    "             1  /y\\x1b[31m\n"
	    "     1  filesystem.denyRead[0] p:1:2\n"
	    "             1  /z\n");
	buf_clear(&b);
	history_put_groups_json(&b, &h, HISTORY_BY_PROCESS);
	assert_string_equal(b.data, "{\"groups\": [\n"
	    "  {\"process\":\"cc\",\"count\":4,\"members\":["
	    "{\"object\":\"/x\",\"count\":2}, "
	    "{\"object\":\"/y\\u001b[31m\",\"count\":1}, "
	    "{\"object\":\"/z\",\"count\":1}]}]}\n");
	buf_clear(&b);
	history_put_policy(&b, &h);
	assert_string_equal(b.data,
	    "// lines that would allow it; keep what you want\n"
	    "// 1 of 2 rest on what processes inside said of themselves\n"
	    "// no line can be added for 1 refusals: --by time says what "
	    "helps\n"
	    "{\n  \"filesystem\": {\n    \"allowWrite\": [\n      \"/x\",\n"
	    "      \"/y\"\n    ]\n  }\n}\n");
	buf_release(&b);
	history_release(&h);
}

/* Entries that are there stay one; comments and order stay. */
static void
test_apply(void **state)
{
	static const struct { const char *text, *want; } t[] = {
		{ "{\n\t// mine\n\t\"filesystem\": { \"allowWrite\": "
		  "[\"/x\"] }\n}\n",
		  "{\n\t// mine\n\t\"filesystem\": { \"allowWrite\": "
		  "[\"/x\",\"/y\"] }\n}\n" },
		{ "{ \"filesystem\": 7 }\n", NULL },
		{ "[]", NULL },
	};
	static const char trace[] =
	    OPEN("1", "/x", WRITE_KEY, "/x", "claim") "\n"
	    OPEN("2", "/y", WRITE_KEY, "/y", "claim") "\n"
	    OPEN("3", "/q", "no.such", "/q", "claim") "\n"
	    OPEN("4", "/q", "allowPty", "/q", "claim") "\n"
	    OPEN("5", "/\xef\xbf\xbd", WRITE_KEY, "/\xef\xbf\xbd", "claim")
	    "\n";
	struct suggest s;
	struct history h;

	(void)state;
	load(&h, trace);
	suggest_find(&h, &s);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.without, 3);
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct arena *a = arena_new();
		struct err e = { 0 };
		struct buf b;
		int rc;

		buf_init(&b, 0);
		rc = suggest_apply(a, &s, "F", t[i].text, strlen(t[i].text),
		    &b, &e);
		assert_int_equal(rc, t[i].want != NULL ? 0 : -1);
		if (rc == 0)
			assert_string_equal(b.data, t[i].want);
		buf_release(&b);
		arena_free(a);
	}
	vec_release(&s);
	history_release(&h);
}

/* n records of a run, chained; change: which line is changed, -1 none. */
static void
make_chain(struct buf *b, const char *run, unsigned n)
{
	struct chain chain;

	chain_init(&chain);
	for (unsigned i = 1; i <= n; i++) {
		size_t from = b->len;

		buf_printf(b, "{\"metadata\":{\"correlation_uid\":\"%s\","
		    "\"sequence\":%u},\"unmapped\":{\"fence\":{\"prev\":"
		    "\"%s\"}}}", run, i, chain.prev);
		chain_add(&chain, b->data + from, b->len - from);
		buf_putc(b, '\n');
	}
}

static int
verify(const char *text, char *ret, size_t size)
{
	int fd = fd_memfd("trace", text, strlen(text)), rc;
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, 0);
	rc = history_verify(&b, fd, "F", &e);
	snprintf(ret, size, "%s", b.data);
	buf_release(&b);
	close(fd);
	return rc;
}

static void
test_verify(void **state)
{
	char said[4096], *text, *second;
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	make_chain(&b, "ab", 3);
	make_chain(&b, "cd", 2);
	assert_int_equal(verify(b.data, said, sizeof said), 0);
	assert_non_null(strstr(said, "F: the chain of 5 records holds\n"));
	assert_non_null(strstr(said, "it has no end"));

	text = strdup(b.data);			/* changed */
	strstr(text, "\"sequence\":1")[11] = '1';
	*strstr(text, "correlation") = 'k';
	assert_int_equal(verify(text, said, sizeof said), 1);
	assert_non_null(strstr(said, "F:1: this is no record"));
	free(text);

	text = strdup(b.data);			/* a blank more */
	second = strchr(text, '\n') - 1;
	assert_true(*second == '}');
	*second = ' ';
	assert_int_equal(verify(text, said, sizeof said), 1);
	free(text);

	text = strdup(b.data);			/* taken out */
	second = strchr(text, '\n') + 1;
	memmove(second, strchr(second, '\n') + 1,
	    strlen(strchr(second, '\n') + 1) + 1);
	assert_int_equal(verify(text, said, sizeof said), 1);
	assert_non_null(strstr(said, "F:2: the chain breaks: "));
	assert_non_null(strstr(said, "(record 3, expected 2)"));
	free(text);

	buf_puts(&b, "{");			/* cut */
	assert_int_equal(verify(b.data, said, sizeof said), 1);
	assert_non_null(strstr(said, "F:6: the last line is cut"));
	assert_int_equal(verify("", said, sizeof said), 1);
	assert_int_equal(verify("{" META("1") "}\n", said, sizeof said), 1);
	assert_non_null(strstr(said, "names no hash"));
	buf_release(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse), cmocka_unit_test(test_no_record),
		cmocka_unit_test(test_read), cmocka_unit_test(test_groups),
		cmocka_unit_test(test_apply), cmocka_unit_test(test_verify),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
