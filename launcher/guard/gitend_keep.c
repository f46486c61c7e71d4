#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/gitconf.h"
#include "launcher/guard/gitend_parts.h"
#include "launcher/guard/guard_parts.h"
#include "launcher/guard/guard_wide.h"
#include "platform/base/io.h"
#include "platform/base/xalloc.h"
#include "platform/fd.h"

enum {
	TRIES = 16,
	SINGLE_HOOKS = 4,	/* more of them go as one folder */
};

struct gitkeep {
	struct guard		 guard;		/* its quarantine alone */
	const struct gitend	*end;
	/* What was taken is the guard's to speak of until the end. */
	struct arena		*arena;
};

/* One thing that is taken. */
struct thing {
	struct leaf		 leaf;		/* its path: as it is told */
	const char		*what;		/* the keys, or NULL */
};

/* The guard tells us, we tell on. */
static int
tell(struct guard *g, const struct guard_told *t, const struct leaf *l,
    unsigned up)
{
	const struct gitkeep *k = (const struct gitkeep *)g;
	struct guard_told git = *t;

	(void)up;
	git.kind = GUARD_GIT;
	git.what = ((const struct thing *)l)->what;
	if (git.what != NULL && git.deed == GUARD_MOVED)
		git.deed = GUARD_CLEANED;
	k->end->told(&git, k->end->arg);
	return 0;
}

struct gitkeep *
gitkeep_new(const struct gitend *end)
{
	struct gitkeep *k = xcalloc(1, sizeof *k);

	k->end = end;
	k->arena = arena_new();
	k->guard.tell = tell;
	k->guard.is_final = true;
	guard_keep_init(&k->guard.keep, end->quarantine);
	k->guard.keep.max_bytes = GUARD_MAX_BYTES;
	return k;
}

void
gitkeep_free(struct gitkeep *k)
{
	guard_chores_last(&k->guard);
	guard_chores_free(&k->guard);
	guard_keep_release(&k->guard.keep);
	arena_free(k->arena);
	free(k);
}

/* ---- taking ---- */

/* The path as the guard has it: a chain of names. */
static struct name *
chain(struct arena *a, const char *path)
{
	struct name *n = arena_alloc(a, sizeof *n);

	n->text = "/";
	while (*(path += strspn(path, "/")) != '\0') {
		struct name *below = arena_alloc(a, sizeof *below);
		size_t len = strcspn(path, "/");

		below->text = arena_strndup(a, path, len);
		below->up = n;
		below->depth = n->depth + 1;
		n = below;
		path += len;
	}
	return n;
}

/*
 * dir, dir_path: the folder in which name lies; told: as what it is told.
 * what: see struct thing.
 */
static int
take(struct gitkeep *k, int dir, const char *dir_path, const char *name,
    const char *told, const char *what)
{
	struct arena *a = k->arena;
	struct name *n = chain(a, arena_printf(a, "%s/%s", dir_path, name));
	struct thing *t = arena_alloc(a, sizeof *t);
	int rc;

	*t = (struct thing){ .leaf = { .kind = GUARD_ABSENT,
	    .path = arena_strdup(a, told), .name = n, .held_fd = -1 },
	    .what = what != NULL ? arena_strdup(a, what) : NULL };
	n->leaf = n->held = &t->leaf;
	rc = guard_keep_take(&k->guard, dir, n);
	/* To another file system now: the folder it is in may be removed. */
	guard_chores_last(&k->guard);
	return rc;
}

static bool
is_open(const struct gitkeep *k, const char *path)
{
	return k->end->is_open != NULL &&
	    k->end->is_open(path, k->end->open_arg);
}

void
gitkeep_take(struct gitkeep *k, int dir, const char *dir_path,
    const char *name, const char *told)
{
	if (!is_open(k, told))
		(void)take(k, dir, dir_path, name, told, NULL);
}

/* ---- config ---- */

