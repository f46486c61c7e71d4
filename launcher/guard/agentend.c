#include "launcher/guard/agentend.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/agentconf.h"
#include "launcher/guard/agentend_parts.h"
#include "launcher/guard/gitend_parts.h"
#include "launcher/guard/guard_wide.h"
#include "platform/base/buf.h"
#include "platform/base/io.h"
#include "platform/base/path.h"
#include "platform/base/xalloc.h"
#include "platform/fd.h"

enum { TRIES = 4 };

/* ---- the beginning ---- */

/* A whole file; *len above AGENTCONF_MAX: it is longer. */
static char *
read_whole(struct arena *a, int fd, off_t size, size_t *len)
{
	size_t room = size < 0 || size > AGENTCONF_MAX ? AGENTCONF_MAX :
	    (size_t)size;
	char *text = arena_alloc(a, room + 2);
	ssize_t n;

	*len = 0;
	while (*len <= room && (n = pread(fd, text + *len, room + 1 - *len,
	    (off_t)*len)) > 0)
		*len += (size_t)n;
	if (*len > room)
		*len = AGENTCONF_MAX + 1;
	text[*len > room ? room : *len] = '\0';
	return text;
}

/* 1: something else than a file lies there, which no agent reads. */
static int
read_before(struct agentend_file *f, struct arena *a, struct err *e)
{
	auto_fd fd = open(f->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC);
	struct stat st;

	f->before = NULL;
	f->len = 0;
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0 && errno == ELOOP)
		return 1;
	if (fd < 0 || fstat(fd, &st) != 0)
		return err_sys(e, errno, "cannot read '%s', which the policy "
		    "lets the command write", f->path);
	if (!S_ISREG(st.st_mode))
		return 1;
	f->mode = st.st_mode & 0777;
	f->ino = st.st_ino;
	f->before = read_whole(a, fd, st.st_size, &f->len);
	if (f->len <= AGENTCONF_MAX)
		return 0;
	err_set(e, ERR_POLICY, "'%s' is longer than %d bytes: what its agent "
	    "executes could not be put back after the run", f->path,
	    AGENTCONF_MAX);
	err_hint(e, "filesystem.denyWrite keeps it as it is");
	return -1;
}

static int
read_all(struct agentend *end, struct arena *a, struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < end->nfiles; i++) {
		int rc = read_before(&end->files[i], a, e);

		if (rc < 0)
			return -1;
		if (rc == 0)
			end->files[n++] = end->files[i];
	}
	end->nfiles = n;
	return 0;
}

/*
 * A live run may have written a file already; its journal has the contents from
 * before.  A run that ends meanwhile removes its journal: then all journals are
 * read again.
 */
int
agentend_begin(struct agentend *end, struct arena *a, const char *journal,
    unsigned *made, int *ret_fd, struct err *e)
{
	*ret_fd = -1;
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &end->since);
	for (int i = 0; i < TRIES; i++) {
		unsigned long was = agentjournal_live(journal, NULL, NULL);

		if (read_all(end, a, e) != 0)
			return -1;
		if (agentjournal_live(journal, end, a) == was)
			break;
	}
	if (journal != NULL)
		*ret_fd = agentjournal_write(journal, end, made);
	return 0;
}

bool
agentend_is_needed(const struct agentend *end)
{
	for (size_t i = 0; i < end->nfiles; i++) {
		const struct agentend_file *f = &end->files[i];
		struct stat st;
		bool is_there = lstat(f->path, &st) == 0;

		if (is_there != (f->before != NULL) || (is_there &&
		    (st.st_ino != f->ino || st.st_ctim.tv_sec >
		    end->since.tv_sec || (st.st_ctim.tv_sec ==
		    end->since.tv_sec && st.st_ctim.tv_nsec >=
		    end->since.tv_nsec))))
			return true;
	}
	return false;
}

/* ---- the end ---- */

