#include "launcher/plan/facts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "launcher/plan/exec_files.h"
#include "launcher/plan/facts_parts.h"
#include "launcher/shadow/shadow.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/links.h"
#include "platform/tree.h"
#include "policy/decide.h"
#include "policy/flags.h"
#include "policy/pattern.h"

static const char specials[] = "*?[{\\";

/* ---- entries ---- */

/* A denial whose very path an -r or -w opens denies less, or nothing. */
static enum fact_kind
opened(const struct gather *g, enum fact_kind kind, const char *path)
{
	if (kind == FACT_DENY_READ && decide_fs_flag(g->layer, FS_READ, path))
		kind = FACT_DENY_WRITE;
	if (kind == FACT_DENY_WRITE && decide_fs_flag(g->layer, FS_WRITE,
	    path))
		kind = FACT_ALLOW_READ;
	return kind;
}

static bool
is_denial(enum fact_kind kind)
{
	return kind == FACT_DENY_READ || kind == FACT_DENY_WRITE;
}

void
gather_ruled(struct gather *g, enum fact_kind kind,
    const struct tree_node *node, const struct rule *rule, bool is_glob)
{
	struct mount_fact *f;

	if (is_denial(kind)) {
		kind = opened(g, kind, node->path);
		if (kind == FACT_ALLOW_READ)
			return;
	}
	gather_fact(g, kind, node, rule);
	f = &g->facts->v[g->facts->n - 1];
	f->layer = g->layer;
	f->is_glob = is_glob;
	/* Grants have theirs when all of them are known. */
	if (is_denial(kind) && strcmp(node->path, node->real) != 0)
		policy_alias(g->layer, rule->key, rule->index, node->real);
}

/* One entry of a list. */
struct item {
	enum fact_kind		 kind;
	struct policy		*layer;
	const struct entry	*entry;
	const struct pattern	*pattern;	/* one of those of its braces */
	const struct rule	*rule;
	/* Of a glob: the last component, and how many bytes at its ends are
	 * no wildcard. */
	const char		*last;
	size_t			 last_len, head, tail;
	const char		*root;		/* where its search begins ... */
	size_t			 real_len;	/* ... and that, resolved */
};

/* Written by the user, not one of a template's many. */
static bool
is_users(const struct item *it)
{
	return it->entry->at.kind != ORIGIN_BUILT_IN;
}

static void
tell_missing(struct gather *g, const struct rule *rule)
{
	struct buf b;

	buf_init(&b, 0);
	rule_put_whole(&b, rule);
	buf_puts(&b, " does not exist and stays unwritable");
	g->rq->notice(b.data, g->rq->arg);
	buf_release(&b);
}

/* A missing granted directory, planned as if it were there. */
static bool
plan_granted(struct gather *g, const char *path, struct tree_node *ret)
{
	const char *real = gather_real(g, path);

	if (!g->rq->as_if_made || !missing_is_directory(path) ||
	    grants_link(g, path, real) != NULL)
		return false;
	*ret = (struct tree_node){ .kind = TREE_DIR, .path = path,
	    .real = real };
	*vec_push(&g->facts->missing) = (struct missing_dir){ .path = real };
	return true;
}

/*
 * A granted path that does not exist.  The run makes a directory, because
 * the first start of a tool wants to write there.
 */
static void
add_missing_grant(struct gather *g, const struct item *it, const char *path)
{
	struct tree_node node;
	struct verdict v;

	decide_fs(g->rq->policy, FS_WRITE, path, &v);
	if (gather_in_grant(g, path) || v.action == ACTION_DENY)
		return;
	if (plan_granted(g, path, &node) || state_plan(g, path, &node))
		gather_ruled(g, it->kind, &node, it->rule, false);
	else if (is_users(it))
		tell_missing(g, it->rule);
}

