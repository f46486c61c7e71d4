/* platform/base/io: short reads and writes, signals in between, errors. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/io.h"

enum { LONG = 300 * 1000 };	/* more than a pipe holds */

static char text[LONG], got[LONG + 1];

static void
ignore(int signo)
{
	(void)signo;
}

static int
fill(void **state)
{
	struct sigaction sa = { .sa_handler = ignore };	/* no SA_RESTART */

	(void)state;
	for (size_t i = 0; i < LONG; i++)
		text[i] = (char)('a' + i % 23);
	return sigaction(SIGUSR1, &sa, NULL);
}

static int
copy_child(int in_fd, int out_fd)
{
	ssize_t n = io_read_all(in_fd, got, sizeof got);

	return n == LONG && memcmp(got, text, LONG) == 0 &&
	    io_write_all(out_fd, got, LONG) == 0 ? 0 : 1;
}

/* Through two pipes and another process, to whom signals come meanwhile. */
static void
all_of_it(void **state)
{
	int to[2], from[2], status;
	char part[4000];
	size_t len = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(to[1]);
		close(from[0]);
		_exit(copy_child(to[0], from[1]));
	}
	close(to[0]);
	close(from[1]);
	for (size_t at = 0; at < LONG; at += sizeof part) {
		assert_int_equal(io_write_all(to[1], text + at,
		    sizeof part), 0);
		assert_int_equal(kill(pid, SIGUSR1), 0);
	}
	close(to[1]);
	for (;;) {
		ssize_t n = io_read_all(from[0], part, sizeof part);

		assert_true(n >= 0);
		if (n == 0)
			break;
		assert_memory_equal(part, text + len, (size_t)n);
		len += (size_t)n;
		assert_int_equal(kill(pid, SIGUSR1), 0);
	}
	assert_int_equal(len, LONG);
	close(from[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void
ends(void **state)
{
	int fd[2];
	char few[4] = "....";

	(void)state;
	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	assert_int_equal(io_write_all(fd[1], "abcdef", 6), 0);
	assert_int_equal(io_write_all(fd[1], "", 0), 0);
	/* No more than there is room for; then what is left; then nothing. */
	assert_int_equal(io_read_all(fd[0], few, 4), 4);
	assert_memory_equal(few, "abcd", 4);
	assert_int_equal(io_read_all(fd[0], few, 0), 0);
	close(fd[1]);
	assert_int_equal(io_read_all(fd[0], few, 4), 2);
	assert_memory_equal(few, "efcd", 4);
	assert_int_equal(io_read_all(fd[0], few, 4), 0);
	close(fd[0]);
}

static void
errors(void **state)
{
	int fd = open("/dev/full", O_RDWR | O_CLOEXEC);
	int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char byte;

	(void)state;
	assert_int_equal(io_write_all(fd, "x", 1), -1);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(io_read_all(dir, &byte, 1), -1);
	assert_int_equal(errno, EISDIR);
	assert_int_equal(io_write_all(-1, "x", 1), -1);
	assert_int_equal(errno, EBADF);
	close(fd);
	close(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it),
		cmocka_unit_test(ends),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, fill, NULL);
}
