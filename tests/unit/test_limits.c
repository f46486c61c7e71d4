/* limits: the time of a run, and limits that need no group. */
#include "tests/unit/gate_world.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "launcher/run/limits.h"

struct scene {
	struct gate_world	 g;
	struct jail_limits	 jail;
	struct limits		*l;
	unsigned		 nkilled;
};

static void
on_kill(void *arg)
{
	struct scene *s = arg;

	s->nkilled++;
	loop_stop(s->g.loop, 0);
}

static void
scene_open(struct scene *s, const char *policy, bool is_told)
{
	struct err e = { 0 };

	memset(s, 0, sizeof *s);
	gate_open(&s->g, policy, false);
	s->l = limits_new(&(struct limits_config){ .policy = s->g.policy,
	    .loop = s->g.loop, .witness = s->g.witness, .is_told = is_told,
	    .kill = on_kill, .arg = s }, &s->jail, &e);
	if (s->l == NULL)
		fail_msg("%s", e.msg);
}

static void
scene_close(struct scene *s)
{
	limits_free(s->l);
	gate_close(&s->g);
}

/* A process that waits, and a descriptor to signal it by. */
static pid_t
command_start(int *ret_fd)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	*ret_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	assert_true(*ret_fd >= 0);
	return pid;
}

/* Nothing is asked: nothing ends the run, and it may stop. */
static void
test_none(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, "{ \"limits\": { \"files\": 64 } }", true);
	assert_int_equal(s.jail.njoin_fds, 0);
	assert_int_equal(limits_started(s.l, -1), 0);
	assert_true(limits_may_stop(s.l));
	assert_false(limits_is_over(s.l));
	limits_ended(s.l);
	gate_assert_told(&s.g, "none", NULL);
	scene_close(&s);
	limits_free(NULL);
}

static void
on_command(struct watch *w, int wstatus, void *arg)
{
	struct scene *s = arg;

	(void)w;
	assert_true(WIFSIGNALED(wstatus));
	assert_int_equal(WTERMSIG(wstatus), SIGTERM);
	loop_stop(s->g.loop, 0);
}

/* Its time is over: it is asked to end, and that is told, with the place. */
static void
test_time(void **state)
{
	struct watch *child;
	struct scene s;
	pid_t pid;
	int fd;

	(void)state;
	scene_open(&s, "{ \"limits\": { \"time\": \"1s\" } }", true);
	pid = command_start(&fd);
	child = loop_child(s.g.loop, pid, on_command, &s);
	assert_non_null(child);
	assert_int_equal(limits_started(s.l, fd), 0);
	assert_int_equal(loop_run(s.g.loop), 0);
	assert_true(limits_is_over(s.l));
	assert_false(limits_may_stop(s.l));
	limits_ended(s.l);
	gate_assert_told(&s.g, "time",
	    "limits.time 1s (p.json:1:23): its time is over");
	assert_int_equal(gate_told_lines(&s.g), 1);
	assert_int_equal(s.nkilled, 0);
	fd_close(&fd);
	scene_close(&s);
}

/* The command was first: nothing is told. */
static void
test_in_time(void **state)
{
	struct scene s;
	pid_t pid;
	int fd;

	(void)state;
	scene_open(&s, "{ \"limits\": { \"time\": \"1h\" } }", true);
	pid = command_start(&fd);
	assert_int_equal(limits_started(s.l, fd), 0);
	assert_true(limits_may_stop(s.l));
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	limits_ended(s.l);
	assert_false(limits_is_over(s.l));
	gate_assert_told(&s.g, "in time", NULL);
	fd_close(&fd);
	scene_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