static void
add_literal(struct gather *g, const struct item *it, const char *path)
{
	struct tree_node node = { .kind = TREE_MISSING };
	bool is_lacking = gather_lacks(g, path);

	if (!is_lacking)
		gather_look(g, path, &node);
	if (node.kind != TREE_MISSING) {
		gather_ruled(g, it->kind, &node, it->rule, false);
		return;
	}
	if (is_denial(it->kind) && !is_lacking)
		path = gather_hold_links(g, path);
	switch (it->kind) {
	case FACT_ALLOW_WRITE:
		add_missing_grant(g, it, path);
		break;
	case FACT_DENY_READ:
		gather_guard(g, GUARD_HIDDEN, path, NULL);
		break;
	case FACT_DENY_WRITE:
		/* Resolved once every grant is known: facts_guard.c. */
		gather_guard(g, GUARD_ABSENT, path, NULL);
		break;
	default:
		break;
	}
}

static bool
is_match(const struct tree_entry *entry, void *arg)
{
	const struct item *it = arg;
	size_t n = strlen(entry->name);
	char path[PATH_MAX];

	if (n < it->head + it->tail ||
	    memcmp(entry->name, it->last, it->head) != 0 ||
	    memcmp(entry->name + n - it->tail,
	    it->last + it->last_len - it->tail, it->tail) != 0)
		return false;
	if (it->root == NULL)
		return pattern_match_path(it->pattern, entry->path) > 0;
	/* The pattern speaks of a way through a symlink. */
	return snprintf(path, sizeof path, "%s%s", it->root, entry->path +
	    it->real_len) < (int)sizeof path &&
	    pattern_match_path(it->pattern, path) > 0;
}

static bool
is_barred(const struct item *it, const char *path)
{
	struct verdict v;

	decide_fs(it->layer, it->kind == FACT_ALLOW_WRITE ? FS_WRITE :
	    FS_READ, path, &v);
	return v.action == ACTION_DENY && v.rule.id == RULE_ENTRY;
}

/*
 * A grant of a folder grants what is below, unless an entry denies the folder:
 * what the glob matches in it may be long enough to speak over that.
 */
static bool
goes_on(const struct tree_entry *entry, void *arg)
{
	const struct item *it = arg;
	char path[PATH_MAX];

	if (entry->type != TREE_IS_DIR || is_denial(it->kind))
		return false;
	return is_barred(it, entry->path) || (it->root != NULL &&
	    snprintf(path, sizeof path, "%s%s", it->root, entry->path +
	    it->real_len) < (int)sizeof path && is_barred(it, path));
}

/* The directory above a glob's first wildcard: where the walk begins. */
static const char *
glob_root(struct arena *a, const char *glob)
{
	size_t n = strcspn(glob, specials);

	while (n > 1 && glob[n - 1] != '/')
		n--;
	return n <= 1 ? "/" : arena_strndup(a, glob, n - 1);
}

/* How deep below the root a match can lie; 0: any depth. */
static unsigned
glob_depth(const char *glob, const char *root)
{
	unsigned n = 0;

	if (strstr(glob, "**") != NULL)
		return 0;
	for (const char *p = glob + (root[1] == '\0' ? 0 : strlen(root));
	    *p != '\0'; p++)
		n += *p == '/';
	return n;
}

static void
add_glob(struct gather *g, struct item *it)
{
	const char *glob = it->pattern->text;
	const char *root = glob_root(g->arena, glob);
	const char *last = path_name(glob);
	size_t n = strlen(last);
	unsigned depth = glob_depth(glob, root);
	struct tree_node node;

	gather_look(g, root, &node);
	if (node.kind != TREE_MISSING && strcmp(node.real, root) != 0) {
		it->root = root;
		it->real_len = node.real[1] == '\0' ? 0 : strlen(node.real);
		root = node.real;
	}
	it->last = last;
	it->last_len = n;
	if (strchr(last, '\\') == NULL && strstr(last, "**") == NULL) {
		it->head = strcspn(last, specials);
		while (it->tail < n - it->head &&
		    strchr("*?[]{}", last[n - 1 - it->tail]) == NULL)
			it->tail++;
	}
	gather_want(g, &(struct tree_want){ .root = root, .match = is_match,
	    .goes_on = goes_on, .arg = it, .max_depth = depth,
	    .skip = it->kind == FACT_DENY_WRITE && depth == 0 ?
	    "node_modules/site-packages" : NULL });
}

/* "dir" followed by two stars alone is that directory: its name, or NULL. */
static const char *
whole_tree(struct arena *a, const char *glob)
{
	size_t n = strlen(glob);

	if (n < 5 || strcmp(glob + n - 3, "/**") != 0 ||
	    strcspn(glob, specials) != n - 2)
		return NULL;
	return arena_strndup(a, glob, n - 3);
}

