/* The parts of a jail that the launcher judges: programs, fence's own parts. */
#include "launcher/doctor/doctor.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "launcher/doctor/doctor_run.h"
#include "launcher/plan/env.h"
#include "platform/base/errname.h"
#include "platform/base/path.h"
#include "platform/paths.h"
#include "platform/pause.h"
#include "policy/trust.h"

enum { LOADED = 42, PART_MS = 5000 };

static const char *
errno_text(struct doctor *d, int sys)
{
	char room[ERRNAME_MAX];

	return arena_strdup(d->arena, errname(sys, room));
}

static void
fact_bwrap(struct doctor *d, struct machine_part *it)
{
	struct err e = { 0 };
	const char *path;
	char *argv[] = { (char *)"bwrap", (char *)"--version", NULL };
	struct doctor_run r = { .argv = argv, .env = d->env,
	    .limit_ms = PART_MS };

	if (paths_bwrap(d->arena, NULL, NULL, &path, &e) != 0) {
		machine_set(it, MACHINE_ABSENT, arena_strdup(d->arena, e.msg),
		    arena_strdup(d->arena, e.hint));
		return;
	}
	r.path = path;
	buf_init(&r.out, 256);
	buf_init(&r.err, 256);
	if (doctor_run(&r) != 0 || r.status != 0)
		machine_set(it, MACHINE_ABSENT, arena_printf(d->arena,
		    "%s does not run", path), "install the bubblewrap "
		    "package again");
	else {
		machine_set(it, MACHINE_STRICT, arena_printf(d->arena,
		    "%s, %.*s", path, (int)strcspn(r.out.data, "\n"),
		    r.out.data), NULL);
	}
	buf_release(&r.out);
	buf_release(&r.err);
}

/* ---- fence's own parts ---- */

static void
fact_parts(struct doctor *d, struct machine_part *it)
{
	static const char *const names[] = { "fence-init", "fence-net",
	    "fence-names", "fence-try" };
	struct err e = { 0 };
	const char *dir;

	if (paths_libexec(d->arena, &dir, &e) != 0) {
		machine_set(it, MACHINE_ABSENT, arena_strdup(d->arena, e.msg),
		    "make install");
		return;
	}
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (access(arena_printf(d->arena, "%s/%s", dir, names[i]),
		    X_OK) != 0) {
			machine_set(it, MACHINE_ABSENT, arena_printf(d->arena,
			    "%s/%s: %s", dir, names[i], errno_text(d,
			    errno)), "make install");
			return;
		}
	machine_set(it, MACHINE_STRICT, dir, NULL);
}

/* Loaded into a program outside; inside it comes by /etc/ld.so.preload. */
static void
fact_shim(struct doctor *d, struct machine_part *it)
{
	char *argv[] = { (char *)"fence-try", (char *)"shim", NULL };
	char *env[] = { NULL, NULL };
	struct doctor_run r = { .argv = argv, .env = env, .limit_ms = PART_MS };
	struct err e = { 0 };
	const char *dir;

	if (pretend_lacks("noshim") ||
	    paths_libexec(d->arena, &dir, &e) != 0) {
		machine_set(it, MACHINE_ABSENT, "it is not there",
		    "make install");
		return;
	}
	r.path = arena_printf(d->arena, "%s/fence-try", dir);
	env[0] = arena_printf(d->arena, "LD_PRELOAD=%s/libfence-shim.so",
	    dir);
	buf_init(&r.out, 256);
	buf_init(&r.err, 4096);
	if (doctor_run(&r) == 0 && r.status == LOADED)
		machine_set(it, MACHINE_STRICT, arena_printf(d->arena,
		    "%s/libfence-shim.so loads", dir), NULL);
	else
		machine_set(it, MACHINE_DEGRADED, arena_printf(d->arena, "%s/"
		    "libfence-shim.so does not load: refusals of files go "
		    "untold", dir), "make install, for this system's libc");
	buf_release(&r.out);
	buf_release(&r.err);
}

/* The nearest folder above path that exists. */
static const char *
nearest(struct doctor *d, const char *path)
{
	char *p = arena_strdup(d->arena, path);

	while (access(p, F_OK) != 0 && path_cut(p))
		continue;
	return p;
}

static void
fact_state(struct doctor *d, struct machine_part *it)
{
	const char *store = trust_store(d->arena, env_get(d->env, "HOME"),
	    d->env);
	const char *dir, *near;

	if (store == NULL) {
		machine_set(it, MACHINE_DEGRADED, "there is no HOME",
		    "set HOME, or XDG_STATE_HOME");
		return;
	}
	dir = path_dir(d->arena, store);
	near = nearest(d, dir);
	if (access(near, W_OK | X_OK) != 0)
		machine_set(it, MACHINE_DEGRADED, arena_printf(d->arena,
		    "%s: %s",
		    near, errno_text(d, errno)),
		    "make it writable to its owner, or set XDG_STATE_HOME");
	else
		machine_set(it, MACHINE_STRICT, dir, NULL);
}

/* ---- the table ---- */

static const struct {
	const char	*id;
	void		(*fn)(struct doctor *, struct machine_part *);
} rows[] = {
	{ "bwrap", fact_bwrap }, { "parts", fact_parts },
	{ "shim", fact_shim }, { "state", fact_state },
};

void
doctor_facts(struct doctor *d)
{
	struct machine *m = &d->machine;

	machine_try(d->arena, m);
	for (size_t i = 0; i < m->nparts; i++) {
		struct machine_part *it = &m->parts[i];

		if (strcmp(it->id, "bwrap") == 0)
			it->is_needed = strcmp(d->engine, "bwrap") == 0;
		for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
			if (strcmp(it->id, rows[k].id) == 0)
				rows[k].fn(d, it);
		assert(it->detail != NULL);
	}
}
