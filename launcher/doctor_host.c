/* What the host brings along: programs, limits, fence's own parts. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "launcher/doctor_facts.h"
#include "launcher/doctor_run.h"
#include "launcher/env.h"
#include "platform/fd.h"
#include "platform/limits.h"
#include "platform/linux/cure.h"
#include "platform/paths.h"
#include "platform/pause.h"
#include "policy/trust.h"

enum { WATCHES_LOW = 8192, INSTANCES_LOW = 16, LOADED = 42, PART_MS = 5000 };

void
doctor_fact_bwrap(struct doctor *d, struct doctor_item *it)
{
	struct err e = { 0 };
	const char *path;
	char *argv[] = { (char *)"bwrap", (char *)"--version", NULL };
	struct doctor_run r = { .argv = argv, .env = d->env,
	    .limit_ms = PART_MS };

	if (paths_bwrap(d->arena, NULL, NULL, &path, &e) != 0) {
		doctor_set(it, DOCTOR_ABSENT, arena_strdup(d->arena, e.msg),
		    arena_strdup(d->arena, e.hint));
		return;
	}
	r.path = path;
	buf_init(&r.out, 256);
	buf_init(&r.err, 256);
	if (doctor_run(&r) != 0 || r.status != 0)
		doctor_set(it, DOCTOR_ABSENT, arena_printf(d->arena,
		    "%s does not run", path), "install the bubblewrap "
		    "package again");
	else {
		doctor_set(it, DOCTOR_STRICT, arena_printf(d->arena,
		    "%s, %.*s", path, (int)strcspn(r.out.data, "\n"),
		    r.out.data), NULL);
	}
	buf_release(&r.out);
	buf_release(&r.err);
}

/* The number in a file below /proc/sys; -1 without one. */
static long
number_in(const char *path)
{
	char text[32];

	if (fd_read_file(AT_FDCWD, path, text, sizeof text) <= 0)
		return -1;
	return strtol(text, NULL, 10);
}

void
doctor_fact_inotify(struct doctor *d, struct doctor_item *it)
{
	long watches = number_in("/proc/sys/fs/inotify/max_user_watches");
	long instances = number_in("/proc/sys/fs/inotify/max_user_instances");
	auto_fd fd = inotify_init1(IN_CLOEXEC);
	const char *detail = arena_printf(d->arena, "%ld watches, %ld "
	    "instances a user", watches, instances);

	if (pretend_lacks("noinotify")) {
		fd_close(&fd);
		errno = ENOSYS;
	}
	if (fd < 0 || inotify_add_watch(fd, "/", IN_CREATE) < 0)
		doctor_set(it, DOCTOR_ABSENT, arena_printf(d->arena, "%s; %s",
		    doctor_errno(d, errno), detail),
		    "sysctl fs.inotify.max_user_instances=1024 "
		    "fs.inotify.max_user_watches=524288");
	else
		doctor_set(it, watches < WATCHES_LOW ||
		    instances < INSTANCES_LOW ? DOCTOR_DEGRADED :
		    DOCTOR_STRICT, detail,
		    "sysctl fs.inotify.max_user_instances=1024 "
		    "fs.inotify.max_user_watches=524288");
}

/* One is made, and goes again at once. */
void
doctor_fact_cgroup(struct doctor *d, struct doctor_item *it)
{
	const uint64_t max[LIMIT_NKINDS] = { [LIMIT_MEMORY] = 1u << 30,
	    [LIMIT_PROCESSES] = 1000 };
	enum limit_kind kind = LIMIT_MEMORY;
	struct err e = { 0 };
	struct limit_group *g = limit_group_new(max, &kind, &e);

	if (g != NULL)
		doctor_set(it, DOCTOR_STRICT, "a group was made, for memory "
		    "and processes", NULL);
	else
		doctor_set(it, DOCTOR_ABSENT, arena_printf(d->arena,
		    "%s: %s", kind == LIMIT_MEMORY ? "memory" : "processes",
		    e.msg), e.hint[0] != '\0' ? arena_strdup(d->arena,
		    e.hint) : "systemd-run --user --scope -p Delegate=yes "
		    "fence-run ...");
	limit_group_free(g);
}

