/*
 * fence-init, run as it is built (FENCE_TEST_INIT is its path) as pid 1 of a
 * fresh pid namespace; the test plays the launcher.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/buf.h"
#include "platform/base/err.h"
#include "platform/fd.h"
#include "platform/linux/initplan.h"
#include "platform/linux/landlock.h"
#include "platform/linux/seccomp.h"

static const char *init_path;
static const char *cannot;	/* why nothing can be run here, or NULL */
static char work[] = "/var/tmp/fence-test-init.XXXXXX";

struct jailed {
	pid_t	pid;		/* waits for pid 1, exits with its status */
	int	control_fd;
	int	in_fd;		/* writes to the command's stdin */
	int	out_fd;		/* reads its stdout and stderr */
};

static void
write_map(const char *path, unsigned id)
{
	char text[32];
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int n = snprintf(text, sizeof text, "0 %u 1\n", id);

	if (fd < 0 || write(fd, text, n) != n)
		_exit(99);
	close(fd);
}

/* uid 0 inside: then exec keeps every capability and init must drop them. */
static _Noreturn void
be_outer(int control_fd, int in_fd, int out_fd)
{
	unsigned uid = geteuid(), gid = getegid();
	char number[16];
	sigset_t all;
	int status, fd;
	pid_t pid;

	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
		_exit(98);
	fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "deny", 4) != 4)
		_exit(99);
	close(fd);
	write_map("/proc/self/uid_map", uid);
	write_map("/proc/self/gid_map", gid);
	pid = fork();
	if (pid == 0) {
		dup2(in_fd, 0);
		dup2(out_fd, 1);
		dup2(out_fd, 2);
		dup2(1, 8);
		dup2(1, 9);
		signal(SIGHUP, SIG_IGN);
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, NULL);
		fd_cloexec(control_fd, 0);
		snprintf(number, sizeof number, "%d", control_fd);
		execl(init_path, "fence-init", number, (char *)NULL);
		_exit(97);
	}
	close(control_fd);
	close(in_fd);
	close(out_fd);
	if (waitpid(pid, &status, 0) != pid)
		_exit(96);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 95);
}

static void
jailed_start(struct jailed *j, const char *out_file)
{
	int control[2], in[2], out[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    control), 0);
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	if (out_file != NULL) {
		close(out[1]);
		out[1] = open(out_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		assert_true(out[1] >= 0);
	}
	/* Away from 8 and 9, which be_outer() gives to the command. */
	control[1] = fcntl(control[1], F_DUPFD_CLOEXEC, 20);
	j->pid = fork();
	if (j->pid == 0) {
		close(control[0]);
		close(in[1]);
		be_outer(control[1], in[0], out[1]);
	}
	close(control[1]);
	close(in[0]);
	close(out[1]);
	j->control_fd = control[0];
	j->in_fd = in[1];
	j->out_fd = out[0];
}

