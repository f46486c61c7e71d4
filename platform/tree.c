#include "platform/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "platform/base/vec.h"
#include "platform/fd.h"

void
tree_look(struct arena *a, const char *path, struct tree_node *ret)
{
	char link[32], real[PATH_MAX];
	struct stat st;
	ssize_t n;

	*ret = (struct tree_node){ .path = path, .kind = TREE_MISSING };
	/* The kernel knows the way: a realpath() asks for every component. */
	auto_fd fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) != 0)
		return;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, real, sizeof real);
	if (n <= 0 || (size_t)n == sizeof real || real[0] != '/')
		return;
	ret->real = arena_strndup(a, real, (size_t)n);
	ret->kind = S_ISDIR(st.st_mode) ? TREE_DIR : TREE_FILE;
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
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

bool
tree_is_kernel(const char *path)
{
	struct statfs fs;

	if (statfs(path, &fs) != 0)
		return false;
	for (size_t i = 0; i < NKERNEL_FS; i++)
		if (kernel_fs[i].magic != 0 &&
		    (unsigned long)fs.f_type == kernel_fs[i].magic)
			return true;
	return false;
}

static bool
is_kernel_fs(const char *name)
{
	for (size_t i = 0; i < NKERNEL_FS; i++)
		if (strcmp(name, kernel_fs[i].name) == 0)
			return true;
	return false;
}

/* "\040" and its like stand for blanks in mountinfo. */
static void
unescape(char *s)
{
	char *out = s;

	for (; *s != '\0'; s++)
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' &&
		    s[2] != '\0' && s[3] != '\0') {
			*out++ = (char)((s[1] - '0') << 6 |
			    (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else
			*out++ = *s;
	*out = '\0';
}

void
tree_kernel_mounts(void (*fn)(const char *, void *), void *arg)
{
	FILE *fp = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, path[PATH_MAX], type[64];
	size_t size = 0;

	while (fp != NULL && getline(&line, &size, fp) > 0) {
		char *dash = strstr(line, " - ");

		if (dash == NULL || sscanf(dash, " - %63s", type) != 1 ||
		    !is_kernel_fs(type) ||
		    sscanf(line, "%*s %*s %*s %*s %4095s", path) != 1)
			continue;
		unescape(path);
		fn(path, arg);
	}
	free(line);
	if (fp != NULL)
		fclose(fp);
}

struct walk {
	struct arena		*arena;
	bool			(*match)(const char *, void *);
	void			*arg;
	size_t			 left;
	struct tree_nodes	*out;
};

struct dirs {
	char	**v;
	size_t	  n, cap;
};

static int
walk_entry(struct walk *w, const char *dir, const struct dirent *d,
    struct dirs *todo)
{
	char path[PATH_MAX];
	struct tree_node node;
	int n;

	if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
		return 0;
	if (w->left-- == 0)
		return -1;
	n = snprintf(path, sizeof path, "%s/%s", strcmp(dir, "/") == 0 ? "" :
	    dir, d->d_name);
	if (n < 0 || (size_t)n >= sizeof path)
		return 0;
	if (w->match(path, w->arg)) {
		tree_look(w->arena, arena_strdup(w->arena, path), &node);
		if (node.kind != TREE_MISSING)
			*vec_push(w->out) = node;
		return 0;
	}
	/* d_type is DT_UNKNOWN on some file systems: then let opendir say. */
	if (d->d_type == DT_DIR || d->d_type == DT_UNKNOWN)
		*vec_push(todo) = xstrdup(path);
	return 0;
}

static int
walk_dir(struct walk *w, const char *path, struct dirs *todo)
{
	auto_fd fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	struct dirent *d;
	int rc = 0;
	DIR *dp;

	if (fd < 0 || (dp = fdopendir(fd)) == NULL)
		return 0;	/* what we may not list the jail may not either */
	fd = -1;
	while (rc == 0 && (d = readdir(dp)) != NULL)
		rc = walk_entry(w, path, d, todo);
	closedir(dp);
	return rc;
}

int
tree_find(struct arena *a, const char *root,
    bool (*match)(const char *, void *), void *arg, size_t max_entries,
    struct tree_nodes *out, struct err *e)
{
	struct walk w = { a, match, arg, max_entries, out };
	struct dirs todo = { 0 };
	struct tree_node node;
	int rc = 0;

	if (match(root, arg)) {
		tree_look(a, root, &node);
		if (node.kind != TREE_MISSING)
			*vec_push(out) = node;
		return 0;
	}
	*vec_push(&todo) = xstrdup(root);
	while (rc == 0 && todo.n > 0) {
		char *dir = todo.v[--todo.n];

		rc = walk_dir(&w, dir, &todo);
		free(dir);
	}
	while (todo.n > 0)
		free(todo.v[--todo.n]);
	vec_release(&todo);
	if (rc != 0)
		return err_set(e, ERR_POLICY, "more than %zu entries below "
		    "'%s'", max_entries, root);
	return 0;
}
