/*
 * The shim in other people's programs: every row is run twice, bare and with
 * the library preloaded.  Result and errno must be the same; a refused call
 * must send exactly one record, any other none.
 */
#include <sys/resource.h>

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>

#include "tests/unit/shim_rows.h"
#include "tests/unit/shim_world.h"

enum { THREADS = 100, ROUNDS = 20 };

static void *
hammer(void *arg)
{
	int i, fd, *failed = arg;

	for (i = 0; i < ROUNDS; i++) {
		errno = 0;
		if (open(T "/none", O_RDONLY) >= 0 || errno != EACCES)
			__atomic_add_fetch(failed, 1, __ATOMIC_RELAXED);
		fd = open(T "/file", O_RDONLY);
		if (fd < 0)
			__atomic_add_fetch(failed, 1, __ATOMIC_RELAXED);
		else
			close(fd);
	}
	return NULL;
}

/* The number of the next descriptor tells whether one was kept. */
static int
child_threads(void)
{
	pthread_t th[THREADS];
	int i, failed = 0, first = dup(0), last;

	close(first);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&th[i], NULL, hammer, &failed) != 0)
			return 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(th[i], NULL);
	last = dup(0);
	return failed > 0 || last != first;
}

/* Refused calls, which need no descriptor. */
static void
refuse(int n)
{
	while (n-- > 0)
		if (mkdir(T "/ro/new", 0700) == 0 || errno != EROFS)
			_exit(1);
}

static bool
next_part(void)
{
	struct result r = { 1, 0 };
	char ack;

	return write(RESULT_FD, &r, sizeof r) == sizeof r &&
	    read(ACK_FD, &ack, 1) == 1;
}

static void
limit_fds(rlim_t n)
{
	struct rlimit lim;

	getrlimit(RLIMIT_NOFILE, &lim);
	lim.rlim_cur = n;
	setrlimit(RLIMIT_NOFILE, &lim);
}

enum { MANY = 100 };

/* In parts, between which the parent reads. */
static int
child_loses(void)
{
	int fd;

	refuse(MANY);
	if (!next_part())
		return 1;
	refuse(1);		/* brings what was lost */
	if (!next_part())
		return 1;
	/* No descriptor is left. */
	for (fd = 0; fd < 100; fd++)
		close(fd);
	limit_fds(0);
	refuse(7);
	limit_fds(100);
	if (fork() == 0)
		exit(0);		/* they are not its own to tell */
	wait(NULL);
	return 0;			/* its last words bring the seven */
}

/* Files as the rows expect them. */
static void
make_files(void)
{
	if (umount2(T, MNT_DETACH) < 0)
		assert_int_equal(errno, EINVAL);	/* the first time */
	assert_int_equal(mount("tmpfs", T, "tmpfs", 0, "mode=755"), 0);
	assert_int_equal(put(T "/file", "text", 0644), 0);
	assert_int_equal(put(T "/file.x", "text", 0644), 0);
	assert_int_equal(put(T "/empty", "\1", 0755), 0);
	assert_int_equal(put(T "/none", "text", 0), 0);
	assert_int_equal(mkdir(T "/dir", 0755), 0);
	assert_int_equal(mkdir(T "/shut", 0), 0);
	assert_int_equal(mkdir(T "/up", 0755), 0);
	assert_int_equal(mkdir(T "/up/shut", 0), 0);
	assert_int_equal(symlink("loop", T "/loop"), 0);
	assert_true(listen_at(T "/sock", SOCK_STREAM, 0777) >= 0);
	assert_true(listen_at(T "/sock.shut", SOCK_STREAM, 0) >= 0);
	assert_int_equal(mkdir(T "/ro", 0755), 0);
	assert_int_equal(mount("tmpfs", T "/ro", "tmpfs", 0, "mode=755"), 0);
	assert_int_equal(put(T "/ro/file", "text", 0644), 0);
	assert_int_equal(mkdir(T "/ro/dir", 0755), 0);
	assert_int_equal(mount(NULL, T "/ro", NULL, MS_REMOUNT | MS_BIND |
	    MS_RDONLY, NULL), 0);
}

static void
rows_bare(void **state)
{
	(void)state;
	need_world();
	make_files();
	run_rows("--rows", rows, LEN(rows), 0);
}

static void
rows_with_shim(void **state)
{
	(void)state;
	need_world();
	make_files();
	run_rows("--rows", rows, LEN(rows), 1);
}

/* A burst may overflow the socket; nobody waits, and nothing is garbled. */
static void
threads(void **state)
{
	const char *argv[] = { self, "--threads", NULL };
	struct wire_report r;
	struct pollfd pfd[2];
	int fd, ack, count = 0;
	pid_t pid;

	(void)state;
	need_world();
	make_files();
	pid = start(argv, 1, &fd, &ack);
	pfd[0] = (struct pollfd){ .fd = wire_fd, .events = POLLIN };
	pfd[1] = (struct pollfd){ .fd = fd };
	do {
		assert_true(poll(pfd, 2, 60000) > 0);
		count += drain(&r);
	} while (pfd[1].revents == 0);
	assert_int_equal(finish(pid), 0);
	count += drain(&r);
	close(fd);
	close(ack);
	assert_true(count > 0 && count <= THREADS * ROUNDS);
}

