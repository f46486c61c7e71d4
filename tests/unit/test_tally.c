/* tally: many refusals in, one closing line out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>

#include "launcher/record/tally.h"
#include "tests/unit/verdict_words.h"

enum deed { END, WRITE, READ, EXEC, NAME, CONNECT, FINE };

#define AW	"filesystem.allowWrite"
#define AD	"network.allowedDomains"

#define SAW(deed, object)		{ deed, object, NULL, NULL, 1 }
/* And the line that would allow it: an entry of that name. */
#define ADD(deed, key, object, times)	{ deed, object, key, object, times }

static const struct {
	const char	*name;
	struct {
		enum deed	 deed;
		const char	*object;
		const char	*key;		/* of the remedy, or NULL */
		const char	*value;
		unsigned	 times;
	}		 e[6];
	const char	*want;
} cases[] = {
	{ "nothing", { { .deed = END } }, "" },
	{ "nothing refused", { SAW(FINE, "a.test") }, "" },
	{ "one", { ADD(WRITE, AW, "/home/u/.cache/x", 1) },
	    "fence: 1 refusal (1 write to ~/.cache/x: -w ~/.cache/x); more: "
	    "run again with -m" },
	{ "the same again", { ADD(WRITE, AW, "/ws/a", 3) },
	    "fence: 3 refusals (3 writes to /ws/a: -w /ws/a); all of them: "
	    "run again with -m" },
	{ "below one folder: the line is widened",
	    { ADD(WRITE, AW, "/home/u/.cache/x/1", 1),
	      ADD(WRITE, AW, "/home/u/.cache/y", 1) },
	    "fence: 2 refusals (2 writes below ~/.cache: -w ~/.cache); all of "
	    "them: run again with -m" },
	{ "reads are not widened",
	    { ADD(READ, "filesystem.allowRead", "/home/u/.ssh/a", 1),
	      ADD(READ, "filesystem.allowRead", "/home/u/.ssh/b", 1) },
	    "fence: 2 refusals (2 reads below ~/.ssh); all of them: run again "
	    "with -m" },
	{ "the largest first, and its line alone",
	    { ADD(NAME, AD, "one.test", 1),
	      ADD(NAME, AD, "two.test", 2) },
	    "fence: 3 refusals (2 requests for two.test: -a two.test, "
	    "1 name one.test); all of them: run again with -m" },
	{ "three groups are shown",
	    { SAW(NAME, "a.test"), SAW(NAME, "b.test"), SAW(NAME, "c.test"),
	      { NAME, "d.test", NULL, NULL, 2 }, SAW(CONNECT, "e.test") },
	    "fence: 6 refusals (2 requests for d.test, 1 name a.test, "
	    "1 name b.test, 2 more); all of them: run again with -m" },
	{ "an odd name is no word for a shell",
	    { ADD(WRITE, AW, "/ws/a b", 1) },
	    "fence: 1 refusal (1 write to /ws/a b: " AW " += \"/ws/a b\"); "
	    "more: run again with -m" },
	{ "bytes of the jail's are escaped",
	    { SAW(EXEC, "/ws/\033[31mx") },
	    "fence: 1 refusal (1 execution of /ws/\\x1b[31mx); more: run again "
	    "with -m" },
	{ "a folder with a wildcard is not named in a line",
	    { ADD(WRITE, AW, "/ws/*/1", 1),
	      ADD(WRITE, AW, "/ws/*/2", 1) },
	    "fence: 2 refusals (2 writes below /ws/*); all of them: run again "
	    "with -m" },
};

static void
add(struct tally *t, enum deed deed, const char *object, const char *key,
    const char *value)
{
	struct event e = { .count = 1, .verdict.action = deed == FINE ?
	    ACTION_ALLOW : ACTION_DENY };

	switch (deed) {
	case WRITE:
	case READ:
		e.kind = EVENT_OPEN;
		e.open_flags = deed == WRITE ? O_WRONLY : O_RDONLY;
		e.path = object;
		break;
	case EXEC:
		e.kind = EVENT_EXEC;
		e.path = object;
		break;
	default:
		e.kind = deed == CONNECT ? EVENT_CONNECT : EVENT_DNS;
		e.host = object;
	}
	if (key != NULL)
		remedy_from(&e.verdict.remedy, REMEDY_ADD, key, value);
	e.verdict.remedy.has_flag = key != NULL;
	tally_add(t, &e);
}

static void
test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct tally *t = tally_new("/home/u", "/ws");
		struct buf b;

		for (size_t k = 0; k < 6 && cases[i].e[k].deed != END; k++)
			for (unsigned n = 0; n < cases[i].e[k].times; n++)
				add(t, cases[i].e[k].deed,
				    cases[i].e[k].object, cases[i].e[k].key,
				    cases[i].e[k].value);
		buf_init(&b, 0);
		tally_text(t, false, &b);
		if (strcmp(b.data, cases[i].want) != 0)
			fail_msg("%s: %s", cases[i].name, b.data);
		buf_release(&b);
		tally_free(t);
	}
}

/* Calls are told by name, habits not at all, and what was lost is said. */
static void
test_kinds(void **state)
{
	struct tally *t = tally_new("/home/u", "/ws");
	struct event habit = { .kind = EVENT_OPEN, .count = 1,
	    .path = "/proc/self/coredump_filter", .open_flags = O_WRONLY,
	    .verdict.action = ACTION_DENY };
	struct event call = { .kind = EVENT_CALL, .count = 1, .call = "mount",
	    .verdict.action = ACTION_DENY };
	struct event made = { .kind = EVENT_OPEN, .count = 1, .op = OP_MAKE,
	    .path = "/ws/d", .verdict.action = ACTION_DENY };
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	tally_add(t, &habit);
	habit.path = "/proc/4711/oom_score_adj";
	tally_add(t, &habit);
	tally_text(t, false, &b);
	assert_string_equal(b.data, "");
	habit.path = "/proc/sys/kernel/hostname";
	tally_add(t, &habit);
	tally_add(t, &call);
	tally_add(t, &call);
	tally_add(t, &made);
	tally_dropped(t, 0, true);
	tally_text(t, false, &b);
	assert_string_equal(b.data, "fence: at least 4 refusals (2 calls of "
	    "mount, 1 write to /proc/sys/kernel/hostname, 1 write to /ws/d); "
	    "all of them: run again with -m");
	buf_release(&b);
	tally_free(t);
}

/* What finds no group any more is counted all the same. */
static void
test_many(void **state)
{
	struct tally *t = tally_new(NULL, NULL);
	char host[32];
	struct buf b;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(host, sizeof host, "h%d.test", i);
		add(t, NAME, host, NULL, NULL);
	}
	buf_init(&b, 0);
	tally_text(t, false, &b);
	assert_string_equal(b.data, "fence: 1000 refusals (1 name h0.test, "
	    "1 name h1.test, 1 name h2.test, 997 more); all of them: run "
	    "again with -m");
	buf_release(&b);
	tally_free(t);
	tally_free(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_kinds), cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