static int
jailed_end(struct jailed *j)
{
	int status;

	fd_close(&j->control_fd);
	fd_close(&j->in_fd);
	fd_close(&j->out_fd);
	assert_int_equal(waitpid(j->pid, &status, 0), j->pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static struct init_msg
expect(struct jailed *j, enum init_msg_kind kind, int *ret_fd)
{
	struct init_msg m = { 0 };
	size_t nfds;
	int fd = -1;

	assert_int_equal(fd_recv(j->control_fd, &m, sizeof m, &fd, 1, &nfds,
	    0), sizeof m);
	if (m.kind == INIT_READY) {	/* always the first, with its pidfd */
		assert_int_equal(nfds, 1);
		fd_close(&fd);
		return expect(j, kind, ret_fd);
	}
	assert_int_equal(m.kind, kind);
	assert_int_equal(nfds, kind == INIT_STARTED);
	if (ret_fd != NULL)
		*ret_fd = fd;
	else
		fd_close(&fd);
	return m;
}

/* All the command wrote, until nobody holds the pipe any more. */
static const char *
output(struct jailed *j)
{
	static char text[4096];
	size_t len = 0;
	ssize_t n;

	while ((n = read(j->out_fd, text + len, sizeof text - 1 - len)) > 0)
		len += n;
	text[len] = '\0';
	return text;
}

static uint32_t
add_bytes(struct buf *b, const void *data, size_t len)
{
	uint32_t at;

	while (b->len % 8 != 0)
		buf_putc(b, '\0');
	at = b->len;
	buf_add(b, data, len);
	return at;
}

static uint32_t
add_string(struct buf *b, const char *s)
{
	return add_bytes(b, s, strlen(s) + 1);
}

static uint32_t
add_strings(struct buf *b, const char *const *v, uint32_t *ret_n)
{
	uint32_t offs[8], n;

	for (n = 0; v[n] != NULL; n++)
		offs[n] = add_string(b, v[n]);
	*ret_n = n;
	return add_bytes(b, offs, n * sizeof *offs);
}

/* The command sees all, writes to `work` and /dev, keeps descriptor 9. */
static void
make_plan(struct buf *b, const char *const *argv, const char *cwd)
{
	static const char *const env[] = { "PATH=/usr/bin:/bin", NULL };
	static const int32_t keep[] = { 9 };
	int abi = landlock_abi();
	struct init_plan p = { .magic = INIT_PLAN_MAGIC };
	struct init_rule rules[4] = { 0 };
	struct buf filter;
	struct err e;

	buf_init(b, 0);
	buf_init(&filter, 0);
	assert_int_equal(seccomp_jail_filter(SECCOMP_USER, &filter,
	    &e), 0);
	buf_add(b, &p, sizeof p);
	p.program = add_string(b, argv[0]);
	p.cwd = add_string(b, cwd);
	p.argv = add_strings(b, argv, &p.argc);
	p.envp = add_strings(b, env, &p.envc);
	rules[0] = (struct init_rule){ add_string(b, "/"), 0,
	    landlock_read_rights(abi) };
	rules[1] = (struct init_rule){ add_string(b, "/dev"), 0,
	    landlock_dev_rights(abi) };
	rules[2] = (struct init_rule){ add_string(b, work), 0,
	    landlock_write_rights(abi) };
	rules[3] = (struct init_rule){ add_string(b, "/nonexistent/x"), 0,
	    landlock_write_rights(abi) };
	p.rules = add_bytes(b, rules, sizeof rules);
	p.nrules = 4;
	p.filter = add_bytes(b, filter.data, filter.len);
	p.nfilter = filter.len / sizeof(struct sock_filter);
	p.keep = add_bytes(b, keep, sizeof keep);
	p.nkeep = 1;
	p.handled_fs = landlock_handled(abi);
	p.scoped = landlock_scoped(abi);
	p.stdio_read = landlock_stdio_read(abi);
	p.stdio_write = landlock_stdio_write(abi);
	p.sigmask = 1 << (SIGUSR1 - 1);
	p.size = b->len;
	memcpy(b->data, &p, sizeof p);
	buf_release(&filter);
}

static void
send_plan(struct jailed *j, struct buf *b)
{
	struct init_msg plan = { .kind = INIT_PLAN };
	struct init_msg go = { .kind = INIT_GO };
	int fd = fd_memfd("plan", b->data, b->len);

	assert_true(fd >= 0);
	assert_int_equal(fd_send(j->control_fd, &plan, sizeof plan, &fd, 1,
	    0), sizeof plan);
	assert_int_equal(fd_send(j->control_fd, &go, sizeof go, NULL, 0, 0),
	    sizeof go);
	close(fd);
	buf_release(b);
}

static void
jailed_go(struct jailed *j, const char *const *argv, const char *cwd)
{
	struct buf b;

	jailed_start(j, NULL);
	make_plan(&b, argv, cwd);
	send_plan(j, &b);
}

static void
jailed_sh(struct jailed *j, const char *script)
{
	jailed_go(j, (const char *const[]){ "/bin/sh", "-c", script, NULL },
	    work);
}

static void
need_namespaces(void)
{
	if (cannot == NULL)
		return;
	print_message("SKIP: %s\n", cannot);
	if (getenv("FENCE_MUST_WORK") != NULL)
		fail_msg("%s", cannot);
	skip();
}

/* Scripts, what they print, and how they end. */
static void
test_scripts(void **state)
{
	static const struct {
		const char *script, *out;
		int status;
	} cases[] = {
		{ "exit 7", "", 7 << 8 },
		{ "kill -9 $$", "", 9 },
		{ "kill -SEGV $$", "", SIGSEGV },
		{ "echo $$ $PPID; pwd -P | sed s,.*/fence-test-init.*,W,",
		  "2 1\nW\n", 0 },
		/* A zombie still takes signal 0: only burying ends the loop. */
		{ "p=$( (true & echo $!) ); "
		  "while kill -0 $p 2>/dev/null; do :; done; echo gone",
		  "gone\n", 0 },
		{ "grep -E '^(Cap|NoNew|Seccomp:)' /proc/self/status",
		  "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n"
		  "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\n"
		  "CapAmb:\t0000000000000000\nNoNewPrivs:\t1\n"
		  "Seccomp:\t2\n", 0 },
		{ "unshare -U true 2>/dev/null || echo no", "no\n", 0 },
		{ "echo kept >&9; (: >&8) 2>/dev/null || echo closed; "
		  "(: >&20) 2>/dev/null || echo closed",
		  "kept\nclosed\nclosed\n", 0 },
		{ "kill -9 1 2>/dev/null; kill -TERM 1 2>/dev/null; echo on",
		  "on\n", 0 },
		{ "echo x >/dev/null && echo dev", "dev\n", 0 },
	};
	struct jailed j;

	(void)state;
	need_namespaces();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		jailed_sh(&j, cases[i].script);
		expect(&j, INIT_STARTED, NULL);
		assert_string_equal(output(&j), cases[i].out);
		assert_int_equal(expect(&j, INIT_EXITED, NULL).value,
		    cases[i].status);
		assert_int_equal(jailed_end(&j), 0);
	}
}

static void
test_landlock(void **state)
{
	struct jailed j;

	(void)state;
	need_namespaces();
	if (landlock_abi() == 0)
		skip();
	jailed_sh(&j, "echo a >ok && cat ok && mkdir d && mv ok d/ok && "
	    "ln d/ok e && rm -r d e; "
	    "(: >/var/tmp/fence-test-no) 2>/dev/null || echo refused");
	expect(&j, INIT_STARTED, NULL);
	assert_string_equal(output(&j), "a\nrefused\n");
	assert_int_equal(expect(&j, INIT_EXITED, NULL).value, 0);
	assert_int_equal(jailed_end(&j), 0);
	assert_int_equal(access("/var/tmp/fence-test-no", F_OK), -1);
}

/* An inherited file outside every root: /dev/stdout must open again. */
static void
test_stdio_reopen(void **state)
{
	static const char path[] = "/var/tmp/fence-test-init-out";
	struct jailed j;
	struct stat st;
	struct buf b;

	(void)state;
	need_namespaces();
	jailed_start(&j, path);
	make_plan(&b, (const char *const[]){ "/bin/sh", "-c",
	    "echo four >/dev/stdout", NULL }, "/");
	send_plan(&j, &b);
	expect(&j, INIT_STARTED, NULL);
	assert_int_equal(expect(&j, INIT_EXITED, NULL).value, 0);
	assert_int_equal(jailed_end(&j), 0);
	assert_int_equal(stat(path, &st), 0);
	unlink(path);
	assert_int_equal(st.st_size, 5);
}

static void
test_stop_and_continue(void **state)
{
	struct jailed j;
	int pidfd;

	(void)state;
	need_namespaces();
	/* It waits for us then: an exit would swallow "continued". */
	jailed_sh(&j, "kill -STOP $$; read x; exit $x");
	expect(&j, INIT_STARTED, &pidfd);
	assert_int_equal(expect(&j, INIT_STOPPED, NULL).value, SIGSTOP);
	assert_int_equal(syscall(SYS_pidfd_send_signal, pidfd, SIGCONT, NULL,
	    0), 0);
	expect(&j, INIT_CONTINUED, NULL);
	assert_int_equal(write(j.in_fd, "3\n", 2), 2);
	assert_int_equal(expect(&j, INIT_EXITED, NULL).value, 3 << 8);
	close(pidfd);
	assert_int_equal(jailed_end(&j), 0);
}

static pid_t
init_pid(const struct jailed *j)
{
	char path[64], text[32] = "";

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)j->pid,
	    (int)j->pid);
	assert_true(fd_read_file(AT_FDCWD, path, text, sizeof text) > 0);
	return (pid_t)atoi(text);
}

