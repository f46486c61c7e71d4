/*
 * What the guard does to a jail that is running: mounts put back from
 * outside; and what it may do at all.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "platform/confine.h"
#include "tests/unit/guard_scene.h"

/*
 * Mounts put back, in namespaces like those of a jail: the outer one mounts,
 * the inner one, which owns nothing of that, obeys lines from $T/ctl.
 */
static const char jail_script[] =
    "cat >\"$T/inner\" <<'END'\n"
    "while read -r line <\"$T/ctl\"; do\n"
    "  (eval \"$line\") >\"$T/out\" 2>&1; echo $? >\"$T/status\"\n"
    "  : >\"$T/ack\"\n"
    "done\n"
    "END\n"
    "cat >\"$T/outer\" <<'END'\n"
    "set -e\n"
    "mount -t tmpfs t /run; mkdir -p /run/fence/none.d\n"
    ": >/run/fence/none; chmod 0 /run/fence/none /run/fence/none.d\n"
    "mount --bind . .; cd .\n"
    "mount --bind ../g ../g; mount --bind ../g/conf ../g/conf\n"
    "mount -o remount,bind,ro ../g\n"
    "for f in .bashrc ro.d f? d? on/f; do\n"
    "  mount --bind $f $f; mount -o remount,bind,ro $f; done\n"
    "mount --bind /run/fence/none .env\n"
    "mount -o remount,bind,ro .env\n"
    "mount --bind /run/fence/none.d hid\n"
    "mount -o remount,bind,ro hid\n"
    "mount -o remount,bind,ro /run\n"
    "unshare -Um sh \"$T/inner\" &\n"
    "echo $! >\"$T/pid.new\"; mv \"$T/pid.new\" \"$T/pid\"\n"
    "wait\n"
    "END\n"
    "mkfifo \"$T/ctl\" \"$T/ack\"; mkdir ../g ro.d hid d1 d2 d3 on; echo 0 >on/f; echo 0 >.bashrc\n"
    "for f in 1 2 3 4 5 6 7; do echo $f >f$f; done\n"
    "echo secret >.env; echo secret >hid/f; echo 0 >../g/conf\n"
    "unshare -Urm sh \"$T/outer\" >\"$T/log\" 2>&1 &\n"
    "for i in $(seq 500); do test -e \"$T/pid\" && exit 0; "
    "kill -0 $! || break; sleep 0.01; done; cat \"$T/log\" >&2; exit 1";

/* What the line answers inside: its status. */
static int
jailed(struct scene *s, const char *line)
{
	char text[1024];

	snprintf(text, sizeof text, "echo '%s' >\"$T/ctl\"; cat \"$T/ack\"; "
	    "exit $(cat \"$T/status\")", line);
	return sh(s, text);
}

static bool
until_mounted(struct scene *s, const char *name)
{
	int64_t end = now_us() + LIMIT_MS * 1000;
	char line[256];

	snprintf(line, sizeof line, "grep -q \"/%s r[ow],\" "
	    "/proc/self/mountinfo", name);
	while (jailed(s, line) != 0) {
		if (now_us() > end)
			return false;
		drain(s);
	}
	return true;
}

static const struct replace {
	const char	*host;		/* outside, */
	const char	*mounted;	/* what must follow inside, */
	const char	*inside;	/* and what is tried there then */
	bool		 is_refused;
} replaces[] = {
	/* An editor, by rename. */
	{ "echo 1 >n; mv n .bashrc", "w/.bashrc", "echo evil >>.bashrc",
	    true },
	{ NULL, NULL, "rm -f .bashrc; test ! -e .bashrc", true },
	{ NULL, NULL, "echo x >n2; mv n2 .bashrc", true },
	{ NULL, NULL, "test \"$(cat .bashrc)\" = 1", false },
	{ "echo 3 >.bashrc", NULL, "test \"$(cat .bashrc)\" = 3", false },
	{ NULL, NULL, "echo evil >ro.d/f", true },
	{ "echo secret2 >n; mv n .env", "w/.env", "cat .env", true },
	{ NULL, NULL, "chmod 644 .env; cat .env", true },
	{ "mkdir d; echo s >d/f; rm -r hid; mv d hid", "w/hid", "ls hid",
	    true },
	{ NULL, NULL, "cat hid/f", true },
	/* Not there at the start. */
	{ "echo s >n; mv n later.env", "w/later.env", "cat later.env", true },
	{ NULL, NULL, "mkdir own.env", false },
	{ NULL, "w/own.env", "ls own.env", true },
	{ "mkdir sub; echo s >sub/x.env", "w/sub/x.env", "cat sub/x.env",
	    true },
	/* A symlink: itself, and what it leads to. */
	{ "echo s >tgt; ln -s tgt n; mv n .env", "w/.env", "cat .env", true },
	{ NULL, "w/tgt", "cat tgt", true },
	{ NULL, NULL, "rm -f .env", true },
	/* A single file that may be written. */
	{ "echo 1 >../g/n; mv ../g/n ../g/conf", "g/conf",
	    "echo 2 >>../g/conf", false },
	{ NULL, NULL, "echo 2 >../g/other", true },
};

