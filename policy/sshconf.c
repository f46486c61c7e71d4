#include "policy/sshconf.h"

#include <string.h>
#include <strings.h>

#include "platform/base/arena.h"

enum { MAX_INCLUDES = 32, MAX_DEPTH = 8, MAX_LINE = 8192 };

enum applies { APPLIES_NOT, APPLIES_MAYBE, APPLIES };

struct reader {
	const struct sshconf_ask	*ask;
	unsigned			 includes, depth;
	enum applies			 applies;
};

static int
lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

bool
sshconf_match(const char *pattern, size_t len, const char *host)
{
	const char *end = pattern + len, *star = NULL, *back = NULL;

	while (*host != '\0') {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			back = host;
		} else if (pattern < end && (*pattern == '?' ||
		    lower((unsigned char)*pattern) ==
		    lower((unsigned char)*host))) {
			pattern++;
			host++;
		} else if (star != NULL) {
			pattern = star;
			host = ++back;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

/* The next word of a line, quotes removed in place; NULL at the end. */
static char *
next_word(char **s)
{
	char *p = *s + strspn(*s, " \t"), *word, *out;

	if (*p == '\0' || *p == '#')
		return NULL;
	word = out = p;
	if (*p == '"') {
		for (p++; *p != '\0' && *p != '"'; p++)
			*out++ = *p;
	} else {
		for (; *p != '\0' && *p != ' ' && *p != '\t'; p++)
			*out++ = *p;
	}
	*s = *p != '\0' ? p + 1 : p;
	*out = '\0';
	return word;
}

/* A list of patterns, "!" before those that must not match. */
static bool
in_list(const char *list, char separator, const char *host, bool *ret_denied)
{
	bool found = false;

	while (*list != '\0') {
		size_t n = strcspn(list, (char[]){ separator, '\0' });
		bool is_not = n > 0 && list[0] == '!';

		if (n > is_not && sshconf_match(list + is_not, n - is_not,
		    host)) {
			if (is_not)
				*ret_denied = true;
			else
				found = true;
		}
		list += n + (list[n] != '\0');
	}
	return found;
}

static void
host_line(struct reader *r, char *rest)
{
	bool found = false, denied = false;
	char *word;

	while ((word = next_word(&rest)) != NULL)
		found |= in_list(word, '\n', r->ask->host, &denied);
	r->applies = found && !denied ? APPLIES : APPLIES_NOT;
}

/* Match: what depends on anything but the host may apply. */
static void
match_line(struct reader *r, char *rest)
{
	char *word, *value;

	r->applies = APPLIES;
	while ((word = next_word(&rest)) != NULL) {
		bool is_not = word[0] == '!', denied = false, found;

		word += is_not;
		if (strcasecmp(word, "all") == 0)
			continue;
		if (strcasecmp(word, "canonical") == 0 ||
		    strcasecmp(word, "final") == 0) {
			if (r->applies == APPLIES)
				r->applies = APPLIES_MAYBE;
			continue;
		}
		if ((value = next_word(&rest)) == NULL)
			break;
		if (strcasecmp(word, "originalhost") == 0) {
			found = in_list(value, ',', r->ask->host, &denied);
			if ((found && !denied) == is_not)
				r->applies = APPLIES_NOT;
			continue;
		}
		if (strcasecmp(word, "host") == 0 && !is_not) {
			const char *now = r->ask->hostname(
			    r->ask->setting_arg);

			if (!in_list(value, ',', now != NULL ? now :
			    r->ask->host, &denied) || denied)
				r->applies = APPLIES_NOT;
		}
		/* ssh evaluates from the left, and stops at a mismatch. */
		if (strcasecmp(word, "exec") == 0 &&
		    r->applies != APPLIES_NOT)
			r->ask->setting(r->ask->setting_arg, "match exec",
			    value, false);
		if (r->applies == APPLIES)
			r->applies = APPLIES_MAYBE;
	}
}

static void	 read_text(struct reader *, const char *text, size_t len);

static void
include(struct reader *r, char *rest)
{
	const struct sshconf_ask *ask = r->ask;
	enum applies applies = r->applies;
	const char *text;
	char *word;
	size_t len;

	while ((word = next_word(&rest)) != NULL) {
		if (ask->file == NULL || r->includes >= MAX_INCLUDES ||
		    r->depth >= MAX_DEPTH)
			return;
		r->includes++;
		text = ask->file(ask->file_arg, word, &len);
		if (text == NULL)
			continue;
		r->depth++;
		read_text(r, arena_strndup(ask->arena, text, len), len);
		r->depth--;
		r->applies = applies;
	}
}

static void
line(struct reader *r, char *text)
{
	size_t n;
	char *key, *rest, *value;

	text += strspn(text, " \t");
	n = strcspn(text, " \t=\"");
	if (n == 0 || text[0] == '#')
		return;
	rest = text + n;
	rest += strspn(rest, " \t");
	if (*rest == '=')
		rest += 1 + strspn(rest + 1, " \t");
	key = text;
	for (size_t i = 0; i < n; i++)
		key[i] = (char)lower((unsigned char)key[i]);
	key = arena_strndup(r->ask->arena, key, n);
	if (strcmp(key, "host") == 0) {
		host_line(r, rest);
	} else if (strcmp(key, "match") == 0) {
		match_line(r, rest);
	} else if (r->applies == APPLIES_NOT) {
		return;
	} else if (strcmp(key, "include") == 0) {
		include(r, rest);
	} else {
		/* Commands are the rest of the line, quotes and all. */
		value = strstr(key, "command") != NULL ? rest :
		    next_word(&rest);
		if (value != NULL && *value != '\0')
			r->ask->setting(r->ask->setting_arg, key, value,
			    r->applies == APPLIES);
	}
}

static void
read_text(struct reader *r, const char *text, size_t len)
{
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t n = end != NULL ? (size_t)(end - text) : len;
		size_t used = n;

		while (used > 0 && strchr(" \t\r", text[used - 1]) != NULL &&
		    text[used - 1] != '\0')
			used--;
		if (used < MAX_LINE)
			line(r, arena_strndup(r->ask->arena, text, used));
		text += n + (end != NULL);
		len -= n + (end != NULL);
	}
}

void
sshconf_read(const struct sshconf_ask *ask, const char *text, size_t len)
{
	struct reader r = { .ask = ask, .applies = APPLIES };

	read_text(&r, text, len);
}
