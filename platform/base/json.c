#include "platform/base/json.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "platform/base/str.h"

/* What may come next. */
enum state {
	WANT_TOP,	/* the one value, or nothing at all */
	WANT_VALUE,	/* after a colon */
	WANT_ITEM,	/* of an array: a value, or its end */
	WANT_KEY,	/* of an object: a key, or its end */
	WANT_MORE,	/* after a value: a comma, or the end of what is open */
};

void
json_init(struct json_reader *r, const char *shown, const char *bytes,
    size_t len, size_t max_bytes)
{
	assert(max_bytes <= INT_MAX);
	*r = (struct json_reader){
		.shown = shown, .p = bytes, .len = len,
		.max_bytes = max_bytes, .line = 1, .state = WANT_TOP,
	};
	buf_init(&r->text, max_bytes);
}

void
json_release(struct json_reader *r)
{
	buf_release(&r->text);
}

const char *
json_kind_name(enum json_kind kind)
{
	static const char *const name[] = {
		[JSON_END] = "the end of the file",
		[JSON_OBJECT] = "an object", [JSON_OBJECT_END] = "'}'",
		[JSON_ARRAY] = "a list", [JSON_ARRAY_END] = "']'",
		[JSON_KEY] = "a key", [JSON_STRING] = "a string",
		[JSON_NUMBER] = "a number", [JSON_TRUE] = "true",
		[JSON_FALSE] = "false", [JSON_NULL] = "null",
	};

	return name[kind];
}

/* An error about the byte at pos, which is on the current line. */
static int __attribute__((format(printf, 4, 5)))
bad_at(const struct json_reader *r, size_t pos, struct err *e,
    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vset(e, ERR_POLICY, fmt, ap);
	va_end(ap);
	err_where(e, r->shown, r->line, (int)(pos - r->line_start) + 1);
	return -1;
}

static bool
has(const struct json_reader *r, size_t pos, char c)
{
	return pos < r->len && r->p[pos] == c;
}

static void
newline(struct json_reader *r)
{
	r->pos++;
	r->line++;
	r->line_start = r->pos;
}

/* Steps over one character that only has to be text: a comment's. */
static int
skip_char(struct json_reader *r, struct err *e)
{
	uint32_t cp;
	size_t n = str_utf8(r->p + r->pos, r->len - r->pos, &cp);

	if (n == 0)
		return bad_at(r, r->pos, e, "invalid UTF-8");
	if (cp == 0)
		return bad_at(r, r->pos, e, "NUL byte");
	if (cp == '\r' && !has(r, r->pos + 1, '\n'))
		return bad_at(r, r->pos, e,
		    "carriage return without a newline");
	if (cp == '\n')
		newline(r);
	else
		r->pos += n;
	return 0;
}

static int
skip_block_comment(struct json_reader *r, struct err *e)
{
	struct json_reader start = *r;

	r->pos += 2;
	while (r->pos < r->len) {
		if (has(r, r->pos, '*') && has(r, r->pos + 1, '/')) {
			r->pos += 2;
			return 0;
		}
		if (skip_char(r, e) != 0)
			return -1;
	}
	return bad_at(&start, start.pos, e, "comment without its end");
}

/* Blanks and comments. */
static int
skip_space(struct json_reader *r, struct err *e)
{
	while (r->pos < r->len) {
		char c = r->p[r->pos];

		if (c == ' ' || c == '\t') {
			r->pos++;
		} else if (c == '\n' || c == '\r') {
			if (skip_char(r, e) != 0)
				return -1;
		} else if (c == '/' && has(r, r->pos + 1, '/')) {
			while (r->pos < r->len && r->p[r->pos] != '\n')
				if (skip_char(r, e) != 0)
					return -1;
		} else if (c == '/' && has(r, r->pos + 1, '*')) {
			if (skip_block_comment(r, e) != 0)
				return -1;
		} else {
			break;
		}
	}
	return 0;
}

