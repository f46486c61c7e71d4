/* connector: a decision in, a descriptor or the reason of a failure out. */
#include "tests/unit/gate_world.h"

#include "launcher/gate/connector.h"
#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "proxy/upstream.h"

#define NAMES "\"good.test\", \"both.test\", \"private.test\", \"meta.test\"," \
    "\"own.test\", \"own6.test\", \"mapped.test\", \"none.test\", \"gone.test\""
#define LISTED "\"allowedDomains\": [" NAMES ", \"127.0.0.1\"]"

static const char *const policies[] = {
	"{ \"network\": { " LISTED " } }",
	"{ \"network\": { " LISTED ", \"deniedDomains\": [\"127.0.0.0/8\"] } }",
	"{ \"network\": { " LISTED ", "
	    "\"via\": \"http://u:secret@127.0.0.1:@OPEN@\" } }",
	"{ \"network\": { " LISTED ", "
	    "\"via\": \"socks5://proxy.test:@OPEN@\" } }",
	"{ \"network\": { " LISTED ", "
	    "\"via\": \"http://127.0.0.1:@SHUT@\" } }",
	"{ \"network\": { " LISTED ", "
	    "\"via\": \"http://nowhere.test:@OPEN@\" } }",
	"{ \"network\": { " LISTED ", \"defaultAction\": \"proxy\", "
	    "\"upstreamProxy\": \"http://127.0.0.1:@OPEN@\" } }",
};

enum { LIST, DENIES, HTTP, SOCKS, SHUT, NOWHERE, GREY };

struct scene {
	struct gate_world	 g;
	struct arena		*arena;
	struct via		 via;
	struct connector	*c;
	unsigned		 want, n;	/* results */
	int			 fds[8];
	char			 said[8][256];
};

/* "ok local", "refused Connection refused", "denied KEY: REASON" */
static void
put_result(struct buf *b, const struct connector_result *r)
{
	static const char *const words[] = { [ASK_OK] = "ok",
	    [ASK_DENIED] = "denied", [ASK_NOHOST] = "nohost",
	    [ASK_REFUSED] = "refused", [ASK_FULL] = "full",
	    [ASK_SELF] = "self", [ASK_PROXY_DENIED] = "proxy denied",
	    [ASK_PROXY_FAILED] = "proxy failed" };

	buf_printf(b, "%s%s", words[r->status], r->is_local ? " local" : "");
	if (r->status == ASK_REFUSED)
		buf_printf(b, " %s", strerror(r->sys));
	if (r->verdict != NULL)
		buf_printf(b, " %s: %s", rule_words(r->verdict),
		    r->verdict->reason);
}

static void
on_result(const struct ask_msg *q, const struct connector_result *r,
    void *arg)
{
	struct scene *s = arg;
	struct buf b;

	(void)q;
	assert_true(s->n < N_OF(s->fds));
	assert_int_equal(r->fd >= 0, r->status == ASK_OK);
	assert_true(r->ms >= 0);
	buf_init(&b, 0);
	put_result(&b, r);
	snprintf(s->said[s->n], sizeof s->said[0], "%s", b.data);
	buf_release(&b);
	s->fds[s->n++] = r->fd;
	if (s->n == s->want)
		loop_stop(s->g.loop, 0);
}

static void
scene_open(struct scene *s, int policy, bool has_names)
{
	char *env[] = { NULL };
	struct err e;

	memset(s, 0, sizeof *s);
	gate_open(&s->g, policies[policy], false);
	s->arena = arena_new();
	assert_int_equal(via_make(s->arena, s->g.policy, env, &s->via, &e), 0);
	s->c = connector_new(&(struct connector_config){ .loop = s->g.loop,
	    .policy = s->g.policy, .via = &s->via,
	    .names_fd = has_names ? s->g.names_fd : -1,
	    .fn = on_result, .arg = s });
	assert_non_null(s->c);
}

static void
scene_close(struct scene *s)
{
	connector_free(s->c);
	for (unsigned i = 0; i < s->n; i++)
		fd_close(&s->fds[i]);
	arena_free(s->arena);
	gate_close(&s->g);
}