static const char *
replace_all(struct scene *s)
{
	const struct replace *r = replaces;

	for (; r < replaces + sizeof replaces / sizeof *replaces; r++) {
		if (r->host != NULL && sh(s, r->host) != 0)
			return r->host;
		if (r->mounted != NULL && !until_mounted(s, r->mounted))
			return r->mounted;
		if ((jailed(s, r->inside) != 0) != r->is_refused)
			return r->inside;
	}
	return NULL;
}

/*
 * Once the name was missing nobody can say who made what lies there: it goes
 * to quarantine, and folders always do.
 */
static const struct planted {
	const char	*name;
	const char	*host, *inside;
	const char	*kept;		/* of it, in quarantine */
} planted[] = {
	{ "f1", "rm f1", "echo evil >f1", "f1" },
	{ "f2", "rm f2", "echo evil >n2; mv n2 f2", "f2" },
	{ "f3", "mv f3 f3~; echo host >f3", "true", "f3" },
	{ "f4", "rm f4; echo host >n4; mv n4 f4", "true", "f4" },
	{ "d1", "rmdir d1", "mkdir d1; echo evil >d1/f", "d1" },
	{ "d2", "rmdir d2", "mkdir n; echo evil >n/f; mv n d2", "d2/f" },
	/* By way of a link in the place of the folder around it. */
	{ "on/f", "rm -r on", "mkdir evil; echo evil >evil/f; ln -s evil on",
	    "on" },
	{ "d3", "mkdir n3; echo 1 >n3/f; mv -T n3 d3", "true", "d3/f" },
};

static const char *
plant_all(struct scene *s)
{
	const struct planted *p = planted;
	char line[256];

	for (; p < planted + sizeof planted / sizeof *planted; p++) {
		(void)sh(s, p->host);
		(void)jailed(s, p->inside);
		snprintf(line, sizeof line, "! test -e %s && "
		    "{ any -e \"$K\"/*-%s || any -L \"$K\"/*-%s; }",
		    p->name, p->kept, p->kept);
		if (!until(s, line))
			return p->name;
		drain(s);
	}
	return NULL;
}

/* Renamed over while it was there, or written: the host's. */
static const char *
save_all(struct scene *s)
{
	if (sh(s, "echo once >n; mv n f5; echo in place >f6") != 0 ||
	    !until_mounted(s, "w/f5") || jailed(s, "echo evil >f5") == 0)
		return "f5";
	if (sh(s, "echo twice >n; mv n f5") != 0 ||
	    !until_mounted(s, "w/f5") || jailed(s, "rm -f f5") == 0 ||
	    !holds(s, "test \"$(cat f5 f6 f7)\" = 'twice\nin place\n7'"))
		return "f5 again";
	return NULL;
}

static pid_t
jail_of(struct scene *s)
{
	char path[128];
	int pid = 0;
	FILE *fp;

	snprintf(path, sizeof path, "%s/pid", s->top);
	fp = fopen(path, "re");
	if (fp != NULL) {
		(void)!fscanf(fp, "%d", &pid);
		fclose(fp);
	}
	return pid;
}