/* A folder beside the file, for one that is to take its place. */
static int
make_beside(int fd, char name[32])
{
	for (unsigned i = 0; i < TRIES; i++) {
		snprintf(name, 32, "fence.%u", i);
		if (mkdirat(fd, name, 0700) == 0)
			return openat(fd, name, O_PATH | O_DIRECTORY |
			    O_NOFOLLOW | O_CLOEXEC);
		if (errno != EEXIST)
			break;
	}
	return -1;
}

static int
write_new(int dir, const char *name, const struct buf *text, mode_t mode)
{
	auto_fd fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL |
	    O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 || io_write_all(fd, text->data, text->len) != 0 ? -1 :
	    fchmod(fd, mode & 0777);
}

/* A guard that was killed left the old file there. */
void
gitkeep_rest(struct gitkeep *k, int fd, const char *path)
{
	char name[32], told[PATH_MAX + 32];
	struct stat st;

	for (unsigned i = 0; i < TRIES; i++) {
		snprintf(name, sizeof name, "fence.%u/config", i);
		if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		*strchr(name, '/') = '\0';
		snprintf(told, sizeof told, "%s/%s", path, name);
		(void)take(k, fd, path, name, told, NULL);
	}
}

/* The new one under the old one's name, and that one to quarantine. */
static void
put_in_place(struct gitkeep *k, int fd, const char *path, const char *name,
    const char *beside, int beside_fd, const char *keys)
{
	char dir[PATH_MAX + 32], told[PATH_MAX + 32];

	snprintf(dir, sizeof dir, "%s/%s", path, beside);
	snprintf(told, sizeof told, "%s/%s", path, name);
	if (renameat2(beside_fd, name, fd, name, RENAME_EXCHANGE) == 0)
		(void)take(k, beside_fd, dir, name, told, keys);
	/* Not every file system knows the flag. */
	else if (take(k, fd, path, name, told, keys) != 0 ||
	    renameat(beside_fd, name, fd, name) != 0)
		(void)unlinkat(beside_fd, name, 0);
}

/* -1: no room, or no right, and the file is as it was. */
static int
replace(struct gitkeep *k, int fd, const char *path, const char *name,
    const struct buf *clean, const char *keys, mode_t mode)
{
	char beside[32];
	auto_fd beside_fd = make_beside(fd, beside);
	int rc = -1;

	if (beside_fd < 0)
		return -1;
	if (write_new(beside_fd, name, clean, mode) == 0) {
		put_in_place(k, fd, path, name, beside, beside_fd, keys);
		rc = 0;
	} else
		(void)unlinkat(beside_fd, name, 0);
	(void)unlinkat(fd, beside, AT_REMOVEDIR);
	return rc;
}

int
gitkeep_replace(struct gitkeep *k, int fd, const char *path,
    const char *name, const char *text, size_t len, const char *what,
    mode_t mode)
{
	const struct buf b = { .data = (char *)text, .len = len };

	return replace(k, fd, path, name, &b, what, mode);
}

int
gitkeep_overwrite(int fd, const char *name, const char *text, size_t len,
    mode_t mode)
{
	const struct buf b = { .data = (char *)text, .len = len };
	char beside[32];
	auto_fd beside_fd = make_beside(fd, beside);
	int rc = -1;

	if (beside_fd < 0)
		return -1;
	if (write_new(beside_fd, name, &b, mode) == 0)
		rc = renameat(beside_fd, name, fd, name);
	if (rc != 0)
		(void)unlinkat(beside_fd, name, 0);
	(void)unlinkat(fd, beside, AT_REMOVEDIR);
	return rc;
}

/* The whole file; *ret is above GITCONF_MAX if it is. */
static char *
read_all(int fd, size_t *ret)
{
	char *text = xcalloc(1, GITCONF_MAX + 2);
	ssize_t n;

	*ret = 0;
	while (*ret <= GITCONF_MAX && (n = pread(fd, text + *ret,
	    GITCONF_MAX + 1 - *ret, (off_t)*ret)) > 0)
		*ret += (size_t)n;
	return text;
}

