#include "policy/ini.h"

#include <stdarg.h>
#include <string.h>

#include <ini.h>

#include "platform/base/json.h"
#include "platform/base/str.h"

/* inih cuts longer section names without a word. */
enum { SECTION_BYTES = 48 };

struct reader {
	struct load		*load;
	const char		*p, *end;	/* what is not read yet */
	int			 line;
	const char		*buf;		/* inih's copy of the line */
	char			 section[LOAD_NAME_BYTES];
	const struct key	*map;		/* the section is this map */
	unsigned		 nnames;	/* in that map */
	bool			 is_known;	/* the section */
	bool			 may_go_on;	/* indented lines follow */
	bool			 says_something;
};

static struct origin
here(const struct reader *r, size_t offset)
{
	return (struct origin){ r->load->policy->name, r->line,
	    (int)offset + 1, r->load->policy->kind };
}

static bool __attribute__((format(printf, 4, 5)))
refuse(struct reader *r, size_t offset, const char *hint, const char *fmt,
    ...)
{
	char msg[200];
	va_list ap;
	struct err e;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	err_set(&e, ERR_POLICY, "%s", msg);
	if (hint != NULL)
		err_hint(&e, "%s", hint);
	load_report(r->load, here(r, offset), r->section, &e);
	return false;
}

/* ---- lines: what inih would pass over in silence is an error ---- */

static bool
check_bytes(struct reader *r, struct str line, size_t room)
{
	uint32_t cp;

	if (line.len + 2 > room)
		return refuse(r, 0, "JSON has no such limit",
		    "line is longer than %zu bytes", room - 2);
	for (size_t i = 0, n; i < line.len; i += n) {
		n = str_utf8(line.p + i, line.len - i, &cp);
		if (n == 0)
			return refuse(r, i, NULL, "invalid UTF-8");
		if (cp == 0xfeff && r->line == 1 && i == 0)
			return refuse(r, i, NULL,
			    "starts with a byte order mark");
		if (cp == 0)
			return refuse(r, i, NULL, "NUL byte");
		if ((cp < 0x20 && cp != '\t') || cp == 0x7f)
			return refuse(r, i, NULL, "control character");
	}
	return true;
}

static bool
check_section(struct reader *r, struct str line)
{
	const char *close = memchr(line.p, ']', line.len);
	size_t after = close != NULL ? (size_t)(close - line.p) + 1 : 0;
	char name[SECTION_BYTES];
	enum key_status status;

	r->map = NULL;
	r->section[0] = '\0';
	r->is_known = r->may_go_on = false;
	if (close == NULL)
		return refuse(r, 0, "'[network]'", "'[' without its ']'");
	while (after < line.len && (line.p[after] == ' ' ||
	    line.p[after] == '\t'))
		after++;
	if (after < line.len && line.p[after] != ';' && line.p[after] != '#')
		return refuse(r, after, NULL, "text behind a section");
	if ((size_t)(close - line.p) - 1 >= sizeof name)
		return refuse(r, 0, NULL, "unknown section");
	snprintf(name, sizeof name, "%.*s", (int)(close - line.p - 1),
	    line.p + 1);
	r->says_something = true;
	status = load_section(r->load, name, here(r, 0), &r->map, r->section);
	if (status == KEY_FOUND && r->map->type != KEY_STRMAP)
		return refuse(r, 0, "'name = value' in its section",
		    "is a key, not a section");
	r->is_known = status != KEY_UNKNOWN;
	if (r->map != NULL && r->is_known)
		load_list_begin(r->load, r->map, here(r, 0));
	return true;
}

/* The line as inih shall see it; false: a comment instead. */
static bool
check_line(struct reader *r, struct str line, size_t room)
{
	size_t blank = 0, equals = 0;

	if (!check_bytes(r, line, room)) {
		r->may_go_on = false;
		return false;
	}
	while (blank < line.len && (line.p[blank] == ' ' ||
	    line.p[blank] == '\t'))
		blank++;
	if (blank == line.len || line.p[blank] == ';' || line.p[blank] == '#')
		return false;
	if (line.p[blank] == '[' && blank == 0)
		return check_section(r, line);
	if (blank != 0 && r->may_go_on)
		return true;
	r->may_go_on = false;
	if (!r->is_known)
		return false;
	if (blank != 0)
		return refuse(r, blank, "only a list goes on in the next "
		    "line", "an indented line that continues nothing");
	while (equals < line.len && line.p[equals] != '=' &&
	    line.p[equals] != ':')
		equals++;
	if (equals == 0 || equals == line.len || line.p[equals] == ':')
		return refuse(r, 0, "a line is 'name = value'",
		    "line without its '='");
	r->says_something = true;
	return true;
}

/* Some versions of inih know no comment in a line that goes on. */
static struct str
cut_comment(struct str line)
{
	for (size_t i = 1; i < line.len; i++)
		if (line.p[i] == ';' &&
		    (line.p[i - 1] == ' ' || line.p[i - 1] == '\t'))
			line.len = i - 1;
	return line;
}

