#include "platform/mounttable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"

/* "\040" and its like stand for blanks. */
static void
unescape(char *s)
{
	char *out = s;

	for (; *s != '\0'; s++)
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' &&
		    s[2] >= '0' && s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*out++ = (char)((s[1] - '0') << 6 |
			    (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else
			*out++ = *s;
	*out = '\0';
}

/* id parent major:minor root PATH options [more …] - TYPE source options */
bool
mount_line_parse(char *line, struct mount_line *ret)
{
	enum { DEV = 2, ROOT, PATH, NFIELDS };
	char *field[NFIELDS], *rest = line, *type;

	type = strstr(line, " - ");
	for (int i = 0; i < NFIELDS; i++)
		if ((field[i] = strsep(&rest, " ")) == NULL)
			return false;
	if (rest == NULL || type == NULL || type < rest - 1 ||
	    field[PATH][0] != '/')
		return false;
	type += strlen(" - ");
	type[strcspn(type, " \n")] = '\0';
	unescape(field[ROOT]);
	unescape(field[PATH]);
	unescape(type);
	*ret = (struct mount_line){ field[DEV], field[ROOT], field[PATH],
	    type };
	return type[0] != '\0';
}

bool
mount_type_is_far(const char *type)
{
	static const char *const far[] = { "nfs", "nfs4", "cifs", "smb3",
	    "ceph", "9p", "afs", "autofs", "fuse" };

	for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
		if (strcmp(type, far[i]) == 0)
			return true;
	/* "fuseblk" is a disk of this machine. */
	return strncmp(type, "fuse.", strlen("fuse.")) == 0;
}

/* Writing there is speaking to the kernel; uid 0 may, without capabilities. */
static const struct {
	const char	*name;
	unsigned long	 magic;
} kernel_fs[] = {
	{ "proc", 0x9fa0 }, { "sysfs", 0x62656572 },
	{ "cgroup", 0x27e0eb }, { "cgroup2", 0x63677270 },
	{ "debugfs", 0x64626720 }, { "tracefs", 0x74726163 },
	{ "securityfs", 0x73636673 }, { "bpf", 0xcafe4a11 },
	{ "configfs", 0x62656570 }, { "efivarfs", 0xde5e81e4 },
	{ "selinuxfs", 0xf97cff8c }, { "binfmt_misc", 0x42494e4d },
	{ "fusectl", 0x65735543 }, { "pstore", 0x6165676c },
	{ "devtmpfs", 0 }, { "devpts", 0x1cd1 },
};

enum { NKERNEL_FS = sizeof kernel_fs / sizeof kernel_fs[0] };

static bool
mount_type_is_kernel(const char *type)
{
	for (size_t i = 0; i < NKERNEL_FS; i++)
		if (strcmp(type, kernel_fs[i].name) == 0)
			return true;
	return false;
}

bool
mount_magic_is_kernel(unsigned long magic)
{
	for (size_t i = 0; i < NKERNEL_FS; i++)
		if (kernel_fs[i].magic != 0 && magic == kernel_fs[i].magic)
			return true;
	return false;
}

int
mount_line_each(void (*fn)(const struct mount_line *, void *), void *arg)
{
	static const size_t sizes[] = { 16 << 10, 256 << 10,
	    16 << 20 };
	char *text = NULL, *line, *rest;
	struct mount_line m;
	ssize_t n = -1;

	for (size_t i = 0; n < 0 && i < sizeof sizes / sizeof *sizes;
	    i++) {
		text = xrealloc(text, sizes[i], 1);
		n = fd_read_file(AT_FDCWD, "/proc/self/mountinfo", text,
		    sizes[i]);
		if (n < 0 && errno != EFBIG)
			break;
	}
	rest = n < 0 ? NULL : text;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (mount_line_parse(line, &m))
			fn(&m, arg);
	free(text);
	return n < 0 ? -1 : 0;
}

static void
add_mount(const struct mount_line *m, void *arg)
{
	struct mount_table *t = arg;

	*vec_push(t) = (struct mount){ .path = xstrdup(m->path),
	    .len = strlen(m->path), .root = xstrdup(m->root),
	    .dev = xstrdup(m->dev), .is_far = mount_type_is_far(m->type),
	    .is_kernel = mount_type_is_kernel(m->type) };
}

int
mount_table_read(struct mount_table *t)
{
	return mount_line_each(add_mount, t);
}

void
mount_table_release(struct mount_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->v[i].path);
		free(t->v[i].root);
		free(t->v[i].dev);
	}
	vec_release(t);
}

static bool
begins_with(const struct mount *m, const char *dir, size_t dir_len,
    const char *rest, size_t rest_len)
{
	return m->len >= dir_len + rest_len &&
	    memcmp(m->path + dir_len, rest, rest_len) == 0 &&
	    memcmp(m->path, dir, dir_len) == 0;
}

struct mount *
mount_table_at(const struct mount_table *t, const char *dir,
    size_t dir_len, const char *rest, size_t rest_len)
{
	for (size_t i = t->n; i-- > 0;)
		if (t->v[i].len == dir_len + rest_len &&
		    begins_with(&t->v[i], dir, dir_len, rest, rest_len))
			return &t->v[i];
	return NULL;
}

const struct mount *
mount_table_of(const struct mount_table *t, const char *path)
{
	const struct mount *best = NULL;

	for (size_t i = 0; i < t->n; i++)
		if (str_path_below(path, t->v[i].path) &&
		    (best == NULL || t->v[i].len >= best->len))
			best = &t->v[i];
	return best;
}

bool
mount_table_far_below(const struct mount_table *t, const char *dir,
    size_t dir_len, const char *rest, size_t rest_len)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].is_far &&
		    begins_with(&t->v[i], dir, dir_len, rest, rest_len) &&
		    t->v[i].path[dir_len + rest_len] == '/')
			return true;
	return false;
}
