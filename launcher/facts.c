#include "launcher/facts.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/tree.h"
#include "policy/decide.h"
#include "policy/pattern.h"

enum { WALK_MAX = 1000 * 1000 };

/* While gathering. */
struct work {
	const struct facts_request	*rq;
	struct arena			*arena;
	struct facts			*facts;
	const struct policy		*layer;	/* the one being looked at */
};

static void
add_fact(struct work *w, enum fact_kind kind, const struct tree_node *node,
    const char *why)
{
	*vec_push(w->facts) = (struct mount_fact){ kind, *node, why };
}

/* Is this path, as written, inside a tree that the policy makes writable? */
static bool
in_grant(const struct work *w, const char *path)
{
	for (size_t i = 0; i < w->facts->n; i++) {
		const struct mount_fact *f = &w->facts->v[i];

		if (f->kind == FACT_ALLOW_WRITE &&
		    f->node.kind == TREE_DIR &&
		    strcmp(path, f->node.real) != 0 &&
		    str_path_below(path, f->node.real))
			return true;
	}
	return false;
}

/*
 * A grant holds only where every other layer grants it, too: of two nested
 * grants the deeper remains.  Denials hold in any case.
 */
static bool
all_agree(const struct work *w, enum fs_op op, const char *path)
{
	for (const struct policy *p = w->rq->policy; p != NULL; p = p->also) {
		struct policy alone = *p;
		struct verdict v;

		if (p == w->layer)
			continue;
		alone.also = NULL;
		decide_fs(&alone, op, path, &v);
		if (v.action == ACTION_DENY)
			return false;
	}
	return true;
}

static void
add_ruled(struct work *w, enum fact_kind kind, const struct tree_node *node,
    const char *why)
{
	if ((kind == FACT_ALLOW_WRITE && !all_agree(w, FS_WRITE, node->real)) ||
	    (kind == FACT_ALLOW_READ && !all_agree(w, FS_READ, node->real)))
		return;
	add_fact(w, kind, node, why);
}

static bool
matches(const char *path, void *arg)
{
	return pattern_match_path(arg, path) > 0;
}

/* The directory above a glob's first wildcard: where the walk begins. */
static const char *
glob_root(struct arena *a, const char *glob)
{
	size_t n = strcspn(glob, "*?[\\");

	while (n > 1 && glob[n - 1] != '/')
		n--;
	return n <= 1 ? "/" : arena_strndup(a, glob, n - 1);
}

static int
add_entry(struct work *w, enum fact_kind kind, const char *key, size_t i,
    const struct entry *entry, struct err *e)
{
	const struct pattern *p = entry->pattern;
	const char *why = arena_printf(w->arena, "%s[%zu] \"%s\" %s:%d:%d",
	    key, i, entry->text, entry->at.file, entry->at.line,
	    entry->at.col);
	struct tree_nodes found = { 0 };
	struct tree_node node;
	int rc = 0;

	if (p->kind == PATTERN_PATH) {
		tree_look(w->arena, p->text, &node);
		if (node.kind != TREE_MISSING)
			add_ruled(w, kind, &node, why);
		else if (kind == FACT_ALLOW_WRITE && !in_grant(w, p->text) &&
		    entry->at.file[0] != '<')	/* templates name many */
			w->rq->notice(arena_printf(w->arena,
			    "%s does not exist and stays unwritable", why),
			    w->rq->arg);
		return 0;
	}
	rc = tree_find(w->arena, glob_root(w->arena, p->text), matches,
	    (void *)p, WALK_MAX, &found, e);
	if (rc != 0) {
		err_key(e, "%s[%zu]", key, i);
		err_where(e, entry->at.file, entry->at.line, entry->at.col);
	}
	for (size_t k = 0; k < found.n; k++)
		add_ruled(w, kind, &found.v[k], why);
	vec_release(&found);
	return rc;
}

