#include "launcher/plan/stray.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"

enum {
	MAX_DIRS = 256, MAX_ENTRIES = 20000,	/* of one folder */
	MAX_PIDS = 4096, MAX_LINKS = 65536, MAX_NAMES = 3,
};

bool
stray_is_named(const char *name)
{
	return name[0] != '/' || strncmp(name, "/proc/", 6) == 0 ||
	    strncmp(name, "/dev/fd/", 8) == 0;
}

void
strays_add(struct strays *s, const struct unixlist_entry *e)
{
	struct stray stray = { .e = *e, .is_named = stray_is_named(e->path) };

	stray.e.path = arena_strdup(s->arena, e->path);
	*vec_push(s) = stray;
}

/* Does stat(2) tell the device that the kernel knows? */
static bool
tells_device(const char *path)
{
	static const unsigned long those[] = { 0xef53 /* ext4 */,
	    0x58465342 /* xfs */, 0x01021994 /* tmpfs */,
	    0xf2f52010 /* f2fs */ };
	struct statfs fs;

	for (size_t i = 0; statfs(path, &fs) == 0 &&
	    i < sizeof those / sizeof *those; i++)
		if ((unsigned long)fs.f_type == those[i])
			return true;
	return false;
}

/*
 * Some file systems (btrfs, overlay) tell stat another device than the one
 * that the kernel knows; the inode or the name has to do there.
 */
static bool
is_at(const struct stray *stray, const char *path, const struct stat *st)
{
	const struct unixlist_entry *e = &stray->e;

	bool is_here = e->has_file && e->file_dev == (major(st->st_dev) << 20
	    | minor(st->st_dev));

	bool is_it = e->has_file && e->file_ino == (uint32_t)st->st_ino;

	if (e->has_file && (is_here || tells_device(path)))
		return is_here && is_it;
	return is_it || (stray->is_named &&
	    strcmp(path_name(path), path_name(e->path)) == 0);
}

void
strays_try(struct strays *s, const char *path)
{
	struct stat st;

	if (s->n == 0 || lstat(path, &st) != 0 || !S_ISSOCK(st.st_mode))
		return;
	for (size_t i = 0; i < s->n; i++)
		if (is_at(&s->v[i], path, &st)) {
			s->v[i].is_found = true;
			s->found(path, s->arg);
		}
}

/* ---- folders ---- */

static bool
is_new(struct strays *s, const char *dir)
{
	for (size_t i = 0; i < s->dirs.n; i++)
		if (strcmp(s->dirs.v[i], dir) == 0)
			return false;
	if (s->dirs.n == MAX_DIRS)
		return false;
	*vec_push(&s->dirs) = arena_strdup(s->arena, dir);
	return true;
}

/* Every socket in it: one that was renamed has another name. */
static void
search_dir(struct strays *s, const char *dir)
{
	DIR *dp = dir[0] == '/' && is_new(s, dir) ? opendir(dir) : NULL;
	int left = MAX_ENTRIES;
	char path[PATH_MAX];
	struct dirent *d;

	while (dp != NULL && left-- > 0 && (d = readdir(dp)) != NULL)
		if ((d->d_type == DT_SOCK || d->d_type == DT_UNKNOWN) &&
		    (size_t)snprintf(path, sizeof path, "%s/%s", dir,
		    d->d_name) < sizeof path)
			strays_try(s, path);
	if (dp != NULL)
		closedir(dp);
}

/* A path, and the folder that it is in. */
static void
search_at(struct strays *s, const char *dir, const char *name)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) >=
	    sizeof path)
		return;
	strays_try(s, path);
	if (path_cut(path))
		search_dir(s, path);
}

/* ---- owners ---- */

/* The target of /proc/PID/WHAT; "" if we may not know. */
static void
read_link(const char *pid, const char *what, char ret[PATH_MAX])
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "/proc/%s/%s", pid, what);
	if (path_read_link(AT_FDCWD, path, ret, PATH_MAX) < 0 ||
	    ret[0] != '/')
		ret[0] = '\0';
}

/*
 * "/proc/self/fd/5/a" and "/dev/fd/5/a" lead through "fd/5" of the process,
 * "/proc/self/cwd/a" through "cwd".  NULL: it is none of these.
 */
static const char *
split_magic(const char *name, char ret[PATH_MAX])
{
	const char *at = name + strlen("/dev/"), *end;

	if (strncmp(name, "/proc/", 6) == 0) {
		at = strchr(name + 6, '/');
		if (at++ == NULL)
			return NULL;
	}
	end = strchr(at, '/');
	if (end != NULL && strncmp(at, "fd/", 3) == 0)
		end = strchr(end + 1, '/');
	if (end == NULL)
		return NULL;
	snprintf(ret, PATH_MAX, "%.*s", (int)(end - at), at);
	return end + 1;
}

