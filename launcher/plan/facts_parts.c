/* What the parts of facts share while they look at the disk. */
#include "launcher/plan/facts_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "platform/base/clock.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/links.h"
#include "policy/decide.h"
#include "policy/pattern.h"

enum { SLOW_MS = 100 };		/* a walk that took longer is mentioned */

const struct rule *
gather_words(struct gather *g, const char *words)
{
	struct rule *r = arena_alloc(g->arena, sizeof *r);

	*r = (struct rule){ .id = RULE_JAIL, .text = words };
	return r;
}

void
gather_link(const char *at, const char *text, void *arg)
{
	struct gather *g = arg;

	*vec_push(g->facts) = (struct mount_fact){ .kind = FACT_LINK,
	    .node = { .path = at, .real = at, .kind = TREE_FILE },
	    .rule = gather_words(g, "leads to something granted"),
	    .text = text };
}

/* One in a writable tree could be made to lead elsewhere. */
static void
hold_link(const char *at, const char *text, void *arg)
{
	struct gather *g = arg;

	if (gather_in_grant(g, at))
		*vec_push(&g->facts->guards) = (struct guard_path){
		    .kind = GUARD_LINK, .path = at, .text = text };
}

void
gather_fact(struct gather *g, enum fact_kind kind,
    const struct tree_node *node, const struct rule *rule)
{
	*vec_push(g->facts) = (struct mount_fact){ .kind = kind,
	    .node = *node, .rule = rule };
	if (kind == FACT_ALLOW_WRITE && node->kind == TREE_DIR)
		*vec_push(&g->roots) = node->real;
	/*
	 * Where all else is hidden the way there has to be shown as well; of
	 * grants once it is known which of them hold.
	 */
	if (node->path == NULL || strcmp(node->path, node->real) == 0)
		return;
	if (kind < FACT_ALLOW_READ)
		links_on_way(g->arena, node->path, gather_link, g);
	else if (kind == FACT_DENY_WRITE || kind == FACT_DENY_READ)
		gather_hold_links(g, node->path);
}

void
gather_lack(struct gather *g, int sys, const char *path)
{
	if (g->sys == 0)
		g->sys_path = path;
	g->sys = sys;
}

static const struct tree_node *
find_seen(const struct gather *g, const char *dir, size_t n)
{
	for (unsigned i = 0; i < GATHER_SEEN && i < g->nseen; i++)
		if (strncmp(g->seen[i].path, dir, n) == 0 &&
		    g->seen[i].path[n] == '\0')
			return &g->seen[i];
	return NULL;
}

/* Is it a folder that was looked at, without a symlink on the way? */
static bool
is_plain_folder(const struct gather *g, const char *dir, size_t n)
{
	const struct tree_node *node = n > 0 ? find_seen(g, dir, n) : NULL;

	return node != NULL && node->kind == TREE_DIR &&
	    strcmp(node->path, node->real) == 0;
}

/* A slash at its end, or "." and "..", are not for tree_look_below(). */
static bool
is_clean_name(const char *name)
{
	return name[0] != '\0' && strcmp(name, ".") != 0 &&
	    strcmp(name, "..") != 0;
}

void
gather_look(struct gather *g, const char *path, struct tree_node *ret)
{
	int rc = 1;

	if (is_clean_name(path_name(path)) &&
	    is_plain_folder(g, path, path_dir_len(path)))
		rc = tree_look_below(path, ret);
	if (rc > 0)
		rc = tree_look(g->arena, path, ret);
	if (rc != 0)
		gather_lack(g, errno, path);
	if (ret->is_closed)
		gather_closed(path, g);
}

void
gather_path(struct gather *g, enum fact_kind kind, const char *path,
    const char *words)
{
	struct tree_node node;

	gather_look(g, path, &node);
	if (node.kind != TREE_MISSING)
		gather_fact(g, kind, &node, gather_words(g, words));
}

/* Many are missing in the same few folders. */
static const struct tree_node *
look_once(struct gather *g, const char *dir)
{
	const struct tree_node *seen = find_seen(g, dir, strlen(dir));
	struct tree_node node, *place;

	if (seen != NULL)
		return seen;
	gather_look(g, arena_strdup(g->arena, dir), &node);
	place = &g->seen[g->nseen++ % GATHER_SEEN];
	*place = node;
	return place;
}

void
gather_know(struct gather *g, const char *folder)
{
	(void)look_once(g, folder);
}

void
gather_list(struct gather *g, const char *folder)
{
	struct gather_listed *l = &g->listed[g->nlisted];
	const struct tree_node *node;

	if (folder == NULL || gather_listed(g, folder) != NULL ||
	    g->nlisted == GATHER_LISTED)
		return;
	node = look_once(g, folder);
	if (node->kind != TREE_DIR || strcmp(node->real, folder) != 0 ||
	    folder[1] == '\0')
		return;
	l->path = folder;
	name_filter_read(&l->names, folder);
	g->nlisted++;
}

