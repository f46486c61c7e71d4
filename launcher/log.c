#include "launcher/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/writer.h"
#include "platform/base/buf.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/fd.h"

static char path[PATH_MAX];
static char real[PATH_MAX];
static bool is_new;
static int fd = STDERR_FILENO;
static struct writer writer = { .fd = STDERR_FILENO, .own_fd = -1 };
static struct writer errors = { .fd = STDERR_FILENO, .own_fd = -1 };
static bool is_option;
static bool (*is_busy)(void *);
static void *busy_arg;
static char kept[64 * 1024];
static size_t nkept;
static unsigned nlost;		/* lines that did not fit */

/* The command sees it by this name, wherever it goes. */
static int
keep_path(const char *name)
{
	char cwd[PATH_MAX];

	if (name[0] == '/')
		cwd[0] = '\0';
	else if (getcwd(cwd, sizeof cwd - 1) == NULL)
		return -1;
	else
		strcat(cwd, "/");
	if (strlen(cwd) + strlen(name) >= sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(path, cwd);
	strcat(path, name);
	return 0;
}

/*
 * A link may have been planted by an earlier run in the workspace, or a FIFO:
 * one that nobody reads would be waited for.
 */
int
log_create(const char *option, const char *name, int flags, char ret_real[],
    bool *ret_is_new, struct err *e)
{
	struct stat st;
	int new_fd;

	flags |= O_WRONLY | O_CREAT | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;
	new_fd = open(name, flags | O_EXCL | O_CLOEXEC, 0600);
	*ret_is_new = new_fd >= 0;
	if (new_fd < 0)
		new_fd = open(name, flags | O_CLOEXEC, 0600);
	if (new_fd >= 0 && fd_nonblock(new_fd, 0) != 0)
		fd_close(&new_fd);
	if (new_fd < 0 || fstat(new_fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    fd_real_path(new_fd, ret_real) != 0)
		ret_real[0] = '\0';
	if (new_fd >= 0)
		return new_fd;
	err_sys(e, errno, "%s: cannot open '%s'", option, name);
	if (errno == ELOOP)
		err_hint(e, "it is a symlink: name the file it leads to");
	else if (errno == ENXIO)
		err_hint(e, "it is a FIFO or a socket, and nobody reads it");
	return -1;
}

void
log_remove(int new_fd, const char *at)
{
	char dir[PATH_MAX];
	const char *name = path_name(at);
	struct stat st, now;
	auto_fd dir_fd = -1;

	(void)snprintf(dir, sizeof dir, "%.*s", (int)(name - at), at);
	dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd >= 0 && fstat(new_fd, &st) == 0 && st.st_size == 0 &&
	    fstatat(dir_fd, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == now.st_dev && st.st_ino == now.st_ino)
		(void)unlinkat(dir_fd, name, 0);
}

static int
open_file(const char *option, const char *name, struct err *e)
{
	int new_fd = log_create(option, name, O_APPEND, real,
	    &is_new, e);

	if (new_fd >= 0 && keep_path(name) != 0) {
		err_sys(e, errno, "%s: '%s'", option, name);
		fd_close(&new_fd);
	}
	if (new_fd >= 0)
		fd = writer.fd = new_fd;
	return new_fd;
}

int
log_open(const char *option, const char *inherited, struct err *e)
{
	struct err ignored = { 0 };

	if (option != NULL) {
		if (open_file("--fence-log-file", option, e) < 0)
			return -1;
		if (setenv("FENCE_LOG_FILE", path, 1) != 0)
			return err_sys(e, errno, "--fence-log-file");
		is_option = true;
		return 0;
	}
	if (inherited != NULL && inherited[strspn(inherited, " \t")] != '\0' &&
	    open_file("FENCE_LOG_FILE", inherited, &ignored) < 0)
		log_say("warning: %s: %s", ignored.msg,
		    strerror(ignored.sys));
	return 0;
}

/* A pipe or a terminal has nothing to be emptied of. */
void
log_begin(void)
{
	if (is_option)
		(void)!ftruncate(fd, 0);
	writer_release(&writer);
	writer_init(&writer, fd);
	writer_release(&errors);
	writer_init(&errors, STDERR_FILENO);
}

void
log_undo(void)
{
	if (is_new)
		log_remove(fd, real);
}

const char *
log_real(void)
{
	return real;
}

const char *
log_path(void)
{
	return path[0] != '\0' ? path : NULL;
}

int
log_fd(void)
{
	return fd;
}

/*
 * Names of files, and what policies say, are other people's words.  What
 * quotes them may have escaped them already: backslashes stay as they are.
 */
static void
put_plain(struct buf *b, const char *s, size_t len)
{
	uint32_t cp;

	for (size_t i = 0, n; i < len; i += n) {
		n = str_utf8(s + i, len - i, &cp);
		if (n > 0 && !str_is_deceptive(cp)) {
			buf_add(b, s + i, n);
			continue;
		}
		n = n > 0 ? n : 1;
		for (size_t k = 0; k < n; k++)
			buf_printf(b, "\\x%02x", (unsigned char)s[i + k]);
	}
}

/* How much needs no more care: it was taken, or nobody is there. */
static size_t
push(const char *text, size_t len)
{
	size_t n = writer_put(&writer, text, len);

	return writer.is_gone ? len : n;
}

static void
put(const char *text, size_t len)
{
	size_t n = 0;

	if (is_busy == NULL || !is_busy(busy_arg)) {
		log_show();
		n = nkept == 0 ? push(text, len) : 0;
	}
	text += n;
	len -= n;
	if (len <= sizeof kept - nkept) {
		memcpy(kept + nkept, text, len);
		nkept += len;
	} else {
		nlost++;
	}
}

void
log_show(void)
{
	size_t n = push(kept, nkept);
	unsigned lost = nlost;
	char text[64];

	nkept -= n;
	memmove(kept, kept + n, nkept);
	if (nkept > 0 || lost == 0)
		return;
	nlost = 0;
	(void)snprintf(text, sizeof text, "fence: %u more lines were "
	    "not kept\n", lost);
	(void)push(text, strlen(text));
}

void
log_hold(bool (*busy)(void *), void *arg)
{
	is_busy = busy;
	busy_arg = arg;
	if (busy == NULL)
		log_show();
}

static void
say(const char *head, const char *fmt, va_list ap)
{
	char text[4096];
	int n = vsnprintf(text, sizeof text, fmt, ap);
	size_t len = n > 0 ? (size_t)n : 0;
	struct buf b;

	if (len > sizeof text - 1)
		len = sizeof text - 1;
	buf_init(&b, 0);
	buf_puts(&b, head);
	put_plain(&b, text, len);
	buf_putc(&b, '\n');
	if (!b.failed)
		put(b.data, b.len);
	buf_release(&b);
}

void
log_line(const char *text)
{
	struct buf b;

	buf_init(&b, 0);
	buf_puts(&b, text);
	buf_putc(&b, '\n');
	log_show();
	if (!b.failed && nkept == 0)
		(void)push(b.data, b.len);
	buf_release(&b);
}

void
log_error(const struct err *e)
{
	struct buf b;

	log_show();
	buf_init(&b, 0);
	err_put(e, &b);
	if (!b.failed)
		(void)writer_put(&errors, b.data, b.len);
	buf_release(&b);
}

void
log_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("fence: ", fmt, ap);
	va_end(ap);
}

void
log_fact(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("[fence] ", fmt, ap);
	va_end(ap);
}
