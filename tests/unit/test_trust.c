#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/base/arena.h"
#include "policy/trust.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

struct room {
	char	dir[64];
	char	store[128];
};

static int
enter(void **state)
{
	struct room *r = calloc(1, sizeof *r);

	assert_non_null(r);
	strcpy(r->dir, "/var/tmp/fence-trust-XXXXXX");
	if (mkdtemp(r->dir) == NULL)
		return -1;
	snprintf(r->store, sizeof r->store, "%s/s/fence/trust", r->dir);
	*state = r;
	return 0;
}

static int
leave(void **state)
{
	struct room *r = *state;
	char path[256];

	unlink(r->store);
	snprintf(path, sizeof path, "%s/s/fence", r->dir);
	rmdir(path);
	snprintf(path, sizeof path, "%s/s", r->dir);
	rmdir(path);
	rmdir(r->dir);
	free(r);
	return 0;
}

static void
test_place(void **state)
{
	char *set[] = { (char *)"XDG_STATE_HOME=/x", NULL };
	char *relative[] = { (char *)"XDG_STATE_HOME=x", NULL };
	struct arena *a = arena_new();

	(void)state;
	assert_string_equal(trust_store(a, "/h", set), "/x/fence/trust");
	assert_string_equal(trust_store(a, "/h", relative),
	    "/h/.local/state/fence/trust");
	assert_string_equal(trust_store(a, "/h", NULL),
	    "/h/.local/state/fence/trust");
	assert_null(trust_store(a, NULL, relative));
	arena_free(a);
}

static void
test_round(void **state)
{
	struct room *r = *state;
	struct err e = { 0 };
	struct stat st;
	bool was = true;

	assert_false(trust_knows(r->store, "/p/fence.json", A));
	assert_false(trust_knows(NULL, "/p/fence.json", A));
	assert_int_equal(trust_remove(r->store, "/p", &was, &e), 0);
	assert_false(was);
	assert_int_equal(trust_add(r->store, "/p/fence.json", A, &e), 0);
	assert_int_equal(trust_add(r->store, "/q/fence.json", B, &e), 0);
	assert_true(trust_knows(r->store, "/p/fence.json", A));
	assert_true(trust_knows(r->store, "/q/fence.json", B));
	/* Neither another's digest, nor a longer or shorter path. */
	assert_false(trust_knows(r->store, "/p/fence.json", B));
	assert_false(trust_knows(r->store, "/p/fence.jsonc", A));
	assert_false(trust_knows(r->store, "/p/fence.jso", A));
	assert_false(trust_knows(r->store, "/p/fence.json", ""));
	assert_int_equal(stat(r->store, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* A new digest takes the place of the old. */
	assert_int_equal(trust_add(r->store, "/p/fence.json", B, &e), 0);
	assert_false(trust_knows(r->store, "/p/fence.json", A));
	assert_true(trust_knows(r->store, "/p/fence.json", B));
	assert_int_equal(trust_remove(r->store, "/p/fence.json", &was, &e),
	    0);
	assert_true(was);
	assert_false(trust_knows(r->store, "/p/fence.json", B));
	assert_true(trust_knows(r->store, "/q/fence.json", B));
	assert_int_equal(trust_add(r->store, "/p\n" A " /q", A, &e), -1);
	assert_int_equal(e.code, ERR_POLICY);
	assert_int_equal(trust_add(NULL, "/p", A, &e), -1);
}

/* What others could have written, or half a line, is worth nothing. */
static void
test_doubtful(void **state)
{
	struct room *r = *state;
	struct err e = { 0 };
	int fd;

	assert_int_equal(trust_add(r->store, "/p", A, &e), 0);
	assert_int_equal(chmod(r->store, 0620), 0);
	assert_false(trust_knows(r->store, "/p", A));
	assert_int_equal(trust_add(r->store, "/q", A, &e), -1);
	assert_int_equal(chmod(r->store, 0600), 0);
	assert_true(trust_knows(r->store, "/p", A));
	fd = open(r->store, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(dprintf(fd, "%s /cut", A), 69);
	close(fd);
	assert_false(trust_knows(r->store, "/cut", A));
}

static void
test_many_at_once(void **state)
{
	struct room *r = *state;
	struct err e = { 0 };
	char path[32];

	assert_int_equal(trust_add(r->store, "/first", A, &e), 0);
	for (int i = 0; i < 8; i++)
		if (fork() == 0) {
			snprintf(path, sizeof path, "/p%d", i);
			_exit(trust_add(r->store, path, A, &e) != 0);
		}
	for (int i = 0, status; i < 8; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	for (int i = 0; i < 8; i++) {
		snprintf(path, sizeof path, "/p%d", i);
		assert_true(trust_knows(r->store, path, A));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_place),
		cmocka_unit_test_setup_teardown(test_round, enter, leave),
		cmocka_unit_test_setup_teardown(test_doubtful, enter, leave),
		cmocka_unit_test_setup_teardown(test_many_at_once, enter,
		    leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