static void
add_pattern(struct gather *g, const struct item *like,
    const struct pattern *pattern, bool is_literal)
{
	const char *path = pattern->text;
	bool is_glob = pattern->kind != PATTERN_PATH;
	struct item *it;

	if (is_glob && (path = whole_tree(g->arena, path)) != NULL)
		is_glob = false;
	if (is_glob == is_literal)
		return;
	it = arena_alloc(g->arena, sizeof *it);
	*it = *like;
	it->pattern = pattern;
	if (is_glob)
		add_glob(g, it);
	else
		add_literal(g, it, path);
}

static void
add_list(struct gather *g, enum fact_kind kind, size_t key,
    const struct strlist *list, bool is_literal)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct entry *entry = &list->v[i];
		const struct pattern *p = entry->pattern;
		struct rule *rule = arena_alloc(g->arena, sizeof *rule);
		struct item it = { .kind = kind, .layer = g->layer,
		    .entry = entry, .rule = rule };

		*rule = (struct rule){ .id = RULE_ENTRY, .key = key,
		    .index = i, .text = entry->text, .at = entry->at };

		if (p->nalts == 0)
			add_pattern(g, &it, p, is_literal);
		for (size_t k = 0; k < p->nalts; k++)
			add_pattern(g, &it, p->alts[k], is_literal);
	}
}

/* Walks, and takes what the globs found. */
static int
add_found(struct gather *g, struct err *e)
{
	int rc = gather_walk(g, e);

	for (size_t i = 0; i < g->wants.n; i++) {
		struct tree_want *w = &g->wants.v[i];
		const struct item *it = w->arg;

		for (size_t k = 0; w->match == is_match && rc == 0 &&
		    k < w->found.n; k++) {
			struct tree_node node = w->found.v[k];

			/* The pattern speaks of a way through a symlink. */
			if (it->root != NULL)
				node.path = arena_printf(g->arena, "%s%s",
				    it->root, node.path + it->real_len);
			g->layer = it->layer;
			gather_ruled(g, it->kind, &node, it->rule, true);
		}
	}
	return rc;
}

static void
drop_wants(struct gather *g)
{
	for (size_t i = 0; i < g->wants.n; i++)
		vec_release(&g->wants.v[i].found);
	g->wants.n = 0;
}

/* ---- layers ---- */

static void
add_readable(const char *path, void *arg)
{
	struct gather *g = arg;
	struct tree_node node;

	gather_look(g, path, &node);
	if (node.kind != TREE_MISSING)
		gather_ruled(g, FACT_ALLOW_READ, &node,
		    gather_words(g, "readable by default"), false);
}

/* Of Windows below, where programs of both systems run. */
static void
add_wsl(struct gather *g)
{
	enum tri wish = g->layer->fs.wsl_interop.value;

	if (wish == TRI_FALSE || (wish == TRI_AUTO &&
	    access("/proc/sys/fs/binfmt_misc/WSLInterop", F_OK) != 0 &&
	    access("/proc/sys/fs/binfmt_misc/WSLInterop-late", F_OK) != 0))
		return;
	policy_alias(g->layer, KEY_OF(fs.allow_read), FS_ALIAS_DEFAULT,
	    "/init");
	add_readable("/init", g);
}

static void
add_grants(struct gather *g, bool is_literal)
{
	const struct policy *p = g->layer;

	add_list(g, FACT_ALLOW_WRITE, KEY_OF(fs.allow_write),
	    &p->fs.allow_write, is_literal);
	if (!is_literal)
		return;
	if (p->fs.default_deny_read.value && !p->fs.strict_deny_read.value)
		decide_readable(p, add_readable, g);
	if (p->fs.default_deny_read.value || p->fs.strict_deny_read.value)
		add_wsl(g);
}