static void
ask(struct jailed *j, int signo, unsigned wants_answer)
{
	struct init_msg m = { .kind = INIT_ASK, .step = wants_answer,
	    .value = signo };

	assert_int_equal(fd_send(j->control_fd, &m, sizeof m, NULL, 0, 0),
	    sizeof m);
}

/* Whether a signal came to fence-init, that is, to all of the group. */
static void
test_ask(void **state)
{
	struct jailed j;
	pid_t pid;

	(void)state;
	need_namespaces();
	jailed_sh(&j, "kill -USR2 1; read x; exit $x");
	expect(&j, INIT_STARTED, NULL);
	pid = init_pid(&j);
	ask(&j, SIGTERM, 1);
	assert_int_equal(expect(&j, INIT_ALONE, NULL).value, SIGTERM);
	kill(pid, SIGTERM);
	kill(pid, SIGINT);
	ask(&j, SIGTERM, 1);		/* it did: no answer */
	ask(&j, SIGINT, 0);		/* forgotten */
	ask(&j, SIGINT, 1);
	assert_int_equal(expect(&j, INIT_ALONE, NULL).value, SIGINT);
	ask(&j, SIGTERM, 1);
	assert_int_equal(expect(&j, INIT_ALONE, NULL).value, SIGTERM);
	ask(&j, 1000, 1);		/* no such signal */
	ask(&j, SIGUSR2, 1);		/* who is inside does not count */
	assert_int_equal(expect(&j, INIT_ALONE, NULL).value, SIGUSR2);
	assert_int_equal(write(j.in_fd, "3\n", 2), 2);
	assert_int_equal(expect(&j, INIT_EXITED, NULL).value, 3 << 8);
	assert_int_equal(jailed_end(&j), 0);
}

