#include "launcher/env.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "platform/base/str.h"

#define PROXY_URL	"http://127.0.0.1:3128"
#define NO_PROXY_LIST	"localhost,127.0.0.1,::1"

/* Set inside, whatever the host has. */
static const char *const ours[] = {
	"FENCE_SANDBOX=1",
	"HTTP_PROXY=" PROXY_URL, "http_proxy=" PROXY_URL,
	"HTTPS_PROXY=" PROXY_URL, "https_proxy=" PROXY_URL,
	"ALL_PROXY=" PROXY_URL, "all_proxy=" PROXY_URL,
	"NO_PROXY=" NO_PROXY_LIST, "no_proxy=" NO_PROXY_LIST,
};

/* Gone from what the host has: a name, or a prefix that ends in '*'. */
static const char *const gone[] = {
	"LD_*", "DYLD_*",		/* the loader is ours alone */
	"FENCE_PRETEND", "FENCE_PAUSE_AT",
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

/* HTTP_PROXY, Ftp_Proxy, npm_config_https_proxy, npm_config_noproxy … */
static bool
is_proxy(const char *var)
{
	size_t n = name_len(var);

	return (n >= 6 && strncasecmp(var + n - 6, "_proxy", 6) == 0) ||
	    (n >= 8 && strncasecmp(var + n - 8, "_noproxy", 8) == 0);
}

static bool
is_gone(const char *var)
{
	if (is_proxy(var))
		return true;
	for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++) {
		size_t n = strlen(gone[i]);

		if (gone[i][n - 1] == '*' ?
		    strncmp(var, gone[i], n - 1) == 0 :
		    same_name(var, gone[i]))
			return true;
	}
	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
		if (same_name(var, ours[i]))
			return true;
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

char **
env_compose(struct arena *a, char *const *host, const char *const *roots,
    size_t nroots)
{
	size_t n = 0, k = 0;
	const char *asan;
	char **out;

	while (host[n] != NULL)
		n++;
	out = arena_alloc(a, (n + sizeof ours / sizeof ours[0] + 2) *
	    sizeof *out);
	for (size_t i = 0; i < n; i++)
		if (!is_gone(host[i]) &&
		    !is_stale(host[i], roots, nroots) &&
		    !same_name(host[i], "ASAN_OPTIONS"))
			out[k++] = host[i];
	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
		out[k++] = arena_strdup(a, ours[i]);
	/* A program built with gcc's ASan dies when anything is preloaded
	 * before libasan, unless told not to mind. */
	asan = env_get(host, "ASAN_OPTIONS");
	out[k++] = asan != NULL && asan[0] != '\0' ?
	    arena_printf(a, "ASAN_OPTIONS=%s:verify_asan_link_order=0", asan) :
	    arena_strdup(a, "ASAN_OPTIONS=verify_asan_link_order=0");
	out[k] = NULL;
	return out;
}
