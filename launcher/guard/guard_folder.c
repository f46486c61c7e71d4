/* The folders of the list that exist, and what is watched of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/guard_parts.h"
#include "launcher/guard/guard_wide.h"
#include "platform/fd.h"

/*
 * Descriptors of folders: beyond so many a folder is found again through the
 * one above it.
 */
enum { MAX_HELD = 128 };

bool
guard_is_mounted(const struct leaf *l)
{
	return l->kind != GUARD_ABSENT && l->kind != GUARD_LINK;
}

/* One folder */

int
guard_open_below(int fd, const char *name)
{
	return openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
}

int
guard_folder_fd(const struct folder *f, int *tmp)
{
	auto_fd up_tmp = -1;
	struct stat st;
	int up;

	if (f->fd >= 0)
		return f->fd;
	up = guard_folder_fd(f->up, &up_tmp);
	*tmp = up < 0 ? -1 : guard_open_below(up, f->name->text);
	if (*tmp >= 0 && (fstat(*tmp, &st) != 0 || st.st_dev != f->dev ||
	    st.st_ino != f->ino))
		fd_close(tmp);
	return *tmp;
}

struct folder **
guard_bucket(struct guard *g, int wd)
{
	return &g->by_wd[(unsigned)wd % GUARD_WDS];
}

/* The folder keeps its next_wd: somebody may stand on it. */
void
guard_folder_unwatch(struct guard *g, struct folder *f)
{
	struct folder **p;

	if (f->wd < 0)
		return;
	for (p = guard_bucket(g, f->wd); *p != NULL; p = &(*p)->next_wd)
		if (*p == f) {
			*p = f->next_wd;
			break;
		}
	f->wd = -1;
}

/*
 * Of a folder that is only on the way nothing but its own move.  IN_DELETE
 * and IN_MOVED_FROM where something may be replaced.
 */
static uint32_t
watch_mask(const struct folder *f)
{
	const struct name *n = f->name;
	uint32_t mask = IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK |
	    IN_MASK_ADD;

	if (!f->is_full)
		return mask;
	mask |= IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF;
	for (size_t i = 0; i < n->nchild; i++) {
		const struct leaf *l = n->child[i]->leaf;

		if (l != NULL && guard_is_mounted(l))
			mask |= IN_DELETE | IN_MOVED_FROM;
	}
	return mask;
}

/*
 * By the descriptor, so that nobody can put another folder under the name;
 * hence no IN_DONT_FOLLOW.  One that we may not read cannot be watched, and
 * that is no error: the last sweep finds what is in it.
 */
int
guard_folder_watch(struct guard *g, struct folder *f, int fd, bool is_full)
{
	struct wide w = { .fd = -1 };
	char path[FD_PATH_MAX];
	int wd;

	if (g->inotify_fd < 0 || g->is_over ||
	    (f->wd >= 0 && (f->is_full || !is_full)))
		return 0;
	f->is_full = is_full;
	fd_path(fd, path);
	wd = inotify_add_watch(g->inotify_fd, path, watch_mask(f));
	if (wd < 0 && errno == EACCES && wide_give(&w, fd, NULL) == 0) {
		wd = inotify_add_watch(g->inotify_fd, path, watch_mask(f));
		wide_back(&w);
	}
	if (wd < 0)
		return errno == EACCES || errno == EPERM ? 0 : -1;
	guard_folder_unwatch(g, f);
	f->wd = wd;
	f->next_wd = *guard_bucket(g, wd);
	*guard_bucket(g, wd) = f;
	return 0;
}

struct folder *
guard_folder_add(struct guard *g, struct folder *up, struct name *n, int fd)
{
	struct folder *f = calloc(1, sizeof *f);
	struct stat st;

	if (f == NULL || fstat(fd, &st) != 0) {
		fd_close(&fd);
		free(f);
		return NULL;
	}
	*f = (struct folder){ .name = n, .up = up, .fd = fd, .wd = -1,
	    .dev = st.st_dev, .ino = st.st_ino, .next = g->folders };
	g->folders = f;
	g->nheld++;
	return f;
}

void
guard_folder_settle(struct guard *g, struct folder *f)
{
	if (g->nheld > MAX_HELD && f->up != NULL && f->fd >= 0) {
		fd_close(&f->fd);
		g->nheld--;
	}
}

