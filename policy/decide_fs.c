#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "platform/base/buf.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "policy/decide.h"
#include "policy/flags.h"
#include "policy/guard.h"
#include "policy/index.h"
#include "policy/pattern.h"
#include "policy/verdict.h"

static const size_t key_of[FS_NLISTS] = {
	[FS_ALLOW_READ] = KEY_OF(fs.allow_read),
	[FS_ALLOW_EXECUTE] = KEY_OF(fs.allow_execute),
	[FS_ALLOW_WRITE] = KEY_OF(fs.allow_write),
	[FS_DENY_WRITE] = KEY_OF(fs.deny_write),
	[FS_DENY_READ] = KEY_OF(fs.deny_read),
};

static enum fs_list
list_of(size_t key)
{
	enum fs_list list = 0;

	while (list < FS_NLISTS - 1 && key_of[list] != key)
		list++;
	return list;
}

#define BIT(list)	(1u << (list))

enum {
	READ_LISTS = BIT(FS_ALLOW_READ) | BIT(FS_ALLOW_EXECUTE) |
	    BIT(FS_ALLOW_WRITE) | BIT(FS_DENY_READ),
	WRITE_LISTS = BIT(FS_ALLOW_WRITE) | BIT(FS_DENY_WRITE) |
	    BIT(FS_DENY_READ),
};

static const struct origin nowhere = { "<built-in>", 0, 0, ORIGIN_BUILT_IN };

/* Every jail has these of its own, writable whatever the policy says. */
static const char *const built_in[] = {
	"/tmp", "/dev/shm", "/dev/null", "/dev/zero", "/dev/full",
	"/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts",
	"/dev/console", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr",
};

/*
 * The jail's own in every run, or what it stands on: writable where an entry
 * names something in them, not as a part of "/".
 */
static const char *const beyond_all[] = { "/etc", "/proc", "/sys", "/dev",
    "/run", "/tmp" };

/* Also its own, and readable in every mode. */
static const char *const readable_own[] = { "/proc", "/dev" };

/* What filesystem.defaultDenyRead leaves readable ... */
static const char *const readable[] = {
	"/bin", "/sbin", "/usr", "/lib", "/lib64", "/lib32", "/etc", "/sys",
	"/opt", "/run", "/nix", "/snap", "/System", "/Library",
	"/Applications", "/private/etc", "/private/var/db",
	"/private/var/run", "/private/tmp",
};

/* ... and below the home directory: the user's tool chains. */
static const char *const readable_home[] = {
	".nvm", ".fnm", ".volta", ".n", ".pyenv", ".local/pipx", ".rbenv",
	".rvm", ".cargo/bin", ".rustup", "go/bin", ".go", ".local/bin", "bin",
	".bun/bin", ".deno/bin",
};

#define N_OF(a)		(sizeof (a) / sizeof *(a))

/* The longest match; at equal length the denial. */
struct best {
	size_t		len;		/* 0: none */
	size_t		entry;
	enum fs_list	list;
	bool		is_alias;	/* through a symlink */
};

static enum action
action_of(enum fs_list list)
{
	return list == FS_DENY_READ || list == FS_DENY_WRITE ? ACTION_DENY :
	    ACTION_ALLOW;
}

/* Who speaks where both are as long: denials, but a flag over a file. */
static unsigned
rank(const struct policy *p, const struct best *b)
{
	const struct entry *entry = &fs_list_of(p, b->list)->v[b->entry];
	bool is_flag = p->flags_win && flags_made(entry);

	if (action_of(b->list) == ACTION_ALLOW)
		return is_flag ? 2 : 0;
	return is_flag || entry->because != 0 ? 3 : 1;
}

/*
 * What entries mean behind a symlink.  A denial is as long as the path there;
 * a grant only fills the place of a rule that is missing, so that no link
 * leads around a denial.
 */
static struct best
find_alias(const struct policy *p, const char *path, unsigned want,
    struct best best)
{
	bool is_free = best.len == 0;
	size_t len = strlen(path);

