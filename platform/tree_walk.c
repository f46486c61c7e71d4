#include "platform/tree.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/base/vec.h"
#include "platform/fd.h"
#include "platform/listed.h"
#include "platform/mounttable.h"

enum {
	MAX_OPEN = 64,		/* of directories on the way down */
	LIST_BYTES = 64 * 1024,
	OPEN_DIR = O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
};

/*
 * A directory on the way down, and those of its directories that are still
 * to be entered: records in todo, each a set of wants and a name.
 */
struct frame {
	int	 fd;		/* -1: closed to make room */
	size_t	 len;		/* of its path; 0 for "/" */
	unsigned depth;		/* components of its path */
	size_t	 begin, next, end;
};

/* What one directory may hold besides entries; both are rare. */
struct listing {
	bool	 has_root;	/* where another want begins */
	bool	 has_far;	/* a mount of another machine */
};

/*
 * Mounts are read before anything is opened: on kernels before 6.18 openat2(2)
 * with RESOLVE_NO_XDEV lets autofs mount first what it then does not enter.
 *
 * A set of wants is nwords words of bits.  Directories live by their path
 * without a last '/', so that "/" has length 0.
 */
struct walk {
	struct arena		*arena;
	struct tree_want	*wants;
	size_t			 n, nwords;
	struct {
		size_t		 len;
		unsigned	 depth;
	}			*roots;
	uint64_t		*waiting;	/* wants not begun yet */
	uint64_t		*inside;	/* in the directory listed */
	uint64_t		*here;		/* at the entry looked at */
	size_t			 max_entries, left;
	void			(*skipped)(const char *, void *);
	void			(*closed)(const char *, void *);
	void			*arg;
	struct err		*err;
	int			 sys;		/* of what was looked at last */

	const char		*root;		/* of the walk under way */
	size_t			 root_len;
	char			 real[PATH_MAX];	/* of that root */
	size_t			 real_len;
	struct mount_table	*mounts;
	bool			 has_far;	/* one below this root */
	bool			 has_openat2;
	struct { struct frame *v; size_t n, cap; } frames;
	size_t			 first_open;	/* frame; 0 is always open */
	struct { char *v; size_t n, cap; } todo;
	char			*list;		/* LIST_BYTES */
	char			 path[PATH_MAX];
};

static size_t
set_next(const struct walk *w, const uint64_t *set, size_t i)
{
	for (; i < w->n; i = (i | 63) + 1) {
		uint64_t word = set[i / 64] >> i % 64;

		if (word != 0)
			return i + (size_t)__builtin_ctzll(word);
	}
	return w->n;
}

#define SET_EACH(w, set, i) \
	for (size_t i = set_next(w, set, 0); i < (w)->n; \
	    i = set_next(w, set, i + 1))

