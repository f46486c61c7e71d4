/* ports: the text of --port, and ports that are wanted twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "launcher/plan/ports.h"
#include "policy/decide.h"
#include "policy/layers.h"
#include "tests/unit/verdict_words.h"

static const struct {
	const char	*spec;
	const char	*want;	/* "ADDR PORT INSIDE", or NULL */
	const char	*error;
} parse_cases[] = {
	{ "3000", "127.0.0.1 3000 3000", NULL },
	{ " 3000\t", "127.0.0.1 3000 3000", NULL },
	{ "1", "127.0.0.1 1 1", NULL },
	{ "65535", "127.0.0.1 65535 65535", NULL },
	{ "8080:80", "127.0.0.1 8080 80", NULL },
	{ "0.0.0.0:3000", "0.0.0.0 3000 3000", NULL },
	{ "127.0.0.2:3000:80", "127.0.0.2 3000 80", NULL },
	{ "[::1]:3000", "::1 3000 3000", NULL },
	{ "[::]:3000:80", ":: 3000 80", NULL },
	{ "[2001:DB8::1]:1:2", "2001:db8::1 1 2", NULL },
	{ "[::ffff:127.0.0.1]:3000", "127.0.0.1 3000 3000", NULL },
	{ "", NULL, "empty" },
	{ " ", NULL, "empty" },
	{ "abc", NULL, "a number" },
	{ "-1", NULL, "a number" },
	{ "+1", NULL, "a number" },
	{ "3000x", NULL, "a number" },
	{ "3000 80", NULL, "a number" },
	{ "0", NULL, "1 to 65535" },
	{ "65536", NULL, "1 to 65535" },
	{ "18446744073709551617", NULL, "1 to 65535" },
	{ "3000:0", NULL, "1 to 65535" },
	{ "3000:", NULL, "missing" },
	{ "3000:abc", NULL, "a number" },
	{ ":8080", NULL, "no address" },
	{ ":", NULL, "no address" },
	{ "localhost:8080", NULL, "IP literal" },
	{ "127.1:8080", NULL, "IP literal" },
	{ "1:2:3", NULL, "IP literal" },
	{ "127.0.0.1:", NULL, "missing" },
	{ "127.0.0.1", NULL, "no port" },
	{ "127.0.0.1:1:2:3", NULL, "brackets" },
	{ "::1:8080", NULL, "brackets" },
	{ "::1", NULL, "brackets" },
	{ "2001:db8::1:8080", NULL, "brackets" },
	{ "[::1]", NULL, "no port" },
	{ "[::1]8080", NULL, "no port" },
	{ "[::1]:", NULL, "missing" },
	{ "[::1", NULL, "no IPv6 address" },
	{ "[]:1", NULL, "no IPv6 address" },
	{ "[127.0.0.1]:1", NULL, "no IPv6 address" },
	{ "[fe80::1%lo]:1", NULL, "no IPv6 address" },
	{ "[::1]:1:2:3", NULL, "a number" },
};

static void
test_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof parse_cases / sizeof *parse_cases; i++) {
		struct port_in p;
		char got[128], addr[NET_TEXT_MAX];
		struct err e = { 0 };

		if (ports_parse(parse_cases[i].spec, &p, &e) != 0) {
			if (parse_cases[i].want != NULL ||
			    strstr(e.msg, parse_cases[i].error) == NULL ||
			    e.code != ERR_USAGE || e.hint[0] == '\0')
				fail_msg("'%s': %s", parse_cases[i].spec,
				    e.msg);
			continue;
		}
		net_text(&p.at, addr);
		snprintf(got, sizeof got, "%s %u %u", addr, p.at.port,
		    p.inside);
		if (parse_cases[i].want == NULL ||
		    strcmp(got, parse_cases[i].want) != 0)
			fail_msg("'%s' is %s", parse_cases[i].spec, got);
	}
}

#define BIND	"\"allowLocalBinding\":true," \
		"\"allowLocalOutboundPorts\":"
