/* policywatch: a policy file changes, and so do the monitor's answers. */
#include "tests/unit/gate_world.h"
#include "tests/unit/room.h"

#include <fcntl.h>

#include "launcher/gate/monitor.h"
#include "launcher/log.h"
#include "launcher/run/policywatch.h"
#include "platform/base/arena.h"

#define NET(rest) "{ \"network\": { " rest " } }"
#define LIST(names) NET("\"allowedDomains\": [" names "]")

struct scene {
	struct gate_world	 g;
	struct room		*r;
	struct plan		 plan;
	struct ports		 ports;
	struct monitor		*m;
	struct policywatch	*w;
	int			 net_fd, fd;	/* the monitor's end, ours */
	size_t			 seen;		/* of the log */
	const char		*words;		/* waited for there */
};

/* What was logged since we looked last; good until then. */
static const char *
logged(const struct scene *s)
{
	static char text[64 * 1024];
	auto_fd fd = open(log_path(), O_RDONLY | O_CLOEXEC);
	ssize_t n;

	assert_true(fd >= 0);
	n = pread(fd, text, sizeof text - 1, (off_t)s->seen);
	assert_true(n >= 0);
	text[n] = '\0';
	return text;
}

static void
on_tick(struct watch *t, int what, void *arg)
{
	struct scene *s = arg;

	(void)what;
	if (strstr(logged(s), s->words) != NULL)
		loop_stop(s->g.loop, 0);
	else
		watch_after(t, 5);
}

/* Until the words are in the log; whatever is there counts as seen. */
static void
await(struct scene *s, const char *words)
{
	struct watch *t;

	s->words = words;
	t = loop_after(s->g.loop, 0, on_tick, s);
	assert_non_null(t);
	assert_int_equal(loop_run(s->g.loop), 0);
	watch_free(t);
	s->seen += strlen(logged(s));
}

static void
on_answer(struct watch *w, int what, void *arg)
{
	struct scene *s = arg;

	(void)w;
	(void)what;
	loop_stop(s->g.loop, 0);
}

static bool
resolves(struct scene *s, const char *name)
{
	struct ask_msg q = gate_msg(&s->g, ASK_LOOKUP, ASK_VIA_DNS, name, 0);
	struct watch *w = loop_fd(s->g.loop, s->fd, LOOP_READ, on_answer, s);
	struct ask_answer a;

	assert_int_equal(send(s->fd, &q, sizeof q, 0), sizeof q);
	assert_int_equal(loop_run(s->g.loop), 0);
	watch_free(w);
	assert_int_equal(recv(s->fd, &a, sizeof a, 0), sizeof a);
	assert_int_equal(a.id, q.id);
	return a.status == ASK_OK;
}

static void
plan_of(struct scene *s, const char *settings)
{
	static char *env[] = { NULL };
	struct err e = { 0 };

	s->plan.arena = arena_new();
	s->plan.request = room_request(s->r);
	s->plan.request.environ = env;
	s->plan.request.settings = settings;
	if (policy_resolve(&s->plan.request, &s->plan.resolved, &e) != 0)
		fail_msg("%s: %s", e.key, e.msg);
	s->plan.policy = s->plan.resolved.policy;
}

static void
scene_open(struct scene *s, struct room *r, const char *policy)
{
	static char settings[128];
	struct err e = { 0 };
	int sv[2];

	memset(s, 0, sizeof *s);
	s->r = r;
	room_put(r, "p.json", policy);
	room_put(r, "log", "");
	snprintf(settings, sizeof settings, "%s", room_path(r, "p.json"));
	assert_int_equal(log_open(NULL, room_path(r, "log"), &e), 0);
	gate_open(&s->g, "{}", false);
	plan_of(s, settings);
	gate_pair(sv);
	s->net_fd = sv[0];
	s->fd = sv[1];
	s->m = monitor_new(&(struct monitor_config){ .loop = s->g.loop,
	    .policy = s->plan.policy, .witness = s->g.witness,
	    .net_fd = s->net_fd, .names_fd = -1, .ports = &s->ports,
	    .jail_pid = getpid(), .stop_pid = getppid() });
	s->w = policywatch_new(&(struct policywatch_config){
	    .loop = s->g.loop, .plan = &s->plan, .monitor = s->m,
	    .witness = s->g.witness }, &e);
	if (s->w == NULL)
		fail_msg("%s", e.msg);
}

static void
scene_close(struct scene *s)
{
	monitor_free(s->m);
	/* The witness may stand on what the watch has taken. */
	witness_free(s->g.witness);
	s->g.witness = NULL;
	policywatch_free(s->w);
	resolved_release(&s->plan.resolved);
	arena_free(s->plan.arena);
	fd_close(&s->net_fd);
	fd_close(&s->fd);
	gate_close(&s->g);
}

