#include <stdbool.h>
#include <string.h>

#include "platform/base/buf.h"
#include "platform/base/str.h"
#include "policy/decide.h"
#include "policy/pattern.h"
#include "policy/verdict.h"

static const char allow_write_key[] = "filesystem.allowWrite";
static const char deny_write_key[] = "filesystem.denyWrite";
static const char deny_read_key[] = "filesystem.denyRead";

/* Every jail has these of its own, writable whatever the policy says. */
static const char *const built_in[] = {
	"/tmp", "/dev/shm", "/dev/null", "/dev/zero", "/dev/full",
	"/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts",
	"/dev/console", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr",
};

/* The longest match so far. */
struct best {
	size_t			 len;		/* 0: none yet */
	enum action		 action;
	const char		*key;
	const struct strlist	*list;
	size_t			 i;
};

/* Denials are looked at last: at equal length they speak. */
static void
look(const struct strlist *list, const char *key, enum action action,
    const char *path, struct best *best)
{
	for (size_t i = 0; i < list->n; i++) {
		size_t len = pattern_match_path(list->v[i].pattern, path);

		if (len == 0 || len < best->len ||
		    (len == best->len && action == best->action))
			continue;
		*best = (struct best){ len, action, key, list, i };
	}
}

/*
 * The built-in place that covers the path, or NULL.  A workspace below /tmp
 * is bound into the jail's own /tmp and no part of it.
 */
static const char *
find_built_in(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < sizeof built_in / sizeof *built_in; i++)
		if (str_path_below(path, built_in[i]))
			return str_path_below(p->workspace, built_in[i]) &&
			    str_path_below(path, p->workspace) ?
			    NULL : built_in[i];
	return NULL;
}

static void
allow_built_in(struct verdict *v, const struct policy *p, const char *place)
{
	verdict_default(v, ACTION_ALLOW, "built-in", &p->fs.allow_write);
	v->rule_text = place;
	v->at = (struct origin){ "<built-in>", 0, 0 };
	verdict_reason(v, "the jail's own");
}

/* The path as an entry that means it and nothing else. */
static void
suggest_write(struct verdict *v, const struct policy *p, const char *path)
{
	size_t n = p->home != NULL ? strlen(p->home) : 0;
	struct buf b;

	buf_init(&b, sizeof v->remedy_value - 1);
	if (n > 1 && str_path_below(path, p->home)) {
		buf_putc(&b, '~');
		path += n;
	}
	for (; *path != '\0'; path++) {
		if (strchr("\\*?[$", *path) != NULL)
			buf_putc(&b, '\\');
		buf_putc(&b, *path);
	}
	if (!b.failed)
		verdict_remedy(v, allow_write_key, "%s", b.data);
	buf_release(&b);
}

static void
tell_entry(struct verdict *v, const struct best *best)
{
	verdict_entry(v, best->action, best->key, best->list, best->i);
	if (best->action == ACTION_ALLOW) {
		verdict_reason(v, "allowed by path");
		return;
	}
	verdict_reason(v, "denied by path");
	verdict_remedy(v, best->key, "(remove \"%s\")", v->rule_text);
}

/* fence's own files: no length of a grant opens them. */
static bool
deny_own(const struct policy *p, const char *path, struct verdict *v)
{
	const struct strlist *own = &p->fs.own;

	for (size_t i = 0; i < own->n; i++) {
		if (pattern_match_path(own->v[i].pattern, path) == 0)
			continue;
		verdict_default(v, ACTION_DENY, "built-in", own);
		v->rule_text = own->v[i].text;
		v->at = own->v[i].at;
		verdict_reason(v, "fence's own file: no line opens it");
		return true;
	}
	return false;
}

static void
decide_write(const struct policy *p, const char *path, struct verdict *v)
{
	const char *place = find_built_in(p, path);
	struct best best = { 0 };

	if (deny_own(p, path, v))
		return;
	look(&p->fs.allow_write, allow_write_key, ACTION_ALLOW, path, &best);
	look(&p->fs.deny_write, deny_write_key, ACTION_DENY, path, &best);
	look(&p->fs.deny_read, deny_read_key, ACTION_DENY, path, &best);
	if (place != NULL && best.len < strlen(place)) {
		allow_built_in(v, p, place);
	} else if (best.len != 0) {
		tell_entry(v, &best);
	} else {
		verdict_default(v, ACTION_DENY, allow_write_key,
		    &p->fs.allow_write);
		suggest_write(v, p, path);
	}
}

static void
decide_read(const struct policy *p, const char *path, struct verdict *v)
{
	struct best best = { 0 };

	look(&p->fs.allow_write, allow_write_key, ACTION_ALLOW, path, &best);
	look(&p->fs.deny_read, deny_read_key, ACTION_DENY, path, &best);
	if (best.len != 0)
		tell_entry(v, &best);
	else
		verdict_default(v, ACTION_ALLOW, deny_read_key,
		    &p->fs.deny_read);
}

void
decide_fs(const struct policy *p, enum fs_op op, const char *path,
    struct verdict *v)
{
	if (op == FS_WRITE)
		decide_write(p, path, v);
	else
		decide_read(p, path, v);
}