#define HOST	"\"hostPorts\":"
#define OPEN	"\"allowLocalOutbound\":true,\"allowLocalOutboundPorts\":"

static const struct {
	const char	*network;
	const char	*in[4];
	size_t		 nout, nin;
	enum err_code	 code;
	const char	*key, *msg;
} settle_cases[] = {
	{ "", { NULL }, 0, 0, ERR_NONE, "", "" },
	{ OPEN "[5432,5432,1]", { NULL }, 2, 0, ERR_NONE, "", "" },
	{ "\"allowLocalOutboundPorts\":[5432]", { "5432" }, 0, 1, ERR_NONE,
	    "", "" },
	{ "\"allowLocalBinding\":true,\"allowLocalOutboundPorts\":[5432]",
	    { NULL }, 1, 0, ERR_NONE, "", "" },
	{ OPEN "[1,3128]", { NULL }, 0, 0, ERR_POLICY,
	    "network.allowLocalOutboundPorts[1]", "the HTTP proxy's" },
	{ OPEN "[1080]", { NULL }, 0, 0, ERR_POLICY,
	    "network.allowLocalOutboundPorts[0]", "the SOCKS proxy's" },
	{ OPEN "[53]", { NULL }, 0, 0, ERR_POLICY,
	    "network.allowLocalOutboundPorts[0]", "the resolver's" },
	{ "\"httpProxyPort\":8888," OPEN "[3128]", { "1:3129" }, 1, 1,
	    ERR_NONE, "", "" },
	{ "\"httpProxyPort\":8888," OPEN "[8888]", { NULL }, 0, 0,
	    ERR_POLICY, "network.allowLocalOutboundPorts[0]",
	    "the HTTP proxy's" },
	{ "\"httpProxyPort\":1080", { NULL }, 0, 0, ERR_POLICY,
	    "network.httpProxyPort", "the SOCKS proxy's" },
	{ "\"socksProxyPort\":3128", { NULL }, 0, 0, ERR_POLICY,
	    "network.socksProxyPort", "the HTTP proxy's" },
	{ "\"socksProxyPort\":53", { NULL }, 0, 0, ERR_POLICY,
	    "network.socksProxyPort", "the resolver's" },
	{ "\"httpProxyPort\":1080,\"socksProxyPort\":3128", { NULL }, 0, 0,
	    ERR_NONE, "", "" },
	{ "", { "3000", "127.0.0.1:3000", "[::1]:3000" }, 0, 2, ERR_NONE, "",
	    "" },
	{ "", { "3000", "3000:1" }, 0, 0, ERR_USAGE, "", "an earlier" },
	{ "", { "3128" }, 0, 0, ERR_USAGE, "", "the HTTP proxy's" },
	{ "", { "1:1080" }, 0, 0, ERR_USAGE, "", "the SOCKS proxy's" },
	{ "", { "5353:53" }, 0, 0, ERR_USAGE, "", "the resolver's" },
	{ "", { "53:5353" }, 0, 1, ERR_NONE, "", "" },
	{ OPEN "[5432]", { "5432" }, 0, 0, ERR_USAGE, "",
	    "leads to the host's" },
	{ HOST "[5432,1,5432]", { NULL }, 2, 0, ERR_NONE, "", "" },
	{ HOST "[5432]," OPEN "[5432,2]", { NULL }, 2, 0, ERR_NONE, "", "" },
	{ HOST "[1,3128]", { NULL }, 0, 0, ERR_POLICY,
	    "network.hostPorts[1]", "the HTTP proxy's" },
	{ OPEN "[5432]", { "5432:5433" }, 1, 1, ERR_NONE, "", "" },
};

static struct policy *
parse(const char *network, const char *name)
{
	const struct policy_env env = { .workspace = "/ws", .home = "/h" };
	struct policy *p = NULL;
	struct err e = { 0 };
	char text[256];

	snprintf(text, sizeof text, "{\"network\":{%s}}", network);
	if (policy_parse(text, strlen(text), name, &env, &p, &e) != 0)
		fail_msg("%s: %s", network, e.msg);
	return p;
}

