#include "policy/find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/arena.h"
#include "platform/base/err.h"

static const char *const names[FIND_NAMES] = {
	"fence.jsonc", "fence.json", "fence.ini",
};

static int
fail_look(const char *path, int sys, struct err *e)
{
	err_set(e, ERR_POLICY, "cannot look for a policy at '%.200s'", path);
	if (e != NULL)
		e->sys = sys;
	err_hint(e, "make its folders searchable (chmod u+x), or remove what "
	    "is in the way");
	return -1;
}

/* Only what is not there is no file: 1 for a file, 0 for none, -1. */
static int
look(const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st) == 0)
		return S_ISREG(st.st_mode);
	return errno == ENOENT || errno == ENOTDIR ? 0 :
	    fail_look(path, errno, e);
}

static int
find_in(struct arena *a, const char *dir, const char *prefix,
    struct found *ret, struct err *e)
{
	ret->n = 0;
	for (size_t i = 0; i < FIND_NAMES; i++) {
		const char *path = arena_printf(a, "%s/%s%s",
		    strcmp(dir, "/") == 0 ? "" : dir, prefix, names[i]);
		int is = look(path, e);

		if (is < 0)
			return -1;
		if (is > 0)
			ret->path[ret->n++] = path;
	}
	return 0;
}

/* To its parent; false at the root. */
static bool
go_up(char *dir)
{
	char *slash = strrchr(dir, '/');

	if (slash == NULL || strcmp(dir, "/") == 0)
		return false;
	slash[slash == dir ? 1 : 0] = '\0';
	return true;
}

/*
 * A folder of somebody else that we may not search, at dir or above: no run
 * of ours has shut it.
 */
static bool
is_shut_by_others(struct arena *a, const char *dir)
{
	char *at = arena_strdup(a, dir);
	struct stat st;

	if (faccessat(AT_FDCWD, dir, X_OK, AT_EACCESS) == 0 ||
	    errno != EACCES)
		return false;
	while (lstat(at, &st) != 0)
		if (errno != EACCES || !go_up(at))
			return true;
	return st.st_uid != geteuid();
}

/* Nothing is found in what others have shut. */
static int
find_open(struct arena *a, const char *dir, struct found *ret, struct err *e)
{
	struct err shut = { 0 };

	if (find_in(a, dir, "", ret, &shut) == 0)
		return 0;
	ret->n = 0;
	if (shut.sys == EACCES && is_shut_by_others(a, dir))
		return 0;
	if (e != NULL)
		*e = shut;
	return -1;
}

int
find_project(struct arena *a, const char *cwd, struct found *ret,
    struct err *e)
{
	char *dir = arena_strdup(a, cwd);

	do {
		if (find_open(a, dir, ret, e) != 0)
			return -1;
	} while (ret->n == 0 && go_up(dir));
	return 0;
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

/* The one of a folder.  Which of two a run has put there, nobody knows. */
static int
find_one(struct arena *a, const char *dir, const char *prefix,
    const char **ret, struct err *e)
{
	struct found found;

	*ret = NULL;
	/* HOME may be another's: a container's user with root's. */
	if (is_shut_by_others(a, dir))
		return 0;
	if (find_in(a, dir, prefix, &found, e) != 0)
		return -1;
	if (found.n > 1) {
		err_set(e, ERR_POLICY, "two policies in one folder, this one "
		    "and '%.180s'", found.path[1]);
		err_where(e, found.path[0], 0, 0);
		err_hint(e, "read both and remove one");
		return -1;
	}
	*ret = found.n > 0 ? found.path[0] : NULL;
	return 0;
}

int
find_user(struct arena *a, const char *home, char *const *env,
    const char **ret, const char **ret_canonical, struct err *e)
{
	const char *config = config_home(a, home, env);

	*ret = NULL;
	*ret_canonical = config != NULL ?
	    arena_printf(a, "%s/fence/fence.json", config) : NULL;
	if (config != NULL && find_one(a, arena_printf(a, "%s/fence", config),
	    "", ret, e) != 0)
		return -1;
	if (*ret != NULL || home == NULL)
		return 0;
	if (find_one(a, arena_printf(a, "%s/Library/Application Support/fence",
	    home), "", ret, e) != 0)
		return -1;
	return *ret != NULL ? 0 : find_one(a, home, ".", ret, e);
}
