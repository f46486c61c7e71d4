/*
 * The guard without a jail: names made in a folder of the test's own, and
 * quarantine on the same file system and on another.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "tests/unit/guard_scene.h"
#include "tests/unit/netns.h"

static unsigned
open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

static const char *const usual[] = {
	".vscode", ".envrc", ".bashrc", ".claude/settings.json",
	".claude/hooks", ".github/workflows", ".git/hooks", ".git/config",
	"there/.git/hooks",
};

static void
add_usual(struct scene *s)
{
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		add(s, GUARD_ABSENT, usual[i]);
}

/* The process of the guard, or its child, among the children of pid. */
static pid_t
guard_below(pid_t parent)
{
	char path[64], comm[32];
	FILE *list, *fp;
	int pid = 0;

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", parent,
	    parent);
	list = fopen(path, "re");
	assert_non_null(list);
	while (fscanf(list, "%d", &pid) == 1) {
		snprintf(path, sizeof path, "/proc/%d/comm", pid);
		fp = fopen(path, "re");
		if (fp == NULL || fscanf(fp, "%31s", comm) != 1)
			comm[0] = '\0';
		if (fp != NULL)
			fclose(fp);
		if (strcmp(comm, "fence-guard") == 0)
			break;
		pid = 0;
	}
	fclose(list);
	return pid;
}

static pid_t
guard_pid(void)
{
	return guard_below(getpid());
}

/* What appears, in all shapes: gone, kept, told. */

static const struct appear {
	const char	*make;
	const char	*name;		/* told, gone */
	const char	*kept;		/* what is true of quarantine then */
} appears[] = {
	{ "printf 'a\\nb' >.envrc", ".envrc",
	    "test \"$(cat \"$K\"/*-.envrc | od -c)\" = "
	    "\"$(printf 'a\\nb' | od -c)\"" },
	{ "mkdir .vscode", ".vscode", "any -d \"$K\"/*-.vscode" },
	{ "mkdir -p s/d/e; echo 1 >s/d/e/f; ln -s /etc/passwd s/l; mkfifo "
	    "s/p; chmod 640 s/d/e/f; touch -d 2001-01-01 s/d/e/f; "
	    "mv s .vscode", ".vscode",
	    "cd \"$K\"/*-.vscode && test \"$(cat d/e/f)\" = 1 && "
	    "test \"$(readlink l)\" = /etc/passwd && test -p p && "
	    "test \"$(stat -c %a,%y d/e/f | cut -c1-14)\" = 640,2001-01-01" },
	{ "ln -s /etc/passwd .bashrc", ".bashrc",
	    "test \"$(readlink \"$K\"/*-.bashrc)\" = /etc/passwd" },
	{ "ln -s nowhere .envrc", ".envrc", "any -L \"$K\"/*-.envrc" },
	{ "mkfifo .envrc", ".envrc", "any -p \"$K\"/*-.envrc" },
	{ "echo data >f; ln f .envrc", ".envrc",
	    "test \"$(cat \"$K\"/*-.envrc f)\" = \"$(printf "
	    "'data\\ndata')\"" },
	{ "echo x >f; chmod 0 f; mv f .envrc", ".envrc",
	    "any -f \"$K\"/*-.envrc" },
	{ "mkdir d; echo x >d/f; chmod 555 d; mv d .vscode || { chmod 755 d; "
	    "mv d .vscode; chmod 555 .vscode; }", ".vscode",
	    "any -f \"$K\"/*-.vscode/f" },
	{ "mkdir d; echo x >d/f; chmod 0 d/f; mv d .vscode; chmod 0 .vscode",
	    ".vscode", "chmod 700 \"$K\"/*-.vscode; "
	    "any -f \"$K\"/*-.vscode/f" },
	{ "mkdir -p .claude && echo x >.claude/settings.json",
	    ".claude/settings.json", "any -f \"$K\"/*-settings.json" },
	{ "mkdir -p d/hooks; echo x >d/hooks/f; echo y >d/other; "
	    "mv d .claude", ".claude/hooks",
	    "any -f \"$K\"/*-hooks/f && test -f .claude/other" },
	{ "mkdir -m 300 .claude; echo x >.claude/settings.json; "
	    "chmod 0 .claude", ".claude/settings.json",
	    "any -f \"$K\"/*-settings.json && "
	    "test \"$(stat -c %a .claude)\" = 0" },
	{ "mkdir -p .github/workflows; echo x >.github/workflows/x.yml; "
	    ": >.github/CODEOWNERS", ".github/workflows",
	    "any -d \"$K\"/*-workflows && test -f .github/CODEOWNERS" },
	{ "mkdir -p evil; echo x >evil/settings.json; ln -s evil .claude",
	    ".claude", "any -L \"$K\"/*-.claude && "
	    "test -f evil/settings.json" },
	{ "mkdir -p there/.git/hooks; echo x >there/.git/hooks/pre-commit",
	    "there/.git/hooks", "any -d \"$K\"/*-hooks" },
	{ "mv there t2; mkdir -p there/.git/hooks", "there/.git/hooks",
	    "any -d \"$K\"/*-hooks" },
	{ "mv there/.git there/g2; mkdir d; mkdir d/hooks; mv d there/.git",
	    "there/.git/hooks", "any -d \"$K\"/*-hooks" },
	{ "rmdir there/.git; mkdir there/.git; mkdir there/.git/hooks",
	    "there/.git/hooks", "any -d \"$K\"/*-hooks" },
	{ "python3 -c 'import socket; socket.socket(socket.AF_UNIX)."
	    "bind(\".envrc\")'", ".envrc", "any -S \"$K\"/*-.envrc" },
	{ ": >'a b'; mv 'a b' .envrc", ".envrc", "any -f \"$K\"/*-.envrc" },
};

