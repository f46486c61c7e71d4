#include "launcher/hooks/line.h"

#include <ctype.h>
#include <string.h>


/* ---- quoting ---- */

void
line_quote_always(struct buf *b, const char *word)
{
	buf_putc(b, '\'');
	for (; *word != '\0'; word++) {
		if (*word == '\'')
			buf_puts(b, "'\\''");
		else
			buf_putc(b, *word);
	}
	buf_putc(b, '\'');
}

void
line_quote(struct buf *b, const char *word)
{
	bool is_plain = word[0] != '\0';

	for (const char *p = word; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) &&
		    strchr("/._-+:@%,", *p) == NULL)
			is_plain = false;
	if (is_plain)
		buf_puts(b, word);
	else
		line_quote_always(b, word);
}

/* ---- cd ---- */

/* "$(( ... ))" begins at p: its end, or NULL if it is none or has more. */
static const char *
skip_arithmetic(const char *p)
{
	const char *end = strstr(p + 3, "))");

	if (strncmp(p, "$((", 3) != 0 || end == NULL)
		return NULL;
	for (p += 3; p < end; p++)
		if (strchr("$`([;\n", *p) != NULL)
			return NULL;
	return end + 2;
}

/* A dollar at p: behind a plain variable or arithmetic; NULL: anything else. */
static const char *
skip_dollar(const char *p)
{
	size_t n;

	if (p[1] == '(')
		return skip_arithmetic(p);
	if (p[1] == '{') {
		n = strspn(p + 2, "abcdefghijklmnopqrstuvwxyz"
		    "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
		return n > 0 && p[2 + n] == '}' ? p + 3 + n : NULL;
	}
	return p + 1;
}

static const char *
skip_double(const char *p)
{
	for (p++; *p != '"'; ) {
		if (*p == '\0' || *p == '`' || *p == '\n' || *p == '\r')
			return NULL;
		if (*p == '\\' && p[1] != '\0')
			p += 2;
		else if (*p != '$')
			p++;
		else if ((p = skip_dollar(p)) == NULL)
			return NULL;
	}
	return p + 1;
}

bool
line_is_cd(const char *line)
{
	const char *p = line + strspn(line, " \t");

	if (strncmp(p, "cd", 2) != 0 || strchr(" \t", p[2]) == NULL)
		return false;		/* strchr() finds the NUL, too */
	for (p += 2; p != NULL && *p != '\0'; ) {
		if (strchr("`&|;<>(){}\n\r", *p) != NULL)
			return false;
		if (*p == '\'') {
			p = strchr(p + 1, '\'');
			if (p == NULL)
				return false;
			p++;
		} else if (*p == '"') {
			p = skip_double(p);
		} else if (*p == '$') {
			p = skip_dollar(p);
		} else if (*p == '\\' && p[1] != '\0' && p[1] != '\n') {
			p += 2;
		} else {
			p++;
		}
	}
	return p != NULL;
}

/* ---- words ---- */

bool
line_next_word(const char **at, char word[LINE_WORD_MAX])
{
	const char *p = *at + strspn(*at, " \t");
	size_t n = 0;
	char quote = '\0';

	if (*p == '\0' || strchr("\n\r;&|()", *p) != NULL) {
		*at = p;
		return false;
	}
	for (; *p != '\0'; p++) {
		if (quote == '\0' && strchr(" \t\n\r;&|()", *p) != NULL)
			break;
		if (quote == '\0' && (*p == '\'' || *p == '"')) {
			quote = *p;
			continue;
		}
		if (*p == quote) {
			quote = '\0';
			continue;
		}
		if (*p == '\\' && quote != '\'' && p[1] != '\0') {
			p++;
			if (*p == '\n')
				continue;
		}
		if (n + 1 < LINE_WORD_MAX)
			word[n++] = *p;
	}
	word[n] = '\0';
	*at = p;
	return true;
}

bool
line_is_assignment(const char *word)
{
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	return n > 0 && !isdigit((unsigned char)word[0]) && word[n] == '=';
}

/* ---- a line that was wrapped before ---- */

const char *
line_wrapped(struct arena *a, const char *line, const char *prefix)
{
	size_t n = strlen(prefix);
	const char *p = line + strspn(line, " \t\n"), *ret = NULL;
	struct buf b;

	if (strncmp(p, prefix, n) != 0 || strncmp(p + n, " -c '", 5) != 0)
		return NULL;
	buf_init(&b, 0);
	for (p += n + 5; *p != '\0'; p++) {
		if (*p != '\'') {
			buf_putc(&b, *p);
		} else if (strncmp(p, "'\\''", 4) == 0) {
			buf_putc(&b, '\'');
			p += 3;
		} else {
			if (p[1 + strspn(p + 1, " \t\n")] == '\0')
				ret = arena_strndup(a, b.data, b.len);
			break;
		}
	}
	buf_release(&b);
	return ret;
}