static int
add_list(struct work *w, enum fact_kind kind, const char *key,
    const struct strlist *list, struct err *e)
{
	for (size_t i = 0; i < list->n; i++)
		if (add_entry(w, kind, key, i, &list->v[i], e) != 0)
			return -1;
	return 0;
}

static void
add_path(struct work *w, enum fact_kind kind, const char *path,
    const char *why)
{
	struct tree_node node;

	tree_look(w->arena, path, &node);
	if (node.kind != TREE_MISSING)
		add_fact(w, kind, &node, why);
}

static int
make_dirs(struct arena *a, const char *path)
{
	for (const char *p = strchr(path + 1, '/');; p = strchr(p + 1, '/')) {
		size_t n = p != NULL ? (size_t)(p - path) : strlen(path);

		if (mkdir(arena_strndup(a, path, n), 0700) != 0 &&
		    errno != EEXIST)
			return -1;
		if (p == NULL)
			return 0;
	}
}

/*
 * The policy in force, the record, our programs: told as fence's own when
 * refused.  A name that is a symlink in a writable tree cannot be kept.
 */
static int
add_own(struct work *w, const struct own_file *own, struct err *e)
{
	const char *path = own->path, *what = own->what;
	const char *full = pattern_clean_path(w->arena, w->rq->cwd, path);
	struct tree_node node;

	tree_look(w->arena, path, &node);
	if (node.kind == TREE_MISSING && own->must_exist && full != NULL &&
	    in_grant(w, full)) {
		if (make_dirs(w->arena, full) != 0)
			return err_sys(e, errno, "cannot make '%s' (%s), "
			    "which the command must not make", path, what);
		tree_look(w->arena, path, &node);
	}
	if (node.kind == TREE_MISSING)
		return 0;
	if (full != NULL && strcmp(full, node.real) != 0 &&
	    in_grant(w, full)) {
		err_set(e, ERR_POLICY, "'%s' (%s) is a symlink inside a "
		    "writable tree", path, what);
		err_hint(e, "the command could point it elsewhere: use '%s'",
		    node.real);
		return -1;
	}
	add_fact(w, FACT_DENY_WRITE, &node, what);
	policy_own(w->rq->policy, node.real, what);
	return 0;
}

/* A grant through a symlink that an earlier run could have planted. */
static int
check_links(const struct work *w, struct err *e)
{
	for (size_t i = 0; i < w->facts->n; i++) {
		const struct mount_fact *f = &w->facts->v[i];

		if (f->kind != FACT_ALLOW_WRITE ||
		    strcmp(f->node.path, f->node.real) == 0 ||
		    !in_grant(w, f->node.path) || in_grant(w, f->node.real))
			continue;
		err_set(e, ERR_POLICY, "'%s' is a symlink inside a writable "
		    "tree and leads out of it, to '%s'", f->node.path,
		    f->node.real);
		err_key(e, "filesystem.allowWrite");
		err_hint(e, "a command could have planted it: name '%s' "
		    "itself", f->node.real);
		return -1;
	}
	return 0;
}

/* What the jail itself stands on, and places that are its own. */
static int
check_places(const struct work *w, struct err *e)
{
	static const char *const needed[] = { "/etc", "/proc", "/dev", "/run",
	    "/usr/lib", "/lib64", "/sys" };

	for (size_t i = 0; i < w->facts->n; i++) {
		const struct mount_fact *f = &w->facts->v[i];
		bool is_hidden = f->kind == FACT_DENY_READ;
		const char *bad = NULL;

		for (size_t k = 0; k < sizeof needed / sizeof needed[0]; k++)
			if (str_path_below(needed[k], f->node.real) &&
			    (is_hidden || (f->kind == FACT_ALLOW_WRITE &&
			    strcmp(f->node.real, "/etc") == 0)))
				bad = "the jail itself needs it as it is";
		if (is_hidden &&
		    str_path_below(w->rq->bwrap, f->node.real))
			bad = "bwrap lies there";
		if (f->kind != FACT_SEE && (str_path_below(f->node.real,
		    "/proc") || (str_path_below(f->node.real, "/dev") &&
		    !str_path_below(f->node.real, "/dev/shm") &&
		    f->kind != FACT_ALLOW_WRITE)))
			bad = "/proc and /dev are the jail's own";
		if (bad == NULL)
			continue;
		err_set(e, ERR_POLICY, "'%s' cannot be used here: %s",
		    f->node.path, bad);
		err_hint(e, "%s", f->why);
		return -1;
	}
	return 0;
}

