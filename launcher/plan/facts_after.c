/*
 * What follows from the mounts, once they are planned: which guarded names are
 * left to watch for, and the table of the shim.
 */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "launcher/plan/facts.h"
#include "platform/base/buf.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"

/*
 * Nothing can be made where a mount is in the way; what appears there is the
 * host's own.  In a folder of the jail's own nothing of that is seen.
 */
static void
drop_closed(struct facts *f, const struct mounts *mounts)
{
	struct guard_list *l = &f->guards;
	size_t k = 0;

	for (size_t i = 0; i < l->n; i++) {
		size_t at = mounts_over(mounts, l->v[i].path);
		enum mount_kind kind = mounts->list.v[at].kind;

		if (kind == MOUNT_RW || (kind != MOUNT_OTHER &&
		    l->v[i].kind != GUARD_ABSENT))
			l->v[k++] = l->v[i];
	}
	l->n = k;
}

/* Could the command make it, were it gone? */
static bool
is_in_roots(const struct mounts *mounts, const char *path)
{
	for (size_t i = 0; i < mounts->roots.n; i++)
		if (str_path_below(path, mounts->roots.v[i]))
			return true;
	return false;
}

void
facts_guard_mounts(struct facts *f, const struct mounts *mounts)
{
	drop_closed(f, mounts);
	for (size_t i = MOUNTS_BASE; i < mounts->list.n; i++) {
		const struct jail_mount *m = &mounts->list.v[i];
		struct guard_path g = { .path = m->path, .dev = m->dev,
		    .ino = m->ino };
		struct stat st;

		if (m->ino == 0)
			continue;	/* pinned, or a place of ours */
		g.is_beyond = !is_in_roots(mounts, m->path);
		if (m->kind == MOUNT_MASK_FILE || m->kind == MOUNT_MASK_DIR)
			g.kind = GUARD_HIDDEN;
		else if (m->kind == MOUNT_RO)
			g.kind = GUARD_READONLY;
		else if (m->kind == MOUNT_RW && lstat(m->path, &st) == 0 &&
		    !S_ISDIR(st.st_mode))
			g.kind = GUARD_WRITABLE;
		else
			continue;
		*vec_push(&f->guards) = g;
	}
}

/* The folder of the name before: most are in the same. */
struct last_folder {
	char		path[PATH_MAX];
	char		inode[48];	/* "DEVICE INODE " */
};

static void
put_name(struct buf *b, struct last_folder *f, char kind, const char *path)
{
	size_t n = path_dir_len(path);
	struct stat st;

	if (n >= sizeof f->path)
		return;
	if (strncmp(f->path, path, n) != 0 || f->path[n] != '\0') {
		memcpy(f->path, path, n);
		f->path[n] = '\0';
		if (stat(n > 0 ? f->path : "/", &st) != 0)
			st = (struct stat){ 0 };
		snprintf(f->inode, sizeof f->inode, "%llu %llu ",
		    (unsigned long long)st.st_dev,
		    (unsigned long long)st.st_ino);
	}
	buf_putc(b, kind);
	buf_putc(b, ' ');
	buf_puts(b, f->inode);
	buf_puts(b, path);
	buf_putc(b, '\0');
}

void
facts_names(const struct facts *f, const struct mounts *mounts,
    struct buf *b)
{
	struct last_folder last = { .path = "-" };
	bool is_hiding = mounts->list.v[0].kind == MOUNT_CLOSED;

	for (size_t i = MOUNTS_BASE; i < mounts->list.n && !is_hiding; i++)
		is_hiding = mounts->list.v[i].kind == MOUNT_MASK_AROUND;
	if (is_hiding)
		buf_add(b, "D", 2);
	for (size_t i = 0; i < f->guards.n; i++)
		if (f->guards.v[i].kind == GUARD_ABSENT ||
		    f->guards.v[i].kind == GUARD_LINK)
			put_name(b, &last, 'g', f->guards.v[i].path);
		else if (f->guards.v[i].kind == GUARD_WRITABLE)
			put_name(b, &last, 'f', f->guards.v[i].path);
		else if (f->guards.v[i].kind == GUARD_READONLY &&
		    !f->guards.v[i].is_beyond)
			put_name(b, &last, 'b', f->guards.v[i].path);
}
