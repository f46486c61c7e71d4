/* nested: what a run inside another fence cannot hold, and what it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "launcher/plan/mounts.h"
#include "launcher/run/nested.h"
#include "platform/base/buf.h"
#include "platform/fd.h"
#include "tests/unit/room.h"

/* Of --settings; NULL key: it runs. */
static const struct {
	const char	*policy, *key;
} values[] = {
	{ "{}", NULL },
	{ "{\"network\":{\"allowedDomains\":[\"*\"]}}", NULL },
	{ "{\"network\":{\"allowedDomains\":[]}}", NULL },
	{ "{\"env\":{\"deny\":[\"A\"]},\"limits\":{\"files\":64}}", NULL },
	{ "{\"network\":{\"allowedDomains\":[\"a.test\"]}}",
	    "network.allowedDomains" },
	{ "{\"network\":{\"allowedDomains\":[\"*\"],"
	    "\"deniedDomains\":[\"a.test\"]}}", "network.deniedDomains" },
	{ "{\"command\":{\"deny\":[\"rm\"]}}", "command.deny" },
	{ "{\"ssh\":{\"allowedHosts\":[\"a.test\"]}}", "ssh.allowedHosts" },
	{ "{\"ssh\":{\"deniedCommands\":[\"rm\"]}}", "ssh.deniedCommands" },
	{ "{\"limits\":{\"memory\":\"1G\"}}", "limits.memory" },
	{ "{\"limits\":{\"processes\":7}}", "limits.processes" },
	{ "{\"limits\":{\"time\":\"1h\"}}", "limits.time" },
	{ "{\"limits\":{\"tmp\":\"1M\"}}", "limits.tmp" },
};

struct scene {
	struct room		*r;
	struct policy		*policy;
	struct run_options	 ro;
	struct plan		 plan;
	struct jail_mount	 mounts[MOUNTS_BASE + 1];
	const char		*root;
	struct err		 e;
	char			 said[1024];	/* by a run that began */
};

static void
scene_open(struct scene *s, struct room *r, const char *policy)
{
	static char *argv[] = { (char *)"true", NULL }, *env[] = { NULL };
	static char cwd[128];
	const struct policy_env penv = { .workspace = "/ws", .home = "/h" };

	memset(s, 0, sizeof *s);
	s->r = r;
	snprintf(cwd, sizeof cwd, "%s", room_path(r, "proj"));
	if (policy_parse(policy, strlen(policy), "p.json", &penv, &s->policy,
	    &s->e) != 0)
		fail_msg("%s: %s", policy, s->e.msg);
	s->plan.policy = s->policy;
	s->plan.spec = (struct jail_spec){ .mounts = s->mounts,
	    .nmounts = MOUNTS_BASE, .program = "/bin/true", .argv = argv,
	    .envp = env, .cwd = cwd, .uid = getuid(), .gid = getgid() };
	s->ro.settings = "p.json";
}

static void
scene_close(struct scene *s)
{
	policy_free(s->policy);
}

/* In a child, for a run that begins becomes the command.  What runs in a jail
 * gains no rights by executing. */
static _Noreturn void
child(struct scene *s, int said_fd, int err_fd)
{
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)dup2(said_fd, STDERR_FILENO);
	if (nested_run(&s->ro, &s->plan, &s->e) == -1)
		(void)!write(err_fd, &s->e, sizeof s->e);
	_exit(99);
}