/* As the monitor does it. */
static void
start(struct scene *s, enum ask_via via, const char *name, int port)
{
	struct ask_msg q = gate_msg(&s->g, ASK_DIAL, via, name, port);
	struct verdict v;
	struct host h;

	assert_int_equal(host_canon(name, strlen(name), &h), 0);
	decide_net(s->g.policy, &h, q.port, &v);
	assert_int_equal(v.action, ACTION_ALLOW);
	connector_start(s->c, &q, &h, &v);
}

static void
wait_for(struct scene *s, unsigned n)
{
	s->want = n;
	if (s->n < n)
		assert_int_equal(loop_run(s->g.loop), 0);
	assert_int_equal(s->n, n);
}

/* ---- a host, an answer ---- */

static const struct {
	int		 policy;
	const char	*host;
	int		 port;
	enum names_mood	 mood;
	const char	*want;
} hosts[] = {
	{ LIST, "good.test", PORT_OPEN, NAMES_ANSWER, "ok" },
	{ LIST, "good.test", PORT_SHUT, NAMES_ANSWER,
	    "refused Connection refused" },
	{ LIST, "127.0.0.1", PORT_OPEN, NAMES_ANSWER, "ok" },
	{ LIST, "127.0.0.1", PORT_SHUT, NAMES_ANSWER,
	    "refused Connection refused" },
	/* Only the address that is granted is dialled. */
	{ LIST, "both.test", PORT_OPEN, NAMES_ANSWER, "ok" },
	{ LIST, "private.test", PORT_OPEN, NAMES_ANSWER,
	    "denied network.allowedDomains: private.test resolves to a "
	    "private address" },
	{ LIST, "meta.test", 80, NAMES_ANSWER,
	    "denied network.allowedDomains: meta.test resolves to " },
	{ LIST, "own.test", PORT_OPEN, NAMES_ANSWER,
	    "denied network.allowedDomains: own.test resolves to " },
	{ LIST, "own6.test", PORT_OPEN, NAMES_ANSWER,
	    "denied network.allowedDomains: own6.test resolves to " },
	{ LIST, "mapped.test", PORT_OPEN, NAMES_ANSWER,
	    "denied network.allowedDomains: mapped.test resolves to " },
	{ LIST, "none.test", PORT_OPEN, NAMES_ANSWER, "nohost" },
	{ LIST, "gone.test", PORT_OPEN, NAMES_ANSWER, "nohost" },
	{ LIST, "good.test", PORT_OPEN, NAMES_DIE, "nohost" },
	{ LIST, "good.test", PORT_OPEN, NAMES_BABBLE, "ok" },
	{ LIST, "gone.test", PORT_OPEN, NAMES_BABBLE, "nohost" },
	{ DENIES, "good.test", PORT_OPEN, NAMES_ANSWER,
	    "denied network.deniedDomains[0]: denied by address" },
};

static void
test_hosts(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(hosts); i++) {
		struct scene s;

		scene_open(&s, hosts[i].policy, true);
		s.g.mood = hosts[i].mood;
		start(&s, ASK_VIA_SOCKS, hosts[i].host, hosts[i].port);
		wait_for(&s, 1);
		if (strncmp(s.said[0], hosts[i].want,
		    strlen(hosts[i].want)) != 0)
			fail_msg("row %zu, %s: \"%s\"", i, hosts[i].host,
			    s.said[0]);
		assert_int_equal(gate_is_connected(&s.g, s.fds[0]),
		    strcmp(hosts[i].want, "ok") == 0);
		scene_close(&s);
	}
}

/* ---- by way of a proxy ---- */

