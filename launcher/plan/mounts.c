#include "launcher/plan/mounts.h"

#include <stdlib.h>
#include <string.h>

#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"

/* Facts about one path, folded. */
struct ruling {
	const struct mount_fact	*fact;		/* the one that speaks */
	enum fact_kind		 kind;
	bool			 is_shown;	/* denied to write, not to read */
	bool			 is_unlisted;	/* read by allowExecute alone */
};

static const struct rule
	pinned = { .id = RULE_JAIL, .text = "pinned: a denial lies below" },
	needed = { .id = RULE_JAIL, .text = "what the jail needs" },
	granted = { .id = RULE_JAIL, .text = "reading has to be granted" },
	readable = { .id = RULE_JAIL, .text = "everything is readable" },
	etc = { .id = RULE_JAIL,
	    .text = "the host's, with the jail's names and hosts" },
	private = { .id = RULE_JAIL, .text = "private" };

struct planner {
	struct arena			*arena;
	const struct mounts_mode	*mode;
	struct mounts			*out;
	/* Planned mounts around the current path, innermost last. */
	struct { size_t *v; size_t n, cap; } around;
};

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

/* Ours lie there: the host's would not do. */
static bool
is_laid_over(const char *path)
{
	static const char *const names[] = { "/etc/resolv.conf", "/etc/hosts",
	    "/etc/ld.so.preload" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(path, names[i]) == 0)
			return true;
	return false;
}

bool
mounts_is_useless(const struct mount_fact *f)
{
	const char *path = f->node.real;

	if (f->kind == FACT_LINK)
		return false;
	if (f->node.kind == TREE_MISSING || strcmp(path, "/") == 0 ||
	    strcmp(path, "/etc") == 0)
		return true;	/* those two are in the base */
	if (f->kind == FACT_DEVICE || f->is_exposed)
		return false;
	if (f->kind < FACT_SOCKET && is_laid_over(path))
		return true;
	return is_own(path);
}

/* Parents before children: '/' sorts before every other byte. */
static int
compare_paths(const char *a, size_t na, const char *b, size_t nb)
{
	size_t i = 0;
	int x, y;

	while (i < na && i < nb && a[i] == b[i])
		i++;
	x = i == na ? 0 : a[i] == '/' ? 1 : (unsigned char)a[i] + 1;
	y = i == nb ? 0 : b[i] == '/' ? 1 : (unsigned char)b[i] + 1;
	return x - y;
}

static int
by_path(const void *pa, const void *pb)
{
	const struct mount_fact *a = *(const struct mount_fact *const *)pa;
	const struct mount_fact *b = *(const struct mount_fact *const *)pb;
	int order = compare_paths(a->node.real, strlen(a->node.real),
	    b->node.real, strlen(b->node.real));

	return order != 0 ? order : (int)a->kind - (int)b->kind;
}

/* ---- several facts about one path ---- */

/* The facts [from, to) of one path, in the order of their kinds. */
static struct ruling
fold(const struct mount_fact **from, const struct mount_fact **to)
{
	struct ruling r = { .fact = to[-1], .kind = to[-1]->kind };
	bool has[FACT_NKINDS] = { false };

	for (const struct mount_fact **f = from; f < to; f++)
		has[(*f)->kind] = true;
	r.is_unlisted = has[FACT_ALLOW_EXECUTE] && !has[FACT_ALLOW_READ] &&
	    !has[FACT_ALLOW_WRITE];
	r.is_shown = r.kind == FACT_DENY_WRITE && (has[FACT_SEE] ||
	    has[FACT_ALLOW_EXECUTE] || has[FACT_ALLOW_READ] ||
	    has[FACT_ALLOW_WRITE]);
	return r;
}

static bool
hides(const struct ruling *r)
{
	return r->kind == FACT_DENY_READ || r->kind == FACT_SOCKET;
}

static enum mount_kind
kind_of(const struct ruling *r)
{
	switch (r->kind) {
	case FACT_ALLOW_WRITE:
		return MOUNT_RW;
	case FACT_OTHER:
		return MOUNT_OTHER;
	case FACT_DENY_READ:
	case FACT_SOCKET:
		return r->fact->node.kind == TREE_DIR ? MOUNT_MASK_DIR :
		    MOUNT_MASK_FILE;
	case FACT_LINK:
		return MOUNT_LINK;
	case FACT_PLACE:
		return MOUNT_PLACE;
	case FACT_OWN:
		return MOUNT_OWN;
	case FACT_DEVICE:
		return MOUNT_DEVICE;
	default:
		return MOUNT_RO;
	}
}