enum { IS_OTHER = 1, IS_SWEEP = 2, WAYS = 4 };

static void
gone_line(char line[512], const char *name)
{
	snprintf(line, 512, "! test -e '%s' && ! test -L '%s'", name, name);
}

static void
appear_one(const struct appear *a, int way)
{
	struct scene *s = scene_new((way & IS_OTHER) != 0);
	char gone[512];
	const struct told *t;

	add_usual(s);
	watch(s);
	gone_line(gone, a->name);
	if ((way & IS_SWEEP) == 0)
		start(s);
	/* A line may lose its race against the guard. */
	(void)sh(s, a->make);
	if ((way & IS_SWEEP) == 0)
		assert_true(until(s, gone));
	assert_int_equal(finish(s), 0);
	if (!holds(s, gone) || !holds(s, a->kept)) {
		(void)sh(s, "ls -lAR . \"$K\"");
		fail_msg("%s (way %d)", a->make, way);
	}
	t = find_told(s, GUARD_MOVED, a->name);
	assert_non_null(t);
	assert_memory_equal(t->to, s->keep, strlen(s->keep));
	assert_null(find_told(s, GUARD_FAILED, NULL));
	assert_true(holds(s, "test \"$(stat -c %a \"$K\" \"$K/..\" | "
	    "sort -u)\" = 700"));
	scene_free(s);
}

static void
test_appears(void **state)
{
	unsigned fds = open_fds();

	(void)state;
	for (size_t i = 0; i < sizeof appears / sizeof *appears; i++)
		for (int way = 0; way < WAYS; way++)
			if (scene_other != NULL || (way & IS_OTHER) == 0)
				appear_one(&appears[i], way);
	assert_int_equal(open_fds(), fds);
}

/* What is no guarded name stays. */
static void
test_stays(void **state)
{
	struct scene *s = scene_new(false);

	(void)state;
	add_usual(s);
	watch(s);
	start(s);
	assert_int_equal(sh(s, "mkdir -p new/.vscode .claude/agents "
	    "there/.git/refs/hooks; echo x >envrc; echo x >.envrc2; "
	    "echo x >new/.envrc; mkdir -p .git/objects; "
	    "ln -s /etc/passwd link; mkdir hooks"), 0);
	assert_int_equal(finish(s), 0);
	assert_true(holds(s, "test -d new/.vscode && test -d .claude/agents "
	    "&& test -d there/.git/refs/hooks && test -f envrc && "
	    "test -f .envrc2 && test -f new/.envrc && "
	    "test -d .git/objects && test -L link && test -d hooks && "
	    "! test -e \"$K\" && ! test -e \"$T/state\""));
	assert_int_equal(s->ntold, 0);
	scene_free(s);
}

/* Nothing to do, and never started. */
static void
test_empty(void **state)
{
	struct scene *s = scene_new(false);
	struct err e = { 0 };

	(void)state;
	watch(s);
	assert_int_equal(guard_start(s->g, getpid(), &e), 0);
	assert_int_equal(guard_fd(s->g), -1);
	assert_int_equal(guard_ready(s->g, on_told, s), 0);
	assert_int_equal(guard_finish(s->g, on_told, s), 0);
	scene_free(s);
	s = scene_new(false);
	add_usual(s);
	watch(s);
	scene_free(s);
	s = scene_new(false);
	add_usual(s);
	watch(s);
	start(s);
	scene_free(s);		/* reaps */
	guard_free(NULL);
}

