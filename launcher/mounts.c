#include "launcher/mounts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/str.h"
#include "platform/base/vec.h"

/* Places every jail has of its own, whatever the policy says. */
static const struct jail_mount base[] = {
	{ .kind = MOUNT_RO, .path = "/", .why = "everything is readable" },
	{ .kind = MOUNT_DEV, .path = "/dev", .why = "private" },
	{ .kind = MOUNT_PROC, .path = "/proc", .why = "private" },
	{ .kind = MOUNT_TMPFS, .path = "/tmp", .why = "private" },
};

enum { NBASE = sizeof base / sizeof base[0] };

static bool
is_private(const char *path)
{
	return str_path_below(path, "/tmp") || str_path_below(path, "/run") ||
	    str_path_below(path, "/dev/shm");
}

/* What lies below these is the jail's own and has no rule of the host's. */
static bool
is_own(const char *path)
{
	if (str_path_below(path, "/dev/shm"))
		return strcmp(path, "/dev/shm") == 0;
	return str_path_below(path, "/dev") || str_path_below(path, "/proc") ||
	    strcmp(path, "/tmp") == 0 || strcmp(path, "/run") == 0;
}

static bool
is_useless(const struct mount_fact *f)
{
	const char *path = f->node.real;

	if (f->node.kind == TREE_MISSING || is_own(path))
		return true;
	/* The recursive bind of / shows it already. */
	return f->kind == FACT_SEE && !is_private(path);
}

/* Parents before children ('/' sorts before every other byte), and at the
 * same path the one that speaks last. */
static int
by_path(const void *pa, const void *pb)
{
	const struct mount_fact *a = *(const struct mount_fact *const *)pa;
	const struct mount_fact *b = *(const struct mount_fact *const *)pb;
	const unsigned char *x = (const unsigned char *)a->node.real;
	const unsigned char *y = (const unsigned char *)b->node.real;

	while (*x != '\0' && *x == *y) {
		x++;
		y++;
	}
	if (*x != *y) {
		int cx = *x == '/' ? 1 : *x == '\0' ? 0 : *x + 1;
		int cy = *y == '/' ? 1 : *y == '\0' ? 0 : *y + 1;

		return cx < cy ? -1 : 1;
	}
	return (int)a->kind - (int)b->kind;
}

static bool
is_denial(const struct mount_fact *f)
{
	return f->kind == FACT_DENY_READ || f->kind == FACT_DENY_WRITE;
}

static enum mount_kind
kind_of(const struct mount_fact *f)
{
	switch (f->kind) {
	case FACT_ALLOW_WRITE:
		return MOUNT_RW;
	case FACT_DENY_READ:
		return f->node.kind == TREE_DIR ? MOUNT_MASK_DIR :
		    MOUNT_MASK_FILE;
	case FACT_DENY_WRITE:
	case FACT_ALLOW_READ:
	case FACT_SEE:
		break;
	}
	return MOUNT_RO;
}

/* The nearest mount above path that is already planned. */
static const struct jail_mount *
cover(const struct mount_list *l, const char *path)
{
	for (size_t i = l->n; i > 0; i--)
		if (str_path_below(path, l->v[i - 1].path))
			return &l->v[i - 1];
	return NULL;
}

static bool
is_mask(const struct jail_mount *m)
{
	return m->kind == MOUNT_MASK_DIR || m->kind == MOUNT_MASK_FILE ||
	    m->kind == MOUNT_MASK_AROUND;
}

/* A mount that would change nothing, because what covers it is the same. */
static bool
is_covered(const struct mount_list *l, const struct mount_fact *f)
{
	const struct jail_mount *m = cover(l, f->node.real);
	enum mount_kind kind = kind_of(f);

	if (m == NULL)
		return false;
	/* A denial in a private place where nothing of the host's is seen. */
	if (is_denial(f) && is_private(f->node.real) &&
	    m < l->v + NBASE)
		return true;
	if (kind == MOUNT_MASK_DIR || kind == MOUNT_MASK_FILE)
		return is_mask(m);
	/* A path that was refused a read stays refused: a read-only bind
	 * inside a masked directory would show it again. */
	if (f->kind == FACT_DENY_WRITE && is_mask(m))
		return true;
	/* A grant to read opens what is hidden, and takes nothing away. */
	if (f->kind == FACT_ALLOW_READ)
		return !is_mask(m);
	return m->kind == kind;
}

/*
 * A denial inside a writable tree: its ancestors in there become mount points
 * too, which cannot be renamed; otherwise `mv dir other; mkdir dir` would
 * leave the denial behind.
 */
static void
pin_ancestors(struct arena *a, struct mount_list *l,
    const struct mount_fact *f)
{
	const struct jail_mount *m = cover(l, f->node.real);
	size_t from = m != NULL ? strlen(m->path) + 1 : 0;

	if (m == NULL || m->kind != MOUNT_RW)
		return;
	for (const char *p = strchr(f->node.real + from, '/'); p != NULL;
	    p = strchr(p + 1, '/'))
		*vec_push(l) = (struct jail_mount){ .kind = MOUNT_RW,
		    .path = arena_strndup(a, f->node.real,
		    (size_t)(p - f->node.real)),
		    .why = "pinned: a denial lies below" };
}

/* A mask with a grant inside lets a walk pass through. */
static void
open_masks(struct mount_list *l)
{
	for (size_t i = NBASE; i < l->n; i++)
		for (size_t k = i + 1; k < l->n &&
		    l->v[i].kind == MOUNT_MASK_DIR; k++)
			if (!is_mask(&l->v[k]) &&
			    str_path_below(l->v[k].path, l->v[i].path))
				l->v[i].kind = MOUNT_MASK_AROUND;
}

void
mounts_plan(struct arena *a, const struct mount_fact *facts, size_t n,
    struct mount_list *ret, struct path_list *ret_roots)
{
	const struct mount_fact **sorted = xcalloc(n + 1, sizeof *sorted);
	size_t k = 0;

	for (size_t i = 0; i < NBASE; i++)
		*vec_push(ret) = base[i];
	for (size_t i = 0; i < n; i++)
		if (!is_useless(&facts[i]))
			sorted[k++] = &facts[i];
	qsort(sorted, k, sizeof *sorted, by_path);
	for (size_t i = 0; i < k; i++) {
		const struct mount_fact *f = sorted[i];

		if (i + 1 < k && strcmp(f->node.real,
		    sorted[i + 1]->node.real) == 0)
			continue;
		if (f->kind == FACT_ALLOW_WRITE)
			*vec_push(ret_roots) = f->node.real;
		if (is_covered(ret, f))
			continue;
		if (is_denial(f))
			pin_ancestors(a, ret, f);
		*vec_push(ret) = (struct jail_mount){ kind_of(f),
		    f->node.real, f->why, f->node.dev, f->node.ino };
	}
	free(sorted);
	open_masks(ret);
}
