/* Searches over a real tree: what is found, what is not even entered. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/base/vec.h"
#include "platform/mounttable.h"
#include "platform/tree.h"
#include "tests/unit/netns.h"
#include "tests/unit/room.h"

enum { MAX_WANTS = 8, PLENTY = 1000 };

/* A want, as tables write it: names end at '*' or are whole. */
struct row_want {
	const char	*root;		/* below the room; "" is the room */
	const char	*name;
	unsigned	 max_depth;
	const char	*skip;
	const char	*found;		/* sorted, below the room */
};

static size_t seen;

static bool
has_name(const struct tree_entry *entry, void *arg)
{
	const char *name = arg, *slash = strrchr(entry->path, '/');
	size_t n = strlen(name);

	seen++;
	assert_non_null(slash);
	if (strcmp(entry->path, "/") != 0)
		assert_ptr_equal(slash + 1, entry->name);
	if (n > 0 && name[n - 1] == '*')
		return strncmp(entry->name, name, n - 1) == 0;
	return strcmp(entry->name, name) == 0;
}

static int
compare(const void *a, const void *b)
{
	const struct tree_node *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* "a b/c ": paths below the room, sorted; releases the list. */
static const char *
shown(struct room *r, struct tree_nodes *found)
{
	static char text[4096];
	size_t skip = strlen(r->dir), n = 0;

	text[0] = '\0';
	if (found->n > 0)
		qsort(found->v, found->n, sizeof found->v[0], compare);
	for (size_t i = 0; i < found->n; i++) {
		const char *path = found->v[i].path;

		assert_memory_equal(path, r->dir, skip);
		assert_non_null(found->v[i].real);
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s",
		    n > 0 ? " " : "", path[skip] == '/' ? path + skip + 1 :
		    ".");
		assert_true(n < sizeof text);
	}
	vec_release(found);
	return text;
}

static void
never(const char *path, void *arg)
{
	(void)arg;
	fail_msg("skipped %s", path);
}

static int
walk(struct arena *a, struct tree_want *wants, size_t n, size_t max_entries,
    void (*skipped)(const char *, void *), void *arg, struct err *e)
{
	struct mount_table mounts = { 0 };
	int rc = tree_walk(a, wants, n, max_entries, &mounts, skipped, NULL,
	    arg, e);

	mount_table_release(&mounts);
	return rc;
}

static void
check_row(struct room *r, const struct row_want *row, size_t n)
{
	struct tree_want wants[MAX_WANTS] = { 0 };
	struct arena *a = arena_new();
	struct err e = { 0 };

	assert_true(n <= MAX_WANTS);
	for (size_t i = 0; i < n; i++)
		wants[i] = (struct tree_want){ .match = has_name,
		    .root = arena_strdup(a, room_path(r, row[i].root)),
		    .arg = (void *)(uintptr_t)row[i].name,
		    .max_depth = row[i].max_depth, .skip = row[i].skip };
	assert_int_equal(walk(a, wants, n, PLENTY, never, NULL, &e), 0);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(shown(r, &wants[i].found), row[i].found);
	arena_free(a);
}

