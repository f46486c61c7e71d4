/*
 * Agents' folders (policy/agents.h) on this disk.  A folder that the policy
 * grants is replaced by a folder of the jail's own (launcher/shadow/shadow.h);
 * this file says of each name in it whether it is a copy, or the host's mounted
 * back.
 *
 * A folder stays as it is, with its names guarded, where it cannot be replaced:
 * it is a symlink or lies below one, belongs to another user, or holds more
 * than ITEMS_MAX names.  So does a guarded name that the policy opens, that is
 * too big to be copied, or in which something is hidden or granted.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/agentconf.h"
#include "launcher/plan/facts_parts.h"
#include "launcher/shadow/shadow.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"
#include "policy/agents.h"
#include "policy/decide.h"

enum {
	ITEMS_MAX = 4096,
	LARGE_ENTRIES = 20000,		/* of a guarded folder */
	LARGE_BYTES = 64 * 1024 * 1024,
	LARGE_DEPTH = 32,
};

static const struct rule shadowed = { .id = RULE_SHADOW };

/* One agent's folder. */
struct shading {
	struct gather		*g;
	const struct agent_folder *agent;
	const char		*path;
	int			 fd;		/* of it, or -1 */
	/* The folder is a guarded name itself: all in it is kept. */
	bool			 is_whole;
	struct { struct shadow_item *v; size_t n, cap; } items;
};

/* ---- guarded names ---- */

/* The part of a guarded name of an agent's behind the folder, or NULL. */
static const char *
rest_of(const struct shading *s, const struct guard_name *row)
{
	size_t n = strlen(s->agent->path);

	if ((row->places & GUARD_AGENT) == 0 ||
	    strncmp(row->name, s->agent->path, n) != 0)
		return NULL;
	if (row->name[n] == '\0')
		return row->name + n;
	return row->name[n] == '/' && strchr(row->name + n + 1, '/') == NULL ?
	    row->name + n + 1 : NULL;
}

static const struct guard_name *
find_row(const struct shading *s, const char *name)
{
	for (const struct guard_name *row = guarded_names; row->name != NULL;
	    row++) {
		const char *rest = rest_of(s, row);

		if (rest != NULL && guard_name_len(rest, name) ==
		    strlen(name) && (rest[0] == '\0') == (name[0] == '\0'))
			return row;
	}
	return NULL;
}

/* Does the policy open the guarded name at this path? */
static bool
is_opened(const struct shading *s, const char *path)
{
	struct fs_question q = { .op = FS_WRITE, .path = path,
	    .is_guarded = true, .guarded_len = strlen(path) };
	struct verdict v;

	decide_fs_ask(s->g->rq->policy, &q, &v);
	return v.action == ACTION_ALLOW;
}

/* Does the policy speak of something below the path? */
static bool
has_facts_below(const struct gather *g, const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; i < g->facts->n; i++) {
		const struct mount_fact *f = &g->facts->v[i];

		if (f->kind >= FACT_ALLOW_READ && f->node.real != NULL &&
		    strncmp(f->node.real, path, n) == 0 &&
		    f->node.real[n] == '/')
			return true;
	}
	return false;
}

struct weight {
	unsigned	entries;
	uint64_t	bytes;
};