static void
test_bad_paths(void **state)
{
	static const char *const bad[] = { "/", "", "w", "/a//b", "/a/../b",
	    "/a/./b", "/a/" };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct guard_path p = { .path = bad[i] };
		struct guard_config c = { .paths = &p, .npaths = 1 };
		struct err e = { 0 };

		assert_null(guard_new(&c, &e));
		assert_int_equal(e.code, ERR_JAIL);
	}
}

/* The very path of quarantine is made by us; it must not eat itself. */
static void
test_own_state(void **state)
{
	struct scene *s = scene_new(false);

	(void)state;
	snprintf(s->keep, sizeof s->keep, "%s/w/.state/fence/q/r", s->top);
	add(s, GUARD_ABSENT, ".state");
	add(s, GUARD_ABSENT, ".state/fence");
	add(s, GUARD_ABSENT, ".envrc");
	watch(s);
	start(s);
	assert_int_equal(sh(s, ": >.envrc"), 0);
	assert_true(until(s, "test -f \"$K\"/0001-.envrc"));
	assert_int_equal(finish(s), 0);
	assert_true(holds(s, "test -f \"$K\"/0001-.envrc"));
	scene_free(s);
}

/* No quarantine: removed, at any depth, and told. */
static void
test_removed(void **state)
{
	static const char *const lines[] = {
		"echo x >.envrc",
		"mkdir -p d/a/b; ln -s / d/root; mv d .envrc",
		"mkdir -p d/a; : >d/a/f; chmod 0 d/a; mv d .envrc",
		"python3 -c 'import os\nos.mkdir(\"x\"); os.chdir(\"x\")\n"
		"for i in range(300): os.mkdir(\"d\"); os.chdir(\"d\")'; "
		"mv x .envrc",
		"mkfifo .envrc", "ln -s / .envrc",
	};

	(void)state;
	for (size_t i = 0; i < 2 * (sizeof lines / sizeof *lines); i++) {
		struct scene *s = scene_new(false);

		s->keep[0] = '\0';
		add(s, GUARD_ABSENT, ".envrc");
		watch(s);
		if (i % 2 == 0)
			start(s);
		assert_int_equal(sh(s, lines[i / 2]), 0);
		assert_int_equal(finish(s), 0);
		assert_true(holds(s, "! test -e .envrc && ! test -L .envrc"));
		assert_non_null(find_told(s, GUARD_REMOVED, ".envrc"));
		scene_free(s);
	}
	assert_int_equal(access("/etc/passwd", F_OK), 0);
}

/* What cannot be kept is laid aside: neither lost nor obeyed. */
static void
test_aside(void **state)
{
	static const char deep[] = "python3 -c 'import os\n"
	    "top = os.getcwd()\nos.mkdir(\"x\"); os.chdir(\"x\")\n"
	    "for i in range(100): os.mkdir(\"d\"); os.chdir(\"d\")\n"
	    "open(\"f\", \"w\").write(\"1\")\nos.chdir(top)\n"
	    "os.rename(\"x\", \".envrc\")'";
	struct scene *s;

	(void)state;
	if (scene_other == NULL)
		skip();
	s = scene_new(true);		/* too deep to copy */
	add(s, GUARD_ABSENT, ".envrc");
	watch(s);
	start(s);
	assert_int_equal(sh(s, deep), 0);
	assert_true(until(s, "! test -e .envrc"));
	assert_int_equal(finish(s), 0);
	assert_true(holds(s, "find .envrc.fence-* -name f | grep -q ."));
	assert_non_null(strstr(find_told(s, GUARD_MOVED, ".envrc")->to,
	    "/w/.envrc.fence-0"));
	assert_true(holds(s, "test -z \"$(ls -A \"$K\")\""));
	scene_free(s);

	s = scene_new(false);		/* deep, but only renamed */
	add(s, GUARD_ABSENT, ".envrc");
	watch(s);
	start(s);
	assert_int_equal(sh(s, deep), 0);
	assert_true(until(s, "! test -e .envrc"));
	assert_int_equal(finish(s), 0);
	assert_true(holds(s, "find \"$K\"/*-.envrc -name f | grep -q ."));
	scene_free(s);

	s = scene_new(false);		/* where quarantine should be: a file */
	assert_int_equal(sh(s, "mkdir \"$T/state\"; : >\"$T/state/fence\""),
	    0);
	add(s, GUARD_ABSENT, ".envrc");
	watch(s);
	start(s);
	assert_int_equal(sh(s, "echo 1 >.envrc"), 0);
	assert_int_equal(finish(s), 0);
	assert_true(holds(s, "! test -e .envrc && test -s .envrc.fence-*"));
	scene_free(s);
}

