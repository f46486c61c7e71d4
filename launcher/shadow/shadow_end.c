/* The jail's folders back to the host, while a run lasts and at its end. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/guard_move.h"
#include "launcher/shadow/shadow_parts.h"
#include "platform/base/vec.h"
#include "platform/fd.h"
#include "platform/pause.h"
#include "policy/guard.h"

enum {
	READY_WAIT_MS = 1000,
	READY_MAX = 4096,	/* a jail may save for ever: then at the end */
	NAMES_MAX = 4096,	/* of no list, in one folder */
};

struct names {
	char	**v;
	size_t	  n, cap;
};

static void
names_release(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	vec_release(names);
}

/* ---- the end of one folder ---- */

static void
end_item(struct carry *c, const struct shadow_item *item,
    struct names *doomed)
{
	struct stat st;

	switch (item->kind) {
	case SHADOW_KEPT:
		carry_kept(c, item->name, SHADOW_KEPT);
		break;
	case SHADOW_SIFTED:
		carry_sifted(c, item->name);
		break;
	case SHADOW_CARRIED:
	case SHADOW_CREDENTIAL:
		if (carry_file(c, item->name, item->kind))
			*vec_push(doomed) = xstrdup(item->name);
		break;
	case SHADOW_FRESH:
		carry_fresh(c, item->name);
		break;
	case SHADOW_BOUND:
		if (c->is_beside || fstatat(c->f->jail_fd, item->name, &st,
		    AT_SYMLINK_NOFOLLOW) != 0)
			break;
		/* What lies in it was made where nothing was mounted. */
		if (S_ISREG(st.st_mode) && st.st_size == 0 ?
		    unlinkat(c->f->jail_fd, item->name, 0) != 0 :
		    unlinkat(c->f->jail_fd, item->name, AT_REMOVEDIR) != 0)
			(void)carry_aside(c, SHADOW_SET_ASIDE, item->name, 0);
		break;
	}
}

static bool
is_listed(const struct run_folder *folder, const char *name)
{
	for (size_t i = 0; i < folder->items.n; i++)
		if (strcmp(folder->items.v[i].name, name) == 0)
			return true;
	return false;
}

static void
end_other(struct carry *c, bool is_carried, const char *name,
    struct names *doomed)
{
	const struct record *r = shade_find(c->f, name);
	struct stat st;

