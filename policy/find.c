#include "policy/find.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/base/arena.h"

static const char *const names[] = {
	"fence.jsonc", "fence.json", "fence.ini",
};

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static const char *
find_in(struct arena *a, const char *dir, const char *prefix)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *path = arena_printf(a, "%s/%s%s",
		    strcmp(dir, "/") == 0 ? "" : dir, prefix, names[i]);

		if (is_file(path))
			return path;
	}
	return NULL;
}

const char *
find_project(struct arena *a, const char *cwd)
{
	char *dir = arena_strdup(a, cwd);
	const char *found;
	char *slash;

	for (;;) {
		found = find_in(a, dir, "");
		if (found != NULL || strcmp(dir, "/") == 0)
			return found;
		slash = strrchr(dir, '/');
		if (slash == NULL)
			return NULL;
		slash[slash == dir ? 1 : 0] = '\0';
	}
}

static const char *
config_home(struct arena *a, const char *home, char *const *env)
{
	static const char name[] = "XDG_CONFIG_HOME=";

	for (; env != NULL && *env != NULL; env++)
		if (strncmp(*env, name, sizeof name - 1) == 0 &&
		    (*env)[sizeof name - 1] == '/')
			return *env + sizeof name - 1;
	return home != NULL ? arena_printf(a, "%s/.config", home) : NULL;
}

const char *
find_user(struct arena *a, const char *home, char *const *env,
    const char **ret_canonical)
{
	const char *config = config_home(a, home, env), *found = NULL;

	*ret_canonical = config != NULL ?
	    arena_printf(a, "%s/fence/fence.json", config) : NULL;
	if (config != NULL)
		found = find_in(a, arena_printf(a, "%s/fence", config), "");
	if (found == NULL && home != NULL)
		found = find_in(a, arena_printf(a,
		    "%s/Library/Application Support/fence", home), "");
	if (found == NULL && home != NULL)
		found = find_in(a, home, ".");
	return found;
}
