#include "policy/glob.h"

#include <stdint.h>
#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/str.h"

bool
glob_is_wild(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (p[i] == '\\')
			i++;
		else if (p[i] == '*' || p[i] == '?' || p[i] == '[')
			return true;
	}
	return false;
}

/* One character: UTF-8, or a byte of something else (never equal to one). */
static size_t
char_at(const char *p, const char *end, uint32_t *ret)
{
	size_t n = str_utf8(p, (size_t)(end - p), ret);

	if (n != 0)
		return n;
	*ret = 0x110000 + (unsigned char)*p;
	return 1;
}

/* The same, after a backslash that takes away its meaning. */
static size_t
escaped_at(const char *p, const char *end, uint32_t *ret)
{
	size_t skip = *p == '\\' && p + 1 < end;

	return skip + char_at(p + skip, end, ret);
}

/*
 * p is behind the '['.  Returns what follows the ']', or NULL if it is not
 * closed; *ret_in: is c in the set?
 */
static const char *
match_set(const char *p, const char *end, uint32_t c, bool *ret_in)
{
	bool is_negated = p < end && (*p == '!' || *p == '^'), in = false;
	const char *first = p += is_negated;
	uint32_t lo, hi;

	while (p < end && (*p != ']' || p == first)) {
		p += escaped_at(p, end, &lo);
		hi = lo;
		if (end - p >= 2 && p[0] == '-' && p[1] != ']') {
			p++;
			p += escaped_at(p, end, &hi);
		}
		in |= c >= lo && c <= hi;
	}
	if (p >= end)
		return NULL;
	*ret_in = in != is_negated;
	return p + 1;
}

/* One pattern character against one of the name; NULL: no match. */
static const char *
match_one(const char *g, const char *gend, const char **s, const char *send)
{
	uint32_t c, want;
	size_t n = char_at(*s, send, &c);
	bool is_in = false;

	if (*g == '?') {
		g++;
	} else if (*g == '[') {
		g = match_set(g + 1, gend, c, &is_in);
		if (!is_in)
			return NULL;
	} else {
		g += escaped_at(g, gend, &want);
		if (want != c)
			return NULL;
	}
	*s += n;
	return g;
}

/*
 * One name against one name of the glob.  On a mismatch only the last '*'
 * takes one byte more: an earlier one could not match what this cannot.
 */
static bool
match_name(const char *g, const char *gend, const char *s, const char *send)
{
	const char *star = NULL, *retry = NULL, *next;

	while (s < send || g < gend) {
		if (g < gend && *g == '*') {
			star = ++g;
			retry = s;
			continue;
		}
		next = g < gend && s < send ? match_one(g, gend, &s, send) :
		    NULL;
		if (next != NULL) {
			g = next;
			continue;
		}
		if (star == NULL || retry >= send)
			return false;
		g = star;
		s = ++retry;
	}
	return true;
}

int
glob_check_name(const char *p, size_t len, struct err *e)
{
	const char *end = p + len, *name = p;
	bool is_in;

	while (p < end) {
		if (*p == '\\') {
			p += 2;
		} else if (*p == '[') {
			const char *close = match_set(p + 1, end, 0, &is_in);

			if (close == NULL) {
				err_set(e, ERR_POLICY, "'[' without its ']'");
				err_hint(e, "a literal '[' is written '\\\\['");
				return -1;
			}
			for (p++; p < close; p += *p == '\\' ? 2 : 1)
				if (*p == '[' && p + 1 < close &&
				    strchr(":.=", p[1]) != NULL)
					return err_set(e, ERR_POLICY,
					    "character classes such as "
					    "'[:alpha:]' are not known");
		} else if (p[0] == '*' && p + 1 < end && p[1] == '*' &&
		    (p != name || len != 2)) {
			err_set(e, ERR_POLICY,
			    "'**' stands alone between slashes");
			err_hint(e, "'**/*.c' matches at every depth");
			return -1;
		} else {
			p++;
		}
	}
	return 0;
}

enum { BRACES_MAX = 16 };

/* Past an escape, or one byte further; sets are no shelter from braces. */
static const char *
step(const char *p)
{
	return p + (*p == '\\' && p[1] != '\0' ? 2 : 1);
}

/* The '}' of the '{' at p, or NULL. */
static const char *
closing_brace(const char *p)
{
	unsigned depth = 0;

	for (; *p != '\0'; p = step(p)) {
		depth += *p == '{';
		depth -= *p == '}' && depth > 0;
		if (depth == 0)
			return p;
	}
	return NULL;
}