static void
test_settle(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof settle_cases / sizeof *settle_cases;
	    i++) {
		struct policy *p = parse(settle_cases[i].network, "p.json");
		struct opt_list in = { (const char **)settle_cases[i].in, 0,
		    0 };
		struct arena *a = arena_new();
		struct ports ports = { 0 };
		struct err e = { 0 };

		while (in.v[in.n] != NULL)
			in.n++;
		if (ports_parse_all(a, &in, &ports, &e) == 0 &&
		    ports_settle(a, p, &ports, &e) == 0)
			assert_int_equal(e.code, ERR_NONE);
		if (e.code != settle_cases[i].code ||
		    strstr(e.msg, settle_cases[i].msg) == NULL ||
		    strcmp(e.key, settle_cases[i].key) != 0 ||
		    (e.code == ERR_NONE &&
		    (ports.nout != settle_cases[i].nout ||
		    ports.nin != settle_cases[i].nin)))
			fail_msg("%zu: %d %s: %s (%zu out, %zu in)", i, e.code,
			    e.key, e.msg, ports.nout, ports.nin);
		arena_free(a);
		policy_free(p);
	}
}

/* Every layer has to agree, about the switch and about the port. */
static void
test_layers(void **state)
{
	static const struct {
		const char	*first, *second;
		enum action	 action;
		const char	*rule;
	} t[] = {
		{ OPEN "[1,5432]", OPEN "[5432]", ACTION_ALLOW,
		    "network.allowLocalOutboundPorts[1]" },
		{ OPEN "[5432]", OPEN "[1]", ACTION_DENY,
		    "network.allowLocalOutboundPorts" },
		{ OPEN "[1]", OPEN "[5432]", ACTION_DENY,
		    "network.allowLocalOutboundPorts" },
		{ OPEN "[5432]", "\"allowLocalOutboundPorts\":[5432]",
		    ACTION_DENY, "network.hostPorts" },
		{ "\"allowLocalOutboundPorts\":[5432]", OPEN "[5432]",
		    ACTION_DENY, "network.hostPorts" },
		/* The switch that is not written is allowLocalBinding. */
		{ BIND "[5432]", BIND "[5432]", ACTION_ALLOW,
		    "network.allowLocalOutboundPorts[0]" },
		{ BIND "[5432]", "\"allowLocalOutbound\":false," BIND
		    "[5432]", ACTION_DENY, "network.hostPorts" },
		/* hostPorts needs no switch, and each layer may use either. */
		{ HOST "[1,5432]", HOST "[5432]", ACTION_ALLOW,
		    "network.hostPorts[1]" },
		{ HOST "[5432]", OPEN "[5432]", ACTION_ALLOW,
		    "network.hostPorts[0]" },
		{ OPEN "[5432]", HOST "[5432]", ACTION_ALLOW,
		    "network.allowLocalOutboundPorts[0]" },
		{ HOST "[5432]", HOST "[1]", ACTION_DENY,
		    "network.hostPorts" },
		{ HOST "[5432]", "", ACTION_DENY, "network.hostPorts" },
		{ OPEN "[5432]," HOST "[5432]", HOST "[5432]", ACTION_ALLOW,
		    "network.hostPorts[0]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct policy *first = parse(t[i].first, "a.json");
		struct policy *second = parse(t[i].second, "b.json");
		struct arena *a = arena_new();
		struct ports ports = { 0 };
		struct verdict v;
		struct err e;

		layers_add(first, second);
		layers_settle(first);
		decide_local(first, 5432, &v);
		if (v.action != t[i].action || strcmp(rule_words(&v), t[i].rule) != 0)
			fail_msg("%zu: %s", i, rule_words(&v));
		assert_int_equal(ports_settle(a, first, &ports, &e), 0);
		assert_int_equal(ports.nout, v.action == ACTION_ALLOW);
		arena_free(a);
		policy_free(first);
		policy_free(second);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_settle),
		cmocka_unit_test(test_layers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
