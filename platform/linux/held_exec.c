/*
 * What an execution asks for, read from the caller's memory and from the
 * jail's files.  Memory is read page by page, so that a string at the end of
 * a mapping is read to its end.  Everything here may change a moment later:
 * tracer.h has the second look.
 */
#include "platform/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "platform/base/buf.h"
#include "platform/base/vec.h"
#include "platform/fd.h"

enum {
	PAGE = 4096, PAGES = 4,
	ARGS_MAX = 6 << 20,	/* bytes: the kernel's own limit */
	STRING_MAX = 128 << 10,	/* ... of one string (MAX_ARG_STRLEN) */
	SCRIPT_HEAD = 256,	/* BINPRM_BUF_SIZE */
	LINKS_MAX = 40,
	PROC_PATH = 64,
};

/* ---- memory ---- */

/* A few pages of another process, as they were when first asked for. */
struct memory {
	pid_t		tid;
	unsigned	next;
	uint64_t	at[PAGES];	/* 1: none */
	size_t		len[PAGES];
	unsigned char	bytes[PAGES][PAGE];
};

static void
memory_init(struct memory *m, pid_t tid)
{
	m->tid = tid;
	m->next = 0;
	for (unsigned i = 0; i < PAGES; i++)
		m->at[i] = 1;
}

/* The page, from `from` on, where the caller cannot read its beginning. */
static const unsigned char *
memory_page(struct memory *m, uint64_t page)
{
	struct iovec to, from;
	unsigned i;

	for (i = 0; i < PAGES; i++)
		if (m->at[i] == page)
			return m->bytes[i];
	i = m->next++ % PAGES;
	to = (struct iovec){ m->bytes[i], PAGE };
	from = (struct iovec){ (void *)(uintptr_t)page, PAGE };
	m->at[i] = 1;
	if (process_vm_readv(m->tid, &to, 1, &from, 1, 0) != PAGE)
		return NULL;
	m->at[i] = page;
	return m->bytes[i];
}

/* The bytes from `at` to the end of its page. */
static const unsigned char *
memory_rest(struct memory *m, uint64_t at, size_t *ret_len)
{
	const unsigned char *page = memory_page(m, at & ~(uint64_t)(PAGE - 1));
	size_t skip = at & (PAGE - 1);

	*ret_len = PAGE - skip;
	return page != NULL ? page + skip : NULL;
}

static int
memory_copy(struct memory *m, uint64_t at, void *ret, size_t len)
{
	for (size_t done = 0; done < len;) {
		size_t n;
		const unsigned char *p = memory_rest(m, at + done, &n);

		if (p == NULL)
			return -1;
		if (n > len - done)
			n = len - done;
		memcpy((char *)ret + done, p, n);
		done += n;
	}
	return 0;
}

/* NULL: not to be read, or longer than the kernel takes (*left is 0 then). */
static const char *
memory_string(struct memory *m, struct arena *a, uint64_t at, size_t *left)
{
	const char *ret = NULL;
	struct buf b;

	buf_init(&b, STRING_MAX + PAGE);
	while (ret == NULL && at != 0) {
		size_t n;
		const unsigned char *p = memory_rest(m, at, &n), *end;

		if (p == NULL)
			break;
		end = memchr(p, '\0', n);
		n = end != NULL ? (size_t)(end - p) : n;
		if (b.len + n >= *left || b.len + n > STRING_MAX) {
			*left = 0;
			break;
		}
		if (b.len == 0 && end != NULL)
			ret = arena_strndup(a, (const char *)p, n);
		else if (buf_add(&b, p, n), end != NULL)
			ret = arena_strndup(a, b.data, b.len);
		at += n;
	}
	if (ret != NULL)
		*left -= strlen(ret) + 1;
	buf_release(&b);
	return ret;
}

struct strings {
	const char	**v;
	size_t		  n, cap;
};

/* Into the arena, and a NULL behind. */
static const char **
strings_keep(struct strings *s, struct arena *a)
{
	const char **v = arena_alloc(a, (s->n + 1) * sizeof *v);

	if (s->n > 0)
		memcpy(v, s->v, s->n * sizeof *v);
	vec_release(s);
	return v;
}

/* A vector such as argv; of no more than the kernel accepts. */
static int
memory_strings(struct memory *m, const struct held_exec_at *x, uint64_t at,
    struct arena *a, size_t *left, struct strings *ret)
{
	size_t size = x->is_narrow ? sizeof(uint32_t) : sizeof(uint64_t);