/* The first '{' that means something; the end if there is none. */
static const char *
opening_brace(const char *p)
{
	while (*p != '\0' && *p != '{')
		p = step(p);
	return p;
}

/* Where the alternative at p ends: at its comma, or at the brace. */
static const char *
alternative_end(const char *p, const char *close)
{
	unsigned depth = 0;

	for (; p < close; p = step(p)) {
		if (*p == ',' && depth == 0)
			return p;
		depth += *p == '{';
		depth -= *p == '}' && depth > 0;
	}
	return close;
}

static int
too_many(size_t max, struct err *e)
{
	return err_set(e, ERR_POLICY,
	    "the braces stand for more than %zu paths", max);
}

/* Replaces texts[i] by what its first brace stands for. */
static int
open_brace(struct arena *a, const char **texts, size_t i, size_t max,
    size_t *n, const char *open, struct err *e)
{
	const char *text = texts[i], *close = closing_brace(open), *end;
	size_t at = i;

	if (close == NULL) {
		err_set(e, ERR_POLICY, "'{' without its '}'");
		err_hint(e, "a literal '{' is written '\\\\{'");
		return -1;
	}
	for (const char *p = open + 1;; p = end + 1) {
		end = alternative_end(p, close);
		if (at > i) {
			if (*n == max)
				return too_many(max, e);
			memmove(texts + at + 1, texts + at,
			    (*n - at) * sizeof *texts);
			(*n)++;
		}
		texts[at++] = arena_printf(a, "%.*s%.*s%s",
		    (int)(open - text), text, (int)(end - p), p, close + 1);
		if (end == close)
			return 0;
	}
}

int
glob_braces(struct arena *a, const char *glob, const char **ret, size_t max,
    size_t *ret_n, struct err *e)
{
	size_t n = 1, braces = 0;

	for (const char *p = glob; *p != '\0'; p = step(p))
		braces += *p == '{';
	if (braces > BRACES_MAX)
		return err_set(e, ERR_POLICY, "more than %d braces",
		    BRACES_MAX);
	ret[0] = glob;
	for (size_t i = 0; i < n;) {
		const char *open = opening_brace(ret[i]);

		if (*open == '\0')
			i++;
		else if (open_brace(a, ret, i, max, &n, open, e) != 0)
			return -1;
	}
	*ret_n = n;
	return 0;
}

struct name {
	const char	*p, *end;
};

enum { NAMES_MAX = GLOB_MAX / 2 };

static bool
is_any_depth(const struct name *g)
{
	return g->end - g->p == 2 && g->p[0] == '*' && g->p[1] == '*';
}

/* Neighbouring "**" are one: each would be tried from each other. */
static size_t
split(const char *glob, struct name *names)
{
	size_t n = 0;

	while (*glob == '/' && glob[1] != '\0' && n < NAMES_MAX) {
		const char *end = strchrnul(++glob, '/');

		names[n] = (struct name){ glob, end };
		if (n == 0 || !is_any_depth(&names[n]) ||
		    !is_any_depth(&names[n - 1]))
			n++;
		glob = end;
	}
	return n;
}

/* A '**' may also stand for nothing: what follows it is reached, too. */
static void
reach(bool *at, size_t i, const struct name *names, size_t n)
{
	at[i] = true;
	while (i < n && is_any_depth(&names[i]))
		at[++i] = true;
}

size_t
glob_match(const char *glob, const char *path)
{
	struct name names[NAMES_MAX];
	bool at[NAMES_MAX + 1];		/* names before i are used up */
	size_t n, len = 0;

	if (strlen(glob) > GLOB_MAX)
		return 0;
	n = split(glob, names);
	memset(at, 0, n + 1);
	reach(at, 0, names, n);
	for (const char *s = path, *end; *s == '/' && s[1] != '\0'; s = end) {
		bool next[NAMES_MAX + 1];

		end = strchrnul(++s, '/');
		memset(next, 0, n + 1);
		for (size_t i = 0; i < n; i++) {
			if (!at[i])
				continue;
			if (is_any_depth(&names[i]))
				reach(next, i, names, n);
			else if (match_name(names[i].p, names[i].end, s, end))
				reach(next, i + 1, names, n);
		}
		memcpy(at, next, n + 1);
		if (at[n])
			len = (size_t)(end - path);
	}
	return len;
}
