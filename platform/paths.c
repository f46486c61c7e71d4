#include "platform/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/pause.h"

const char *
paths_self(struct arena *a)
{
	char exe[PATH_MAX];

	return path_read_link(AT_FDCWD, "/proc/self/exe", exe, sizeof exe) > 0
	    ? arena_strdup(a, exe) : NULL;
}

int
paths_libexec(struct arena *a, const char **ret, struct err *e)
{
	const char *exe = paths_self(a);
	size_t n;

	if (exe == NULL)
		return err_sys(e, errno, "cannot find the running program");
	n = path_dir_len(exe);
	if (n >= 4 && strncmp(exe + n - 4, "/bin", 4) == 0)
		n -= 4;
	*ret = arena_printf(a, "%.*s/libexec/fence", (int)n, exe);
	if (access(*ret, X_OK) != 0) {
		err_sys(e, errno, "fence's own parts are not at '%s'", *ret);
		err_hint(e, "bin/ and libexec/fence/ of one installation "
		    "belong together");
		return -1;
	}
	return 0;
}

/* Calls fn for each entry of a colon-separated list until it returns 1. */
static int
each_entry(const char *list, int (*fn)(const char *, size_t, void *),
    void *arg)
{
	for (const char *p = list; p != NULL;) {
		const char *end = strchr(p, ':');
		size_t n = end != NULL ? (size_t)(end - p) : strlen(p);

		if (fn(p, n, arg))
			return 1;
		p = end != NULL ? end + 1 : NULL;
	}
	return 0;
}

struct search {
	struct arena	*arena;
	const char	*name;
	bool		(*is_foreign)(const char *, void *);	/* bwrap only */
	void		*arg;
	const char	*found;
	const char	*refused;	/* exists, but may not be used */
	int		 sys;
};

static bool
is_program(const char *path, int *sys)
{
	struct stat st;

	if (stat(path, &st) != 0) {
		*sys = errno;
		return false;
	}
	if (!S_ISREG(st.st_mode) || access(path, X_OK) != 0) {
		*sys = EACCES;
		return false;
	}
	return true;
}

static int
try_bwrap(const char *dir, size_t n, void *arg)
{
	struct search *s = arg;
	const char *path, *real;
	struct stat st;
	int sys = 0;

	if (n == 0 || dir[0] != '/')
		return 0;
	path = arena_printf(s->arena, "%.*s/bwrap", (int)n, dir);
	if (!is_program(path, &sys) || (real = path_real(s->arena, path)) == NULL)
		return 0;
	if ((s->is_foreign != NULL && s->is_foreign(real, s->arg)) ||
	    stat(real, &st) != 0 || (st.st_mode & (S_ISUID | S_ISGID)) != 0) {
		s->refused = path;
		return 0;
	}
	s->found = real;
	return 1;
}

int
paths_bwrap(struct arena *a, bool (*is_foreign)(const char *, void *),
    void *arg, const char **ret, struct err *e)
{
	struct search s = { .arena = a, .is_foreign = is_foreign,
	    .arg = arg };
	const char *path = getenv("PATH");

	if (pretend_lacks("nobwrap") ||
	    (!each_entry(path != NULL ? path : "", try_bwrap, &s) &&
	    !each_entry("/usr/bin:/bin:/usr/local/bin:"
	    "/run/current-system/sw/bin", try_bwrap, &s))) {
		if (s.refused != NULL) {
			err_set(e, ERR_JAIL, "'%s' is not used: it is setuid "
			    "or the command may write it", s.refused);
			err_hint(e, "install the bubblewrap package of this "
			    "system, or --engine native");
		} else {
			err_set(e, ERR_JAIL, "bwrap is not installed");
			err_hint(e, "apt install bubblewrap (dnf, pacman, apk "
			    "and zypper know it by the same name)");
		}
		return -1;
	}
	*ret = s.found;
	return 0;
}

static int
try_program(const char *dir, size_t n, void *arg)
{
	struct search *s = arg;
	const char *path;
	int sys = 0;

	path = arena_printf(s->arena, "%.*s/%s", n > 0 ? (int)n : 1,
	    n > 0 ? dir : ".", s->name);
	if (is_program(path, &sys)) {
		s->found = path;
		return 1;
	}
	/* What is in a folder that we may not search, nobody knows. */
	if (sys == EACCES && access(path, F_OK) == 0)
		s->refused = path;
	return 0;
}

int
paths_program(struct arena *a, const char *name, const char *path_var,
    const char **ret, struct err *e)
{
	struct search s = { .arena = a, .name = name };
	int sys = 0;

	if (strchr(name, '/') != NULL) {
		s.found = arena_strdup(a, name);
		if (!is_program(s.found, &sys)) {
			if (sys == EACCES)
				s.refused = s.found;
			s.found = NULL;
		}
	} else if (name[0] != '\0')
		each_entry(path_var != NULL ? path_var : "/usr/bin:/bin",
		    try_program, &s);
	if (s.found != NULL) {
		*ret = s.found;
		return 0;
	}
	if (s.refused != NULL)
		return err_set(e, ERR_NOEXEC, "'%s' is not executable",
		    s.refused);
	return err_set(e, ERR_NOTFOUND, "'%s': command not found", name);
}