/* What was planted, by name; at the end, what was replaced, and nothing else. */
static bool
is_told(struct scene *s)
{
	static const char *const replaced[] = { ".bashrc", ".env", "hid",
	    "f5" };
	bool is = true;

	for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
		is &= find_told(s, GUARD_MOVED, planted[i].name) != NULL ||
		    find_told(s, GUARD_MOVED, planted[i].kept) != NULL;
	for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
		is &= find_told(s, GUARD_REPLACED, replaced[i]) != NULL;
	return is && count_told(s, GUARD_REPLACED) ==
	    sizeof replaced / sizeof *replaced;
}

static int
remask_scene(void)
{
	static const char *const kept_ro[] = { "ro.d", "f1", "f2", "f3", "f4",
	    "f5", "f6", "f7", "d1", "d2", "d3",
	    "on/f" };
	static const char *const hidden[] = { ".env", "hid", "later.env",
	    "own.env", "sub/x.env" };
	struct scene *s = scene_new(false);
	const char *wrong;
	size_t nmasked;
	pid_t jail;
	int status = 0;

	if (sh(s, jail_script) != 0)
		return 77;
	jail = jail_of(s);
	add(s, GUARD_READONLY, ".bashrc");
	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
		add(s, GUARD_HIDDEN, hidden[i]);
	add(s, GUARD_WRITABLE, "x");
	free(s->names[s->npaths - 1]);
	assert_true(asprintf(&s->names[s->npaths - 1], "%s/g/conf",
	    s->top) > 0);
	s->paths[s->npaths - 1].path = s->names[s->npaths - 1];
	nmasked = s->npaths;
	for (size_t i = 0; i < sizeof kept_ro / sizeof *kept_ro; i++)
		add(s, GUARD_READONLY, kept_ro[i]);
	add(s, GUARD_ABSENT, ".envrc");
	watch(s);
	start_in(s, jail);
	/* What is replaced before it watches counts as planted. */
	assert_int_equal(sh(s, ": >.envrc"), 0);
	assert_true(until(s, "! test -e .envrc"));
	/* The test itself can fail: nothing is in the way before. */
	assert_int_equal(jailed(s, "echo x >>../g/conf && cat ro.d/f"), 1);
	wrong = replace_all(s);
	if (wrong != NULL) {
		print_error("# wrong: %s\n", wrong);
		(void)sh(s, "cat \"$T/out\"");
		status = 1;
	}
	wrong = plant_all(s);
	if (wrong == NULL)
		wrong = save_all(s);
	if (wrong != NULL) {
		print_error("# wrong: %s\n", wrong);
		(void)sh(s, "ls -lR . \"$K\"");
		status = 2;
	}
	(void)sh(s, "echo 'kill $PPID $$' >\"$T/ctl\"");
	(void)guard_finish(s->g, on_told, s);
	if (!is_told(s))
		status = 5;
	for (size_t i = 0; i < nmasked; i++)
		if (find_told(s, GUARD_REMASKED, s->paths[i].path +
		    strlen(s->top) + 3) == NULL) {
			print_error("# not told: %s\n", s->paths[i].path);
			status = 3;
		}
	if (find_told(s, GUARD_FAILED, NULL) != NULL)
		status = 4;
	guard_free(s->g);
	scene_sweep(s);
	return status;
}

/* As ourselves, and, started by root, as somebody who is not. */
static void
test_remask(void **state)
{
	(void)state;
	for (int who = 0; who < 2; who++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			setenv("CMOCKA_TEST_ABORT", "1", 1);
			if (who == 1 && (setresgid(65534, 65534, 65534) != 0
			    || setresuid(65534, 65534, 65534) != 0))
				_exit(0);	/* we are not root */
			_exit(remask_scene());
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
			print_message("# no user namespaces here\n");
			skip();
		}
		assert_int_equal(status, 0);
	}
}

/* The filter: each tries one thing and returns 0 or errno. */

static int
result(long rv)
{
	return rv >= 0 ? 0 : errno;
}