/* ---- the mounts around a path ---- */

static bool
is_mask(enum mount_kind kind)
{
	return kind == MOUNT_MASK_DIR || kind == MOUNT_MASK_FILE ||
	    kind == MOUNT_MASK_AROUND || kind == MOUNT_CLOSED;
}

/* The innermost mount around path; paths come in order. */
static const struct jail_mount *
cover(struct planner *p, const char *path)
{
	struct mount_list *l = &p->out->list;

	for (; p->around.n > 0; p->around.n--) {
		struct jail_mount *m =
		    &l->v[p->around.v[p->around.n - 1]];

		if (str_path_below(path, m->path))
			return m;
	}
	for (size_t i = MOUNTS_BASE; i > 1; i--)
		if (str_path_below(path, l->v[i - 1].path))
			return &l->v[i - 1];
	return &l->v[0];
}

static void
push(struct planner *p, struct jail_mount m)
{
	if (m.kind != MOUNT_LINK && m.kind != MOUNT_PLACE)
		*vec_push(&p->around) = p->out->list.n;
	*vec_push(&p->out->list) = m;
}

/* Hidden, or in a private place, where nothing of the host's is seen. */
static bool
is_unseen(const struct jail_mount *m, bool is_base, const char *path)
{
	return is_mask(m->kind) || m->kind == MOUNT_ETC_OWN ||
	    m->kind == MOUNT_OWN ||
	    (is_base && is_private(path));
}

/* Does what is around the path already give what is asked? */
static bool
is_given(const struct ruling *r, const struct jail_mount *m, bool is_base)
{
	const char *path = r->fact->node.real;

	switch (r->kind) {
	case FACT_SOCKET:
		return is_unseen(m, is_base, path) || m->kind == MOUNT_OTHER;
	case FACT_DENY_READ:
		return is_unseen(m, is_base, path);
	case FACT_DENY_WRITE:
		if (is_unseen(m, is_base, path))
			return !r->is_shown;
		return m->kind == MOUNT_RO || m->kind == MOUNT_ETC;
	case FACT_ALLOW_WRITE:
		return m->kind == MOUNT_RW && !is_base;
	case FACT_OTHER:
		return false;
	case FACT_ALLOW_READ:
		return !is_unseen(m, is_base, path) && !m->is_unlisted;
	case FACT_ALLOW_EXECUTE:
	case FACT_SEE:
		/* It opens what is hidden, and takes nothing away. */
		return !is_unseen(m, is_base, path);
	case FACT_LINK:
	case FACT_PLACE:
		return !is_mask(m->kind) && m->kind != MOUNT_ETC_OWN;
	case FACT_OWN:
		return !is_base;
	case FACT_DEVICE:
		return m->kind != MOUNT_DEV;
	case FACT_NKINDS:
		break;
	}
	return true;
}

/*
 * A denial inside a writable tree: its ancestors in there become mount points
 * too, which cannot be renamed; otherwise `mv dir other; mkdir dir` would
 * leave the denial behind.
 */
static void
pin_ancestors(struct planner *p, const struct jail_mount *m, const char *path)
{
	size_t from = strlen(m->path) + 1;

	/* In "/" what is private has no folders of the host's to pin. */
	if (m->kind != MOUNT_RW || (from == 2 && is_private(path)))
		return;
	for (const char *s = strchr(path + from, '/'); s != NULL;
	    s = strchr(s + 1, '/'))
		push(p, (struct jail_mount){ .kind = MOUNT_RW,
		    .path = arena_strndup(p->arena, path, (size_t)(s - path)),
		    .reason = &pinned, .is_pin = true });
}

