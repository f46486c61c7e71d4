#include "launcher/shadow/shadow.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/guard_move.h"
#include "launcher/shadow/shadow_parts.h"
#include "platform/base/path.h"
#include "platform/base/xalloc.h"
#include "platform/fd.h"
#include "platform/pause.h"

const char *
shadow_store(struct arena *a, const char *state)
{
	return arena_printf(a, "%s/shadow", state);
}

const char *
shadow_source(struct arena *a, const char *state, const char *folder)
{
	char key[SHADOW_KEY];

	store_key(folder, key);
	return arena_printf(a, "%s/shadow/%s/jail", state, key);
}

/* The path, or what exists of it, belongs to us. */
static bool
is_ours(const char *path)
{
	char *p = xstrdup(path);
	struct stat st = { 0 };
	bool is_found;

	while (!(is_found = stat(p, &st) == 0) && path_cut(p))
		;
	free(p);
	return is_found && st.st_uid == geteuid();
}

bool
shadow_may(const char *state, const char *folder)
{
	return state != NULL && is_ours(state) && is_ours(folder);
}

/* ---- begin: one name ---- */

static bool
is_carried(enum shadow_kind kind)
{
	return kind == SHADOW_CARRIED || kind == SHADOW_CREDENTIAL;
}

static int
fail(const struct carry *c, const char *name, struct err *e)
{
	int sys = errno;

	err_sys(e, sys, "cannot copy '%s/%s' for the jail", c->f->path,
	    name);
	if (sys == ENOSPC || sys == EDQUOT)
		err_hint(e, "the copies lie in '%s'", c->store->path);
	return -1;
}

/*
 * The host's changed since the copy was made, or the other way that the name
 * is treated makes the copy another's.
 */
static bool
must_take(const struct carry *c, const char *name, struct record *r,
    enum shadow_kind kind)
{
	char stamp[SHA256_HEX], content[SHA256_HEX];

	if (is_carried(r->kind) != is_carried(kind))
		return true;
	shadow_tree_stamp(c->host_fd, name, stamp);
	if (shadow_tree_is_like(stamp, r->host))
		return false;
	shadow_tree_content(c->host_fd, name, content);
	if (!shadow_tree_is_like(content, r->base))
		return true;
	strcpy(r->host, stamp);
	return false;
}

static bool
jail_changed(const struct carry *c, const char *name, const struct record *r)
{
	char digest[SHA256_HEX];

	shadow_tree_stamp(c->f->jail_fd, name, digest);
	if (shadow_tree_is_like(digest, r->clean))
		return false;
	shadow_tree_content(c->f->jail_fd, name, digest);
	return !shadow_tree_is_like(digest, r->base);
}

static bool
is_there(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Missing inside; said again when the host's changes. */
static void
leave_out(struct carry *c, const char *name, enum shadow_kind kind, int sys)
{
	struct record *r = shade_add(c->f, name, kind);

	r->kind = kind;
	shadow_tree_stamp(c->host_fd, name, r->host);
	strcpy(r->base, "?");
	strcpy(r->clean, "-");
	strcpy(r->seen, "-");
	carry_tell(c, SHADOW_LEFT_OUT, name, NULL, sys);
}

/* The host's takes the place of the jail's, which goes aside if it differs. */
static int
take(struct carry *c, const char *name, enum shadow_kind kind, bool differs,
    struct err *e)
{
	if (differs && is_there(c->f->jail_fd, name) &&
	    !carry_aside(c, SHADOW_SET_ASIDE, name, 0))
		return fail(c, name, e);
	if (carry_in(c, name, kind) == 0)
		return 0;
	if (errno != EFBIG && errno != ENXIO && errno != EXDEV &&
	    errno != EACCES && errno != EPERM)
		return fail(c, name, e);
	leave_out(c, name, kind, errno);
	return 0;
}

static bool
is_same(const struct carry *c, const char *name)
{
	char jail[SHA256_HEX], host[SHA256_HEX];

	shadow_tree_content(c->f->jail_fd, name, jail);
	shadow_tree_content(c->host_fd, name, host);
	return shadow_tree_is_like(jail, host);
}

static int
begin_copy(struct carry *c, const struct shadow_item *item, struct err *e)
{
	struct record *r = shade_find(c->f, item->name);
	const char *name = item->name;
	bool differs;

	if (item->kind == SHADOW_CARRIED && carry_is_shm(name))
		return 0;
	if (r == NULL && !is_there(c->f->jail_fd, name) &&
	    (c->host_fd < 0 || !is_there(c->host_fd, name)))
		return 0;	/* what a run makes differs from nothing */
	if (r == NULL && !is_there(c->f->jail_fd, name))
		return take(c, name, item->kind, false, e);
	/* Made by a run that listed it otherwise, or that was killed here. */
	if (r == NULL && c->is_beside)
		return shade_add(c->f, name, item->kind) != NULL ? 0 : -1;
	if (r == NULL)
		return take(c, name, item->kind, !is_same(c, name), e);
	if (!must_take(c, name, r, item->kind)) {
		r->kind = item->kind;
		return 0;
	}
	differs = jail_changed(c, name, r);
	if (item->kind == SHADOW_CREDENTIAL && is_carried(r->kind)) {
		/* Of two the one that was written last, also for a run that
		 * is live: the other is worth nothing any more. */
		if (differs && carry_jail_is_newer(c, name))
			return 0;
		return take(c, name, item->kind, differs, e);
	}
	if (c->is_beside)
		return 0;
	return take(c, name, item->kind, differs, e);
}

/* ---- begin: mount points ---- */

static bool
is_mount_point(int dir, const char *name, bool is_dir, bool is_any)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	if (!is_dir)
		return S_ISREG(st.st_mode) && (is_any || (st.st_size == 0 &&
		    st.st_nlink == 1));
	if (!S_ISDIR(st.st_mode) || is_any)
		return S_ISDIR(st.st_mode);
	/* Only an empty one can be removed. */
	return unlinkat(dir, name, AT_REMOVEDIR) == 0 &&
	    mkdirat(dir, name, 0700) == 0;
}