/* Feeds inih one line; a line that is refused becomes a comment. */
static char *
next_line(char *buf, int room, void *arg)
{
	struct reader *r = arg;
	const char *end;
	struct str line;

	if (r->p == r->end || room < 8)
		return NULL;
	end = memchr(r->p, '\n', (size_t)(r->end - r->p));
	line = (struct str){ r->p, (size_t)((end != NULL ? end : r->end) -
	    r->p) };
	r->p = end != NULL ? end + 1 : r->end;
	r->line++;
	r->buf = buf;
	if (line.len > 0 && end != NULL && line.p[line.len - 1] == '\r')
		line.len--;
	if (!check_line(r, line, (size_t)room))
		line = str_of(";");
	else if (line.p[0] == ' ' || line.p[0] == '\t')
		line = cut_comment(line);
	memcpy(buf, line.p, line.len);
	buf[line.len] = '\n';
	buf[line.len + 1] = '\0';
	return buf;
}

/* ---- values ---- */

/* A JSON string in double quotes, or the text as it is. */
static int
decode(struct reader *r, const char *value, struct buf *b)
{
	struct json_reader json;
	struct json_token tok;
	struct err e;
	int rv = 0;

	if (value[0] != '"') {
		buf_puts(b, value);
		return 0;
	}
	json_init(&json, "", value, strlen(value), POLICY_MAX_BYTES);
	if (json_next(&json, &tok, &e) != 0 || tok.kind != JSON_STRING)
		rv = -1;
	else
		buf_add(b, tok.text, tok.len);
	if (rv == 0 && (json_next(&json, &tok, &e) != 0 ||
	    tok.kind != JSON_END))
		rv = -1;
	json_release(&json);
	if (rv != 0)
		refuse(r, (size_t)(value - r->buf), "inside of quotes, ';' "
		    "behind a blank is written \\u003b",
		    "not a string in double quotes");
	return rv;
}

static void
store_flag(struct reader *r, const struct key *key, const char *text,
    struct origin at)
{
	char found[80];

	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
		load_bool(r->load, key, text[0] == 't', at);
	} else if (strcmp(text, "null") == 0) {
		load_null(r->load, key, at);
	} else {
		snprintf(found, sizeof found, "'%.60s'", text);
		load_wrong_type(r->load, key, at, found);
	}
}

static void
store(struct reader *r, const struct key *key, const char *text,
    bool is_empty, struct origin at)
{
	switch (key->type) {
	case KEY_STRLIST:
	case KEY_INTLIST:
		if (!keys_strlist(key, r->load->policy)->is_set)
			load_list_begin(r->load, key, at);
		if (!is_empty)
			load_entry(r->load, key, NULL, text, text[0] != '!',
			    at);
		break;
	case KEY_STRMAP:
		refuse(r, 0, "'[env.set]', then 'NAME = value' in each line",
		    "is a section of its own");
		break;
	case KEY_BOOL:
	case KEY_TRISTATE:
		store_flag(r, key, text, at);
		break;
	case KEY_INT:
		load_number(r->load, key, text, at);
		break;
	default:
		load_string(r->load, key, text, at);
		break;
	}
}

static bool
is_list(const char *section, const char *name)
{
	char full[2 * LOAD_NAME_BYTES], spelling[LOAD_NAME_BYTES];
	const struct key *key = NULL;

	snprintf(full, sizeof full, "%s%s%s", section,
	    *section != '\0' ? "." : "", name);
	return keys_find(full, &key, spelling, sizeof spelling) == KEY_FOUND &&
	    (key->type == KEY_STRLIST || key->type == KEY_INTLIST);
}

static void
store_in_map(struct reader *r, const char *name, const char *text)
{
	const struct load *l = r->load;

	if (++r->nnames > LOAD_MAP_MAX)
		refuse(r, 0, NULL, "has more than %d names", LOAD_MAP_MAX);
	else if (load_has_name(l, r->map, name))
		refuse(r, 0, NULL, "'%.60s' is written twice", name);
	else
		load_entry(r->load, r->map, name, text, false, here(r, 0));
}

/* inih's handler: one name and value, also for a line that goes on. */
static int
on_value(void *arg, const char *section, const char *name, const char *value)
{
	struct reader *r = arg;
	struct origin at = here(r, (size_t)(value - r->buf));
	char spelling[LOAD_NAME_BYTES];
	const struct key *key = NULL;
	enum key_status status;
	bool goes_on = r->may_go_on;
	struct buf b;

	(void)section;		/* ours is not cut, and in the table's case */
	buf_init(&b, POLICY_MAX_BYTES);
	if (decode(r, value, &b) != 0) {
		r->may_go_on = goes_on;
	} else if (r->map != NULL) {
		store_in_map(r, name, b.data);
	} else {
		r->may_go_on = is_list(r->section, name);
		status = load_name(r->load, r->section, name, here(r, 0),
		    r->may_go_on, &key, spelling);
		if (status == KEY_SECTION)
			refuse(r, 0, "'[network]'", "is a section, not a key");
		else if (status == KEY_FOUND)
			store(r, key, b.data, value[0] == '\0', at);
	}
	buf_release(&b);
	return 1;
}

void
ini_read(struct load *l, const char *text, size_t len)
{
	struct reader r = { .load = l, .p = text, .end = text + len,
	    .is_known = true };

	ini_parse_stream(next_line, &r, on_value, &r);
	if (r.p != r.end) {
		refuse(&r, 0, NULL, "out of memory");
	} else if (!r.says_something && l->errs->n == 0) {
		r.line = 1;
		refuse(&r, 0, "'[network]' alone is a policy: nothing may be "
		    "written, no host reached", "the file says nothing");
	}
}
