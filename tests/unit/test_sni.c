#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "launcher/gate/sni.h"
#include "tests/unit/verdict_words.h"

/* Only a list, and one that allows all but what is denied. */
static const char *const policies[] = {
	"{ \"network\": { \"allowedDomains\": [\"a.test\", \"*.wild.test\", "
	    "\"b.test:443\", \"192.0.2.1\"] } }",
	"{ \"network\": { \"allowedDomains\": [\"*\"], "
	    "\"deniedDomains\": [\"bad.test\"] } }",
};

static const struct {
	int		 policy;
	const char	*host;		/* that was dialled */
	const char	*sni;
	uint16_t	 port;
	const char	*rule;		/* NULL: it may */
} t[] = {
	{ 0, "a.test", "a.test", 443, NULL },
	{ 0, "a.test", "A.Test.", 443, NULL },
	{ 0, "a.test", "x.wild.test", 443, NULL },
	{ 0, "a.test", "wild.test", 443, "network.allowedDomains" },
	{ 0, "a.test", "b.test", 443, NULL },
	{ 0, "a.test", "b.test", 8443, "network.allowedDomains" },
	{ 0, "a.test", "evil.test", 443, "network.allowedDomains" },
	{ 0, "a.test", "192.0.2.1", 443, NULL },
	{ 0, "a.test", "192.0.2.2", 443, "network.allowedDomains" },
	{ 0, "a.test", "a..test", 443, "network.sni" },
	{ 0, "a.test", "", 443, "network.sni" },
	{ 0, "192.0.2.1", "evil.test", 443, NULL },
	{ 0, "192.0.2.1", "a..test", 443, NULL },
	{ 0, "192.0.2.1", "", 443, NULL },
	{ 1, "a.test", "evil.test", 443, NULL },
	{ 1, "a.test", "bad.test", 443, "network.deniedDomains[0]" },
	{ 1, "192.0.2.1", "evil.test", 443, NULL },
	{ 1, "192.0.2.1", "bad.test", 443, "network.deniedDomains[0]" },
	{ 1, "2001:db8::1", "BAD.test.", 443, "network.deniedDomains[0]" },
	{ 1, "192.0.2.1", "bad.test..", 443, "network.sni" },
	{ 1, "192.0.2.1", "", 443, "network.sni" },
};

static void
test_sni(void **state)
{
	const struct policy_env env = { .workspace = "/ws", .home = "/h" };
	struct policy *p[2];
	struct err e;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(policy_parse(policies[i], strlen(policies[i]),
		    "p.json", &env, &p[i], &e), 0);
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct ask_msg m = { .kind = ASK_SNI, .port = t[i].port,
		    .name_len = (uint16_t)strlen(t[i].sni) };
		struct host h = { .text = "" };
		struct verdict v;
		bool is_denied;

		strcpy(m.name, t[i].sni);
		strcpy(m.granted, t[i].host);
		is_denied = sni_is_denied(p[t[i].policy], &m, &h, &v);
		if (is_denied != (t[i].rule != NULL))
			fail_msg("row %zu: %d", i, is_denied);
		if (is_denied)
			assert_string_equal(rule_words(&v), t[i].rule);
	}
	policy_free(p[0]);
	policy_free(p[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sni),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