	for (; at != 0; at += size) {
		uint64_t p = 0;
		const char *s;

		if (*left <= size) {
			*left = 0;
			return 0;
		}
		if (memory_copy(m, at, &p, size) != 0)
			return -1;
		if (p == 0)
			return 0;
		*left -= size;
		s = memory_string(m, a, p, left);
		if (s == NULL)
			return *left == 0 ? 0 : -1;
		*vec_push(ret) = s;
	}
	return 0;
}

/* ---- paths ---- */

int
exec_root(pid_t tid)
{
	char path[PROC_PATH];

	snprintf(path, sizeof path, "/proc/%d/root", (int)tid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/*
 * Opens what lies at an absolute path that has no symlinks; a directory that
 * became one meanwhile would lead out of the jail.  Nothing is waited for.
 */
static int
open_real(int root_fd, const char *real)
{
	char name[NAME_MAX + 1];
	auto_fd dir = -1;

	for (;;) {
		size_t skip = strspn(real, "/"), n = strcspn(real + skip, "/");
		int at = dir >= 0 ? dir : root_fd, fd;

		if (n == 0 || n >= sizeof name)
			return -1;
		memcpy(name, real + skip, n);
		name[n] = '\0';
		real += skip + n;
		if (*real == '\0')
			return openat(at, name, O_RDONLY | O_NONBLOCK |
			    O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
		fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW |
		    O_CLOEXEC);
		fd_close(&dir);
		if (fd < 0)
			return -1;
		dir = fd;
	}
}

/* Where a link of a process in /proc leads; NULL: it cannot be told. */
static const char *
proc_link(struct arena *a, pid_t tid, const char *name)
{
	char path[PROC_PATH], to[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)tid, name);
	n = readlink(path, to, sizeof to);
	return n > 0 && n < (ssize_t)sizeof to ? arena_strndup(a, to,
	    (size_t)n) : NULL;
}

/*
 * /proc/self is the reader's own: what it means for the caller.  NULL: path
 * is no such.
 */
static const char *
own_link(struct arena *a, pid_t tid, const char *path)
{
	static const char *const fds[] = { "/proc/self/fd/", "/dev/fd/" };
	char name[PROC_PATH];

	if (strcmp(path, "/proc/self/exe") == 0)
		return proc_link(a, tid, "exe");
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
		size_t n = strlen(fds[i]);

		if (strncmp(path, fds[i], n) != 0 || strlen(path + n) > 8 ||
		    path[n + strspn(path + n, "0123456789")] != '\0')
			continue;
		snprintf(name, sizeof name, "fd/%s", path + n);
		return proc_link(a, tid, name);
	}
	return NULL;
}

/*
 * Appends a component to a path without symlinks, or, of a symlink, puts its
 * text in front of what is left.  -1: too long.
 */
static int
add_component(int root_fd, char real[PATH_MAX], const char *name,
    char left[PATH_MAX], unsigned *links)
{
	char text[PATH_MAX], rest[PATH_MAX];
	size_t len = strlen(real);
	ssize_t n;

	if (len + 1 + strlen(name) >= PATH_MAX)
		return -1;
	real[len] = '/';
	strcpy(real + len + 1, name);
	n = readlinkat(root_fd, real + 1, text, sizeof text - 1);
	if (n < 0)
		return errno == EINVAL || errno == ENOENT ||
		    errno == ENOTDIR || left[0] == '\0' ? 0 : -1;
	text[n] = '\0';
	if (++*links > LINKS_MAX || snprintf(rest, sizeof rest, "%s/%s", text,
	    left) >= (int)sizeof rest)
		return -1;
	strcpy(left, rest);
	real[text[0] == '/' ? 0 : len] = '\0';
	return 0;
}

/* Symlinks followed as in the jail, not as here.  path is absolute. */
static const char *
real_path(int root_fd, struct arena *a, const char *path)
{
	char real[PATH_MAX] = "", left[PATH_MAX], name[NAME_MAX + 1];
	unsigned links = 0;

	if (root_fd < 0 || strlen(path) >= sizeof left)
		return NULL;
	strcpy(left, path);
	for (;;) {
		size_t skip = strspn(left, "/"), n = strcspn(left + skip, "/");

		if (n == 0)
			return real[0] != '\0' ? arena_strdup(a, real) : NULL;
		if (n >= sizeof name)
			return NULL;
		memcpy(name, left + skip, n);
		name[n] = '\0';
		memmove(left, left + skip + n, strlen(left + skip + n) + 1);
		if (strcmp(name, "..") == 0 && strrchr(real, '/') != NULL)
			*strrchr(real, '/') = '\0';
		else if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
		    add_component(root_fd, real, name, left, &links) != 0)
			return NULL;
	}
}

int
exec_open(int root_fd, struct arena *a, const char *path)
{
	const char *real = real_path(root_fd, a, path);

	return real != NULL ? open_real(root_fd, real) : -1;
}

