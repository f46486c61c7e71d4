/* One file from the jail's folder to the host's, or the other way. */
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
#include "platform/base/io.h"
#include "platform/base/path.h"
#include "platform/base/xalloc.h"
#include "platform/fd.h"
#include "platform/pause.h"

/* What the jail's file and the host's are now. */
struct sight {
	char	jail[SHA256_HEX], jail_content[SHA256_HEX];
	char	host[SHA256_HEX], host_content[SHA256_HEX];
};

void
carry_init(struct carry *c, const struct store *store, struct shade *f)
{
	*c = (struct carry){ .store = store, .f = f,
	    .host_fd = shadow_tree_open(f->path) };
	if (c->host_fd >= 0)
		(void)move_remove(c->host_fd, SHADOW_TEMP);
}

void
carry_release(struct carry *c)
{
	fd_close(&c->host_fd);
}

void
carry_tell(const struct carry *c, enum shadow_deed deed, const char *name,
    const char *to, int sys)
{
	char path[PATH_MAX + NAME_MAX + 2];
	struct shadow_told t = { .deed = deed, .path = path, .to = to,
	    .sys = sys };

	if (c->told == NULL)
		return;
	snprintf(path, sizeof path, "%s/%s", c->f->path, name);
	c->told(&t, c->told_arg);
}

/* While the run lasts it is silent: the end tries again. */
static void
fail(struct carry *c, const char *name, int sys)
{
	c->has_failed = true;
	if (c->is_last)
		carry_tell(c, SHADOW_FAILED, name, NULL, sys);
}

bool
carry_aside(struct carry *c, enum shadow_deed deed, const char *name,
    int sys)
{
	char *to;

	if (shade_set_aside(c->store, c->f, c->f->jail_fd, name,
	    name, c->is_beside || !c->is_last, &to) != 0) {
		fail(c, name, errno);
		return false;
	}
	carry_tell(c, deed, name, to, sys);
	free(to);
	return true;
}

/* Of one file. */
static uint64_t
file_bytes(enum shadow_kind kind)
{
	return kind == SHADOW_CREDENTIAL ? SHADOW_SMALL_BYTES :
	    SHADOW_FILE_BYTES;
}

/* ---- inwards ---- */

/* State is copied at each start: of a long file the stamp must do. */
static bool
is_cheap(const struct carry *c, const char *name, enum shadow_kind kind)
{
	enum { LONG = 256 << 10 };
	struct stat st;

	return kind != SHADOW_CARRIED || fstatat(c->f->jail_fd, name, &st,
	    AT_SYMLINK_NOFOLLOW) != 0 || st.st_size < LONG;
}

