/* bwrap: jail_spec -> arguments, compared with tests/golden/bwrap.args. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/linux/bwrap.h"

static const struct jail_mount mounts[] = {
	{ .kind = MOUNT_RO, .path = "/" },
	{ .kind = MOUNT_DEV, .path = "/dev" },
	{ .kind = MOUNT_PROC, .path = "/proc" },
	{ .kind = MOUNT_RW, .path = "/home/u/a b" },
};

static void
test_golden(void **state)
{
	struct jail_spec spec = { .mounts = mounts,
	    .nmounts = sizeof mounts / sizeof mounts[0], .uid = 1001,
	    .gid = 1002 };
	const char *dir = getenv("srcdir");
	char path[4096], want[4096];
	struct buf b;
	FILE *fp;
	size_t n;

	(void)state;
	buf_init(&b, 0);
	bwrap_args(&spec, &b);
	for (size_t i = 0; i < b.len; i++)
		if (b.data[i] == '\0')
			b.data[i] = '\n';
	snprintf(path, sizeof path, "%s/tests/golden/bwrap.args",
	    dir != NULL ? dir : ".");
	fp = fopen(path, "re");
	assert_non_null(fp);
	n = fread(want, 1, sizeof want - 1, fp);
	want[n] = '\0';
	fclose(fp);
	assert_string_equal(b.data, want);
	buf_release(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_golden) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
