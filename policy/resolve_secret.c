#include "policy/resolve_work.h"

#include <string.h>

#include "platform/base/path.h"
#include "policy/merge.h"
#include "policy/pattern.h"
#include "policy/rule.h"

/* The file this was written in, if it holds a password; else NULL. */
static const char *
secret_file(const struct resolve_request *r, struct arena *a,
    const struct string *s)
{
	const char *path = s->at.file;

	if (!s->is_set || strcmp(s->text, s->shown) == 0 || path == NULL)
		return NULL;
	if (path[0] != '/')
		path = arena_printf(a, "%s/%s", r->cwd, path);
	return path_real(a, path);
}

/*
 * A policy that holds the password of a proxy in force is not for the command
 * to read: as if its own filesystem.denyRead named it.
 */
void
resolve_hide(const struct resolve_request *r, struct policy **p)
{
	const struct string *secrets[] = { &(*p)->net.upstream_proxy,
	    &(*p)->net.via };
	static const size_t keys[] = { KEY_OF(net.upstream_proxy),
	    KEY_OF(net.via) };
	struct policy_env env = { .workspace = (*p)->workspace,
	    .home = r->home, .other_home = r->other_home,
	    .environ = r->environ };
	struct policy *child = policy_new((*p)->name, &env), *merged;
	struct strlist *l = &child->fs.deny_read;

	l->v = arena_alloc(child->arena, 2 * sizeof *l->v);
	for (size_t i = 0; i < 2; i++) {
		const char *path = secret_file(r, child->arena, secrets[i]);
		struct pattern *pattern;

		if (path == NULL)
			continue;
		/* Not by its text, in which '$' and '*' mean something. */
		pattern = arena_alloc(child->arena, sizeof *pattern);
		*pattern = (struct pattern){ .kind = PATTERN_PATH,
		    .text = path };
		l->is_set = true;
		l->v[l->n++] = (struct entry){ .text = path, .because = keys[i],
		    .at = secrets[i]->at, .pattern = pattern };
	}
	if (l->n > 0) {
		merged = policy_merge(*p, child);
		merged->also = (*p)->also;
		policy_free(*p);
		*p = merged;
	}
	policy_free(child);
}
