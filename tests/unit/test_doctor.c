/* doctor: what it prints of what was found, and how it runs a program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "launcher/doctor/doctor.h"
#include "launcher/doctor/doctor_run.h"
#include "platform/base/json.h"

#define TRY_ROW(id, fn, what)	{ id, what, { TRY_HELD, EACCES, "" } },

/* Everything is well, but for what a test changes. */
static struct doctor
well(void)
{
	struct doctor d = { .engine = "native", .is_started = true,
	    .tries = { TRY_ROWS(TRY_ROW) } };

	d.machine.parts[0] = (struct machine_part){ .id = "kernel",
	    .purpose = "all of it", .needs = "Linux 5.10", .is_needed = true,
	    .status = MACHINE_STRICT, .detail = "6.1" };
	d.machine.parts[1] = (struct machine_part){ .id = "cgroup",
	    .purpose = "limits.memory", .needs = "cgroup v2",
	    .status = MACHINE_ABSENT, .detail = "none\033[31m",
	    .cure = "mount it" };
	d.machine.nparts = 2;
	return d;
}

static void
set_nothing(struct doctor *d)
{
	(void)d;
}

static void
set_hole(struct doctor *d)
{
	d->tries[3].answer = (struct try_answer){ TRY_HOLE, 0, "it worked" };
}

static void
set_broken(struct doctor *d)
{
	d->tries[0].answer = (struct try_answer){ TRY_BROKEN, EROFS, "x" };
}

static void
set_untried(struct doctor *d)
{
	d->tries[5].answer = (struct try_answer){ TRY_UNTRIED, 0, "no IPv6" };
}

static void
set_lacking(struct doctor *d)
{
	d->machine.parts[0].status = MACHINE_DEGRADED;
}

static void
set_no_jail(struct doctor *d)
{
	d->is_started = false;
	d->jail_error = "no user namespaces\nhere";
}

static void
set_stand_in(struct doctor *d)
{
	d->stand_in = "/x/stand-in";
}

static const struct {
	void		(*set)(struct doctor *);
	bool		 is_enforced;
	const char	*words;		/* in the text */
} cases[] = {
	{ set_nothing, true, "\nThe default policy is fully enforced here.\n" },
	{ set_hole, false, "NOT fully enforced here: 0 items short, 1 hole, 0 "
	    "broken.\n" },
	{ set_broken, false, "0 items short, 0 holes, 1 broken.\n" },
	{ set_broken, false, "EROFS: x\n" },
	{ set_untried, true, "untried" },
	{ set_lacking, false, "1 item short, 0 holes, 0 broken.\n" },
	{ set_no_jail, false, "  the jail: no user namespaces\\x0ahere\n" },
	{ set_stand_in, true, " (a stand-in, /x/stand-in: there is nothing in "
	    "~/.ssh)\n" },
	/* What is not needed costs nothing, and says so. */
	{ set_nothing, true, "(the default policy does not need it)\n" },
	{ set_nothing, true, "none\\x1b[31m\n" },
	{ set_nothing, true, "cure:  mount it\n" },
};

static void
check_clean(const struct buf *b)
{
	assert_true(b->len > 0 && b->data[b->len - 1] == '\n');
	for (size_t i = 0; i < b->len; i++)
		assert_true(b->data[i] == '\n' ||
		    (unsigned char)b->data[i] >= ' ');
}

static void
check_json(const struct buf *b, bool is_enforced)
{
	check_clean(b);
	assert_int_equal(strstr(b->data, "\"enforced\":true") != NULL,
	    is_enforced);
	assert_non_null(strstr(b->data, "\"id\":\"read-ssh\""));
}

static void
test_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct doctor d = well();
		struct buf b;

		cases[i].set(&d);
		assert_int_equal(doctor_is_enforced(&d),
		    cases[i].is_enforced);
		buf_init(&b, 0);
		doctor_text(&d, &b);
		check_clean(&b);
		if (strstr(b.data, cases[i].words) == NULL)
			fail_msg("row %zu: %s", i, b.data);
		buf_clear(&b);
		doctor_json(&d, &b);
		check_json(&b, cases[i].is_enforced);
		buf_clear(&b);
		doctor_features(&d, &b);
		check_clean(&b);
		assert_non_null(strstr(b.data, "Control groups v2"));
		buf_release(&b);
	}
}

static void
test_counts(void **state)
{
	struct doctor d = well();

	(void)state;
	assert_int_equal(doctor_count(&d, TRY_HELD), TRY_NROWS);
	set_hole(&d);
	set_untried(&d);
	assert_int_equal(doctor_count(&d, TRY_HELD), TRY_NROWS - 2);
	assert_int_equal(doctor_count(&d, TRY_HOLE), 1);
	assert_string_equal(doctor_part(&d, "kernel")->detail, "6.1");
	assert_null(doctor_part(&d, "none"));
	assert_string_equal(doctor_status_word(MACHINE_DEGRADED), "degraded");
	assert_string_equal(doctor_result_word(TRY_UNTRIED), "untried");
}

/* ---- a program ---- */

static void
test_run(void **state)
{
	static const struct {
		const char	*script, *out, *err;
		int		 status;
		bool		 is_late;
	} t[] = {
		{ "echo a; echo b >&2; exit 3", "a\n", "b\n", 3, false },
		{ "kill -9 $$", "", "", 128 + 9, false },
		{ "cat; pwd", "/\n", "", 0, false },
		{ "echo $A", "env\n", "", 0, false },
		/* Above the ceiling it is thrown away. */
		{ "i=0; while [ $i -lt 200 ]; do echo 0123456789; "
		    "i=$((i+1)); done; exit 1", NULL, "", 1, false },
		{ "exec sleep 1000", "", "", 128 + 9, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		char *argv[] = { (char *)"sh", (char *)"-c",
		    (char *)t[i].script, NULL };
		char *env[] = { (char *)"A=env",
		    (char *)"PATH=/usr/bin:/bin", NULL };
		struct doctor_run r = { .path = "/bin/sh", .argv = argv,
		    .env = env, .cwd = "/",
		    .limit_ms = t[i].is_late ? 50 : 600 * 1000 };

		buf_init(&r.out, 100);
		buf_init(&r.err, 100);
		assert_int_equal(doctor_run(&r), 0);
		if (r.status != t[i].status || r.is_late != t[i].is_late ||
		    (t[i].out != NULL && strcmp(r.out.data, t[i].out) != 0) ||
		    strcmp(r.err.data, t[i].err) != 0)
			fail_msg("row %zu: %d \"%s\" \"%s\"", i, r.status,
			    r.out.data, r.err.data);
		buf_release(&r.out);
		buf_release(&r.err);
	}
}

static void
test_run_missing(void **state)
{
	char *argv[] = { (char *)"x", NULL }, *env[] = { NULL };
	struct doctor_run r = { .path = "/nowhere/x", .argv = argv,
	    .env = env, .limit_ms = 600 * 1000 };

	(void)state;
	buf_init(&r.out, 100);
	buf_init(&r.err, 100);
	assert_int_equal(doctor_run(&r), 0);
	assert_int_equal(r.status, 127);
	buf_release(&r.out);
	buf_release(&r.err);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_run_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
