#include "policy/flags.h"

#include <stddef.h>
#include <string.h>

#include "platform/base/arena.h"
#include "policy/keys.h"
#include "policy/merge.h"

/* NAME=VALUE */
static void
split_pair(struct arena *a, const char *pair, struct entry *ret)
{
	size_t n = strcspn(pair, "=");

	ret->name = arena_strndup(a, pair, n);
	ret->text = arena_strdup(a, pair + n + (pair[n] == '='));
}

static int
add_flags(struct policy *p, const struct policy_env *env, const char *name,
    const char *flag, const struct resolve_list *l, struct err *e)
{
	const struct key *key = NULL;
	struct strlist *list;
	char spelling[64];

	if (l->n == 0 || keys_find(name, &key, spelling, sizeof spelling) !=
	    KEY_FOUND)
		return 0;
	list = keys_strlist(key, p);
	list->v = arena_alloc(p->arena, l->n * sizeof *list->v);
	list->is_set = true;
	for (size_t i = 0; i < l->n; i++) {
		struct entry *entry = &list->v[list->n];

		if (key->type == KEY_STRMAP)
			split_pair(p->arena, l->v[i], entry);
		else
			entry->text = arena_strdup(p->arena, l->v[i]);
		entry->at = (struct origin){ p->name, 0, 0, p->kind };
		if (key->check(p, env, entry, e) != 0) {
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
	const char	*key;
	const char	*flag;
	size_t		 offset;	/* into the request */
} flags[] = {
#define ROW(field)	offsetof(struct resolve_request, field)
	{ "network.allowedDomains", "--allow", ROW(allow) },
	{ "filesystem.allowWrite", "--write", ROW(write) },
	{ "filesystem.allowRead", "--read", ROW(read) },
	{ "filesystem.denyRead", "--deny-read", ROW(deny_read) },
	{ "env.set", "--env", ROW(env_set) },
	{ "env.allow", "--env", ROW(env_allow) },
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

/* Their paths are the shell's: cwd. */
int
flags_merge(const struct resolve_request *r, struct policy **p,
    struct err *e)
{
	struct policy_env env = { .workspace = r->cwd, .home = r->home,
	    .other_home = r->other_home, .environ = r->environ,
	    .kind = ORIGIN_COMMAND_LINE };
	struct policy *child, *merged;
	int rc = 0;

	if (!has_flags(r))
		return 0;
	child = policy_new(FLAGS_NAME, &env);
	if (r->force_new_session != TRI_AUTO)
		child->force_new_session = (struct tristate){
		    r->force_new_session, true, { child->name, 0, 0,
		    child->kind } };
	for (size_t i = 0; i < NFLAGS && rc == 0; i++)
		rc = add_flags(child, &env, flags[i].key, flags[i].flag,
		    flag_list(r, i), e);
	if (rc == 0) {
		/* The result is called as the child is. */
		child->name = arena_strdup(child->arena, (*p)->name);
		child->kind = (*p)->kind;
		child->workspace = arena_strdup(child->arena,
		    (*p)->workspace);
		merged = policy_merge(*p, child);
		policy_free(*p);
		*p = merged;
	}
	policy_free(child);
	return rc;
}