struct putting {
	const struct agentend	*end;
	struct gitkeep		*keep;
	struct arena		*arena;
	bool			 is_whole;	/* all of it is put back */
};

static void
told(const struct guard_told *t, void *arg)
{
	const struct putting *p = arg;
	struct guard_told mine = *t;

	mine.kind = GUARD_STATE;
	if (mine.deed == GUARD_CLEANED && p->is_whole)
		mine.deed = GUARD_PUT_BACK;
	p->end->told(&mine, p->end->arg);
}

static void
put_keys(struct buf *b, const struct agentconf_answer *w)
{
	for (size_t i = 0; i < w->nkeys; i++) {
		buf_puts(b, i > 0 ? ", " : "");
		buf_puts(b, w->keys[i]);
	}
	if (w->has_more)
		buf_puts(b, ", ...");
	/* Quiet ones, and the file could not be written over. */
	if (w->nkeys == 0)
		buf_puts(b, "what its server sets");
}

/* Of the row's format: a file that says nothing. */
static const char *
nothing(const struct agentconf_file *row)
{
	return row->format == AGENTCONF_TOML ? "" : "{}\n";
}

/* The contents to leave where the run removed the file; false: none. */
static bool
left_over(const struct putting *p, const struct agentend_file *f,
    const struct agentconf_file *row, struct agentconf_answer *w)
{
	if (f->before == NULL)
		return false;
	agentconf_sift(p->arena, row, f->before, f->len, nothing(row),
	    strlen(nothing(row)), w);
	return w->verdict == AGENTCONF_SIFTED ||
	    w->verdict == AGENTCONF_UNREADABLE;
}

/*
 * The folder, reached without a symlink; one that the run put in the way goes
 * to quarantine.  wide: rights that are given, until wide_back().  -1: there
 * is no such folder, and none is made as must_be says.
 */
static int
open_folder(const struct putting *p, const char *path, bool must_be,
    struct wide *wide)
{
	char at[PATH_MAX] = "", dir[PATH_MAX] = "/";
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t n = path_dir_len(path);

	if (strlen(path) >= sizeof at)
		return -1;
	for (size_t from = 1; fd >= 0 && from <= n; ) {
		size_t len = strcspn(path + from, "/");
		struct stat st;
		int next;

		memcpy(at, path, from + len);
		at[from + len] = '\0';
		next = openat(fd, at + from, O_PATH | O_DIRECTORY |
		    O_NOFOLLOW | O_CLOEXEC);
		if (next < 0 && fstatat(fd, at + from, &st,
		    AT_SYMLINK_NOFOLLOW) == 0)
			gitkeep_take(p->keep, fd, dir, at + from, at);
		if (next < 0 && must_be && mkdirat(fd, at + from, 0700) == 0)
			next = openat(fd, at + from, O_PATH | O_DIRECTORY |
			    O_NOFOLLOW | O_CLOEXEC);
		close(fd);
		fd = next;
		wide_back(wide);
		if (fd >= 0)
			(void)wide_give(wide, fd, NULL);
		memcpy(dir, at, from + len + 1);
		from += len + 1;
	}
	return fd;
}

/* Of the row's keys, or why all of it is as it was. */
static void
tell_back(struct putting *p, const struct agentend_file *f, const char *what)
{
	struct guard_told t = { .deed = GUARD_CLEANED, .path = f->path,
	    .what = what, .count = 1 };

	told(&t, p);
}

/*
 * The disk is full: writes into the file that is there, and the run's version of
 * it is not kept.  A thing that is no file, or has no room either, loses its
 * name.
 */
static void
write_over(struct putting *p, const struct agentend_file *f, int dir,
    const char *folder, const struct agentconf_answer *w, const char *what)
{
	auto_fd fd = openat(dir, path_name(f->path), O_WRONLY | O_NOFOLLOW |
	    O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_nlink == 1 && io_write_all(fd, w->text, w->len) == 0 &&
	    ftruncate(fd, (off_t)w->len) == 0)
		tell_back(p, f, what);
	else
		gitkeep_take(p->keep, dir, folder, path_name(f->path),
		    f->path);
}

