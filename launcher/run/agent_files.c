#include "launcher/run/agent_files.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "launcher/guard/agentconf.h"
#include "launcher/guard/agentend.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "policy/guard.h"

enum { NAMES_MAX = 64 };

struct list {
	const struct plan	*plan;
	const char		*home;
	struct agentend_file	*v;
	size_t			 n;
};

/* Is something else than the workspace writable? */
static bool
has_grants(const struct plan *p)
{
	for (size_t i = 0; i < p->spec.nmounts; i++)
		if (p->spec.mounts[i].kind == MOUNT_RW &&
		    !p->spec.mounts[i].is_pin &&
		    (p->policy->workspace == NULL || strcmp(
		    p->spec.mounts[i].path, p->policy->workspace) != 0 ||
		    str_path_below(p->request.home, p->policy->workspace)))
			return true;
	return false;
}

/* By the last mount that covers it. */
static bool
is_writable(const struct plan *p, const char *path)
{
	bool may = false;

	for (size_t i = 0; i < p->spec.nmounts; i++)
		if (str_path_below(path, p->spec.mounts[i].path))
			may = p->spec.mounts[i].kind == MOUNT_RW;
	return may;
}

static bool
is_guarded(const struct plan *p, const char *path)
{
	bool is_own;

	return p->policy->places != NULL &&
	    guard_match(p->policy->places, path, false, &is_own) != 0;
}

/*
 * Where it lies, or would: without a symlink on the way.  NULL: nowhere, or a
 * symlink that leads to nothing.
 */
static const char *
real_place(struct arena *a, const char *path)
{
	const char *real = path_real(a, path), *dir = path;
	struct stat st;

	if (real != NULL)
		return real;
	if (lstat(path, &st) == 0)
		return NULL;
	do
		dir = path_dir(a, dir);
	while ((real = path_real(a, dir)) == NULL && dir[1] != '\0' &&
	    lstat(dir, &st) != 0);
	return real == NULL ? NULL : arena_printf(a, "%s%s", real[1] == '\0' ?
	    "" : real, path + (dir[1] == '\0' ? 0 : strlen(dir)));
}

static void
add(struct list *l, const char *path, const char *name)
{
	if (path == NULL || !is_writable(l->plan, path) ||
	    is_guarded(l->plan, path))
		return;
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].path, path) == 0)
			return;
	l->v[l->n++] = (struct agentend_file){ .path = path, .name = name };
}

/* A single granted file directly in the home, of a row with "*". */
static void
add_mount(struct list *l, const struct jail_mount *m)
{
	size_t n = path_dir_len(m->path);
	const char *name = path_name(m->path);

	if (m->kind == MOUNT_RW && strlen(l->home) == n &&
	    strncmp(m->path, l->home, n) == 0 &&
	    agentconf_find(name) != NULL)
		add(l, m->path, name);
}

/* The home itself is writable: what a row with "*" means in it. */
static void
add_names(struct list *l)
{
	DIR *d = is_writable(l->plan, l->home) ? opendir(l->home) : NULL;
	const struct dirent *e;
	size_t n = 0;

	while (d != NULL && n < NAMES_MAX && (e = readdir(d)) != NULL) {
		const struct agentconf_file *f = agentconf_find(e->d_name);

		if (f == NULL || strchr(f->name, '*') == NULL)
			continue;
		add(l, real_place(l->plan->arena, arena_join(l->plan->arena,
		    l->home, e->d_name)), arena_strdup(l->plan->arena,
		    e->d_name));
		n++;
	}
	if (d != NULL)
		closedir(d);
}

void
agent_files_plan(const struct plan *p, struct guard_config *c)
{
	struct list l = { .plan = p, .home = p->request.home };
	size_t nrows = 0;

	if (l.home == NULL || p->is_inside || !has_grants(p))
		return;
	while (agentconf_files[nrows].name != NULL)
		nrows++;
	l.v = arena_alloc(p->arena, (nrows + p->spec.nmounts + NAMES_MAX) *
	    sizeof *l.v);
	add_names(&l);
	for (size_t i = 0; i < p->spec.nmounts; i++)
		add_mount(&l, &p->spec.mounts[i]);
	for (size_t i = 0; i < nrows; i++)
		if (strchr(agentconf_files[i].name, '*') == NULL)
			add(&l, real_place(p->arena, arena_join(p->arena,
			    l.home, agentconf_files[i].name)),
			    agentconf_files[i].name);
	c->agent_files = l.v;
	c->nagent_files = l.n;
}