static void
make_socket(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(sa.sun_path, sizeof sa.sun_path, "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof sa), 0);
	close(fd);
}

static void
plant(struct room *r)
{
	static const char *const names[] = { "t/x", "t/a/x", "t/a/b/x",
	    "t/a/b/c/x", "t/m/x", "t/m/a/x", "t/.git/x", "t/.git/.git/y",
	    "t/a/.git", "u/x" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		room_put(r, names[i], "");
	room_put(r, "t/empty/", "");
	assert_int_equal(symlink("a", room_path(r, "t/la")), 0);
	assert_int_equal(symlink("nowhere", room_path(r, "t/lost")), 0);
	assert_int_equal(symlink("t", room_path(r, "lt")), 0);
	make_socket(room_path(r, "t/a/sock"));
	assert_int_equal(mkfifo(room_path(r, "t/a/fifo"), 0600), 0);
}

static void
test_rows(void **state)
{
	static const struct row_want rows[][MAX_WANTS] = {
		/* by name, in all of it */
		{ { "t", "x", 0, NULL, "t/.git/x t/a/b/c/x t/a/b/x t/a/x "
		    "t/m/a/x t/m/x t/x" } },
		/* depths */
		{ { "t", "x", 1, NULL, "t/x" },
		  { "t", "x", 2, NULL, "t/.git/x t/a/x t/m/x t/x" },
		  { "t", "x", 3, NULL, "t/.git/x t/a/b/x t/a/x t/m/a/x "
		    "t/m/x t/x" } },
		/* what matched is not entered, by this want */
		{ { "t", ".git", 0, NULL, "t/.git t/a/.git" },
		  { "t", "y", 0, NULL, "t/.git/.git/y" } },
		/* a name not entered, but found; a root is entered */
		{ { "t", "x", 0, "a", "t/.git/x t/m/x t/x" },
		  { "t", "a", 0, "a", "t/a t/m/a" },
		  { "t/a", "x", 1, "a", "t/a/x" },
		  { "t/m", "x", 0, "a", "t/m/x" } },
		/* roots: themselves, files, links, missing, slashes */
		{ { "t/a", "a", 0, NULL, "t/a" },
		  { "t/x", "x", 0, NULL, "t/x" },
		  { "t/lost/x", "x", 0, NULL, "" },
		  { "none", "none", 0, NULL, "" },
		  { "u/", "x", 0, NULL, "u/x" },
		  { "u///", "u", 0, NULL, "u" },
		  { "lt", "x", 0, NULL, "" },
		  { "lt", "lt", 0, NULL, "lt" } },
		/* one below the other, below what the upper one leaves out */
		{ { "t/a/b", "x", 0, NULL, "t/a/b/c/x t/a/b/x" },
		  { "t", "x", 1, NULL, "t/x" },
		  { "t", "a", 0, NULL, "t/a t/m/a" },
		  { "t/a", "x", 1, NULL, "t/a/x" },
		  { "t/a/b/c", "c", 0, NULL, "t/a/b/c" },
		  { "t/a/b", "b", 0, NULL, "t/a/b" },
		  { "t/a/b", "x", 1, NULL, "t/a/b/x" },
		  { "t/m/x", "x", 0, NULL, "t/m/x" } },
		/* a name that only begins alike */
		{ { "t/a/b/c", "x", 0, NULL, "t/a/b/c/x" },
		  { "t/a/b/cc", "x", 0, NULL, "" },
		  { "t/a/b", "c", 0, NULL, "t/a/b/c" } },
		/* links are found, not followed; without a target not */
		{ { "t", "l*", 0, NULL, "t/la" } },
		/* other kinds */
		{ { "t", "sock", 0, NULL, "t/a/sock" },
		  { "t", "fifo", 0, NULL, "t/a/fifo" },
		  { "t", "empty", 0, NULL, "t/empty" } },
		/* through a link above the root */
		{ { "lt/a", "x", 1, NULL, "lt/a/x" },
		  { "t/a", "x", 1, NULL, "t/a/x" } },
	};
	struct room *r = *state;

	plant(r);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		size_t n = 0;

		while (n < MAX_WANTS && rows[i][n].name != NULL)
			n++;
		check_row(r, rows[i], n);
	}
}

/* What is told of each: its type, its kind, its real path. */
struct row_node {
	const char	*path, *real;	/* below the room */
	enum tree_type	 type;
	enum tree_kind	 kind;
};

static bool
is_typed(const struct tree_entry *entry, void *arg)
{
	const struct row_node *row = arg;

	if (strcmp(entry->name, strrchr(row->path, '/') + 1) != 0)
		return false;
	assert_int_equal(entry->type, row->type);
	return true;
}

static void
test_nodes(void **state)
{
	static const struct row_node rows[] = {
		{ "t/a", "t/a", TREE_IS_DIR, TREE_DIR },
		{ "t/m/x", "t/m/x", TREE_IS_FILE, TREE_FILE },
		{ "t/a/sock", "t/a/sock", TREE_IS_SOCKET, TREE_FILE },
		{ "t/a/fifo", "t/a/fifo", TREE_IS_OTHER, TREE_FILE },
		{ "t/la", "t/a", TREE_IS_LINK, TREE_DIR },
		{ "lt/m/x", "t/m/x", TREE_IS_FILE, TREE_FILE },
		{ "lt/a/sock", "t/a/sock", TREE_IS_SOCKET, TREE_FILE },
		{ "lt/m/a", "t/m/a", TREE_IS_DIR, TREE_DIR },
	};
	struct room *r = *state;

	plant(r);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct tree_want w = { .match = is_typed, .max_depth = 1,
		    .arg = (void *)(uintptr_t)&rows[i] };
		struct arena *a = arena_new();
		struct tree_node look, *node;
		struct err e = { 0 };
		char root[512];

		snprintf(root, sizeof root, "%s", room_path(r, rows[i].path));
		*strrchr(root, '/') = '\0';
		w.root = root;
		assert_int_equal(walk(a, &w, 1, PLENTY, never, NULL, &e),
		    0);
		assert_int_equal(w.found.n, 1);
		node = &w.found.v[0];
		assert_string_equal(node->path, room_path(r, rows[i].path));
		assert_string_equal(node->real, room_path(r, rows[i].real));
		assert_int_equal(node->kind, rows[i].kind);
		tree_look(a, node->path, &look);
		assert_string_equal(node->real, look.real);
		assert_true(node->kind == look.kind && node->dev == look.dev &&
		    node->ino == look.ino);
		vec_release(&w.found);
		arena_free(a);
	}
}