static const char plant_big[] = "python3 -c 'import os\n"
    "os.mkdir(\"x\")\n"
    "for i in range(100):\n"
    " os.mkdir(\"x/%d\" % i)\n"
    " for k in range(100): os.mknod(\"x/%d/%d\" % (i, k))\n"
    "os.rename(\"x\", \".envrc\")'";

/*
 * Something big is removed by a child.  The guard goes on watching meanwhile,
 * waits for it at the end, but not for ever, and tells what is left.
 */
static void
test_big(void **state)
{
	struct scene *s = scene_new(false);
	pid_t pid, child = 0;
	int status;

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	s->keep[0] = '\0';
	add_usual(s);
	watch(s);
	start(s);
	pid = guard_pid();
	assert_int_equal(sh(s, plant_big), 0);
	for (int i = 0; i < LIMIT_MS * 10 && child == 0; i++)
		child = guard_below(pid);
	assert_true(child > 0);
	kill(child, SIGSTOP);
	assert_int_equal(sh(s, ": >.bashrc"), 0);
	assert_true(until(s, "! test -e .bashrc"));
	assert_int_equal(finish(s), 0);
	assert_true(holds(s, "! test -e .envrc && any -d .envrc.fence-*"));
	assert_non_null(strstr(s->told[s->ntold - 1].to, "/w/.envrc.fence-"));
	assert_int_equal(s->told[s->ntold - 1].deed, GUARD_REMOVED);
	kill(child, SIGCONT);
	guard_free(s->g);
	s->g = NULL;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(holds(s, "! any -e .envrc.fence-*"));
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
	scene_free(s);
}

/* Once, and what comes then is taken away all the same. */
static void
test_too_many(void **state)
{
	struct scene *s = scene_new(false);

	(void)state;
	s->max_planted = 20;
	add_usual(s);
	watch(s);
	start(s);
	for (int i = 0; i < 30; i++)
		assert_int_equal(sh(s, ": >.envrc; "
		    "while test -e .envrc; do :; done"), 0);
	drain(s);
	assert_int_equal(count_told(s, GUARD_FLOODED), 1);
	assert_int_equal(finish(s), 0);
	assert_int_equal(count_told(s, GUARD_FLOODED), 1);
	assert_int_equal(count_told(s, GUARD_MOVED), 30);
	scene_free(s);
}

/* What earlier runs left is kept; what is new is not. */
static void
test_full(void **state)
{
	struct scene *s = scene_new(false);
	const struct told *t = NULL;

	(void)state;
	s->max_bytes = 1 << 20;
	assert_int_equal(sh(s, "echo mine >mine; mkdir -p \"$K/../old/d\" && "
	    "head -c 2m /dev/zero >\"$K/../old/d/f\""), 0);
	add_usual(s);
	watch(s);
	start(s);
	/* The first one has it looked at how much there is. */
	while (t == NULL) {
		assert_int_equal(sh(s, "mkdir -p n/d; : >n/d/f; mv n .vscode; "
		    "while test -e .vscode; do :; done"), 0);
		drain(s);
		t = find_told(s, GUARD_REMOVED, ".vscode");
	}
	assert_int_equal(t->sys, EDQUOT);
	/* What the user had before the run is not lost with it. */
	assert_int_equal(sh(s, "mv mine .envrc; "
	    "while test -e .envrc; do :; done"), 0);
	assert_int_equal(finish(s), 0);
	assert_true(holds(s, "test $(stat -c %s \"$K/../old/d/f\") = 2097152 "
	    "&& any -d \"$K\"/*-.vscode && ! any -e .vscode.fence-*"));
	/* Beside its place, or in room that was found for it. */
	assert_true(holds(s, "test \"$(cat .envrc.fence-* \"$K\"/*-.envrc "
	    "2>/dev/null)\" = mine"));
	assert_null(find_told(s, GUARD_REMOVED, ".envrc"));
	scene_free(s);

	s = scene_new(false);		/* there is room for that */
	s->max_bytes = 8 << 20;
	assert_int_equal(sh(s, "echo mine >mine; mkdir -p \"$K/../old/d\" && "
	    "head -c 8500k /dev/zero >\"$K/../old/d/f\""), 0);
	add_usual(s);
	watch(s);
	start(s);
	for (t = NULL; t == NULL; t = find_told(s, GUARD_REMOVED, ".vscode")) {
		assert_int_equal(sh(s, "mkdir -p n/d; : >n/d/f; mv n .vscode; "
		    "while test -e .vscode; do :; done"), 0);
		drain(s);
	}
	assert_int_equal(sh(s, "mv mine .envrc; "
	    "while test -e .envrc; do :; done"), 0);
	assert_int_equal(finish(s), 0);
	assert_true(holds(s, "test \"$(cat \"$K\"/*-.envrc)\" = mine"));
	scene_free(s);

	s = scene_new(false);		/* and its twin: room enough */
	assert_int_equal(sh(s, "mkdir -p \"$K/../old/d\" && "
	    "head -c 2m /dev/zero >\"$K/../old/d/f\""), 0);
	add_usual(s);
	watch(s);
	start(s);
	for (int i = 0; i < 5; i++)
		assert_int_equal(sh(s, "mkdir -p n/d; : >n/d/f; mv n .vscode; "
		    "while test -e .vscode; do :; done"), 0);
	assert_int_equal(finish(s), 0);
	assert_null(find_told(s, GUARD_REMOVED, NULL));
	scene_free(s);
}