static bool
is_below(const struct folder *f, const struct folder *top)
{
	for (; f != NULL; f = f->up)
		if (f == top)
			return true;
	return false;
}

/* Its watch goes with it, unless another name leads to the same folder. */
static void
bury(struct guard *g, struct folder *f)
{
	int wd = f->wd;

	f->is_dead = true;
	guard_folder_unwatch(g, f);
	if (f->fd >= 0)
		g->nheld--;
	fd_close(&f->fd);
	f->next = g->dead;
	g->dead = f;
	if (wd < 0)
		return;
	for (const struct folder *o = *guard_bucket(g, wd); o != NULL;
	    o = o->next_wd)
		if (o->wd == wd)
			return;
	(void)inotify_rm_watch(g->inotify_fd, wd);
}

void
guard_folder_drop(struct guard *g, struct folder *top)
{
	struct folder **p = &g->folders, *f;

	while ((f = *p) != NULL) {
		if (!is_below(f, top)) {
			p = &f->next;
			continue;
		}
		*p = f->next;
		bury(g, f);
	}
}

/* The beginning */

static bool
has_leaf(const struct name *n)
{
	for (size_t i = 0; i < n->nchild; i++)
		if (n->child[i]->leaf != NULL)
			return true;
	return false;
}

static int fill(struct guard *, struct folder *, struct err *);

/* 1 if there is no such folder. */
static int
fill_one(struct guard *g, struct folder *up, struct name *n, struct err *e)
{
	int fd = guard_open_below(up->fd, n->text);
	struct folder *f;

	if (fd < 0)
		return errno == EMFILE || errno == ENFILE ? err_sys(e, errno,
		    "cannot open '%s' to watch it", n->text) : 1;
	f = guard_folder_add(g, up, n, fd);
	if (f == NULL)
		return err_set(e, ERR_JAIL, "out of memory");
	f->is_first = true;
	return fill(g, f, e);
}

/*
 * Near are the folders that hold a name of the list, everything below them,
 * and the last one that exists on the way to such a folder.
 */
static int
fill(struct guard *g, struct folder *f, struct err *e)
{
	struct name *n = f->name;

	f->is_near = (f->up != NULL && f->up->is_near) || has_leaf(n);
	for (size_t i = 0; i < n->nchild; i++) {
		int rc = n->child[i]->nchild == 0 ? 0 :
		    fill_one(g, f, n->child[i], e);

		if (rc < 0)
			return -1;
		f->is_near |= rc > 0;
	}
	guard_folder_settle(g, f);
	return 0;
}

int
guard_folders(struct guard *g, struct err *e)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	g->top = fd < 0 ? NULL : guard_folder_add(g, NULL, &g->root, fd);
	if (g->top == NULL)
		return err_sys(e, errno, "cannot open '/'");
	g->top->is_first = true;
	return fill(g, g->top, e);
}

/* Near folders in full; of those above, whether they move. */
int
guard_folders_watch(struct guard *g)
{
	int rc = 0;

	if (g->is_over)
		return 0;
	g->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (g->inotify_fd < 0)
		return -1;
	for (struct folder *f = g->folders; f != NULL; f = f->next) {
		auto_fd tmp = -1;
		int fd = guard_folder_fd(f, &tmp);

		if (fd >= 0 && guard_folder_watch(g, f, fd, f->is_near) != 0)
			rc = -1;
	}
	return rc;
}

void
guard_folders_unwatch(struct guard *g)
{
	g->is_over = true;
	for (struct folder *f = g->folders; f != NULL; f = f->next) {
		if (f->wd >= 0)
			(void)inotify_rm_watch(g->inotify_fd, f->wd);
		guard_folder_unwatch(g, f);
	}
}

void
guard_folder_bury(struct guard *g)
{
	struct folder *f;

	while ((f = g->dead) != NULL) {
		g->dead = f->next;
		free(f);
	}
}

static void
free_names(struct name *n)
{
	for (size_t i = 0; i < n->nchild; i++)
		free_names(n->child[i]);
	free(n->child);
}

void
guard_folders_free(struct guard *g)
{
	struct folder *f;

	guard_folder_bury(g);
	while ((f = g->folders) != NULL) {
		g->folders = f->next;
		fd_close(&f->fd);
		free(f);
	}
	free_names(&g->root);
	fd_close(&g->inotify_fd);
}
