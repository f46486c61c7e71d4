/*
 * Folders that variables name.  /tmp and /run are private inside and most of
 * the rest is read-only: TMPDIR and XDG_RUNTIME_DIR lead to what can be used.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/plan/plan_work.h"
#include "platform/base/path.h"
#include "platform/base/str.h"

/*
 * Where most hosts have it, so that a socket there that the policy grants is
 * found by the variable, and never in /tmp, which may be the host's.
 */
const char *
plan_runtime(struct arena *a, char *const *env)
{
	const char *v = env_get(env, "XDG_RUNTIME_DIR");

	return v == NULL || v[0] == '\0' ? NULL : arena_printf(a,
	    "/run/user/%lu", (unsigned long)getuid());
}

/* The mount that a path lies in. */
static const struct jail_mount *
around(const struct jail_spec *spec, const char *path)
{
	size_t i = spec->nmounts;

	while (--i > 0 && !str_path_below(path, spec->mounts[i].path))
		continue;
	return &spec->mounts[i];
}

/* A folder of the host's in which the command may make files. */
static bool
is_usable(const struct work *w, const char *path)
{
	const char *real = path_real(w->arena, path);
	enum mount_kind kind;
	struct stat st;

	if (path[0] != '/' || real == NULL ||
	    stat(real, &st) != 0 || !S_ISDIR(st.st_mode) ||
	    access(real, W_OK | X_OK) != 0)
		return false;
	kind = around(&w->plan->spec, real)->kind;
	/* Inside another fence /tmp and the like are what they were. */
	return kind == MOUNT_RW || (w->plan->is_inside &&
	    (kind == MOUNT_TMPFS || kind == MOUNT_OWN));
}

static const char *
runtime_of(struct work *w, const char *value, const char *own)
{
	const struct jail_mount *m = around(&w->plan->spec, own);

	if (is_usable(w, value))
		return value;
	if (w->plan->is_inside)
		return NULL;
	/* Ours, or what the policy shows of the host's. */
	return m->kind == MOUNT_OWN || (m->kind == MOUNT_RO &&
	    str_path_below(m->path, "/run")) ? own : NULL;
}

void
plan_dirs(struct work *w, char *const *env, struct env_dirs *ret)
{
	const char *tmp = env_get(env, "TMPDIR");
	const char *own = plan_runtime(w->arena, env);

	*ret = (struct env_dirs){ 0 };
	if (tmp != NULL && tmp[0] != '\0')
		ret->tmp = is_usable(w, tmp) ? tmp : "/tmp";
	if (own != NULL)
		ret->runtime = runtime_of(w, env_get(env, "XDG_RUNTIME_DIR"),
		    own);
}
