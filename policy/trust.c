#include "policy/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/io.h"
#include "platform/base/path.h"
#include "platform/base/sha256.h"
#include "platform/base/xalloc.h"

enum { STORE_MAX = 4 * 1024 * 1024 };

static const char *
env_value(char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; env != NULL && *env != NULL; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

const char *
trust_store(struct arena *a, const char *home, char *const *env)
{
	const char *state = env_value(env, "XDG_STATE_HOME");

	if (state != NULL && state[0] == '/')
		return arena_printf(a, "%s/fence/trust", state);
	if (home == NULL)
		return NULL;
	return arena_printf(a, "%s/.local/state/fence/trust", home);
}

static int
fail(struct err *e, const char *store, const char *what)
{
	int sys = errno;

	err_set(e, ERR_POLICY, "%s", what);
	if (e != NULL)
		e->sys = sys;
	err_where(e, store, 0, 0);
	return -1;
}

/* ---- reading ---- */

static bool
is_ours(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_uid == geteuid() && (st.st_mode & 022) == 0;
}

/* -1 with errno; a missing store is an empty one. */
static int
read_store(const char *store, struct buf *b)
{
	int fd = open(store, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int rc = -1, sys;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	if (is_ours(fd))
		rc = buf_read(b, fd);
	else
		errno = EPERM;
	sys = errno;
	close(fd);
	errno = sys;
	return rc;
}

/* The next line, cut off at its newline; NULL after the last. */
static char *
next_line(char **p)
{
	char *line = *p, *end = strchr(line, '\n');

	if (end == NULL)	/* a line cut short counts for nothing */
		return NULL;
	*end = '\0';
	*p = end + 1;
	return line;
}

/* The path of a line, or NULL for one that is none of ours. */
static const char *
line_path(const char *line)
{
	const size_t n = SHA256_HEX - 1;

	if (strspn(line, "0123456789abcdef") != n || line[n] != ' ' ||
	    line[n + 1] != '/')
		return NULL;
	return line + n + 1;
}

bool
trust_knows(const char *store, const char *path, const char *hex)
{
	bool known = false;
	char *p, *line;
	struct buf b;

	if (store == NULL || strlen(hex) != SHA256_HEX - 1)
		return false;
	buf_init(&b, STORE_MAX);
	if (read_store(store, &b) == 0 && b.len > 0)
		for (p = b.data; !known && (line = next_line(&p)) != NULL;) {
			const char *at = line_path(line);

			known = at != NULL && strcmp(at, path) == 0 &&
			    strncmp(line, hex, SHA256_HEX - 1) == 0;
		}
	buf_release(&b);
	return known;
}

/* ---- writing ---- */

static int
replace(const char *store, const struct buf *b)
{
	size_t size = strlen(store) + 32;
	char *tmp = xcalloc(1, size);
	int fd, rc = -1;

	snprintf(tmp, size, "%s.%ld", store, (long)getpid());
	unlink(tmp);	/* of a run with this pid that was killed here */
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
	    0600);
	if (fd >= 0) {
		rc = io_write_all(fd, b->data, b->len);
		if (rc == 0)
			rc = fsync(fd);
		if (close(fd) != 0)
			rc = -1;
		if (rc == 0)
			rc = rename(tmp, store);
		if (rc != 0) {
			int sys = errno;

			unlink(tmp);
			errno = sys;
		}
	}
	free(tmp);
	return rc;
}

/* Two at a time would lose one's line.  The lock goes with the fd. */
static int
lock_store(const char *store)
{
	char *dir = xstrdup(store);
	int fd;

	(void)path_cut(dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(dir);
	if (fd >= 0 && flock(fd, LOCK_EX) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The store without the lines of path, with one for hex unless NULL. */
static int
rewrite(const char *store, const char *path, const char *hex, bool *ret_was)
{
	struct buf old, new;
	char *p, *line;
	int rc;

	buf_init(&old, STORE_MAX);
	buf_init(&new, STORE_MAX);
	rc = read_store(store, &old);
	if (rc == 0 && old.len > 0)
		for (p = old.data; (line = next_line(&p)) != NULL;) {
			const char *at = line_path(line);

			if (at != NULL && strcmp(at, path) != 0)
				buf_printf(&new, "%s\n", line);
			else if (at != NULL)
				*ret_was = true;
		}
	if (hex != NULL)
		buf_printf(&new, "%s %s\n", hex, path);
	if (rc == 0 && new.failed) {
		errno = EFBIG;
		rc = -1;
	}
	if (rc == 0)
		rc = replace(store, &new);
	buf_release(&old);
	buf_release(&new);
	return rc;
}

static int
change(const char *store, const char *path, const char *hex, bool *ret_was,
    struct err *e)
{
	int lock_fd, rc;

	if (store == NULL)
		return err_set(e, ERR_POLICY,
		    "there is no home directory to keep trust in");
	if (path[0] != '/' || strchr(path, '\n') != NULL)
		return err_set(e, ERR_POLICY,
		    "the store cannot hold a path with a newline");
	if (path_make_above(store, 0700) != 0 ||
	    (lock_fd = lock_store(store)) < 0)
		return fail(e, store, "cannot open the trust store");
	rc = rewrite(store, path, hex, ret_was);
	if (rc != 0)
		fail(e, store, "cannot write the trust store");
	close(lock_fd);
	return rc;
}

bool
trust_told(struct arena *a, const char *store, const char *notice)
{
	char hex[SHA256_HEX];
	struct sha256 h;
	const char *path;
	int fd;

	if (store == NULL)
		return false;
	sha256_init(&h);
	sha256_add(&h, notice, strlen(notice));
	sha256_end_hex(&h, hex);
	path = arena_printf(a, "%.*s/told/%s",
	    (int)path_dir_len(store), store, hex);
	if (access(path, F_OK) == 0)
		return true;
	fd = path_make_above(path, 0700) == 0 ? open(path, O_WRONLY |
	    O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
	if (fd >= 0)
		close(fd);
	return false;
}

int
trust_add(const char *store, const char *path, const char *hex, struct err *e)
{
	bool was = false;

	return change(store, path, hex, &was, e);
}

int
trust_remove(const char *store, const char *path, bool *ret_was,
    struct err *e)
{
	bool was = false;

	if (change(store, path, NULL, &was, e) != 0)
		return -1;
	*ret_was = was;
	return 0;
}
