#include "launcher/shadow/shadow_store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/guard_move.h"
#include "launcher/guard/guard_wide.h"
#include "platform/base/buf.h"
#include "platform/base/clock.h"
#include "platform/base/io.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"

enum { FORMAT = 1, FORMAT_MAX = 64, LOCK_TURN_MS = 10 };

static const char version_head[] = "fence shadow ";

void
store_key(const char *folder, char ret[SHADOW_KEY])
{
	char hex[SHA256_HEX];
	struct sha256 s;

	sha256_init(&s);
	sha256_add(&s, folder, strlen(folder));
	sha256_end_hex(&s, hex);
	memcpy(ret, hex, SHADOW_KEY - 1);
	ret[SHADOW_KEY - 1] = '\0';
}

/* ---- version ---- */

static int
newer(const struct store *s, const char *text, struct err *e)
{
	err_set(e, ERR_JAIL, "'%s/version' is of another version of fence "
	    "('%.40s'; this fence knows %d)", s->path, text, FORMAT);
	err_hint(e, "the fence that wrote it reads it; 'fence shadow reset' "
	    "removes what is kept there");
	return -1;
}

static int
write_version(const struct store *s, struct err *e)
{
	auto_fd fd = openat(s->fd, "version.new", O_WRONLY | O_CREAT |
	    O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	char text[FORMAT_MAX];

	snprintf(text, sizeof text, "%s%d\n", version_head, FORMAT);
	if (fd < 0 || io_write_all(fd, text, strlen(text)) != 0 ||
	    renameat(s->fd, "version.new", s->fd, "version") != 0)
		return err_sys(e, errno, "cannot write '%s/version'",
		    s->path);
	return 0;
}

static int
check_version(const struct store *s, bool make, struct err *e)
{
	char text[FORMAT_MAX], *end;
	ssize_t n = fd_read_file(s->fd, "version", text, sizeof text);
	uint64_t v;

	if (n < 0 && errno == ENOENT)
		return make ? write_version(s, e) : 0;
	if (n < 0)
		return err_sys(e, errno, "cannot read '%s/version'", s->path);
	if ((end = strchr(text, '\n')) != NULL)
		*end = '\0';
	if (strncmp(text, version_head, sizeof version_head - 1) != 0 ||
	    str_to_u64(str_of(text + sizeof version_head - 1), INT_MAX,
	    &v) != 0 || v != FORMAT)
		return newer(s, text, e);
	return 0;
}

/* ---- opening and locking ---- */

/* Whoever else could write here could say what to carry where. */
static bool
is_ours(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    (st.st_mode & 022) == 0;
}

static int
open_folder(struct store *s, const char *state, bool make, struct err *e)
{
	size_t size = strlen(state) + sizeof "/shadow";

	s->fd = s->lock_fd = -1;
	s->path = xcalloc(1, size);
	snprintf(s->path, size, "%s/shadow", state);
	if (make && (path_make_above(s->path, 0700) != 0 ||
	    (mkdir(s->path, 0700) != 0 && errno != EEXIST)))
		return err_sys(e, errno, "cannot make '%s'", s->path);
	s->fd = open(s->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (s->fd < 0)
		return errno == ENOENT && !make ? 0 : err_sys(e, errno,
		    "cannot open '%s'", s->path);
	if (is_ours(s->fd))
		return 0;
	fd_close(&s->fd);
	return err_set(e, ERR_JAIL, "'%s' belongs to another user, or others "
	    "may write to it", s->path);
}

int
store_open(struct store *s, const char *state, bool make, struct err *e)
{
	if (open_folder(s, state, make, e) != 0)
		return -1;
	if (s->fd < 0 || check_version(s, make, e) == 0)
		return 0;
	fd_close(&s->fd);
	return -1;
}

int
store_open_any(struct store *s, const char *state, struct err *e)
{
	return open_folder(s, state, false, e);
}

int
store_lock(struct store *s, int wait_ms, struct err *e)
{
	int64_t until = clock_ms(CLOCK_MONOTONIC) + wait_ms;
	auto_fd fd = openat(s->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW |
	    O_CLOEXEC, 0600);

	if (fd < 0)
		return err_sys(e, errno, "cannot open '%s/lock'", s->path);
	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(e, errno, "cannot lock '%s/lock'",
			    s->path);
		if (clock_ms(CLOCK_MONOTONIC) >= until) {
			err_set(e, ERR_JAIL, "'%s' is held by another fence",
			    s->path);
			err_hint(e, "it is changing what agents keep; "
			    "'fuser %.100s/lock' names it", s->path);
			return -1;
		}
		(void)poll(NULL, 0, LOCK_TURN_MS);
	}
	s->lock_fd = fd_take(&fd);
	return 0;
}

/* Also in processes that were forked meanwhile. */
void
store_unlock(struct store *s)
{
	if (s->lock_fd >= 0)
		(void)flock(s->lock_fd, LOCK_UN);
	fd_close(&s->lock_fd);
}

void
store_release(struct store *s)
{
	store_unlock(s);
	fd_close(&s->fd);
	free(s->path);
	s->path = NULL;
}

/* ---- the index ---- */

/*
 * Records that end with NUL, as a path may hold everything else: "F" the
 * format, "P" the path, "R" the rest, then of each name "K" its kind, "N" name,
 * "H" "B" "C" "S" its digests; "E" is the end.
 */
static const char index_head[] = "fence shadow index 1";

void
store_put(struct buf *b, char what, const char *text)
{
	buf_putc(b, what);
	buf_add(b, text, strlen(text) + 1);
}

struct record *
shade_find(const struct shade *f, const char *name)
{
	for (size_t i = 0; i < f->records.n; i++)
		if (strcmp(f->records.v[i].name, name) == 0)
			return &f->records.v[i];
	return NULL;
}

struct record *
shade_add(struct shade *f, const char *name, enum shadow_kind kind)
{
	struct record *r = shade_find(f, name);

	if (r == NULL) {
		r = vec_push(&f->records);
		*r = (struct record){ .name = xstrdup(name), .kind = kind,
		    .host = "-", .base = "-", .clean = "-", .seen = "-" };
	}
	return r;
}

void
shade_forget(struct shade *f, const char *name)
{
	struct record *r = shade_find(f, name);

	if (r == NULL)
		return;
	free(r->name);
	*r = f->records.v[--f->records.n];
}

static bool
take_digest(const char *text, char ret[SHA256_HEX])
{
	if (strcmp(text, "-") != 0 && strcmp(text, "?") != 0 &&
	    (strlen(text) != SHA256_HEX - 1 ||
	    strspn(text, "0123456789abcdef") != SHA256_HEX - 1))
		return false;
	strcpy(ret, text);
	return true;
}

bool
store_take_kind(const char *text, enum shadow_kind *ret)
{
	if (text[0] < '0' || text[0] > '0' + SHADOW_FRESH || text[1] != '\0')
		return false;
	*ret = (enum shadow_kind)(text[0] - '0');
	return true;
}

bool
store_is_name(const char *text)
{
	return text[0] != '\0' && strcmp(text, ".") != 0 &&
	    strcmp(text, "..") != 0 && strchr(text, '/') == NULL &&
	    strlen(text) <= NAME_MAX;
}

/* One record of the text; false: it is none of ours. */
static bool
take_index(struct shade *f, char what, const char *text, bool *is_whole)
{
	struct record *r = f->records.n == 0 ? NULL :
	    &f->records.v[f->records.n - 1];

	switch (what) {
	case 'F':
		return strcmp(text, index_head) == 0;
	case 'P':
		return strcmp(text, f->path) == 0;
	case 'R':
		f->is_rest_carried = text[0] == '1';
		return true;
	case 'N':
		return store_is_name(text) && shade_find(f, text) == NULL &&
		    shade_add(f, text, SHADOW_KEPT) != NULL;
	case 'K':
		return r != NULL && store_take_kind(text, &r->kind);
	case 'H':
		return r != NULL && take_digest(text, r->host);
	case 'B':
		return r != NULL && take_digest(text, r->base);
	case 'C':
		return r != NULL && take_digest(text, r->clean);
	case 'S':
		return r != NULL && take_digest(text, r->seen);
	case 'E':
		*is_whole = true;
		return true;
	default:
		return false;
	}
}

char *
store_read(int dir, const char *name, size_t *ret_len)
{
	auto_fd fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_CLOEXEC);
	struct stat st;
	char *text;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) != 0)
		return NULL;
	if (!S_ISREG(st.st_mode) || st.st_size > STORE_MAX) {
		errno = EFBIG;
		return NULL;
	}
	text = xcalloc(1, (size_t)st.st_size + 2);
	n = io_read_all(fd, text, (size_t)st.st_size);
	*ret_len = n > 0 ? (size_t)n : 0;
	text[*ret_len] = text[*ret_len + 1] = '\0';
	return text;
}