/* Each entry counts once, however many look at it, and the limit is exact. */
static void
test_once(void **state)
{
	static const char *const roots[] = { "t", "t/a", "t", "t/a/b", "t/m",
	    "t/a/b/c" };
	enum { N = sizeof roots / sizeof roots[0], ENTRIES = 21, ASKED = 63 };
	struct room *r = *state;
	char text[600];

	plant(r);
	for (size_t max = ENTRIES - 1; max <= ENTRIES; max++) {
		struct tree_want w[N] = { 0 };
		struct arena *a = arena_new();
		struct err e = { 0 };

		for (size_t i = 0; i < N; i++)
			w[i] = (struct tree_want){ .match = has_name,
			    .root = arena_strdup(a, room_path(r, roots[i])),
			    .arg = (void *)(uintptr_t)"none" };
		seen = 0;
		snprintf(text, sizeof text, "more than %zu entries below '%s'",
		    max, w[0].root);
		assert_int_equal(walk(a, w, N, max, never, NULL, &e),
		    max < ENTRIES ? -1 : 0);
		assert_string_equal(e.msg, max < ENTRIES ? text : "");
		if (max == ENTRIES)
			assert_int_equal(seen, ASKED);
		arena_free(a);
	}
}

/* "/" has a name of its own, and what lies in it no second slash. */
static void
test_slash(void **state)
{
	static const struct {
		const char	*root, *name, *found;
	} rows[] = {
		{ "/", "proc", "/proc" }, { "/", "/", "/" },
		{ "//", "usr", "/usr" }, { "/proc", "self", "/proc/self" },
		{ "/usr", "usr", "/usr" },
	};
	enum { N = sizeof rows / sizeof rows[0] };
	struct arena *a = arena_new();
	struct tree_want w[N] = { 0 };
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < N; i++)
		w[i] = (struct tree_want){ .root = rows[i].root,
		    .match = has_name, .max_depth = 1,
		    .arg = (void *)(uintptr_t)rows[i].name };
	assert_int_equal(walk(a, w, N, 100 * PLENTY, NULL, NULL, &e), 0);
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(w[i].found.n, 1);
		assert_string_equal(w[i].found.v[0].path, rows[i].found);
		vec_release(&w[i].found);
	}
	arena_free(a);
}

static void
test_many(void **state)
{
	enum { N = 200 };
	struct tree_want w[N] = { 0 };
	struct arena *a = arena_new();
	struct room *r = *state;
	struct err e = { 0 };

	for (size_t i = 0; i < N; i++) {
		const char *dir = arena_printf(a, "d%zu", i % 10);

		w[i].arg = arena_printf(a, "n%zu", i);
		w[i].match = has_name;
		room_put(r, arena_printf(a, "%s/n%zu", dir, i), "");
		w[i].root = arena_strdup(a, room_path(r, i % 3 ? dir : ""));
	}
	assert_int_equal(walk(a, w, N, PLENTY, never, NULL, &e), 0);
	for (size_t i = 0; i < N; i++)
		assert_string_equal(shown(r, &w[i].found),
		    arena_printf(a, "d%zu/n%zu", i % 10, i));
	assert_int_equal(walk(a, NULL, 0, 0, NULL, NULL, &e), 0);
	arena_free(a);
}

/*
 * A chain of directories by two names in turn, and beside each a directory
 * with an "x" and perhaps another chain: in any order of listing there is
 * much to come back for.
 */