static void
plan_path(struct planner *p, const struct ruling *r)
{
	const struct mount_fact *f = r->fact;
	const struct jail_mount *m = cover(p, f->node.real);
	bool is_base = m < p->out->list.v + MOUNTS_BASE;

	/* What is mounted in a folder of the jail's own is part of that. */
	if ((r->kind == FACT_ALLOW_WRITE && m->kind != MOUNT_OTHER) ||
	    r->kind == FACT_OTHER)
		*vec_push(&p->out->roots) = f->node.real;
	/* In "/" a tree that is named stays where it is, as elsewhere. */
	if (r->kind == FACT_ALLOW_WRITE && m->is_pin &&
	    p->out->list.v[0].kind == MOUNT_RW)
		is_base = true;
	if (is_given(r, m, is_base))
		return;
	if (hides(r) || r->kind == FACT_DENY_WRITE ||
	    r->kind == FACT_ALLOW_WRITE || r->kind == FACT_OTHER)
		pin_ancestors(p, m, f->node.real);
	push(p, (struct jail_mount){ .kind = kind_of(r),
	    .path = f->node.real, .reason = f->rule, .dev = f->node.dev,
	    .ino = f->node.ino,
	    .text = r->kind == FACT_OTHER ? NULL : f->text,
	    .source = r->kind == FACT_OTHER ? f->text : NULL,
	    .is_unlisted = r->is_unlisted,
	    .size = r->kind == FACT_OWN ? p->mode->own_size : 0 });
}

/* A mask with something granted inside lets a walk pass through. */
static void
open_masks(struct mount_list *l)
{
	for (size_t i = MOUNTS_BASE; i < l->n; i++)
		for (size_t k = i + 1; k < l->n &&
		    l->v[i].kind == MOUNT_MASK_DIR &&
		    str_path_below(l->v[k].path, l->v[i].path); k++)
			if (!is_mask(l->v[k].kind))
				l->v[i].kind = MOUNT_MASK_AROUND;
}

/* ---- what every jail has ---- */

static const struct mount_fact *
find(const struct mount_fact *facts, size_t n, enum fact_kind kind,
    const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (facts[i].kind == kind && !facts[i].is_exposed &&
		    facts[i].node.kind != TREE_MISSING &&
		    strcmp(facts[i].node.real, path) == 0)
			return &facts[i];
	return NULL;
}

/* Where "/" itself is granted the mode hides nothing. */
static struct jail_mount
root_of(const struct planner *p, const struct mount_fact *facts, size_t n)
{
	struct jail_mount root = { .path = "/" };
	const struct mount_fact *f;

	if ((f = find(facts, n, FACT_DENY_READ, "/")) != NULL) {
		root.kind = MOUNT_CLOSED;
		root.reason = f->rule;
	} else if ((f = find(facts, n, FACT_ALLOW_WRITE, "/")) != NULL) {
		root.kind = MOUNT_RW;
		root.reason = f->rule;
	} else if (!p->mode->is_closed) {
		root.kind = MOUNT_RO;
		root.reason = &readable;
	} else if ((f = find(facts, n, FACT_ALLOW_READ, "/")) != NULL ||
	    (f = find(facts, n, FACT_ALLOW_EXECUTE, "/")) != NULL) {
		root.kind = MOUNT_RO;
		root.reason = f->rule;
		root.is_unlisted = f->kind == FACT_ALLOW_EXECUTE;
	} else {
		root.kind = MOUNT_CLOSED;
		root.reason = &granted;
	}
	return root;
}

static void
plan_base(struct planner *p, const struct mount_fact *facts, size_t n)
{
	const struct mount_fact *no_etc = find(facts, n, FACT_DENY_READ,
	    "/etc");
	const struct mount_fact plain = { .rule = &needed };
	bool is_etc_read = find(facts, n, FACT_ALLOW_READ, "/etc") != NULL;
	bool is_etc_run = find(facts, n, FACT_ALLOW_EXECUTE, "/etc") != NULL;
	struct mount_list *l = &p->out->list;
	struct jail_mount root = root_of(p, facts, n);

	*vec_push(l) = root;
	if (root.kind == MOUNT_RW)
		*vec_push(&p->out->roots) = "/";
	if (no_etc == NULL && root.kind == MOUNT_CLOSED && !is_etc_read &&
	    !is_etc_run)
		no_etc = &plain;
	*vec_push(l) = no_etc != NULL ? (struct jail_mount){ MOUNT_ETC_OWN,
	    .path = "/etc", .reason = no_etc->rule } :
	    (struct jail_mount){ MOUNT_ETC, .path = "/etc",
	    .reason = &etc, .is_unlisted = !is_etc_read && (is_etc_run ||
	    root.is_unlisted) };
	*vec_push(l) = (struct jail_mount){ p->mode->is_host_dev ?
	    MOUNT_DEV_HOST : MOUNT_DEV, .path = "/dev",
	    .reason = p->mode->is_host_dev ? p->mode->dev_rule : &private };
	*vec_push(l) = (struct jail_mount){ MOUNT_PROC, .path = "/proc",
	    .reason = &private };
	*vec_push(l) = (struct jail_mount){ MOUNT_TMPFS, .path = "/tmp",
	    .reason = &private, .size = p->mode->tmp_size };
}

