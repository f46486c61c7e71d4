/*
 * How platform/limits.h is done: by cgroups, where the host lets us make one.
 * Version 2 beside our own group or in it, version 1 in our own group of each
 * controller.
 */
#include "platform/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/xalloc.h"
#include "platform/confine.h"
#include "platform/fd.h"
#include "platform/linux/cgroup_text.h"
#include "platform/pause.h"

#define PREFIX		"fence-run-"

enum { TEXT_MAX = 64 * 1024, GROUP_MAX = CGROUP_TEXT_PATH + 64,
	REMOVE_MS = 10000, REMOVE_STEP_MS = 5 };

/* What a kind is called, in either version. */
static const struct kind {
	const char	*controller;
	const char	*max[2];
	/* Held to the same or to 0, where it exists; may fail. */
	const char	*swap[2];
	const char	*events[2];	/* file */
	const char	*word[2];	/* and the word before the count */
} kinds[LIMIT_NKINDS] = {
	[LIMIT_MEMORY] = { "memory",
	    { "memory.limit_in_bytes", "memory.max" },
	    { "memory.memsw.limit_in_bytes", "memory.swap.max" },
	    { "memory.oom_control", "memory.events" },
	    { "oom_kill", "oom_kill" } },
	[LIMIT_PROCESSES] = { "pids", { "pids.max", "pids.max" },
	    { NULL, NULL }, { "pids.events", "pids.events" },
	    { "max", "max" } },
};

/* One folder made; version 2 needs one for all kinds. */
struct group {
	char	path[GROUP_MAX];
	int	version;
	int	events_fd;
};

struct limit_group {
	struct group	 group[LIMIT_NKINDS];	/* "" for none */
	int		 join[LIMIT_NKINDS];
	size_t		 njoin;
	pid_t		 keeper;
	int		 keeper_fd;	/* its end is our end */
};

/* ---- the process that removes it ---- */

static void
remove_group(const char *path)
{
	for (int ms = 0; ms < REMOVE_MS && path[0] != '\0' &&
	    unlinkat(AT_FDCWD, path, AT_REMOVEDIR) != 0 && errno == EBUSY;
	    ms += REMOVE_STEP_MS)
		(void)poll(NULL, 0, REMOVE_STEP_MS);
}

/* Signals are blocked, as the launcher's are. */
static _Noreturn void
keeper_main(const struct limit_group *g, int fd)
{
	struct err e;
	char c;

	/* A group of its own: whoever kills ours leaves it. */
	(void)setpgid(0, 0);
	if (fd != 0 && dup3(fd, 0, O_CLOEXEC) < 0)
		_exit(1);
	(void)close_range(1, ~0u, 0);
	if (confine_keeper(&e) != 0)
		_exit(1);
	while (read(0, &c, 1) < 0 && errno == EINTR)
		continue;
	for (size_t i = 0; i < LIMIT_NKINDS; i++)
		remove_group(g->group[i].path);
	_exit(0);
}

static int
start_keeper(struct limit_group *g, struct err *e)
{
	int pipe_fd[2];

	if (pipe2(pipe_fd, O_CLOEXEC) != 0)
		return err_sys(e, errno, "cannot make a pipe");
	g->keeper = fork();
	if (g->keeper == 0) {
		close(pipe_fd[1]);
		keeper_main(g, pipe_fd[0]);
	}
	close(pipe_fd[0]);
	g->keeper_fd = pipe_fd[1];
	if (g->keeper < 0) {
		g->keeper = 0;
		return err_sys(e, errno, "cannot fork");
	}
	return 0;
}

/* ---- where ---- */

/* Groups whose run, and whose keeper, were killed. */
static void
sweep(const char *folder)
{
	DIR *dp = opendir(folder);
	struct dirent *d;
	int pid;

	while (dp != NULL && (d = readdir(dp)) != NULL)
		if (sscanf(d->d_name, PREFIX "%d", &pid) == 1 &&
		    kill(pid, 0) != 0 && errno == ESRCH)
			(void)unlinkat(dirfd(dp), d->d_name, AT_REMOVEDIR);
	if (dp != NULL)
		closedir(dp);
}

static void
name_in(struct group *g, const char *folder, int version)
{
	sweep(folder);
	snprintf(g->path, sizeof g->path, "%s/" PREFIX "%d", folder,
	    (int)getpid());
	g->version = version;
}

/* May we make groups here, and would they have this controller? */
static bool
is_fit(const char *folder, const char *controller)
{
	char path[GROUP_MAX], text[256];

	snprintf(path, sizeof path, "%s/cgroup.subtree_control", folder);
	if (fd_read_file(AT_FDCWD, path, text, sizeof text) < 0 ||
	    !cgroup_has_word(text, controller))
		return false;
	snprintf(path, sizeof path, "%s/cgroup.procs", folder);
	return access(folder, W_OK | X_OK) == 0 && access(path, W_OK) == 0;
}

static bool
find_v2(const char *self, const char *mounts, const char *controller,
    struct group *ret)
{
	char own[CGROUP_TEXT_PATH], folder[CGROUP_TEXT_PATH];
	char *slash;

	if (cgroup_own(self, NULL, own) != 0 ||
	    cgroup_folder(mounts, NULL, own, folder) != 0)
		return false;
	if (!is_fit(folder, controller)) {
		/* A group with processes has no groups: a sibling. */
		slash = strrchr(folder, '/');
		if (slash == NULL || strcmp(own, "/") == 0)
			return false;
		*slash = '\0';
		if (!is_fit(folder, controller))
			return false;
	}
	name_in(ret, folder, 2);
	return true;
}

