/*
 * What lies under the names of the list: looked at when something happens
 * there, and all of it now and then.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/guard_parts.h"
#include "launcher/guard/guard_wide.h"
#include "platform/fd.h"

static void scan(struct guard *, struct folder *);

/* A folder of that name was made, moved in, or is looked at again. */
static void
enter(struct guard *g, struct folder *up, int up_fd, struct name *n)
{
	auto_fd fd = guard_open_below(up_fd, n->text);
	struct folder *f, *next;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return;
	for (f = g->folders; f != NULL; f = next) {
		next = f->next;
		if (f->up != up || f->name != n)
			continue;
		if (f->dev == st.st_dev && f->ino == st.st_ino) {
			scan(g, f);
			return;
		}
		/* One that was there before the run is the jail's for as
		 * long as it stands on it, wherever it was moved. */
		if (!f->is_first) {
			guard_folder_drop(g, f);
			next = g->folders;
		}
	}
	/* The host replaced a whole tree: what lies there is its own. */
	if (n->is_root)
		return;
	f = guard_folder_add(g, up, n, fd_take(&fd));
	if (f == NULL)
		return;
	f->is_near = up->is_near;
	if (guard_folder_watch(g, f, f->fd, true) != 0 && n->held != NULL)
		guard_say(g, n->held, GUARD_FAILED, errno, NULL);
	/* It may have been filled before it was watched. */
	scan(g, f);
	guard_folder_settle(g, f);
}

static void
link_again(struct guard *g, int fd, struct name *n)
{
	struct kept kept = { .name = n };

	if (symlinkat(n->leaf->text, fd, n->text) == 0)
		guard_say(g, n->leaf, GUARD_REMASKED, 0, &kept);
	else if (errno != EEXIST)
		guard_say(g, n->leaf, GUARD_FAILED, errno, &kept);
}

/* A link is made again at the end: until then somebody may be about to. */
static void
look_gone(struct guard *g, struct folder *up, int up_fd, struct name *n)
{
	struct folder *f, *next;

	if (n->leaf != NULL && up->is_first)
		n->leaf->is_gone = true;
	if (n->leaf != NULL && n->leaf->kind == GUARD_LINK && g->is_final)
		link_again(g, up_fd, n);
	if (n->nchild == 0)
		return;
	for (f = g->folders; f != NULL; f = next) {
		next = f->next;
		if (f->up == up && f->name == n && !f->is_first) {
			guard_folder_drop(g, f);
			next = g->folders;
		}
	}
}

/*
 * A read-only path that was removed is a name that must not appear.  A
 * symlink on the way to a guarded name makes that name exist somewhere else.
 */
static bool
is_unwanted(const struct guard *g, const struct folder *f, int fd,
    const struct name *n, const struct stat *st, uint32_t event)
{
	const struct leaf *l = n->leaf;
	char text[PATH_MAX];
	ssize_t len;

	if (l == NULL)
		return S_ISLNK(st->st_mode) && n->held != NULL && f->is_near;
	switch (l->kind) {
	case GUARD_ABSENT:
		return true;
	case GUARD_LINK:
		len = readlinkat(fd, n->text, text, sizeof text);
		return len < 0 || strlen(l->text) != (size_t)len ||
		    memcmp(text, l->text, (size_t)len) != 0;
	case GUARD_READONLY:
		return guard_held_is_planted(g, f, l, st, event);
	default:
		return false;
	}
}

static void
look_masked(struct guard *g, struct leaf *l, int fd, const struct stat *st,
    bool is_event)
{
	bool is_other = l->dev != st->st_dev || l->ino != st->st_ino;

	/* Read-only: with nothing to compare, what is there is meant. */
	if (l->ino == 0 && l->kind == GUARD_READONLY)
		is_other = false;
	guard_held_replaced(l, fd, st);
	l->dev = st->st_dev;
	l->ino = st->st_ino;
	l->mode = st->st_mode;
	l->is_gone = false;
	if ((is_event || is_other) && !g->is_final)
		l->is_dirty = true;
}