static void
dig(int dir_fd, const char *const names[2], int depth, int side)
{
	int fd = dup(dir_fd), next, below;

	for (int i = 0; i < depth; i++) {
		const char *name = names[i % 2], *other = names[(i + 1) % 2];

		assert_int_equal(mkdirat(fd, name, 0755), 0);
		assert_int_equal(mkdirat(fd, other, 0755), 0);
		next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		below = openat(fd, other, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0 && below >= 0);
		if (side > 0)
			dig(below, names, side, 0);
		assert_int_equal(mkdirat(below, "x", 0755), 0);
		close(below);
		close(fd);
		fd = next;
	}
	close(fd);
}

static size_t
count_below(struct room *r, const char *name)
{
	struct tree_want w = { .root = r->dir, .match = has_name,
	    .arg = (void *)(uintptr_t)name };
	struct arena *a = arena_new();
	struct err e = { 0 };
	size_t n;

	assert_int_equal(walk(a, &w, 1, 10 * PLENTY, never, NULL, &e), 0);
	n = w.found.n;
	for (size_t i = 0; i < n; i++)
		assert_true(access(w.found.v[i].path, F_OK) == 0);
	vec_release(&w.found);
	arena_free(a);
	return n;
}

static void
test_deep(void **state)
{
	static char n[201], o[201];
	static const struct {
		const char	*names[2];
		int		 depth, side;
		size_t		 found;
	} rows[] = {
		{ { "d", "s" }, 500, 0, 500 },
		{ { "d", "s" }, 40, 70, 40 * 71 },
		{ { n, o }, 30, 0, 20 },	/* as many as PATH_MAX holds */
	};
	struct rlimit old, few;
	struct room *r = *state;
	char command[128];

	memset(n, 'n', 200);
	memset(o, 'o', 200);
	snprintf(command, sizeof command, "rm -rf %s/*", r->dir);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = (struct rlimit){ 80, old.rlim_max };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int fd = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		dig(fd, rows[i].names, rows[i].depth, rows[i].side);
		close(fd);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		assert_int_equal(count_below(r, "x"), rows[i].found);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
		assert_int_equal(system(command), 0);
	}
}

