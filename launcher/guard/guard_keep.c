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

#include "launcher/guard/guard_parts.h"
#include "launcher/guard/guard_wide.h"
#include "platform/base/xalloc.h"
#include "platform/fd.h"

enum {
	TRIES = 3, SPARE_MS = 1000,
	/* Of one run, and of all. */
	MAX_THINGS = 4096, MAX_ENTRIES = 500000,
	SMALL = 16 << 20,	/* removed at once */
	NAME_BYTES = NAME_MAX + 1,
};
#define MAX_BYTES	((uint64_t)1 << 30)

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
keep_open(struct guard *g)
{
	struct keep *k = &g->keep;
	const struct kept none = { .number = 0 };
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
	(void)guard_chore(g, CHORE_COUNT, k->fd, NULL, &none, &none);
	return 0;
}

/*
 * Nothing that was kept makes room for something new.  A quarter is added for
 * what the user had before the run.
 */
static bool
is_full(const struct keep *k, bool is_users)
{
	uint64_t quarters = is_users ? 5 : 4;

	return k->nthings >= MAX_THINGS / 4 * quarters ||
	    k->nbytes >= MAX_BYTES / 4 * quarters ||
	    k->others.bytes + k->nbytes >= k->max_bytes / 4 * quarters ||
	    k->others.entries + k->nthings >= MAX_ENTRIES / 4 * quarters;
}

/*
 * A name that was there when the run began, or a file that is older than the
 * run: nobody can set the time at which it was made.  A command may make such
 * a name again without end; the run is ended then (GUARD_FLOODED).
 */
static bool
is_users(const struct guard *g, int dir, const struct name *n)
{
	const struct timespec *since = &g->git.since;
	struct statx st;

	if (n->leaf != NULL && n->leaf->was_there)
		return true;
	if (since->tv_sec == 0 || statx(dir, n->text, AT_SYMLINK_NOFOLLOW |
	    AT_NO_AUTOMOUNT, STATX_BTIME, &st) != 0 ||
	    (st.stx_mask & STATX_BTIME) == 0)
		return false;
	return st.stx_btime.tv_sec < since->tv_sec ||
	    (st.stx_btime.tv_sec == since->tv_sec &&
	    (long)st.stx_btime.tv_nsec <= since->tv_nsec);
}

void
guard_kept_name(const struct kept *kept, char ret[NAME_BYTES])
{
	/* Long names are cut, so that the number has room. */
	if (kept->is_aside && kept->number == 0)
		snprintf(ret, NAME_BYTES, "%s", kept->name->text);
	else if (kept->is_aside)
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

	guard_kept_name(kept, name);
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
		guard_kept_name(&s->leaf->kept[i], first);
		if (move_is_same(k->fd, first, name))
			return true;
	}
	return false;
}

unsigned
guard_spares_due(const struct guard *g)
{
	const struct keep *k = &g->keep;
	int64_t now = guard_now();
	unsigned n = 0;

	while (n < k->nspares && (g->is_final || k->nspares >
	    GUARD_SPARES / 2 || now - k->spare[(k->first_spare + n) %
	    GUARD_SPARES].at_ms >= SPARE_MS))
		n++;
	return n;
}

bool
guard_spare_judge(struct keep *k, unsigned i)
{
	const struct spare *s = &k->spare[(k->first_spare + i) %
	    GUARD_SPARES];
	char name[NAME_BYTES];

	guard_kept_name(&s->kept, name);
	return is_repeat(k, s, name) && move_remove(k->fd, name) == 0;
}

void
guard_spare_done(struct keep *k, bool is_repeat)
{
	k->first_spare = (k->first_spare + 1) % GUARD_SPARES;
	k->nspares--;
	if (is_repeat && k->nthings > 0)
		k->nthings--;
}