void
doctor_fact_apparmor(struct doctor *d, struct doctor_item *it)
{
	bool restricts = cure_sysctl_is("/proc/sys/kernel/"
	    "apparmor_restrict_unprivileged_userns", "1");

	if (!restricts)
		doctor_set(it, DOCTOR_STRICT,
		    "user namespaces are not restricted", NULL);
	else if (mini_worked(&d->mini, MINI_MAPS))
		doctor_set(it, DOCTOR_STRICT, geteuid() == 0 ? "root is not "
		    "restricted" : "a profile permits fence", NULL);
	else
		doctor_set(it, DOCTOR_ABSENT,
		    "kernel.apparmor_restrict_unprivileged_userns is 1, "
		    "and no profile permits fence",
		    "apparmor_parser -r /etc/apparmor.d/fence (make install "
		    "puts it there; the same is share/fence/fence.apparmor)");
}

/* ---- fence's own parts ---- */

void
doctor_fact_parts(struct doctor *d, struct doctor_item *it)
{
	static const char *const names[] = { "fence-init", "fence-net",
	    "fence-names", "fence-try" };
	struct err e = { 0 };
	const char *dir;

	if (paths_libexec(d->arena, &dir, &e) != 0) {
		doctor_set(it, DOCTOR_ABSENT, arena_strdup(d->arena, e.msg),
		    "make install");
		return;
	}
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (access(arena_printf(d->arena, "%s/%s", dir, names[i]),
		    X_OK) != 0) {
			doctor_set(it, DOCTOR_ABSENT, arena_printf(d->arena,
			    "%s/%s: %s", dir, names[i], doctor_errno(d,
			    errno)), "make install");
			return;
		}
	doctor_set(it, DOCTOR_STRICT, dir, NULL);
}

/* Loaded into a program outside; inside it comes by /etc/ld.so.preload. */
void
doctor_fact_shim(struct doctor *d, struct doctor_item *it)
{
	char *argv[] = { (char *)"fence-try", (char *)"shim", NULL };
	char *env[] = { NULL, NULL };
	struct doctor_run r = { .argv = argv, .env = env, .limit_ms = PART_MS };
	struct err e = { 0 };
	const char *dir;

	if (pretend_lacks("noshim") ||
	    paths_libexec(d->arena, &dir, &e) != 0) {
		doctor_set(it, DOCTOR_ABSENT, "it is not there",
		    "make install");
		return;
	}
	r.path = arena_printf(d->arena, "%s/fence-try", dir);
	env[0] = arena_printf(d->arena, "LD_PRELOAD=%s/libfence-shim.so",
	    dir);
	buf_init(&r.out, 256);
	buf_init(&r.err, 4096);
	if (doctor_run(&r) == 0 && r.status == LOADED)
		doctor_set(it, DOCTOR_STRICT, arena_printf(d->arena,
		    "%s/libfence-shim.so loads", dir), NULL);
	else
		doctor_set(it, DOCTOR_DEGRADED, arena_printf(d->arena, "%s/"
		    "libfence-shim.so does not load: refusals of files go "
		    "untold", dir), "make install, for this system's libc");
	buf_release(&r.out);
	buf_release(&r.err);
}

/* The nearest folder above path that exists. */
static const char *
nearest(struct doctor *d, const char *path)
{
	char *p = arena_strdup(d->arena, path), *slash;

	while (access(p, F_OK) != 0 && (slash = strrchr(p, '/')) != NULL &&
	    slash != p)
		*slash = '\0';
	return p;
}

void
doctor_fact_state(struct doctor *d, struct doctor_item *it)
{
	const char *store = trust_store(d->arena, env_get(d->env, "HOME"),
	    d->env);
	const char *dir, *near;

	if (store == NULL) {
		doctor_set(it, DOCTOR_DEGRADED, "there is no HOME",
		    "set HOME, or XDG_STATE_HOME");
		return;
	}
	dir = arena_strndup(d->arena, store, (size_t)(strrchr(store, '/') -
	    store));
	near = nearest(d, dir);
	if (access(near, W_OK | X_OK) != 0)
		doctor_set(it, DOCTOR_DEGRADED, arena_printf(d->arena, "%s: %s",
		    near, doctor_errno(d, errno)),
		    "make it writable to its owner, or set XDG_STATE_HOME");
	else
		doctor_set(it, DOCTOR_STRICT, dir, NULL);
}