static void
test_quarantine_removed(void **state)
{
	struct scene *s = scene_new(false);

	(void)state;
	add_usual(s);
	watch(s);
	start(s);
	assert_int_equal(sh(s, ": >.envrc"), 0);
	assert_true(until(s, "any -e \"$K\"/*-.envrc"));
	assert_int_equal(sh(s, "rm -r \"$T/state\"; : >.envrc"), 0);
	assert_true(until(s, "any -e \"$K\"/*-.envrc"));
	assert_int_equal(finish(s), 0);
	scene_free(s);
}

/* More events than the kernel queues: everything is looked at. */
static void
test_overflow(void **state)
{
	struct scene *s = scene_new(false);

	(void)state;
	add_usual(s);
	watch(s);
	start(s);
	assert_int_equal(sh(s, ": >.envrc"), 0);
	assert_true(until(s, "! test -e .envrc"));
	kill(guard_pid(), SIGSTOP);
	assert_int_equal(sh(s, "seq 20000 | xargs touch; mkdir -p d/hooks; "
	    "mv d .claude; : >.envrc"), 0);
	kill(guard_pid(), SIGCONT);
	assert_true(until(s, "! test -e .envrc && ! test -e .claude/hooks"));
	assert_int_equal(sh(s, ": >.claude/settings.json"), 0);
	assert_true(until(s, "! test -e .claude/settings.json"));
	guard_ending(s->g);	/* no longer watched, still looked at */
	assert_int_equal(sh(s, ": >.envrc; mkdir -p .github/workflows"), 0);
	assert_int_equal(finish(s), 0);
	assert_true(holds(s, "test -e 20000 && ! test -e .envrc && "
	    "! test -e .github/workflows"));
	scene_free(s);
}

/* A watched folder that is moved may be the one the jail stands on. */
static void
test_moved(void **state)
{
	struct scene *s = scene_new(false);

	(void)state;
	assert_int_equal(sh(s, "mkdir -p sub/deep"), 0);
	add(s, GUARD_ABSENT, "sub/.envrc");
	add(s, GUARD_ABSENT, "sub/deep/a/b");
	watch(s);
	start(s);
	assert_int_equal(sh(s, "mv sub sub2; : >sub2/.envrc; "
	    "mkdir -p sub2/deep/a/b"), 0);
	assert_true(until(s, "! test -e sub2/.envrc && "
	    "! test -e sub2/deep/a/b"));
	/* And the name, for whoever stands there. */
	assert_int_equal(sh(s, "mkdir -p d/deep/a; echo 1 >d/.envrc; "
	    "mv d sub; : >sub/deep/a/b"), 0);
	assert_true(until(s, "! test -e sub/.envrc && "
	    "! test -e sub/deep/a/b"));
	assert_int_equal(finish(s), 0);
	assert_int_equal(count_told(s, GUARD_MOVED), 4);
	scene_free(s);
}

/* Its death is seen, and the last look taken all the same. */
static void
test_guard_killed(void **state)
{
	(void)state;
	for (int is_other = 0; is_other < 1 + (scene_other != NULL);
	    is_other++) {
		struct scene *s = scene_new(is_other);
		struct pollfd p = { .events = POLLIN };
		pid_t pid;

		add_usual(s);
		watch(s);
		start(s);
		assert_int_equal(sh(s, ": >.envrc"), 0);
		assert_true(until(s, "! test -e .envrc"));
		while ((pid = guard_pid()) == 0)
			poll(NULL, 0, 1);
		kill(pid, SIGKILL);
		p.fd = guard_fd(s->g);
		for (int rc = 0; rc == 0; )
			rc = poll(&p, 1, LIMIT_MS) != 1 ? 1 :
			    guard_ready(s->g, on_told, s);
		assert_int_equal(guard_fd(s->g), -1);
		assert_int_equal(guard_ready(s->g, on_told, s), -1);
		assert_int_equal(sh(s, "echo 1 >.envrc; mkdir -p .github/"
		    "workflows"), 0);
		assert_int_equal(finish(s), -1);
		/* A child that was carrying goes on with that. */
		assert_true(until(s, "! test -e .envrc && "
		    "! test -e .github/workflows && "
		    "test \"$(ls -A \"$K\" | wc -l)\" = 3 && "
		    "! any -e .envrc.fence-*"));
		scene_free(s);
	}
}

