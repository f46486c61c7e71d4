#include "platform/links.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "platform/base/path.h"

enum { LINKS_MAX = 40 };

/* The part of a way that is known, and what is still to be walked. */
struct way {
	char	done[PATH_MAX];
	char	rest[2 * PATH_MAX];
};

/* Takes the next name off the rest; false at its end. */
static bool
next_name(struct way *w, char name[NAME_MAX + 1])
{
	char *p = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(p, "/");

	if (n == 0 || n > NAME_MAX)
		return false;
	memcpy(name, p, n);
	name[n] = '\0';
	memmove(w->rest, p + n, strlen(p + n) + 1);
	return true;
}

static bool
enter(struct way *w, const char *name)
{
	size_t n = strlen(w->done);

	if (strcmp(name, ".") == 0)
		return true;
	if (strcmp(name, "..") == 0) {
		w->done[path_dir_len(w->done)] = '\0';
		return true;
	}
	if (n + 1 + strlen(name) >= sizeof w->done)
		return false;
	w->done[n] = '/';
	strcpy(w->done + n + 1, name);
	return true;
}

/* A link was met at w->done: its text comes before the rest. */
static bool
follow(struct way *w, const char *text)
{
	size_t n = strlen(text), rest = strlen(w->rest);

	if (n + 1 + rest >= sizeof w->rest)
		return false;
	memmove(w->rest + n + 1, w->rest, rest + 1);
	memcpy(w->rest, text, n);
	w->rest[n] = '/';
	if (text[0] == '/')
		w->done[0] = '\0';
	else
		w->done[path_dir_len(w->done)] = '\0';
	return true;
}

const char *
links_on_way(struct arena *a, const char *path,
    void (*fn)(const char *, const char *, void *), void *arg)
{
	char name[NAME_MAX + 1], text[PATH_MAX];
	struct way w = { "", "" };
	unsigned links = 0;

	if (path[0] != '/' || strlen(path) >= PATH_MAX)
		return NULL;
	strcpy(w.rest, path);
	while (next_name(&w, name) && enter(&w, name)) {
		if (strcmp(name, "..") == 0 || strcmp(name, ".") == 0 ||
		    (path_read_link(AT_FDCWD, w.done, text, sizeof text) < 0 &&
		    errno != ENAMETOOLONG))
			continue;
		if (text[0] == '\0' || ++links > LINKS_MAX)
			return NULL;
		fn(arena_strdup(a, w.done), arena_strdup(a, text), arg);
		if (!follow(&w, text))
			return NULL;
	}
	/* A name that did not fit is left in the rest. */
	return w.rest[strspn(w.rest, "/")] != '\0' ? NULL :
	    arena_strdup(a, w.done[0] != '\0' ? w.done : "/");
}