/* As the caller wrote it; relative to a directory of its own. */
static const char *
resolve(int root_fd, const struct held_call *c, struct arena *a,
    const char *path)
{
	const char *dir, *own;
	char name[PROC_PATH] = "cwd";

	if (path[0] != '/' || path[1] == '\0') {
		if (c->exec.dir_fd != AT_FDCWD)
			snprintf(name, sizeof name, "fd/%d", c->exec.dir_fd);
		dir = proc_link(a, c->tid, name);
		if (path[0] == '\0' || dir == NULL)
			return dir;
		if (dir[0] != '/')
			return NULL;
		path = arena_printf(a, "%s/%s", dir, path);
	}
	own = own_link(a, c->tid, path);
	return own != NULL ? own : real_path(root_fd, a, path);
}

/* ---- scripts ---- */

/*
 * Files that were no scripts when they were read, each until another takes
 * its place.  A file may become a script without a change of its times, which
 * count in ticks; then its interpreter is loaded, which nobody foresaw, and
 * the second look asks about that (tracer.h).
 */
struct known {
	uint64_t	dev, ino, size;
	struct timespec	changed, written;
};

enum { KNOWN_MAX = 64 };

static struct known known[KNOWN_MAX];

static struct known
known_of(const struct stat *st)
{
	return (struct known){ .dev = st->st_dev, .ino = st->st_ino,
	    .size = (uint64_t)st->st_size, .changed = st->st_ctim,
	    .written = st->st_mtim };
}

static bool
is_known(const struct stat *st)
{
	const struct known now = known_of(st);

	return st->st_ino != 0 && memcmp(&known[st->st_ino % KNOWN_MAX], &now,
	    sizeof now) == 0;
}

/*
 * The first bytes of a regular file, none if it is known to be no script; the
 * jail's own files are read, and no FIFO or device is opened.  -1: nobody
 * knows.
 */