/*
 * The launcher is killed, and the stand-in for the jail with it: the guard
 * sweeps and ends, and holds nothing of the launcher's meanwhile.
 */
static void
test_launcher_killed(void **state)
{
	struct scene *s = scene_new(false);
	int ready[2], n = 0;
	pid_t launcher;
	char byte;

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	add_usual(s);
	assert_int_equal(pipe(ready), 0);
	launcher = fork();
	if (launcher == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(null, STDERR_FILENO);
		watch(s);
		start(s);
		(void)!write(ready[1], "", 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	kill(launcher, SIGSTOP);	/* nobody reads the guard's socket */
	assert_int_equal(sh(s, "mkdir -p .claude/hooks; : >.envrc"), 0);
	kill(launcher, SIGKILL);
	while (n < 3 && waitpid(-1, NULL, 0) > 0)
		n++;
	assert_int_equal(n, 3);		/* launcher, jail, guard */
	assert_int_equal(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	assert_true(holds(s, "! test -e .envrc && ! test -e .claude/hooks && "
	    "any -f \"$K\"/*-.envrc && any -d \"$K\"/*-hooks"));
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
	scene_free(s);
}

/* A line in the launcher's place once it is gone. */
static void
test_orphan_tells(void **state)
{
	struct scene *s = scene_new(false);
	pid_t launcher, jail;
	int status;

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	add_usual(s);
	jail = fork();
	if (jail == 0)
		for (;;)
			pause();
	launcher = fork();
	if (launcher == 0) {
		char path[128];

		snprintf(path, sizeof path, "%s/stderr", s->top);
		dup2(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644), 2);
		watch(s);
		start_in(s, jail);
		_exit(0);
	}
	assert_int_equal(waitpid(launcher, &status, 0), launcher);
	assert_int_equal(status, 0);
	assert_int_equal(sh(s, "printf 1 >\"$T/a\"; mv \"$T/a\" .envrc"),
	    0);
	kill(jail, SIGKILL);
	assert_int_equal(waitpid(jail, NULL, 0), jail);
	while (waitpid(-1, &status, 0) > 0)
		continue;
	assert_true(holds(s, "! test -e .envrc && any -f \"$K\"/*-.envrc && "
	    "grep -q \"appeared: '$PWD/.envrc': moved to '$K/0001-.envrc'\" "
	    "\"$T/stderr\""));
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
	scene_free(s);
}

/* Four makers that do not stop, and a human beside them. */

static _Noreturn void
maker(struct scene *s, int n, int64_t end)
{
	char w[128];

	snprintf(w, sizeof w, "%s/w", s->top);
	if (chdir(w) != 0)
		_exit(1);
	for (unsigned i = 0; now_us() < end; i++) {
		int fd = -1;

		switch (n) {
		case 0:
			fd = open(".envrc", O_WRONLY | O_CREAT, 0644);
			(void)!write(fd, "evil", 4);
			break;
		case 1:
			mkdir(".vscode", 0755);
			fd = open(".vscode/tasks.json", O_WRONLY | O_CREAT,
			    0644);
			break;
		case 2:
			mkdir(".claude", 0755);
			(void)!symlink("/etc/passwd",
			    ".claude/settings.json");
			rename(".claude", "claude2");
			rename("claude2", ".claude");
			break;
		default:
			mkdir("m", 0755);
			mkdir("m/workflows", 0755);
			rename("m", ".github");
			rename(".github/workflows", "m2");
			rmdir("m2");
			rmdir(".github");
		}
		if (fd >= 0)
			close(fd);
	}
	_exit(0);
}

static void
flood(bool is_other)
{
	struct scene *s = scene_new(is_other);
	int64_t end = now_us() + 1000 * 1000;
	pid_t pid[4];

	add_usual(s);
	add(s, GUARD_ABSENT, ".idea");
	watch(s);
	start(s);
	for (int i = 0; i < 4; i++)
		if ((pid[i] = fork()) == 0)
			maker(s, i, end);
	assert_int_equal(sh(s, "echo 'for f in 1 2 3; do :; done' >\"$T/i\"; "
	    "cp \"$T/i\" .idea"), 0);
	while (now_us() < end)
		drain(s);
	for (int i = 0; i < 4; i++)
		assert_int_equal(waitpid(pid[i], NULL, 0), pid[i]);
	assert_int_equal(finish(s), 0);
	assert_true(holds(s, "for f in .vscode .envrc .claude/settings.json "
	    ".github/workflows .idea; do test -e $f && exit 1; "
	    "test -L $f && exit 1; done; cmp \"$T/i\" \"$K\"/*-.idea"));
	/* What was made again and again is one line now and then, and lies
	 * there a few times, not thousands. */
	assert_true(count_told(s, GUARD_MOVED) > 10);
	assert_true(s->ntold < 100);
	assert_true(holds(s, "test \"$(ls \"$K\" | wc -l)\" -lt 100"));
	print_message("# %u things, %zu records\n", count_told(s, GUARD_MOVED),
	    s->ntold);
	(void)sh(s, "echo \"# $(ls \"$K\" | wc -l) kept\"");
	scene_free(s);
}

static void
test_flood(void **state)
{
	(void)state;
	flood(false);
	if (scene_other != NULL)
		flood(true);
}

/* Whoever has it open goes on writing: all of it is kept. */
static void
test_late_writer(void **state)
{
	(void)state;
	for (int is_other = 0; is_other < 1 + (scene_other != NULL);
	    is_other++) {
		struct scene *s = scene_new(is_other);
		char path[128];
		int fd;

		add_usual(s);
		watch(s);
		start(s);
		snprintf(path, sizeof path, "%s/w/.envrc", s->top);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		assert_int_equal(write(fd, "one ", 4), 4);
		assert_true(until(s, "! test -e .envrc"));
		poll(NULL, 0, 20);
		assert_int_equal(write(fd, "two", 3), 3);
		close(fd);
		assert_int_equal(finish(s), 0);
		assert_true(holds(s,
		    "test \"$(cat \"$K\"/*-.envrc)\" = 'one two'"));
		scene_free(s);
	}
}

/* A folder swapped for a symlink does not lead the guard astray. */
static void
test_symlink_trap(void **state)
{
	struct scene *s = scene_new(false);

	(void)state;
	assert_int_equal(sh(s, "mkdir -p \"$T/out/hooks\" a/b; "
	    ": >\"$T/out/hooks/f\"; : >\"$T/out/settings.json\""), 0);
	add_usual(s);
	add(s, GUARD_ABSENT, "a/b/hooks");
	watch(s);
	start(s);
	assert_int_equal(sh(s, "ln -s \"$T/out\" .claude; mv a/b a/c; "
	    "ln -s \"$T/out\" a/b; mv there t; ln -s \"$T/out\" there"), 0);
	assert_true(until(s, "! test -L .claude && ! test -L a/b && "
	    "! test -L there"));
	assert_int_equal(finish(s), 0);
	assert_true(holds(s, "test -f \"$T/out/hooks/f\" && "
	    "test -f \"$T/out/settings.json\" && test -d a/c && test -d t"));
	scene_free(s);
}

/* A guarded name that is a symlink stays one, and leads where it led. */
static void
test_link(void **state)
{
	static const struct {
		const char	*make;
		bool		 is_kept;
	} rows[] = {
		{ "rm .bashrc", false },
		{ "rm .bashrc; echo evil >.bashrc", true },
		{ "ln -s evil n; mv n .bashrc", true },
		{ "mkdir n; rm .bashrc; mv n .bashrc", true },
		{ "rm .bashrc; ln -s dots/bashrc .bashrc", false },
		{ "mv .bashrc x; cp -P x .bashrc; rm x", false },
		{ "echo new >>.bashrc", false },
	};

	(void)state;
	for (size_t i = 0; i < 2 * (sizeof rows / sizeof *rows); i++) {
		struct scene *s = scene_new(false);

		assert_int_equal(sh(s, "mkdir dots; echo old >dots/bashrc; "
		    "ln -s dots/bashrc .bashrc"), 0);
		add(s, GUARD_LINK, ".bashrc");
		s->paths[0].text = "dots/bashrc";
		watch(s);
		if (i % 2 == 0)
			start(s);
		assert_int_equal(sh(s, rows[i / 2].make), 0);
		if (rows[i / 2].is_kept && i % 2 == 0)
			assert_true(until(s, "test \"$(readlink .bashrc)\" "
			    "= dots/bashrc"));
		assert_int_equal(finish(s), 0);
		assert_true(holds(s, "test \"$(readlink .bashrc)\" = "
		    "dots/bashrc && grep -q old .bashrc"));
		assert_int_equal(find_told(s, GUARD_MOVED, ".bashrc") != NULL,
		    rows[i / 2].is_kept);
		assert_int_equal(access(s->keep, F_OK) == 0,
		    rows[i / 2].is_kept);
		scene_free(s);
	}
}

/* More folders than descriptors are held, and a small limit of them. */
static void
test_many_folders(void **state)
{
	struct scene *s = scene_new(false);
	struct rlimit was, few = { 200, 200 };
	char name[64];
	int64_t begin;

	(void)state;
	assert_int_equal(sh(s, "for i in $(seq 300); do mkdir -p r$i/.git; "
	    "done"), 0);
	for (int i = 1; i <= 300; i++) {
		snprintf(name, sizeof name, "r%d/.git/hooks", i);
		add(s, GUARD_ABSENT, name);
	}
	getrlimit(RLIMIT_NOFILE, &was);
	few.rlim_max = was.rlim_max;
	setrlimit(RLIMIT_NOFILE, &few);
	begin = now_us();
	watch(s);
	print_message("# 300 folders: %d us\n", (int)(now_us() - begin));
	start(s);
	assert_int_equal(sh(s, "for i in 1 150 300; do mkdir r$i/.git/hooks; "
	    "done; mv r200 x; mkdir -p r200/.git/hooks"), 0);
	assert_true(until(s, "for i in 1 150 300 200; do test -e "
	    "r$i/.git/hooks && exit 1; done; true"));
	assert_int_equal(finish(s), 0);
	setrlimit(RLIMIT_NOFILE, &was);
	assert_int_equal(count_told(s, GUARD_MOVED), 4);
	scene_free(s);
}

/* It is on the way to every start: fifty names in eight folders. */
static void
test_quick(void **state)
{
	struct scene *s = scene_new(false);
	char name[64];
	int64_t best = INT64_MAX;

	(void)state;
	assert_int_equal(sh(s, "mkdir -p d0 d1/.git d2/.git d3"), 0);
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof name, i % 2 ? "d%d/.name%d" :
		    "d%d/.git/name%d", i % 4, i);
		add(s, GUARD_ABSENT, name);
	}
	for (int i = 0; i < 20; i++) {
		int64_t begin = now_us();

		watch(s);
		if (now_us() - begin < best)
			best = now_us() - begin;
		guard_free(s->g);
		s->g = NULL;
	}
	print_message("# guard_new(): %d us\n", (int)best);
	assert_true(best < 5000);	/* a busy machine, a sanitizer */
	scene_free(s);
}

