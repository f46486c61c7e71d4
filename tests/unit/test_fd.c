#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/fd.h"

static int
is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void
test_ownership(void **state)
{
	int fd = dup(0), kept;

	(void)state;
	{
		auto_fd scoped = fd;
		(void)scoped;
	}
	assert_false(is_open(fd));
	kept = fd = dup(0);
	{
		auto_fd scoped = fd;
		kept = fd_take(&scoped);
		assert_int_equal(scoped, -1);
	}
	assert_true(is_open(kept));
	errno = ENOENT;
	fd_close(&kept);
	assert_int_equal(kept, -1);
	fd_close(&kept);
	assert_int_equal(errno, ENOENT);
}

static void
test_flags(void **state)
{
	auto_fd fd = dup(0);

	(void)state;
	assert_int_equal(fd_cloexec(fd, 1), 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fd_cloexec(fd, 0), 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
	assert_int_equal(fd_nonblock(-1, 1), -1);
	assert_int_equal(fd_cloexec(-1, 1), -1);
}

static void
test_files(void **state)
{
	auto_fd fd = fd_memfd("test", "12345678", 8);
	char path[32], text[9];

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	assert_int_equal(fd_read_file(AT_FDCWD, path, text, 9), 8);
	assert_string_equal(text, "12345678");
	assert_int_equal(fd_read_file(AT_FDCWD, path, text, 8), -1);
	assert_int_equal(errno, EFBIG);
	assert_string_equal(text, "1234567");
	assert_int_equal(fd_read_file(AT_FDCWD, "/nonexistent", text, 9), -1);
	assert_int_equal(errno, ENOENT);
}

static void
test_paths(void **state)
{
	int pipes[2];
	auto_fd fd = open("/proc/self/../self/../..", O_PATH | O_CLOEXEC);
	char link[FD_PATH_MAX], want[FD_PATH_MAX], path[PATH_MAX];
	struct stat st, same;

	(void)state;
	fd_path(fd, link);
	snprintf(want, sizeof want, "/proc/self/fd/%d", fd);
	assert_string_equal(link, want);
	assert_int_equal(stat(link, &st), 0);
	assert_int_equal(fstat(fd, &same), 0);
	assert_int_equal(st.st_ino, same.st_ino);
	fd_path(INT_MIN, link);			/* the longest there is */
	assert_string_equal(link, "/proc/self/fd/-2147483648");

	assert_int_equal(fd_real_path(fd, path), 0);
	assert_string_equal(path, "/");
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(fd_real_path(pipes[0], path), 1);
	fd_close(&pipes[0]);
	fd_close(&pipes[1]);
	assert_int_equal(fd_real_path(pipes[0], path), -1);
	assert_int_equal(errno, ENOENT);
}

/* Deeper than PATH_MAX: the kernel does not say where that is. */
static void
test_far_path(void **state)
{
	char top[] = "/var/tmp/fence-fd-XXXXXX", path[PATH_MAX], name[250];
	auto_fd fd = -1;
	int depth = 0;

	(void)state;
	assert_non_null(mkdtemp(top));
	memset(name, 'd', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (; depth < PATH_MAX / 250 + 1; depth++) {
		int next;

		assert_int_equal(mkdirat(fd, name, 0700), 0);
		next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fd_close(&fd);
		fd = next;
	}
	assert_int_equal(fd_real_path(fd, path), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	for (; depth > 0; depth--) {
		int up = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		fd_close(&fd);
		fd = up;
		assert_int_equal(unlinkat(fd, name, AT_REMOVEDIR), 0);
	}
	assert_int_equal(fd_real_path(fd, path), 0);
	assert_string_equal(path, top);
	assert_int_equal(rmdir(top), 0);
}

static int
count_open(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += is_open(fd);
	return n;
}

static void
test_messages(void **state)
{
	int sv[2], fds[3] = { 0, 1, 2 }, got[4], before;
	char data[8];
	size_t n = 99;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    sv), 0);
	before = count_open();
	assert_int_equal(fd_send(sv[0], "abc", 3, fds, 3, 0), 3);
	assert_int_equal(fd_recv(sv[1], data, sizeof data, got, 4, &n, 0), 3);
	assert_int_equal(n, 3);
	assert_memory_equal(data, "abc", 3);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(fcntl(got[i], F_GETFD), FD_CLOEXEC);
		fd_close(&got[i]);
	}
	/* Too many descriptors, none wanted, too many bytes: none is left. */
	assert_int_equal(fd_send(sv[0], "abc", 3, fds, 3, 0), 3);
	assert_int_equal(fd_recv(sv[1], data, sizeof data, got, 1, &n, 0), 3);
	assert_int_equal(n, 1);
	fd_close(&got[0]);
	assert_int_equal(fd_send(sv[0], "abc", 3, fds, 3, 0), 3);
	assert_int_equal(fd_recv(sv[1], data, sizeof data, NULL, 0, NULL, 0),
	    3);
	assert_int_equal(fd_send(sv[0], "123456789", 9, fds, 3, 0), 9);
	assert_int_equal(fd_recv(sv[1], data, sizeof data, got, 4, &n, 0), -1);
	assert_int_equal(errno, EMSGSIZE);
	assert_int_equal(n, 0);
	assert_int_equal(count_open(), before);

	assert_int_equal(fd_recv(sv[1], data, sizeof data, got, 4, &n,
	    MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	fd_close(&sv[0]);
	assert_int_equal(fd_recv(sv[1], data, sizeof data, got, 4, &n, 0), 0);
	assert_int_equal(fd_send(sv[1], "x", 1, NULL, 0, 0), -1);
	assert_int_equal(errno, EPIPE);
	fd_close(&sv[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ownership),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_far_path),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