/* Too much to be copied, too deep, or not to be read? */
static bool
is_large(int dir_fd, const char *name, unsigned depth, struct weight *w)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *de;
	bool ret = d == NULL;

	if (d == NULL && fd >= 0)
		close(fd);
	while (!ret && (de = readdir(d)) != NULL) {
		struct stat st;

		if (strcmp(de->d_name, ".") == 0 ||
		    strcmp(de->d_name, "..") == 0)
			continue;
		if (fstatat(fd, de->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (S_ISREG(st.st_mode))
			w->bytes += (uint64_t)st.st_size;
		ret = ++w->entries > LARGE_ENTRIES ||
		    w->bytes > LARGE_BYTES || depth == LARGE_DEPTH ||
		    (S_ISDIR(st.st_mode) && is_large(fd, de->d_name,
		    depth + 1, w));
	}
	if (d != NULL)
		closedir(d);
	return ret;
}

static bool
can_be_copied(const struct shading *s, const char *name, const char *path,
    const struct stat *st)
{
	struct weight w = { 0 };

	if (S_ISREG(st->st_mode))
		return (uint64_t)st->st_size <= LARGE_BYTES;
	return S_ISDIR(st->st_mode) && !has_facts_below(s->g, path) &&
	    !is_large(s->fd, name, 0, &w);
}

/* ---- items ---- */

static void
add_item(struct shading *s, const char *name, enum shadow_kind kind,
    bool is_dir)
{
	*vec_push(&s->items) = (struct shadow_item){ .name = name,
	    .kind = kind, .is_dir = is_dir };
}

/*
 * Writable, as a copy: the decider has to know.  Where state and settings share
 * a file, its state is carried to the host.
 */
static void
keep(struct shading *s, const struct guard_name *row, const char *name,
    const char *path)
{
	add_item(s, name, row != NULL && (row->places & GUARD_FRESH) != 0 ?
	    SHADOW_FRESH : agentconf_find(path +
	    strlen(s->g->rq->policy->home) + 1) != NULL ? SHADOW_SIFTED :
	    SHADOW_KEPT, false);
	guard_place_set(vec_push(&s->g->shadowed), path, 0);
}

/* The host's own, mounted back, as the policy gives it. */
static void
bind_host(struct shading *s, const char *name, const char *path,
    const struct stat *st)
{
	struct tree_node node = { .path = path, .real = path,
	    .kind = S_ISDIR(st->st_mode) ? TREE_DIR : TREE_FILE,
	    .dev = st->st_dev, .ino = st->st_ino };
	struct rule *rule = arena_alloc(s->g->arena, sizeof *rule);
	struct verdict v;

	add_item(s, name, SHADOW_BOUND, S_ISDIR(st->st_mode));
	decide_fs(s->g->rq->policy, FS_READ, path, &v);
	*rule = v.rule;
	if (v.action == ACTION_DENY) {
		gather_fact(s->g, FACT_DENY_READ, &node, rule);
		return;
	}
	decide_fs(s->g->rq->policy, FS_WRITE, path, &v);
	*rule = v.rule;
	gather_fact(s->g, v.action == ACTION_ALLOW ? FACT_ALLOW_WRITE :
	    FACT_DENY_WRITE, &node, rule);
}

static bool
is_writable(const struct shading *s, const char *path)
{
	struct verdict v;

	decide_fs(s->g->rq->policy, FS_WRITE, path, &v);
	return v.action == ACTION_ALLOW;
}

/* A guarded name that exists. */
static void
add_guarded(struct shading *s, const struct guard_name *row,
    const char *name, const char *path, const struct stat *st)
{
	if (S_ISLNK(st->st_mode)) {
		/* What it leads to is guarded: facts_guard.c. */
		add_item(s, name, SHADOW_KEPT, false);
		return;
	}
	if (is_writable(s, path) && !is_opened(s, path) &&
	    can_be_copied(s, name, path, st))
		keep(s, row, name, path);
	else
		bind_host(s, name, path, st);
}

static bool
has_file(const struct shading *s, const char *base, size_t n,
    const char *suffix)
{
	const char *name = arena_printf(s->g->arena, "%.*s%s", (int)n, base,
	    suffix);
	struct stat st;

	return fstatat(s->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(st.st_mode);
}

/*
 * A database of SQLite in use, which has its log and its index beside it: all
 * who have it open must have the same three files.
 */
static bool
is_live_database(const struct shading *s, const char *name)
{
	static const char *const parts[] = { "-wal", "-shm", "-journal" };
	static const char *const ends[] = { ".db", ".sqlite", ".sqlite3" };
	size_t n = strlen(name);
	bool is_database = false;

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		size_t k = strlen(parts[i]);

		if (n > k && strcmp(name + n - k, parts[i]) == 0) {
			n -= k;
			break;
		}
	}
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		size_t k = strlen(ends[i]);

		is_database |= n > k && strncmp(name + n - k, ends[i], k) == 0;
	}
	return is_database && has_file(s, name, n, "") &&
	    has_file(s, name, n, "-wal") && has_file(s, name, n, "-shm");
}

static void
add_other(struct shading *s, const char *name, const char *path,
    const struct stat *st)
{
	if (S_ISLNK(st->st_mode))
		add_item(s, name, SHADOW_CARRIED, false);
	else if (S_ISDIR(st->st_mode) || (S_ISREG(st->st_mode) &&
	    (!is_writable(s, path) || is_live_database(s, name))))
		bind_host(s, name, path, st);
	else if (S_ISREG(st->st_mode))
		add_item(s, name, agent_is_credential(s->agent, name) ?
		    SHADOW_CREDENTIAL : SHADOW_CARRIED, false);
	/* Nothing else is shown: a socket, a FIFO. */
}