/* The four digits at pos; -1 if they are not hexadecimal digits. */
static int32_t
hex4(const struct json_reader *r, size_t pos)
{
	int32_t v = 0;

	if (pos > r->len || r->len - pos < 4)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		char c = r->p[pos + i];
		int digit = c >= '0' && c <= '9' ? c - '0' :
		    c >= 'a' && c <= 'f' ? c - 'a' + 10 :
		    c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;

		if (digit < 0)
			return -1;
		v = v << 4 | digit;
	}
	return v;
}

/* pos is at the backslash of a \u escape. */
static int
read_unicode_escape(struct json_reader *r, struct err *e)
{
	int32_t hi = hex4(r, r->pos + 2), lo;

	if (hi < 0)
		return bad_at(r, r->pos, e, "\\u needs four hex digits");
	if (hi == 0)
		return bad_at(r, r->pos, e, "\\u0000 is not allowed");
	if (hi < 0xd800 || hi > 0xdfff) {
		str_put_utf8(&r->text, (uint32_t)hi);
		r->pos += 6;
		return 0;
	}
	lo = has(r, r->pos + 6, '\\') && has(r, r->pos + 7, 'u') ?
	    hex4(r, r->pos + 8) : -1;
	if (hi > 0xdbff || lo < 0xdc00 || lo > 0xdfff)
		return bad_at(r, r->pos, e, "lone surrogate in \\u escape");
	str_put_utf8(&r->text, 0x10000 + (((uint32_t)hi & 0x3ff) << 10) +
	    ((uint32_t)lo & 0x3ff));
	r->pos += 12;
	return 0;
}

static int
read_escape(struct json_reader *r, struct err *e)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char c = r->pos + 1 < r->len ? r->p[r->pos + 1] : '\0';
	const char *at = c != '\0' ? strchr(from, c) : NULL;

	if (c == 'u')
		return read_unicode_escape(r, e);
	if (at == NULL) {
		bad_at(r, r->pos, e, "unknown escape in a string");
		err_hint(e, "a backslash itself is written \\\\");
		return -1;
	}
	buf_putc(&r->text, to[at - from]);
	r->pos += 2;
	return 0;
}

/* pos is at the opening quote. */
static int
read_string(struct json_reader *r, struct json_token *t, struct err *e)
{
	size_t start = r->pos++, n;
	uint32_t cp;

	buf_clear(&r->text);
	while (r->pos < r->len && r->p[r->pos] != '"') {
		if (r->p[r->pos] == '\\') {
			if (read_escape(r, e) != 0)
				return -1;
			continue;
		}
		n = str_utf8(r->p + r->pos, r->len - r->pos, &cp);
		if (n == 0)
			return bad_at(r, r->pos, e, "invalid UTF-8");
		if (cp == '\n' || cp == '\r')
			return bad_at(r, start, e, "string without its end");
		if (cp < 0x20)
			return bad_at(r, r->pos, e,
			    "control character in a string");
		buf_add(&r->text, r->p + r->pos, n);
		r->pos += n;
	}
	if (r->pos == r->len)
		return bad_at(r, start, e, "string without its end");
	r->pos++;
	if (r->text.failed)
		return bad_at(r, start, e, "out of memory");
	t->text = r->text.data;
	t->len = r->text.len;
	return 0;
}

static size_t
digits(const struct json_reader *r, size_t pos)
{
	size_t n = 0;

	while (pos + n < r->len && r->p[pos + n] >= '0' &&
	    r->p[pos + n] <= '9')
		n++;
	return n;
}

/* Where the number at pos ends by the grammar; pos if there is none. */
static size_t
number_end(const struct json_reader *r, size_t pos)
{
	size_t at = pos, n;

	at += has(r, at, '-');
	n = digits(r, at);
	if (n == 0 || (n > 1 && r->p[at] == '0'))
		return pos;
	at += n;
	if (has(r, at, '.')) {
		if ((n = digits(r, at + 1)) == 0)
			return pos;
		at += 1 + n;
	}
	if (has(r, at, 'e') || has(r, at, 'E')) {
		at++;
		at += has(r, at, '+') || has(r, at, '-');
		if ((n = digits(r, at)) == 0)
			return pos;
		at += n;
	}
	return at;
}