/* What is more than there is room for is not compared: it is kept. */
void
guard_keep_note(struct guard *g, struct leaf *l, const struct kept *kept)
{
	struct keep *k = &g->keep;

	if (!kept->is_aside)
		k->nthings++;
	if (l->nkept < GUARD_SINGLE)
		l->kept[l->nkept++] = *kept;
	else if (!kept->is_aside && k->nspares < GUARD_SPARES)
		k->spare[(k->first_spare + k->nspares++) % GUARD_SPARES] =
		    (struct spare){ l, *kept, guard_now() };
	guard_say(g, l, GUARD_MOVED, 0, kept);
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

/* Beside its place, under a name that means nothing. */
static int
lay_aside(struct guard *g, int dir, struct kept *kept)
{
	char to[NAME_BYTES];
	int rc = -1;

	kept->is_aside = true;
	for (int i = 0; i < TRIES && rc != 0; i++) {
		kept->number = ++g->keep.number;
		guard_kept_name(kept, to);
		rc = rename_wide(dir, kept->name->text, dir, to);
	}
	return rc;
}

/* To another file system: first out of the way, then carried. */
static int
take_across(struct guard *g, int dir, struct leaf *l, const struct kept *kept)
{
	struct keep *k = &g->keep;
	struct kept from = *kept, to = *kept;

	if (lay_aside(g, dir, &from) != 0)
		return -1;
	to.number = k->number + 1;
	k->number += CHORE_TRIES;
	if (!guard_chore(g, CHORE_CARRY, dir, l, &from, &to))
		guard_keep_note(g, l, &from);
	return 0;
}

static void
weigh(struct guard *g, struct leaf *l, const struct kept *kept)
{
	char name[NAME_BYTES];
	struct stat st;

	guard_kept_name(kept, name);
	if (fstatat(g->keep.fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	g->keep.nbytes += (uint64_t)st.st_blocks * 512;
	if (S_ISDIR(st.st_mode))
		(void)guard_chore(g, CHORE_WEIGH, g->keep.fd, l, kept, kept);
}

static int
take_in(struct guard *g, int dir, struct leaf *l, struct kept *kept)
{
	struct keep *k = &g->keep;
	char to[NAME_BYTES];

	if (keep_open(g) != 0)
		return -1;
	for (int i = 0; i < TRIES; i++) {
		kept->number = ++k->number;
		guard_kept_name(kept, to);
		if (rename_wide(dir, kept->name->text, k->fd, to) == 0) {
			weigh(g, l, kept);
			guard_keep_note(g, l, kept);
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return errno == EXDEV ? take_across(g, dir, l, kept) : -1;
}

/*
 * Quarantine is too small or out of reach: beside its place it is neither
 * lost nor obeyed.
 */
static int
take_aside(struct guard *g, int dir, struct leaf *l, struct kept *kept)
{
	if (lay_aside(g, dir, kept) != 0)
		return -1;
	guard_keep_note(g, l, kept);
	return 0;
}

/* Small enough to be removed by the way? */
static int
remove_small(int dir, const char *name)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return -1;
	if (S_ISDIR(st.st_mode))
		return unlinkat(dir, name, AT_REMOVEDIR);
	if (st.st_size > SMALL) {
		errno = EFBIG;
		return -1;
	}
	return unlinkat(dir, name, 0);
}

/* why: errno, or 0 where there is no quarantine. */
static int
take_out(struct guard *g, int dir, struct leaf *l, struct kept *kept, int why)
{
	struct wide w;
	int rc;

	(void)wide_give(&w, dir, NULL);
	rc = remove_small(dir, kept->name->text);
	wide_back(&w);
	if (rc != 0) {
		if (lay_aside(g, dir, kept) != 0)
			kept->number = 0;	/* where it is */
		if (!guard_chore(g, CHORE_REMOVE, dir, l, kept, kept)) {
			if (kept->number == 0)
				return -1;
			guard_keep_note(g, l, kept);
			return 0;
		}
	}
	guard_say(g, l, GUARD_REMOVED, why, &(struct kept){ .name =
	    kept->name });
	return 0;
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

/* So many that there is no end to be seen: told once. */
static void
count_planted(struct guard *g, struct leaf *l)
{
	if (++g->nplanted == g->max_planted)
		guard_say(g, l, GUARD_FLOODED, 0, NULL);
}

int
guard_keep_take(struct guard *g, int dir, const struct name *n)
{
	struct leaf *l = n->leaf != NULL ? n->leaf : n->held;
	struct kept kept = { .name = n };
	int sys;

	count_planted(g, l);
	if (g->keep.dir == NULL)
		return take_out(g, dir, l, &kept, 0);
	if (is_full(&g->keep, false)) {
		if (!is_users(g, dir, n))
			return take_out(g, dir, l, &kept, EDQUOT);
		if (is_full(&g->keep, true) &&
		    take_aside(g, dir, l, &kept) == 0)
			return 0;
	}
	if (take_in(g, dir, l, &kept) == 0 || is_gone(dir, n->text))
		return 0;
	if (errno == ENOENT) {		/* quarantine itself was removed */
		fd_close(&g->keep.fd);
		if (take_in(g, dir, l, &kept) == 0)
			return 0;
	}
	sys = errno;
	if (take_aside(g, dir, l, &kept) == 0 || is_gone(dir, n->text))
		return 0;
	/* No right to it, or a mount: not the jail's, and not to be lost. */
	if (sys != EACCES && sys != EPERM && sys != EBUSY && sys != EXDEV &&
	    take_out(g, dir, l, &kept, sys) == 0)
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
