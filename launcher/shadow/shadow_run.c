#include "launcher/shadow/shadow_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/guard_move.h"
#include "platform/base/io.h"
#include "platform/base/vec.h"
#include "platform/fd.h"

static const char run_head[] = "fence shadow run 1";

static void
describe(struct buf *b, const struct shadow_folder *folders, size_t n)
{
	store_put(b, 'F', run_head);
	for (size_t i = 0; i < n; i++) {
		store_put(b, 'P', folders[i].path);
		store_put(b, 'R', folders[i].is_rest_carried ? "1" : "0");
		for (size_t k = 0; k < folders[i].nitems; k++) {
			const struct shadow_item *item = &folders[i].items[k];
			char kind[] = { (char)('0' + item->kind), '\0' };

			store_put(b, 'N', item->name);
			store_put(b, 'K', kind);
		}
	}
}

static bool
take_run(struct run *r, char what, const char *text, bool *is_whole)
{
	struct run_folder *f = r->folders.n == 0 ? NULL :
	    &r->folders.v[r->folders.n - 1];

	switch (what) {
	case 'F':
		return strcmp(text, run_head) == 0;
	case 'P':
		*vec_push(&r->folders) = (struct run_folder){
		    .path = xstrdup(text) };
		return text[0] == '/';
	case 'R':
		if (f != NULL)
			f->is_rest_carried = text[0] == '1';
		return f != NULL;
	case 'N':
		if (f != NULL)
			*vec_push(&f->items) = (struct shadow_item){
			    .name = xstrdup(text) };
		return f != NULL && store_is_name(text);
	case 'K':
		return f != NULL && f->items.n > 0 && store_take_kind(text,
		    &f->items.v[f->items.n - 1].kind);
	case 'E':
		*is_whole = true;
		return true;
	default:
		return false;
	}
}

static bool
read_run(struct run *r, const char *text, size_t len)
{
	bool is_whole = false;

	for (const char *p = text; p < text + len; p += strlen(p) + 1)
		if (p[0] == '\0' || !take_run(r, p[0], p + 1, &is_whole))
			return false;
	return is_whole;
}

int
run_create(const struct store *s, const char *id,
    const struct shadow_folder *folders, size_t n, struct run *r,
    struct err *e)
{
	auto_fd dir = store_sub(s->fd, "runs", true);
	struct buf b;
	bool is_written;

	*r = (struct run){ .fd = -1 };
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < folders[i].nitems; k++)
			if (!store_is_name(folders[i].items[k].name))
				return err_set(e, ERR_JAIL, "'%.200s' is no "
				    "name in '%.200s'",
				    folders[i].items[k].name,
				    folders[i].path);
	buf_init(&b, STORE_MAX);
	describe(&b, folders, n);
	r->fd = dir < 0 ? -1 : openat(dir, id, O_RDWR | O_CREAT | O_EXCL |
	    O_NOFOLLOW | O_CLOEXEC, 0600);
	is_written = r->fd >= 0 && !b.failed &&
	    flock(r->fd, LOCK_EX) == 0 &&	/* a look is short */
	    io_write_all(r->fd, b.data, b.len) == 0;
	if (is_written)
		(void)read_run(r, b.data, b.len);
	buf_release(&b);
	if (is_written) {
		r->id = xstrdup(id);
		return 0;
	}
	err_sys(e, errno, "cannot write '%s/runs/%s'", s->path, id);
	if (r->fd >= 0)
		(void)unlinkat(dir, id, 0);
	run_release(r);
	return -1;
}

int
run_begun(const struct run *r)
{
	return io_write_all(r->fd, "E", 2);
}

/* Nobody holds it, and it was not removed before we did. */
static bool
is_dead(int fd)
{
	struct stat st;

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	    fstat(fd, &st) == 0 && st.st_nlink > 0;
}

struct listing {
	int	 fd;
	DIR	*d;
};

static int
open_run(const struct listing *l, const char *name)
{
	return openat(l->fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK |
	    O_CLOEXEC);
}

static struct listing
list_runs(const struct store *s)
{
	struct listing l = { s->fd < 0 ? -1 : store_sub(s->fd, "runs", false),
	    NULL };

	if (l.fd >= 0)
		l.d = move_list(l.fd);
	return l;
}

static void
end_list(struct listing *l)
{
	if (l->d != NULL)
		closedir(l->d);
	fd_close(&l->fd);
}

int
run_next_dead(const struct store *s, void **list, struct run *r)
{
	struct listing *l = *list;
	const char *name;

	if (l == NULL) {
		*list = l = xcalloc(1, sizeof *l);
		*l = list_runs(s);
	}
	while (l->d != NULL && (name = move_next(l->d)) != NULL) {
		auto_fd fd = open_run(l, name);
		size_t len = 0;
		char *text;
		bool is_whole;

		if (!is_dead(fd))
			continue;
		*r = (struct run){ .fd = -1 };
		text = store_read(l->fd, name, &len);
		is_whole = text != NULL && read_run(r, text, len);
		free(text);
		r->id = xstrdup(name);
		r->fd = fd_take(&fd);
		if (is_whole)
			return 1;
		run_close(s, r, true);	/* no jail was started */
	}
	end_list(l);
	free(l);
	*list = NULL;
	return 0;
}