	for (size_t i = 0; i < p->fs.naliases; i++) {
		const struct fs_alias *a = &p->fs.aliases[i];
		enum fs_list list;
		size_t n = a->len;

		/* There may be thousands, asked for each path of a plan. */
		if (n > len || (n > 1 && path[n] != '/' && path[n] != '\0') ||
		    !str_path_below(path, a->real))
			continue;
		list = list_of(a->list);
		if ((want & BIT(list)) == 0)
			continue;
		if (action_of(list) == ACTION_DENY ? n >= best.len :
		    is_free && n > best.len)
			best = (struct best){ n, a->entry, list, true };
		is_free &= action_of(list) == ACTION_ALLOW;
	}
	return best;
}

bool
decide_is_in_all(const char *path)
{
	for (size_t i = 0; i < N_OF(beyond_all); i++)
		if (str_path_below(path, beyond_all[i]))
			return false;
	return true;
}

static struct best
find_best(const struct policy *p, const char *path, unsigned want)
{
	struct fs_match m[FS_NLISTS];
	struct best best = { 0 };

	fs_index_find(p, path, want, m);
	if (m[FS_ALLOW_WRITE].len == 1 && (want & BIT(FS_ALLOW_READ)) == 0 &&
	    !decide_is_in_all(path))
		m[FS_ALLOW_WRITE].len = 0;	/* "/" */
	for (unsigned list = 0; list < FS_NLISTS; list++) {
		struct best next = { m[list].len, m[list].entry, list, false };

		if ((want & BIT(list)) != 0 && next.len != 0 &&
		    (next.len > best.len || (next.len == best.len &&
		    rank(p, &next) > rank(p, &best))))
			best = next;
	}
	return p->fs.naliases > 0 ? find_alias(p, path, want, best) : best;
}

bool
decide_fs_flag(const struct policy *p, enum fs_op op, const char *path)
{
	struct best best = find_best(p, path, op == FS_WRITE ? WRITE_LISTS :
	    READ_LISTS);

	return best.len == strlen(path) && !best.is_alias &&
	    rank(p, &best) == 2;
}

/* Is it in the git directory that the workspace needs? */
static bool
is_in_git(const struct policy *p, const char *path)
{
	return p->fs.git_dir != NULL && str_path_below(path, p->fs.git_dir);
}

/*
 * The built-in place that covers the path, or NULL.  A workspace below /tmp,
 * and its git directory, are bound into the jail's own /tmp and no part of it.
 */
static const char *
find_built_in(const struct policy *p, const char *path)
{
	if (is_in_git(p, path))
		return NULL;
	for (size_t i = 0; i < N_OF(built_in); i++)
		if (path[1] == built_in[i][1] &&
		    str_path_below(path, built_in[i]))
			return str_path_below(p->workspace, built_in[i]) &&
			    str_path_below(path, p->workspace) ?
			    NULL : built_in[i];
	return NULL;
}

static void
allow_built_in(struct verdict *v, const char *place, const char *why)
{
	verdict_rule(v, ACTION_ALLOW, RULE_PLACE, place, nowhere);
	verdict_reason(v, "%s", why);
}

static void
allow_git(struct verdict *v)
{
	verdict_rule(v, ACTION_ALLOW, RULE_JAIL,
	    "the workspace's git directory", nowhere);
	verdict_reason(v, "the workspace's git directory");
}

static void
suggest(struct verdict *v, const struct policy *p, enum fs_list list,
    const char *path)
{
	verdict_remedy_path(v, key_of[list], p->home, path);
	verdict_flag(v);
}

