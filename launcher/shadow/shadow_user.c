#include "launcher/shadow/shadow_user.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/guard_move.h"
#include "launcher/shadow/shadow_diff.h"
#include "launcher/shadow/shadow_parts.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"
#include "platform/pause.h"

enum { USER_WAIT_MS = 5000, DIFF_MAX = 64 << 20 };

const char *const shadow_state_names[] = { "changed", "new", "removed",
	"aside", "waiting" };

/* ---- walking over the store ---- */

/* A folder of the store, and where its host's is. */
struct visit {
	struct arena	*arena;
	struct store	*store;
	struct shade	*f;
	struct carry	*c;
	void		*arg;
};

typedef int	 visit_fn(struct visit *, struct err *);

static bool
is_key(const char *name)
{
	return strlen(name) == SHADOW_KEY - 1 &&
	    strspn(name, "0123456789abcdef") == SHADOW_KEY - 1;
}

static int
visit_one(struct visit *v, const char *key, visit_fn *fn, struct err *e)
{
	struct shade f;
	struct carry c;
	struct err err;
	int rc;

	if (shade_open(v->store, key, NULL, false, &f, &err) != 0) {
		/* Nothing is kept yet. */
		if (err.sys == ENOENT)
			return 0;
		*e = err;
		return -1;
	}
	c = (struct carry){ .store = v->store, .f = &f, .is_last = true,
	    .host_fd = shadow_tree_open(f.path) };
	v->f = &f;
	v->c = &c;
	rc = fn(v, e);
	carry_release(&c);
	shade_release(&f);
	return rc;
}

static int
visit_all(struct visit *v, visit_fn *fn, struct err *e)
{
	DIR *d = v->store->fd < 0 ? NULL : move_list(v->store->fd);
	const char *name;
	int rc = 0;

	while (rc == 0 && d != NULL && (name = move_next(d)) != NULL)
		if (is_key(name))
			rc = visit_one(v, name, fn, e);
	if (d != NULL)
		closedir(d);
	return rc;
}

/* ---- list ---- */

static time_t
time_of(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ?
	    st.st_mtime : 0;
}

static void
add(struct visit *v, const char *name, enum shadow_state state,
    bool is_host_newer)
{
	struct shadow_entries *l = v->arg;

	*vec_push(l) = (struct shadow_entry){
	    .path = arena_printf(v->arena, "%s/%s", v->f->path, name),
	    .place = arena_printf(v->arena, "%s/%s/jail/%s", v->store->path,
	    v->f->key, name), .state = state,
	    .is_host_newer = is_host_newer,
	    .time = time_of(v->f->jail_fd, name) };
}

static void
list_record(struct visit *v, const struct record *r)
{
	bool is_kept = r->kind == SHADOW_KEPT || r->kind == SHADOW_SIFTED;
	char stamp[SHA256_HEX], content[SHA256_HEX];
	bool is_host_newer;

	shadow_tree_stamp(v->f->jail_fd, r->name, stamp);
	if (shadow_tree_is_like(stamp, r->clean))
		return;
	shadow_tree_content(v->f->jail_fd, r->name, content);
	if (shadow_tree_is_like(content, r->base))
		return;
	if (!is_kept) {
		add(v, r->name, SHADOW_IS_WAITING, false);
		return;
	}
	is_host_newer = true;
	shadow_tree_stamp(v->c->host_fd, r->name, content);
	if (shadow_tree_is_like(content, r->host)) {
		is_host_newer = false;
	} else {
		shadow_tree_content(v->c->host_fd, r->name, content);
		is_host_newer = !shadow_tree_is_like(content, r->base);
	}
	add(v, r->name, strcmp(stamp, "-") == 0 ? SHADOW_IS_REMOVED :
	    strcmp(r->base, "-") == 0 ? SHADOW_IS_NEW : SHADOW_IS_CHANGED,
	    is_host_newer);
}

