#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policy/covers.h"
#include "policy/keys.h"
#include "policy/rule.h"
#include "policy/settle.h"

static size_t
count_words(const struct key *k)
{
	size_t n = 0;

	while (k->words != NULL && k->words[n] != NULL)
		n++;
	return n;
}

/* A row that says nothing about layers would be forgotten by a ceiling. */
static void
test_rows_are_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < policy_nkeys; i++) {
		const struct key *k = &policy_keys[i];

		if (k->way == WAY_UNSAID || k->settle == NULL)
			fail_msg("%s: .way or .settle is missing", k->name);
		if (k->way == WAY_NEITHER && k->settle != settle_first)
			fail_msg("%s: settles a key that says how", k->name);
		if (k->help == NULL || k->example == NULL)
			fail_msg("%s: .help or .example is missing", k->name);
		if ((k->type == KEY_ENUM) != (count_words(k) > 0))
			fail_msg("%s: words are an enum's", k->name);
	}
}

static void
test_lost_words_exist(void **state)
{
	(void)state;
	for (size_t i = 0; i < policy_nkeys; i++) {
		const struct key *k = &policy_keys[i];
		const enum key_lost lost[] = { k->direct, k->nested,
		    k->built };

		for (size_t n = 0; n < 3; n++) {
			if (lost[n] >= LOST_WORD && (k->type != KEY_ENUM ||
			    lost[n] - LOST_WORD >= count_words(k)))
				fail_msg("%s: no such word", k->name);
			if (lost[n] == LOST_NARROW && k->covers !=
			    covers_domain)
				fail_msg("%s: not a list of hosts", k->name);
			if (lost[n] == LOST_URL && k->type != KEY_STRING)
				fail_msg("%s: not a text", k->name);
		}
	}
}

static void
test_kinds_fit(void **state)
{
	(void)state;
	for (size_t i = 0; i < policy_nkeys; i++) {
		const struct key *k = &policy_keys[i];

		if ((k->covers != NULL || k->is_mounted) &&
		    k->type != KEY_STRLIST)
			fail_msg("%s: not a list", k->name);
		/* keys_same() compares these alone. */
		if (k->live == LIVE_FIXED && k->type != KEY_STRING &&
		    k->type != KEY_ENUM)
			fail_msg("%s: cannot be compared", k->name);
		if (k->type == KEY_TRISTATE)
			assert_non_null(k->fallback);
	}
}

/* Of a choice with ranks, each word has one of its own. */
static void
test_ranks(void **state)
{
	(void)state;
	for (size_t i = 0; i < policy_nkeys; i++) {
		const struct key *k = &policy_keys[i];
		size_t n = count_words(k);
		uint64_t seen = 0;

		for (size_t w = 0; w < n; w++)
			seen |= 1ull << keys_rank(k, (int)w);
		if (seen != (1ull << n) - 1)
			fail_msg("%s: .rank", k->name);
	}
}

static void
test_lookup(void **state)
{
	(void)state;
	assert_string_equal(keys_name(KEY_OF(net.sni)), "network.sni");
	assert_null(keys_at(SIZE_MAX));
	assert_string_equal(keys_name(SIZE_MAX), "");
	assert_true(keys_is_limit(keys_at(KEY_OF(limits.files))));
	assert_false(keys_is_limit(keys_at(KEY_OF(net.http_proxy_port))));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_whole),
		cmocka_unit_test(test_lost_words_exist),
		cmocka_unit_test(test_kinds_fit),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_lookup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