/* What bwrap needs in order to start: its libraries' usual places. */
static bool
stands_on(const struct planner *p, const char *path)
{
	static const char *const places[] = { "/usr/lib", "/usr/lib64",
	    "/lib", "/lib64", "/nix/store", "/gnu/store" };

	if (p->mode->bwrap != NULL && str_path_below(p->mode->bwrap, path))
		return true;
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (str_path_below(places[i], path) ||
		    str_path_below(path, places[i]))
			return true;
	return false;
}

static bool
needs_apart(const struct planner *p)
{
	const struct mount_list *l = &p->out->list;

	if (l->v[0].kind == MOUNT_CLOSED || l->v[1].kind == MOUNT_ETC_OWN)
		return true;
	for (size_t i = MOUNTS_BASE; i < l->n; i++)
		if (is_mask(l->v[i].kind) && stands_on(p, l->v[i].path))
			return true;
	return false;
}

void
mounts_plan(struct arena *a, const struct mounts_mode *mode,
    const struct mount_fact *facts, size_t n, struct mounts *ret)
{
	struct planner p = { .arena = a, .mode = mode, .out = ret };
	const struct mount_fact **sorted = xcalloc(n + 1, sizeof *sorted);
	size_t k = 0;

	plan_base(&p, facts, n);
	for (size_t i = 0; i < n; i++)
		if (!mounts_is_useless(&facts[i]))
			sorted[k++] = &facts[i];
	qsort(sorted, k, sizeof *sorted, by_path);
	for (size_t i = 0, end; i < k; i = end) {
		struct ruling r;

		for (end = i + 1; end < k && strcmp(sorted[i]->node.real,
		    sorted[end]->node.real) == 0; end++)
			continue;
		r = fold(sorted + i, sorted + end);
		plan_path(&p, &r);
	}
	free(sorted);
	vec_release(&p.around);
	open_masks(&ret->list);
	ret->is_apart = needs_apart(&p);
}

/* The mount on these n bytes of a path, but for those every jail has; or 0. */
static size_t
find_mount(const struct mounts *m, const char *path, size_t n)
{
	size_t from = MOUNTS_BASE, to = m->list.n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		const char *at = m->list.v[mid].path;
		int order = compare_paths(path, n, at, strlen(at));

		if (order == 0)
			return m->list.v[mid].kind != MOUNT_LINK &&
			    m->list.v[mid].kind != MOUNT_PLACE ? mid : 0;
		if (order < 0)
			to = mid;
		else
			from = mid + 1;
	}
	return 0;
}

static size_t
find_around(const struct mounts *m, const char *path, size_t n)
{
	size_t at = 0;

	while (n > 1 && (at = find_mount(m, path, n)) == 0)
		while (n > 1 && path[--n] != '/')
			continue;
	for (size_t i = MOUNTS_BASE; at == 0 && --i > 0; )
		if (str_path_below(path, m->list.v[i].path))
			at = i;
	return at;
}

size_t
mounts_over(const struct mounts *m, const char *path)
{
	return find_around(m, path, strlen(path));
}

size_t
mounts_above(const struct mounts *m, const char *path)
{
	return find_around(m, path, path_dir_len(path));
}

bool
mounts_hide(const struct mounts *m, size_t i, const char *path)
{
	const struct jail_mount *around = &m->list.v[i];

	return around->kind == MOUNT_TMPFS ||
	    is_unseen(around, i < MOUNTS_BASE, path);
}