static void
set_drop(uint64_t *set, size_t i)
{
	set[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static void
set_add(uint64_t *set, size_t i)
{
	set[i / 64] |= UINT64_C(1) << i % 64;
}

static bool
set_is_empty(const struct walk *w, const uint64_t *set)
{
	for (size_t i = 0; i < w->nwords; i++)
		if (set[i] != 0)
			return false;
	return true;
}

/* Does want i begin at the path that is len long? */
static bool
is_root(const struct walk *w, size_t i, size_t len)
{
	return w->roots[i].len == len &&
	    memcmp(w->wants[i].root, w->path, len) == 0;
}

static void
begin_here(struct walk *w, size_t len)
{
	SET_EACH(w, w->waiting, i)
		if (is_root(w, i, len)) {
			set_drop(w->waiting, i);
			set_add(w->here, i);
		}
}

/* What may not be looked at is left out; what we lack ourselves is not. */
static int
passed_over(struct walk *w, int sys)
{
	if (!tree_is_lack(sys))
		return 0;
	return err_sys(w->err, sys, "cannot search below '%s'", w->root);
}

static struct mount *
mount_at(const struct walk *w, size_t len)
{
	return mount_table_at(w->mounts, w->real, w->real_len,
	    w->path + w->root_len, len - w->root_len);
}

static bool
has_far_below(const struct walk *w, size_t len)
{
	return mount_table_far_below(w->mounts, w->real, w->real_len,
	    w->path + w->root_len, len - w->root_len);
}

/* Only a want that names the very place goes on there. */
static void
stay_out(struct walk *w, uint64_t *set, size_t len, struct mount *m)
{
	bool is_skipped = false;

	SET_EACH(w, set, i)
		if (!is_root(w, i, len)) {
			set_drop(set, i);
			is_skipped = true;
		}
	if (!is_skipped || (m != NULL && m->is_told))
		return;
	if (m != NULL)
		m->is_told = true;
	if (w->skipped != NULL)
		w->skipped(w->path, w->arg);
}

static struct listing
listing_of(const struct walk *w, size_t len)
{
	struct listing l = { false, false };

	SET_EACH(w, w->waiting, i)
		if (w->roots[i].len > len && w->wants[i].root[len] == '/' &&
		    memcmp(w->wants[i].root, w->path, len) == 0)
			l.has_root = true;
	l.has_far = w->has_far && has_far_below(w, len);
	return l;
}

static int
type_of(int dir_fd, const char *name, uint8_t d_type, enum tree_type *ret)
{
	struct stat st;

	/* Some file systems do not say. */
	if (d_type == DT_UNKNOWN) {
		if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			return -1;
		d_type = IFTODT(st.st_mode);
	}
	*ret = d_type == DT_DIR ? TREE_IS_DIR :
	    d_type == DT_REG ? TREE_IS_FILE :
	    d_type == DT_LNK ? TREE_IS_LINK :
	    d_type == DT_SOCK ? TREE_IS_SOCKET : TREE_IS_OTHER;
	return 0;
}

/*
 * No symlink lies between the root and the entry: what is real about the
 * root tells the real path of everything below.
 */
static void
look_at(struct walk *w, int dir_fd, const char *name,
    const struct tree_entry *entry, struct tree_node *ret)
{
	const char *path = arena_strdup(w->arena, entry->path);
	const char *rest = path + w->root_len;
	struct stat st;

	*ret = (struct tree_node){ .path = path, .kind = TREE_MISSING };
	if (dir_fd == AT_FDCWD || entry->type == TREE_IS_LINK) {
		if (tree_look(w->arena, path, ret) != 0)
			w->sys = errno;
		return;
	}
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		w->sys = errno;
		return;
	}
	if (S_ISLNK(st.st_mode))
		return;
	ret->real = w->real_len == w->root_len &&
	    memcmp(w->real, path, w->real_len) == 0 ? path :
	    arena_printf(w->arena, "%.*s%s", (int)w->real_len, w->real, rest);
	ret->kind = S_ISDIR(st.st_mode) ? TREE_DIR : TREE_FILE;
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
}

/* Asks every want that is here; those that take it go no further. */
static void
offer(struct walk *w, int dir_fd, const char *name,
    const struct tree_entry *entry)
{
	struct tree_node node = { .path = NULL };

	SET_EACH(w, w->here, i) {
		struct tree_want *want = &w->wants[i];

		if (!want->match(entry, want->arg))
			continue;
		if (want->goes_on == NULL || !want->goes_on(entry, want->arg))
			set_drop(w->here, i);
		if (node.path == NULL)
			look_at(w, dir_fd, name, entry, &node);
		if (node.kind != TREE_MISSING)
			*vec_push(&want->found) = node;
	}
}

static void
push_todo(struct walk *w, const char *name)
{
	size_t set = w->nwords * sizeof *w->here, len = strlen(name) + 1;

	if (w->todo.cap - w->todo.n < set + len) {
		w->todo.cap = w->todo.cap * 2 + set + len;
		w->todo.v = xrealloc(w->todo.v, w->todo.cap, 1);
	}
	memcpy(w->todo.v + w->todo.n, w->here, set);
	memcpy(w->todo.v + w->todo.n + set, name, len);
	w->todo.n += set + len;
}

static bool
is_named(const char *names, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = names; p != NULL; p = strchr(p, '/')) {
		p += *p == '/';
		if (strncmp(p, name, n) == 0 && (p[n] == '\0' || p[n] == '/'))
			return true;
	}
	return false;
}

/* Of the wants here, those that go into this directory; are there any? */
static bool
goes_on(struct walk *w, const char *name, size_t len, unsigned depth)
{
	SET_EACH(w, w->here, i) {
		const struct tree_want *want = &w->wants[i];

		if ((want->max_depth != 0 &&
		    depth - w->roots[i].depth >= want->max_depth) ||
		    (is_named(want->skip, name) && !is_root(w, i, len)))
			set_drop(w->here, i);
	}
	return !set_is_empty(w, w->here);
}

static int
visit(struct walk *w, const struct frame *f, struct listing l,
    const struct listed *d)
{
	size_t name_len = strlen(d->name), len = f->len + 1 + name_len;
	struct tree_entry entry = { w->path, w->path + f->len + 1, 0 };
	struct mount *m;

	if (w->left-- == 0)
		return err_set(w->err, ERR_POLICY, "more than %zu entries "
		    "below '%s'", w->max_entries, w->root);
	if (len >= sizeof w->path)
		return 0;	/* no mount could name it either */
	w->path[f->len] = '/';
	memcpy(w->path + f->len + 1, d->name, name_len + 1);
	memcpy(w->here, w->inside, w->nwords * sizeof *w->here);
	if (l.has_root)
		begin_here(w, len);
	if (l.has_far && (m = mount_at(w, len)) != NULL && m->is_far)
		stay_out(w, w->here, len, m);
	if (set_is_empty(w, w->here))
		return 0;
	if (type_of(f->fd, d->name, d->type, &entry.type) != 0)
		return passed_over(w, errno);
	offer(w, f->fd, d->name, &entry);
	if (passed_over(w, w->sys) != 0)
		return -1;
	if (entry.type == TREE_IS_DIR &&
	    goes_on(w, d->name, len, f->depth + 1))
		push_todo(w, d->name);
	return 0;
}

