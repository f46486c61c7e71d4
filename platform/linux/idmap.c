#include "platform/linux/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "platform/fd.h"
#include "platform/linux/early.h"

enum { LINE_SIZE = 48 };	/* two numbers of 20 digits */

static int
put(int proc_fd, const char *name, const char *text)
{
	auto_fd fd = openat(proc_fd, name, O_WRONLY | O_CLOEXEC);
	size_t n = strlen(text);

	return fd >= 0 && write(fd, text, n) == (ssize_t)n ? 0 : -1;
}

/* "INNER OUTER 1" */
static int
put_line(int proc_fd, const char *name, unsigned inner, unsigned outer)
{
	char line[LINE_SIZE];

	early_number(line, inner);
	strcat(line, " ");
	early_number(line + strlen(line), outer);
	strcat(line, " 1\n");
	return put(proc_fd, name, line);
}

int
idmap_write(int proc_fd, const struct idmap *m)
{
	auto_fd own_fd = -1;

	if (proc_fd < 0 && (proc_fd = own_fd = open("/proc", O_PATH |
	    O_DIRECTORY | O_CLOEXEC)) < 0)
		return -1;
	/* ENOENT: before Linux 3.19, which asks for none. */
	if (put(proc_fd, "self/setgroups", "deny") != 0 && errno != ENOENT)
		return -1;
	if (put_line(proc_fd, "self/uid_map", m->uid, m->outer_uid) != 0)
		return -1;
	return put_line(proc_fd, "self/gid_map", m->gid, m->outer_gid);
}
