/* Folders from the jail to the host. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/guard_move.h"
#include "launcher/guard/guard_wide.h"
#include "launcher/shadow/shadow_parts.h"
#include "platform/fd.h"
#include "platform/pause.h"

struct merge {
	struct carry		*c;
	struct shadow_copying	 copying;
	unsigned		 nconflicts;
};

/* What the host has not, whole. */
static int
add_new(struct merge *m, int from, const char *name, int to)
{
	struct carry *c = m->c;

	if (shadow_tree_copy(&m->copying, from, name, c->host_fd,
	    SHADOW_TEMP) != 0) {
		if (errno != ELOOP && errno != EMLINK && errno != ENXIO)
			return -1;
		if (m->copying.nrefused++ == 0)
			m->copying.refused = errno;
		return 0;
	}
	pause_at("shadow-carry-folder");
	if (renameat2(c->host_fd, SHADOW_TEMP, to, name, RENAME_NOREPLACE) !=
	    0) {
		int saved = errno;

		(void)move_remove(c->host_fd, SHADOW_TEMP);
		errno = saved;
		return -1;
	}
	return 0;
}

static int merge_any(struct merge *, int from, const char *name, int to,
    unsigned depth);

static int
merge_dir(struct merge *m, int from, const char *name, int to,
    unsigned depth)
{
	struct wide w;
	auto_fd in = wide_open_dir(&w, from, name);
	auto_fd out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	DIR *d = in < 0 || out < 0 ? NULL : move_list(in);
	const char *entry;
	int rc = d == NULL ? -1 : 0;

	while (rc == 0 && (entry = move_next(d)) != NULL)
		rc = merge_any(m, in, entry, out, depth + 1);
	if (d != NULL)
		closedir(d);
	wide_back(&w);
	return rc;
}

static int
merge_any(struct merge *m, int from, const char *name, int to,
    unsigned depth)
{
	char jail[SHA256_HEX], host[SHA256_HEX];
	struct stat ours, theirs;

	if (depth > SHADOW_DEPTH || m->copying.entries == 0) {
		errno = EFBIG;
		return -1;
	}
	m->copying.entries--;
	if (fstatat(from, name, &ours, AT_SYMLINK_NOFOLLOW) != 0)
		return -1;
	if (fstatat(to, name, &theirs, AT_SYMLINK_NOFOLLOW) != 0)
		return errno != ENOENT ? -1 : depth == 0 ||
		    !S_ISLNK(ours.st_mode) ? add_new(m, from, name, to) :
		    (m->nconflicts++, 0);	/* its depth is another there */
	if (S_ISDIR(ours.st_mode) && S_ISDIR(theirs.st_mode))
		return merge_dir(m, from, name, to, depth);
	shadow_tree_content(from, name, jail);
	shadow_tree_content(to, name, host);
	if (!shadow_tree_is_like(jail, host))
		m->nconflicts++;
	return 0;
}

/*
 * Folders below the one that is merged have lost their depth: symlinks in them
 * are judged from where they begin, which is stricter.
 */
void
carry_dir(struct carry *c, const char *name)
{
	struct merge m = { .c = c };
	int rc;

	if (c->is_beside || !c->is_last)
		return;
	/* An empty one is a mount point of an earlier run. */
	if (unlinkat(c->f->jail_fd, name, AT_REMOVEDIR) == 0)
		return;
	carry_copying(c, SHADOW_BYTES, &m.copying);
	rc = carry_need_host(c) != 0 ? -1 :
	    merge_any(&m, c->f->jail_fd, name, c->host_fd, 0);
	carry_count(c, SHADOW_BYTES, &m.copying);
	if (rc != 0) {
		if (errno == EFBIG || errno == EXDEV || errno == ENOBUFS)
			(void)carry_aside(c, SHADOW_REFUSED, name, errno);
		else {
			c->has_failed = true;
			carry_tell(c, SHADOW_FAILED, name, NULL, errno);
		}
		return;
	}
	carry_tell(c, SHADOW_WAS_CARRIED, name, NULL, 0);
	if (m.copying.nrefused > 0)
		(void)carry_aside(c, SHADOW_REFUSED, name,
		    m.copying.refused);
	else if (m.nconflicts > 0)
		(void)carry_aside(c, SHADOW_SET_ASIDE, name, 0);
	else
		(void)move_remove(c->f->jail_fd, name);
}

/* The host's version, which SHADOW_TEMP is now, goes aside. */
static int
save_replaced(struct carry *c, const char *name)
{
	char *to;

	if (shade_set_aside(c->store, c->f, c->host_fd, SHADOW_TEMP, name,
	    false, &to) != 0)
		return -1;
	carry_tell(c, SHADOW_HOST_ASIDE, name, to, 0);
	free(to);
	return 0;
}

int
carry_out_all(struct carry *c, const char *name, struct record *r,
    unsigned *nrefused)
{
	struct shadow_copying copying;
	struct stat st;
	bool is_there = fstatat(c->host_fd, name, &st,
	    AT_SYMLINK_NOFOLLOW) == 0;
	bool is_wanted = fstatat(c->f->jail_fd, name, &(struct stat){ 0 },
	    AT_SYMLINK_NOFOLLOW) == 0;
	int rc = 0;

	shadow_copying_init(&copying, SHADOW_OUTWARD);
	copying.is_synced = true;
	if (is_wanted && shadow_tree_copy(&copying, c->f->jail_fd, name,
	    c->host_fd, SHADOW_TEMP) != 0)
		return -1;
	pause_at("shadow-keep");
	if (is_wanted)
		rc = renameat2(c->host_fd, SHADOW_TEMP, c->host_fd, name,
		    is_there ? RENAME_EXCHANGE : RENAME_NOREPLACE);
	else if (is_there)
		rc = renameat(c->host_fd, name, c->host_fd, SHADOW_TEMP);
	if (rc == 0 && is_there)
		rc = save_replaced(c, name);
	*nrefused = copying.nrefused;
	if (rc != 0)
		return -1;
	shadow_tree_stamp(c->host_fd, name, r->host);
	shadow_tree_content(c->host_fd, name, r->base);
	shadow_tree_stamp(c->f->jail_fd, name, r->clean);
	strcpy(r->seen, r->clean);
	return 0;
}