static int
read_index(struct shade *f)
{
	bool is_whole = false;

	f->text = store_read(f->fd, "index", &f->len);
	if (f->text == NULL)
		return errno == ENOENT ? 0 : -1;
	for (const char *p = f->text; p < f->text + f->len;
	    p += strlen(p) + 1)
		if (!take_index(f, p[0], p[0] != '\0' ? p + 1 : p,
		    &is_whole))
			return -1;
	return is_whole ? 0 : -1;
}

static int
replace_index(const struct shade *f, const struct buf *b)
{
	auto_fd fd = openat(f->fd, "index.new", O_WRONLY | O_CREAT | O_TRUNC |
	    O_NOFOLLOW | O_CLOEXEC, 0600);

	if (b->failed) {
		errno = EFBIG;
		return -1;
	}
	return fd >= 0 && io_write_all(fd, b->data, b->len) == 0 &&
	    renameat(f->fd, "index.new", f->fd, "index") == 0 ? 0 : -1;
}

int
shade_write(const struct shade *f)
{
	struct buf b;
	int rc;

	if (f->text == NULL && f->records.n == 0)
		return 0;
	buf_init(&b, STORE_MAX);
	store_put(&b, 'F', index_head);
	store_put(&b, 'P', f->path);
	store_put(&b, 'R', f->is_rest_carried ? "1" : "0");
	for (size_t i = 0; i < f->records.n; i++) {
		const struct record *r = &f->records.v[i];
		char kind[] = { (char)('0' + r->kind), '\0' };

		store_put(&b, 'N', r->name);
		store_put(&b, 'K', kind);
		store_put(&b, 'H', r->host);
		store_put(&b, 'B', r->base);
		store_put(&b, 'C', r->clean);
		store_put(&b, 'S', r->seen);
	}
	store_put(&b, 'E', "");
	rc = f->text != NULL && f->len == b.len &&
	    memcmp(f->text, b.data, b.len) == 0 ? 0 : replace_index(f, &b);
	buf_release(&b);
	return rc;
}