const struct name_filter *
gather_listed(const struct gather *g, const char *folder)
{
	for (unsigned i = 0; i < g->nlisted; i++)
		if (strcmp(g->listed[i].path, folder) == 0)
			return &g->listed[i].names;
	return NULL;
}

bool
gather_lacks(const struct gather *g, const char *path)
{
	for (unsigned i = 0; i < g->nlisted; i++) {
		size_t n = strlen(g->listed[i].path);

		if (strncmp(path, g->listed[i].path, n) == 0 &&
		    path[n] == '/' &&
		    name_filter_lacks(&g->listed[i].names, path + n + 1))
			return true;
	}
	return false;
}

/*
 * The deepest folder above a path that is there, of which n bytes of the path
 * are the name; NULL: "/".
 */
static const struct tree_node *
nearest(struct gather *g, const char *path, size_t *ret_n)
{
	char *part = arena_strdup(g->arena, path);

	while (path_cut(part)) {
		const struct tree_node *node = look_once(g, part);

		if (node->kind == TREE_MISSING)
			continue;
		*ret_n = strlen(part);
		return node;
	}
	*ret_n = 0;
	return NULL;
}

const char *
gather_real(struct gather *g, const char *path)
{
	size_t n;
	const struct tree_node *node = nearest(g, path, &n);

	if (node == NULL || strcmp(node->path, node->real) == 0)
		return path;
	return arena_printf(g->arena, "%s%s", node->real[1] == '\0' ? "" :
	    node->real, path + n);
}

/*
 * Is there no symlink on the way?  Below the last folder that is there, only
 * the next name can be one.
 */
static bool
is_plain_way(struct gather *g, const char *path)
{
	size_t n;
	const struct tree_node *node = nearest(g, path, &n);
	char next[PATH_MAX], text[1];

	if (path[0] != '/' || (node != NULL && strcmp(node->path, node->real)
	    != 0))
		return false;
	n += 1 + strcspn(path + n + 1, "/");
	if (n >= sizeof next)
		return false;
	memcpy(next, path, n);
	next[n] = '\0';
	return readlink(next, text, sizeof text) < 0;
}

const char *
gather_hold_links(struct gather *g, const char *path)
{
	const char *target = path;

	if (!is_plain_way(g, path))
		target = links_on_way(g->arena, path, hold_link, g);
	return target != NULL ? target : path;
}

const char *
gather_target(struct gather *g, const char *path)
{
	enum { LINKS_MAX = 40 };
	char text[PATH_MAX];

	for (int i = 0; i < LINKS_MAX && path != NULL; i++) {
		const char *real = gather_real(g, path);

		if (path_read_link(AT_FDCWD, real, text, sizeof text) <= 0)
			return real;
		path = pattern_clean_path(g->arena, path_dir(g->arena, real),
		    text);
	}
	return path;
}

void
gather_guard(struct gather *g, enum guard_kind kind, const char *path,
    const struct tree_node *node)
{
	*vec_push(&g->facts->guards) = (struct guard_path){ .kind = kind,
	    .path = node != NULL ? path : gather_real(g, path),
	    .dev = node != NULL ? node->dev : 0,
	    .ino = node != NULL ? node->ino : 0 };
}

static bool
is_part(const char *path, const char *root)
{
	return str_path_below(path, root) && (root[1] != '\0' ||
	    decide_is_in_all(path));
}

bool
gather_is_granted(const struct gather *g, const char *path)
{
	for (size_t i = 0; i < g->roots.n; i++)
		if (is_part(path, g->roots.v[i]))
			return true;
	return false;
}

bool
gather_grants_all(const struct gather *g)
{
	for (size_t i = 0; i < g->roots.n; i++)
		if (g->roots.v[i][1] == '\0')
			return true;
	return false;
}

bool
gather_in_grant(const struct gather *g, const char *path)
{
	for (size_t i = 0; i < g->roots.n; i++)
		if (is_part(path, g->roots.v[i]) &&
		    strcmp(path, g->roots.v[i]) != 0)
			return true;
	return false;
}

void
gather_want(struct gather *g, const struct tree_want *want)
{
	*vec_push(&g->wants) = *want;
}

static void
tell_skipped(const char *path, void *arg)
{
	struct gather *g = arg;

	g->rq->notice(arena_printf(g->arena, "'%s' is another machine's file "
	    "system: nothing was looked for in it", path), g->rq->arg);
}

int
gather_walk(struct gather *g, struct err *e)
{
	int64_t from, ms;

	if (g->wants.n == 0)
		return 0;
	from = clock_us(CLOCK_PROCESS_CPUTIME_ID);
	if (tree_walk(g->arena, g->wants.v, g->wants.n, GATHER_WALK_MAX,
	    &g->mounts, tell_skipped, gather_closed, g, e) != 0)
		return -1;
	ms = (clock_us(CLOCK_PROCESS_CPUTIME_ID) - from) / 1000;
	if (ms > SLOW_MS)
		g->rq->notice(arena_printf(g->arena, "looking for what the "
		    "policy's patterns and guarded names match took %ld ms",
		    (long)ms), g->rq->arg);
	return 0;
}