static int
list(struct walk *w, const struct frame *f)
{
	struct listing l = listing_of(w, f->len);
	long n;

	while ((n = syscall(SYS_getdents64, f->fd, w->list,
	    LIST_BYTES)) > 0)
		for (long at = 0; at < n;) {
			const struct listed *d = (void *)(w->list + at);

			at += d->size;
			if (strcmp(d->name, ".") == 0 ||
			    strcmp(d->name, "..") == 0)
				continue;
			if (visit(w, f, l, d) != 0)
				return -1;
		}
	return n < 0 ? passed_over(w, errno) : 0;
}

/* Takes fd.  The directory stays if it holds others to be entered. */
static int
enter(struct walk *w, int fd, size_t len, unsigned depth)
{
	struct frame f = { .fd = fd, .len = len, .depth = depth,
	    .begin = w->todo.n, .next = w->todo.n };
	int rc = list(w, &f);

	f.end = w->todo.n;
	if (rc != 0 || f.end == f.begin) {
		(void)close(fd);
		return rc;
	}
	*vec_push(&w->frames) = f;
	if (w->frames.n - w->first_open >= MAX_OPEN)
		fd_close(&w->frames.v[w->first_open++].fd);
	return 0;
}

/* The same directory again, from the root down by the same rule. */
static int
reopen(struct walk *w, struct frame *f)
{
	size_t at = w->frames.v[0].len;
	auto_fd fd = -1;

	while (at < f->len) {
		char name[NAME_MAX + 1];
		size_t n = strcspn(w->path + at + 1, "/");
		int next;

		memcpy(name, w->path + at + 1, n);
		name[n] = '\0';
		next = openat(fd < 0 ? w->frames.v[0].fd : fd, name,
		    OPEN_DIR | O_CLOEXEC);
		if (next < 0)
			return -1;
		fd_close(&fd);
		fd = next;
		at += n + 1;
	}
	f->fd = fd_take(&fd);
	w->first_open = w->frames.n - 1;
	return 0;
}

/* Only after EXDEV is the table of mounts asked, which is older than this. */
static int
open_crossing(struct walk *w, int dir_fd, const char *name, size_t len)
{
	struct mount *m = mount_at(w, len);

	if (m == NULL || m->is_far)	/* new ones cannot be judged */
		stay_out(w, w->inside, len, m);
	if (!set_is_empty(w, w->inside))
		return openat(dir_fd, name, OPEN_DIR | O_CLOEXEC);
	errno = EXDEV;
	return -1;
}

static int
open_below(struct walk *w, int dir_fd, const char *name, size_t len)
{
	struct open_how how = { .flags = OPEN_DIR | O_CLOEXEC,
	    .resolve = RESOLVE_NO_XDEV };
	long fd;

	if (w->has_openat2) {
		fd = syscall(SYS_openat2, dir_fd, name, &how, sizeof how);
		if (fd < 0 && errno == EXDEV)
			return open_crossing(w, dir_fd, name, len);
		/* EPERM: a filter that has not heard of the call. */
		if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
			return (int)fd;
		w->has_openat2 = false;
	}
	return openat(dir_fd, name, OPEN_DIR | O_CLOEXEC);
}

static void
leave(struct walk *w)
{
	struct frame *f = &w->frames.v[--w->frames.n];

	if (f->fd >= 0)
		(void)close(f->fd);
	w->todo.n = f->begin;
	if (w->first_open > w->frames.n && w->frames.n > 0)
		w->first_open = w->frames.n;
}

/* Into the next directory of the last frame, or out of that frame. */
static int
step(struct walk *w)
{
	struct frame *f = &w->frames.v[w->frames.n - 1];
	size_t set = w->nwords * sizeof *w->inside, len;
	const char *name;
	int fd;

	if (f->next == f->end) {
		leave(w);
		return 0;
	}
	memcpy(w->inside, w->todo.v + f->next, set);
	name = w->todo.v + f->next + set;
	len = strlen(name);
	f->next += set + len + 1;
	w->path[f->len] = '/';
	memcpy(w->path + f->len + 1, name, len + 1);
	if (f->fd < 0 && reopen(w, f) != 0) {
		f->next = f->end;
		return passed_over(w, errno);
	}
	fd = open_below(w, f->fd, w->path + f->len + 1, f->len + 1 + len);
	if (fd < 0) {
		if (errno == EACCES && w->closed != NULL)
			w->closed(w->path, w->arg);
		return passed_over(w, errno);
	}
	return enter(w, fd, f->len + 1 + len, f->depth + 1);
}