static int
begin_place(struct carry *c, const struct shadow_item *item, struct err *e)
{
	const char *name = item->name;
	int fd;

	if (is_mount_point(c->f->jail_fd, name, item->is_dir, c->is_beside))
		return 0;
	if (is_there(c->f->jail_fd, name)) {
		if (c->is_beside) {
			err_set(e, ERR_JAIL, "'%s/%s' is used otherwise by "
			    "another run", c->f->path, name);
			err_hint(e, "start again when it has ended");
			return -1;
		}
		if (!carry_aside(c, SHADOW_SET_ASIDE, name, 0))
			return fail(c, name, e);
	}
	shade_forget(c->f, name);
	if (item->is_dir)
		return mkdirat(c->f->jail_fd, name, 0700) == 0 ? 0 :
		    fail(c, name, e);
	fd = openat(c->f->jail_fd, name, O_WRONLY | O_CREAT | O_EXCL |
	    O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail(c, name, e);
	fd_close(&fd);
	return 0;
}

/* ---- begin ---- */

static bool
is_host_empty(const struct carry *c)
{
	auto_fd fd = c->host_fd < 0 ? -1 : openat(c->host_fd, ".", O_RDONLY |
	    O_DIRECTORY | O_CLOEXEC);

	return c->host_fd < 0 || (fd >= 0 && shadow_tree_is_empty(fd));
}

static int
begin_folder(const struct shadow_config *cfg, struct store *store,
    const struct shadow_folder *folder, bool is_beside, struct err *e)
{
	char key[SHADOW_KEY];
	struct shade f;
	struct carry c;
	bool is_blank;
	int rc = 0;

	store_key(folder->path, key);
	if (shade_open(store, key, folder->path, true, &f, e) != 0)
		return -1;
	carry_init(&c, store, &f);
	c.told = cfg->told;
	c.told_arg = cfg->told_arg;
	c.is_beside = is_beside;
	c.is_last = !is_beside;
	f.is_rest_carried = folder->is_rest_carried;
	/* Most homes have few of the folders that a policy grants. */
	is_blank = f.records.n == 0 && shadow_tree_is_empty(f.jail_fd) &&
	    is_host_empty(&c);
	for (size_t i = 0; rc == 0 && i < folder->nitems; i++)
		if (folder->items[i].kind == SHADOW_FRESH)
			carry_fresh(&c, folder->items[i].name);
		else if (folder->items[i].kind == SHADOW_BOUND)
			rc = begin_place(&c, &folder->items[i], e);
		else if (!is_blank)
			rc = begin_copy(&c, &folder->items[i], e);
	pause_at("shadow-filled");
	if (rc == 0 && shade_write(&f) != 0)
		rc = err_sys(e, errno, "cannot write '%s/%s/index'",
		    store->path, key);
	carry_release(&c);
	shade_release(&f);
	return rc;
}

struct shadow *
shadow_begin(const struct shadow_config *cfg, struct err *e)
{
	struct shadow *s = xcalloc(1, sizeof *s);
	struct store store;
	bool is_beside;
	int rc;

	s->watch_fd = -1;
	s->run.fd = -1;
	s->state = xstrdup(cfg->state);
	s->sift = cfg->sift;
	s->sift_arg = cfg->sift_arg;
	rc = store_open(&store, cfg->state, true, e);
	if (rc == 0)
		rc = store_lock(&store, LOCK_WAIT_MS, e);
	if (rc == 0)
		shadow_sweep_locked(&store, cfg);
	if (rc == 0)
		rc = run_create(&store, cfg->run_id, cfg->folders,
		    cfg->nfolders, &s->run, e);
	if (rc == 0)
		rc = run_fits(&store, &s->run, e);
	is_beside = rc == 0 && run_others_live(&store, cfg->run_id);
	for (size_t i = 0; rc == 0 && i < cfg->nfolders; i++)
		rc = begin_folder(cfg, &store, &cfg->folders[i], is_beside,
		    e);
	if (rc == 0 && run_begun(&s->run) != 0)
		rc = err_sys(e, errno, "cannot write '%s/runs/%s'",
		    store.path, cfg->run_id);
	pause_at("shadow-begun");
	if (rc != 0 && s->run.id != NULL)
		run_close(&store, &s->run, true);
	store_release(&store);
	if (rc == 0)
		return s;
	shadow_free(s);
	return NULL;
}

void
shadow_free(struct shadow *s)
{
	if (s == NULL)
		return;
	fd_close(&s->watch_fd);
	free(s->wds);
	run_release(&s->run);
	free(s->state);
	free(s);
}
