/* platform/base/buf: bytes that grow up to a ceiling. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "platform/base/buf.h"

static void
grows(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	assert_string_equal(b.data, "");
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "%d,", i % 10);
	assert_int_equal(b.len, 2000);
	assert_int_equal(strlen(b.data), 2000);
	assert_false(b.failed);
	buf_clear(&b);
	assert_string_equal(b.data, "");
	buf_puts(&b, "ab");
	buf_putc(&b, 'c');
	buf_add(&b, "\0d", 2);
	assert_int_equal(b.len, 5);
	assert_memory_equal(b.data, "abc\0d", 6);
	buf_release(&b);
	assert_string_equal(b.data, "");
	assert_int_equal(b.cap, 0);
}

/* What does not fit is not added at all, and nothing after it. */
static void
stops_at_the_ceiling(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 4);
	buf_puts(&b, "abc");
	buf_puts(&b, "de");
	assert_true(b.failed);
	assert_string_equal(b.data, "abc");
	buf_putc(&b, 'x');
	assert_string_equal(b.data, "abc");
	assert_int_equal(buf_reserve(&b, 1), -1);
	buf_clear(&b);
	assert_false(b.failed);
	buf_puts(&b, "abcd");
	assert_false(b.failed);
	assert_string_equal(b.data, "abcd");
	buf_printf(&b, "%d", 1);
	assert_true(b.failed);
	buf_release(&b);
	assert_false(b.failed);
	assert_int_equal(b.max_bytes, 4);
}

static void
refuses_absurd_sizes(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	assert_int_equal(buf_reserve(&b, SIZE_MAX), -1);
	assert_true(b.failed);
	buf_release(&b);
}

static void
consumes(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	buf_consume(&b, 3);
	buf_puts(&b, "abcdef");
	buf_consume(&b, 2);
	assert_string_equal(b.data, "cdef");
	buf_consume(&b, 0);
	assert_int_equal(b.len, 4);
	buf_consume(&b, 100);
	assert_string_equal(b.data, "");
	assert_int_equal(b.len, 0);
	buf_release(&b);
}

/* 100 bytes through a pipe, into a buffer that has 10 already. */
static int
read_into(struct buf *b)
{
	static const char text[100] = { [0] = 'a', [99] = 'z' };
	int fd[2], rc, sys;

	buf_add(b, "0123456789", 10);
	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	assert_int_equal(write(fd[1], text, sizeof text), sizeof text);
	close(fd[1]);
	rc = buf_read(b, fd[0]);
	sys = errno;
	close(fd[0]);
	errno = sys;
	return rc;
}

static void
reads(void **state)
{
	static const struct { size_t max; int rc; } cases[] = {
		{ 0, 0 }, { 1000, 0 }, { 110, 0 }, { 109, -1 }, { 10, -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct buf b;

		buf_init(&b, cases[i].max);
		errno = 0;
		assert_int_equal(read_into(&b), cases[i].rc);
		assert_int_equal(errno, cases[i].rc == 0 ? 0 : EFBIG);
		assert_int_equal(b.failed, cases[i].rc != 0);
		assert_int_equal(b.len, cases[i].rc == 0 ? 110 : 10);
		assert_memory_equal(b.data, "0123456789", 10);
		if (cases[i].rc == 0)
			assert_int_equal(b.data[109], 'z');
		buf_release(&b);
	}
}

static void
reads_what_is_none(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 100);
	assert_int_equal(buf_read(&b, -1), -1);
	assert_int_equal(errno, EBADF);
	assert_string_equal(b.data, "");
	buf_release(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows),
		cmocka_unit_test(stops_at_the_ceiling),
		cmocka_unit_test(refuses_absurd_sizes),
		cmocka_unit_test(consumes),
		cmocka_unit_test(reads),
		cmocka_unit_test(reads_what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