static void
add_rest(struct gather *g, bool is_literal)
{
	const struct policy *p = g->layer;

	add_list(g, FACT_ALLOW_READ, KEY_OF(fs.allow_read),
	    &p->fs.allow_read, is_literal);
	add_list(g, FACT_ALLOW_READ, KEY_OF(fs.allow_execute),
	    &p->fs.allow_execute, is_literal);
	add_list(g, FACT_DENY_WRITE, KEY_OF(fs.deny_write),
	    &p->fs.deny_write, is_literal);
	add_list(g, FACT_DENY_READ, KEY_OF(fs.deny_read),
	    &p->fs.deny_read, is_literal);
}

static void
each_layer(struct gather *g, void (*add)(struct gather *, bool),
    bool is_literal)
{
	for (g->layer = g->rq->policy; g->layer != NULL;
	    g->layer = g->layer->also)
		add(g, is_literal);
}

/* ---- places of every run ---- */

/* Another proc or sysfs mounted inside a writable tree stays read-only. */
static void
add_kernel_mounts(struct gather *g)
{
	if (g->mounts.n == 0 && mount_table_read(&g->mounts) != 0)
		gather_lack(g, errno, "/proc/self/mountinfo");
	for (size_t i = 0; i < g->mounts.n; i++) {
		const struct mount *m = &g->mounts.v[i];

		if (m->is_kernel && gather_in_grant(g, m->path))
			gather_path(g, FACT_DENY_WRITE, arena_strdup(g->arena,
			    m->path), "the kernel's own");
	}
}

/* Programs of these systems live below /run. */
static const char *const run_dirs[] = { "/run/current-system",
    "/run/opengl-driver", "/run/wrappers" };

/* Where the command stands, and its home: seen if they may be read. */
static void
add_place(struct gather *g, const char *path, const char *words)
{
	struct verdict v;

	if (path == NULL)
		return;
	decide_fs(g->rq->policy, FS_READ, path, &v);
	gather_path(g, v.action == ACTION_ALLOW ? FACT_SEE : FACT_PLACE, path,
	    words);
}

static void
add_seen(struct gather *g, const char *path, const char *words)
{
	struct verdict v;

	decide_fs(g->rq->policy, FS_READ, path, &v);
	if (v.action == ACTION_ALLOW)
		gather_path(g, FACT_SEE, path, words);
}

/* Grants by name; here, that they are seen also where all is private. */
static void
add_exposed(struct gather *g, const struct exposed *x)
{
	static const struct rule exposed = { .id = RULE_OPTION,
	    .text = "--expose-host-path" };
	struct tree_node node;

	gather_look(g, x->path, &node);
	if (node.kind == TREE_MISSING) {
		g->rq->notice(arena_printf(g->arena, "--expose-host-path: "
		    "'%s' does not exist", x->path), g->rq->arg);
		return;
	}
	*vec_push(g->facts) = (struct mount_fact){ .kind = x->is_writable ?
	    FACT_ALLOW_WRITE : FACT_SEE, .node = node,
	    .rule = &exposed,
	    .is_exposed = true };
	g->rq->notice(arena_printf(g->arena, "the host's '%s' is %s inside",
	    node.real, x->is_writable ? "writable" : "visible"),
	    g->rq->arg);
}

/*
 * "/": the system's own file systems stay as they are, also for users, to whom
 * a part of the control groups may be handed over.
 */
static void
add_beyond_all(struct gather *g)
{
	static const char *const own[] = { "/etc", "/run", "/tmp" };

	if (!gather_grants_all(g))
		return;
	gather_path(g, FACT_DENY_WRITE, "/sys", "the kernel's own");
	/* There the jail's own lie over them; at a second mount none do. */
	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		gather_path(g, FACT_DENY_WRITE, own[i], "the system's own");
	g->rq->notice("\"/\" in filesystem.allowWrite: all of the host's "
	    "files are writable inside, but for guarded, hidden and denied "
	    "ones and /etc, /sys, /dev, /run and /tmp", g->rq->arg);
}

