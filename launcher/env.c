#include "launcher/env.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "launcher/direct.h"
#include "launcher/proxyvars.h"
#include "platform/base/str.h"
#include "policy/decide.h"

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

const char *
env_get(char *const *env, const char *name)
{
	for (; *env != NULL; env++)
		if (same_name(*env, name) && (*env)[name_len(*env)] == '=')
			return *env + name_len(*env) + 1;
	return NULL;
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

static bool
is_writable(const char *path, const char *const *roots, size_t nroots)
{
	for (size_t i = 0; i < nroots; i++)
		if (str_path_below(path, roots[i]))
			return true;
	return strcmp(path, "/tmp") == 0;
}

/* /run and /tmp are private: what points into the host's leads nowhere. */
static bool
is_stale(const char *var, const char *const *roots, size_t nroots)
{
	const char *value = strchr(var, '=');

	if (value == NULL)
		return true;		/* not a variable at all */
	value++;
	if (same_name(var, "XDG_RUNTIME_DIR"))
		return str_path_below(value, "/run") ||
		    str_path_below(value, "/tmp");
	if (same_name(var, "TMPDIR"))
		return !is_writable(value, roots, nroots);
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
    const char *const *roots, size_t nroots)
{
	const struct strlist *set = &p->env.set.list;
	char *ours;
	size_t n = 0, k = 0;
	char **out;

	while (host[n] != NULL)
		n++;
	out = arena_alloc(a, (n + proxyvars_count() +
	    set->n + 3) * sizeof *out);
	for (size_t i = 0; i < n; i++)
		if ((!env_is_ours(host[i]) || is_kept(p, host[i])) &&
		    !is_denied(p, host[i]) &&
		    !is_stale(host[i], roots, nroots) &&
		    !same_name(host[i], "ASAN_OPTIONS"))
			out[k++] = keeps_proxies(p) ? host[i] :
			    proxyvars_scrub(a, host[i]);
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
	out[k] = NULL;
	return out;
}