static void
write_file(const char *name, const char *text, mode_t mode)
{
	char path[sizeof work + 32];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", work, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	chmod(path, mode);
}

static void
test_noexec(void **state)
{
	static const struct {
		const char *program;
		int error, status;
	} cases[] = {
		{ "/nonexistent", ENOENT, 127 },
		{ "./plain", EACCES, 126 },
		{ "/", EACCES, 126 },
	};
	struct jailed j;

	(void)state;
	need_namespaces();
	write_file("plain", "exit 0\n", 0644);
	write_file("script", "echo $0 $1; exit 5\n", 0755);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		jailed_go(&j, (const char *const[]){ cases[i].program, NULL },
		    work);
		assert_int_equal(expect(&j, INIT_NOEXEC, NULL).value,
		    cases[i].error);
		assert_int_equal(jailed_end(&j), cases[i].status);
	}
	jailed_go(&j, (const char *const[]){ "./script", "x", NULL }, work);
	expect(&j, INIT_STARTED, NULL);
	assert_string_equal(output(&j), "./script x\n");
	assert_int_equal(expect(&j, INIT_EXITED, NULL).value, 5 << 8);
	assert_int_equal(jailed_end(&j), 0);
}

static void
test_failures(void **state)
{
	static const char *const argv[] = { "/bin/true", NULL };
	static const int32_t bad_keep = 19;
	struct init_plan *p;
	struct init_msg m;
	struct jailed j;
	struct buf b;

	(void)state;
	need_namespaces();
	jailed_go(&j, argv, "/nonexistent");
	m = expect(&j, INIT_FAILED, NULL);
	assert_int_equal(m.step, INIT_STEP_CHDIR);
	assert_int_equal(m.value, ENOENT);
	assert_int_equal(jailed_end(&j), 125);

	jailed_start(&j, NULL);
	make_plan(&b, argv, "/");
	b.data[0] ^= 1;
	send_plan(&j, &b);
	assert_int_equal(expect(&j, INIT_FAILED, NULL).step, INIT_STEP_PLAN);
	assert_int_equal(jailed_end(&j), 125);

	jailed_start(&j, NULL);
	make_plan(&b, argv, "/");
	p = (struct init_plan *)(void *)b.data;
	memcpy(b.data + p->keep, &bad_keep, sizeof bad_keep);
	send_plan(&j, &b);
	assert_int_equal(expect(&j, INIT_FAILED, NULL).step, INIT_STEP_FDS);
	assert_int_equal(jailed_end(&j), 125);
}

