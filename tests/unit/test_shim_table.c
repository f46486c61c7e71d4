/*
 * The shim's table of names: how it is read, what is refused by it, and how a
 * granted file is saved where its folder is read-only.
 */
#include <pthread.h>

#include "shim/table.h"
#include "shim/stage.h"
#include "tests/unit/shim_name_rows.h"
#include "tests/unit/shim_world.h"

/* --- Pure --- */

static void
leaves(void **state)
{
	static char longest[PATH_MAX + 1];
	static const struct {
		const char	*path, *name;	/* NULL: has none */
		size_t		 dir_len;
	} t[] = {
		{ "a", "a", 0 },
		{ "/a", "a", 1 },
		{ "b/a", "a", 2 },
		{ "/c/b/a", "a", 5 },
		{ "/c/b/a///", "a", 5 },
		{ "//a", "a", 2 },
		{ ".a", ".a", 0 },
		{ "...", "...", 0 },
		{ "..a/", "..a", 0 },
		{ "", NULL, 0 },
		{ "/", NULL, 0 },
		{ "//", NULL, 0 },
		{ ".", NULL, 0 },
		{ "a/.", NULL, 0 },
		{ "a/..//", NULL, 0 },
		{ longest, NULL, 0 },
	};
	struct leaf leaf;
	size_t i;

	(void)state;
	memset(longest, 'a', PATH_MAX);
	for (i = 0; i < LEN(t); i++) {
		if (leaf_of(t[i].path, &leaf) != (t[i].name != NULL))
			fail_msg("'%.20s'", t[i].path);
		if (t[i].name == NULL)
			continue;
		assert_int_equal(leaf.len, strlen(t[i].name));
		assert_memory_equal(leaf.name, t[i].name, leaf.len);
		assert_int_equal(leaf.dir_len, t[i].dir_len);
	}
}

/* A table of its own; freed by the caller. */
static struct table *
build(const char *records_of, size_t len, void **mem)
{
	*mem = calloc(1, table_room(records_of, len));
	assert_non_null(*mem);
	return table_build(*mem, records_of, len);
}

static uint32_t
count_files(const struct table *t)
{
	uint32_t i, n = 0;

	for (i = t->first_file; i != 0; i = t->v[i].next)
		n++;
	return n;
}

static void
records(void **state)
{
	static char longest[300];
	static const struct {
		const char	*record;
		int		 guards, files, closed, bound;
	} t[] = {
		{ "g 1 2 /a/b", 1, 0, 0, 0 },
		{ "f 1 2 /a/b", 0, 1, 0, 0 },
		{ "b 1 2 /a/b", 0, 0, 0, 1 },
		{ "D", 0, 0, 1, 0 },
		{ "g 0 0 /a", 1, 0, 0, 0 },
		{ "g 18446744073709551615 18446744073709551615 /a b/c d",
		    1, 0, 0, 0 },
		{ "", 0, 0, 0, 0 },
		{ "g", 0, 0, 0, 0 },
		{ "g ", 0, 0, 0, 0 },
		{ "DD", 0, 0, 0, 0 },
		{ "x 1 2 /a/b", 0, 0, 0, 0 },
		{ "g 1 2 a/b", 0, 0, 0, 0 },
		{ "g 1 2 /", 0, 0, 0, 0 },
		{ "g 1 2 /a/", 0, 0, 0, 0 },
		{ "g 1 2 /a/..", 0, 0, 0, 0 },
		{ "g 1 2", 0, 0, 0, 0 },
		{ "g 1 /a/b", 0, 0, 0, 0 },
		{ "g  1 2 /a/b", 0, 0, 0, 0 },
		{ "g -1 2 /a/b", 0, 0, 0, 0 },
		{ "g 0x1 2 /a/b", 0, 0, 0, 0 },
		{ "g 1\t2 /a/b", 0, 0, 0, 0 },
		{ "g 18446744073709551616 2 /a/b", 0, 0, 0, 0 },
		{ "g 99999999999999999999 2 /a/b", 0, 0, 0, 0 },
		{ longest, 0, 0, 0, 0 },
	};
	struct table *names;
	void *mem;
	size_t i;

	(void)state;
	strcpy(longest, "g 1 2 /");
	memset(longest + 7, 'a', TABLE_LEAF_MAX + 1);
	for (i = 0; i < LEN(t); i++) {
		names = build(t[i].record, strlen(t[i].record) + 1, &mem);
		if ((int)names->nguards != t[i].guards ||
		    (int)count_files(names) != t[i].files ||
		    names->needs_grant != t[i].closed ||
		    (names->first_bound != 0) != t[i].bound)
			fail_msg("'%s'", t[i].record);
		free(mem);
		/* Without its NUL it is half a record. */
		names = build(t[i].record, strlen(t[i].record), &mem);
		assert_int_equal(names->nguards, 0);
		assert_int_equal(names->first_file, 0);
		assert_int_equal(names->first_bound, 0);
		assert_false(names->needs_grant);
		free(mem);
	}
}

