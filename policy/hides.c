#include "policy/hides.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "policy/decide.h"
#include "policy/flags.h"
#include "policy/pattern.h"

static bool
is_open(const struct policy *p, const struct pattern *place)
{
	struct verdict v;

	for (size_t i = 0; i < place->nalts; i++)
		if (is_open(p, place->alts[i]))
			return true;
	if (place->kind != PATTERN_PATH)
		return false;
	decide_fs(p, FS_READ, place->text, &v);
	return v.action == ACTION_ALLOW &&
	    v.rule.at.kind != ORIGIN_COMMAND_LINE;
}

/* Is the list inherited, and some of it opened on purpose? */
static bool
extends(const struct policy *p, const struct policy *builtin)
{
	const struct strlist *l = &p->fs.deny_read;

	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].at.file, builtin->name) == 0)
			return true;
	return false;
}

static const char *
describe(struct arena *a, const struct policy *p,
    const struct policy *builtin)
{
	const struct strlist *l = &builtin->fs.deny_read;
	const char *first = NULL;
	size_t n = 0, of = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (l->v[i].text[0] != '~')
			continue;	/* the system's: hidden always */
		of++;
		if (!is_open(p, l->v[i].pattern))
			continue;
		n++;
		first = first != NULL ? first : l->v[i].text;
	}
	return n == 0 ? NULL : arena_printf(a, "%s lets the command read %zu "
	    "of the %zu places of credentials that the built-in policy hides "
	    "(%s%s)%s", p->name, n, of, first, n > 1 ? ", ..." : "",
	    extends(p, builtin) ? "" :
	    ": \"extends\": \"workspace-write\" hides them, too");
}

const char *
hides_less(struct arena *a, const struct resolve_request *r,
    const struct resolved *res)
{
	struct policy_env env = { .workspace = res->workspace,
	    .home = r->home, .other_home = r->other_home,
	    .environ = r->environ };
	struct policy *builtin = NULL;
	const char *text = NULL;

	if (r->template_name != NULL || res->is_builtin_default ||
	    r->home == NULL)
		return NULL;
	if (policy_load_builtin("workspace-write", &env, &builtin, NULL) == 0)
		text = describe(a, res->policy, builtin);
	policy_free(builtin);
	return text;
}
