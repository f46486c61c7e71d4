#include <string.h>
#include <strings.h>

#include "policy/decide.h"

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
