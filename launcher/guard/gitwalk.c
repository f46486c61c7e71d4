#include "launcher/guard/gitwalk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "launcher/guard/guard_parts.h"
#include "launcher/guard/guard_wide.h"
#include "platform/base/vec.h"
#include "platform/fd.h"
#include "platform/listed.h"
#include "platform/mounttable.h"
#include "platform/tree.h"

enum {
	LIST_BYTES = 16 << 10,
	QUEUE_BYTES = 64 << 20,		/* paths that wait for their turn */
	OPEN_DIR = O_PATH | O_DIRECTORY | O_NOFOLLOW,
};

struct walk {
	const struct gitwalk	*w;
	struct mount_table	 mounts;
	size_t			 root_len;
	bool			 has_mounts;	/* they were read */
	bool			 has_far;
	bool			 is_partial;
	struct { char *v; size_t n, cap; } queue;	/* rel, NUL, rel … */
	dev_t			 dev;		/* the one asked about last */
	bool			 counts_links;
};

/* The folder that is read. */
struct here {
	int		 fd;
	const char	*rel;
	bool		 is_dotgit;	/* its name */
	bool		 is_in_dotgit;	/* or that of one above */
	bool		 has_head;
	bool		 has_objects;
};

/* Some file systems count in seconds, or in two of them. */
bool
gitwalk_is_since(const struct stat *st, const struct timespec *since)
{
	if (st->st_ctim.tv_nsec == 0)
		return st->st_ctim.tv_sec + 1 >= since->tv_sec;
	return st->st_ctim.tv_sec > since->tv_sec ||
	    (st->st_ctim.tv_sec == since->tv_sec &&
	    st->st_ctim.tv_nsec >= since->tv_nsec);
}

/* One component; the folder above may deny its owner to search it. */
static int
open_step(int fd, const char *name)
{
	struct wide w;
	int next = openat(fd, name, OPEN_DIR | O_CLOEXEC);

	if (next >= 0 || errno != EACCES || wide_give(&w, fd, NULL) != 0)
		return next;
	next = openat(fd, name, OPEN_DIR | O_CLOEXEC);
	wide_back(&w);
	return next;
}

static int
open_steps(int root_fd, const char *rel)
{
	auto_fd fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
	char name[NAME_MAX + 1];

	while (fd >= 0 && *(rel += strspn(rel, "/")) != '\0') {
		size_t n = strcspn(rel, "/");
		int next;

		if (n >= sizeof name || strncmp(rel, "..", n) == 0) {
			errno = ENOENT;
			return -1;
		}
		memcpy(name, rel, n);
		name[n] = '\0';
		next = open_step(fd, name);
		fd_close(&fd);
		fd = next;
		rel += n;
	}
	return fd_take(&fd);
}