/* ---- a folder of the store ---- */

int
store_sub(int dir, const char *name, bool make)
{
	enum { HOW = O_RDONLY | O_DIRECTORY | O_NOFOLLOW };
	int fd = openat(dir, name, HOW | O_CLOEXEC);

	if (fd >= 0 || errno != ENOENT || !make ||
	    mkdirat(dir, name, 0700) != 0)
		return fd;
	return openat(dir, name, HOW | O_CLOEXEC);
}

/* Of a folder that no run named in this process. */
static char *
read_path(int dir)
{
	size_t len = 0;
	char *text = store_read(dir, "index", &len);
	char *path = NULL, *p = text;

	if (text != NULL && text[0] == 'F')
		p += strlen(p) + 1;
	if (text != NULL && p < text + len && p[0] == 'P' && p[1] == '/')
		path = xstrdup(p + 1);
	free(text);
	return path;
}

/* The jail is its owner, too, and may have closed it. */
static int
open_jail(int dir, bool make)
{
	int fd = store_sub(dir, "jail", make);
	struct wide w;

	if (fd < 0)
		return errno == EACCES ? wide_open_doomed(dir, "jail") : -1;
	if (wide_give(&w, fd, NULL) == 0)
		fd_close(&w.fd);
	return fd;
}

int
shade_open(struct store *s, const char *key, const char *path, bool make,
    struct shade *f, struct err *e)
{
	*f = (struct shade){ .fd = -1, .jail_fd = -1 };
	memcpy(f->key, key, SHADOW_KEY);
	f->fd = store_sub(s->fd, key, make);
	f->jail_fd = f->fd < 0 ? -1 : open_jail(f->fd, make);
	if (f->jail_fd < 0) {
		err_sys(e, errno, "cannot open '%s/%s'", s->path, key);
		shade_release(f);
		return -1;
	}
	f->path = path != NULL ? xstrdup(path) : read_path(f->fd);
	if (f->path == NULL && faccessat(f->fd, "index", F_OK, 0) != 0) {
		err_sys(e, errno, "cannot read '%s/%s/index'", s->path, key);
		shade_release(f);
		return -1;
	}
	if (f->path != NULL && read_index(f) == 0)
		return 0;
	err_set(e, ERR_JAIL, "'%s/%s/index' cannot be read", s->path, key);
	err_hint(e, "'fence shadow reset' removes what is kept there");
	shade_release(f);
	return -1;
}