/* Another proc or sysfs mounted inside a writable tree stays read-only. */
static void
add_kernel_mount(const char *path, void *arg)
{
	struct work *w = arg;

	if (in_grant(w, path))
		add_path(w, FACT_DENY_WRITE, path, "the kernel's own");
}

/* Programs of these systems live below /run. */
static const char *const run_dirs[] = { "/run/current-system",
    "/run/opengl-driver", "/run/wrappers" };

/* To root's own uid these are open without any capability. */
static const char *const secrets[] = { "/etc/shadow", "/etc/shadow-",
    "/etc/gshadow", "/etc/gshadow-" };

static int
add_layer(struct work *w, struct err *e)
{
	const struct policy *p = w->layer;

	if (add_list(w, FACT_ALLOW_WRITE, "filesystem.allowWrite",
	    &p->fs.allow_write, e) != 0 ||
	    add_list(w, FACT_ALLOW_READ, "filesystem.allowRead",
	    &p->fs.allow_read, e) != 0 ||
	    add_list(w, FACT_DENY_WRITE, "filesystem.denyWrite",
	    &p->fs.deny_write, e) != 0)
		return -1;
	return add_list(w, FACT_DENY_READ, "filesystem.denyRead",
	    &p->fs.deny_read, e);
}

int
facts_gather(const struct facts_request *rq, struct facts *ret, struct err *e)
{
	struct work w = { .rq = rq, .arena = rq->arena, .facts = ret };

	for (w.layer = rq->policy; w.layer != NULL; w.layer = w.layer->also)
		if (add_layer(&w, e) != 0)
			return -1;
	add_path(&w, FACT_SEE, rq->cwd, "the working directory");
	for (size_t i = 0; i < sizeof run_dirs / sizeof run_dirs[0]; i++)
		add_path(&w, FACT_SEE, run_dirs[i], "programs of this system");
	if (check_places(&w, e) != 0 || check_links(&w, e) != 0)
		return -1;
	for (size_t i = 0; i < rq->nown; i++)
		if (add_own(&w, &rq->own[i], e) != 0)
			return -1;
	if (getuid() != 0)
		return 0;
	for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
		add_path(&w, FACT_DENY_READ, secrets[i], "always hidden");
	tree_kernel_mounts(add_kernel_mount, &w);
	return 0;
}

int
facts_check_roots(const struct path_list *roots, struct err *e)
{
	for (size_t i = 0; i < roots->n; i++) {
		const char *path = roots->v[i];
		struct stat st;

		if (strcmp(path, "/") == 0) {
			err_set(e, ERR_POLICY, "'/' as a whole cannot be made "
			    "writable");
			err_key(e, "filesystem.allowWrite");
			err_hint(e, "name the directories that the command "
			    "has to write to");
			return -1;
		}
		if (tree_is_kernel(path)) {
			err_set(e, ERR_POLICY, "'%s' is the kernel's own and "
			    "cannot be made writable", path);
			err_key(e, "filesystem.allowWrite");
			return -1;
		}
		if (getuid() != 0 || stat(path, &st) != 0 || st.st_uid == 0)
			continue;
		/* Without CAP_DAC_OVERRIDE root may not write there. */
		err_set(e, ERR_POLICY, "'%s' belongs to uid %u, and inside the "
		    "jail root has no power over it", path,
		    (unsigned)st.st_uid);
		err_hint(e, "run fence-run as that user");
		return -1;
	}
	return 0;
}