/* A longer entry opens what an entry denies; at its own length none does. */
static void
tell_entry(struct verdict *v, const struct policy *p,
    const struct best *best, const struct fs_question *q)
{
	const struct strlist *l = fs_list_of(p, best->list);
	const struct entry *entry = &l->v[best->entry];

	if (best->entry == FS_ALIAS_DEFAULT) {
		allow_built_in(v, NULL, "readable by default");
		return;
	}
	verdict_entry(v, best->list == FS_DENY_READ ||
	    best->list == FS_DENY_WRITE ? ACTION_DENY : ACTION_ALLOW,
	    key_of[best->list], l, best->entry);
	if (v->action == ACTION_ALLOW) {
		verdict_reason(v, "allowed by path");
		return;
	}
	if (entry->because != 0) {	/* resolve.c, hide_secrets() */
		verdict_key(v, ACTION_DENY, entry->because, entry->at);
		verdict_reason(v, "the file holds a proxy's password");
		verdict_remedy(v, REMEDY_NO_PASSWORD, entry->because, NULL);
		return;
	}
	verdict_reason(v, "denied by path");
	if (best->len < strlen(q->path)) {
		suggest(v, p, q->op == FS_WRITE ? FS_ALLOW_WRITE :
		    FS_ALLOW_READ, q->path);
		return;
	}
	verdict_remedy(v, REMEDY_REMOVE, key_of[best->list], v->rule.text);
	if (q->op == FS_WRITE && find_built_in(p, q->path) == NULL &&
	    find_best(p, q->path, BIT(FS_ALLOW_WRITE)).len == 0)
		verdict_reason(v, "denied by path; "
		    "remove the entry, and allow the path");
}

/* Never shown to the command, whatever is granted. */
static bool
deny_hidden(const struct policy *p, const char *path, struct verdict *v)
{
	const struct strlist *l = &p->fs.hidden;

	for (size_t i = 0; i < l->n; i++) {
		if (!str_path_below(path, l->v[i].pattern->text))
			continue;
		verdict_rule(v, ACTION_DENY, RULE_OWN, l->v[i].text,
		    l->v[i].at);
		verdict_reason(v, "%s: no line opens it", l->v[i].text);
		return true;
	}
	return false;
}

/* fence's own files: no length of a grant opens them. */
static bool
deny_own(const struct policy *p, const char *path, struct verdict *v)
{
	const struct strlist *own = &p->fs.own;

	for (size_t i = 0; i < own->n; i++) {
		if (pattern_match_path(own->v[i].pattern, path) == 0)
			continue;
		verdict_rule(v, ACTION_DENY, RULE_OWN, own->v[i].text,
		    own->v[i].at);
		verdict_reason(v, "fence's own file: no line opens it");
		return true;
	}
	return false;
}

/*
 * An entry that names a path of len to n bytes.  "." means the workspace,
 * whatever its name; a glob names nothing.
 */
static bool
names_path(const struct entry *e, size_t len, size_t n)
{
	return e->pattern->len >= len && e->pattern->len <= n &&
	    e->pattern->kind == PATTERN_PATH &&
	    strcmp(e->text, ".") != 0 && strcmp(e->text, "./") != 0;
}

/*
 * Does an entry name the path, or a folder around it of at least len bytes?  A
 * longer match of a glob takes nothing from what that opens.
 */
static bool
is_named(const struct policy *p, const char *path, size_t len)
{
	const struct strlist *l = &p->fs.allow_write;
	size_t n = strlen(path);

	for (size_t i = 0; i < l->n; i++)
		if (names_path(&l->v[i], len, n) &&
		    str_path_below(path, l->v[i].pattern->text))
			return true;
	return false;
}

bool
decide_guard_may_open(const struct policy *p, const char *path)
{
	return p->fs.allow_git_config.value ||
	    is_named(p, path, strlen(path)) || (p->places != NULL &&
	    guard_shadowed(p->places, path) != 0);
}

static void
allow_shadowed(struct verdict *v)
{
	verdict_rule(v, ACTION_ALLOW, RULE_SHADOW, NULL, nowhere);
	verdict_reason(v, "an agent's guarded name: the command writes a "
	    "copy of the jail's own");
}

/*
 * Opened only by an entry that names it, or something in it, in full; and as
 * the jail's own copy.  False: it is not guarded, or opened.
 */
