/* What the kernel says of cgroups, in the layouts of real systems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "platform/linux/cgroup_text.h"

#define SCOPE	"/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope"
#define V2	"0::" SCOPE
#define HYBRID	"9:name=systemd:/\n8:pids:/\n5:cpu,cpuacct:/a:b\n" \
		"4:memory:/box/1\n0::/u\n"

static void
test_own(void **state)
{
	static const struct {
		const char	*text, *controller, *want;
	} rows[] = {
		{ V2 "\n", NULL, SCOPE },
		{ V2, NULL, SCOPE },
		{ V2, "memory", NULL },
		{ HYBRID, NULL, "/u" },
		{ HYBRID, "memory", "/box/1" },
		{ HYBRID, "pids", "/" },
		{ HYBRID, "cpuacct", "/a:b" },
		{ HYBRID, "cpu", "/a:b" },
		{ HYBRID, "mem", NULL },
		{ HYBRID, "systemd", NULL },
		{ "", NULL, NULL },
		{ "0:", NULL, NULL },
		{ "0::", NULL, NULL },
		{ "0::relative\n", NULL, NULL },
		{ "nonsense\n0::/x", NULL, "/x" },
	};
	char got[CGROUP_TEXT_PATH];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int rc = cgroup_own(rows[i].text, rows[i].controller, got);

		assert_int_equal(rc, rows[i].want != NULL ? 0 : -1);
		if (rows[i].want != NULL)
			assert_string_equal(got, rows[i].want);
	}
}

#define M2	"30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 " \
		"cgroup2 rw,nsdelegate\n"
#define M1	"31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup " \
		"rw,memory\n" \
		"32 23 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup " \
		"rw,cpu,cpuacct\n" \
		"33 23 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
/* A container's: a part of the host's hierarchy. */
#define M3	"40 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 c rw\n"

static void
test_folder(void **state)
{
	static const struct {
		const char	*text, *controller, *own, *want;
	} rows[] = {
		{ M2, NULL, "/a/b", "/sys/fs/cgroup/a/b" },
		{ M2, NULL, "/", "/sys/fs/cgroup" },
		{ M2, "memory", "/a", NULL },
		{ M1, "memory", "/a", "/sys/fs/cgroup/memory/a" },
		{ M1, "cpuacct", "/", "/sys/fs/cgroup/cpu" },
		{ M1, "pids", "/", NULL },
		{ M1, NULL, "/", "/sys/fs/cgroup/unified" },
		{ M3, NULL, "/docker/abc", "/sys/fs/cgroup" },
		{ M3, NULL, "/docker/abc/x", "/sys/fs/cgroup/x" },
		{ M3, NULL, "/docker/abcd", NULL },
		{ M3, NULL, "/", NULL },
		/* outside of our cgroup namespace */
		{ M2, NULL, "/../other", NULL },
		{ "", NULL, "/", NULL },
		{ "30 23 0:26 / /sys - \n", NULL, "/", NULL },
		{ "30 23 0:26 / /a\\040b rw - cgroup2 c rw\n", NULL, "/",
		  NULL },
	};
	char got[CGROUP_TEXT_PATH];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int rc = cgroup_folder(rows[i].text, rows[i].controller,
		    rows[i].own, got);

		assert_int_equal(rc, rows[i].want != NULL ? 0 : -1);
		if (rows[i].want != NULL)
			assert_string_equal(got, rows[i].want);
	}
}

static void
test_words(void **state)
{
	(void)state;
	assert_true(cgroup_has_word("cpu memory pids\n", "memory"));
	assert_true(cgroup_has_word("cpu memory pids\n", "pids"));
	assert_true(cgroup_has_word("memory", "memory"));
	assert_false(cgroup_has_word("cpu memory\n", "mem"));
	assert_false(cgroup_has_word("cpumemory\n", "memory"));
	assert_false(cgroup_has_word("", "memory"));
	assert_int_equal(cgroup_count("low 0\noom 5\noom_kill 3\n",
	    "oom_kill"), 3);
	assert_int_equal(cgroup_count("oom_kill_disable 7\nunder_oom 0\n"
	    "oom_kill 2", "oom_kill"), 2);
	assert_int_equal(cgroup_count("max 18446744073709551615\n", "max"),
	    UINT64_MAX);
	assert_int_equal(cgroup_count("max\n", "max"), 0);
	assert_int_equal(cgroup_count("", "max"), 0);
	assert_int_equal(cgroup_count("\n\n", "max"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_folder),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
