/* Lines of /proc/net/unix, and the sockets of this very test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/linux/unixlist.h"

#define HEAD "Num       RefCount Protocol Flags    Type St Inode Path\n"
#define LINE "0000000000000000: 00000002 00000000 00010000 0001 01 23456"
#define LINE2 "ffff8881042f6800: 00000003 00000000 00000000 0002 03   123"

static void
join(const char *path, void *arg)
{
	char *text = arg;
	size_t n = strlen(text);

	snprintf(text + n, 256 - n, "<%s>", path);
}

static void
test_lines(void **state)
{
	static const struct {
		const char	*text, *found;
	} rows[] = {
		{ "", "" },
		{ HEAD, "" },
		{ HEAD LINE " /run/a\n", "</run/a>" },
		{ HEAD LINE " /run/a\n" LINE2 " /b\n", "</run/a></b>" },
		{ HEAD LINE " /run/a\n" LINE " /run/a\n",
		  "</run/a></run/a>" },
		/* blanks belong to the path, wherever they are */
		{ HEAD LINE " /a b/ c  d\n", "</a b/ c  d>" },
		{ HEAD LINE " /a \n", "</a >" },
		{ HEAD LINE " /a\tb\xff\n", "</a\tb\xff>" },
		{ HEAD LINE "  /a\n", "< /a>" },
		/* no path, abstract, relative */
		{ HEAD LINE "\n" LINE2 " /b\n", "</b>" },
		{ HEAD LINE " \n" LINE2 " /b\n", "</b>" },
		{ HEAD LINE " @\n", "" },
		{ HEAD LINE " @/tmp/.X11-unix/X0\n", "" },
		{ HEAD LINE " sock\n" LINE " ./sock\n",
		  "<sock><./sock>" },
		/* cut at the end */
		{ HEAD LINE " /a\n" LINE " /bc", "</a>" },
		{ HEAD LINE " /a\n000000", "</a>" },
		/* a newline in a path: neither half is one */
		{ HEAD LINE " /a\nb\n" LINE " /c\n", "</c>" },
		{ HEAD LINE " /a\n/b\n", "" },
		{ HEAD LINE " /a\n\n" LINE " /c\n", "</c>" },
		/* columns that are none */
		{ LINE " /a\n", "</a>" },
		{ "0: 1 1 1 1 1 1 /a\n", "</a>" },
		{ "0 1 1 1 1 1 1 /a\n", "" },
		{ "0: 1 1 1 1 1 /a\n", "" },
		{ "0: 1 1 1 1 1 1/a\n", "" },
		{ "0: x 1 1 1 1 1 /a\n", "" },
		{ "0:1 1 1 1 1 1 /a\n", "" },
		{ ": 1 1 1 1 1 1 /a\n", "" },
		{ "0:\n", "" },
		{ "0\n", "" },
		{ "\n\n", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		size_t len = strlen(rows[i].text);
		char *text = malloc(len + 1), found[256] = "";

		/* At the end of its memory: no byte behind may be read. */
		memcpy(text + 1, rows[i].text, len);
		unixlist_parse(text + 1, len, join, found);
		assert_string_equal(found, rows[i].found);
		free(text);
	}
}

/* A NUL can come from no kernel; it makes no path shorter. */
static void
test_nul(void **state)
{
	char text[] = LINE " /a\0b\n" LINE " /c\n", found[256] = "";

	(void)state;
	unixlist_parse(text, sizeof text - 1, join, found);
	assert_string_equal(found, "</c>");
}

enum { NSOCKETS = 300 };

struct search {
	char		dir[32];
	unsigned	found[NSOCKETS];
};

static void
tick(const char *path, void *arg)
{
	struct search *s = arg;
	size_t n = strlen(s->dir);

	if (strncmp(path, s->dir, n) == 0)
		s->found[atoi(path + n + 1)]++;
}

static void
test_read(void **state)
{
	struct search s = { .dir = "/var/tmp/fence-unix-XXXXXX" };
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fds[NSOCKETS];

	(void)state;
	assert_non_null(mkdtemp(s.dir));
	for (int i = 0; i < NSOCKETS; i++) {
		fds[i] = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		snprintf(sa.sun_path, sizeof sa.sun_path, "%s/%d a b", s.dir,
		    i);
		assert_int_equal(bind(fds[i], (void *)&sa, sizeof sa), 0);
	}
	assert_int_equal(unixlist_read(tick, &s), 0);
	for (int i = 0; i < NSOCKETS; i++) {
		assert_true(s.found[i] > 0);
		snprintf(sa.sun_path, sizeof sa.sun_path, "%s/%d a b", s.dir,
		    i);
		assert_int_equal(unlink(sa.sun_path), 0);
		close(fds[i]);
	}
	assert_int_equal(rmdir(s.dir), 0);
	memset(s.found, 0, sizeof s.found);
	assert_int_equal(unixlist_read(tick, &s), 0);
	assert_int_equal(s.found[0], 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
