#include "policy/covers.h"

#include <string.h>

#include "platform/base/arena.h"
#include "policy/decide.h"
#include "policy/pattern.h"

bool
covers_domain(const struct policy *user, const struct strlist *l,
    const struct entry *asked)
{
	const struct pattern *p = asked->pattern;
	struct verdict v;

	if (p->kind == PATTERN_DOMAIN) {
		decide_net(user, &p->host, 0, &v);
		return v.action == ACTION_ALLOW;
	}
	for (size_t i = 0; i < l->n; i++) {
		const struct pattern *q = l->v[i].pattern;

		if (q->kind == PATTERN_ANY)
			return true;
		if (q->kind == PATTERN_SUFFIX && p->kind == PATTERN_SUFFIX) {
			size_t n = strlen(p->text), m = strlen(q->text);

			if (n > m && p->text[n - m - 1] == '.' &&
			    strcmp(p->text + n - m, q->text) == 0)
				return true;
		}
	}
	return false;
}

static bool
covers_path(const struct policy *user, enum fs_op op,
    const struct pattern *p)
{
	struct verdict v;
	struct arena *a;
	size_t n;

	if (p->kind != PATTERN_GLOB) {
		decide_fs(user, op, p->text, &v);
		return v.action == ACTION_ALLOW;
	}
	n = strcspn(p->text, "*?[{\\");
	while (n > 1 && p->text[n - 1] != '/')
		n--;
	a = arena_new();
	decide_fs(user, op, n <= 1 ? "/" : arena_strndup(a, p->text, n - 1),
	    &v);
	arena_free(a);
	return v.action == ACTION_ALLOW;
}

bool
covers_read(const struct policy *user, const struct strlist *l,
    const struct entry *asked)
{
	(void)l;
	return covers_path(user, FS_READ, asked->pattern);
}

bool
covers_write(const struct policy *user, const struct strlist *l,
    const struct entry *asked)
{
	(void)l;
	return covers_path(user, FS_WRITE, asked->pattern);
}

bool
covers_exec(const struct policy *user, const struct strlist *l,
    const struct entry *asked)
{
	(void)l;
	return covers_path(user, FS_EXEC, asked->pattern);
}

/* Of the names that a pattern matches, some may be taken away. */
bool
covers_variable(const struct policy *user, const struct strlist *l,
    const struct entry *asked)
{
	(void)l;
	if (strchr(asked->text, '*') == NULL)
		return decide_env(user, asked->text);
	return user->env.deny.n == 0 && !user->env.deny_secrets.value;
}
