#include "launcher/page/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/base/io.h"
#include "platform/base/jsontree.h"
#include "platform/base/sha256.h"
#include "platform/base/str.h"

enum {
	BLOCK_BYTES = 128 * 1024,	/* what the page's script takes at once */
	READ_BYTES = 64 * 1024,
	CLASS_LIFECYCLE = 6002,		/* a run begins, a run ends */
};

/* Made from page.css, page.html and page.js by policy/embed.awk. */
static const struct part {
	const char	*name;
	const char	*text;
} parts[] = {
#include "launcher/page/page.inc"
};

/* A line and what was read of it; arena is NULL where there is none. */
struct record {
	struct buf	 line;
	struct arena	*arena;
	struct jnode	*root;
};

struct page {
	struct buf	 out;
	struct record	 now, was;	/* was: the one before, in this block */
	uint64_t	 block_bytes;	/* of it; 0: none is open */
	bool		 is_long;	/* the line is past its ceiling */
	uint64_t	 lines, records, malformed, first_malformed, left_out;
	bool		 is_cut;	/* the last line has no end */
};

static const char *
part_text(const char *name)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strcmp(parts[i].name, name) == 0)
			return parts[i].text;
	return "";
}

static unsigned
nibble(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* 'sha256-…' as a Content-Security-Policy names an element's text. */
static void
put_hash(struct buf *b, const char *text)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	struct sha256 sum;
	char hex[SHA256_HEX];

	sha256_init(&sum);
	sha256_add(&sum, text, strlen(text));
	sha256_end_hex(&sum, hex);
	buf_puts(b, "'sha256-");
	/* Three digits of sixteen are two of sixty-four; 64 = 21 * 3 + 1. */
	for (size_t i = 0; i + 1 < SHA256_HEX; i += 3) {
		unsigned v = nibble(hex[i]) << 8;

		if (hex[i + 1] != '\0')
			v |= nibble(hex[i + 1]) << 4 | nibble(hex[i + 2]);
		buf_putc(b, digits[v >> 6]);
		buf_putc(b, hex[i + 1] != '\0' ? digits[v & 63] : '=');
	}
	buf_puts(b, "'");
}

static void
put_head(struct buf *b)
{
	const char *style = part_text("page.css");
	const char *script = part_text("page.js");

	buf_puts(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\""
	    "default-src 'none'; script-src ");
	put_hash(b, script);
	buf_puts(b, "; style-src ");
	put_hash(b, style);
	buf_puts(b, "; base-uri 'none'; form-action 'none'; "
	    "require-trusted-types-for 'script'; trusted-types 'none'\">\n"
	    "<meta name=\"referrer\" content=\"no-referrer\">\n"
	    "<meta name=\"viewport\" "
	    "content=\"width=device-width, initial-scale=1\">\n"
	    "<meta name=\"color-scheme\" content=\"light dark\">\n"
	    "<meta name=\"generator\" content=\"fence " FENCE_VERSION "\">\n"
	    "<title>fence trace</title>\n<style>");
	buf_puts(b, style);
	buf_puts(b, "</style>\n</head>\n<body>\n");
	buf_puts(b, part_text("page.html"));
	buf_puts(b, "<script>");
	buf_puts(b, script);
	buf_puts(b, "</script>\n");
}

/*
 * JSON again, as ASCII without < > &.  Outside of its strings JSON has none of
 * these, so the escape stands in a string wherever it is made.
 */
static void
put_safe(struct buf *b, const char *json, size_t len)
{
	uint32_t cp = 0;

	for (size_t i = 0, n; i < len; i += n) {
		n = str_utf8(json + i, len - i, &cp);
		if (n == 0) {
			n = 1;
			cp = 0xfffd;
		}
		if (cp < 0x7f && strchr("<>&", (int)cp) == NULL)
			buf_putc(b, (char)cp);
		else if (cp < 0x10000)
			buf_printf(b, "\\u%04" PRIx32, cp);
		else
			buf_printf(b, "\\u%04" PRIx32 "\\u%04" PRIx32,
			    0xd800 + ((cp - 0x10000) >> 10),
			    0xdc00 + ((cp - 0x10000) & 0x3ff));
	}
}

static void
record_release(struct record *r)
{
	arena_free(r->arena);
	r->arena = NULL;
	r->root = NULL;
}

/* Few enough members everywhere that looking one up costs little. */
static bool
is_small(const struct jnode *top)
{
	const struct jnode *n = top;

	for (;;) {
		unsigned members = 0;

		for (const struct jnode *c = n->child; c != NULL; c = c->next)
			if (++members > PAGE_MEMBERS)
				return false;
		if (n->child != NULL) {
			n = n->child;
			continue;
		}
		while (n != top && n->next == NULL)
			n = n->parent;
		if (n == top)
			return true;
		n = n->next;
	}
}

static bool
is_record(const struct jnode *n)
{
	const struct jnode *time = jsontree_get(n, "time");
	const struct jnode *class_uid = jsontree_get(n, "class_uid");

	return n != NULL && n->kind == JSON_OBJECT && is_small(n) &&
	    time != NULL && time->kind == JSON_NUMBER &&
	    class_uid != NULL && class_uid->kind == JSON_NUMBER;
}

static bool
is_same(const struct record *was, const struct jnode *a,
    const struct record *now, const struct jnode *b)
{
	return a->end - a->start == b->end - b->start &&
	    memcmp(was->line.data + a->start, now->line.data + b->start,
	    b->end - b->start) == 0;
}

static void
put_member(struct buf *b, const char *key)
{
	if (b->data[b->len - 1] != '{')
		buf_putc(b, ',');
	json_put_string(b, key, strlen(key));
	buf_putc(b, ':');
}