/* The launcher's death ends the jail, before and after the start. */
static void
test_eof(void **state)
{
	struct jailed j;
	int pidfd;
	struct pollfd p;

	(void)state;
	need_namespaces();
	jailed_start(&j, NULL);
	assert_int_equal(jailed_end(&j), 125);

	jailed_sh(&j, "trap '' HUP TERM INT; while :; do sleep 9; done");
	expect(&j, INIT_STARTED, &pidfd);
	assert_int_equal(jailed_end(&j), 125);
	p = (struct pollfd){ .fd = pidfd, .events = POLLIN };
	assert_int_equal(poll(&p, 1, 30000), 1);
	close(pidfd);
}

/* fence-init holds no stdio: a closed stdout is closed. */
static void
test_stdio_is_the_commands(void **state)
{
	struct jailed j;

	(void)state;
	need_namespaces();
	jailed_sh(&j, "echo out; exec >&- 2>&- 9>&-; read x; exit $x");
	expect(&j, INIT_STARTED, NULL);
	assert_string_equal(output(&j), "out\n");
	assert_int_equal(write(j.in_fd, "4\n", 2), 2);
	assert_int_equal(expect(&j, INIT_EXITED, NULL).value, 4 << 8);
	assert_int_equal(jailed_end(&j), 0);
}

static void
test_signals(void **state)
{
	unsigned long blocked, ignored;
	struct jailed j;

	(void)state;
	need_namespaces();
	jailed_go(&j, (const char *const[]){ "/bin/grep", "-E",
	    "^Sig(Blk|Ign):", "/proc/self/status", NULL }, "/");
	expect(&j, INIT_STARTED, NULL);
	assert_int_equal(sscanf(output(&j), "SigBlk:\t%lx\nSigIgn:\t%lx\n",
	    &blocked, &ignored), 2);
	assert_int_equal(blocked, 0x200);
	/* SIGHUP and our SIGPIPE; what started us may ignore signals that no
	 * program can name (32 and 33 are the libc's). */
	assert_int_equal(ignored & 0x7fffffff, 0x1001);
	expect(&j, INIT_EXITED, NULL);
	assert_int_equal(jailed_end(&j), 0);
}

static int
setup(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	init_path = getenv("FENCE_TEST_INIT");
	if (init_path == NULL || access(init_path, X_OK) < 0)
		cannot = "FENCE_TEST_INIT names no fence-init";
	pid = fork();
	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		cannot = "no user and pid namespaces here";
	return mkdtemp(work) != NULL ? 0 : -1;
}

static int
teardown(void **state)
{
	char path[sizeof work + 32];

	(void)state;
	snprintf(path, sizeof path, "%s/plain", work);
	unlink(path);
	snprintf(path, sizeof path, "%s/script", work);
	unlink(path);
	return rmdir(work);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_landlock),
		cmocka_unit_test(test_stdio_reopen),
		cmocka_unit_test(test_stop_and_continue),
		cmocka_unit_test(test_ask),
		cmocka_unit_test(test_noexec),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_eof),
		cmocka_unit_test(test_stdio_is_the_commands),
		cmocka_unit_test(test_signals),
	};

	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_DFL);	/* as a shell leaves them to what it */
	signal(SIGQUIT, SIG_DFL);	/* starts in the background: ignored */
	alarm(60);
	return cmocka_run_group_tests(tests, setup, teardown);
}