int
gitwalk_open(int root_fd, const char *rel)
{
	struct open_how how = { .flags = OPEN_DIR | O_CLOEXEC,
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
	long fd = rel[0] == '\0' ? -1 : syscall(SYS_openat2, root_fd, rel,
	    &how, sizeof how);

	/* EPERM: a filter that has not heard of the call. */
	if (fd < 0 && (rel[0] == '\0' || errno == ENOSYS || errno == EPERM ||
	    errno == EACCES))
		fd = open_steps(root_fd, rel);
	return (int)fd;
}

bool
gitwalk_counts_links(int fd)
{
	static const unsigned long those[] = { 0xef53 /* ext4 */,
	    0x58465342 /* xfs */, 0x01021994 /* tmpfs */,
	    0xf2f52010 /* f2fs */ };
	struct statfs fs;

	for (size_t i = 0; fstatfs(fd, &fs) == 0 &&
	    i < sizeof those / sizeof *those; i++)
		if ((unsigned long)fs.f_type == those[i])
			return true;
	return false;
}

static bool
counts_links(struct walk *k, int fd, dev_t dev)
{
	if (k->dev != dev)
		k->counts_links = gitwalk_counts_links(fd);
	k->dev = dev;
	return k->counts_links;
}

/* -1: longer than a path can be. */
static int
join(char ret[PATH_MAX], const char *rel, const char *name)
{
	return snprintf(ret, PATH_MAX, "%s%s%s", rel, rel[0] != '\0' ? "/" :
	    "", name) < PATH_MAX ? 0 : -1;
}

static void
push(struct walk *k, const char *path)
{
	size_t n = strlen(path) + 1;

	if (k->queue.n + n > QUEUE_BYTES) {
		k->is_partial = true;
		return;
	}
	for (size_t i = 0; i < n; i++)
		*vec_push(&k->queue) = path[i];
}

/* An empty workspace, where every microsecond shows, has no use for them. */
static void
learn_mounts(struct walk *k)
{
	k->has_mounts = true;
	if (mount_table_read(&k->mounts) != 0)
		k->is_partial = true;
	k->has_far = mount_table_far_below(&k->mounts, k->w->root,
	    k->root_len, "", 0);
}

static bool
is_far(struct walk *k, const char *path)
{
	const struct mount *m = NULL;

	if (!k->has_mounts)
		learn_mounts(k);
	if (k->has_far) {
		char full[PATH_MAX + 1];

		snprintf(full, sizeof full, "/%s", path);
		m = mount_table_at(&k->mounts, k->w->root, k->root_len, full,
		    strlen(full));
	}
	return m != NULL && m->is_far;
}

/* A folder without sub-folders: nothing was made in it since. */
static void
leaf(struct walk *k, const struct here *h, const char *name, const char *path)
{
	char below[NAME_MAX + 8];
	struct stat st;

	snprintf(below, sizeof below, "%s/HEAD", name);
	if (fstatat(h->fd, below, &st, AT_SYMLINK_NOFOLLOW) == 0)
		k->w->found(path, NULL, k->w->arg);
	snprintf(below, sizeof below, "%s/.git", name);
	if (fstatat(h->fd, below, &st, AT_SYMLINK_NOFOLLOW) == 0)
		k->w->found(path, ".git", k->w->arg);
}

static void
sub_folder(struct walk *k, const struct here *h, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	if (h->is_dotgit && strcmp(name, "modules") != 0 &&
	    strcmp(name, "worktrees") != 0)
		return;
	/* git can be led deeper than an absolute path is long. */
	if (join(path, h->rel, name) != 0 ||
	    k->root_len + strlen(path) + 2 > PATH_MAX) {
		k->is_partial = true;
		return;
	}
	if (is_far(k, path))
		return;
	if (fstatat(h->fd, name, &st, AT_SYMLINK_NOFOLLOW |
	    AT_NO_AUTOMOUNT) == 0 && S_ISDIR(st.st_mode) &&
	    st.st_nlink == 2 && (st.st_mode & 0500) == 0500 &&
	    !gitwalk_is_since(&st, &k->w->since) &&
	    counts_links(k, h->fd, st.st_dev))
		leaf(k, h, name, path);
	else
		push(k, path);
}

static bool
is_dir(int fd, const struct listed *e)
{
	struct stat st;

	if (e->type != DT_UNKNOWN)
		return e->type == DT_DIR;
	return fstatat(fd, e->name, &st, AT_SYMLINK_NOFOLLOW |
	    AT_NO_AUTOMOUNT) == 0 && S_ISDIR(st.st_mode);
}

static void
entry(struct walk *k, struct here *h, const struct listed *e)
{
	bool is_folder = is_dir(h->fd, e);

	if (strcmp(e->name, ".") == 0 || strcmp(e->name, "..") == 0)
		return;
	/* In other letters where the file system does not tell them apart. */
	if (!is_folder && strcasecmp(e->name, ".git") == 0)
		k->w->found(h->rel, e->name, k->w->arg);
	else if (!is_folder && strcasecmp(e->name, "HEAD") == 0)
		h->has_head = true;
	else if (is_folder && h->is_in_dotgit &&
	    strcmp(e->name, "objects") == 0)
		h->has_objects = true;
	else if (is_folder)
		sub_folder(k, h, e->name);
}

static bool
is_over(struct walk *k)
{
	if (*k->w->left > 0 && guard_now() < k->w->end_ms)
		return false;
	k->is_partial = true;
	return true;
}

static void
list(struct walk *k, struct here *h)
{
	_Alignas(8) char entries[LIST_BYTES];
	long n;

	while (!is_over(k) && (n = syscall(SYS_getdents64, h->fd, entries,
	    sizeof entries)) != 0) {
		if (n < 0) {
			k->is_partial |= tree_is_lack(errno);
			return;
		}
		for (long at = 0; at < n && *k->w->left > 0; ) {
			const struct listed *e = (void *)(entries + at);

			at += e->size;
			--*k->w->left;
			entry(k, h, e);
		}
	}
}

/* "a/.git/b": also where it ends so. */
static void
look_for_dotgit(struct here *h, const char *path, bool is_all)
{
	for (const char *p = path; p != NULL; p = strchr(p, '/')) {
		p += *p == '/';
		if (strncmp(p, ".git", 4) != 0 || (p[4] != '/' &&
		    p[4] != '\0'))
			continue;
		h->is_in_dotgit = true;
		h->is_dotgit = p[4] == '\0' && is_all;
	}
}

/* It is ours while we read it: no rights, no reading. */
static int
open_list(int fd)
{
	struct wide w;
	int list_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (list_fd >= 0 || errno != EACCES || wide_give(&w, fd, NULL) != 0)
		return list_fd;
	list_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	wide_back(&w);
	return list_fd;
}

static void
folder(struct walk *k, const char *rel)
{
	auto_fd path_fd = gitwalk_open(k->w->root_fd, rel);
	auto_fd fd = path_fd < 0 ? -1 : open_list(path_fd);
	struct here h = { .fd = fd, .rel = rel };

	if (fd < 0) {
		k->is_partial |= tree_is_lack(errno);
		return;
	}
	look_for_dotgit(&h, k->w->root, rel[0] == '\0');
	look_for_dotgit(&h, rel, true);
	list(k, &h);
	if (h.has_objects && !h.has_head && !h.is_dotgit)
		sub_folder(k, &h, "objects");
	if (h.has_head)
		k->w->found(rel, NULL, k->w->arg);
}

bool
gitwalk(const struct gitwalk *w)
{
	struct walk *k = calloc(1, sizeof *k);
	char rel[PATH_MAX];
	bool is_whole;

	if (k == NULL)
		return false;
	k->w = w;
	k->dev = (dev_t)-1;
	k->root_len = strcmp(w->root, "/") == 0 ? 0 : strlen(w->root);
	push(k, "");
	for (size_t at = 0; at < k->queue.n && !is_over(k); ) {
		size_t n = strlen(k->queue.v + at) + 1;

		memcpy(rel, k->queue.v + at, n);
		at += n;
		folder(k, rel);
	}
	is_whole = !k->is_partial;
	mount_table_release(&k->mounts);
	vec_release(&k->queue);
	free(k);
	return is_whole;
}