/* ---- one change after another ---- */

static const struct {
	const char	*text;		/* of the file, from now on */
	const char	*log;		/* what is told of it */
	bool		 has_b;		/* b.test resolves then */
} changes[] = {
	{ LIST("\"a.test\", \"b.test\""), "policy changed: ", true },
	{ "{ \"network\": ", "the policy was not changed: the one before "
	    "stays in force", true },
	{ LIST("\"a.test\""), "connections that are open stay open", false },
	{ NET("\"allowedDomains\": [\"a.test\", \"b.test\"], "
	    "\"via\": \"http://p.test:1\""),
	    "network.via cannot change while the run lasts", false },
	{ NET("\"allowedDomains\": [\"a.test\", \"b.test\"], "
	    "\"mode\": \"direct\""), "cannot change while the run lasts",
	    false },
	{ "{ \"network\": { \"allowedDomains\": [\"a.test\", \"b.test\"] }, "
	    "\"filesystem\": { \"guard\": \"broker\" } }", "not in this version",
	    false },
	{ LIST("\"a.test\", \"b.test\", \"192.0.2.0/24\""),
	    "there is no route to addresses it names", true },
	{ NET("\"allowedDomains\": [\"a.test\"], "
	    "\"deniedDomains\": [\"b.test\"]"), "policy changed: ", false },
	{ "{ \"network\": { \"allowedDomains\": [\"a.test\", \"b.test\"] }, "
	    "\"filesystem\": { \"denyRead\": [\"/x\"] } }",
	    "1 other change takes effect with the next run", true },
};

/* Written over and renamed by turns, as editors do. */
static void
put_policy(struct scene *s, size_t i)
{
	char from[128], to[128];

	if (i % 2 == 0) {
		room_put(s->r, "p.json", changes[i].text);
		return;
	}
	room_put(s->r, "p.json.new", changes[i].text);
	snprintf(from, sizeof from, "%s", room_path(s->r, "p.json.new"));
	snprintf(to, sizeof to, "%s", room_path(s->r, "p.json"));
	assert_int_equal(rename(from, to), 0);
}

static void
test_changes(void **state)
{
	struct scene s;

	scene_open(&s, *state, LIST("\"a.test\""));
	assert_false(resolves(&s, "b.test"));
	for (size_t i = 0; i < N_OF(changes); i++) {
		put_policy(&s, i);
		await(&s, changes[i].log);
		if (resolves(&s, "b.test") != changes[i].has_b)
			fail_msg("row %zu", i);
		assert_true(resolves(&s, "a.test"));
	}
	scene_close(&s);
}

/* Gone: what was in force stays so; and it may come back. */
static void
test_gone(void **state)
{
	struct scene s;

	scene_open(&s, *state, LIST("\"a.test\""));
	room_remove(s.r, "p.json");
	await(&s, "the policy was not changed");
	assert_true(resolves(&s, "a.test"));
	room_put(s.r, "p.json", LIST("\"b.test\""));
	await(&s, "policy changed: ");
	assert_false(resolves(&s, "a.test"));
	assert_true(resolves(&s, "b.test"));
	scene_close(&s);
}

/* What changed between the reading and the watch is not lost. */
static void
test_early(void **state)
{
	struct room *r = *state;
	struct scene s;

	scene_open(&s, r, LIST("\"a.test\""));
	policywatch_free(s.w);
	room_put(r, "p.json", LIST("\"b.test\""));
	s.w = policywatch_new(&(struct policywatch_config){
	    .loop = s.g.loop, .plan = &s.plan, .monitor = s.m,
	    .witness = s.g.witness }, &(struct err){ 0 });
	assert_non_null(s.w);
	await(&s, "policy changed: ");
	assert_true(resolves(&s, "b.test"));
	scene_close(&s);
}

/* The policy in force has no file: there is nothing to watch. */
static void
test_no_file(void **state)
{
	struct scene s;
	struct err e = { 0 };

	memset(&s, 0, sizeof s);
	s.r = *state;
	plan_of(&s, NULL);
	assert_null(policywatch_new(&(struct policywatch_config){
	    .plan = &s.plan }, &e));
	assert_string_equal(e.msg, "--watch-policy: no policy file is in "
	    "force");
	policywatch_free(NULL);
	resolved_release(&s.plan.resolved);
	arena_free(s.plan.arena);
}

int
main(void)
{
#define IN_ROOM(f) cmocka_unit_test_setup_teardown(f, room_enter, room_leave)
	const struct CMUnitTest tests[] = {
		IN_ROOM(test_changes),
		IN_ROOM(test_gone),
		IN_ROOM(test_early),
		IN_ROOM(test_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
