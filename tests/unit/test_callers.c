/* Who called, by children of this very test that wait to be looked at. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "launcher/record/callers.h"

static const uint8_t there[4] = { 198, 51, 100, 30 };

struct child {
	pid_t	pid;
};

/* It has a name, and lives until it is ended. */
static struct child
child_start(const char *name)
{
	int ready[2];
	struct child c;
	char byte = 0;

	assert_int_equal(pipe(ready), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (c.pid == 0) {
		(void)prctl(PR_SET_NAME, name);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)!write(ready[1], &byte, 1);
		for (;;)
			(void)pause();
	}
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	return c;
}

static void
child_end(const struct child *c)
{
	(void)kill(c->pid, SIGKILL);
	(void)waitpid(c->pid, NULL, 0);
}

static void
note(struct callers *c, pid_t pid, uint16_t port, uint16_t from, int64_t now)
{
	struct callers_note n = { .pid = pid, .stop_pid = getppid(),
	    .from = from };

	callers_place(&n.place, there, sizeof there, port);
	callers_note(c, &n, now);
}

/* The pid that is named, 0: nobody. */
static pid_t
find(struct callers *c, uint16_t port, uint16_t from, int64_t now)
{
	struct callers_place p;
	struct event e = { .nprocess = 0 };

	callers_place(&p, there, sizeof there, port);
	return callers_find(c, &p, from, now, &e) ? e.process[0].pid : 0;
}

static void
test_one(void **state)
{
	struct callers *c = callers_new();
	struct child a = child_start("a");
	struct callers_place any = { .is_any = true, .port = 8 };
	struct event e;

	(void)state;
	assert_int_equal(find(c, 8, 1, 0), 0);
	note(c, a.pid, 8, 1, 1000);
	child_end(&a);
	assert_int_equal(find(c, 9, 1, 1000), 0);	/* another place */
	assert_int_equal(find(c, 8, 2, 1100), 0);	/* another port */
	assert_int_equal(find(c, 8, 1, 1100), a.pid);
	assert_int_equal(find(c, 8, 1, 1200), a.pid);	/* asked again */
	assert_true(callers_find(c, &any, 1, 1200, &e));
	assert_string_equal(e.process[0].comm, "a");
	assert_int_equal(e.process[1].pid, getpid());
	/* Gone for long: the port may be another's. */
	assert_int_equal(find(c, 8, 1, 1001 + CALLERS_MS), 0);
	callers_free(c);
	callers_free(NULL);
}

/* A port is its last caller's, until others may have it. */
static void
test_port(void **state)
{
	struct callers *c = callers_new();
	struct child a = child_start("a"), b = child_start("b");

	(void)state;
	for (uint16_t i = 1; i <= 200; i++)
		note(c, a.pid, 8, i, 1000);
	note(c, b.pid, 8, 300, 1001);
	child_end(&a);
	for (uint16_t i = 1; i <= 200; i++)
		assert_int_equal(find(c, 8, i, 1010), a.pid);
	assert_int_equal(find(c, 8, 300, 1010), b.pid);
	assert_int_equal(find(c, 8, 301, 1010), 0);
	note(c, b.pid, 8, 3, 1500);
	assert_int_equal(find(c, 8, 3, 1510), b.pid);
	assert_int_equal(find(c, 8, 4, 1510), a.pid);
	/* As long as it runs; ports come again. */
	assert_int_equal(find(c, 8, 300, 1002 + CALLERS_MS), b.pid);
	assert_int_equal(find(c, 8, 300, 99999), 0);
	child_end(&b);
	assert_int_equal(find(c, 8, 300, 1002 + CALLERS_MS), 0);
	note(c, a.pid, 6, 1, 4000);		/* gone: nobody */
	assert_int_equal(find(c, 6, 1, 4000), 0);
	callers_free(c);
}

/* Whatever calls how often: the last ones are known, and no more. */
static void
test_flood(void **state)
{
	struct callers *c = callers_new();
	struct child a = child_start("a");
	int known = 0;

	(void)state;
	for (int i = 1; i <= CALLERS_PER_SECOND; i++)
		note(c, a.pid, (uint16_t)i, 1, 1000);
	note(c, a.pid, 9999, 1, 1999);		/* over the limit */
	assert_int_equal(find(c, 9999, 1, 1999), 0);
	for (int i = 1; i <= CALLERS_PER_SECOND; i++)
		known += find(c, (uint16_t)i, 1, 1000) == a.pid;
	assert_int_equal(known, CALLERS_MAX);
	assert_int_equal(find(c, CALLERS_PER_SECOND, 1, 1000), a.pid);
	note(c, a.pid, 9999, 1, 2000);
	assert_int_equal(find(c, 9999, 1, 2000), a.pid);
	child_end(&a);
	callers_free(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one), cmocka_unit_test(test_port),
		cmocka_unit_test(test_flood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