static void
look_into(struct gitkeep *k, int fd, const char *path, const char *name,
    struct gitconf_request *rq, mode_t mode)
{
	char told[PATH_MAX + 32];
	struct buf clean, keys;

	buf_init(&clean, 0);
	buf_init(&keys, 0);
	/* Without a config git has its own. */
	if (gitconf_clean(rq, &clean, &keys) && replace(k, fd, path, name,
	    &clean, keys.data, mode) != 0) {
		snprintf(told, sizeof told, "%s/%s", path, name);
		(void)take(k, fd, path, name, told, NULL);
	}
	buf_release(&clean);
	buf_release(&keys);
}

void
gitkeep_config(struct gitkeep *k, int fd, const char *path, const char *name,
    bool (*is_outside)(const char *, void *), void *arg)
{
	struct gitconf_request rq = { .is_outside = is_outside, .arg = arg };
	char told[PATH_MAX + 32];
	struct wide w = { .fd = -1 };
	auto_fd in = -1;
	struct stat st;
	char *text;

	snprintf(told, sizeof told, "%s/%s", path, name);
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    is_open(k, told))
		return;
	/* git follows a symlink, and reads from anything. */
	if (S_ISREG(st.st_mode))
		in = wide_open_file(&w, fd, name);
	if (in < 0) {
		wide_back(&w);
		(void)take(k, fd, path, name, told, NULL);
		return;
	}
	text = read_all(in, &rq.len);
	wide_back(&w);
	rq.text = text;
	look_into(k, fd, path, name, &rq, st.st_mode);
	free(text);
}

/* ---- hooks ---- */

static bool
is_hook(int dir, const char *name)
{
	static const char sample[] = ".sample";
	size_t n = strlen(name), k = sizeof sample - 1;
	struct stat st;

	return (n <= k || strcmp(name + n - k, sample) != 0) &&
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !S_ISDIR(st.st_mode);
}

/* Calls fn for each, until it has been called max times. */
static unsigned
each_hook(int dir, unsigned max, void (*fn)(int, const char *, void *),
    void *arg)
{
	DIR *d = move_list(dir);
	const char *name;
	unsigned n = 0;

	while (d != NULL && n < max && (name = move_next(d)) != NULL) {
		if (!is_hook(dir, name))
			continue;
		n++;
		if (fn != NULL)
			fn(dir, name, arg);
	}
	if (d != NULL)
		closedir(d);
	return n;
}

struct hooks {
	struct gitkeep	*keep;
	const char	*path;
};

static void
take_hook(int dir, const char *name, void *arg)
{
	const struct hooks *h = arg;
	char told[PATH_MAX + NAME_MAX + 2];

	snprintf(told, sizeof told, "%s/%s", h->path, name);
	if (!is_open(h->keep, told))
		(void)take(h->keep, dir, h->path, name, told, NULL);
}

void
gitkeep_hooks(struct gitkeep *k, int fd, const char *path)
{
	char hooks_path[PATH_MAX + 8];
	struct hooks h = { k, hooks_path };
	auto_fd dir = -1;
	struct wide w;
	struct stat st;

	snprintf(hooks_path, sizeof hooks_path, "%s/hooks", path);
	if (fstatat(fd, "hooks", &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    is_open(k, hooks_path))
		return;
	dir = wide_open_dir(&w, fd, "hooks");
	if (dir < 0 ||
	    each_hook(dir, SINGLE_HOOKS + 1, NULL, NULL) > SINGLE_HOOKS)
		(void)take(k, fd, path, "hooks", hooks_path, NULL);
	else
		(void)each_hook(dir, UINT_MAX, take_hook, &h);
	wide_back(&w);
}