static bool
judge_guarded(const struct policy *p, const struct fs_question *q,
    const struct best *best, struct verdict *v)
{
	bool is_own = false;
	size_t len = q->guarded_len;

	if (len == 0 && (q->is_guarded || p->places != NULL))
		len = decide_guarded(p, q->path, &is_own);
	if (len == 0)
		return false;
	if (!is_own && best->len != 0 && is_named(p, q->path, len))
		return false;
	if (!is_own && p->places != NULL &&
	    guard_shadowed(p->places, q->path) != 0) {
		allow_shadowed(v);
		return true;
	}
	verdict_rule(v, ACTION_DENY, is_own ? RULE_OWN : RULE_GUARD, NULL,
	    nowhere);
	if (is_own) {
		verdict_reason(v, "fence's own file: no line opens it");
		return true;
	}
	verdict_reason(v, "a guarded name");
	suggest(v, p, FS_ALLOW_WRITE, q->path);
	return true;
}

static void
decide_write(const struct policy *p, const struct fs_question *q,
    struct verdict *v)
{
	const char *place = find_built_in(p, q->path);
	bool is_git = is_in_git(p, q->path);
	struct best best;

	if (deny_hidden(p, q->path, v) || deny_own(p, q->path, v))
		return;
	best = find_best(p, q->path, WRITE_LISTS);
	if (best.len != 0 && action_of(best.list) == ACTION_DENY &&
	    (place == NULL || best.len >= strlen(place))) {
		tell_entry(v, p, &best, q);
	} else if ((best.len != 0 || place != NULL || is_git) &&
	    judge_guarded(p, q, &best, v)) {
		return;
	} else if (place != NULL && best.len < strlen(place)) {
		allow_built_in(v, place, "the jail's own");
	} else if (best.len != 0) {
		tell_entry(v, p, &best, q);
	} else if (is_git) {
		allow_git(v);
	} else {
		verdict_default(v, ACTION_DENY, key_of[FS_ALLOW_WRITE],
		    &p->fs.allow_write);
		/* A file alone would not do: git writes a new one. */
		suggest(v, p, FS_ALLOW_WRITE, p->fs.git_top != NULL &&
		    str_path_below(q->path, p->fs.git_top) ? p->fs.git_top :
		    q->path);
	}
}

static const char *
find_readable(const struct policy *p, const char *path)
{
	size_t n;

	for (size_t i = 0; i < N_OF(readable); i++)
		if (str_path_below(path, readable[i]))
			return readable[i];
	if (p->home == NULL || !str_path_below(path, p->home))
		return NULL;
	path += strlen(p->home);
	for (size_t i = 0; i < N_OF(readable_home); i++) {
		n = strlen(readable_home[i]);
		if (path[0] == '/' &&
		    strncmp(path + 1, readable_home[i], n) == 0 &&
		    (path[n + 1] == '\0' || path[n + 1] == '/'))
			return readable_home[i];
	}
	return NULL;
}

void
decide_readable(const struct policy *p, void (*fn)(const char *, void *),
    void *arg)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < N_OF(readable); i++)
		fn(readable[i], arg);
	for (size_t i = 0; p->home != NULL && i < N_OF(readable_home); i++)
		if (snprintf(path, sizeof path, "%s/%s", p->home,
		    readable_home[i]) < (int)sizeof path)
			fn(path, arg);
}

static void
deny_by_mode(const struct policy *p, const struct fs_question *q,
    const char *reason, struct verdict *v)
{
	bool is_strict = p->fs.strict_deny_read.value;

	verdict_key(v, ACTION_DENY, is_strict ?
	    KEY_OF(fs.strict_deny_read) : KEY_OF(fs.default_deny_read),
	    is_strict ? p->fs.strict_deny_read.at :
	    p->fs.default_deny_read.at);
	verdict_reason(v, "%s", reason);
	suggest(v, p, FS_ALLOW_READ, q->path);
}

/* No entry speaks, and reading has to be granted. */
static void
decide_by_mode(const struct policy *p, const struct fs_question *q,
    struct verdict *v)
{
	bool is_strict = p->fs.strict_deny_read.value;
	const char *place = find_built_in(p, q->path);

