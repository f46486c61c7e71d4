/* fold: repeats become one record with a count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "launcher/record/fold.h"

struct seen {
	unsigned	records, count;
	char		path[64];
};

static void
see(struct event *e, void *arg)
{
	struct seen *s = arg;

	s->records++;
	s->count += e->count;
	assert_true(e->start_ms > 0 && e->end_ms >= e->start_ms);
	(void)snprintf(s->path, sizeof s->path, "%s", e->path);
}

static void
note(struct fold *f, pid_t pid, const char *key, int64_t ms)
{
	char path[64];
	struct event e = { .kind = EVENT_OPEN, .count = 1, .path = path };

	(void)snprintf(path, sizeof path, "/%s", key);
	fold_note(f, pid, key, strlen(key), &e, ms);
}

static bool
again(struct fold *f, pid_t pid, const char *key, int64_t ms)
{
	return fold_repeat(f, pid, key, strlen(key), ms) != NULL;
}

static void
test_repeats(void **state)
{
	struct seen s = { 0 };
	struct fold *f = fold_new(see, &s);

	(void)state;
	assert_false(again(f, 1, "a", 0));
	note(f, 1, "a", 0);
	for (int i = 0; i < 1000; i++)
		assert_true(again(f, 1, "a", i));
	/* Of another process, or another thing. */
	assert_false(again(f, 2, "a", 10));
	assert_false(again(f, 1, "b", 10));
	assert_false(again(f, 1, "", 10));
	fold_flush(f, false, FOLD_MS - 1);
	assert_int_equal(s.records, 0);
	fold_flush(f, false, FOLD_MS);
	assert_int_equal(s.records, 1);
	assert_int_equal(s.count, 1000);
	assert_string_equal(s.path, "/a");
	assert_false(again(f, 1, "a", FOLD_MS));
	/* Nothing was repeated: nothing is written. */
	note(f, 1, "a", FOLD_MS);
	fold_flush(f, true, 0);
	assert_int_equal(s.records, 1);
	fold_free(f);
	fold_free(NULL);
}

/* Who is put out of its place is written first: no repeat is lost. */
static void
test_full(void **state)
{
	struct seen s = { 0 };
	struct fold *f = fold_new(see, &s);
	char key[16];

	(void)state;
	for (int i = 0; i < 10 * FOLD_MAX; i++) {
		(void)snprintf(key, sizeof key, "%d", i);
		note(f, 1, key, i);
		assert_true(again(f, 1, key, i));
		assert_true(again(f, 1, key, i));
	}
	fold_flush(f, true, 0);
	assert_int_equal(s.records, 10 * FOLD_MAX);
	assert_int_equal(s.count, 20 * FOLD_MAX);
	fold_free(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