int
carry_in(struct carry *c, const char *name, enum shadow_kind kind)
{
	auto_fd tmp = -1;
	struct shadow_copying copying;
	struct record *r = shade_add(c->f, name, kind);
	char stamp[SHA256_HEX];
	int rc = 0;

	if (mkdirat(c->f->fd, "tmp", 0700) != 0 && errno != EEXIST)
		return -1;
	tmp = openat(c->f->fd, "tmp", O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (tmp < 0 || move_remove(tmp, "in") != 0 ||
	    move_remove(tmp, "out") != 0)
		return -1;
	shadow_copying_init(&copying, SHADOW_INWARD);
	if (kind == SHADOW_CARRIED || kind == SHADOW_CREDENTIAL)
		copying.bytes = copying.longest = file_bytes(kind);
	shadow_tree_stamp(c->host_fd, name, stamp);
	if (strcmp(stamp, "-") != 0)
		rc = shadow_tree_copy(&copying, c->host_fd, name, tmp, "in");
	if (rc != 0)
		return -1;
	pause_at("shadow-copied");
	/* A file is replaced at once; a folder is missing for a moment. */
	if ((strcmp(stamp, "-") == 0 || renameat(tmp, "in", c->f->jail_fd,
	    name) != 0) &&
	    ((shadow_tree_move(c->f->jail_fd, name, tmp, "out") != 0 &&
	    errno != ENOENT) || (strcmp(stamp, "-") != 0 &&
	    renameat(tmp, "in", c->f->jail_fd, name) != 0)))
		return -1;
	(void)move_remove(tmp, "out");
	r->kind = kind;
	strcpy(r->host, stamp);
	if (is_cheap(c, name, kind))
		shadow_tree_content(c->f->jail_fd, name, r->base);
	else
		strcpy(r->base, "?");
	shadow_tree_stamp(c->f->jail_fd, name, r->clean);
	strcpy(r->seen, r->clean);
	return 0;
}

/* ---- outwards ---- */

/* The host's folder: made where it went away. */
int
carry_need_host(struct carry *c)
{
	char *above;
	auto_fd fd = -1;

	if (c->host_fd >= 0)
		return 0;
	above = xstrdup(c->f->path);
	if (path_cut(above))
		fd = shadow_tree_open(above[0] != '\0' ? above : "/");
	free(above);
	if (fd < 0 || (mkdirat(fd, path_name(c->f->path), 0700) != 0 &&
	    errno != EEXIST))
		return -1;
	c->host_fd = openat(fd, path_name(c->f->path), O_PATH | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC);
	return c->host_fd < 0 ? -1 : 0;
}

/*
 * The mode of the file that is replaced; its owner is us, or it is not
 * replaced.
 */
static int
take_mode(struct carry *c, const char *name, enum shadow_kind kind)
{
	auto_fd fd = openat(c->host_fd, SHADOW_TEMP, O_RDONLY | O_NOFOLLOW |
	    O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstatat(c->host_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno != ENOENT ? -1 :
		    kind == SHADOW_CREDENTIAL ? fchmod(fd, 0600) : 0;
	if (st.st_uid != geteuid()) {
		errno = EPERM;
		return -1;
	}
	return S_ISREG(st.st_mode) ? fchmod(fd, st.st_mode & 0777) : 0;
}

/* The temporary file takes the name, if there is still what was seen. */
static int
put_in_place(struct carry *c, const char *name, enum shadow_kind kind,
    const char *seen)
{
	char now[SHA256_HEX];
	int rc;

	pause_at("shadow-carry");
	rc = take_mode(c, name, kind);
	shadow_tree_stamp(c->host_fd, name, now);
	if (rc == 0 && !shadow_tree_is_like(now, seen)) {
		errno = ESTALE;
		rc = -1;
	}
	if (rc == 0)
		rc = renameat(c->host_fd, SHADOW_TEMP, c->host_fd, name);
	if (rc == 0 && kind != SHADOW_CARRIED) {
		auto_fd dir = openat(c->host_fd, ".", O_RDONLY | O_DIRECTORY |
		    O_CLOEXEC);

		(void)fsync(dir);
	}
	if (rc != 0) {
		int saved = errno;

		(void)unlinkat(c->host_fd, SHADOW_TEMP, 0);
		errno = saved;
	}
	return rc;
}

void
carry_copying(const struct carry *c, uint64_t max, struct shadow_copying *ret)
{
	shadow_copying_init(ret, SHADOW_OUTWARD);
	ret->bytes = c->left != NULL && *c->left < max ? *c->left : max;
}

void
carry_count(const struct carry *c, uint64_t max,
    const struct shadow_copying *copying)
{
	if (c->left == NULL)
		return;
	if (errno == EFBIG && *c->left < max)
		errno = ENOBUFS;
	*c->left -= (*c->left < max ? *c->left : max) - copying->bytes;
}

static int
put_file(struct carry *c, const char *name, enum shadow_kind kind,
    const char *seen)
{
	struct shadow_copying copying;
	int rc;

	if (carry_need_host(c) != 0)
		return -1;
	carry_copying(c, file_bytes(kind), &copying);
	copying.longest = file_bytes(kind);
	copying.is_synced = kind != SHADOW_CARRIED;
	rc = shadow_tree_copy(&copying, c->f->jail_fd, name, c->host_fd,
	    SHADOW_TEMP);
	carry_count(c, file_bytes(kind), &copying);
	return rc != 0 ? -1 : put_in_place(c, name, kind, seen);
}

static void
look(struct carry *c, const char *name, struct sight *s)
{
	shadow_tree_stamp(c->f->jail_fd, name, s->jail);
	shadow_tree_content(c->f->jail_fd, name, s->jail_content);
	shadow_tree_stamp(c->host_fd, name, s->host);
	shadow_tree_content(c->host_fd, name, s->host_content);
}

/*
 * Both are the same now, or as good as.  The jail's stamp is from before the
 * copy: what is written meanwhile is another change.
 */
static void
note(struct carry *c, const char *name, struct record *r,
    const struct sight *s)
{
	shadow_tree_stamp(c->host_fd, name, r->host);
	shadow_tree_content(c->host_fd, name, r->base);
	strcpy(r->clean, s->jail);
	strcpy(r->seen, s->jail);
}

static bool
host_changed(const struct record *r, const struct sight *s)
{
	return !shadow_tree_is_like(s->host, r->host) &&
	    !shadow_tree_is_like(s->host_content, r->base);
}

/* ---- databases ---- */

static const char *const db_suffixes[] = { "-wal", "-journal", "-shm", NULL };

/* The length of the database's name in that of its journal, or of all. */
static size_t
db_len(const char *name, const char **ret_suffix)
{
	size_t n = strlen(name);

	for (const char *const *s = db_suffixes; *s != NULL; s++)
		if (n > strlen(*s) && strcmp(name + n - strlen(*s), *s) == 0) {
			*ret_suffix = *s;
			return n - strlen(*s);
		}
	*ret_suffix = "";
	return n;
}

bool
carry_is_shm(const char *name)
{
	const char *suffix;

	(void)db_len(name, &suffix);
	return strcmp(suffix, "-shm") == 0;
}

/* One file of a database that the host changed makes all of it the host's. */
static bool
db_changed(struct carry *c, const char *name)
{
	static const char *const parts[] = { "", "-wal", "-journal" };
	char part[NAME_MAX + 16], stamp[SHA256_HEX];
	const char *suffix;
	size_t n = db_len(name, &suffix);

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		const struct record *r;
		struct sight s;

		snprintf(part, sizeof part, "%.*s%s", (int)n, name, parts[i]);
		r = shade_find(c->f, part);
		shadow_tree_stamp(c->host_fd, part, stamp);
		if (r == NULL ? strcmp(stamp, "-") == 0 :
		    shadow_tree_is_like(stamp, r->host))
			continue;
		if (r == NULL)
			return true;
		look(c, part, &s);
		if (host_changed(r, &s))
			return true;
	}
	return false;
}

/* ---- one file of state ---- */

bool
carry_jail_is_newer(const struct carry *c, const char *name)
{
	struct stat jail, host;

	if (fstatat(c->f->jail_fd, name, &jail, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	if (c->host_fd < 0 ||
	    fstatat(c->host_fd, name, &host, AT_SYMLINK_NOFOLLOW) != 0)
		return c->host_fd < 0 || errno == ENOENT;
	return jail.st_ctim.tv_sec > host.st_ctim.tv_sec ||
	    (jail.st_ctim.tv_sec == host.st_ctim.tv_sec &&
	    jail.st_ctim.tv_nsec > host.st_ctim.tv_nsec);
}

/* The host's version, copied aside before another takes its place. */
static bool
save_host(struct carry *c, const char *name)
{
	char *to;

	if (shade_set_aside(c->store, c->f, c->host_fd, name, name, true,
	    &to) != 0)
		return false;
	carry_tell(c, SHADOW_HOST_ASIDE, name, to, 0);
	free(to);
	return true;
}

/* Removed inside.  True: it is done. */
static bool
carry_removal(struct carry *c, const char *name, struct record *r,
    const struct sight *s)
{
	char *to;

	if (!c->is_last)
		return false;
	strcpy(r->seen, "-");
	if (r->kind == SHADOW_CREDENTIAL || strcmp(s->host, "-") == 0 ||
	    host_changed(r, s) ||
	    db_changed(c, name))
		return true;
	if (shade_set_aside(c->store, c->f, c->host_fd, name, name, false,
	    &to) != 0) {
		fail(c, name, errno);
		strcpy(r->seen, "?");
		return false;
	}
	carry_tell(c, SHADOW_HOST_ASIDE, name, to, 0);
	free(to);
	strcpy(r->host, "-");
	strcpy(r->base, "-");
	strcpy(r->clean, "-");
	return true;
}

/* Why it is nothing to carry, or 0. */
static int
refusal_of(const struct carry *c, const char *name)
{
	struct stat st;

	if (fstatat(c->f->jail_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	if (S_ISLNK(st.st_mode))
		return ELOOP;
	if (!S_ISREG(st.st_mode))
		return ENXIO;
	return st.st_nlink > 1 ? EMLINK : 0;
}

/* It may be something else by then: at the end it goes aside. */
static bool
refuse(struct carry *c, const char *name, int sys)
{
	if (!c->is_last || c->is_beside)
		return false;
	return carry_aside(c, SHADOW_REFUSED, name, sys);
}

static bool
is_refusal(int sys)
{
	return sys == ELOOP || sys == ENXIO || sys == EMLINK ||
	    sys == EFBIG || sys == EPERM || sys == ENOBUFS;
}

/* While the run lasts it may be half written: the end looks again. */
static bool
keep_login(struct carry *c, const char *name, struct record *r,
    const struct sight *s, int sys)
{
	if (!c->is_last || !carry_aside(c, SHADOW_SET_ASIDE, name, sys))
		return false;
	strcpy(r->seen, s->jail);
	return true;
}

bool
carry_file(struct carry *c, const char *name, enum shadow_kind kind)
{
	struct record *r = shade_add(c->f, name, kind);
	struct sight s;
	int sys;

	if (carry_is_shm(name))
		return true;
	if (r->kind != SHADOW_CARRIED && r->kind != SHADOW_CREDENTIAL)
		return false;	/* a later run keeps it */
	shadow_tree_stamp(c->f->jail_fd, name, s.jail);
	if (shadow_tree_is_like(s.jail, r->seen))
		return true;
	look(c, name, &s);
	if (strcmp(s.jail, "-") == 0)
		return carry_removal(c, name, r, &s);
	if ((sys = refusal_of(c, name)) != 0)
		return refuse(c, name, sys);
	if (shadow_tree_is_like(s.jail_content, r->base) ||
	    shadow_tree_is_like(s.jail_content, s.host_content)) {
		strcpy(r->seen, s.jail);
		if (shadow_tree_is_like(s.jail_content, s.host_content))
			note(c, name, r, &s);
		return true;
	}
	if (kind == SHADOW_CREDENTIAL &&
	    (sys = carry_is_no_login(c, name)) != 0)
		return keep_login(c, name, r, &s, sys);
	if (host_changed(r, &s) || db_changed(c, name)) {
		if (kind != SHADOW_CREDENTIAL ||
		    !carry_jail_is_newer(c, name)) {
			if (!carry_aside(c, SHADOW_SET_ASIDE, name, 0))
				return false;
			strcpy(r->seen, s.jail);
			return true;
		}
		if (strcmp(s.host, "-") != 0 && !save_host(c, name)) {
			fail(c, name, errno);
			return false;
		}
	}
	if (put_file(c, name, kind, s.host) != 0) {
		if (is_refusal(errno))
			return refuse(c, name, errno);
		fail(c, name, errno);
		return false;
	}
	note(c, name, r, &s);
	carry_tell(c, SHADOW_WAS_CARRIED, name, NULL, 0);
	return true;
}

/* ---- fresh, kept, and sifted ---- */

void
carry_fresh(struct carry *c, const char *name)
{
	if (c->is_beside)
		return;
	shade_forget(c->f, name);
	(void)move_remove(c->f->jail_fd, name);
}

void
carry_kept(struct carry *c, const char *name, enum shadow_kind kind)
{
	char stamp[SHA256_HEX], content[SHA256_HEX];
	struct record *r = shade_find(c->f, name);

	shadow_tree_stamp(c->f->jail_fd, name, stamp);
	if (shadow_tree_is_like(stamp, r != NULL ? r->seen : "-"))
		return;
	r = shade_add(c->f, name, kind);
	shadow_tree_content(c->f->jail_fd, name, content);
	if (shadow_tree_is_like(content, r->base))
		strcpy(r->clean, stamp);
	else
		carry_tell(c, SHADOW_CHANGED, name, NULL, 0);
	strcpy(r->seen, stamp);
}

int
carry_read(int dir, const char *name, struct buf *b)
{
	auto_fd fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT || dir < 0 ? 1 : -1;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		errno = ENXIO;
		return -1;
	}
	return buf_read(b, fd);
}

static int
put_bytes(struct carry *c, const char *name, const struct buf *b,
    const char *seen)
{
	auto_fd fd = -1;

	if (carry_need_host(c) != 0)
		return -1;
	fd = openat(c->host_fd, SHADOW_TEMP, O_WRONLY | O_CREAT | O_EXCL |
	    O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || io_write_all(fd, b->data, b->len) != 0 ||
	    fsync(fd) != 0) {
		int saved = errno;

		(void)unlinkat(c->host_fd, SHADOW_TEMP, 0);
		errno = saved;
		return -1;
	}
	return put_in_place(c, name, SHADOW_SIFTED, seen);
}

/* The jail's version gives way: the next run begins from the host's. */
static void
give_way(struct carry *c, const char *name, struct record *r,
    const struct sight *s, int sys)
{
	if (carry_aside(c, SHADOW_SET_ASIDE, name, sys)) {
		strcpy(r->seen, s->jail);
		if (c->is_last && !c->is_beside)
			shade_forget(c->f, name);
	}
}

static void
sift(struct carry *c, const char *name, struct record *r,
    const struct sight *s, const struct buf *host, const struct buf *jail)
{
	char path[PATH_MAX + NAME_MAX + 2];
	bool is_held = false;
	struct buf out;

	buf_init(&out, SHADOW_SMALL_BYTES);
	snprintf(path, sizeof path, "%s/%s", c->f->path, name);
	if (c->sift(path, host != NULL ? host->data : NULL,
	    host != NULL ? host->len : 0, jail->data, jail->len, &out,
	    &is_held, c->sift_arg) != 0 || out.failed) {
		give_way(c, name, r, s, EBADMSG);
	} else if ((host == NULL || out.len != host->len ||
	    memcmp(out.data, host->data, out.len) != 0) &&
	    put_bytes(c, name, &out, s->host) != 0) {
		fail(c, name, errno);
	} else {
		note(c, name, r, s);
		if (is_held) {
			strcpy(r->clean, "?");
			carry_tell(c, SHADOW_HELD, name, NULL, 0);
		}
	}
	buf_release(&out);
}

void
carry_sifted(struct carry *c, const char *name)
{
	struct record *r = shade_add(c->f, name, SHADOW_SIFTED);
	struct buf host, jail;
	struct sight s;
	int has_host;

	if (r->kind != SHADOW_SIFTED)
		return;		/* a later run treats it otherwise */
	shadow_tree_stamp(c->f->jail_fd, name, s.jail);
	if (shadow_tree_is_like(s.jail, r->seen))
		return;
	look(c, name, &s);
	if (c->sift == NULL || refusal_of(c, name) != 0 ||
	    strcmp(s.jail, "-") == 0 ||
	    shadow_tree_is_like(s.jail_content, r->base)) {
		carry_kept(c, name, SHADOW_SIFTED);
		return;
	}
	if (host_changed(r, &s)) {
		give_way(c, name, r, &s, 0);
		return;
	}
	buf_init(&host, SHADOW_SMALL_BYTES);
	buf_init(&jail, SHADOW_SMALL_BYTES);
	has_host = carry_read(c->host_fd, name, &host);
	if (has_host < 0 || carry_read(c->f->jail_fd, name, &jail) != 0)
		carry_kept(c, name, SHADOW_SIFTED);
	else
		sift(c, name, r, &s, has_host == 0 ? &host : NULL, &jail);
	buf_release(&host);
	buf_release(&jail);
}
