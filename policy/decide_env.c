#include <string.h>
#include <strings.h>

#include "policy/decide.h"
#include "policy/verdict.h"

/* How names of secrets end (env.denySecrets). */
static const char *const secret_ends[] = { "_TOKEN", "_KEY", "_SECRET",
    "_SECRETS", "_PASSWORD", "_PASSWD", "_PASSPHRASE", "_CREDENTIALS",
    "_ACCESS_KEY_ID" };

static bool
is_secret(const char *var, size_t n)
{
	for (size_t i = 0; i < sizeof secret_ends / sizeof secret_ends[0];
	    i++) {
		size_t m = strlen(secret_ends[i]);

		if (n >= m && strncasecmp(var + n - m, secret_ends[i], m) == 0)
			return true;
	}
	return false;
}

/* Does an entry, NAME or PREFIX*, mean this variable? */
static bool
is_listed(const struct strlist *l, const char *var, size_t len)
{
	for (size_t i = 0; i < l->n; i++) {
		const char *text = l->v[i].text;
		size_t n = strlen(text);

		if (n > 0 && text[n - 1] == '*' ?
		    len >= n - 1 && strncmp(var, text, n - 1) == 0 :
		    len == n && strncmp(var, text, n) == 0)
			return true;
	}
	return false;
}

static bool
passes_layer(const struct policy *p, const char *var, size_t len)
{
	if (is_listed(&p->env.allow, var, len))
		return true;
	return !is_listed(&p->env.deny, var, len) &&
	    !(p->env.deny_secrets.value && is_secret(var, len));
}

bool
decide_env(const struct policy *p, const char *var)
{
	size_t len = strcspn(var, "=");

	for (; p != NULL; p = p->also)
		if (!passes_layer(p, var, len))
			return false;
	return true;
}

/* An empty one says nothing to the loader. */
static bool
loads_code(const char *var)
{
	static const char *const names[] = { "LD_PRELOAD", "LD_AUDIT",
	    "LD_LIBRARY_PATH", "LD_ORIGIN_PATH", "GCONV_PATH" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		size_t n = strlen(names[i]);

		if (strncmp(var, names[i], n) == 0 && var[n] == '=' &&
		    var[n + 1] != '\0')
			return true;
	}
	return false;
}

void
decide_loader(const struct policy *p, const char *var, struct verdict *ret)
{
	const struct policy *first = p;

	for (; p != NULL; p = p->also) {
		if (p->env.loader.value != ENV_LOADER_REFUSE ||
		    !loads_code(var))
			continue;
		verdict_key(ret, ACTION_DENY, KEY_OF(env.loader),
		    p->env.loader.at);
		verdict_reason(ret, "%.*s is set for a child",
		    (int)strcspn(var, "="), var);
		verdict_remedy(ret, REMEDY_SET, KEY_OF(env.loader),
		    "\"allow\"");
		return;
	}
	verdict_key(ret, ACTION_ALLOW, KEY_OF(env.loader),
	    first->env.loader.at);
}

bool
decide_loader_refuses(const struct policy *p)
{
	for (; p != NULL; p = p->also)
		if (p->env.loader.value == ENV_LOADER_REFUSE)
			return true;
	return false;
}