static const struct {
	int		 policy;
	enum ask_via	 via;
	const char	*host;
	struct ask_answer shaken;
	enum names_mood	 mood;
	const char	*want;
	unsigned	 nshakes;
} proxies[] = {
#define SAYS(s, w, c)	{ .status = s, .why = w, .code = c }
	{ HTTP, ASK_VIA_SOCKS, "good.test", SAYS(ASK_OK, 0, 0), 0, "ok", 1 },
	/* The proxy resolves names; what they lead to here is not asked. */
	{ HTTP, ASK_VIA_SOCKS, "gone.test", SAYS(ASK_OK, 0, 0), 0, "ok", 1 },
	{ SOCKS, ASK_VIA_SOCKS, "meta.test", SAYS(ASK_OK, 0, 0), 0, "ok", 1 },
	/* This machine is not reached by way of a proxy. */
	{ HTTP, ASK_VIA_SOCKS, "127.0.0.1", SAYS(ASK_OK, 0, 0), 0, "ok", 0 },
	{ HTTP, ASK_VIA_SOCKS, "good.test",
	    SAYS(ASK_PROXY_DENIED, UPSTREAM_REFUSED, 403), 0,
	    "proxy denied network.via: http://127.0.0.1:", 1 },
	{ HTTP, ASK_VIA_SOCKS, "good.test",
	    SAYS(ASK_PROXY_DENIED, UPSTREAM_REFUSED, 502), 0,
	    "proxy failed network.via: http://127.0.0.1:", 1 },
	{ HTTP, ASK_VIA_SOCKS, "good.test",
	    SAYS(ASK_PROXY_DENIED, UPSTREAM_LOGIN, 407), 0,
	    "proxy failed network.via: http://127.0.0.1:", 1 },
	{ HTTP, ASK_VIA_SOCKS, "good.test",
	    SAYS(ASK_PROXY_DENIED, UPSTREAM_BAD, 0), 0,
	    "proxy failed network.via: http://127.0.0.1:", 1 },
	{ SOCKS, ASK_VIA_SOCKS, "good.test",
	    SAYS(ASK_PROXY_DENIED, UPSTREAM_REFUSED, 4), 0,
	    "refused No route to host", 1 },
	{ SOCKS, ASK_VIA_SOCKS, "good.test",
	    SAYS(ASK_PROXY_DENIED, UPSTREAM_REFUSED, 2), 0,
	    "proxy denied network.via: socks5://proxy.test:", 1 },
	{ HTTP, ASK_VIA_SOCKS, "good.test", SAYS(ASK_PROXY_FAILED, 0, 0), 0,
	    "proxy failed network.via: http://127.0.0.1:", 1 },
	{ SHUT, ASK_VIA_SOCKS, "good.test", SAYS(ASK_OK, 0, 0), 0,
	    "proxy failed network.via: http://127.0.0.1:", 0 },
	{ NOWHERE, ASK_VIA_SOCKS, "good.test", SAYS(ASK_OK, 0, 0), 0,
	    "proxy failed network.via: http://nowhere.test:", 0 },
	{ HTTP, ASK_VIA_SOCKS, "good.test", SAYS(ASK_OK, 0, 0), NAMES_DIE,
	    "full", 0 },
	/* A host that no list names, and one that a list does. */
	{ GREY, ASK_VIA_SOCKS, "grey.test", SAYS(ASK_OK, 0, 0), 0, "ok", 1 },
	{ GREY, ASK_VIA_SOCKS, "good.test", SAYS(ASK_OK, 0, 0), 0, "ok", 0 },
	/* An address that the command itself names is vetted all the same. */
	{ GREY, ASK_VIA_SOCKS, "127.0.0.2", SAYS(ASK_OK, 0, 0), 0,
	    "denied network.allowedDomains: 127.0.0.2 is ", 0 },
	{ GREY, ASK_VIA_SOCKS, "10.1.2.3", SAYS(ASK_OK, 0, 0), 0,
	    "denied network.allowedDomains: 10.1.2.3 is ", 0 },
#undef SAYS
};

static void
check_shake(const struct scene *s, size_t i)
{
	const struct ask_shake *k = &s->g.shake;

	assert_true(gate_is_connected(&s->g, s->g.shake_fd));
	assert_string_equal(k->host, proxies[i].host);
	assert_int_equal(k->port, s->g.open_port);
	assert_int_equal(k->proxy, proxies[i].policy == SOCKS ?
	    UPSTREAM_SOCKS5 : UPSTREAM_HTTP);
	assert_int_equal(k->has_login, proxies[i].policy == HTTP);
	if (k->has_login) {
		assert_string_equal(k->user, "u");
		assert_string_equal(k->password, "secret");
	}
	/* Nobody else learns the password. */
	assert_null(strstr(s->said[0], "secret"));
}

static void
test_proxies(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(proxies); i++) {
		struct scene s;

		scene_open(&s, proxies[i].policy, true);
		s.g.mood = proxies[i].mood;
		s.g.shaken = proxies[i].shaken;
		start(&s, proxies[i].via, proxies[i].host, PORT_OPEN);
		wait_for(&s, 1);
		if (strncmp(s.said[0], proxies[i].want,
		    strlen(proxies[i].want)) != 0)
			fail_msg("row %zu, %s: \"%s\"", i, proxies[i].host,
			    s.said[0]);
		assert_int_equal(s.g.nshakes, proxies[i].nshakes);
		if (s.g.nshakes > 0)
			check_shake(&s, i);
		scene_close(&s);
	}
}

