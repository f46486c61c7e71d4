#include "policy/flags.h"

#include <stddef.h>
#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/str.h"
#include "policy/decide.h"
#include "policy/keys.h"
#include "policy/merge.h"
#include "policy/pattern.h"

/* NAME=VALUE */
static void
split_pair(struct arena *a, const char *pair, struct entry *ret)
{
	size_t n = strcspn(pair, "=");

	ret->name = arena_strndup(a, pair, n);
	ret->text = arena_strdup(a, pair + n + (pair[n] == '='));
}

static int
check_number(const struct key *key, struct entry *entry, struct err *e)
{
	struct str s = { entry->text, strlen(entry->text) };

	if (str_to_u64(s, key->max, &entry->number) == 0 &&
	    entry->number >= key->min)
		return 0;
	return err_set(e, ERR_USAGE, "'%.40s' is no number from %llu to %llu",
	    entry->text, (unsigned long long)key->min,
	    (unsigned long long)key->max);
}

static int
add_flags(struct policy *p, const struct policy_env *env, size_t offset,
    const char *flag, const struct resolve_list *l, struct err *e)
{
	const struct key *key = keys_at(offset);
	struct strlist *list = keys_strlist(key, p);

	if (l->n == 0)
		return 0;
	list->v = arena_alloc(p->arena, l->n * sizeof *list->v);
	list->is_set = true;
	for (size_t i = 0; i < l->n; i++) {
		struct entry *entry = &list->v[list->n];

		if (key->type == KEY_STRMAP)
			split_pair(p->arena, l->v[i], entry);
		else
			entry->text = arena_strdup(p->arena, l->v[i]);
		entry->at = (struct origin){ p->name, 0, 0, p->kind };
		if ((key->type == KEY_INTLIST ? check_number(key, entry, e) :
		    key->check(p, env, entry, e)) != 0) {
			if (e != NULL) {
				e->code = ERR_USAGE;
				e->where[0] = '\0';
				err_key(e, "%s", flag);
			}
			return -1;
		}
		list->n++;
	}
	return 0;
}

static const struct {
	size_t		 key;		/* KEY_OF() */
	const char	*flag;
	size_t		 offset;	/* into the request */
} flags[] = {
#define ROW(field)	offsetof(struct resolve_request, field)
	{ KEY_OF(net.allowed_domains), "--allow", ROW(allow) },
	{ KEY_OF(net.host_ports), "--host-port", ROW(host_port) },
	{ KEY_OF(fs.allow_write), "--write", ROW(write) },
	{ KEY_OF(fs.allow_read), "--read", ROW(read) },
	{ KEY_OF(fs.deny_read), "--deny-read", ROW(deny_read) },
	{ KEY_OF(env.set), "--env", ROW(env_set) },
	{ KEY_OF(env.allow), "--env", ROW(env_allow) },
#undef ROW
};

enum { NFLAGS = sizeof flags / sizeof *flags };

static const struct resolve_list *
flag_list(const struct resolve_request *r, size_t i)
{
	return (const void *)((const char *)r + flags[i].offset);
}

static bool
has_flags(const struct resolve_request *r)
{
	for (size_t i = 0; i < NFLAGS; i++)
		if (flag_list(r, i)->n > 0)
			return true;
	return r->force_new_session != TRI_AUTO;
}

/* Their paths are the shell's: cwd.  NULL: no flag, or ret_rc -1. */
static struct policy *
flags_policy(const struct resolve_request *r, int *ret_rc, struct err *e)
{
	struct policy_env env = { .workspace = r->cwd, .home = r->home,
	    .other_home = r->other_home, .environ = r->environ,
	    .kind = ORIGIN_COMMAND_LINE };
	struct policy *child;

	*ret_rc = 0;
	if (!has_flags(r))
		return NULL;
	child = policy_new(FLAGS_NAME, &env);
	if (r->force_new_session != TRI_AUTO)
		child->force_new_session = (struct tristate){
		    r->force_new_session, true, { child->name, 0, 0,
		    child->kind } };
	for (size_t i = 0; i < NFLAGS && *ret_rc == 0; i++)
		*ret_rc = add_flags(child, &env, flags[i].key, flags[i].flag,
		    flag_list(r, i), e);
	if (*ret_rc == 0)
		return child;
	policy_free(child);
	return NULL;
}

/* An entry that a file has, too, is the command line's word now. */
static void
mark(struct strlist *l, const struct strlist *flagged)
{
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < flagged->n; k++)
			if (pattern_equal(l->v[i].pattern,
			    flagged->v[k].pattern)) {
				l->v[i].at = flagged->v[k].at;
				l->v[i].text = flagged->v[k].text;
			}
}