static void
search_owner(struct strays *s, struct stray *stray, const char *pid)
{
	const char *name = stray->e.path, *rest = name;
	char what[PATH_MAX] = "cwd", dir[PATH_MAX];

	stray->has_owner = true;
	if (name[0] == '/')
		rest = split_magic(name, what);
	read_link(pid, what, dir);
	if (rest != NULL && dir[0] != '\0')
		search_at(s, dir, rest);
}

/* It has gone elsewhere since, perhaps: what else does it hold? */
static void
search_held(struct strays *s, const char *pid, DIR *fds)
{
	char what[NAME_MAX + 4], dir[PATH_MAX];
	struct dirent *d;
	struct stat st;

	read_link(pid, "cwd", dir);
	search_dir(s, dir);
	rewinddir(fds);
	while (s->dirs.n < MAX_DIRS && (d = readdir(fds)) != NULL) {
		if (fstatat(dirfd(fds), d->d_name, &st, 0) != 0 ||
		    !S_ISDIR(st.st_mode))
			continue;
		snprintf(what, sizeof what, "fd/%s", d->d_name);
		read_link(pid, what, dir);
		search_dir(s, dir);
	}
}

static struct stray *
find_socket(struct strays *s, uint64_t socket)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].e.socket == socket && s->v[i].is_named &&
		    !s->v[i].is_found)
			return &s->v[i];
	return NULL;
}

static void
search_process(struct strays *s, const char *pid, int *links)
{
	static const char prefix[] = "socket:[";
	char path[NAME_MAX + 16], link[64];
	struct stray *stray;
	bool is_lost = false;
	struct dirent *d;
	ssize_t n;
	DIR *dp;

	snprintf(path, sizeof path, "/proc/%s/fd", pid);
	dp = opendir(path);
	while (dp != NULL && (*links)-- > 0 && (d = readdir(dp)) != NULL) {
		n = readlinkat(dirfd(dp), d->d_name, link, sizeof link - 1);
		link[n > 0 ? n : 0] = '\0';
		if (strncmp(link, prefix, sizeof prefix - 1) != 0 ||
		    (stray = find_socket(s, strtoull(link + sizeof prefix - 1,
		    NULL, 10))) == NULL)
			continue;
		search_owner(s, stray, pid);
		is_lost |= !stray->is_found;
	}
	if (is_lost)
		search_held(s, pid, dp);
	if (dp != NULL)
		closedir(dp);
}

/* Into processes of other users only root may look. */
static bool
wants_owners(const struct strays *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].is_named && !s->v[i].is_found && (getuid() == 0 ||
		    !s->v[i].e.has_uid || s->v[i].e.uid == getuid()))
			return true;
	return false;
}

void
strays_search(struct strays *s)
{
	int pids = MAX_PIDS, links = MAX_LINKS;
	struct dirent *d;
	uint64_t pid;
	DIR *dp;

	/* Renamed, or linked, where they were: ssh's masters are. */
	for (size_t i = 0; i < s->n; i++)
		if (!s->v[i].is_named && !s->v[i].is_found)
			search_at(s, "", s->v[i].e.path + 1);
	dp = wants_owners(s) ? opendir("/proc") : NULL;
	while (dp != NULL && pids > 0 && links > 0 && wants_owners(s) &&
	    (d = readdir(dp)) != NULL)
		if (str_to_u64(str_of(d->d_name), INT32_MAX, &pid) == 0) {
			pids--;
			search_process(s, d->d_name, &links);
		}
	if (dp != NULL)
		closedir(dp);
}

/* ---- what is left ---- */

/* Those of other users are theirs to close. */
static bool
is_lost(const struct stray *stray)
{
	return stray->is_named && !stray->is_found && (stray->has_owner ||
	    (stray->e.has_uid && stray->e.uid == getuid()));
}

size_t
strays_lost(const struct strays *s, struct buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (!is_lost(&s->v[i]) || ++n > MAX_NAMES)
			continue;
		buf_puts(out, n > 1 ? ", '" : "'");
		str_escape(out, s->v[i].e.path, strlen(s->v[i].e.path), 0);
		buf_puts(out, "'");
	}
	if (n > MAX_NAMES)
		buf_puts(out, ", …");
	return n;
}

void
strays_release(struct strays *s)
{
	vec_release(&s->dirs);
	vec_release(s);
}