/* Bytes that make one word to a human: what a bad literal is quoted as. */
static size_t
word_end(const struct json_reader *r, size_t pos)
{
	while (pos < r->len && r->p[pos] != '\0' &&
	    strchr(" \t\r\n,:[]{}\"/", r->p[pos]) == NULL)
		pos++;
	return pos;
}

/* A number, true, false or null. */
static int
read_word(struct json_reader *r, struct json_token *t, struct err *e)
{
	static const struct { const char *text; enum json_kind kind; }
	    words[] = {
		{ "true", JSON_TRUE }, { "false", JSON_FALSE },
		{ "null", JSON_NULL },
	};
	size_t end = word_end(r, r->pos);
	struct str word = { r->p + r->pos, end - r->pos };
	bool is_known = end != r->pos && number_end(r, r->pos) == end;

	t->kind = JSON_NUMBER;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_eq(word, words[i].text)) {
			t->kind = words[i].kind;
			is_known = true;
		}
	if (!is_known)
		return bad_at(r, r->pos, e, "'%.*s' is not a value",
		    word.len < 40 ? (int)word.len : 40, word.p);
	buf_clear(&r->text);
	buf_add(&r->text, word.p, word.len);
	if (r->text.failed)
		return bad_at(r, r->pos, e, "out of memory");
	t->text = r->text.data;
	t->len = r->text.len;
	r->pos = end;
	return 0;
}

/* What is at pos is not what may stand there; say what would be. */
static int
unexpected(const struct json_reader *r, const char *wanted, struct err *e)
{
	uint32_t cp;
	unsigned char c;

	if (r->pos >= r->len)
		return bad_at(r, r->pos, e,
		    "expected %s, found the end of the file", wanted);
	c = (unsigned char)r->p[r->pos];
	if (c == '\0')
		return bad_at(r, r->pos, e, "NUL byte");
	if (str_utf8(r->p + r->pos, r->len - r->pos, &cp) == 0)
		return bad_at(r, r->pos, e, "invalid UTF-8");
	if (c < 0x20 || c >= 0x7f)
		bad_at(r, r->pos, e, "expected %s", wanted);
	else
		bad_at(r, r->pos, e, "expected %s, found '%c'", wanted, c);
	if (c == '#')
		err_hint(e, "a comment starts with //");
	if (c == '\'')
		err_hint(e, "strings are written with double quotes");
	return -1;
}

static int
open_nest(struct json_reader *r, bool is_object, struct json_token *t,
    struct err *e)
{
	if (r->depth == JSON_DEPTH)
		return bad_at(r, r->pos, e, "nested deeper than %d levels",
		    JSON_DEPTH);
	r->is_object[r->depth++] = is_object;
	r->pos++;
	r->state = is_object ? WANT_KEY : WANT_ITEM;
	t->kind = is_object ? JSON_OBJECT : JSON_ARRAY;
	return 0;
}

static int
close_nest(struct json_reader *r, struct json_token *t)
{
	t->kind = r->is_object[--r->depth] ? JSON_OBJECT_END : JSON_ARRAY_END;
	r->pos++;
	r->state = WANT_MORE;
	return 0;
}

