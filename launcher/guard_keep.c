/*
 * Quarantine: what appeared in the wrong place lies here, as it was, until
 * somebody looks at it.  A jail may go on making things for as long as it
 * lives; of what says the same again only the first ones are kept.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard_parts.h"
#include "launcher/guard_wide.h"
#include "platform/base/xalloc.h"
#include "platform/fd.h"

enum {
	TRIES = 3, MAX_THINGS = 4096,
	SPARE_MS = 1000,
	NAME_BYTES = NAME_MAX + 1,
};

/* The place */

static int
open_part(int fd, const char *path, int flags)
{
	return openat(fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
}

/* The part that exists is held from the start: nobody swaps it later. */
void
guard_keep_init(struct keep *k, const char *dir)
{
	char part[PATH_MAX];
	size_t n;

	k->fd = k->base_fd = -1;
	if (dir == NULL || (n = strlen(dir)) >= sizeof part)
		return;
	k->dir = xstrdup(dir);
	memcpy(part, dir, n + 1);
	while ((k->base_fd = open_part(AT_FDCWD, part, 0)) < 0 && n > 1) {
		while (n > 1 && part[--n] != '/')
			continue;
		part[n] = '\0';
	}
	k->rest = k->dir + (n == 1 ? 0 : n);
}

/* Numbers go on where another left off. */
static void
count_things(struct keep *k)
{
	int fd = openat(k->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (d == NULL)
		fd_close(&fd);
	while (d != NULL && (e = readdir(d)) != NULL) {
		unsigned long n = strtoul(e->d_name, NULL, 10);

		if (isdigit((unsigned char)e->d_name[0]) && n > k->number &&
		    n < UINT32_MAX / 2)
			k->number = (uint32_t)n;
	}
	if (d != NULL)
		closedir(d);
}

static int
keep_open(struct keep *k)
{
	auto_fd fd = -1;
	const char *p = k->rest;

	if (k->fd >= 0)
		return 0;
	fd = k->base_fd < 0 ? -1 : fcntl(k->base_fd, F_DUPFD_CLOEXEC, 3);
	while (fd >= 0 && *(p += strspn(p, "/")) != '\0') {
		char part[NAME_BYTES];
		size_t n = strcspn(p, "/");
		int next;

		if (n >= sizeof part) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(part, p, n);
		part[n] = '\0';
		if (mkdirat(fd, part, 0700) != 0 && errno != EEXIST)
			return -1;
		next = open_part(fd, part, O_NOFOLLOW);
		fd_close(&fd);
		fd = next;
		p += n;
	}
	if (fd < 0)
		return -1;
	k->fd = fd_take(&fd);
	count_things(k);
	return 0;
}

static void
kept_name(const struct kept *kept, char ret[NAME_BYTES])
{
	/* Long names are cut, so that the number has room. */
	if (kept->is_aside)
		snprintf(ret, NAME_BYTES, "%.230s.fence-%04u",
		    kept->name->text, (unsigned)kept->number);
	else
		snprintf(ret, NAME_BYTES, "%04u-%.230s",
		    (unsigned)kept->number, kept->name->text);
}

int
guard_kept_path(const struct guard *g, const struct kept *kept,
    char ret[PATH_MAX])
{
	char dir[PATH_MAX], name[NAME_BYTES];
	int n;

	kept_name(kept, name);
	if (kept->is_aside) {
		if (guard_name_path(kept->name->up, dir) != 0)
			return -1;
		n = snprintf(ret, PATH_MAX, "%s/%s", dir, name);
	} else
		n = snprintf(ret, PATH_MAX, "%s/%s", g->keep.dir, name);
	return n < PATH_MAX ? 0 : -1;
}

/* Repeats */

static bool
is_repeat(const struct keep *k, const struct spare *s, const char *name)
{
	char first[NAME_BYTES];

	/* An empty folder says nothing; another cannot be removed so. */
	if (unlinkat(k->fd, name, AT_REMOVEDIR) == 0)
		return true;
	for (unsigned i = 0; i < s->leaf->nkept; i++) {
		if (s->leaf->kept[i].is_aside)
			continue;
		kept_name(&s->leaf->kept[i], first);
		if (move_is_same(k->fd, first, name))
			return true;
	}
	return false;
}

static void
spare_judge(struct keep *k)
{
	struct spare *s = &k->spare[k->first_spare];
	char name[NAME_BYTES];

	kept_name(&s->kept, name);
	if (is_repeat(k, s, name) && move_remove(k->fd, name) == 0 &&
	    k->nthings > 0)
		k->nthings--;
	k->first_spare = (k->first_spare + 1) % GUARD_SPARES;
	k->nspares--;
}

static void
note(struct guard *g, struct leaf *l, const struct kept *kept)
{
	struct keep *k = &g->keep;

	if (!kept->is_aside)
		k->nthings++;
	if (l->nkept < GUARD_SINGLE)
		l->kept[l->nkept++] = *kept;
	else if (!kept->is_aside) {
		if (k->nspares == GUARD_SPARES)
			spare_judge(k);
		k->spare[(k->first_spare + k->nspares++) % GUARD_SPARES] =
		    (struct spare){ l, *kept, guard_now() };
	}
	guard_say(g, l, GUARD_MOVED, 0, kept);
}

bool
guard_keep_waits(const struct guard *g)
{
	return g->keep.nspares > 0 || g->keep.move.nlate > 0;
}

void
guard_keep_tidy(struct guard *g, bool is_last)
{
	struct keep *k = &g->keep;
	int64_t now = guard_now();

	move_late(&k->move, is_last);
	while (k->nspares > 0 && (is_last ||
	    now - k->spare[k->first_spare].at_ms >= SPARE_MS))
		spare_judge(k);
}

/* Taking */

static int
rename_new(int from, const char *name, int to, const char *new_name)
{
	int rc = renameat2(from, name, to, new_name, RENAME_NOREPLACE);

	/* Not every file system knows the flag; nobody else writes here. */
	if (rc != 0 && errno == EINVAL)
		rc = renameat(from, name, to, new_name);
	return rc;
}

/* Without write permission a folder goes nowhere: its ".." would change. */
static int
rename_wide(int from, const char *name, int to, const char *new_name)
{
	struct wide folder, thing;
	int rc = rename_new(from, name, to, new_name);

	if (rc == 0 || (errno != EACCES && errno != EPERM))
		return rc;
	(void)wide_give(&folder, from, NULL);
	(void)wide_give(&thing, from, name);
	rc = rename_new(from, name, to, new_name);
	wide_back(&thing);
	wide_back(&folder);
	return rc;
}

/* To another file system: what changed meanwhile is carried after it. */
static int
take_across(struct guard *g, int dir, struct leaf *l, struct kept *kept)
{
	struct keep *k = &g->keep;
	struct wide w;
	char to[NAME_BYTES];
	int rc = -1;

	(void)wide_give(&w, dir, NULL);
	for (int i = 0; i < TRIES; i++) {
		kept_name(kept, to);
		if (move_copy(&k->move, dir, kept->name->text, k->fd, to) != 0)
			break;
		rc = move_drop(&k->move, dir, kept->name->text, k->fd, to);
		note(g, l, kept);
		if (rc == 0)
			break;
		kept->number = ++k->number;
		errno = EAGAIN;
	}
	wide_back(&w);
	return rc;
}

static int
take_in(struct guard *g, int dir, struct leaf *l, struct kept *kept)
{
	struct keep *k = &g->keep;
	char to[NAME_BYTES];

	if (keep_open(k) != 0)
		return -1;
	for (int i = 0; i < TRIES; i++) {
		kept->number = ++k->number;
		kept_name(kept, to);
		if (rename_wide(dir, kept->name->text, k->fd, to) == 0) {
			note(g, l, kept);
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return errno == EXDEV ? take_across(g, dir, l, kept) : -1;
}

/*
 * Quarantine is full, too small or out of reach: beside its place, under a
 * name that means nothing, it is neither lost nor obeyed.
 */
static int
take_aside(struct guard *g, int dir, struct leaf *l, struct kept *kept)
{
	char to[NAME_BYTES];

	kept->is_aside = true;
	for (int i = 0; i < TRIES; i++) {
		kept->number = ++g->keep.number;
		kept_name(kept, to);
		if (rename_wide(dir, kept->name->text, dir, to) == 0) {
			note(g, l, kept);
			return 0;
		}
	}
	return -1;
}

static int
take_out(struct guard *g, int dir, struct leaf *l, struct kept *kept)
{
	struct wide w;
	int rc;

	(void)wide_give(&w, dir, NULL);
	rc = move_remove(dir, kept->name->text);
	wide_back(&w);
	if (rc == 0)
		guard_say(g, l, GUARD_REMOVED, 0, kept);
	return rc;
}

/* Keeps errno. */
static bool
is_gone(int dir, const char *name)
{
	struct stat st;
	int saved = errno;
	bool is = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 &&
	    errno == ENOENT;

	errno = saved;
	return is;
}

int
guard_keep_take(struct guard *g, int dir, const struct name *n)
{
	struct leaf *l = n->leaf != NULL ? n->leaf : n->held;
	struct kept kept = { .name = n };
	int rc, sys;

	if (g->keep.dir == NULL || g->keep.nthings >= MAX_THINGS)
		rc = take_out(g, dir, l, &kept);
	else
		rc = take_in(g, dir, l, &kept);
	if (rc == 0)
		return 0;
	if (is_gone(dir, n->text))
		return 0;
	if (errno == ENOENT) {		/* quarantine itself was removed */
		fd_close(&g->keep.fd);
		if (take_in(g, dir, l, &kept) == 0)
			return 0;
	}
	sys = errno;
	/* Whoever changes it faster than we copy will be tired one day. */
	if (sys == EAGAIN && !g->is_final)
		return -1;
	if (take_aside(g, dir, l, &kept) == 0 || is_gone(dir, n->text))
		return 0;
	guard_say(g, l, GUARD_FAILED, sys, &kept);
	errno = sys;
	return -1;
}

void
guard_keep_release(struct keep *k)
{
	move_late(&k->move, true);
	fd_close(&k->fd);
	fd_close(&k->base_fd);
	free(k->dir);
	k->dir = NULL;
}