/*
 * The members of `to` that are not in `from` as they are; an object within
 * both likewise; null for what is gone.  Most records differ little from the
 * one before, and what the page's script does not read twice is in memory
 * once.  (A member that is null counts as none.)
 */
static void
put_changes(struct buf *b, const struct record *was, const struct jnode *from,
    const struct record *now, const struct jnode *to)
{
	buf_putc(b, '{');
	for (const struct jnode *c = to->child; c != NULL; c = c->next) {
		const struct jnode *old = jsontree_get(from, c->key);

		if (jsontree_get(to, c->key) != c ||
		    (old != NULL && is_same(was, old, now, c)))
			continue;
		put_member(b, c->key);
		if (c->kind == JSON_OBJECT)
			put_changes(b, was, old != NULL &&
			    old->kind == JSON_OBJECT ? old : NULL, now, c);
		else
			jsontree_put(b, c, NULL, "", "");
	}
	for (const struct jnode *old = from != NULL ? from->child : NULL;
	    old != NULL; old = old->next)
		if (jsontree_get(from, old->key) == old &&
		    jsontree_get(to, old->key) == NULL) {
			put_member(b, old->key);
			buf_puts(b, "null");
		}
	buf_putc(b, '}');
}

static void
end_block(struct page *p)
{
	if (p->block_bytes == 0)
		return;
	buf_puts(&p->out, "]</script>\n");
	p->block_bytes = 0;
	record_release(&p->was);
}

static void
put_record(struct page *p)
{
	struct record spare;
	struct buf json;
	size_t before;

	if (p->block_bytes == 0)
		buf_puts(&p->out, "<script type=\"application/json\">[\n");
	else
		buf_puts(&p->out, ",\n");
	before = p->out.len;
	buf_init(&json, 0);
	put_changes(&json, &p->was, p->was.root, &p->now, p->now.root);
	put_safe(&p->out, json.data, json.len);
	buf_release(&json);
	p->block_bytes += p->out.len - before;
	record_release(&p->was);
	spare = p->was;
	p->was = p->now;
	p->now = spare;
	if (p->block_bytes >= BLOCK_BYTES)
		end_block(p);
}

static bool
is_about_run(const struct jnode *n)
{
	const struct jnode *class_uid = jsontree_get(n, "class_uid");

	return strtoul(class_uid->text, NULL, 10) == CLASS_LIFECYCLE;
}

static void
take_line(struct page *p)
{
	struct record *r = &p->now;
	struct err ignored = { 0 };

	p->lines++;
	r->arena = arena_new();
	if (p->is_long || r->line.failed || jsontree_parse(r->arena, "trace",
	    r->line.data, r->line.len, PAGE_LINE_BYTES, &r->root,
	    &ignored) != 0 || !is_record(r->root)) {
		if (p->malformed++ == 0)
			p->first_malformed = p->lines;
	} else if (p->records >= PAGE_RECORDS && !is_about_run(r->root)) {
		p->left_out++;
	} else {
		p->records++;
		put_record(p);
	}
	record_release(&p->now);
	buf_clear(&p->now.line);
	p->is_long = p->now.line.failed = false;
}

static void
take_bytes(struct page *p, const char *bytes, size_t len)
{
	while (len > 0) {
		const char *end = memchr(bytes, '\n', len);
		size_t n = end != NULL ? (size_t)(end - bytes) : len;

		if (p->now.line.len + n > PAGE_LINE_BYTES)
			p->is_long = true;
		if (!p->is_long)
			buf_add(&p->now.line, bytes, n);
		if (end == NULL)
			return;
		take_line(p);
		bytes += n + 1;
		len -= n + 1;
	}
}

static int
flush(struct page *p, int fd, struct err *e)
{
	if (p->out.failed)
		return err_sys(e, ENOMEM, "cannot write the page");
	if (io_write_all(fd, p->out.data, p->out.len) != 0)
		return err_sys(e, errno, "cannot write the page");
	buf_clear(&p->out);
	return 0;
}

static int
put_records(struct page *p, int in_fd, int out_fd, struct err *e)
{
	char chunk[READ_BYTES];
	ssize_t n;

	while ((n = read(in_fd, chunk, sizeof chunk)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, errno, "cannot read the trace");
		take_bytes(p, chunk, (size_t)n);
		if (flush(p, out_fd, e) != 0)
			return -1;
	}
	p->is_cut = p->now.line.len > 0 || p->is_long;
	if (p->is_cut)
		take_line(p);
	end_block(p);
	return 0;
}

static void
put_tail(struct page *p)
{
	buf_printf(&p->out, "<script type=\"application/json\" id=\"end\">"
	    "{\"lines\":%" PRIu64 ",\"records\":%" PRIu64
	    ",\"malformed\":%" PRIu64 ",\"firstMalformed\":%" PRIu64
	    ",\"leftOut\":%" PRIu64 ",\"isCut\":%s}</script>\n"
	    "</body>\n</html>\n", p->lines, p->records, p->malformed,
	    p->first_malformed, p->left_out, p->is_cut ? "true" : "false");
}

int
page_write(int in_fd, int out_fd, struct err *e)
{
	struct page p = { 0 };
	int rv = -1;

	buf_init(&p.out, 0);
	buf_init(&p.now.line, 0);
	buf_init(&p.was.line, 0);
	put_head(&p.out);
	if (put_records(&p, in_fd, out_fd, e) == 0) {
		put_tail(&p);
		rv = flush(&p, out_fd, e);
	}
	record_release(&p.now);
	record_release(&p.was);
	buf_release(&p.now.line);
	buf_release(&p.was.line);
	buf_release(&p.out);
	return rv;
}