static int
read_value(struct json_reader *r, struct json_token *t, struct err *e)
{
	char c = r->pos < r->len ? r->p[r->pos] : '\0';

	if (c == '{' || c == '[')
		return open_nest(r, c == '{', t, e);
	r->state = WANT_MORE;
	if (c == '"') {
		t->kind = JSON_STRING;
		return read_string(r, t, e);
	}
	if (c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z'))
		return read_word(r, t, e);
	return unexpected(r, "a value", e);
}

static int
read_key(struct json_reader *r, struct json_token *t, struct err *e)
{
	if (!has(r, r->pos, '"'))
		return unexpected(r, "a key in double quotes or '}'", e);
	t->kind = JSON_KEY;
	if (read_string(r, t, e) != 0 || skip_space(r, e) != 0)
		return -1;
	if (!has(r, r->pos, ':'))
		return unexpected(r, "':' after the key", e);
	r->pos++;
	r->state = WANT_VALUE;
	return 0;
}

/* The comma between two items; tells nothing, so 1: go on reading. */
static int
read_more(struct json_reader *r, struct json_token *t, struct err *e)
{
	bool is_object = r->depth > 0 && r->is_object[r->depth - 1];

	if (r->depth == 0) {
		if (r->pos < r->len)
			return unexpected(r, "the end of the file", e);
		t->kind = JSON_END;
		return 0;
	}
	if (has(r, r->pos, is_object ? '}' : ']'))
		return close_nest(r, t);
	if (!has(r, r->pos, ','))
		return unexpected(r, is_object ? "',' or '}'" : "',' or ']'",
		    e);
	r->pos++;
	r->state = is_object ? WANT_KEY : WANT_ITEM;
	return 1;
}

static int
check_start(const struct json_reader *r, struct err *e)
{
	if (r->len > r->max_bytes) {
		err_set(e, ERR_POLICY, "longer than %zu bytes", r->max_bytes);
		err_where(e, r->shown, 0, 0);
		return -1;
	}
	if (r->len >= 3 && memcmp(r->p, "\xef\xbb\xbf", 3) == 0)
		return bad_at(r, 0, e, "starts with a byte order mark");
	return 0;
}

static int
read_token(struct json_reader *r, struct json_token *t, struct err *e)
{
	switch ((enum state)r->state) {
	case WANT_MORE:
		return read_more(r, t, e);
	case WANT_KEY:
		if (has(r, r->pos, '}'))
			return close_nest(r, t);
		return read_key(r, t, e);
	case WANT_ITEM:
		if (has(r, r->pos, ']'))
			return close_nest(r, t);
		return read_value(r, t, e);
	case WANT_TOP:
		if (r->pos == r->len) {
			t->kind = JSON_END;
			return 0;
		}
		return read_value(r, t, e);
	case WANT_VALUE:
		break;
	}
	return read_value(r, t, e);
}

int
json_next(struct json_reader *r, struct json_token *t, struct err *e)
{
	int rv;

	if (r->pos == 0 && check_start(r, e) != 0)
		return -1;
	do {
		if (skip_space(r, e) != 0)
			return -1;
		*t = (struct json_token){ .text = "", .line = r->line,
		    .col = (int)(r->pos - r->line_start) + 1,
		    .start = r->pos };
		rv = read_token(r, t, e);
	} while (rv == 1);
	t->end = r->pos;
	return rv;
}

static void
put_u(struct buf *b, uint32_t cp)
{
	if (cp >= 0x10000)
		buf_printf(b, "\\u%04x\\u%04x", 0xd800 + ((cp - 0x10000) >> 10),
		    0xdc00 + ((cp - 0x10000) & 0x3ff));
	else
		buf_printf(b, "\\u%04x", cp);
}

void
json_put_string(struct buf *b, const char *s, size_t len)
{
	uint32_t cp = 0;

	buf_putc(b, '"');
	for (size_t i = 0, n; i < len; i += n) {
		n = str_utf8(s + i, len - i, &cp);
		if (n == 0) {
			buf_puts(b, "\xef\xbf\xbd");
			n = 1;
		} else if (cp == '"' || cp == '\\') {
			buf_putc(b, '\\');
			buf_putc(b, (char)cp);
		} else if (cp == '\n') {
			buf_puts(b, "\\n");
		} else if (cp == '\t') {
			buf_puts(b, "\\t");
		} else if (str_is_deceptive(cp)) {
			put_u(b, cp);
		} else {
			buf_add(b, s + i, n);
		}
	}
	buf_putc(b, '"');
}

void
json_put_name(struct buf *b, const char *name)
{
	if (b->len > 0 && strchr("{[", b->data[b->len - 1]) == NULL)
		buf_putc(b, ',');
	buf_printf(b, "\"%s\":", name);
}

void
json_put_text(struct buf *b, const char *name, const char *value)
{
	json_put_name(b, name);
	if (value != NULL)
		json_put_string(b, value, strlen(value));
	else
		buf_puts(b, "null");
}