/* A host that is left to a proxy is not dialled where there is none. */
static void
test_no_proxy(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, GREY, true);
	s.via.upstream = NULL;
	start(&s, ASK_VIA_SOCKS, "grey.test", PORT_OPEN);
	wait_for(&s, 1);
	if (strncmp(s.said[0], "denied ", 7) != 0)
		fail_msg("\"%s\"", s.said[0]);
	scene_close(&s);
}

/* ---- several at once ---- */

/* One look-up answers everybody who waits for the name. */
static void
test_same_name(void **state)
{
	unsigned nok = 0, nrefused = 0, nnohost = 0;
	struct scene s;

	(void)state;
	scene_open(&s, LIST, true);
	start(&s, ASK_VIA_SOCKS, "good.test", PORT_OPEN);
	start(&s, ASK_VIA_HTTP, "good.test", PORT_SHUT);
	start(&s, ASK_VIA_TRANSPARENT, "gone.test", PORT_OPEN);
	start(&s, ASK_VIA_TRANSPARENT, "good.test", PORT_OPEN);
	wait_for(&s, 4);
	assert_int_equal(s.g.nasked, 2);
	for (unsigned i = 0; i < 4; i++) {
		nok += strcmp(s.said[i], "ok") == 0;
		nrefused += strncmp(s.said[i], "refused", 7) == 0;
		nnohost += strcmp(s.said[i], "nohost") == 0;
	}
	assert_int_equal(nok, 2);
	assert_int_equal(nrefused, 1);
	assert_int_equal(nnohost, 1);
	scene_close(&s);
}

/* Without fence-names a name leads nowhere, and an address still does. */
static void
test_no_names(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, LIST, false);
	start(&s, ASK_VIA_SOCKS, "good.test", PORT_OPEN);
	start(&s, ASK_VIA_SOCKS, "127.0.0.1", PORT_OPEN);
	wait_for(&s, 2);
	assert_string_equal(s.said[0], "nohost");
	assert_string_equal(s.said[1], "ok");
	scene_close(&s);
}

/* fence-names dies with a question under way, and stays dead. */
static void
test_names_gone(void **state)
{
	static const struct { int policy; const char *want; } t[] = {
		{ LIST, "nohost" },	/* a look-up */
		{ HTTP, "full" },	/* a proxy that is asked */
	};

	(void)state;
	for (size_t i = 0; i < N_OF(t); i++) {
		struct scene s;

		scene_open(&s, t[i].policy, true);
		s.g.mood = NAMES_SILENT;
		start(&s, ASK_VIA_SOCKS, "good.test", PORT_OPEN);
		assert_int_equal(loop_run(s.g.loop), STOP_SILENT);
		assert_int_equal(s.n, 0);
		gate_names_die(&s.g);
		wait_for(&s, 1);
		assert_string_equal(s.said[0], t[i].want);
		start(&s, ASK_VIA_SOCKS, "good.test", PORT_OPEN);
		start(&s, ASK_VIA_SOCKS, "127.0.0.1", PORT_OPEN);
		wait_for(&s, 3);
		assert_string_equal(s.said[1], t[i].want);
		assert_string_equal(s.said[2], "ok");
		scene_close(&s);
	}
}

/* What is dropped calls nobody back, also when its answer comes late. */
static void
test_drop(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, LIST, true);
	s.g.mood = NAMES_BABBLE;
	start(&s, ASK_VIA_SOCKS, "gone.test", PORT_OPEN);
	connector_drop(s.c);
	start(&s, ASK_VIA_SOCKS, "good.test", PORT_OPEN);
	wait_for(&s, 1);
	assert_string_equal(s.said[0], "ok");
	assert_int_equal(s.g.nasked, 2);
	start(&s, ASK_VIA_SOCKS, "good.test", PORT_OPEN);
	scene_close(&s);		/* with one under way */
}