	if ((r != NULL && (r->kind == SHADOW_KEPT ||
	    r->kind == SHADOW_SIFTED)) ||
	    fstatat(c->f->jail_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;		/* another run's list has it */
	if (!is_carried || strcmp(name, SHADOW_TEMP) == 0) {
		carry_kept(c, name, SHADOW_KEPT);
	} else if (S_ISDIR(st.st_mode)) {
		carry_dir(c, name);
	} else if (S_ISREG(st.st_mode)) {
		if (carry_file(c, name, SHADOW_CARRIED))
			*vec_push(doomed) = xstrdup(name);
	} else if (c->is_last && !c->is_beside) {
		/* Sockets and FIFOs end with the processes that used them. */
		if (S_ISSOCK(st.st_mode) || S_ISFIFO(st.st_mode))
			(void)unlinkat(c->f->jail_fd, name, 0);
		else
			(void)carry_aside(c, SHADOW_REFUSED, name,
			    S_ISLNK(st.st_mode) ? ELOOP : ENXIO);
	}
}

static void
end_others(struct carry *c, const struct run_folder *folder,
    struct names *doomed)
{
	struct names names = { 0 };
	DIR *d = move_list(c->f->jail_fd);
	const char *name;

	while (d != NULL && names.n < NAMES_MAX &&
	    (name = move_next(d)) != NULL)
		if (!is_listed(folder, name))
			*vec_push(&names) = xstrdup(name);
	if (d != NULL)
		closedir(d);
	for (size_t i = 0; i < names.n; i++)
		end_other(c, folder->is_rest_carried &&
		    !guard_is_pattern(c->f->path, names.v[i]), names.v[i],
		    doomed);
	if (names.n == NAMES_MAX)
		carry_tell(c, SHADOW_REFUSED, ".", NULL, EFBIG);
	names_release(&names);
}

/* What was carried leaves the store: first the record, then the file. */
static void
forget(struct carry *c, const struct names *doomed)
{
	if (c->is_last && !c->is_beside)
		for (size_t i = 0; i < doomed->n; i++)
			shade_forget(c->f, doomed->v[i]);
	if (shade_write(c->f) != 0) {
		c->has_failed = true;
		carry_tell(c, SHADOW_FAILED, ".", NULL, errno);
		return;
	}
	pause_at("shadow-noted");
	if (c->is_last && !c->is_beside)
		for (size_t i = 0; i < doomed->n; i++)
			(void)move_remove(c->f->jail_fd, doomed->v[i]);
}

static bool
end_folder(struct store *store, const struct shadow *s,
    const struct run_folder *folder, bool is_beside, uint64_t *left,
    shadow_told_fn *told, void *arg)
{
	struct names doomed = { 0 };
	char key[SHADOW_KEY];
	struct shade f;
	struct carry c;
	struct err e;

	store_key(folder->path, key);
	if (shade_open(store, key, folder->path, false, &f, &e) != 0)
		return e.sys == ENOENT;		/* reset meanwhile */
	if (f.records.n == 0 && shadow_tree_is_empty(f.jail_fd)) {
		shade_release(&f);
		return true;
	}
	carry_init(&c, store, &f);
	c.sift = s->sift;
	c.sift_arg = s->sift_arg;
	c.told = told;
	c.told_arg = arg;
	c.is_beside = is_beside;
	c.is_last = true;
	c.left = left;
	for (size_t i = 0; i < folder->items.n; i++)
		end_item(&c, &folder->items.v[i], &doomed);
	end_others(&c, folder, &doomed);
	forget(&c, &doomed);
	names_release(&doomed);
	carry_release(&c);
	shade_release(&f);
	return !c.has_failed;
}

/* Under the store's lock. */
static void
end_run(struct store *store, struct shadow *s, shadow_told_fn *told,
    void *arg)
{
	bool is_beside = run_others_live(store, s->run.id);
	uint64_t left = SHADOW_END_BYTES;
	bool is_done = true;

	for (size_t i = 0; i < s->run.folders.n; i++)
		is_done &= end_folder(store, s, &s->run.folders.v[i],
		    is_beside, &left, told, arg);
	pause_at("shadow-ended");
	run_close(store, &s->run, is_done);
}

void
shadow_end(struct shadow *s, shadow_told_fn *told, void *arg)
{
	struct store store;
	struct err e;

	if (s->run.id == NULL)
		return;
	pause_at("shadow-ending");
	/* Else the next start does it. */
	if (store_open(&store, s->state, false, &e) == 0 && store.fd >= 0 &&
	    store_lock(&store, LOCK_WAIT_MS, &e) == 0)
		end_run(&store, s, told, arg);
	else
		run_release(&s->run);
	store_release(&store);
}

void
shadow_sweep_locked(struct store *store, const struct shadow_config *cfg)
{
	struct shadow s = { .sift = cfg->sift, .sift_arg = cfg->sift_arg };
	void *list = NULL;
	struct err e;

	/* What a live run keeps this one could carry: later. */
	while (run_next_dead(store, &list, &s.run) == 1)
		if (run_fits(store, &s.run, &e) == 0)
			end_run(store, &s, cfg->told, cfg->told_arg);
		else
			run_release(&s.run);
}

void
shadow_sweep(const char *state, shadow_sift_fn *sift, void *sift_arg,
    shadow_told_fn *told, void *arg)
{
	struct shadow_config cfg = { .sift = sift, .sift_arg = sift_arg,
	    .told = told, .told_arg = arg };
	struct store store;
	struct err e;

	if (state == NULL)
		return;
	if (store_open(&store, state, false, &e) == 0 && store.fd >= 0 &&
	    run_has_dead(&store) &&
	    store_lock(&store, LOCK_WAIT_MS, &e) == 0)
		shadow_sweep_locked(&store, &cfg);
	store_release(&store);
}

/* ---- while the run lasts ---- */

size_t
shadow_fds(const struct shadow *s, int *ret, size_t max)
{
	if (s->run.fd < 0)
		return 0;
	if (max > 0)
		ret[0] = s->run.fd;
	return 1;
}

int
shadow_watch(struct shadow *s)
{
	enum { SAVED = IN_CLOSE_WRITE | IN_MOVED_TO };
	struct store store;
	struct err e;

	if (s->watch_fd >= 0)
		return s->watch_fd;
	if (store_open(&store, s->state, false, &e) == 0 && store.fd >= 0)
		s->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	s->wds = xcalloc(s->run.folders.n + 1, sizeof *s->wds);
	for (size_t i = 0; s->watch_fd >= 0 && i < s->run.folders.n; i++) {
		char path[FD_PATH_MAX], key[SHADOW_KEY];
		struct shade f;

		store_key(s->run.folders.v[i].path, key);
		s->wds[i] = -1;
		if (shade_open(&store, key, s->run.folders.v[i].path, false,
		    &f, &e) != 0)
			continue;
		fd_path(f.jail_fd, path);
		s->wds[i] = inotify_add_watch(s->watch_fd, path, SAVED);
		shade_release(&f);
	}
	store_release(&store);
	s->is_late = true;
	return s->watch_fd;
}

/* Reads all there is; marks the folders that it is about. */
static void
drain(struct shadow *s, bool *is_touched)
{
	char data[16 << 10]
	    __attribute__((aligned(__alignof__(struct inotify_event))));
	const struct inotify_event *ev;
	ssize_t n;

	while ((n = read(s->watch_fd, data, sizeof data)) > 0)
		for (const char *p = data; p < data + n;
		    p += sizeof *ev + ev->len) {
			ev = (const struct inotify_event *)p;
			for (size_t i = 0; i < s->run.folders.n; i++)
				is_touched[i] |= s->wds[i] == ev->wd ||
				    (ev->mask & IN_Q_OVERFLOW) != 0;
		}
}

static void
carry_credentials(struct store *store, const struct run_folder *folder,
    shadow_told_fn *told, void *arg)
{
	char key[SHADOW_KEY];
	bool is_any = false;
	struct shade f;
	struct carry c;
	struct err e;

	store_key(folder->path, key);
	if (shade_open(store, key, folder->path, false, &f, &e) != 0)
		return;
	carry_init(&c, store, &f);
	c.told = told;
	c.told_arg = arg;
	for (size_t i = 0; i < folder->items.n; i++)
		if (folder->items.v[i].kind == SHADOW_CREDENTIAL) {
			(void)carry_file(&c, folder->items.v[i].name,
			    SHADOW_CREDENTIAL);
			is_any = true;
		}
	if (is_any)
		(void)shade_write(&f);
	carry_release(&c);
	shade_release(&f);
}

static bool
has_credentials(const struct run_folder *folder)
{
	for (size_t i = 0; i < folder->items.n; i++)
		if (folder->items.v[i].kind == SHADOW_CREDENTIAL)
			return true;
	return false;
}

void
shadow_ready(struct shadow *s, shadow_told_fn *told, void *arg)
{
	bool *is_touched = xcalloc(s->run.folders.n + 1, sizeof *is_touched);
	bool is_any = false;
	struct store store;
	struct err e;

	drain(s, is_touched);
	for (size_t i = 0; i < s->run.folders.n; i++) {
		is_touched[i] |= s->is_late;
		is_touched[i] &= has_credentials(&s->run.folders.v[i]);
		is_any |= is_touched[i];
	}
	s->is_late = false;
	if (is_any && s->ncarried++ < READY_MAX &&
	    store_open(&store, s->state, false, &e) == 0) {
		if (store.fd >= 0 &&
		    store_lock(&store, READY_WAIT_MS, &e) == 0)
			for (size_t i = 0; i < s->run.folders.n; i++)
				if (is_touched[i])
					carry_credentials(&store,
					    &s->run.folders.v[i], told, arg);
		store_release(&store);
	}
	free(is_touched);
}
