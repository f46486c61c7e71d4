#include "platform/linux/cgroup_text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Is it one of the words between any of these separators? */
static bool
in_list(const char *list, size_t len, const char *word,
    const char *separators)
{
	size_t n = strlen(word);

	while (len > 0) {
		size_t m = strcspn(list, separators);

		if (m > len)
			m = len;
		if (m == n && memcmp(list, word, n) == 0)
			return true;
		if (m == len)
			return false;
		list += m + 1;
		len -= m + 1;
	}
	return false;
}

bool
cgroup_has_word(const char *text, const char *word)
{
	return in_list(text, strlen(text), word, " \n");
}

uint64_t
cgroup_count(const char *text, const char *word)
{
	size_t n = strlen(word);
	uint64_t value;

	for (; text != NULL; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (strncmp(text, word, n) == 0 && text[n] == ' ' &&
		    sscanf(text + n, " %" SCNu64, &value) == 1)
			return value;
	}
	return 0;
}

static int
copy(char ret[CGROUP_TEXT_PATH], const char *p, size_t n)
{
	if (n >= CGROUP_TEXT_PATH || p[0] != '/')
		return -1;
	memcpy(ret, p, n);
	ret[n] = '\0';
	return 0;
}

/* "4:memory:/a/b" or, in version 2, "0::/a/b". */
int
cgroup_own(const char *text, const char *controller,
    char ret[CGROUP_TEXT_PATH])
{
	while (text != NULL && *text != '\0') {
		const char *next = strchr(text, '\n');
		size_t len = next != NULL ? (size_t)(next - text) :
		    strlen(text);
		const char *a = memchr(text, ':', len), *b;

		b = a != NULL ? memchr(a + 1, ':', len - (size_t)(a + 1 -
		    text)) : NULL;
		if (b != NULL && (controller == NULL ? b == a + 1 :
		    in_list(a + 1, (size_t)(b - a - 1), controller, ",")))
			return copy(ret, b + 1, len - (size_t)(b + 1 - text));
		text = next != NULL ? next + 1 : NULL;
	}
	return -1;
}

struct line {
	char	root[CGROUP_TEXT_PATH], point[CGROUP_TEXT_PATH];
	char	type[32], options[256];
};

static bool
read_line(const char *text, size_t len, struct line *l)
{
	char copied[4096];
	const char *dash;

	if (len >= sizeof copied)
		return false;
	memcpy(copied, text, len);
	copied[len] = '\0';
	dash = strstr(copied, " - ");
	return dash != NULL && sscanf(copied, "%*d %*d %*s %511s %511s",
	    l->root, l->point) == 2 && sscanf(dash, " - %31s %*s %255s",
	    l->type, l->options) == 2 && strchr(l->point, '\\') == NULL;
}

/* The part of `own` below the root of this mount; NULL: elsewhere. */
static const char *
below_root(const char *own, const char *root)
{
	size_t n = strlen(root);

	if (strcmp(root, "/") == 0)
		return strcmp(own, "/") == 0 ? "" : own;
	if (strncmp(own, root, n) == 0 && (own[n] == '/' || own[n] == '\0'))
		return own + n;
	return NULL;
}

int
cgroup_folder(const char *text, const char *controller, const char *own,
    char ret[CGROUP_TEXT_PATH])
{
	while (text != NULL && *text != '\0') {
		const char *next = strchr(text, '\n'), *below;
		size_t len = next != NULL ? (size_t)(next - text) :
		    strlen(text);
		struct line l;

		if (read_line(text, len, &l) && (controller == NULL ?
		    strcmp(l.type, "cgroup2") == 0 :
		    strcmp(l.type, "cgroup") == 0 && in_list(l.options,
		    strlen(l.options), controller, ",")) &&
		    (below = below_root(own, l.root)) != NULL &&
		    strstr(below, "/..") == NULL)
			return snprintf(ret, CGROUP_TEXT_PATH, "%s%s",
			    l.point, below) < CGROUP_TEXT_PATH ? 0 : -1;
		text = next != NULL ? next + 1 : NULL;
	}
	return -1;
}