/* The policy of the moment of the answer vets the address. */
static void
test_set_policy(void **state)
{
	struct policy *denies;
	struct scene s;

	(void)state;
	scene_open(&s, LIST, true);
	denies = gate_policy(&s.g, policies[DENIES]);
	start(&s, ASK_VIA_SOCKS, "good.test", PORT_OPEN);
	connector_set_policy(s.c, denies);
	wait_for(&s, 1);
	assert_non_null(strstr(s.said[0], "denied network.deniedDomains[0]: "
	    "denied by address"));
	connector_set_policy(s.c, s.g.policy);
	start(&s, ASK_VIA_SOCKS, "good.test", PORT_OPEN);
	wait_for(&s, 2);
	assert_string_equal(s.said[1], "ok");
	scene_close(&s);
	policy_free(denies);
}

/* ---- localhost, both ways ---- */

static void
test_local(void **state)
{
	static const struct { const char *host; int port; const char *want; }
	t[] = {
		{ "localhost", PORT_OPEN, "ok local" },
		{ "127.0.0.1", PORT_OPEN, "ok local" },
		{ "::1", PORT_OPEN, "ok local" },
		{ "127.0.0.1", PORT_SHUT, "refused local " },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(t); i++) {
		const struct verdict granted = { .action = ACTION_ALLOW };
		struct ask_msg q;
		struct scene s;
		struct host h;

		scene_open(&s, LIST, true);
		q = gate_msg(&s.g, ASK_DIAL, ASK_VIA_LOCAL, t[i].host,
		    t[i].port);
		host_canon(t[i].host, strlen(t[i].host), &h);
		connector_local(s.c, &q, &h, &granted);
		wait_for(&s, 1);
		if (strncmp(s.said[0], t[i].want, strlen(t[i].want)) != 0)
			fail_msg("row %zu: \"%s\"", i, s.said[0]);
		assert_int_equal(gate_is_connected(&s.g, s.fds[0]),
		    t[i].port == PORT_OPEN);
		assert_int_equal(s.g.nasked, 0);
		scene_close(&s);
	}
}

/* The minter answers the byte with sockets; or dies. */
static void
test_inside(void **state)
{
	static const struct { int port; int nsockets; const char *want; }
	t[] = {
		{ PORT_OPEN, 1, "ok local" },
		{ PORT_SHUT, 1, "refused local Connection refused" },
		{ PORT_OPEN, 0, "refused local No buffer space available" },
		{ PORT_OPEN, -1, "refused local Broken pipe" },
	};
	const struct verdict granted = { .action = ACTION_ALLOW };
	const struct host home = { .kind = HOST_NAME, .text = "localhost" };

	(void)state;
	for (size_t i = 0; i < N_OF(t); i++) {
		struct connector *c;
		struct inbound *in;
		struct ask_msg q;
		struct scene s;
		int sv[2], fd;
		char byte;

		scene_open(&s, LIST, true);
		gate_pair(sv);
		in = inbound_new(s.g.loop, sv[0]);
		c = connector_new(&(struct connector_config){
		    .loop = s.g.loop, .policy = s.g.policy, .names_fd = -1,
		    .inbound = in, .fn = on_result, .arg = &s });
		q = gate_msg(&s.g, ASK_DIAL, ASK_VIA_INSIDE, "localhost",
		    t[i].port);
		connector_inside(c, &q, &home, &granted);
		assert_int_equal(recv(sv[1], &byte, 1, 0), 1);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC |
		    SOCK_NONBLOCK, 0);
		if (t[i].nsockets >= 0)
			assert_int_equal(fd_send(sv[1], "", 1, &fd,
			    (size_t)t[i].nsockets, 0), 1);
		else
			fd_close(&sv[1]);
		fd_close(&fd);
		wait_for(&s, 1);
		if (strcmp(s.said[0], t[i].want) != 0)
			fail_msg("row %zu: \"%s\"", i, s.said[0]);
		/* A dead minter: no more. */
		if (t[i].nsockets < 0) {
			connector_inside(c, &q, &home, &granted);
			wait_for(&s, 2);
			assert_string_equal(s.said[1], "full local");
		}
		connector_free(c);
		inbound_free(in);
		fd_close(&sv[0]);
		fd_close(&sv[1]);
		scene_close(&s);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_proxies),
		cmocka_unit_test(test_no_proxy),
		cmocka_unit_test(test_same_name),
		cmocka_unit_test(test_no_names),
		cmocka_unit_test(test_names_gone),
		cmocka_unit_test(test_drop),
		cmocka_unit_test(test_set_policy),
		cmocka_unit_test(test_local),
		cmocka_unit_test(test_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