static void
look_there(struct guard *g, struct folder *f, int fd, struct name *n,
    const struct stat *st, uint32_t event)
{
	if (is_unwanted(g, f, fd, n, st, event)) {
		g->nfound++;
		if (guard_keep_take(g, fd, n) == 0 && n->leaf != NULL &&
		    n->leaf->kind == GUARD_LINK)
			link_again(g, fd, n);
		return;
	}
	if (n->leaf != NULL && guard_is_mounted(n->leaf))
		look_masked(g, n->leaf, fd, st, event != 0);
	if (n->nchild > 0 && S_ISDIR(st->st_mode))
		enter(g, f, fd, n);
	else if (n->nchild > 0 && n->leaf == NULL)
		look_gone(g, f, fd, n);
}

static void
look(struct guard *g, struct folder *f, struct name *n, uint32_t event)
{
	struct wide w = { .fd = -1 };
	auto_fd tmp = -1;
	int fd = guard_folder_fd(f, &tmp);
	struct stat st;
	int rc;

	if (fd < 0)
		return;
	rc = fstatat(fd, n->text, &st, AT_SYMLINK_NOFOLLOW);
	if (rc != 0 && errno == EACCES && wide_give(&w, fd, NULL) == 0)
		rc = fstatat(fd, n->text, &st, AT_SYMLINK_NOFOLLOW);
	if (rc != 0 && n->nchild > 0 && !f->is_full) {
		/* A folder on the way is missing: it may come back. */
		(void)guard_folder_watch(g, f, fd, true);
		rc = fstatat(fd, n->text, &st, AT_SYMLINK_NOFOLLOW);
	}
	if (rc == 0)
		look_there(g, f, fd, n, &st, event);
	else
		look_gone(g, f, fd, n);
	wide_back(&w);
}

static void
scan(struct guard *g, struct folder *f)
{
	f->seen = g->nsweeps;
	for (size_t i = 0; i < f->name->nchild && !f->is_dead; i++)
		look(g, f, f->name->child[i], 0);
}

/*
 * First by name from the top; then those folders that were there before the
 * run and lie elsewhere by now.
 */
void
guard_look_all(struct guard *g)
{
	struct folder *f = g->top;

	g->nsweeps++;
	g->must_sweep = false;
	while (f != NULL) {
		scan(g, f);
		for (f = g->folders; f != NULL; f = f->next)
			if (f->is_first && f->seen != g->nsweeps)
				break;
	}
	guard_folder_bury(g);
}

/* Events */

/* Another may lie under its name now, or soon. */
static void
moved(struct guard *g, struct folder *f)
{
	auto_fd tmp = -1;
	int fd;

	if (f->up == NULL || (fd = guard_folder_fd(f->up, &tmp)) < 0)
		return;
	(void)guard_folder_watch(g, f->up, fd, true);
	look(g, f->up, f->name, IN_MOVE_SELF);
}

static void
folder_event(struct guard *g, struct folder *f,
    const struct inotify_event *ev)
{
	struct name *n;

	if ((ev->mask & IN_IGNORED) != 0) {
		guard_folder_unwatch(g, f);
		return;
	}
	if ((ev->mask & (IN_MOVE_SELF | IN_DELETE_SELF)) != 0)
		moved(g, f);
	if (ev->len == 0 || f->is_dead ||
	    (n = guard_name_find(f->name, ev->name)) == NULL)
		return;
	if ((ev->mask & (IN_CREATE | IN_MOVED_TO)) != 0)
		look(g, f, n, ev->mask & (IN_CREATE | IN_MOVED_TO));
	else if (n->leaf != NULL && guard_is_mounted(n->leaf) && f->is_first) {
		/* Another may lie there already: they were exchanged. */
		n->leaf->is_gone = true;
		look(g, f, n, 0);
	}
}

void
guard_look_event(struct guard *g, const struct inotify_event *ev)
{
	if ((ev->mask & IN_Q_OVERFLOW) != 0) {
		g->must_sweep = true;
		for (size_t i = 0; i < g->nleaves; i++)
			g->leaves[i].is_dirty = g->leaves[i].ino != 0 &&
			    guard_is_mounted(&g->leaves[i]);
		return;
	}
	for (struct folder *f = *guard_bucket(g, ev->wd); f != NULL;
	    f = f->next_wd)
		if (f->wd == ev->wd && !f->is_dead)
			folder_event(g, f, ev);
}