static bool
any_run(const struct store *s, const char *not_id, bool is_wanted_dead)
{
	struct listing l = list_runs(s);
	bool found = false;
	const char *name;

	while (!found && l.d != NULL && (name = move_next(l.d)) != NULL) {
		auto_fd fd = not_id != NULL && strcmp(name, not_id) == 0 ?
		    -1 : open_run(&l, name);

		if (fd < 0)
			continue;
		found = (flock(fd, LOCK_SH | LOCK_NB) == 0) ==
		    is_wanted_dead;
	}
	end_list(&l);
	return found;
}

/* ---- runs beside each other ---- */

enum { AS_KEPT, AS_SIFTED, AS_CARRIED, AS_ANY };

static const char *const treatments[] = { "kept in the shadow",
	"compared before it is carried to the host", "carried to the host" };

/* How a run treats a name, which may be one of no list. */
static int
treatment(const struct run_folder *f, const char *name)
{
	for (size_t i = 0; i < f->items.n; i++)
		if (strcmp(f->items.v[i].name, name) == 0)
			switch (f->items.v[i].kind) {
			case SHADOW_KEPT:
				return AS_KEPT;
			case SHADOW_SIFTED:
				return AS_SIFTED;
			case SHADOW_BOUND:	/* what is mounted holds */
			case SHADOW_FRESH:
				return AS_ANY;
			default:
				return AS_CARRIED;
			}
	return f->is_rest_carried ? AS_CARRIED : AS_KEPT;
}

static int
check_name(const struct run_folder *mine, const struct run_folder *other,
    const char *name, struct err *e)
{
	int a = treatment(mine, name), b = treatment(other, name);

	if (a == b || a == AS_ANY || b == AS_ANY)
		return 0;
	err_set(e, ERR_JAIL, "'%.200s/%.100s' is %s by this run, and %s by "
	    "another one", mine->path, name, treatments[a], treatments[b]);
	err_hint(e, "their policies differ; start again when that one has "
	    "ended");
	return -1;
}

static int
check_folder(const struct run_folder *mine, const struct run_folder *other,
    struct err *e)
{
	int rc = 0;

	if (strcmp(mine->path, other->path) != 0)
		return 0;
	for (size_t i = 0; rc == 0 && i < mine->items.n; i++)
		rc = check_name(mine, other, mine->items.v[i].name, e);
	for (size_t i = 0; rc == 0 && i < other->items.n; i++)
		rc = check_name(mine, other, other->items.v[i].name, e);
	/* No item is called so: what names of no list are. */
	return rc == 0 ? check_name(mine, other, "/", e) : rc;
}

static int
check_run(const struct listing *l, const char *name, const struct run *mine,
    struct err *e)
{
	struct run other = { .fd = -1 };
	size_t len = 0;
	char *text = store_read(l->fd, name, &len);
	int rc = 0;

	/* One that is about to begin has no end yet, and waits for the lock. */
	if (text != NULL)
		(void)read_run(&other, text, len);
	for (size_t i = 0; i < mine->folders.n; i++)
		for (size_t k = 0; rc == 0 && k < other.folders.n; k++)
			rc = check_folder(&mine->folders.v[i],
			    &other.folders.v[k], e);
	run_release(&other);
	free(text);
	return rc;
}

int
run_fits(const struct store *s, const struct run *mine, struct err *e)
{
	struct listing l = list_runs(s);
	const char *name;
	int rc = 0;

	while (rc == 0 && l.d != NULL && (name = move_next(l.d)) != NULL) {
		auto_fd fd = strcmp(name, mine->id) == 0 ? -1 :
		    open_run(&l, name);

		if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0)
			rc = check_run(&l, name, mine, e);
	}
	end_list(&l);
	return rc;
}

bool
run_others_live(const struct store *s, const char *id)
{
	return any_run(s, id, false);
}

bool
run_has_dead(const struct store *s)
{
	return any_run(s, NULL, true);
}

void
run_close(const struct store *s, struct run *r, bool is_done)
{
	auto_fd dir = store_sub(s->fd, "runs", false);

	if (is_done && dir >= 0)
		(void)unlinkat(dir, r->id, 0);
	if (r->fd >= 0)
		(void)flock(r->fd, LOCK_UN);
	run_release(r);
}

void
run_release(struct run *r)
{
	for (size_t i = 0; i < r->folders.n; i++) {
		struct run_folder *f = &r->folders.v[i];

		for (size_t k = 0; k < f->items.n; k++)
			free((char *)f->items.v[k].name);
		vec_release(&f->items);
		free(f->path);
	}
	vec_release(&r->folders);
	fd_close(&r->fd);
	free(r->id);
	r->id = NULL;
}
