/* startup: what -d tells of a plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>

#include "launcher/log.h"
#include "launcher/run/startup.h"
#include "platform/base/buf.h"
#include "platform/fd.h"
#include "tests/unit/room.h"

static const struct {
	const char	*policy;	/* of "network" */
	bool		 shares_net;
	const char	*want;
} networks[] = {
	{ "", false, "[fence] network: closed\n" },
	{ "\"allowedDomains\":[\"a.test\",\"10.0.0.0/8\"],"
	    "\"deniedDomains\":[\"b.test\"]", false,
	    "[fence] network: 2 allowed, 1 denied, 1 address ranges\n" },
	{ "\"mode\":\"direct\"", true,
	    "[fence] network: the host's, unfiltered\n" },
};

static struct policy *
parse(const char *network)
{
	const struct policy_env env = { .workspace = "/ws", .home = "/h" };
	struct policy *p = NULL;
	struct err e = { 0 };
	char text[256];

	snprintf(text, sizeof text, "{\"network\":{%s}}", network);
	if (policy_parse(text, strlen(text), "p.json", &env, &p, &e) != 0)
		fail_msg("%s", e.msg);
	return p;
}

/* All lines but that of the kernel's features. */
static void
assert_logged(size_t i)
{
	static const char head[] = "[fence] command: make all\\x0a\n"
	    "[fence] program: /usr/bin/make\n[fence] policy: p.json\n"
	    "[fence] workspace: /ws\n[fence] features: kernel ";
	static const char jail[] = ", 6 mounts, 1 writable, 3 guarded "
	    "names, strict\n";
	auto_fd fd = open(log_path(), O_RDONLY | O_CLOEXEC);
	const char *at;
	struct buf b;

	buf_init(&b, 0);
	assert_int_equal(buf_read(&b, fd), 0);
	assert_int_equal(strncmp(b.data, head, strlen(head)), 0);
	at = strstr(b.data, networks[i].shares_net ?
	    "\n[fence] jail: native(pid,fs)" :
	    "\n[fence] jail: native(network,pid,fs)");
	assert_non_null(at);
	assert_non_null(strstr(at, jail));
	if (strstr(b.data, networks[i].want) == NULL)
		fail_msg("row %zu: %s", i, b.data);
	/* Names alone. */
	assert_non_null(strstr(b.data, "[fence] not passed on: "
	    "AWS_SECRET, BAD\\x0aNAME\n"));
	assert_null(strstr(b.data, "hunter2"));
	buf_release(&b);
}

static void
test_tell(void **state)
{
	static char *argv[] = { (char *)"make", (char *)"all\n", NULL },
	    *envp[] = { (char *)"PATH=/bin", NULL },
	    *host[] = { (char *)"AWS_SECRET=hunter2", (char *)"PATH=/x",
	    (char *)"BAD\nNAME=hunter2", NULL };
	struct room *r = *state;
	struct err e = { 0 };

	for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
		struct policy *p = parse(networks[i].policy);
		struct plan plan = { .policy = p, .nguards = 3,
		    .resolved.workspace = "/ws", .spec = { .argv = argv,
		    .envp = envp, .program = "/usr/bin/make", .nmounts = 6,
		    .nwrite_roots = 1, .is_strict = true, .nranges = 1,
		    .shares_net = networks[i].shares_net } };
		char name[16];

		snprintf(name, sizeof name, "log%zu", i);
		room_put(r, name, "");
		assert_int_equal(log_open(NULL, room_path(r, name), &e), 0);
		startup_tell(&plan, host);
		assert_logged(i);
		policy_free(p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tell, room_enter,
		    room_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
