#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/guard/guard_parts.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"

/* Component by component: a '/' comes before everything else. */
static int
compare_paths(const void *a, const void *b)
{
	const unsigned char *p = (const unsigned char *)
	    (*(const struct leaf *const *)a)->path;
	const unsigned char *q = (const unsigned char *)
	    (*(const struct leaf *const *)b)->path;

	while (*p == *q && *p != '\0')
		p++, q++;
	if (*p == *q || *p == '\0' || *q == '\0')
		return *p - *q;
	return (*p == '/' ? 0 : *p) - (*q == '/' ? 0 : *q);
}

/* The children come in order, so the one we look for is the last. */
static struct name *
name_child(struct guard *g, struct name *up, const char *text, size_t len)
{
	struct name *n;

	if (up->nchild > 0) {
		n = up->child[up->nchild - 1];
		if (strncmp(n->text, text, len) == 0 && n->text[len] == '\0')
			return n;
	}
	n = arena_alloc(g->arena, sizeof *n);
	n->text = arena_strndup(g->arena, text, len);
	n->up = up;
	n->depth = up->depth + 1;
	if (up->nchild == up->cap) {
		up->cap = up->cap != 0 ? up->cap * 2 : 8;
		up->child = xrealloc(up->child, up->cap, sizeof *up->child);
	}
	up->child[up->nchild++] = n;
	return n;
}

static bool
is_component(const char *p, size_t len)
{
	return len > 0 && len <= NAME_MAX && !(len == 1 && p[0] == '.') &&
	    !(len == 2 && p[0] == '.' && p[1] == '.');
}

/* For a path that is in the list twice. */
static bool
says_more(enum guard_kind a, enum guard_kind b)
{
	return a != b && b != GUARD_LINK && (a == GUARD_LINK ||
	    a == GUARD_ABSENT);
}

static int
name_add(struct guard *g, struct leaf *l, struct err *e)
{
	struct name *n = &g->root;
	const char *p = l->path;

	do {
		size_t len = *p == '/' ? strcspn(++p, "/") : 0;

		if (!is_component(p, len))
			return err_set(e, ERR_JAIL, "'%s' cannot be guarded: "
			    "it is no plain path", l->path);
		n = name_child(g, n, p, len);
		p += len;
	} while (*p != '\0');
	l->name = n;
	if (n->leaf == NULL || says_more(l->kind, n->leaf->kind))
		n->leaf = l;
	if (says_more(l->kind, GUARD_READONLY) ||
	    (l->kind == GUARD_READONLY && l->ino != 0 && !l->is_beyond))
		for (; n != NULL; n = n->up)
			if (n->held == NULL)
				n->held = l;
	return 0;
}

/* What leads to quarantine is made by us, when it is needed. */
static bool
is_ours(const struct guard_config *c, const char *path)
{
	return c->quarantine != NULL && str_path_below(c->quarantine, path);
}

static struct name *
find_path(struct guard *g, const char *path)
{
	struct name *n = &g->root;
	char text[NAME_MAX + 1];

	while (n != NULL && *(path += strspn(path, "/")) != '\0') {
		size_t len = strcspn(path, "/");

		if (len >= sizeof text)
			return NULL;
		memcpy(text, path, len);
		text[len] = '\0';
		n = guard_name_find(n, text);
		path += len;
	}
	return n;
}

static bool
is_below_another(const struct gitend *git, size_t at)
{
	for (size_t i = 0; i < git->nroots; i++)
		if (i != at && str_path_below(git->roots[at], git->roots[i]))
			return true;
	return false;
}

/* Of two trees, one in the other, the inner can be moved by the jail. */
static void
mark_roots(struct guard *g)
{
	for (size_t i = 0; i < g->git.nroots; i++) {
		struct name *n = is_below_another(&g->git, i) ? NULL :
		    find_path(g, g->git.roots[i]);

		if (n != NULL && n->leaf == NULL)
			n->is_root = true;
	}
}

int
guard_names(struct guard *g, const struct guard_config *c, struct err *e)
{
	struct leaf **order = xcalloc(c->npaths + 1, sizeof *order);
	size_t n = 0;
	int rc = 0;

	g->root.text = "/";
	g->nleaves = c->npaths;
	g->leaves = arena_alloc(g->arena, (c->npaths + 1) *
	    sizeof *g->leaves);
	for (size_t i = 0; i < c->npaths; i++) {
		const struct guard_path *p = &c->paths[i];

		g->leaves[i] = (struct leaf){ .kind = p->kind, .dev = p->dev,
		    .ino = p->ino, .held_fd = -1,
		    .is_beyond = p->is_beyond,
		    .path = arena_strdup(g->arena, p->path),
		    .text = p->text != NULL ? arena_strdup(g->arena,
		    p->text) : NULL };
		if (p->kind != GUARD_ABSENT || !is_ours(c, p->path))
			order[n++] = &g->leaves[i];
	}
	qsort(order, n, sizeof *order, compare_paths);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = name_add(g, order[i], e);
	free(order);
	mark_roots(g);
	return rc;
}

static int
compare_text(const void *key, const void *elem)
{
	return strcmp(key, (*(struct name *const *)elem)->text);
}

struct name *
guard_name_find(const struct name *n, const char *text)
{
	struct name **found = n->nchild == 0 ? NULL : bsearch(text, n->child,
	    n->nchild, sizeof *n->child, compare_text);

	return found != NULL ? *found : NULL;
}

int
guard_name_path(const struct name *n, char ret[PATH_MAX])
{
	size_t at = PATH_MAX - 1;

	ret[at] = '\0';
	for (; n->up != NULL; n = n->up) {
		size_t len = strlen(n->text);

		if (len + 1 > at)
			return -1;
		at -= len;
		memcpy(ret + at, n->text, len);
		ret[--at] = '/';
	}
	memmove(ret, ret + at, PATH_MAX - at);
	return 0;
}
