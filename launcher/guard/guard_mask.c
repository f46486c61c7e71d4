/*
 * Mounts put back into the jail.  Entering its namespaces cannot be undone,
 * so a child does it, all paths at once.  It has the guard's own filter:
 * setns and the mount calls are in it, because a second process started
 * before the filter would have to wait beside every run for something that
 * hardly ever happens; and they give nothing that the guard did not have, the
 * right to administer a jail that its user owns.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/guard/guard_parts.h"
#include "platform/fd.h"
#include "platform/remask.h"

enum { MAX_STALE = 8 };

static void
read_proc(pid_t pid, const char *file, char *ret, size_t max)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
	if (fd_read_file(AT_FDCWD, path, ret, max) < 0)
		ret[0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

/*
 * A process that sees what the jail sees: jail_pid, or, if that is bwrap,
 * fence-init, its child, once bwrap is done.  0: not yet; -1: gone.
 */
static pid_t
inside(const struct guard *g)
{
	struct pollfd p = { .fd = g->jail_fd, .events = POLLIN };
	char comm[32], list[256], file[64];
	int pid = 0;

	if (g->jail_fd < 0 || poll(&p, 1, 0) != 0)
		return -1;
	read_proc(g->jail_pid, "comm", comm, sizeof comm);
	if (strcmp(comm, "bwrap") != 0)
		return g->jail_pid;
	snprintf(file, sizeof file, "task/%d/children", (int)g->jail_pid);
	read_proc(g->jail_pid, file, list, sizeof list);
	if (sscanf(list, "%d", &pid) != 1)
		return 0;
	read_proc(pid, "comm", comm, sizeof comm);
	return strcmp(comm, "fence-init") == 0 ? pid : 0;
}

static enum mount_kind
mount_for(enum guard_kind kind, mode_t mode)
{
	switch (kind) {
	case GUARD_WRITABLE:
		return MOUNT_RW;
	case GUARD_HIDDEN:
		return S_ISDIR(mode) ? MOUNT_MASK_DIR : MOUNT_MASK_FILE;
	default:
		return MOUNT_RO;
	}
}

/*
 * What a symlink leads to, as the host sees it now; a later change of what
 * lies between here and there goes unseen.
 */
struct target {
	char		path[PATH_MAX];
	struct stat	st;
};

static struct target *
find_target(const struct leaf *l)
{
	struct target *t = S_ISLNK(l->mode) ? malloc(sizeof *t) : NULL;

	if (t != NULL && realpath(l->path, t->path) != NULL &&
	    lstat(t->path, &t->st) == 0)
		return t;
	free(t);
	return NULL;
}

/*
 * In the child.  A symlink itself can be covered, too, which keeps it where
 * it is.  0: mounted, 1: there was nothing to do, -1 with errno.
 */
static int
put(const struct leaf *l, const struct target *t)
{
	int rc;

	if (S_ISLNK(l->mode) && l->kind == GUARD_WRITABLE) {
		errno = ELOOP;
		return -1;
	}
	rc = remask_put(l->path, mount_for(l->kind, l->mode), l->dev, l->ino);
	if (rc < 0 || t == NULL)
		return rc;
	if (remask_put(t->path, mount_for(l->kind, t->st.st_mode),
	    t->st.st_dev, t->st.st_ino) < 0 && errno != ENOENT)
		return -1;
	return rc;
}

static _Noreturn void
child(struct guard *g, pid_t pid)
{
	struct target **t = calloc(g->nleaves, sizeof *t);
	int sys = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (size_t i = 0; t != NULL && i < g->nleaves; i++)
		if (g->leaves[i].is_dirty)
			t[i] = find_target(&g->leaves[i]);
	if (t == NULL || remask_enter(pid) != 0)
		sys = errno;
	for (size_t i = 0; i < g->nleaves; i++) {
		int rc;

		if (!g->leaves[i].is_dirty)
			continue;
		rc = sys != 0 ? -1 : put(&g->leaves[i], t[i]);
		g->shared->results[i] = sys != 0 ? sys : rc < 0 ? errno : -rc;
	}
	_exit(0);
}

/* What lies there now may be another thing than what we saw. */
static void
look_again(struct leaf *l)
{
	struct stat st;

	l->is_dirty = l->nstale++ < MAX_STALE && lstat(l->path, &st) == 0;
	if (!l->is_dirty)
		return;
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	l->mode = st.st_mode;
}

static void
judge(struct guard *g, struct leaf *l, int result)
{
	if (result == ESTALE) {
		look_again(l);
		if (l->is_dirty)
			return;
	}
	l->is_dirty = false;
	l->nstale = 0;
	switch (result) {
	case 0:
		guard_say(g, l, GUARD_REMASKED, 0, NULL);
		break;
	case -1:	/* there is a mount already */
	case ENOENT:	/* the jail does not see it, or it is gone again */
	case ESRCH:	/* the jail is gone */
		break;
	default:
		guard_say(g, l, GUARD_FAILED, result, NULL);
	}
}

static bool
is_any_dirty(const struct guard *g)
{
	for (size_t i = 0; i < g->nleaves; i++)
		if (g->leaves[i].is_dirty)
			return true;
	return false;
}

bool
guard_mask(struct guard *g)
{
	pid_t pid, kid;

	if (g->is_final || !is_any_dirty(g))
		return true;
	pid = inside(g);
	if (pid == 0)
		return false;
	for (size_t i = 0; i < g->nleaves; i++)
		g->shared->results[i] = pid < 0 ? ESRCH : EIO;
	if (pid > 0) {
		kid = fork();
		if (kid == 0)
			child(g, pid);
		if (kid < 0)
			return false;
		while (waitpid(kid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	for (size_t i = 0; i < g->nleaves; i++)
		if (g->leaves[i].is_dirty)
			judge(g, &g->leaves[i], g->shared->results[i]);
	return !is_any_dirty(g);
}