static int try_socket(void)
{ return result(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
static int try_inet(void)
{ return result(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
static int try_connect(void)
{ return result(connect(-1, NULL, 0)); }
static int try_exec(void)
{ return result(execl("/nonexistent", "x", (char *)NULL)); }
static int try_execveat(void)
{ return result(syscall(SYS_execveat, -1, "/nonexistent", NULL, NULL, 0)); }
static int try_ptrace(void)
{ return result(ptrace(PTRACE_TRACEME, 0, NULL, NULL)); }
static int try_peek(void)
{ return result(syscall(SYS_process_vm_readv, 0, NULL, 0, NULL, 0, 0)); }
static int try_kill(void)
{ return result(kill(getpid(), 0)); }
static int try_mount(void)
{ return result(mount("none", "/nonexistent", "tmpfs", 0, NULL)); }
static int try_umount(void)
{ return result(umount2("/nonexistent", 0)); }
static int try_chroot(void)
{ return result(chroot("/")); }
static int try_unshare(void)
{ return result(unshare(CLONE_NEWNS)); }
static int try_clone_ns(void)
{ return result(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)); }
static int try_clone3(void)
{ return result(syscall(435, NULL, 0)); }
static int try_setns_net(void)
{ return result(setns(-1, CLONE_NEWNET)); }
static int try_setns_any(void)
{ return result(setns(-1, 0)); }
static int try_bpf(void)
{ return result(syscall(SYS_bpf, 9999, NULL, 0)); }
static int try_uring(void)
{ return result(syscall(SYS_io_uring_setup, 0, NULL)); }
static int try_tty(void)
{ return result(syscall(SYS_ioctl, 0, 0x5412, "x")); }
static int try_dumpable(void)
{ return result(prctl(PR_SET_DUMPABLE, 1)); }
static int try_setuid(void)
{ return result(setuid(getuid())); }

static int try_setns_mount(void)
{ return result(setns(-1, CLONE_NEWNS)); }
static int try_setns_user(void)
{ return result(setns(-1, CLONE_NEWUSER)); }
static int try_open_tree(void)
{ return result(syscall(428, -1, "/nonexistent", 0)); }
static int try_open(void)
{ return result(open("/dev/null", O_RDWR | O_CLOEXEC)); }
static int try_rename(void)
{
	return result(renameat(AT_FDCWD, "/nonexistent/a", AT_FDCWD,
	    "/nonexistent/b"));
}
static int try_own_fd(void)
{
	int fd = open("/", O_PATH | O_CLOEXEC);
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return result(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}
static int try_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return result(pid < 0 ? -1 : waitpid(pid, NULL, 0));
}

static const struct {
	int	(*try)(void);
	int	want;
} tries[] = {
	{ try_socket, EPERM }, { try_inet, EPERM }, { try_connect, EPERM },
	{ try_exec, EPERM }, { try_execveat, EPERM }, { try_ptrace, EPERM },
	{ try_peek, EPERM }, { try_kill, EPERM }, { try_mount, EPERM },
	{ try_umount, EPERM }, { try_chroot, EPERM }, { try_unshare, EPERM },
	{ try_clone_ns, EPERM }, { try_clone3, ENOSYS },
	{ try_setns_net, EPERM }, { try_setns_any, EPERM },
	{ try_bpf, EPERM }, { try_uring, EPERM }, { try_tty, EPERM },
	{ try_dumpable, EPERM }, { try_setuid, EPERM },
	{ try_setns_mount, EBADF }, { try_setns_user, EBADF },
	{ try_open_tree, ENOENT }, { try_open, 0 }, { try_rename, ENOENT },
	{ try_own_fd, 0 }, { try_fork, 0 },
};

/* The number of the first that answers otherwise; 0 if none does. */
static int
confined(void)
{
	bool is_taken[sizeof tries / sizeof *tries] = { false };
	struct err e = { 0 };

	/* A jail around us may have taken what the guard's filter leaves. */
	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
		is_taken[i] = tries[i].want != EPERM &&
		    tries[i].try() == EPERM;
	if (confine_guard(&e) != 0)
		return 200;
	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
		if (!is_taken[i] && tries[i].try() != tries[i].want)
			return (int)i + 1;
	return 0;
}

static void
test_confined(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0)
		_exit(confined());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	/* And it is the filter that says so. */
	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
		if (tries[i].try == try_socket || tries[i].try == try_kill)
			assert_int_equal(tries[i].try(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_confined),
		cmocka_unit_test(test_remask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
