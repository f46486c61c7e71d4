#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/linux/landlock.h"

static void
test_by_abi(void **state)
{
	static const struct {
		int abi;
		uint64_t fs, scoped;
	} cases[] = {
		{ -1, 0, 0 }, { 0, 0, 0 },
		{ 1, 0x1fff, 0 }, { 2, 0x3fff, 0 }, { 3, 0x7fff, 0 },
		{ 4, 0x7fff, 0 }, { 5, 0xffff, 0 }, { 6, 0xffff, 3 },
		{ 7, 0xffff, 3 }, { 8, 0xffff, 3 }, { 1000, 0xffff, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		int abi = cases[i].abi;
		uint64_t fs = cases[i].fs;

		assert_int_equal(landlock_handled(abi), fs);
		assert_int_equal(landlock_scoped(abi), cases[i].scoped);
		assert_int_equal(landlock_read_rights(abi), fs & 0xd);
		assert_int_equal(landlock_write_rights(abi), fs & 0x7fff);
		assert_int_equal(landlock_dev_rights(abi), fs & 0xc00f);
		assert_int_equal(landlock_stdio_read(abi), fs & 0x8004);
		assert_int_equal(landlock_stdio_write(abi), fs & 0xc002);
	}
}

/* A plan in memory: two rules, their paths behind them. */
struct memory {
	struct init_plan plan;
	struct init_rule rule[3];
	char root[8], dir[64], gone[16];
};

static void
fill(struct memory *m, int abi, const char *dir)
{
	memset(m, 0, sizeof *m);
	strcpy(m->root, "/");
	snprintf(m->dir, sizeof m->dir, "%s", dir);
	strcpy(m->gone, "/nonexistent");
	m->plan.rules = offsetof(struct memory, rule);
	m->plan.nrules = 3;
	m->rule[0] = (struct init_rule){ offsetof(struct memory, root), 0,
	    landlock_read_rights(abi) };
	m->rule[1] = (struct init_rule){ offsetof(struct memory, dir), 0,
	    UINT64_MAX };	/* masked to what is handled */
	m->rule[2] = (struct init_rule){ offsetof(struct memory, gone), 0,
	    UINT64_MAX };
	m->plan.handled_fs = landlock_handled(abi);
	m->plan.scoped = landlock_scoped(abi);
	m->plan.stdio_read = landlock_stdio_read(abi);
	m->plan.stdio_write = landlock_stdio_write(abi);
}

/* The number of the first thing that is wrong, or 0. */
static int
live_in(int abi, const char *dir, const char *file)
{
	struct memory m;
	int fd;

	fill(&m, abi, dir);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    landlock_apply(&m.plan, (const char *)&m) < 0)
		return 1;
	if (chdir(dir) < 0 || mkdir("a", 0700) < 0 || rmdir("a") < 0)
		return 2;
	fd = open("b", O_CREAT | O_WRONLY, 0600);
	if (fd < 0 || unlink("b") < 0)
		return 3;
	if (open(file, O_RDONLY) < 0)
		return 4;
	if (open(file, O_WRONLY) >= 0 || errno != EACCES)
		return 5;
	if (mkdir("../fence-test-landlock-no", 0700) == 0 || errno != EACCES)
		return 6;
	return 0;
}

static void
test_every_abi_here(void **state)
{
	char dir[] = "/var/tmp/fence-test-ll.XXXXXX";
	char file[] = "/var/tmp/fence-test-ll-file.XXXXXX";
	int status;

	(void)state;
	if (landlock_abi() == 0) {
		print_message("SKIP: no Landlock in this kernel\n");
		if (getenv("FENCE_MUST_WORK") != NULL)
			fail_msg("no Landlock in this kernel");
		skip();
	}
	assert_non_null(mkdtemp(dir));
	close(mkstemp(file));
	for (int abi = 1; abi <= landlock_abi(); abi++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(live_in(abi, dir, file));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (status != 0)
			print_error("abi %d: %d\n", abi, status >> 8);
		assert_int_equal(status, 0);
	}
	unlink(file);
	rmdir(dir);
}

/* A rule on a file, with the rights of a tree, must not be refused. */
static void
test_rule_on_file(void **state)
{
	char file[] = "/var/tmp/fence-test-ll-file.XXXXXX";
	struct memory m;
	int status;
	pid_t pid;

	(void)state;
	if (landlock_abi() == 0)
		skip();
	close(mkstemp(file));
	pid = fork();
	if (pid == 0) {
		fill(&m, landlock_abi(), file);
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    landlock_apply(&m.plan, (const char *)&m) < 0)
			_exit(1);
		_exit(open(file, O_RDWR | O_TRUNC) < 0 ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	unlink(file);
	assert_int_equal(status, 0);
}

static void
test_nothing_handled(void **state)
{
	struct memory m;

	(void)state;
	fill(&m, 0, "/");
	assert_int_equal(landlock_apply(&m.plan, (const char *)&m), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_abi),
		cmocka_unit_test(test_every_abi_here),
		cmocka_unit_test(test_rule_on_file),
		cmocka_unit_test(test_nothing_handled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