static void
go_on(int ack)
{
	assert_int_equal(write(ack, "", 1), 1);
}

static void
await_part(int fd)
{
	struct result res;

	assert_int_equal(read(fd, &res, sizeof res), sizeof res);
}

/* Told and counted as lost are together what was refused. */
static void
counts_what_is_lost(void **state)
{
	const char *argv[] = { self, "--loses", NULL };
	struct wire_report r[2];
	int fd, ack, told;
	pid_t pid;

	(void)state;
	need_world();
	make_files();
	pid = start(argv, 1, &fd, &ack);
	await_part(fd);
	told = drain(r);
	assert_true(told > 0 && told < MANY);
	go_on(ack);
	await_part(fd);
	assert_int_equal(drain_some(r, 2), 2);
	assert_int_equal(r[0].call, WIRE_MAKE);
	assert_int_equal(r[1].call, WIRE_LOST);
	assert_int_equal(r[1].flags, MANY - told);
	go_on(ack);
	assert_int_equal(finish(pid), 0);
	assert_int_equal(drain(r), 1);
	assert_int_equal(r[0].call, WIRE_LOST);
	assert_int_equal(r[0].flags, 7);
	close(fd);
	close(ack);
}

/* What people run: one refusal, one record. */
static void
tools(void **state)
{
	static const struct {
		const char	*line, *path, *comm;
		int		 call;
	} t[] = {
		{ "echo x > " T "/ro/e", T "/ro/e", "sh", WIRE_OPEN },
		{ "cat " T "/none", T "/none", "cat", WIRE_OPEN },
		{ "touch " T "/ro/e", T "/ro/e", "touch", WIRE_OPEN },
		{ "mkdir " T "/ro/e", T "/ro/e", "mkdir", WIRE_MAKE },
		{ "rm -f " T "/ro/file", T "/ro/file", "rm", WIRE_REMOVE },
		{ "mv " T "/ro/file " T "/ro/e", T "/ro/e", "mv", WIRE_MAKE },
		{ "ln -s x " T "/ro/e", T "/ro/e", "ln", WIRE_MAKE },
		{ "ls " T "/shut", T "/shut", "ls", WIRE_OPEN },
		{ "exec " T "/file", T "/file", "sh", WIRE_EXEC },
		{ "cd " T "; cat none", T "/none", "cat", WIRE_OPEN },
		{ "cat " T "/file; ls " T "/nope", NULL, NULL, 0 },
	};
	struct wire_report r;
	char line[256];
	size_t i;
	int fd, ack, count;

	(void)state;
	need_world();
	make_files();
	for (i = 0; i < LEN(t); i++) {
		snprintf(line, sizeof line, "exec >/dev/null 2>&1; %s",
		    t[i].line);
		finish(start((const char *[]){ "/bin/sh", "-c", line, NULL },
		    1, &fd, &ack));
		close(fd);
		close(ack);
		count = drain(&r);
		if (count != (t[i].path != NULL))
			fail_msg("%s: %d records", t[i].line, count);
		if (count == 0)
			continue;
		assert_int_equal(r.call, t[i].call);
		assert_string_equal(r.comm, t[i].comm);
		assert_int_equal(r.path_len, strlen(t[i].path));
		assert_memory_equal(r.path, t[i].path, r.path_len);
	}
}

/* Nobody listens, nobody reads: the program does not notice. */
static void
unheard(void **state)
{
	const char *argv[] = { self, "--threads", NULL };
	struct wire_report r;
	int fd, ack;

	(void)state;
	need_world();
	make_files();
	assert_int_equal(finish(start(argv, 1, &fd, &ack)), 0);
	close(fd);
	close(ack);
	assert_true(drain(&r) > 0);
	assert_int_equal(rename(WIRE_SOCKET, "/run/fence/gone"), 0);
	assert_int_equal(finish(start(argv, 1, &fd, &ack)), 0);
	close(fd);
	close(ack);
	assert_int_equal(rename("/run/fence/gone", WIRE_SOCKET), 0);
	assert_int_equal(drain(&r), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_bare),
		cmocka_unit_test(rows_with_shim),
		cmocka_unit_test(threads),
		cmocka_unit_test(counts_what_is_lost),
		cmocka_unit_test(tools),
		cmocka_unit_test(unheard),
	};

	if (argc == 2 && strcmp(argv[1], "--rows") == 0)
		return child_rows(rows, LEN(rows), T "/dir");
	if (argc == 2 && strcmp(argv[1], "--threads") == 0)
		return child_threads();
	if (argc == 2 && strcmp(argv[1], "--loses") == 0)
		return child_loses();
	set_up();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
