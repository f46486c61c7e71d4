/*
 * What lay under a name when the run began, held by a descriptor, so that its
 * inode number is nobody else's meanwhile; and what to think of something
 * else that lies there.
 *
 * The jail cannot remove or replace what a mount of its own covers.  Once the
 * host removed it, the name is free inside, and whoever makes it next may be
 * the jail: inotify does not say.  A rename over a name that was there all
 * the time, of which inotify tells without a removal before, was the host's.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/guard_parts.h"
#include "platform/fd.h"

enum { MAX_HELD = 256 };

static bool
is_held(const struct leaf *l)
{
	return guard_is_mounted(l) && l->kind != GUARD_WRITABLE &&
	    l->ino != 0;
}

/* The others of this process need theirs. */
static rlim_t
max_held(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) != 0)
		return 0;
	return lim.rlim_cur / 8 < MAX_HELD ? lim.rlim_cur / 8 : MAX_HELD;
}

/* Takes the descriptor, or -1. */
static void
held_set(struct leaf *l, int fd, const struct stat *st)
{
	fd_close(&l->held_fd);
	l->held_fd = fd;
	l->held_dev = st->st_dev;
	l->held_ino = st->st_ino;
	l->is_held_dir = S_ISDIR(st->st_mode);
}

/*
 * Before the command is there: what was replaced since the plan was made is
 * what is meant.
 */
void
guard_held_open(struct guard *g)
{
	rlim_t n = 0, max = max_held();

	for (size_t i = 0; i < g->nleaves; i++) {
		struct leaf *l = &g->leaves[i];
		struct stat st;
		int fd;

		if (!is_held(l))
			continue;
		l->was_there = true;
		fd = n < max ? open(l->path, O_PATH | O_NOFOLLOW |
		    O_CLOEXEC) : -1;
		if (fd >= 0 ? fstat(fd, &st) != 0 : lstat(l->path, &st) != 0) {
			fd_close(&fd);
			l->is_gone = errno == ENOENT;
			continue;
		}
		n += fd >= 0;
		held_set(l, fd, &st);
	}
}

void
guard_held_close(struct guard *g)
{
	for (size_t i = 0; i < g->nleaves; i++)
		fd_close(&g->leaves[i].held_fd);
}

bool
guard_held_is(const struct leaf *l, const struct stat *st)
{
	return l->held_dev == st->st_dev && l->held_ino == st->st_ino;
}

bool
guard_held_is_planted(const struct guard *g, const struct folder *f,
    const struct leaf *l, const struct stat *st, uint32_t event)
{
	if (!l->was_there || l->is_beyond)
		return false;
	if (l->is_gone || (event & IN_CREATE) != 0)
		return true;
	if (guard_held_is(l, st))
		return false;
	if (!f->is_first || l->is_held_dir || S_ISDIR(st->st_mode))
		return true;
	/* Unseen; but for what the process told before it died. */
	return (event & IN_MOVED_TO) == 0 && !(g->is_lost && l->is_replaced);
}

void
guard_held_replaced(struct leaf *l, int dir, const struct stat *st)
{
	int fd;

	if (!l->was_there || (guard_held_is(l, st) && !l->is_gone))
		return;
	fd = l->held_fd < 0 ? -1 : openat(dir, l->name->text, O_PATH |
	    O_NOFOLLOW | O_CLOEXEC);
	held_set(l, fd, st);
	l->is_replaced = !l->is_beyond;
}

void
guard_held_tell(struct guard *g)
{
	for (size_t i = 0; i < g->nleaves; i++) {
		struct leaf *l = &g->leaves[i];

		if (l->is_replaced && !l->is_gone)
			guard_say(g, l, GUARD_REPLACED, 0, NULL);
	}
}