static ssize_t
read_head(int root_fd, struct exec_step *s, char head[SCRIPT_HEAD])
{
	struct stat st;
	auto_fd fd = -1;
	ssize_t n;

	if (root_fd < 0 || s->real == NULL || s->real[0] != '/')
		return -1;
	if (fstatat(root_fd, s->real + 1, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		s->is_missing = errno == ENOENT || errno == ENOTDIR;
		return -1;
	}
	if (!S_ISREG(st.st_mode))
		return -1;
	if (is_known(&st))
		return 0;
	fd = open_real(root_fd, s->real);
	n = fd >= 0 ? pread(fd, head, SCRIPT_HEAD, 0) : -1;
	/* Another file may lie there by now: its identity is that of fd. */
	if (n >= 2 && memcmp(head, "#!", 2) != 0 && fstat(fd, &st) == 0)
		known[st.st_ino % KNOWN_MAX] = known_of(&st);
	return n;
}

/* As load_script() of the kernel cuts the first line. */
static bool
cut_line(char *head, size_t n, struct arena *a, const char **ret_interp,
    const char **ret_arg)
{
	char line[SCRIPT_HEAD + 1], *p, *end;

	memcpy(line, head, n);
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	for (end = line + strlen(line); end > line + 2 &&
	    (end[-1] == ' ' || end[-1] == '\t'); end--)
		end[-1] = '\0';
	p = line + 2 + strspn(line + 2, " \t");
	end = p + strcspn(p, " \t");
	*ret_interp = arena_strndup(a, p, (size_t)(end - p));
	end += strspn(end, " \t");
	*ret_arg = *end != '\0' ? arena_strdup(a, end) : NULL;
	return (*ret_interp)[0] != '\0';
}

/* The name by which the interpreter is given the script. */
static const char *
script_name(const struct held_call *c, struct arena *a,
    const struct exec_step *s, unsigned at)
{
	if (at > 0 || c->exec.dir_fd == AT_FDCWD || s->program[0] == '/')
		return s->program;
	return s->program[0] == '\0' ? arena_printf(a, "/dev/fd/%d",
	    c->exec.dir_fd) : arena_printf(a, "/dev/fd/%d/%s",
	    c->exec.dir_fd, s->program);
}

static void
add_interpreter(const struct held_call *c, struct arena *a,
    struct held_exec *x, const char *interp, const char *arg)
{
	const struct exec_step *s = &x->step[x->nsteps - 1];
	struct exec_step *to = &x->step[x->nsteps];
	size_t n = 0;

	to->argv = arena_alloc(a, (s->argc + 4) * sizeof *to->argv);
	to->argv[n++] = to->program = interp;
	if (arg != NULL)
		to->argv[n++] = arg;
	to->argv[n++] = script_name(c, a, s, x->nsteps - 1);
	for (size_t i = 1; i < s->argc; i++)
		to->argv[n++] = s->argv[i];
	to->argc = n;
	x->nsteps++;
}

/* False: it is not known what will run in the end. */
static bool
add_steps(int root_fd, const struct held_call *c, struct arena *a,
    struct held_exec *x)
{
	while (x->nsteps < EXEC_STEPS) {
		struct exec_step *s = &x->step[x->nsteps - 1];
		const char *interp, *arg;
		char head[SCRIPT_HEAD];
		ssize_t n;

		n = read_head(root_fd, s, head);
		if (n < 0)
			return false;
		if (n < 2 || memcmp(head, "#!", 2) != 0)
			return true;
		if (!cut_line(head, (size_t)n, a, &interp, &arg))
			return false;
		add_interpreter(c, a, x, interp, arg);
		s = &x->step[x->nsteps - 1];
		s->real = resolve(root_fd, c, a, interp);
	}
	return false;
}

/* What /proc will say of it once it runs. */
static void
foresee(struct arena *a, struct held_exec *x)
{
	const struct exec_step *s = &x->step[x->nsteps - 1];
	size_t len = 0, at = 0;
	char *text;

	for (size_t i = 0; i < s->argc; i++)
		len += strlen(s->argv[i]) + 1;
	text = arena_alloc(a, len + 1);
	for (size_t i = 0; i < s->argc; i++) {
		size_t n = strlen(s->argv[i]) + 1;

		memcpy(text + at, s->argv[i], n);
		at += n;
	}
	x->exe = s->real;
	x->cmdline = text;
	x->cmdline_len = len;
}

/* ---- the face ---- */

int
held_exec_read(int root_fd, const struct held_call *c, bool wants_env,
    struct arena *a, struct held_exec *ret)
{
	struct held_exec x = { .nsteps = 1 };
	struct strings argv = { 0 }, envp = { 0 };
	struct exec_step *s = &x.step[0];
	size_t left = ARGS_MAX;
	struct memory m;
	int rc;

	memory_init(&m, c->tid);
	s->program = memory_string(&m, a, c->exec.path, &left);
	if (s->program == NULL)
		return -1;
	rc = memory_strings(&m, &c->exec, c->exec.argv, a, &left, &argv);
	if (rc == 0 && wants_env)
		rc = memory_strings(&m, &c->exec, c->exec.envp, a, &left,
		    &envp);
	s->argc = argv.n;
	s->argv = strings_keep(&argv, a);
	x.envc = envp.n;
	x.envp = strings_keep(&envp, a);
	x.is_too_long = left == 0;
	x.is_by_fd = c->exec.is_by_fd && s->program[0] == '\0';
	if (rc != 0)
		return -1;
	s->real = resolve(root_fd, c, a, s->program);
	if (add_steps(root_fd, c, a, &x) && s->argc > 0)
		foresee(a, &x);
	/* A file that is open exists, whatever its name is by now. */
	if (x.is_by_fd || strncmp(s->program, "/proc/", 6) == 0 ||
	    strncmp(s->program, "/dev/fd/", 8) == 0)
		s->is_missing = false;
	*ret = x;
	return 0;
}

/* A file of NUL-terminated strings in /proc. */
static int
proc_strings(pid_t pid, const char *name, struct arena *a, const char ***ret,
    size_t *ret_n)
{
	struct strings list = { 0 };
	char path[PROC_PATH], part[PAGE];
	auto_fd fd = -1;
	struct buf b;
	ssize_t n = 0;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	buf_init(&b, ARGS_MAX);
	while (fd >= 0 && !b.failed && (n = read(fd, part, sizeof part)) > 0)
		buf_add(&b, part, (size_t)n);
	for (size_t at = 0; at < b.len; at += strlen(b.data + at) + 1)
		*vec_push(&list) = arena_strdup(a, b.data + at);
	buf_release(&b);
	*ret_n = list.n;
	*ret = strings_keep(&list, a);
	return fd >= 0 && n == 0 ? 0 : -1;
}

int
exec_image_read(pid_t pid, bool wants_env, struct arena *a,
    struct held_exec *ret)
{
	struct held_exec x = { .nsteps = 1 };
	struct exec_step *s = &x.step[0];

	s->program = s->real = proc_link(a, pid, "exe");
	if (s->program == NULL ||
	    proc_strings(pid, "cmdline", a, &s->argv, &s->argc) != 0 ||
	    (wants_env && proc_strings(pid, "environ", a, &x.envp,
	    &x.envc) != 0))
		return -1;
	*ret = x;
	return 0;
}
