/* page: records become data that no byte of theirs can leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "launcher/page/page.h"
#include "platform/base/buf.h"
#include "platform/base/jsontree.h"

#define BLOCK	"<script type=\"application/json\">"
#define END	"<script type=\"application/json\" id=\"end\">"
#define R(members)	"{\"time\":1,\"class_uid\":1001" members "}\n"

/* The page of a trace; the caller frees it. */
static char *
page_of_bytes(const char *trace, size_t len)
{
	int in_fd = memfd_create("in", MFD_CLOEXEC);
	int out_fd = memfd_create("out", MFD_CLOEXEC);
	struct err e = { 0 };
	struct buf b;
	char *ret;

	buf_init(&b, 0);
	assert_int_equal(write(in_fd, trace, len), len);
	assert_int_equal(lseek(in_fd, 0, SEEK_SET), 0);
	assert_int_equal(page_write(in_fd, out_fd, &e), 0);
	assert_int_equal(lseek(out_fd, 0, SEEK_SET), 0);
	assert_int_equal(buf_read(&b, out_fd), 0);
	assert_int_equal(strlen(b.data), b.len);
	ret = strdup(b.data);
	buf_release(&b);
	close(in_fd);
	close(out_fd);
	return ret;
}

static char *
page_of(const char *trace)
{
	return page_of_bytes(trace, strlen(trace));
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

/* From the first element with data to the end of the page. */
static const char *
data_of(const char *page)
{
	const char *p = strstr(page, BLOCK), *end = strstr(page, END);

	assert_non_null(end);
	return p != NULL ? p : end;
}

static long
number(const char *page, const char *name)
{
	char key[64];
	const char *p;

	snprintf(key, sizeof key, "\"%s\":", name);
	p = strstr(strstr(page, END), key);
	assert_non_null(p);
	return strtol(p + strlen(key), NULL, 10);
}

static void
test_nothing(void **state)
{
	char *page = page_of("");

	(void)state;
	assert_int_equal(strncmp(page, "<!DOCTYPE html>\n", 16), 0);
	assert_null(strstr(page, BLOCK));
	assert_int_equal(number(page, "records"), 0);
	assert_int_equal(number(page, "malformed"), 0);
	assert_non_null(strstr(page, "\"isCut\":false"));
	assert_string_equal(page + strlen(page) - 16, "</body>\n</html>\n");
	free(page);
}

/* Nothing is fetched, nothing but our own script and style is admitted. */
static void
test_closed(void **state)
{
	char *page = page_of(R(""));

	(void)state;
	assert_non_null(strstr(page, "content=\"default-src 'none'; "
	    "script-src 'sha256-"));
	assert_int_equal(count(page, "'sha256-"), 2);
	assert_null(strstr(page, "unsafe-"));
	assert_null(strstr(page, "http://"));
	assert_null(strstr(page, "https://"));
	assert_null(strstr(page, " src="));
	assert_null(strstr(page, " style=\""));
	assert_null(strstr(page, "innerHTML"));
	assert_null(strstr(page, "javascript:"));
	/* Its own parts: what a person downloads with each trace. */
	assert_true((size_t)(data_of(page) - page) < 60 * 1024);
	free(page);
}

static void
test_escapes(void **state)
{
	static const struct { const char *in, *out; } cases[] = {
		{ "</script><b>", "\\u003c/script\\u003e\\u003cb\\u003e" },
		{ "<!--", "\\u003c!--" },
		{ "&lt;", "\\u0026lt;" },
		{ "\\u003c", "\\u003c" },
		{ "\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029" },
		{ "\xe2\x80\xae", "\\u202e" },
		{ "\\u001b[31m", "\\u001b[31m" },
		{ "\xf0\x9f\x98\x80", "\\ud83d\\ude00" },
		{ "\xc3\xa9", "\\u00e9" },
		{ "\x7f", "\\u007f" },
		{ "]]>", "]]\\u003e" },
		{ "\\\\\\\"", "\\\\\\\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char trace[256], want[256], *page;

		/* As a value, and as a name. */
		snprintf(trace, sizeof trace, R(",\"%s\":\"%s\""),
		    cases[i].in, cases[i].in);
		snprintf(want, sizeof want, "\"%s\":\"%s\"}]" "</script>\n",
		    cases[i].out, cases[i].out);
		page = page_of(trace);
		if (strstr(data_of(page), want) == NULL)
			fail_msg("%s: %s", cases[i].in, data_of(page));
		assert_int_equal(count(data_of(page), "</script>"), 2);
		free(page);
	}
}

/* What is kept of one line after another, and what is not. */
static void
test_lines(void **state)
{
	static const struct {
		const char	*line;
		bool		 is_record;
	} cases[] = {
		{ R(""), true },
		{ "\n", false },
		{ "x\n", false },
		{ "[]\n", false },
		{ "null\n", false },
		{ "{\"time\":1}\n", false },
		{ "{\"class_uid\":1}\n", false },
		{ "{\"time\":\"1\",\"class_uid\":1}\n", false },
		{ "{\"time\":1,\"class_uid\":1\n", false },
		{ R("") R(""), true },		/* two */
		{ "{\"time\":1,\"class_uid\":1}{}\n", false },
		{ "{\"time\":1,\"class_uid\":1,\"a\":\"\xff\"}\n", false },
		{ "{\"time\":1,\"class_uid\":1,\"a\":\"\\u0000\"}\n", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char trace[512], *page;
		unsigned n = count(cases[i].line, "\n");

		snprintf(trace, sizeof trace, R("") "%s" R(""),
		    cases[i].line);
		page = page_of(trace);
		assert_int_equal(number(page, "lines"), 2 + n);
		assert_int_equal(number(page, "records"),
		    cases[i].is_record ? 2 + n : 2);
		assert_int_equal(number(page, "malformed"),
		    cases[i].is_record ? 0 : 1);
		assert_int_equal(number(page, "firstMalformed"),
		    cases[i].is_record ? 0 : 2);
		free(page);
	}
}

static void
test_cut(void **state)
{
	char *page = page_of(R("") "{\"time\":1,\"class_");

	(void)state;
	assert_int_equal(number(page, "records"), 1);
	assert_int_equal(number(page, "malformed"), 1);
	assert_non_null(strstr(page, "\"isCut\":true"));
	free(page);
	/* Whole but for its newline. */
	page = page_of("{\"time\":1,\"class_uid\":1001}");
	assert_int_equal(number(page, "records"), 1);
	assert_int_equal(number(page, "malformed"), 0);
	assert_non_null(strstr(page, "\"isCut\":true"));
	free(page);
	/* A NUL ends no line and no page. */
	page = page_of_bytes(R("") "\0\0\n" R(""), sizeof R("") * 2 - 2 + 3);
	assert_int_equal(number(page, "records"), 2);
	assert_int_equal(number(page, "malformed"), 1);
	free(page);
}

static void
test_long_lines(void **state)
{
	static char trace[2 * PAGE_LINE_BYTES + 4096];
	size_t at = 0;
	char *page;

	(void)state;
	at += (size_t)sprintf(trace, "{\"time\":1,\"class_uid\":1,\"a\":\"");
	memset(trace + at, 'x', 2 * PAGE_LINE_BYTES);
	at += 2 * PAGE_LINE_BYTES;
	at += (size_t)sprintf(trace + at, "\"}\n" R(",\"b\":\"after\""));
	page = page_of_bytes(trace, at);
	assert_int_equal(number(page, "records"), 1);
	assert_int_equal(number(page, "malformed"), 1);
	assert_non_null(strstr(data_of(page), "after"));
	free(page);

	/* So many members that comparing them would take long. */
	at = (size_t)sprintf(trace, "{\"time\":1,\"class_uid\":1");
	for (unsigned i = 0; i < PAGE_MEMBERS; i++)
		at += (size_t)sprintf(trace + at, ",\"%u\":1", i);
	at += (size_t)sprintf(trace + at, "}\n" R(""));
	page = page_of_bytes(trace, at);
	assert_int_equal(number(page, "records"), 1);
	assert_int_equal(number(page, "malformed"), 1);
	free(page);
}

static long
peak_kib(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return r.ru_maxrss;
}

/* Memory may have grown this little since. */
static void
check_peak(long before)
{
#ifndef __SANITIZE_ADDRESS__	/* which keeps what is free for a while */
	assert_true(peak_kib() - before < 2048);
#else
	(void)before;
#endif
}

/* A line without end is passed over as it comes. */
static void
test_endless_line(void **state)
{
	static char piece[1 << 20];
	int in_fd = memfd_create("in", MFD_CLOEXEC);
	int out_fd = memfd_create("out", MFD_CLOEXEC);
	struct err e = { 0 };
	long before;

	(void)state;
	memset(piece, 'x', sizeof piece);
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(write(in_fd, piece, sizeof piece),
		    sizeof piece);
	assert_int_equal(lseek(in_fd, 0, SEEK_SET), 0);
	before = peak_kib();
	assert_int_equal(page_write(in_fd, out_fd, &e), 0);
	check_peak(before);
	assert_true(lseek(out_fd, 0, SEEK_CUR) < 128 * 1024);
	close(in_fd);
	close(out_fd);
}

/* A record is written as its difference from the one before. */
static void
test_changes(void **state)
{
	static const struct { const char *first, *second, *want; } cases[] = {
		{ "", "", "{}" },
		{ ",\"a\":1", ",\"a\":1", "{}" },
		{ ",\"a\":1", ",\"a\":2", "{\"a\":2}" },
		{ ",\"a\":1", "", "{\"a\":null}" },
		{ "", ",\"a\":1", "{\"a\":1}" },
		{ ",\"a\":{\"b\":1,\"c\":2}", ",\"a\":{\"b\":1,\"c\":3}",
		    "{\"a\":{\"c\":3}}" },
		{ ",\"a\":{\"b\":1}", ",\"a\":7", "{\"a\":7}" },
		{ ",\"a\":7", ",\"a\":{\"b\":1}", "{\"a\":{\"b\":1}}" },
		{ ",\"a\":[1,2]", ",\"a\":[1]", "{\"a\":[1]}" },
		/* Of two members of one name the last counts. */
		{ ",\"a\":2", ",\"a\":1,\"a\":2", "{}" },
		{ ",\"a\":1,\"a\":2", ",\"a\":1", "{\"a\":1}" },
		{ ",\"a\":1,\"a\":2", "", "{\"a\":null}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char trace[256], want[128], *page;

		snprintf(trace, sizeof trace, R("%s") R("%s"), cases[i].first,
		    cases[i].second);
		snprintf(want, sizeof want, ",\n%s]</script>\n",
		    cases[i].want);
		page = page_of(trace);
		if (strstr(data_of(page), want) == NULL)
			fail_msg("case %zu: %s", i, data_of(page));
		free(page);
	}
}

/* Each block begins with a whole record, so that one can be read alone. */
static void
check_blocks(const char *page, unsigned long want_records)
{
	unsigned long blocks = 0, records = 0;
	const char *p = page;

	while ((p = strstr(p, BLOCK)) != NULL) {
		struct arena *a = arena_new();
		struct jnode *root = NULL;
		struct err e = { 0 };
		const char *end;

		p += strlen(BLOCK);
		end = strstr(p, "</script>");
		assert_true((size_t)(end - p) < 512 * 1024);
		assert_int_equal(jsontree_parse(a, "page", p,
		    (size_t)(end - p), 1 << 20, &root, &e), 0);
		assert_non_null(jsontree_get(root->child, "time"));
		assert_non_null(jsontree_get(root->child, "class_uid"));
		for (struct jnode *n = root->child; n != NULL; n = n->next)
			records++;
		blocks++;
		arena_free(a);
	}
	assert_int_equal(records, want_records);
	assert_true(blocks > want_records / 4000);
}

static int
many_records(unsigned n)
{
	int fd = memfd_create("many", MFD_CLOEXEC);
	FILE *fp = fdopen(dup(fd), "w");

	for (unsigned i = 0; i < n; i++)
		fprintf(fp, R(",\"file\":{\"path\":\"/x/%u\"},\"same\":"
		    "\"as it was\",\"metadata\":{\"sequence\":%u}"), i, i + 1);
	fprintf(fp, "{\"time\":2,\"class_uid\":6002,\"last\":true}\n");
	fclose(fp);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* Of 100,000 records, 30 MB of page, the memory grows by that of a few. */
static void
test_many(void **state)
{
	int in_fd = many_records(100000);
	int out_fd = memfd_create("out", MFD_CLOEXEC);
	struct err e = { 0 };
	long before = peak_kib();
	struct buf b;

	(void)state;
	assert_int_equal(page_write(in_fd, out_fd, &e), 0);
	check_peak(before);
	close(in_fd);
	buf_init(&b, 0);
	assert_int_equal(lseek(out_fd, 0, SEEK_SET), 0);
	assert_int_equal(buf_read(&b, out_fd), 0);
	assert_int_equal(number(b.data, "records"), 100001);
	assert_int_equal(count(b.data, "as it was"),
	    count(b.data, BLOCK));	/* once a block, not once a record */
	check_blocks(b.data, 100001);
	buf_release(&b);
	close(out_fd);
}

/* Past the ceiling: the end of the run is kept, the rest is counted. */
static void
test_too_many(void **state)
{
	int in_fd = many_records(PAGE_RECORDS + 5);
	int out_fd = memfd_create("out", MFD_CLOEXEC);
	struct err e = { 0 };
	struct buf b;

	(void)state;
	assert_int_equal(page_write(in_fd, out_fd, &e), 0);
	close(in_fd);
	buf_init(&b, 0);
	assert_int_equal(lseek(out_fd, 0, SEEK_SET), 0);
	assert_int_equal(buf_read(&b, out_fd), 0);
	assert_int_equal(number(b.data, "records"), PAGE_RECORDS + 1);
	assert_int_equal(number(b.data, "leftOut"), 5);
	assert_non_null(strstr(b.data, "\"last\":true"));
	buf_release(&b);
	close(out_fd);
}

static void
test_errors(void **state)
{
	int dir_fd = open("/", O_RDONLY | O_CLOEXEC);
	int full_fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(page_write(dir_fd, null_fd, &e), -1);
	assert_int_equal(e.sys, EISDIR);
	assert_string_equal(e.msg, "cannot read the trace");
	e = (struct err){ 0 };
	assert_int_equal(page_write(null_fd, full_fd, &e), -1);
	assert_int_equal(e.sys, ENOSPC);
	assert_string_equal(e.msg, "cannot write the page");
	close(dir_fd);
	close(full_fd);
	close(null_fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_endless_line),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