/* Of two that are as long the first speaks: flags before files. */
static void
put_first(struct policy *p, struct strlist *l)
{
	struct entry *v = arena_alloc(p->arena, (l->n + 1) * sizeof *v);
	size_t n = 0;

	for (size_t turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < l->n; i++)
			if (flags_made(&l->v[i]) == (turn == 0))
				v[n++] = l->v[i];
	l->v = v;
}

bool
flags_made(const struct entry *entry)
{
	return entry->at.kind == ORIGIN_COMMAND_LINE;
}

int
flags_merge(const struct resolve_request *r, struct policy **p,
    struct err *e)
{
	struct policy *child, *merged;
	int rc;

	child = flags_policy(r, &rc, e);
	if (child == NULL)
		return rc;
	mark(&(*p)->fs.allow_read, &child->fs.allow_read);
	mark(&(*p)->fs.allow_write, &child->fs.allow_write);
	mark(&(*p)->fs.deny_read, &child->fs.deny_read);
	/* The result is called as the child is. */
	child->name = arena_strdup(child->arena, (*p)->name);
	child->kind = (*p)->kind;
	child->workspace = arena_strdup(child->arena, (*p)->workspace);
	merged = policy_merge(*p, child);
	put_first(merged, &merged->fs.allow_read);
	put_first(merged, &merged->fs.allow_write);
	policy_index(merged);
	policy_free(*p);
	policy_free(child);
	*p = merged;
	return 0;
}

/* ---- in vain ---- */

static int
fail_vain(const char *flag, const struct entry *entry, const struct rule *rule,
    const char *reason, struct err *e)
{
	struct buf b;

	err_set(e, ERR_POLICY, "%s '%.100s' has no effect: %s", flag,
	    entry->text, reason);
	if (rule->key == 0)
		return -1;	/* nothing that is written anywhere */
	buf_init(&b, 0);
	rule_put(&b, rule);
	err_key(e, "%s", b.data);
	err_where(e, rule->at.file, rule->at.line, rule->at.col);
	buf_release(&b);
	return -1;
}

static int
check_paths(const struct policy *first, const struct strlist *l,
    enum fs_op op, const char *flag, struct err *e)
{
	for (size_t i = 0; i < l->n; i++) {
		struct fs_question q = { .op = op, .is_guarded = true,
		    .path = l->v[i].pattern->text };
		struct verdict v;

		if (l->v[i].pattern->kind != PATTERN_PATH)
			continue;
		decide_fs_ask(first, &q, &v);
		if (v.action == ACTION_DENY)
			return fail_vain(flag, &l->v[i], &v.rule, v.reason, e);
	}
	return 0;
}

/* Does a denied entry mean all that the wildcard or the range means? */
static bool
covers(const struct pattern *denied, const struct pattern *asked)
{
	size_t n = strlen(denied->text), len = strlen(asked->text);

	if (denied->port != 0 && denied->port != asked->port)
		return false;
	if (denied->kind == PATTERN_ANY || pattern_equal(denied, asked))
		return true;
	return denied->kind == PATTERN_SUFFIX &&
	    asked->kind == PATTERN_SUFFIX && len >= n &&
	    strcmp(asked->text + len - n, denied->text) == 0 &&
	    (len == n || asked->text[len - n - 1] == '.');
}

static int
check_wildcard(const struct policy *first, const struct entry *asked,
    struct err *e)
{
	for (const struct policy *p = first; p != NULL; p = p->also) {
		const struct strlist *l = &p->net.denied_domains;

		for (size_t i = 0; i < l->n; i++)
			if (covers(l->v[i].pattern, asked->pattern))
				return fail_vain("--allow", asked,
				    &(struct rule){ .id = RULE_ENTRY,
				    .key = KEY_OF(net.denied_domains),
				    .index = i, .at = l->v[i].at },
				    "denied by name", e);
	}
	return 0;
}

static int
check_domains(const struct policy *first, const struct strlist *l,
    struct err *e)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct pattern *p = l->v[i].pattern;
		struct verdict v;

		if (p->kind != PATTERN_DOMAIN) {
			if (check_wildcard(first, &l->v[i], e) != 0)
				return -1;
			continue;
		}
		decide_net(first, &p->host, p->port, &v);
		if (v.action == ACTION_DENY)
			return fail_vain("--allow", &l->v[i], &v.rule,
			    v.reason, e);
	}
	return 0;
}

int
flags_check(const struct resolve_request *r, const struct policy *first,
    struct err *e)
{
	struct policy *child;
	int rc;

	child = flags_policy(r, &rc, e);
	if (child == NULL)
		return rc;
	rc = check_domains(first, &child->net.allowed_domains, e);
	if (rc == 0)
		rc = check_paths(first, &child->fs.allow_write, FS_WRITE,
		    "--write", e);
	if (rc == 0)
		rc = check_paths(first, &child->fs.allow_read, FS_READ,
		    "--read", e);
	policy_free(child);
	return rc;
}
