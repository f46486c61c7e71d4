/*
 * What agents' files held before a run: records that end with NUL, and after
 * one of a length that many bytes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/agentend_parts.h"
#include "launcher/guard/guard_move.h"
#include "launcher/guard/journal.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"

enum { JOURNAL_MAX = 256 << 20, FILES_MAX = 256 };

static const char head[] = "fence agents 1";

/* ---- writing ---- */

static void
put_number(struct buf *b, char kind, unsigned long long n)
{
	buf_printf(b, "%c%llu", kind, n);
	buf_add(b, "", 1);
}

static void
put_file(struct buf *b, const struct agentend_file *f)
{
	journal_put(b, 'P', f->path);
	journal_put(b, 'N', f->name);
	if (f->before == NULL)
		return;
	put_number(b, 'M', f->mode);
	put_number(b, 'I', f->ino);
	put_number(b, 'B', f->len);
	buf_add(b, f->before, f->len);
}

static void
describe(struct buf *b, const struct agentend *end)
{
	journal_put(b, 'F', head);
	put_number(b, 'S', (unsigned long long)end->since.tv_sec);
	put_number(b, 's', (unsigned long long)end->since.tv_nsec);
	if (end->quarantine != NULL)
		journal_put(b, 'Q', end->quarantine);
	for (size_t i = 0; i < end->nfiles; i++)
		put_file(b, &end->files[i]);
	journal_put(b, 'E', "");
}

int
agentjournal_write(const char *path, const struct agentend *end,
    unsigned *made)
{
	struct buf b;
	int fd;

	buf_init(&b, JOURNAL_MAX);
	describe(&b, end);
	fd = journal_write(path, &b, made);
	buf_release(&b);
	return fd;
}

/* ---- reading ---- */

struct reading {
	struct agentend	 end;
	struct { struct agentend_file *v; size_t n, cap; } files;
	char		*text;
	bool		 is_whole;
};

static void
record(struct reading *r, char kind, const char *text)
{
	struct agentend_file *f = r->files.n > 0 ?
	    &r->files.v[r->files.n - 1] : NULL;
	uint64_t n = 0;

	(void)str_to_u64(str_of(text), UINT64_MAX, &n);
	if (kind == 'P' && text[0] == '/' && r->files.n < FILES_MAX)
		*vec_push(&r->files) = (struct agentend_file){
		    .path = text, .name = "" };
	else if (kind == 'S')
		r->end.since.tv_sec = (time_t)n;
	else if (kind == 's')
		r->end.since.tv_nsec = (long)n;
	else if (kind == 'Q' && text[0] == '/')
		r->end.quarantine = text;
	else if (kind == 'N' && f != NULL)
		f->name = text;
	else if (kind == 'M' && f != NULL)
		f->mode = (mode_t)(n & 0777);
	else if (kind == 'I' && f != NULL)
		f->ino = (ino_t)n;
	else if (kind == 'E')
		r->is_whole = true;
}

/* The bytes that follow a record of their length; false: too few. */
static bool
take_bytes(struct reading *r, const char *length, const char **at,
    const char *end)
{
	uint64_t n;

	if (r->files.n == 0 || str_to_u64(str_of(length),
	    (uint64_t)(end - *at), &n) != 0)
		return false;
	r->files.v[r->files.n - 1].before = *at;
	r->files.v[r->files.n - 1].len = (size_t)n;
	*at += n;
	return true;
}

static void
read_records(struct reading *r, size_t len)
{
	const char *at = r->text, *end = r->text + len;

	while (at < end && at[0] != '\0') {
		const char *text = at + 1;
		char kind = at[0];

		at = text + strlen(text) + 1;
		if (at > end || (kind == 'B' && !take_bytes(r, text, &at,
		    end)))
			return;
		if (kind != 'B')
			record(r, kind, text);
	}
}

/* false, too, for a journal that was cut short. */
static bool
reading_init(struct reading *r, int fd, off_t size)
{
	ssize_t n;

	*r = (struct reading){ .is_whole = false };
	if (size <= 0 || size > JOURNAL_MAX)
		return false;
	r->text = xcalloc(1, (size_t)size + 2);
	n = pread(fd, r->text, (size_t)size, 0);
	if (n > 0)
		read_records(r, (size_t)n);
	r->end.files = r->files.v;
	r->end.nfiles = r->files.n;
	return r->is_whole;
}

static void
reading_release(struct reading *r)
{
	vec_release(&r->files);
	free(r->text);
}

/* ---- other runs ---- */

static void
adopt_one(struct agentend_file *f, const struct reading *r, struct arena *a)
{
	for (size_t i = 0; i < r->end.nfiles; i++) {
		const struct agentend_file *theirs = &r->end.files[i];

		if (strcmp(theirs->path, f->path) != 0)
			continue;
		f->before = theirs->before == NULL ? NULL :
		    arena_strndup(a, theirs->before, theirs->len);
		f->len = theirs->len;
		if (theirs->before != NULL)
			f->mode = theirs->mode;
		/* As if it had changed: it is looked at in any case. */
		f->ino = 0;
	}
}

static void
adopt(struct agentend *end, int fd, struct arena *a)
{
	struct reading r;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return;
	if (reading_init(&r, fd, st.st_size))
		for (size_t i = 0; i < end->nfiles; i++)
			adopt_one(&end->files[i], &r, a);
	reading_release(&r);
}

static int
open_next(int dir, DIR *d, const char **ret)
{
	while (d != NULL && (*ret = move_next(d)) != NULL) {
		int fd = !journal_is_agents(*ret) ? -1 : openat(dir, *ret,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

		if (fd >= 0)
			return fd;
	}
	return -1;
}

unsigned long
agentjournal_live(const char *path, struct agentend *end, struct arena *a)
{
	struct arena *mine = arena_new();
	auto_fd dir = path == NULL ? -1 : open(path_dir(mine, path),
	    O_PATH | O_DIRECTORY | O_CLOEXEC);
	DIR *d = dir < 0 ? NULL : move_list(dir);
	unsigned long sum = 0;
	const char *name;
	int fd;

	while ((fd = open_next(dir, d, &name)) >= 0) {
		if (flock(fd, LOCK_SH | LOCK_NB) != 0) {
			sum += str_hash(name, strlen(name));
			if (end != NULL)
				adopt(end, fd, a);
		}
		close(fd);
	}
	if (d != NULL)
		closedir(d);
	arena_free(mine);
	return sum;
}

void
agentend_sweep(const char *state, void (*told)(const struct guard_told *,
    void *), void *arg)
{
	auto_fd dir = journal_folder(state);
	DIR *d = dir < 0 ? NULL : move_list(dir);
	struct reading r;
	const char *name;
	struct stat st;
	bool has_swept = false;
	int fd;

	while ((fd = open_next(dir, d, &name)) >= 0) {
		if (journal_is_dead(fd, &st)) {
			if (reading_init(&r, fd, st.st_size)) {
				r.end.told = told;
				r.end.arg = arg;
				agentend_run(&r.end);
			}
			reading_release(&r);
			(void)unlinkat(dir, name, 0);
			has_swept = true;
		}
		close(fd);
	}
	if (d != NULL)
		closedir(d);
	/* Its launcher was killed before it had a guard. */
	if (has_swept)
		(void)unlinkat(dir, "../runs", AT_REMOVEDIR);
}