static bool
find_v1(const char *self, const char *mounts, const char *controller,
    struct group *ret)
{
	char own[CGROUP_TEXT_PATH], folder[CGROUP_TEXT_PATH];

	if (cgroup_own(self, controller, own) != 0 ||
	    cgroup_folder(mounts, controller, own, folder) != 0 ||
	    access(folder, W_OK | X_OK) != 0)
		return false;
	name_in(ret, folder, 1);
	return true;
}

static int
find(struct limit_group *g, const uint64_t *max, enum limit_kind *ret_kind,
    struct err *e)
{
	char *self = xcalloc(2, TEXT_MAX), *mounts = self + TEXT_MAX;
	int rc = 0;

	if (fd_read_file(AT_FDCWD, "/proc/self/cgroup", self, TEXT_MAX) < 0)
		self[0] = '\0';
	if (fd_read_file(AT_FDCWD, "/proc/self/mountinfo", mounts,
	    TEXT_MAX) < 0 && errno != EFBIG)
		mounts[0] = '\0';
	for (int i = 0; i < LIMIT_NKINDS && rc == 0; i++) {
		const char *name = kinds[i].controller;

		if (max[i] == 0)
			continue;
		*ret_kind = (enum limit_kind)i;
		if (pretend_lacks("nocgroup") ||
		    (!find_v2(self, mounts, name, &g->group[i]) &&
		    !find_v1(self, mounts, name, &g->group[i])))
			rc = err_set(e, ERR_JAIL, "only a cgroup can hold "
			    "this limit, and none with '%s' is delegated to "
			    "you here", name);
	}
	free(self);
	return rc;
}

/* ---- the group ---- */

static int
write_max(const struct group *g, const char *file, uint64_t value)
{
	char path[GROUP_MAX + 64], text[32];
	int n = snprintf(text, sizeof text, "%" PRIu64, value);
	auto_fd fd = -1;

	snprintf(path, sizeof path, "%s/%s", g->path, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, text, (size_t)n) == n ? 0 : -1;
}

static int
open_in(const struct group *g, const char *file, int flags)
{
	char path[GROUP_MAX + 64];

	snprintf(path, sizeof path, "%s/%s", g->path, file);
	return open(path, flags | O_CLOEXEC);
}

/* Once for a folder that two kinds share. */
static int
make_group(struct limit_group *g, int kind)
{
	struct group *own = &g->group[kind];
	int fd;

	for (int i = 0; i < kind; i++)
		if (strcmp(g->group[i].path, own->path) == 0)
			return 0;
	if (mkdir(own->path, 0755) != 0 ||
	    (fd = open_in(own, "cgroup.procs", O_WRONLY)) < 0)
		return -1;
	g->join[g->njoin++] = fd;
	return 0;
}

static int
hold(struct limit_group *g, int kind, uint64_t max)
{
	const struct kind *k = &kinds[kind];
	struct group *own = &g->group[kind];
	int v = own->version - 1;

	if (make_group(g, kind) != 0 ||
	    write_max(own, k->max[v], max) != 0)
		return -1;
	/* Without swap there is no such file; with it, 0 bytes of it. */
	if (k->swap[v] != NULL && write_max(own, k->swap[v],
	    v == 1 ? 0 : max) != 0 && errno != ENOENT &&
	    errno != EOPNOTSUPP)
		return -1;
	own->events_fd = open_in(own, k->events[v], O_RDONLY);
	return 0;
}

struct limit_group *
limit_group_new(const uint64_t max[LIMIT_NKINDS], enum limit_kind *ret_kind,
    struct err *e)
{
	struct limit_group *g = xcalloc(1, sizeof *g);

	g->keeper_fd = -1;
	for (int i = 0; i < LIMIT_NKINDS; i++)
		g->group[i].events_fd = g->join[i] = -1;
	if (find(g, max, ret_kind, e) != 0 || start_keeper(g, e) != 0)
		goto fail;
	for (int i = 0; i < LIMIT_NKINDS; i++) {
		if (max[i] == 0)
			continue;
		*ret_kind = (enum limit_kind)i;
		if (hold(g, i, max[i]) != 0) {
			err_sys(e, errno, "cannot make a cgroup '%s'",
			    g->group[i].path);
			goto fail;
		}
	}
	return g;
fail:
	limit_group_free(g);
	return NULL;
}

size_t
limit_group_join_fds(const struct limit_group *g, const int **ret_fds)
{
	*ret_fds = g->join;
	return g->njoin;
}

uint64_t
limit_group_hits(const struct limit_group *g, enum limit_kind kind)
{
	const struct group *own = &g->group[kind];
	const struct kind *k = &kinds[kind];
	char text[1024];
	ssize_t n;

	if (own->events_fd < 0)
		return 0;
	n = pread(own->events_fd, text, sizeof text - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	return cgroup_count(text, k->word[own->version - 1]);
}

void
limit_group_free(struct limit_group *g)
{
	if (g == NULL)
		return;
	for (size_t i = 0; i < g->njoin; i++)
		fd_close(&g->join[i]);
	for (int i = 0; i < LIMIT_NKINDS; i++)
		fd_close(&g->group[i].events_fd);
	fd_close(&g->keeper_fd);
	while (g->keeper > 0 && waitpid(g->keeper, NULL, 0) < 0 &&
	    errno == EINTR)
		continue;
	free(g);
}