/* The real path of the root and the mounts below it. */
static int
survey(struct walk *w, int fd)
{
	int rc = fd_real_path(fd, w->real);

	if (rc != 0)
		return err_sys(w->err, rc < 0 ? errno : ENOENT,
		    "cannot tell where '%s' lies", w->root);
	w->real_len = strlen(w->real);
	if (w->real_len == 1)
		w->real[w->real_len = 0] = '\0';
	if (w->mounts->n == 0 && mount_table_read(w->mounts) != 0)
		return err_sys(w->err, errno, "cannot read the mounts below "
		    "'%s'", w->root);
	w->has_far = has_far_below(w, w->root_len);
	return 0;
}

static int
descend(struct walk *w, unsigned depth)
{
	auto_fd fd = open(w->root, OPEN_DIR | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return passed_over(w, errno);
	if (survey(w, fd) != 0)
		return -1;
	memcpy(w->inside, w->here, w->nwords * sizeof *w->here);
	w->first_open = 1;
	rc = enter(w, fd_take(&fd), w->root_len, depth);
	while (rc == 0 && w->frames.n > 0)
		rc = step(w);
	return rc;
}

static int
walk_from(struct walk *w, size_t first)
{
	const char *last;
	struct tree_entry entry = { .path = w->path };
	enum tree_type type;

	w->root = w->wants[first].root;
	w->root_len = w->roots[first].len;
	memset(w->here, 0, w->nwords * sizeof *w->here);
	memcpy(w->path, w->root, w->root_len);
	w->path[w->root_len] = '\0';
	begin_here(w, w->root_len);
	if (w->root_len == 0)
		strcpy(w->path, "/");
	if (type_of(AT_FDCWD, w->path, DT_UNKNOWN, &type) != 0)
		return passed_over(w, errno);
	last = strrchr(w->path, '/');
	entry.name = last[1] != '\0' ? last + 1 : last;
	entry.type = type;
	offer(w, AT_FDCWD, w->path, &entry);
	if (passed_over(w, w->sys) != 0)
		return -1;
	if (type != TREE_IS_DIR || set_is_empty(w, w->here))
		return 0;
	return descend(w, w->roots[first].depth);
}

/* Of the wants not begun yet, one that no other lies above. */
static size_t
next_root(const struct walk *w)
{
	size_t best = w->n;

	SET_EACH(w, w->waiting, i)
		if (best == w->n || w->roots[i].len < w->roots[best].len)
			best = i;
	return best;
}

static void
take_roots(struct walk *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const char *root = w->wants[i].root;
		size_t len = strlen(root);

		assert(root[0] == '/');
		while (len > 0 && root[len - 1] == '/')
			len--;
		if (len >= sizeof w->path)
			continue;	/* nothing can be there */
		w->roots[i].len = len;
		for (size_t k = 0; k < len; k++)
			w->roots[i].depth += root[k] == '/';
		set_add(w->waiting, i);
	}
}

int
tree_walk(struct arena *a, struct tree_want *wants, size_t n,
    size_t max_entries, struct mount_table *mounts,
    void (*skipped)(const char *, void *),
    void (*closed)(const char *, void *), void *arg, struct err *e)
{
	struct walk *w = xcalloc(1, sizeof *w);
	size_t first, nwords = (n + 63) / 64;
	uint64_t *sets = xcalloc(3 * nwords + 1, sizeof *sets);
	int rc = 0;

	w->arena = a;
	w->wants = wants;
	w->n = n;
	w->nwords = nwords;
	w->roots = xcalloc(n + 1, sizeof *w->roots);
	w->waiting = sets;
	w->inside = sets + nwords;
	w->here = sets + 2 * nwords;
	w->max_entries = w->left = max_entries;
	w->mounts = mounts;
	w->list = xrealloc(NULL, LIST_BYTES, 1);
	w->skipped = skipped;
	w->closed = closed;
	w->arg = arg;
	w->err = e;
	w->has_openat2 = true;
	take_roots(w);
	while (rc == 0 && (first = next_root(w)) < n)
		rc = walk_from(w, first);
	while (w->frames.n > 0)
		leave(w);
	vec_release(&w->frames);
	vec_release(&w->todo);
	free(w->roots);
	free(w->list);
	free(sets);
	free(w);
	return rc;
}
