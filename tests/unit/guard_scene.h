/*
 * guard_scene: a folder of the test's own, W, with a guard on names in it,
 * shell lines that act there, and what the guard told.
 */
#ifndef FENCE_TESTS_GUARD_SCENE_H
#define FENCE_TESTS_GUARD_SCENE_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/guard/guard.h"

enum { LIMIT_MS = 30000, MAX_PATHS = 512, MAX_TOLD = 256 };

/* A folder on another file system, or NULL. */
static const char *scene_other;

struct scene {
	char		 top[64];	/* W is top/w */
	char		 keep[128];	/* quarantine */
	char		*names[MAX_PATHS];
	struct guard_path paths[MAX_PATHS];
	size_t		 npaths;
	unsigned	 max_planted;	/* 0: as usual */
	uint64_t	 max_bytes;
	struct guard	*g;
	pid_t		 jail;		/* stands in for it */
	struct told {
		enum guard_deed	 deed;
		char		 path[160], to[256];
		unsigned	 count;
		int		 sys;
	}		 told[MAX_TOLD];
	size_t		 ntold;
};

static inline int64_t
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/*
 * A shell line in W; $K is quarantine, $T the folder around W.  `any -f A B`:
 * is one of them a file?
 */
static inline int
sh(struct scene *s, const char *line)
{
	static const char any[] = "any() { op=$1; shift; for f; do "
	    "test $op \"$f\" && return; done; return 1; }\n";
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		char w[128], *text = NULL;

		snprintf(w, sizeof w, "%s/w", s->top);
		if (chdir(w) != 0)
			_exit(99);
		setenv("K", s->keep, 1);
		setenv("T", s->top, 1);
		if (asprintf(&text, "%s%s", any, line) < 0)
			_exit(99);
		execl("/bin/sh", "sh", "-c", text, (char *)NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline bool
holds(struct scene *s, const char *line)
{
	return sh(s, line) == 0;
}

/* A ceiling, no measurement. */
static inline bool
until(struct scene *s, const char *line)
{
	int64_t end = now_us() + LIMIT_MS * 1000;

	while (!holds(s, line)) {
		if (now_us() > end)
			return false;
		poll(NULL, 0, 10);
	}
	return true;
}

static inline void
on_told(const struct guard_told *t, void *arg)
{
	struct scene *s = arg;
	struct told *r = &s->told[s->ntold];

	assert_non_null(t->path);
	assert_true(t->count > 0);
	if (s->ntold == MAX_TOLD)
		return;
	s->ntold++;
	r->deed = t->deed;
	r->count = t->count;
	r->sys = t->sys;
	snprintf(r->path, sizeof r->path, "%s", t->path + strlen(s->top) + 3);
	snprintf(r->to, sizeof r->to, "%s", t->to != NULL ? t->to : "");
}

static inline struct told *
find_told(struct scene *s, enum guard_deed deed, const char *path)
{
	for (size_t i = 0; i < s->ntold; i++)
		if (s->told[i].deed == deed && (path == NULL ||
		    strcmp(s->told[i].path, path) == 0))
			return &s->told[i];
	return NULL;
}

static inline unsigned
count_told(struct scene *s, enum guard_deed deed)
{
	unsigned n = 0;

	for (size_t i = 0; i < s->ntold; i++)
		if (s->told[i].deed == deed)
			n += s->told[i].count;
	return n;
}

/* A path below W that is there already has its inode in the list. */
static inline void
add(struct scene *s, enum guard_kind kind, const char *name)
{
	struct guard_path *p = &s->paths[s->npaths];
	struct stat st;

	assert_true(s->npaths < MAX_PATHS);
	assert_true(asprintf(&s->names[s->npaths], "%s/w/%s", s->top,
	    name) > 0);
	*p = (struct guard_path){ .kind = kind,
	    .path = s->names[s->npaths] };
	if (lstat(p->path, &st) == 0) {
		p->dev = st.st_dev;
		p->ino = st.st_ino;
	}
	s->npaths++;
}

static inline struct scene *
scene_new(bool is_other)
{
	struct scene *s = calloc(1, sizeof *s);
	char w[128];

	assert_non_null(s);
	strcpy(s->top, "/var/tmp/fence-guard-XXXXXX");
	assert_non_null(mkdtemp(s->top));
	snprintf(w, sizeof w, "%s/w", s->top);
	assert_int_equal(mkdir(w, 0755), 0);
	assert_true(!is_other || scene_other != NULL);
	snprintf(s->keep, sizeof s->keep, "%s/state/fence/quarantine/run",
	    is_other ? scene_other : s->top);
	assert_int_equal(sh(s, "mkdir -p there/.git"), 0);
	return s;
}

static inline void
watch(struct scene *s)
{
	struct guard_config c = { .paths = s->paths, .npaths = s->npaths,
	    .max_planted = s->max_planted, .max_bytes = s->max_bytes,
	    .quarantine = s->keep[0] != '\0' ? s->keep : NULL };
	struct err e = { 0 };

	s->g = guard_new(&c, &e);
	if (s->g == NULL)
		err_print(&e, stderr);
	assert_non_null(s->g);
}

static inline void
start_in(struct scene *s, pid_t jail)
{
	struct err e = { 0 };

	assert_int_equal(guard_start(s->g, jail, &e), 0);
	assert_true(guard_fd(s->g) >= 0);
}

static inline void
start(struct scene *s)
{
	s->jail = fork();
	if (s->jail == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	start_in(s, s->jail);
	/* It watches after a while; what comes sooner is found, too. */
	poll(NULL, 0, 40);
}

static inline void
end_jail(struct scene *s)
{
	if (s->jail > 0) {
		kill(s->jail, SIGKILL);
		assert_int_equal(waitpid(s->jail, NULL, 0), s->jail);
	}
	s->jail = 0;
}

static inline int
finish(struct scene *s)
{
	end_jail(s);
	return guard_finish(s->g, on_told, s);
}

static inline void
scene_sweep(struct scene *s)
{
	setenv("OTHER", scene_other != NULL ? scene_other : s->top, 1);
	(void)sh(s, "chmod -R u+rwX \"$T\" \"$OTHER\" 2>/dev/null; cd / && "
	    "rm -rf \"$T\" \"$OTHER/state\"");
}

static inline void
scene_free(struct scene *s)
{
	guard_free(s->g);
	end_jail(s);
	scene_sweep(s);
	while (s->npaths > 0)
		free(s->names[--s->npaths]);
	free(s);
	/* Nothing of it is left, not even as a zombie. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static inline void
drain(struct scene *s)
{
	struct pollfd p = { .fd = guard_fd(s->g), .events = POLLIN };

	if (poll(&p, 1, 5) > 0)
		assert_int_equal(guard_ready(s->g, on_told, s), 0);
}

#endif