/* 0: the command ran; -1: the error is in the scene. */
static int
run(struct scene *s)
{
	int said[2], err[2], status = 0;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe2(said, O_CLOEXEC), 0);
	assert_int_equal(pipe2(err, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		child(s, said[1], err[1]);
	close(said[1]);
	close(err[1]);
	while ((n = read(said[0], s->said + len, sizeof s->said - 1 -
	    len)) > 0)
		len += (size_t)n;
	s->said[len] = '\0';
	n = read(err[0], &s->e, sizeof s->e);
	close(said[0]);
	close(err[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (n == (ssize_t)sizeof s->e)
		return -1;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	return 0;
}

static void
test_values(void **state)
{
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		struct scene s;
		int rc;

		scene_open(&s, *state, values[i].policy);
		rc = run(&s);
		if (rc != (values[i].key != NULL ? -1 : 0) || (rc != 0 &&
		    strcmp(s.e.key, values[i].key) != 0))
			fail_msg("%s: %d %s", values[i].policy, rc, s.e.key);
		if (rc != 0) {
			assert_string_equal(s.e.msg, "cannot be held inside "
			    "another fence");
			assert_int_equal(strncmp(s.e.where, "p.json:1:", 9),
			    0);
			assert_string_not_equal(s.e.hint, "");
			/* Of a policy that is merely found it is told. */
			s.ro.settings = NULL;
			assert_int_equal(run(&s), 0);
		}
		assert_int_equal(strncmp(s.said, "fence: already inside fence: "
		    "the outer jail holds", 49), 0);
		scene_close(&s);
	}
}

/* ---- files ---- */

static const struct {
	enum mount_kind	 kind;
	const char	*name;		/* in proj, which is writable */
	enum origin_kind at;
	bool		 is_named;	/* by -s */
	const char	*error;		/* NULL: it runs */
	bool		 is_told;	/* that it is not held */
} files[] = {
	{ MOUNT_RW, "f", ORIGIN_FILE, true, NULL, false },
	{ MOUNT_MASK_FILE, "none", ORIGIN_FILE, true, NULL, false },
	{ MOUNT_MASK_FILE, "f", ORIGIN_FILE, true, "cannot be hidden", false },
	{ MOUNT_MASK_DIR, "d", ORIGIN_FILE, true, "cannot be hidden", false },
	{ MOUNT_RO, "f", ORIGIN_FILE, true, "cannot be made read-only",
	    false },
	{ MOUNT_MASK_FILE, "f", ORIGIN_COMMAND_LINE, false,
	    "cannot be hidden", false },
	{ MOUNT_MASK_FILE, "f", ORIGIN_FILE, false, NULL, true },
	{ MOUNT_MASK_FILE, "f", ORIGIN_BUILT_IN, true, NULL, true },
	/* Beyond what the run may write, Landlock holds it. */
	{ MOUNT_RO, "../home", ORIGIN_FILE, true, NULL, false },
};

static void
test_files(void **state)
{
	struct room *r = *state;

	room_put(r, "proj/f", "");
	room_put(r, "proj/d/", "");
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct rule rule = { .id = RULE_ENTRY,
		    .key = KEY_OF(fs.deny_read), .text = "x",
		    .at = { "p.json", 1, 2, files[i].at } };
		char path[256], root[128];
		const char *roots[] = { root };
		struct scene s;
		int rc;

		scene_open(&s, r, "{}");
		snprintf(root, sizeof root, "%s", room_path(r, "proj"));
		if (strcmp(files[i].name, "../home") == 0)
			snprintf(path, sizeof path, "%s",
			    room_path(r, "home"));
		else
			snprintf(path, sizeof path, "%s/%s", root,
			    files[i].name);
		s.mounts[MOUNTS_BASE] = (struct jail_mount){
		    .kind = files[i].kind, .path = path, .reason = &rule };
		s.plan.spec.nmounts++;
		s.plan.spec.write_roots = roots;
		s.plan.spec.nwrite_roots = 1;
		if (!files[i].is_named)
			s.ro.settings = NULL;
		rc = run(&s);
		if (rc != (files[i].error != NULL ? -1 : 0) || (rc != 0 &&
		    strstr(s.e.msg, files[i].error) == NULL))
			fail_msg("row %zu: %d %s", i, rc, s.e.msg);
		if (rc != 0)
			assert_string_equal(s.e.key,
			    "filesystem.denyRead[0]");
		assert_int_equal(strstr(s.said, "(1 path that ") != NULL,
		    files[i].is_told);
		scene_close(&s);
	}
}

static void
test_ports(void **state)
{
	static const struct port_in in = { .inside = 80 };
	struct scene s;

	scene_open(&s, *state, "{}");
	s.plan.ports.in = &in;
	s.plan.ports.nin = 1;
	assert_int_equal(run(&s), -1);
	assert_string_equal(s.e.key, "--port");
	scene_close(&s);
}

int
main(void)
{
#define IN_ROOM(f) cmocka_unit_test_setup_teardown(f, room_enter, room_leave)
	const struct CMUnitTest tests[] = {
		IN_ROOM(test_values),
		IN_ROOM(test_files),
		IN_ROOM(test_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