static void
restore(struct putting *p, const struct agentend_file *f, int dir,
    const struct agentconf_answer *w, mode_t mode)
{
	char *folder = xstrdup(f->path);
	struct buf what;
	bool is_quiet;

	folder[path_dir_len(f->path)] = '\0';
	buf_init(&what, 0);
	is_quiet = w->verdict == AGENTCONF_SIFTED && w->nkeys == 0;
	p->is_whole = w->verdict == AGENTCONF_UNREADABLE;
	if (p->is_whole)
		buf_puts(&what, w->why);
	else
		put_keys(&what, w);
	if (w->text == NULL)
		gitkeep_take(p->keep, dir, folder, path_name(f->path),
		    f->path);
	else if (is_quiet && gitkeep_overwrite(dir, path_name(f->path),
	    w->text, w->len, mode) == 0)
		p->is_whole = false;
	else if (gitkeep_replace(p->keep, dir, folder, path_name(f->path),
	    w->text, w->len, what.data, mode) != 0)
		write_over(p, f, dir, folder, w, what.data);
	buf_release(&what);
	free(folder);
}

/* The run removed it: what the host's agent obeyed stays. */
static void
look_at_missing(struct putting *p, const struct agentend_file *f, int dir,
    const struct agentconf_file *row)
{
	struct agentconf_answer w;
	struct buf keys;

	if (!left_over(p, f, row, &w))
		return;
	restore(p, f, dir, &w, f->mode);
	buf_init(&keys, 0);
	put_keys(&keys, &w);
	tell_back(p, f, w.why != NULL ? w.why : keys.data);
	buf_release(&keys);
}

static void
look_in(struct putting *p, const struct agentend_file *f, int dir,
    const struct agentconf_file *row)
{
	struct agentconf_answer w = { .verdict = AGENTCONF_UNREADABLE,
	    .text = f->before, .len = f->len, .why = "it is no file" };
	struct wide wide = { .fd = -1 };
	auto_fd fd = -1;
	struct stat st;
	char *text;
	size_t len;

	if (fstatat(dir, path_name(f->path), &st, AT_SYMLINK_NOFOLLOW) != 0) {
		look_at_missing(p, f, dir, row);
		return;
	}
	if (S_ISREG(st.st_mode))
		fd = wide_open_file(&wide, dir, path_name(f->path));
	if (fd >= 0) {
		text = read_whole(p->arena, fd, st.st_size, &len);
		agentconf_sift(p->arena, row, f->before, f->len, text, len,
		    &w);
	}
	wide_back(&wide);
	if (w.verdict == AGENTCONF_SIFTED ||
	    w.verdict == AGENTCONF_UNREADABLE)
		restore(p, f, dir, &w, f->before != NULL ? f->mode :
		    st.st_mode & 0777);
}

static void
look_at(struct putting *p, const struct agentend_file *f)
{
	const struct agentconf_file *row = agentconf_find(f->name);
	struct wide wide = { .fd = -1 };
	struct agentconf_answer w;
	auto_fd dir = row == NULL ? -1 : open_folder(p, f->path,
	    left_over(p, f, row, &w), &wide);

	if (dir >= 0)
		look_in(p, f, dir, row);
	wide_back(&wide);
}

void
agentend_run(const struct agentend *end)
{
	struct putting p = { .end = end };
	struct gitend keep = { .quarantine = end->quarantine, .told = told,
	    .arg = &p };

	if (!agentend_is_needed(end))
		return;
	p.keep = gitkeep_new(&keep);
	for (size_t i = 0; i < end->nfiles; i++) {
		p.arena = arena_new();
		look_at(&p, &end->files[i]);
		arena_free(p.arena);
	}
	gitkeep_free(p.keep);
}