static void
add_places(struct gather *g)
{
	add_place(g, g->rq->cwd, "the working directory");
	for (size_t i = 0; i < g->rq->nways; i++)
		links_on_way(g->arena, g->rq->ways[i], gather_link, g);
	gather_path(g, FACT_PLACE, g->rq->policy->home != NULL ?
	    g->rq->policy->home : "/", "home");
	for (size_t i = 0; i < sizeof run_dirs / sizeof run_dirs[0]; i++)
		add_seen(g, run_dirs[i], "programs of this system");
	for (size_t i = 0; i < g->rq->nexposed; i++)
		add_exposed(g, &g->rq->exposed[i]);
	for (size_t i = 0; i < g->rq->policy->devices.allow.n; i++)
		gather_path(g, FACT_DEVICE,
		    g->rq->policy->devices.allow.v[i].text, "devices.allow");
	if (getuid() == 0 || gather_grants_all(g))
		add_kernel_mounts(g);
	add_beyond_all(g);
}

/* Hidden, so that executing them is refused. */
static void
add_programs(struct gather *g)
{
	struct tree_node node;

	for (size_t i = 0; i < g->rq->nprograms; i++) {
		gather_look(g, g->rq->programs[i].path, &node);
		if (node.kind == TREE_FILE)
			gather_fact(g, FACT_DENY_READ, &node,
			    g->rq->programs[i].rule);
	}
}

/* For the decider's callers: launcher/record/explain.h. */
static void
links_know(struct gather *g)
{
	struct path_list l = { 0 };
	const char **links;

	for (size_t i = 0; i < g->facts->n; i++)
		if (g->facts->v[i].kind == FACT_LINK)
			*vec_push(&l) = g->facts->v[i].node.path;
	links = arena_alloc(g->arena, (l.n + 1) * sizeof *links);
	if (l.n > 0)
		memcpy(links, l.v, l.n * sizeof *links);
	for (struct policy *p = g->rq->policy; p != NULL; p = p->also) {
		p->links = links;
		p->nlinks = l.n;
	}
	vec_release(&l);
}

static int
gather_grants(struct gather *g, struct err *e)
{
	each_layer(g, add_grants, true);
	each_layer(g, add_grants, false);
	if (add_found(g, e) != 0)
		return -1;
	state_grants(g);
	gitdir_grant(g);
	if (grants_settle(g, e) != 0)
		return -1;
	drop_wants(g);
	if (check_all(g, e) != 0)
		return -1;
	grants_in_all(g);
	return facts_check_roots(&g->roots, e);
}

/* A third of the names that are looked for in a home are in .config. */
static void
list_home(struct gather *g, const char *home)
{
	if (home == NULL)
		return;
	gather_list(g, home);
	gather_list(g, arena_join(g->arena, home, ".config"));
}

static int
gather_all(struct gather *g, struct err *e)
{
	own_know(g);
	/* Grants first: what is below them is looked at more closely. */
	if (gather_grants(g, e) != 0)
		return -1;
	own_list(g);
	list_home(g, g->rq->policy->home);
	list_home(g, g->rq->policy->other_home);
	gather_list(g, g->rq->policy->workspace);
	each_layer(g, add_rest, true);
	each_layer(g, add_rest, false);
	guard_searches(g);
	if (add_found(g, e) != 0)
		return -1;
	guard_facts(g);
	if (closed_facts(g, e) != 0)
		return -1;
	again_facts(g);
	if (grants_settle(g, e) != 0)
		return -1;
	grants_show(g);
	add_places(g);
	add_programs(g);
	links_know(g);
	if (socket_facts(g, e) != 0)
		return -1;
	again_facts(g);
	if (check_facts(g, e) != 0 || own_facts(g, e) != 0)
		return -1;
	again_facts(g);
	return g->sys == 0 ? 0 : err_sys(e, g->sys, "cannot look at '%s'",
	    g->sys_path);
}

int
facts_gather(const struct facts_request *rq, struct facts *ret, struct err *e)
{
	struct gather g = { .rq = rq, .arena = rq->arena, .facts = ret };
	int rc = gather_all(&g, e);

	drop_wants(&g);
	mount_table_release(&g.mounts);
	vec_release(&g.wants);
	vec_release(&g.roots);
	vec_release(&g.guarded);
	vec_release(&g.shadowed);
	vec_release(&g.deep);
	vec_release(&g.closed);
	vec_release(&g.tended);
	return rc;
}

void
facts_release(struct facts *f)
{
	vec_release(&f->guards);
	vec_release(&f->sockets);
	vec_release(&f->missing);
	vec_release(&f->shadows);
	vec_release(&f->variables);
	vec_release(f);
}
