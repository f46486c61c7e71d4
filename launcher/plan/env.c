#include "launcher/plan/env.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "launcher/plan/direct.h"
#include "launcher/plan/proxyvars.h"
#include "platform/base/str.h"
#include "policy/decide.h"

enum { GIT_VARS = 5 };		/* of keep_reflogs() */

/* Set inside, whatever the host has and the policy says. */
static const char fixed[] = "FENCE_SANDBOX=1";

/* Gone from what the host has: a name, or a prefix that ends in '*'. */
static const char *const gone[] = {
	"LD_*", "DYLD_*",		/* the loader is ours alone */
	"FENCE_PRETEND", "FENCE_PAUSE_AT", "FENCE_ENGINE",
};

static size_t
name_len(const char *s)
{
	return strcspn(s, "=");
}

static bool
same_name(const char *a, const char *b)
{
	size_t n = name_len(a);

	return n == name_len(b) && strncmp(a, b, n) == 0;
}

bool
env_is_fixed(const char *var)
{
	return same_name(var, fixed);
}

bool
env_is_ours(const char *var)
{
	if (proxyvars_is(var) || env_is_fixed(var))
		return true;
	for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
		size_t n = strlen(gone[i]);

		if (gone[i][n - 1] == '*' ?
		    strncmp(var, gone[i], n - 1) == 0 :
		    same_name(var, gone[i]))
			return true;
	}
	return false;
}

/* NULL: not passed on. */
static char *
repair(struct arena *a, char *var, const struct env_dirs *dirs)
{
	const struct { const char *name, *value; } rows[] = {
		{ "TMPDIR", dirs->tmp }, { "XDG_RUNTIME_DIR", dirs->runtime },
	};

	if (strchr(var, '=') == NULL)
		return NULL;		/* not a variable at all */
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (same_name(var, rows[i].name))
			return rows[i].value == NULL ? NULL :
			    arena_printf(a, "%s=%s", rows[i].name,
			    rows[i].value);
	return var;
}

static bool
has_name(char *const *env, size_t n, const char *var)
{
	for (size_t i = 0; i < n; i++)
		if (same_name(env[i], var))
			return true;
	return false;
}

static bool
is_set_by_policy(const struct policy *p, const char *var)
{
	for (size_t i = 0; i < p->env.set.list.n; i++)
		if (same_name(var, p->env.set.list.v[i].name))
			return true;
	return false;
}

static bool
is_denied(const struct policy *p, const char *var)
{
	/* The policy's value takes its place. */
	return is_set_by_policy(p, var) || !decide_env(p, var);
}

/* A program built with gcc's ASan dies when anything is preloaded before
 * libasan, unless told not to mind. */
static char *
asan_options(struct arena *a, char *const *host)
{
	const char *asan = env_get(host, "ASAN_OPTIONS");

	return asan != NULL && asan[0] != '\0' ?
	    arena_printf(a, "ASAN_OPTIONS=%s:verify_asan_link_order=0", asan) :
	    arena_strdup(a, "ASAN_OPTIONS=verify_asan_link_order=0");
}

/*
 * Configuration of git that comes by variables goes behind what the host has
 * of it; where that has no number, or the policy speaks, there is none of ours.
 */
static size_t
keep_reflogs(struct arena *a, const struct policy *p, char **out, size_t n)
{
	static const char *const keys[] = { "gc.reflogExpire",
	    "gc.reflogExpireUnreachable" };
	const char *count;
	uint64_t at = 0;

	out[n] = NULL;
	count = env_get(out, "GIT_CONFIG_COUNT");
	if ((count != NULL && str_to_u64(str_of(count), 1000, &at) != 0) ||
	    is_set_by_policy(p, "GIT_CONFIG_COUNT"))
		return n;
	for (size_t i = 0, k = 0; i <= n; i++)
		if (i == n || !same_name(out[i], "GIT_CONFIG_COUNT"))
			out[k++] = out[i];
	n -= count != NULL;
	for (size_t i = 0; i < 2; i++, at++) {
		out[n++] = arena_printf(a, "GIT_CONFIG_KEY_%u=%s",
		    (unsigned)at, keys[i]);
		out[n++] = arena_printf(a, "GIT_CONFIG_VALUE_%u=never",
		    (unsigned)at);
	}
	out[n++] = arena_printf(a, "GIT_CONFIG_COUNT=%u", (unsigned)at);
	return n;
}

/* Where the network is the host's, so are its proxies. */
static bool
keeps_proxies(const struct policy *p)
{
	return direct_is(p) &&
	    p->net.proxy_variables.value != NET_PROXYVARS_OFF;
}

static bool
is_kept(const struct policy *p, const char *var)
{
	return keeps_proxies(p) && proxyvars_is(var);
}

char **
env_compose(struct arena *a, char *const *host, const struct policy *p,
    const struct env_dirs *dirs)
{
	const struct strlist *set = &p->env.set.list;
	char *ours;
	size_t n = 0, k = 0;
	char **out;

	while (host[n] != NULL)
		n++;
	out = arena_alloc(a, (n + proxyvars_count() +
	    set->n + 3 + GIT_VARS + dirs->nagents) * sizeof *out);
	for (size_t i = 0; i < n; i++) {
		char *var = repair(a, host[i], dirs);

		if (var != NULL &&
		    (!env_is_ours(var) || is_kept(p, var)) &&
		    !is_denied(p, var) && !same_name(var, "ASAN_OPTIONS"))
			out[k++] = keeps_proxies(p) ? var :
			    proxyvars_scrub(a, var);
	}
	for (size_t i = 0; i < set->n; i++)
		if (!env_is_fixed(set->v[i].name))
			out[k++] = arena_printf(a, "%s=%s", set->v[i].name,
			    set->v[i].text);
	out[k++] = arena_strdup(a, fixed);
	for (size_t i = 0; !direct_is(p) &&
	    (ours = proxyvars_nth(a, p, i)) != NULL; i++)
		if (!is_set_by_policy(p, ours))
			out[k++] = ours;
	if (!is_set_by_policy(p, "ASAN_OPTIONS"))
		out[k++] = asan_options(a, host);
	for (size_t i = 0; i < dirs->nagents; i++)
		if (!is_denied(p, dirs->agents[i]) &&
		    !has_name(out, k, dirs->agents[i]))
			out[k++] = arena_strdup(a, dirs->agents[i]);
	if (dirs->keeps_reflogs)
		k = keep_reflogs(a, p, out, k);
	out[k] = NULL;
	return out;
}