	for (size_t i = 0; place == NULL && i < N_OF(readable_own); i++)
		if (str_path_below(q->path, readable_own[i]))
			place = readable_own[i];
	if (place != NULL) {
		allow_built_in(v, place, "the jail's own");
	} else if (!is_strict &&
	    (place = find_readable(p, q->path)) != NULL) {
		allow_built_in(v, place, "readable by default");
	} else {
		deny_by_mode(p, q, "no entry of filesystem.allowRead "
		    "matches", v);
	}
}

static void
decide_read(const struct policy *p, const struct fs_question *q,
    struct verdict *v)
{
	struct best best;

	if (deny_hidden(p, q->path, v))
		return;
	best = find_best(p, q->path, READ_LISTS);
	if (best.len != 0)
		tell_entry(v, p, &best, q);
	else if (is_in_git(p, q->path))
		allow_git(v);
	else if (p->fs.default_deny_read.value ||
	    p->fs.strict_deny_read.value)
		decide_by_mode(p, q, v);
	else
		verdict_default(v, ACTION_ALLOW, key_of[FS_DENY_READ],
		    &p->fs.deny_read);
}

/*
 * Is the path a part of something that is there to be listed?  The second wall
 * grants listing by the tree: what is shown around a folder is shown in it.
 */
static bool
is_listed(const struct policy *p, const char *path)
{
	static const char *const own[] = { "/proc", "/dev", "/run" };
	struct best best = find_best(p, path, BIT(FS_ALLOW_READ) |
	    BIT(FS_ALLOW_WRITE));
	const char *place = p->fs.strict_deny_read.value ? NULL :
	    find_readable(p, path);
	char around[PATH_MAX];
	struct verdict v;
	int n;

	if (find_built_in(p, path) != NULL)
		return true;
	for (size_t i = 0; i < N_OF(own); i++)
		if (str_path_below(path, own[i]))
			return true;
	if (best.len > 0 && best.len < sizeof around) {
		memcpy(around, path, best.len);
		around[best.len] = '\0';
		decide_read(p, &(struct fs_question){ .path = around }, &v);
		if (v.action == ACTION_ALLOW)
			return true;
	}
	if (place == NULL)
		return false;
	n = snprintf(around, sizeof around, place[0] == '/' ? "%s%s" :
	    "%s/%s", place[0] == '/' ? "" : p->home, place);
	if (n < 0 || (size_t)n >= sizeof around)
		return false;
	decide_read(p, &(struct fs_question){ .path = around }, &v);
	return v.action == ACTION_ALLOW;
}

static void
decide_list(const struct policy *p, const struct fs_question *q,
    struct verdict *v)
{
	decide_read(p, q, v);
	if (v->action == ACTION_ALLOW && v->rule.id == RULE_ENTRY &&
	    v->rule.key == KEY_OF(fs.allow_execute) &&
	    (p->fs.default_deny_read.value || p->fs.strict_deny_read.value) &&
	    !is_listed(p, q->path))
		deny_by_mode(p, q, "filesystem.allowExecute opens it without "
		    "its list of names", v);
}

bool
decide_may_unlist(const struct policy *p)
{
	for (; p != NULL; p = p->also)
		if (p->fs.allow_execute.n > 0)
			return true;
	return false;
}

static void
decide_layer(const struct policy *p, const struct fs_question *q,
    struct verdict *v)
{
	if (q->op == FS_WRITE)
		decide_write(p, q, v);
	else if (q->op == FS_LIST)
		decide_list(p, q, v);
	else
		decide_read(p, q, v);
}

void
decide_fs_ask(const struct policy *p, const struct fs_question *q,
    struct verdict *v)
{
	struct verdict other;

	decide_layer(p, q, v);
	for (const struct policy *l = p->also;
	    l != NULL && v->action == ACTION_ALLOW; l = l->also) {
		decide_layer(l, q, &other);
		if (other.action == ACTION_ALLOW)
			continue;
		*v = other;
		/* The command line adds to the first layer alone. */
		v->remedy.has_flag = false;
	}
}

void
decide_fs(const struct policy *p, enum fs_op op, const char *path,
    struct verdict *v)
{
	struct fs_question q = { .op = op, .path = path };

	decide_fs_ask(p, &q, v);
}