/* Descriptors run out: that is an error, and no shorter list. */
static void
test_no_descriptors(void **state)
{
	struct room *r = *state;
	struct tree_want w = { .root = r->dir, .match = has_name,
	    .arg = (void *)(uintptr_t)"x" };
	struct arena *a = arena_new();
	struct rlimit old, few;
	struct err e = { 0 };
	int fd = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	dig(fd, (const char *const[2]){ "d", "s" }, 10, 0);
	close(fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = (struct rlimit){ (rlim_t)fd + 5, old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(walk(a, &w, 1, PLENTY, never, NULL, &e), -1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(e.sys, EMFILE);
	assert_int_equal(open("/dev/null", O_RDONLY | O_CLOEXEC), fd);
	close(fd);
	vec_release(&w.found);
	arena_free(a);
}

static void
told(const char *path, void *arg)
{
	FILE *out = arg;

	fprintf(out, "skipped%s ", strrchr(path, '/'));
}

/* What a child finds that has done something to itself; it may not hang. */
static void
child_walk(struct room *r, const struct row_want *row, size_t n, FILE *out)
{
	struct tree_want wants[MAX_WANTS] = { 0 };
	struct arena *a = arena_new();
	struct err e = { 0 };
	int rc;

	for (size_t i = 0; i < n; i++)
		wants[i] = (struct tree_want){ .match = has_name,
		    .root = arena_strdup(a, room_path(r, row[i].root)),
		    .arg = (void *)(uintptr_t)row[i].name };
	rc = walk(a, wants, n, PLENTY, told, out, &e);
	fprintf(out, "%d", rc);
	for (size_t i = 0; i < n; i++)
		fprintf(out, ": %s", shown(r, &wants[i].found));
	arena_free(a);
}

/* Its text; "" if prepare() could not. */
static const char *
in_child(struct room *r, bool (*prepare)(struct room *),
    const struct row_want *row, size_t n)
{
	static char text[4096];
	int pipes[2], status;
	size_t len;
	FILE *in;
	pid_t pid;

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		FILE *out = fdopen(pipes[1], "w");

		alarm(20);
		if (prepare(r))
			child_walk(r, row, n, out);
		_exit(fclose(out));
	}
	close(pipes[1]);
	in = fdopen(pipes[0], "r");
	len = fread(text, 1, sizeof text - 1, in);
	text[len] = '\0';
	fclose(in);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return text;
}

/* Root inside a jail has none: to it modes mean what they say. */
static bool
has_power(void)
{
	return getuid() == 0 && prctl(PR_CAPBSET_READ, CAP_SETUID) == 1;
}

static bool
be_nobody(struct room *r)
{
	(void)r;
	return !has_power() || setuid(65534) == 0;
}

static void
test_closed(void **state)
{
	static const struct row_want row[] = {
		{ .root = "", .name = "x" }, { .root = "a/b", .name = "x" },
		{ .root = "a/b/c", .name = "x" },
	};
	struct room *r = *state;

	room_put(r, "a/x", "");
	room_put(r, "a/b/x", "");
	room_put(r, "a/b/c/x", "");
	room_put(r, "x", "");
	assert_int_equal(chmod(room_path(r, ""), 0755), 0);
	assert_int_equal(chmod(room_path(r, "a/b"), 0), 0);
	assert_string_equal(in_child(r, be_nobody, row, 3), "0: a/x x: : ");
	/* Entered, not listed: what a root below it finds is found. */
	assert_int_equal(chmod(room_path(r, "a/b"), 0711), 0);
	if (has_power())
		assert_string_equal(in_child(r, be_nobody, row, 3),
		    "0: a/x x: : a/b/c/x");
	assert_int_equal(chmod(room_path(r, "a/b"), 0755), 0);
}

static bool
own_mounts(void)
{
	return (getuid() == 0 || netns_enter() == 0) &&
	    unshare(CLONE_NEWNS) == 0 &&
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool
mount_near(struct room *r)
{
	return own_mounts() &&
	    mount("tmpfs", room_path(r, "t/a/b"), "tmpfs", 0, NULL) == 0 &&
	    mount(room_path(r, "t/m"), room_path(r, "t/empty"), NULL, MS_BIND,
	    NULL) == 0 &&
	    mkdir(room_path(r, "t/a/b/new"), 0755) == 0 &&
	    mkdir(room_path(r, "t/a/b/new/x"), 0755) == 0;
}

static void
test_near_mounts(void **state)
{
	static const struct row_want row[] = { { .root = "t", .name = "x" },
	    { .root = "lt/a", .name = "x" } };
	struct room *r = *state;
	const char *text;

	plant(r);
	text = in_child(r, mount_near, row, 2);
	if (text[0] == '\0')
		skip();
	assert_string_equal(text, "0: t/.git/x t/a/b/new/x t/a/x t/empty/a/x "
	    "t/empty/x t/m/a/x t/m/x t/x: lt/a/b/new/x lt/a/x");
}

/*
 * Nobody answers for either: whoever opens, or looks at, the first waits for
 * ever.  The second is ours (its group), so that something can lie in it.
 */
static bool
mount_far(struct room *r)
{
	int fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC), pipes[2];
	char options[128];

	if (fuse_fd < 0 || !own_mounts() || pipe(pipes) != 0)
		return false;
	snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,"
	    "group_id=%u", fuse_fd, getuid(), getgid());
	if (mount("far", room_path(r, "t/a/b"), "fuse.far", 0, options) != 0)
		return false;
	snprintf(options, sizeof options, "fd=%d,pgrp=%d,minproto=5,"
	    "maxproto=5,indirect", pipes[1], getpgrp());
	return mount("auto", room_path(r, "t/m"), "autofs", 0, options) == 0 &&
	    mkdir(room_path(r, "t/m/in"), 0755) == 0 &&
	    mkdir(room_path(r, "t/m/in/x"), 0755) == 0;
}

static void
test_far_mounts(void **state)
{
	static const struct row_want row[] = { { .root = "t", .name = "x" },
	    { .root = "t", .name = "b" }, { .root = "t/m/in", .name = "x" },
	    { .root = "t/m", .name = "in" }, { .root = "lt/a", .name = "x" } };
	struct room *r = *state;
	const char *text;

	plant(r);
	text = in_child(r, mount_far, row, 2);
	if (text[0] == '\0')
		skip();
	assert_non_null(strstr(text, "skipped/b "));
	assert_non_null(strstr(text, "skipped/m "));
	assert_string_equal(strstr(text, "0: "), "0: t/.git/x t/a/x t/x: ");
	assert_int_equal(strlen(text), strlen("skipped/b skipped/m 0: "
	    "t/.git/x t/a/x t/x: "));
	/* The very place, or one in it, is named: entered. */
	assert_string_equal(in_child(r, mount_far, row + 2, 2),
	    "0: t/m/in/x: t/m/in");
	assert_string_equal(in_child(r, mount_far, row + 3, 1),
	    "0: t/m/in");
	assert_non_null(strstr(in_child(r, mount_far, row, 4),
	    "0: t/.git/x t/a/x t/x: : t/m/in/x: t/m/in"));
	/* Through a link, too, a mount is known. */
	assert_string_equal(in_child(r, mount_far, row + 4, 1),
	    "skipped/b 0: lt/a/x");
}

static void
test_mount_lines(void **state)
{
	static const struct {
		const char	*line, *path, *type;	/* NULL: no line */
		bool		 is_far;
	} rows[] = {
		{ "36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/root rw",
		  "/mnt", "ext3", false },
		{ "36 35 98:0 /a\\040- /m\\040n rw - nfs h:/x rw", "/m n",
		  "nfs", true },
		{ "1 1 0:1 / /a\\134040\\011\\012 rw a:1 b:2 - nfs4 h:/ rw\n",
		  "/a\\040\t\n", "nfs4", true },
		{ "1 1 0:1 / /a rw - cifs //h/s rw", "/a", "cifs", true },
		{ "1 1 0:1 / /a rw - smb3 //h/s rw", "/a", "smb3", true },
		{ "1 1 0:1 / /a rw - ceph h:/ rw", "/a", "ceph", true },
		{ "1 1 0:1 / /a rw - 9p drvfs rw", "/a", "9p", true },
		{ "1 1 0:1 / /a rw - afs AFS rw", "/a", "afs", true },
		{ "1 1 0:1 / /a rw - autofs systemd-1 rw", "/a", "autofs",
		  true },
		{ "1 1 0:1 / /a rw - fuse x rw", "/a", "fuse", true },
		{ "1 1 0:1 / /a rw - fuse.sshfs h: rw", "/a", "fuse.sshfs",
		  true },
		{ "1 1 0:1 / /a rw - fuseblk /dev/sda rw", "/a", "fuseblk",
		  false },
		{ "1 1 0:1 / /a rw - fusectl x rw", "/a", "fusectl", false },
		{ "1 1 0:1 / / rw - overlay", "/", "overlay", false },
		{ "1 1 0:1 / /a rw - nfsd nfsd rw", "/a", "nfsd", false },
		{ "", NULL, NULL, false },
		{ "1 1 0:1 /", NULL, NULL, false },
		{ "1 1 0:1 / ", NULL, NULL, false },
		{ "1 1 0:1 / /a", NULL, NULL, false },
		{ "1 1 0:1 / /a rw", NULL, NULL, false },
		{ "1 1 0:1 / /a rw - ", NULL, NULL, false },
		{ "1 1 0:1 / net:[4] rw - nsfs nsfs rw", NULL, NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char *line = xstrdup(rows[i].line);
		struct mount_line m;
		bool is_one = mount_line_parse(line, &m);

		assert_int_equal(is_one, rows[i].path != NULL);
		if (is_one) {
			assert_non_null(strstr(rows[i].line, m.dev));
			assert_string_equal(m.root, m.path[1] == 'm' &&
			    m.path[2] == ' ' ? "/a -" : "/");
			assert_string_equal(m.path, rows[i].path);
			assert_string_equal(m.type, rows[i].type);
			assert_int_equal(mount_type_is_far(m.type),
			    rows[i].is_far);
		}
		free(line);
	}
}

int
main(void)
{
#define ROOM(test) \
	cmocka_unit_test_setup_teardown(test, room_enter, room_leave)
	const struct CMUnitTest tests[] = {
		ROOM(test_rows),
		ROOM(test_nodes),
		ROOM(test_once),
		cmocka_unit_test(test_slash),
		ROOM(test_many),
		ROOM(test_deep),
		ROOM(test_no_descriptors),
		ROOM(test_closed),
		ROOM(test_near_mounts),
		ROOM(test_far_mounts),
		cmocka_unit_test(test_mount_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