static bool
find_guarded(const struct table *t, const char *path, struct name *ret)
{
	struct leaf leaf;
	uint32_t i;

	assert_true(leaf_of(path, &leaf));
	for (i = table_bucket(t, &leaf); i != 0; i = t->v[i].next)
		if (table_is(t, i, &leaf)) {
			table_at(t, i, ret);
			return true;
		}
	return false;
}

/* Many names, good and bad ones mixed: each is found, and no other. */
static void
many(void **state)
{
	enum { N = 5000 };
	char *table = malloc(N * 64), path[32];
	struct table *names;
	struct name n;
	size_t len = 0;
	void *mem;
	int i;

	(void)state;
	for (i = 0; i < N; i++) {
		len += sprintf(table + len, "g 7 %d /d/n%d", i, i) + 1;
		len += sprintf(table + len, "g 7 8 nonsense") + 1;
	}
	names = build(table, len, &mem);
	assert_int_equal(names->nguards, N);
	for (i = 0; i < N; i++) {
		sprintf(path, "/d/n%d", i);
		assert_true(find_guarded(names, path, &n));
		assert_int_equal(n.ino, i);
		assert_string_equal(n.path, path);
		sprintf(path, "/d/n%dm", i);
		assert_false(find_guarded(names, path, &n));
	}
	free(mem);
	free(table);
}

static void
siblings(void **state)
{
	static const struct {
		const char	*granted, *name;
		bool		 is;
	} t[] = {
		{ ".claude.json", ".claude.json.tmp.123", true },
		{ ".claude.json", ".claude.json.lock", true },
		{ ".claude.json", ".claude.json~", true },
		{ ".claude.json", "..claude.json.swp", true },
		{ "conf", "conf.tmp", true },
		{ "conf", "conf-1a", true },
		{ "conf", "conf_1", true },
		{ "conf", ".conf", true },
		{ "conf", ".conf.XyZ", true },
		{ "conf", "conf#", true },
		{ "conf", "conf", false },
		{ "conf", "confUSED", true },
		{ "conf", ".conf1", true },
		{ "conf", "con", false },
		{ "conf", "..conf.x", false },
		{ "conf", "xconf.tmp", false },
		{ "conf", "tmp.conf", false },
		{ ".a", ".a.x", true },
		{ ".a", ".b.x", false },
	};
	struct leaf leaf;
	size_t i;

	(void)state;
	for (i = 0; i < LEN(t); i++) {
		assert_true(leaf_of(t[i].name, &leaf));
		if (stage_is_sibling(t[i].granted, &leaf) != t[i].is)
			fail_msg("'%s' of '%s'", t[i].name, t[i].granted);
	}
}

/* --- In a world of its own --- */

static void
put_table(const char *table, size_t len)
{
	int fd;

	if (unlink(WIRE_TABLE) < 0)
		assert_int_equal(errno, ENOENT);
	fd = open(WIRE_TABLE, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, table, len), len);
	close(fd);
}

/* One record of a path; "0 0" if its folder is not there. */
static size_t
record(char *at, char kind, const char *path)
{
	struct stat st = { 0 };
	char dir[64];

	strcpy(dir, path);
	*strrchr(dir, '/') = '\0';
	if (stat(dir, &st) < 0)
		assert_int_equal(errno, ENOENT);
	return sprintf(at, "%c %ju %ju %s", kind, (uintmax_t)st.st_dev,
	    (uintmax_t)st.st_ino, path) + 1;
}

static void
make_table(bool is_closed)
{
	static const struct { char kind; const char *path; } t[] = {
		{ 'g', W "/.vscode" },
		{ 'g', W "/.envrc" },
		{ 'g', W "/sub/config" },
		{ 'g', W "/later/settings" },
		{ 'b', W "/held" },
		{ 'f', H "/conf" },
		{ 'f', H "/broken" },
	};
	char table[1024];
	size_t i, len = 0;

	if (is_closed)
		len += sprintf(table, "D") + 1;
	else
		for (i = 0; i < LEN(t); i++)
			len += record(table + len, t[i].kind, t[i].path);
	put_table(table, len);
}