void
shade_release(struct shade *f)
{
	for (size_t i = 0; i < f->records.n; i++)
		free(f->records.v[i].name);
	vec_release(&f->records);
	fd_close(&f->fd);
	fd_close(&f->jail_fd);
	free(f->path);
	free(f->text);
	f->path = f->text = NULL;
}

/* ---- versions that gave way ---- */

/*
 * Of the jail's versions the oldest gives way.  The host's are never removed
 * here, so that a run cannot push them out; where there are too many, what the
 * run changed stays in the store.
 */
enum { ASIDE_MAX = 16, ASIDE_HOST_MAX = 256 };

/* The folder of a host's version has the sticky bit. */
static bool
is_hosts(int dir, const char *number)
{
	struct stat st;

	return fstatat(dir, number, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (st.st_mode & S_ISVTX) != 0;
}

/*
 * The oldest and the number of versions of one kind; the newest number of
 * both.
 */
static unsigned
aside_range(int dir, bool is_host, unsigned long *ret_first,
    unsigned long *ret_last)
{
	DIR *d = move_list(dir);
	const char *name;
	unsigned n = 0;

	*ret_first = *ret_last = 0;
	while (d != NULL && (name = move_next(d)) != NULL) {
		unsigned long v = strtoul(name, NULL, 10);

		if (v == 0)
			continue;
		*ret_last = v > *ret_last ? v : *ret_last;
		if (is_hosts(dir, name) != is_host)
			continue;
		*ret_first = n == 0 || v < *ret_first ? v : *ret_first;
		n++;
	}
	if (d != NULL)
		closedir(d);
	return n;
}

static int
aside_next(const struct shade *f, bool is_host, char ret_number[24])
{
	auto_fd dir = store_sub(f->fd, "aside", true);
	unsigned long first, last;
	int fd;

	if (dir < 0)
		return -1;
	while (aside_range(dir, is_host, &first, &last) >=
	    (is_host ? ASIDE_HOST_MAX : ASIDE_MAX)) {
		if (is_host) {
			errno = EDQUOT;
			return -1;
		}
		snprintf(ret_number, 24, "%lu", first);
		if (move_remove(dir, ret_number) != 0)
			return -1;
	}
	snprintf(ret_number, 24, "%lu", last + 1);
	fd = store_sub(dir, ret_number, true);
	if (fd >= 0 && is_host && fchmod(fd, 01700) != 0)
		fd_close(&fd);
	if (fd < 0)
		(void)unlinkat(dir, ret_number, AT_REMOVEDIR);
	return fd;
}

static int
move_or_copy(int from, const char *name, int to, const char *new_name,
    bool is_copied)
{
	struct shadow_copying c;

	if (!is_copied && shadow_tree_move(from, name, to, new_name) == 0)
		return 0;
	if (!is_copied && errno != EXDEV)
		return -1;
	shadow_copying_init(&c, SHADOW_INWARD);
	c.is_synced = !is_copied;
	if (shadow_tree_copy(&c, from, name, to, new_name) != 0)
		return -1;
	return is_copied ? 0 : move_remove(from, name);
}

int
shade_set_aside(const struct store *s, const struct shade *f, int from,
    const char *name, const char *new_name, bool is_copied, char **ret)
{
	char number[24];
	/* What is not from the jail's folder is the host's. */
	auto_fd to = aside_next(f, from != f->jail_fd, number);
	size_t size;

	*ret = NULL;
	if (to < 0)
		return -1;
	if (move_or_copy(from, name, to, new_name, is_copied) != 0) {
		int saved = errno;
		auto_fd dir = store_sub(f->fd, "aside", false);

		(void)unlinkat(dir, number, AT_REMOVEDIR);
		errno = saved;
		return -1;
	}
	size = strlen(s->path) + strlen(new_name) + SHADOW_KEY + 64;
	*ret = xcalloc(1, size);
	snprintf(*ret, size, "%s/%s/aside/%s/%s", s->path, f->key, number,
	    new_name);
	return 0;
}