static int
open_aside(const struct shade *f, const char *number)
{
	char path[64];

	snprintf(path, sizeof path, "aside%s%s", number != NULL ? "/" : "",
	    number != NULL ? number : "");
	return openat(f->fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
}

/* Each number holds one name. */
static void
list_aside(struct visit *v, const char *number)
{
	struct shadow_entries *l = v->arg;
	auto_fd dir = strtoul(number, NULL, 10) == 0 ||
	    strlen(number) > 20 ? -1 : open_aside(v->f, number);
	DIR *d = dir < 0 ? NULL : move_list(dir);
	const char *name;

	while (d != NULL && (name = move_next(d)) != NULL)
		*vec_push(l) = (struct shadow_entry){
		    .path = arena_printf(v->arena, "%s/%s", v->f->path,
		    name), .place = arena_printf(v->arena,
		    "%s/%s/aside/%s/%s", v->store->path, v->f->key, number,
		    name), .state = SHADOW_IS_ASIDE,
		    .time = time_of(dir, name) };
	if (d != NULL)
		closedir(d);
}

static int
list_folder(struct visit *v, struct err *e)
{
	auto_fd dir = open_aside(v->f, NULL);
	DIR *d = dir < 0 ? NULL : move_list(dir);
	const char *number;

	(void)e;
	for (size_t i = 0; i < v->f->records.n; i++)
		list_record(v, &v->f->records.v[i]);
	while (d != NULL && (number = move_next(d)) != NULL)
		list_aside(v, number);
	if (d != NULL)
		closedir(d);
	return 0;
}

static int
compare_entries(const void *pa, const void *pb)
{
	const struct shadow_entry *a = pa, *b = pb;
	int d = strcmp(a->path, b->path);

	if (d == 0)
		d = (int)a->state - (int)b->state;
	if (d == 0)
		d = strcmp(a->place, b->place);
	return d;
}

/* Locked, so that no run is between two steps of its end. */
static int
open_locked(struct store *s, const char *state, struct err *e)
{
	if (store_open(s, state, false, e) != 0 || (s->fd >= 0 &&
	    store_lock(s, USER_WAIT_MS, e) != 0))
		return -1;
	return 0;
}

int
shadow_list(struct arena *a, const char *state, struct shadow_entries *ret,
    struct err *e)
{
	struct store store;
	struct visit v = { .arena = a, .store = &store, .arg = ret };
	int rc;

	*ret = (struct shadow_entries){ .v = NULL };
	rc = open_locked(&store, state, e);
	if (rc == 0)
		rc = visit_all(&v, list_folder, e);
	store_release(&store);
	if (ret->n > 0)
		qsort(ret->v, ret->n, sizeof *ret->v, compare_entries);
	return rc;
}

/* ---- paths that were typed ---- */

/* Real but for its last name, which may be a symlink, or be missing. */
static const char *
real_of(struct arena *a, const char *path)
{
	const char *real, *tail = "";
	char *p = arena_strdup(a, path);

	for (;;) {
		const char *name = arena_strdup(a, path_name(p));

		if (!path_cut(p))
			return path;
		tail = arena_printf(a, "/%s%s", name, tail);
		real = path_real(a, p[0] != '\0' ? p : "/");
		if (real != NULL)
			return arena_printf(a, "%s%s", strcmp(real, "/") == 0
			    ? "" : real, tail);
	}
}

static int
none_there(const char *path, struct err *e)
{
	err_set(e, ERR_POLICY, "the shadow has nothing of '%.200s'", path);
	err_hint(e, "'fence shadow list' says what it has");
	return -1;
}

/* ---- diff ---- */

struct differing {
	const char	*path;		/* or NULL */
	struct buf	*out;
	bool		 is_found;
};

static bool
is_asked(const char *path, const char *asked)
{
	return asked == NULL || str_path_below(path, asked) ||
	    str_path_below(asked, path);
}

/* What is in a folder: from there down. */
static void
diff_part(struct visit *v, const struct shadow_entry *entry,
    struct differing *d)
{
	size_t n = strlen(entry->path);
	const char *part = d->path != NULL && strlen(d->path) > n ?
	    d->path + n + 1 : "";
	auto_fd a_dir = -1, b_dir = -1;
	char *above;

	if (part[0] == '\0') {
		diff_trees(d->out, v->c->host_fd, path_name(entry->path),
		    v->f->jail_fd, path_name(entry->path), entry->path);
		return;
	}
	/* Both folders without a symlink on the way. */
	above = arena_printf(v->arena, "%s/%s", path_name(entry->path), part);
	(void)path_cut(above);
	a_dir = shadow_tree_open_at(v->c->host_fd, above);
	b_dir = shadow_tree_open_at(v->f->jail_fd, above);
	diff_trees(d->out, a_dir, path_name(d->path), b_dir,
	    path_name(d->path), d->path);
}

static void
diff_aside(struct visit *v, const struct shadow_entry *entry,
    struct differing *d)
{
	char *dir = arena_strdup(v->arena, entry->place +
	    strlen(v->store->path) + 1 + SHADOW_KEY);
	auto_fd fd = -1;

	(void)path_cut(dir);		/* "aside/3" */
	fd = shadow_tree_open_at(v->f->fd, dir);
	diff_trees(d->out, v->c->host_fd, path_name(entry->path), fd,
	    path_name(entry->path), entry->path);
}

static int
diff_folder(struct visit *v, struct err *e)
{
	struct differing *d = v->arg;
	struct shadow_entries entries = { .v = NULL };

	v->arg = &entries;
	(void)list_folder(v, e);
	v->arg = d;
	if (entries.n > 0)
		qsort(entries.v, entries.n, sizeof *entries.v,
		    compare_entries);
	for (size_t i = 0; i < entries.n; i++) {
		const struct shadow_entry *entry = &entries.v[i];

		if (entry->state == SHADOW_IS_ASIDE ? d->path != NULL &&
		    strcmp(d->path, entry->place) == 0 :
		    is_asked(entry->path, d->path)) {
			d->is_found = true;
			if (entry->state == SHADOW_IS_ASIDE)
				diff_aside(v, entry, d);
			else
				diff_part(v, entry, d);
		}
	}
	vec_release(&entries);
	return 0;
}

int
shadow_diff(struct arena *a, const char *state, const char *path,
    struct buf *ret, struct err *e)
{
	struct differing d = { path == NULL ? NULL : real_of(a, path), ret,
	    path == NULL };
	struct store store;
	struct visit v = { .arena = a, .store = &store, .arg = &d };
	int rc;

	ret->max_bytes = DIFF_MAX;
	rc = open_locked(&store, state, e);
	if (rc == 0)
		rc = visit_all(&v, diff_folder, e);
	store_release(&store);
	if (rc == 0 && !d.is_found)
		rc = none_there(path, e);
	if (rc == 0 && ret->failed)
		rc = err_set(e, ERR_POLICY, "the difference is longer than "
		    "%d MiB: name a file", DIFF_MAX >> 20);
	return rc;
}

/* ---- keep and drop ---- */

struct choice {
	const char	*path;
	shadow_told_fn	*told;
	void		*told_arg;
	size_t		 n;
	bool		 is_part;	/* of something that is there */
};

static int
refuse_live(struct store *s, struct err *e)
{
	if (!run_others_live(s, NULL))
		return 0;
	err_set(e, ERR_POLICY, "a run is using the shadow");
	err_hint(e, "try again when it has ended");
	return -1;
}

static int
fail(struct err *e, const char *what, const char *path)
{
	(void)err_sys(e, errno, "cannot %s '%.200s'", what, path);
	e->code = ERR_POLICY;
	return -1;
}

static int
check_host(const struct visit *v, const char *name, const char *path,
    struct err *e)
{
	struct stat st;

	if (fstatat(v->c->host_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	if (S_ISLNK(st.st_mode)) {
		err_set(e, ERR_POLICY, "'%.200s' is a symlink on the host",
		    path);
		err_hint(e, "change what it leads to, or remove it first");
		return -1;
	}
	if (st.st_uid != geteuid())
		return err_set(e, ERR_POLICY, "'%.200s' belongs to another "
		    "user", path);
	return 0;
}

static int
keep_one(struct visit *v, struct record *r, struct choice *ch,
    struct err *e)
{
	unsigned nrefused = 0;

	v->c->told = ch->told;
	v->c->told_arg = ch->told_arg;
	if (check_host(v, r->name, ch->path, e) != 0)
		return -1;
	if (carry_need_host(v->c) != 0)
		return fail(e, "open the folder of", ch->path);
	(void)move_remove(v->c->host_fd, SHADOW_TEMP);
	if (carry_out_all(v->c, r->name, r, &nrefused) != 0)
		return fail(e, "take over", ch->path);
	if (nrefused > 0)
		carry_tell(v->c, SHADOW_REFUSED, r->name, NULL, ELOOP);
	ch->n++;
	return shade_write(v->f) == 0 ? 0 : fail(e, "note", ch->path);
}

/* The record that the path names, and that differs; or NULL. */
static struct record *
find_choice(struct visit *v, struct choice *ch)
{
	struct shadow_entries entries = { .v = NULL };
	struct record *found = NULL;

	v->arg = &entries;
	for (size_t i = 0; i < v->f->records.n && found == NULL; i++) {
		struct record *r = &v->f->records.v[i];
		size_t before = entries.n;

		if (r->kind != SHADOW_KEPT && r->kind != SHADOW_SIFTED)
			continue;
		list_record(v, r);
		if (entries.n == before)
			continue;
		if (strcmp(entries.v[before].path, ch->path) == 0)
			found = r;
		ch->is_part |= str_path_below(ch->path,
		    entries.v[before].path) ||
		    str_path_below(entries.v[before].path, ch->path);
	}
	v->arg = ch;
	vec_release(&entries);
	return found;
}

static int
keep_folder(struct visit *v, struct err *e)
{
	struct choice *ch = v->arg;
	struct record *r = find_choice(v, ch);

	return r == NULL ? 0 : keep_one(v, r, ch, e);
}

static int
not_whole(const char *path, struct err *e)
{
	err_set(e, ERR_POLICY, "'%.200s' is not one of the names that the "
	    "shadow keeps", path);
	err_hint(e, "whole names are taken over: 'fence shadow list' has "
	    "them");
	return -1;
}

static int
choose(struct arena *a, const char *state, struct choice *ch, visit_fn *fn,
    struct err *e)
{
	struct store store;
	struct visit v = { .arena = a, .store = &store, .arg = ch };
	int rc = open_locked(&store, state, e);

	if (rc == 0 && store.fd >= 0)
		rc = refuse_live(&store, e);
	if (rc == 0)
		rc = visit_all(&v, fn, e);
	store_release(&store);
	if (rc == 0 && ch->n == 0)
		rc = ch->is_part ? not_whole(ch->path, e) :
		    none_there(ch->path, e);
	return rc;
}

int
shadow_keep(struct arena *a, const char *state, const char *path,
    shadow_told_fn *told, void *arg, struct err *e)
{
	struct choice ch = { .path = real_of(a, path), .told = told,
	    .told_arg = arg };

	return choose(a, state, &ch, keep_folder, e);
}

/* One, or all that are below the path. */
static int
drop_records(struct visit *v, struct choice *ch, struct err *e)
{
	for (size_t i = v->f->records.n; i-- > 0;) {
		struct record *r = &v->f->records.v[i];
		const char *path = arena_printf(v->arena, "%s/%s", v->f->path,
		    r->name);

		if (r->kind != SHADOW_KEPT && r->kind != SHADOW_SIFTED)
			continue;
		ch->is_part |= str_path_below(ch->path, path);
		if (!str_path_below(path, ch->path))
			continue;
		/* Without its record a rest would be set aside. */
		if (move_remove(v->f->jail_fd, r->name) != 0)
			return fail(e, "remove what is kept of", path);
		shade_forget(v->f, path_name(path));
		ch->n++;
	}
	return shade_write(v->f) == 0 ? 0 : fail(e, "note", ch->path);
}

static int
drop_aside(struct visit *v, struct choice *ch)
{
	struct shadow_entries entries = { .v = NULL };
	auto_fd dir = open_aside(v->f, NULL);
	DIR *d = dir < 0 ? NULL : move_list(dir);
	const char *number;

	v->arg = &entries;
	while (d != NULL && (number = move_next(d)) != NULL) {
		size_t before = entries.n;

		list_aside(v, number);
		if (entries.n > before && (strcmp(entries.v[before].place,
		    ch->path) == 0 || str_path_below(entries.v[before].path,
		    ch->path)) && move_remove(dir, number) == 0)
			ch->n++;
	}
	if (d != NULL)
		closedir(d);
	v->arg = ch;
	vec_release(&entries);
	return 0;
}

static int
drop_folder(struct visit *v, struct err *e)
{
	struct choice *ch = v->arg;

	(void)drop_aside(v, ch);
	return drop_records(v, ch, e);
}

int
shadow_drop(struct arena *a, const char *state, const char *path,
    size_t *ret_n, struct err *e)
{
	struct choice ch = { .path = real_of(a, path) };
	int rc = choose(a, state, &ch, drop_folder, e);

	*ret_n = ch.n;
	return rc;
}

/* ---- reset ---- */

/* No longer found by then, should we be killed. */
static int
remove_folders(struct store *s)
{
	DIR *d = move_list(s->fd);
	const char *name;
	int rc = 0;

	while (d != NULL && rc == 0 && (name = move_next(d)) != NULL) {
		char gone[sizeof "gone." + SHADOW_KEY];

		if (is_key(name)) {
			snprintf(gone, sizeof gone, "gone.%s", name);
			(void)move_remove(s->fd, gone);
			rc = renameat(s->fd, name, s->fd, gone);
			pause_at("shadow-reset");
			if (rc == 0)
				rc = move_remove(s->fd, gone);
		} else if (strcmp(name, "lock") != 0 &&
		    strcmp(name, "version") != 0) {
			rc = move_remove(s->fd, name);
		}
	}
	if (d != NULL)
		closedir(d);
	return rc == 0 && d != NULL ? unlinkat(s->fd, "version", 0) : -1;
}

int
shadow_reset(const char *state, bool is_forced, shadow_sift_fn *sift,
    void *sift_arg, shadow_told_fn *told, void *arg, struct err *e)
{
	const struct shadow_config cfg = { .sift = sift,
	    .sift_arg = sift_arg, .told = told, .told_arg = arg };
	struct store store;
	struct err other;
	bool is_ours = store_open(&store, state, false, &other) == 0;
	int rc;

	store_release(&store);
	rc = store_open_any(&store, state, e);
	if (rc != 0 || store.fd < 0) {
		store_release(&store);
		return rc;
	}
	rc = store_lock(&store, USER_WAIT_MS, e);
	if (rc == 0)
		rc = refuse_live(&store, e);
	if (rc == 0 && is_ours)
		shadow_sweep_locked(&store, &cfg);
	if (rc == 0 && is_ours && !is_forced && run_has_dead(&store)) {
		rc = err_set(e, ERR_POLICY, "'%s' has state that could not "
		    "be carried to the host", store.path);
		err_hint(e, "'fence shadow list' says which; --force removes "
		    "it");
	}
	if (rc == 0 && remove_folders(&store) != 0 && errno != ENOENT)
		rc = fail(e, "remove", store.path);
	store_release(&store);
	return rc;
}
