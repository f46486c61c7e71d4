/* worker, reports: processes beside the jail, and what the shim sends. */
#include "tests/unit/gate_world.h"

#include <signal.h>
#include <sys/wait.h>

#include "launcher/run/reports.h"
#include "launcher/run/worker.h"
#include "shim/wire.h"

static const char policy[] =
    "{ \"filesystem\": { \"denyRead\": [\"/secret\"] } }";

struct scene {
	struct gate_world	 g;
	struct worker		 k;
};

/* Any program may be a worker; its one argument is "3". */
static void
scene_open(struct scene *s, const char *path)
{
	char *env[] = { NULL };
	struct err e = { 0 };

	memset(s, 0, sizeof *s);
	gate_open(&s->g, policy, false);
	s->k = (struct worker){ .name = "fence-names", .fd = -1,
	    .is_told = true, .loss = "nothing is looked up",
	    .witness = s->g.witness };
	if (worker_start(&s->k, path, env, &e) != 0)
		fail_msg("%s: %s", path, e.msg);
	assert_true(s->k.pid > 0);
	assert_true(s->k.fd >= 0);
}

static void
scene_close(struct scene *s)
{
	worker_end(&s->k);
	gate_close(&s->g);
}

static void
on_tick(struct watch *w, int what, void *arg)
{
	struct scene *s = arg;

	(void)what;
	if (s->k.child == NULL)
		loop_stop(s->g.loop, 0);
	else
		watch_after(w, 1);
}

/* Its death is told, once, with how it ended and what is lost. */
static void
test_death(void **state)
{
	static const struct { const char *path, *told; } t[] = {
		{ "/bin/true", "fence-names ended (status 0): nothing is "
		    "looked up for the rest of the run" },
		{ "/bin/false", "fence-names ended (status 1): nothing is "
		    "looked up for the rest of the run" },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(t); i++) {
		struct watch *tick;
		struct scene s;

		scene_open(&s, t[i].path);
		assert_int_equal(worker_watch(&s.k, s.g.loop), 0);
		tick = loop_after(s.g.loop, 0, on_tick, &s);
		assert_non_null(tick);
		assert_int_equal(loop_run(s.g.loop), 0);
		gate_assert_told(&s.g, t[i].path, t[i].told);
		assert_int_equal(gate_told_lines(&s.g), 1);
		assert_int_equal(s.k.pid, 0);
		watch_free(tick);
		scene_close(&s);
	}
}

/* /bin/sleep gets "3": the number of the descriptor.  It is ended first. */
static void
test_end(void **state)
{
	struct scene s;
	pid_t pid;

	(void)state;
	scene_open(&s, "/bin/sleep");
	pid = s.k.pid;
	assert_int_equal(worker_watch(&s.k, s.g.loop), 0);
	worker_unwatch(&s.k);
	assert_int_equal(kill(pid, 0), 0);
	worker_end(&s.k);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
	gate_assert_told(&s.g, "ended", NULL);
	s.k.pid = 0;
	scene_close(&s);
}

/* Dismissed: its end of the socket is at its end, as a worker's sign to go. */
static void
test_dismiss(void **state)
{
	struct scene s;
	char c;

	(void)state;
	scene_open(&s, "/bin/sleep");
	worker_dismiss(&s.k);
	assert_null(s.k.child);
	assert_int_equal(recv(s.k.fd, &c, 1, 0), 0);
	scene_close(&s);
}

static void
test_missing(void **state)
{
	struct worker k = { .name = "fence-names", .fd = -1 };
	char *env[] = { NULL };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(worker_start(&k, "/nowhere/fence-names", env, &e),
	    -1);
	assert_int_equal(e.sys, ENOENT);
	assert_int_equal(worker_watch(&k, NULL), 0);	/* it does not run */
	worker_end(&k);
}

/* ---- reports ---- */

static void
send_report(int fd, const char *path)
{
	struct wire_report r = { .magic = WIRE_MAGIC, .call = WIRE_OPEN,
	    .err = EACCES, .path_len = (uint16_t)strlen(path) };

	memcpy(r.path, path, strlen(path));
	assert_true(send(fd, &r, WIRE_HEADER_BYTES + r.path_len, 0) > 0);
}

/* Some now, the rest later; rubbish is counted; nothing is waited for. */
static void
test_reports(void **state)
{
	struct witness_counts n;
	struct gate_world g;
	static const char *const paths[] = { "/secret", "/secret/a",
	    "/secret/b", "/secret/c", "/secret/d" };
	const int on = 1;
	int sv[2];

	(void)state;
	gate_open(&g, policy, false);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0, sv), 0);
	assert_int_equal(setsockopt(sv[0], SOL_SOCKET, SO_PASSCRED, &on,
	    sizeof on), 0);
	for (int i = 0; i < 5; i++)	/* equal ones would be folded */
		send_report(sv[1], paths[i]);
	assert_int_equal(send(sv[1], "rubbish", 7, 0), 7);
	reports_drain(sv[0], g.witness, 3);
	assert_int_equal(witness_counts(g.witness).records, 3);
	reports_drain(sv[0], g.witness, REPORTS_ALL);
	n = witness_counts(g.witness);
	assert_int_equal(n.records, 5);
	assert_int_equal(n.malformed, 1);
	/* By the pid of its sender, as the kernel tells it. */
	gate_assert_told(&g, "reports", "test_worker[");
	reports_drain(sv[0], g.witness, REPORTS_ALL);
	reports_drain(-1, g.witness, REPORTS_ALL);
	assert_int_equal(witness_counts(g.witness).records, 5);
	fd_close(&sv[0]);
	fd_close(&sv[1]);
	gate_close(&g);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_death),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_dismiss),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