/* A folder in which one file may be written and nothing else. */
static void
make_home(void)
{
	assert_int_equal(mkdir(H, 0755), 0);
	assert_int_equal(mount("tmpfs", H, "tmpfs", 0, "mode=755,size=64k"),
	    0);
	assert_int_equal(put(H "/conf", "old", 0644), 0);
	assert_int_equal(put(H "/conf.bak", "bak", 0644), 0);
	assert_int_equal(put(H "/broken", "old", 0644), 0);
	assert_int_equal(mkdir(H "/conf.d", 0755), 0);
	assert_int_equal(rmdir(H "/conf.d"), 0);
	assert_int_equal(mount(H "/conf", H "/conf", NULL, MS_BIND, NULL), 0);
	assert_int_equal(mount(NULL, H, NULL, MS_REMOUNT | MS_BIND |
	    MS_RDONLY, NULL), 0);
}

static void
make_files(bool is_closed)
{
	static const char *const mounted[] = { W "/held", W "/busy" };

	while (umount2(T, MNT_DETACH) == 0)
		continue;
	while (umount2("/tmp", MNT_DETACH) == 0)
		continue;
	assert_int_equal(mount("tmpfs", T, "tmpfs", 0, "mode=755"), 0);
	assert_int_equal(mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777"), 0);
	assert_int_equal(mkdir(W, 0755), 0);
	assert_int_equal(mkdir(W "/sub", 0755), 0);
	assert_int_equal(symlink("/nope/x", W "/dangling"), 0);
	assert_int_equal(put(W "/plain", "plain", 0644), 0);
	for (size_t i = 0; i < LEN(mounted); i++) {
		assert_int_equal(put(mounted[i], "text", 0644), 0);
		assert_int_equal(mount(mounted[i], mounted[i], NULL, MS_BIND,
		    NULL), 0);
	}
	assert_int_equal(symlink("ws", T "/link"), 0);
	make_home();
	make_table(is_closed);
}

/* What lies in the read-only folder, as the host sees it. */
static void
check_home(void)
{
	struct dirent *d;
	DIR *dir = opendir(H);
	int n = 0;

	assert_non_null(dir);
	while ((d = readdir(dir)) != NULL)
		n += d->d_name[0] != '.';
	closedir(dir);
	assert_int_equal(n, 3);
}

static void
guarded(void **state)
{
	(void)state;
	need_world();
	make_files(false);
	run_rows("--guard", guard_rows, LEN(guard_rows), 1);
	assert_int_equal(access(W "/.vscode", F_OK), -1);
	assert_int_equal(access(W "/.envrc", F_OK), -1);
	assert_int_equal(access(W "/sub/config", F_OK), -1);
	assert_int_equal(access(W "/later/settings", F_OK), -1);
}

static void
staged(void **state)
{
	(void)state;
	need_world();
	make_files(false);
	run_rows("--stage", stage_rows, LEN(stage_rows), 1);
	check_home();
	assert_int_equal(has_text(H "/conf", "made"), 0);
	assert_int_equal(has_text(H "/conf.bak", "bak"), 0);
	assert_int_equal(has_text(H "/broken", "old"), 0);
}

static void
closed(void **state)
{
	(void)state;
	need_world();
	make_files(true);
	run_rows("--closed", closed_rows, LEN(closed_rows), 1);
}

/*
 * What people run: the granted file is new, nothing else is, nothing is told.
 * A program that is not here is left out.
 */
static void
clients(void **state)
{
	static const struct { const char *program, *line; } t[] = {
		{ "/bin/sh", "cd " H "; echo saved >conf.tmp && "
		    "mv conf.tmp conf" },
		{ "/bin/sh", "f=$(mktemp) && echo saved >$f && mv $f " H
		    "/conf" },
		{ "/bin/sh", "f=$(mktemp " H "/conf.XXXXXX) && "
		    "echo saved >$f && mv -f $f " H "/conf" },
		{ "/usr/bin/python3", "exec python3 -c 'import os\n"
		    "p = \"" H "/conf\"\n"
		    "with open(p + \".new\", \"x\") as f: "
		    "f.write(\"saved\\n\")\n"
		    "os.chmod(p + \".new\", os.stat(p).st_mode)\n"
		    "os.replace(p + \".new\", p)'" },
		{ "/usr/bin/perl", "exec perl -e '$p = \"" H "/conf\";"
		    "open(F, \">\", \"$p.$$\") && print(F \"saved\\n\") && "
		    "close(F) && rename(\"$p.$$\", $p) || exit 1'" },
		{ "/usr/bin/git", "git config -f " H "/conf a.b c && "
		    "echo saved >" H "/conf" },
		{ "/usr/bin/node", "exec node -e 'const fs = require(\"fs\"),"
		    "p = \"" H "/conf\"; fs.mkdirSync(p + \".lock\");"
		    "fs.utimesSync(p + \".lock\", 1, 2);"
		    "if (fs.statSync(p + \".lock\").mtimeMs != 2000)"
		    "	process.exit(1);"
		    "fs.writeFile(p + \".tmp.1\", \"saved\\n\", e =>"
		    "	fs.rename(p + \".tmp.1\", p, f => {"
		    "		fs.rmdirSync(p + \".lock\");"
		    "		process.exit(e || f ? 1 : 0); }))'" },
	};
	struct wire_report r;
	int fd, ack, status;
	size_t i;

	(void)state;
	need_world();
	for (i = 0; i < LEN(t); i++) {
		if (access(t[i].program, X_OK) < 0)
			continue;
		make_files(false);
		status = finish(start((const char *[]){ "/bin/sh", "-c",
		    t[i].line, NULL }, 1, &fd, &ack));
		close(fd);
		close(ack);
		if (status != 0 || has_text(H "/conf", "saved\n") < 0 ||
		    drain(&r) != 0)
			fail_msg("%s: status %d, '%s'", t[i].line, status,
			    text);
		check_home();
	}
}

/* Whoever loads at the same time has the same table, and only one stays. */
static void *
load(void *arg)
{
	pthread_barrier_wait(arg);
	return (void *)table_load();
}

static void
loaders(void **state)
{
	enum { LOADERS = 8, TIMES = 50 };
	pthread_barrier_t barrier;
	pthread_t th[LOADERS];
	void *table;
	int i, round;

	(void)state;
	need_world();
	make_files(false);
	pthread_barrier_init(&barrier, NULL, LOADERS);
	for (round = 0; round < TIMES; round++) {
		the_table = NULL;
		for (i = 0; i < LOADERS; i++)
			pthread_create(&th[i], NULL, load, &barrier);
		for (i = 0; i < LOADERS; i++) {
			pthread_join(th[i], &table);
			assert_ptr_equal(table, the_table);
		}
		assert_int_equal(the_table->nguards, 4);
	}
	pthread_barrier_destroy(&barrier);
}

/* A table that is missing, empty, too long or a folder is an empty one. */
static void
odd_files(void **state)
{
	char *big = calloc(1, TABLE_BYTES_MAX + 1);
	int i;

	(void)state;
	need_world();
	for (i = 0; i < 4; i++) {
		if (unlink(WIRE_TABLE) < 0)
			assert_int_equal(errno, ENOENT);
		if (i == 1)
			put_table("", 0);
		else if (i == 2) {
			strcpy(big, "g 1 2 /a/b");
			put_table(big, TABLE_BYTES_MAX + 1);
		} else if (i == 3)
			assert_int_equal(mkdir(WIRE_TABLE, 0755), 0);
		the_table = NULL;
		assert_int_equal(table_load()->nguards, 0);
		assert_non_null(the_table);
	}
	assert_int_equal(rmdir(WIRE_TABLE), 0);
	free(big);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaves),
		cmocka_unit_test(records),
		cmocka_unit_test(many),
		cmocka_unit_test(siblings),
		cmocka_unit_test(guarded),
		cmocka_unit_test(staged),
		cmocka_unit_test(closed),
		cmocka_unit_test(clients),
		cmocka_unit_test(loaders),
		cmocka_unit_test(odd_files),
	};

	if (argc == 2 && strcmp(argv[1], "--guard") == 0)
		return child_rows(guard_rows, LEN(guard_rows), W);
	if (argc == 2 && strcmp(argv[1], "--stage") == 0)
		return child_rows(stage_rows, LEN(stage_rows), W);
	if (argc == 2 && strcmp(argv[1], "--closed") == 0)
		return child_rows(closed_rows, LEN(closed_rows), W);
	set_up();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