static void
add_entry(struct shading *s, const char *given)
{
	const char *name = arena_strdup(s->g->arena, given);
	const char *path = arena_join(s->g->arena, s->path, name);
	const struct guard_name *row;
	struct stat st;

	if (fstatat(s->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	row = find_row(s, name);
	if (row != NULL && (row->places & GUARD_FRESH) != 0 &&
	    is_writable(s, path) && !is_opened(s, path))
		keep(s, row, name, path);
	else if (s->is_whole || row != NULL)
		add_guarded(s, row, name, path, &st);
	else
		add_other(s, name, path, &st);
}

static bool
has_item(const struct shading *s, const char *name)
{
	for (size_t i = 0; i < s->items.n; i++)
		if (strcmp(s->items.v[i].name, name) == 0)
			return true;
	return false;
}

/* Missing names that are guarded, and those that the policy denies. */
static void
add_missing(struct shading *s)
{
	struct gather *g = s->g;
	size_t n = strlen(s->path);

	for (const struct guard_name *row = guarded_names; row->name != NULL;
	    row++) {
		const char *rest = rest_of(s, row), *path;

		if (rest == NULL || rest[0] == '\0' || has_item(s, rest))
			continue;
		path = arena_join(g->arena, s->path, rest);
		if (strchr(rest, '*') != NULL) {
			guard_place_set(vec_push(&g->shadowed), path,
			    GUARD_PATTERN);
			continue;
		}
		if (is_writable(s, path) && !is_opened(s, path))
			keep(s, row, rest, path);
		else
			add_item(s, rest, SHADOW_KEPT, false);
	}
	for (size_t i = 0; i < g->facts->guards.n; i++) {
		const char *path = g->facts->guards.v[i].path;

		if (strncmp(path, s->path, n) == 0 && path[n] == '/' &&
		    strchr(path + n + 1, '/') == NULL &&
		    !has_item(s, path + n + 1))
			add_item(s, path + n + 1, SHADOW_KEPT, false);
	}
}

/* False: too many to be listed, or not to be read. */
static bool
add_entries(struct shading *s)
{
	int fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *de;

	if (d == NULL && fd >= 0)
		close(fd);
	while (d != NULL && (errno = 0, de = readdir(d)) != NULL &&
	    s->items.n < ITEMS_MAX)
		if (strcmp(de->d_name, ".") != 0 &&
		    strcmp(de->d_name, "..") != 0)
			add_entry(s, de->d_name);
	if (d != NULL && errno != 0)
		gather_lack(s->g, errno, s->path);
	if (d != NULL)
		closedir(d);
	return d != NULL && s->items.n < ITEMS_MAX;
}

/* ---- folders ---- */

static bool
is_exposed(const struct gather *g, const char *path)
{
	for (size_t i = 0; i < g->rq->nexposed; i++)
		if (str_path_below(path, g->rq->exposed[i].path) ||
		    str_path_below(g->rq->exposed[i].path, path))
			return true;
	return false;
}

/* By an entry, and by every layer. */
static bool
is_granted(struct shading *s)
{
	struct verdict v;

	if (!gather_is_granted(s->g, s->path) || is_exposed(s->g, s->path))
		return false;
	decide_fs(s->g->rq->policy, FS_WRITE, s->path, &v);
	return v.action == ACTION_ALLOW && v.rule.id == RULE_ENTRY &&
	    (!s->is_whole || !is_opened(s, s->path));
}

/* Planned as if it were there, and made before the run. */
static bool
plan_missing(struct shading *s, struct tree_node *ret)
{
	struct facts *f = s->g->facts;
	bool is_listed = false;

	/* A grant of the home as a whole means no folder in it that is not
	 * there: its names stay guarded. */
	if (!s->g->rq->as_if_made || is_writable(s, s->g->rq->policy->home) ||
	    strcmp(gather_real(s->g, s->path), s->path) != 0)
		return false;
	for (size_t i = 0; i < f->missing.n; i++)
		is_listed |= strcmp(f->missing.v[i].path, s->path) == 0;
	if (!is_listed)
		*vec_push(&f->missing) = (struct missing_dir){
		    .path = s->path };
	*ret = (struct tree_node){ .kind = TREE_DIR, .path = s->path,
	    .real = s->path };
	return true;
}

static bool
look(struct shading *s, struct tree_node *ret)
{
	gather_look(s->g, s->path, ret);
	if (ret->kind == TREE_MISSING)
		return !ret->is_closed && plan_missing(s, ret);
	if (ret->kind != TREE_DIR || strcmp(ret->real, s->path) != 0)
		return false;
	s->fd = open(s->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return s->fd >= 0;
}

/* Drops what was noted of a folder that stays the host's. */
static void
forget(struct shading *s, size_t nfacts, size_t nshadowed)
{
	s->g->facts->n = nfacts;
	s->g->shadowed.n = nshadowed;
}

/* A file of the agent's that lies beside the folder is seen in it, too. */
static void
add_beside(struct shading *s)
{
	struct gather *g = s->g;
	const struct agent_state *state = state_beside(g, s->agent->path);
	struct tree_node node = { .kind = TREE_FILE };

	/* Where the host has one of that name it is the agent's by choice. */
	if (state == NULL || has_item(s, state->file))
		return;
	node.path = node.real = arena_join(g->arena, s->path, state->file);
	add_item(s, state->file, SHADOW_BOUND, false);
	*vec_push(g->facts) = (struct mount_fact){ .kind = FACT_OTHER,
	    .node = node, .rule = &shadowed, .text = arena_join(g->arena,
	    g->rq->policy->home, state->file) };
	*vec_push(&g->facts->variables) = arena_printf(g->arena, "%s=%s",
	    state->variable, s->path);
}

static void
take(struct shading *s, const struct tree_node *node)
{
	struct gather *g = s->g;
	struct shadow_item *items = arena_alloc(g->arena, (s->items.n + 1) *
	    sizeof *items);

	memcpy(items, s->items.v, s->items.n * sizeof *items);
	*vec_push(&g->facts->shadows) = (struct shadow_folder){
	    .path = s->path, .items = items, .nitems = s->items.n,
	    .is_rest_carried = !s->is_whole };
	*vec_push(g->facts) = (struct mount_fact){ .kind = FACT_OTHER,
	    .node = *node, .rule = &shadowed,
	    .text = shadow_source(g->arena, g->rq->state, s->path) };
}

static void
shade(struct gather *g, const struct agent_folder *agent)
{
	struct shading s = { .g = g, .agent = agent, .fd = -1,
	    .path = arena_join(g->arena, g->rq->policy->home, agent->path) };
	size_t nfacts = g->facts->n, nshadowed = g->shadowed.n;
	struct tree_node node;

	s.is_whole = find_row(&s, "") != NULL;
	if (!is_granted(&s) || !look(&s, &node) ||
	    !shadow_may(g->rq->state, s.path)) {
		fd_close(&s.fd);
		return;
	}
	if (s.fd >= 0 && !add_entries(&s)) {
		forget(&s, nfacts, nshadowed);
	} else if (s.is_whole && s.items.n > 0) {
		/* Programs that the host has stay the host's. */
		forget(&s, nfacts, nshadowed);
	} else {
		if (s.is_whole)
			guard_place_set(vec_push(&g->shadowed), s.path, 0);
		add_missing(&s);
		add_beside(&s);
		take(&s, &node);
	}
	vec_release(&s.items);
	fd_close(&s.fd);
}

/* What runs with other policies were shown lies there. */
static void
hide_store(struct gather *g)
{
	static const char words[] = "fence's copies of agents' files";
	const char *path = g->facts->store;
	struct tree_node node;

	gather_look(g, path, &node);
	if (node.kind != TREE_MISSING) {
		gather_fact(g, FACT_DENY_READ, &node, gather_words(g, words));
		policy_hide(g->rq->policy, node.real, words);
	} else if (g->facts->shadows.n > 0 && g->rq->as_if_made)
		*vec_push(&g->facts->missing) = (struct missing_dir){
		    .path = path, .what = words };
}

void
shadow_facts(struct gather *g)
{
	if (g->rq->state == NULL)
		return;
	g->facts->store = shadow_store(g->arena, g->rq->state);
	for (const struct agent_folder *a = agent_folders;
	    a->path != NULL && g->rq->policy->home != NULL; a++)
		shade(g, a);
	hide_store(g);
}