/* An ordinary user's way to a mount of his own: nobody else sees it. */
static int
own_mounts(void)
{
	char uid_map[64], gid_map[64];

	snprintf(uid_map, sizeof uid_map, "%u %u 1", geteuid(), geteuid());
	snprintf(gid_map, sizeof gid_map, "%u %u 1", getegid(), getegid());
	if (geteuid() == 0)
		return unshare(CLONE_NEWNS);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
	    netns_put("/proc/self/setgroups", "deny") != 0 ||
	    netns_put("/proc/self/uid_map", uid_map) != 0)
		return -1;
	return netns_put("/proc/self/gid_map", gid_map);
}

static void
mount_other(const char *dir)
{
	struct __user_cap_header_struct head = {
	    .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	if (own_mounts() == 0 &&
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("tmpfs", dir, "tmpfs", 0, "mode=0700") == 0)
		scene_other = dir;
	else
		print_message("# no second file system here\n");
	if (geteuid() != 0)
		(void)syscall(SYS_capset, &head, none);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_bad_paths),
		cmocka_unit_test(test_stays),
		cmocka_unit_test(test_own_state),
		cmocka_unit_test(test_removed),
		cmocka_unit_test(test_aside),
		cmocka_unit_test(test_big),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_quarantine_removed),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_appears),
		cmocka_unit_test(test_guard_killed),
		cmocka_unit_test(test_launcher_killed),
		cmocka_unit_test(test_orphan_tells),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_late_writer),
		cmocka_unit_test(test_symlink_trap),
		cmocka_unit_test(test_link),
		cmocka_unit_test(test_many_folders),
		cmocka_unit_test(test_quick),
	};

	char dir[] = "/var/tmp/fence-other-XXXXXX";
	int status = 1;
	pid_t pid;

	if (mkdtemp(dir) == NULL || (pid = fork()) < 0)
		return 1;
	if (pid == 0) {
		mount_other(dir);
		exit(cmocka_run_group_tests(tests, NULL, NULL));
	}
	(void)waitpid(pid, &status, 0);
	rmdir(dir);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
