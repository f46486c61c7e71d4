/* monitor: fence-net's questions in; answers, descriptors and records out. */
#include "tests/unit/gate_world.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "launcher/gate/monitor.h"
#include "launcher/gate/retry_loop.h"
#include "platform/base/arena.h"
#include "proxy/upstream.h"

#define LISTS "\"allowedDomains\": [\"good.test\", \"*.wild.test\", " \
    "\"127.0.0.1\", \"private.test\", \"own.test\", \"port.test:443\", " \
    "\"gone.test\"], \"deniedDomains\": [\"bad.wild.test\", " \
    "\"192.0.2.0/24\"]"

static const char *const policies[] = {
	"{ \"network\": { " LISTS " } }",
	"{ \"network\": { " LISTS ", \"allowLocalOutbound\": true, "
	    "\"allowLocalOutboundPorts\": [@OPEN@] } }",
	"{ \"network\": { " LISTS ", "
	    "\"via\": \"http://127.0.0.1:@OPEN@\" } }",
	"{ \"network\": { " LISTS ", \"sni\": \"off\" } }",
	"{ \"network\": { \"allowedDomains\": [] } }",
	"{ \"network\": { \"hostPorts\": [@OPEN@] } }",
};

enum { LIST, LOCAL, VIA, NO_SNI, NOTHING, HOST_PORTS };

struct scene {
	struct gate_world	 g;
	struct arena		*arena;
	struct via		 via;
	struct ports		 ports;
	struct monitor		*m;
	int			 net_fd;	/* the monitor's end */
	int			 fd;		/* the test's */
	struct watch		*ear;
	/* The last answer, and what came with it. */
	struct ask_answer	 a;
	int			 got_fd;
	bool			 is_eof;
};

/* ---- life ---- */

static void
on_answer(struct watch *w, int what, void *arg)
{
	struct scene *s = arg;
	size_t nfds = 0;
	ssize_t n;

	(void)w;
	(void)what;
	fd_close(&s->got_fd);
	n = fd_recv(s->fd, &s->a, sizeof s->a, &s->got_fd, 1, &nfds,
	    MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return;
	if (nfds == 0)
		s->got_fd = -1;
	s->is_eof = n <= 0;
	if (!s->is_eof)
		assert_int_equal(ask_check_answer(&s->a, (size_t)n, &s->a),
		    0);
	loop_stop(s->g.loop, 0);
}

static void
scene_open(struct scene *s, int policy, bool is_debug)
{
	char *env[] = { NULL };
	struct err e;
	int sv[2];

	memset(s, 0, sizeof *s);
	gate_open(&s->g, policies[policy], is_debug);
	s->arena = arena_new();
	assert_int_equal(via_make(s->arena, s->g.policy, env, &s->via, &e), 0);
	gate_pair(sv);
	s->net_fd = sv[0];
	s->fd = sv[1];
	s->got_fd = -1;
	s->m = monitor_new(&(struct monitor_config){ .loop = s->g.loop,
	    .policy = s->g.policy, .via = &s->via, .witness = s->g.witness,
	    .net_fd = s->net_fd, .names_fd = s->g.names_fd,
	    .ports = &s->ports, .jail_pid = getpid(),
	    .stop_pid = getppid(), .is_debug = is_debug,
	    .http_port = 3128, .socks_port = 1080 });
	assert_non_null(s->m);
	s->ear = loop_fd(s->g.loop, s->fd, LOOP_READ, on_answer, s);
	assert_non_null(s->ear);
}

static void
scene_close(struct scene *s)
{
	monitor_free(s->m);
	watch_free(s->ear);
	fd_close(&s->net_fd);
	fd_close(&s->fd);
	fd_close(&s->got_fd);
	arena_free(s->arena);
	gate_close(&s->g);
}

/* ---- questions and answers ---- */

static void
put(const struct scene *s, const void *bytes, size_t n)
{
	assert_int_equal(fd_send(s->fd, bytes, n, NULL, 0, 0), n);
}

/* The id of the question. */
static uint32_t
ask(const struct scene *s, enum ask_kind kind, enum ask_via via,
    const char *name, int port)
{
	struct ask_msg q = gate_msg(&s->g, kind, via, name, port);

	if (kind == ASK_SNI)
		strcpy(q.granted, "good.test");
	put(s, &q, sizeof q);
	return q.id;
}

static void
hear(struct scene *s)
{
	assert_int_equal(loop_run(s->g.loop), 0);
}

static void
hear_id(struct scene *s, uint32_t id)
{
	hear(s);
	assert_false(s->is_eof);
	assert_int_equal(s->a.id, id);
}

/* "ok fd tls=good.test", "ok 198.1", "denied KEY: REASON", "nohost" */
static const char *
answer_words(const struct scene *s)
{
	static const char *const words[] = { [ASK_OK] = "ok",
	    [ASK_DENIED] = "denied", [ASK_NOHOST] = "nohost",
	    [ASK_REFUSED] = "refused", [ASK_FULL] = "full",
	    [ASK_SELF] = "self", [ASK_PROXY_DENIED] = "proxy denied",
	    [ASK_PROXY_FAILED] = "proxy failed" };
	static char ret[700];
	const struct ask_answer *a = &s->a;
	bool is_no = a->status == ASK_DENIED ||
	    a->status >= ASK_PROXY_DENIED;
	char addr[INET_ADDRSTRLEN] = "";

	if (a->naddrs > 0)
		assert_non_null(inet_ntop(AF_INET, a->addrs[0].addr, addr,
		    sizeof addr));
	snprintf(ret, sizeof ret, "%s%s%s%s%s%s%s%s%s%s", words[a->status],
	    addr[0] != '\0' ? " " : "", addr, s->got_fd >= 0 ? " fd" : "",
	    is_no ? " " : a->name[0] != '\0' ? " name=" : "",
	    is_no ? a->rule : a->name, is_no ? ": " : "",
	    is_no ? a->reason : "",
	    a->status == ASK_REFUSED ? " " : "",
	    a->status == ASK_REFUSED ? strerror(a->sys) : "");
	return ret;
}

/* ---- a question, an answer ---- */

static const struct {
	int		 policy;
	enum ask_kind	 kind;
	enum ask_via	 via;
	const char	*name;
	int		 port;
	const char	*want;		/* how the answer begins */
	const char	*told;		/* in the record; NULL: there is none */
} questions[] = {
#define DNS ASK_LOOKUP, ASK_VIA_DNS
	{ LIST, DNS, "good.test", 0, "ok 198.1", NULL },
	{ LIST, DNS, "GOOD.Test.", 0, "ok 198.1", NULL },
	{ LIST, DNS, "x.wild.test", 0, "ok 198.1", NULL },
	{ LIST, DNS, "port.test", 0, "ok 198.1", NULL },
	/* What does not resolve is known at the dial alone. */
	{ LIST, DNS, "gone.test", 0, "ok 198.1", NULL },
	{ LIST, DNS, ASK_SELF_NAME, 0, "ok 198.1", NULL },
	{ NOTHING, DNS, ASK_SELF_NAME, 0, "ok 198.1", NULL },
	{ LIST, DNS, "wild.test", 0, "denied network.allowedDomains", "X" },
	{ LIST, DNS, "other.test", 0, "denied network.allowedDomains", "X" },
	{ LIST, DNS, "bad.wild.test", 0, "denied network.deniedDomains[0]",
	    "X" },
	{ LIST, DNS, "127.0.0.1", 0, "denied network: not a host name", "X" },
	{ LIST, DNS, "a b.test", 0, "denied network: not a host name", "X" },
	{ LIST, DNS, "a..test", 0, "denied network: not a host name", "X" },
#define PTR ASK_PTR, ASK_VIA_DNS
	{ LIST, PTR, "198.18.1.1", 0, "nohost", NULL },
	{ LIST, PTR, "good.test", 0, "nohost", NULL },
	{ LIST, PTR, "::1", 0, "nohost", NULL },
#define SOCKS ASK_DIAL, ASK_VIA_SOCKS
#define HTTP ASK_DIAL, ASK_VIA_HTTP
	{ LIST, SOCKS, "good.test", PORT_OPEN, "ok fd name=good.test", NULL },
	{ LIST, SOCKS, "GOOD.test.", PORT_OPEN, "ok fd name=good.test",
	    NULL },
	{ NO_SNI, SOCKS, "good.test", PORT_OPEN, "ok fd", NULL },
	{ LIST, HTTP, "good.test", PORT_OPEN, "ok fd name=good.test", NULL },
	{ LIST, SOCKS, "127.0.0.1", PORT_OPEN, "ok fd", NULL },
	/* The same address, spelt otherwise. */
	{ LIST, SOCKS, "0x7f.1", PORT_OPEN, "ok fd", NULL },
	{ LIST, SOCKS, "2130706433", PORT_OPEN, "ok fd", NULL },
	{ LIST, SOCKS, "::ffff:127.0.0.1", PORT_OPEN, "ok fd", NULL },
	{ LIST, SOCKS, "good.test", PORT_SHUT, "refused Connection refused",
	    NULL },
	/* Of HTTP, what failed is worth a record in every run. */
	{ LIST, HTTP, "good.test", PORT_SHUT, "refused Connection refused",
	    "502" },
	{ LIST, SOCKS, "gone.test", PORT_OPEN, "nohost", NULL },
	{ LIST, HTTP, "gone.test", PORT_OPEN, "nohost", "502" },
	{ LIST, SOCKS, "other.test", PORT_OPEN,
	    "denied network.allowedDomains", "X" },
	{ LIST, HTTP, "other.test", PORT_OPEN,
	    "denied network.allowedDomains", "403" },
	{ LIST, SOCKS, "bad.wild.test", PORT_OPEN,
	    "denied network.deniedDomains[0]", "X" },
	{ LIST, SOCKS, "192.0.2.7", PORT_OPEN,
	    "denied network.deniedDomains[1]", "X" },
	{ LIST, SOCKS, "port.test", 80, "denied network.allowedDomains",
	    "X" },
	{ LIST, SOCKS, "127.0.0.2", PORT_OPEN,
	    "denied network.allowedDomains", "X" },
	{ LIST, SOCKS, "a b.test", PORT_OPEN, "denied network: not a host name",
	    "X" },
	/* After resolving. */
	{ LIST, SOCKS, "private.test", PORT_OPEN,
	    "denied network.allowedDomains p.json:1:34: private.test "
	    "resolves to a private address", "X" },
	{ LIST, HTTP, "own.test", PORT_OPEN,
	    "denied network.allowedDomains p.json:1:34: own.test resolves to",
	    "403" },
	{ LIST, SOCKS, ASK_SELF_NAME, ASK_SELF_PORT, "self", NULL },
	{ NOTHING, SOCKS, ASK_SELF_NAME, ASK_SELF_PORT, "self", NULL },
	{ LIST, SOCKS, ASK_SELF_NAME, 443, "refused Connection refused",
	    NULL },
#define GATE ASK_DIAL, ASK_VIA_TRANSPARENT
	{ LIST, GATE, "127.0.0.1", PORT_OPEN, "ok fd", NULL },
	/* In the fake range, and handed out to nobody. */
	{ LIST, GATE, "198.18.77.77", 443, "denied network: not a host name",
	    "X" },
	{ LIST, GATE, "203.0.113.9", 443, "denied network.allowedDomains",
	    "X" },
#define OUT ASK_DIAL, ASK_VIA_LOCAL
	{ LOCAL, OUT, "127.0.0.1", PORT_OPEN, "ok fd", NULL },
	{ LOCAL, OUT, "127.0.0.1", PORT_SHUT,
	    "denied network.allowLocalOutboundPorts", "X" },
	{ LIST, OUT, "127.0.0.1", PORT_OPEN,
	    "denied network.hostPorts", "X" },
	{ HOST_PORTS, OUT, "127.0.0.1", PORT_OPEN, "ok fd", NULL },
	{ HOST_PORTS, OUT, "127.0.0.1", PORT_SHUT,
	    "denied network.hostPorts", "X" },
	{ HOST_PORTS, HTTP, "localhost", PORT_OPEN, "ok fd", NULL },
	{ LOCAL, SOCKS, "localhost", PORT_OPEN, "ok fd", NULL },
	{ LIST, SOCKS, "localhost", PORT_OPEN,
	    "denied network.allowedDomains", "X" },
	/* No port of the host leads in. */
	{ LIST, ASK_DIAL, ASK_VIA_INSIDE, "localhost", PORT_OPEN,
	    "denied --port", "X" },
#define SNI ASK_SNI, ASK_VIA_SOCKS
	{ LIST, SNI, "good.test", 443, "ok", NULL },
	{ LIST, SNI, "x.wild.test", 443, "ok", NULL },
	{ LIST, SNI, "other.test", 443, "denied network.allowedDomains",
	    "X" },
	{ LIST, SNI, "", 443, "denied network.sni", "X" },
	{ LIST, ASK_RECENT, ASK_VIA_HTTP, "", 0, "nohost", NULL },
	/* A question alone: nothing is dialled, and nothing told. */
#define WHY ASK_WHY, ASK_VIA_HTTP
	{ LIST, WHY, "good.test", 443, "ok", NULL },
	{ LIST, WHY, "other.test", 443, "denied network.allowedDomains",
	    NULL },
	{ LIST, WHY, "bad.wild.test", 443, "denied network.deniedDomains[0]",
	    NULL },
	{ LIST, WHY, "port.test", 80, "denied network.allowedDomains", NULL },
	{ LIST, WHY, "127.0.0.2", 80, "denied network.allowedDomains", NULL },
	{ LIST, WHY, "a b.test", 443, "nohost", NULL },
	{ NOTHING, WHY, ASK_SELF_NAME, 80, "ok", NULL },
};

static void
test_questions(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(questions); i++) {
		const char *want = questions[i].want, *got;
		struct scene s;
		uint32_t id;
		char row[400];

		scene_open(&s, questions[i].policy, false);
		id = ask(&s, questions[i].kind, questions[i].via,
		    questions[i].name, questions[i].port);
		hear(&s);
		got = answer_words(&s);
		snprintf(row, sizeof row, "row %zu, %s", i,
		    questions[i].name);
		if (s.a.id != id || strncmp(got, want, strlen(want)) != 0 ||
		    (s.got_fd < 0) != (strstr(want, " fd") == NULL))
			fail_msg("%s: \"%s\"", row, got);
		gate_assert_told(&s.g, row, questions[i].told == NULL ? NULL :
		    strcmp(questions[i].told, "X") != 0 ? questions[i].told :
		    "\xe2\x9c\x97");
		assert_int_equal(gate_told_lines(&s.g),
		    questions[i].told != NULL);
		assert_int_equal(s.got_fd >= 0,
		    gate_is_connected(&s.g, s.got_fd));
		scene_close(&s);
	}
}

/* ---- fake addresses ---- */

/* A name keeps its address, the address means the name, by every way in. */
static void
test_addresses(void **state)
{
	static const char *const names[] = { "good.test", "gone.test",
	    "good.test", "x.wild.test" };
	char addr[4][INET_ADDRSTRLEN];
	struct scene s;

	(void)state;
	scene_open(&s, LIST, false);
	for (size_t i = 0; i < 4; i++) {
		hear_id(&s, (ask(&s, ASK_LOOKUP, ASK_VIA_DNS, names[i], 0)));
		inet_ntop(AF_INET, s.a.addrs[0].addr, addr[i],
		    sizeof addr[i]);
		hear_id(&s, ask(&s, ASK_PTR, ASK_VIA_DNS, addr[i], 0));
		assert_string_equal(s.a.name, names[i]);
	}
	assert_string_equal(addr[0], addr[2]);
	assert_string_not_equal(addr[0], addr[1]);
	assert_string_not_equal(addr[0], addr[3]);
	hear_id(&s, ask(&s, ASK_DIAL, ASK_VIA_TRANSPARENT, addr[0],
	    PORT_OPEN));
	assert_string_equal(answer_words(&s), "ok fd name=good.test");
	hear_id(&s, ask(&s, ASK_DIAL, ASK_VIA_SOCKS, addr[0], PORT_OPEN));
	assert_string_equal(answer_words(&s), "ok fd name=good.test");
	hear_id(&s, ask(&s, ASK_DIAL, ASK_VIA_TRANSPARENT, addr[1],
	    PORT_OPEN));
	assert_string_equal(answer_words(&s), "nohost");
	scene_close(&s);
}

/* ---- what is no question ---- */

static void
put_bad(const struct scene *s, size_t i)
{
	struct ask_msg q = gate_msg(&s->g, ASK_DIAL, ASK_VIA_SOCKS,
	    "good.test", PORT_OPEN);
	static const uint16_t kinds[] = { 0, ASK_LISTEN, ASK_PORT,
	    ASK_RESOLVE, ASK_SHAKE, ASK_WHY + 1, 0xffff };
	char large[sizeof q + 1] = { 0 };

	switch (i) {
	case 0:
		put(s, &q, sizeof q / 2);
		break;
	case 1:
		put(s, &q, 1);
		break;
	case 2:
		put(s, "", 0);
		break;
	case 3:
		memcpy(large, &q, sizeof q);
		put(s, large, sizeof large);
		break;
	case 4:
		q.magic++;
		put(s, &q, sizeof q);
		break;
	case 5:
		q.name_len = sizeof q.name;
		put(s, &q, sizeof q);
		break;
	case 6:
		q.via = 77;
		put(s, &q, sizeof q);
		break;
	default:
		q.kind = kinds[i - 7];
		put(s, &q, sizeof q);
	}
}

enum { NBAD = 14 };

/* It is passed over, without an answer or a record; the next one is heard. */
static void
test_malformed(void **state)
{
	(void)state;
	for (size_t i = 0; i < NBAD; i++) {
		struct scene s;

		scene_open(&s, LIST, false);
		put_bad(&s, i);
		hear_id(&s, ask(&s, ASK_PTR, ASK_VIA_DNS, "198.18.1.1", 0));
		assert_string_equal(answer_words(&s), "nohost");
		gate_assert_told(&s.g, "malformed", NULL);
		scene_close(&s);
	}
}

/* A descriptor that fence-net sends is closed, not kept. */
static void
test_gift(void **state)
{
	struct ask_msg q;
	struct scene s;
	int pipe_fds[2];
	char c;

	(void)state;
	scene_open(&s, LIST, false);
	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	q = gate_msg(&s.g, ASK_PTR, ASK_VIA_DNS, "198.18.1.1", 0);
	assert_int_equal(fd_send(s.fd, &q, sizeof q, &pipe_fds[1], 1, 0),
	    sizeof q);
	fd_close(&pipe_fds[1]);
	hear_id(&s, q.id);
	assert_int_equal(read(pipe_fds[0], &c, 1), 0);
	fd_close(&pipe_fds[0]);
	scene_close(&s);
}

/* ---- several ---- */

/* An answer that has to be waited for holds up no other. */
static void
test_two_at_once(void **state)
{
	uint32_t slow, quick, both;
	struct scene s;

	(void)state;
	scene_open(&s, LIST, false);
	s.g.mood = NAMES_SILENT;
	slow = ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "good.test", PORT_OPEN);
	assert_int_equal(loop_run(s.g.loop), STOP_SILENT);
	quick = ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "127.0.0.1", PORT_OPEN);
	hear_id(&s, quick);
	assert_string_equal(answer_words(&s), "ok fd name=127.0.0.1");
	both = ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "good.test", PORT_SHUT);
	hear_id(&s, ask(&s, ASK_PTR, ASK_VIA_DNS, "1.2.3.4", 0));
	gate_resolve(&s.g, &s.g.asked);
	hear(&s);
	assert_true(s.a.id == slow || s.a.id == both);
	slow = s.a.id == slow ? both : slow;
	hear_id(&s, slow);
	assert_int_equal(s.g.nasked, 1);
	scene_close(&s);
}

/* fence-net reads nothing for a while: all answers come, in order. */
static void
test_slow_reader(void **state)
{
	enum { N = 300 };
	const int small = 1;
	struct scene s;
	uint32_t id[N];
	int nsent = 0, nheard = 0;

	(void)state;
	scene_open(&s, LIST, false);
	setsockopt(s.net_fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
	watch_events(s.ear, 0);
	while (nheard < N) {
		/* As many as go in; the monitor stops reading, too. */
		for (; nsent < N; nsent++) {
			struct ask_msg q = gate_msg(&s.g, ASK_DIAL,
			    ASK_VIA_SOCKS, nsent % 8 == 0 ?
			    "127.0.0.1" : "other.test", PORT_OPEN);

			if (fd_send(s.fd, &q, sizeof q, NULL, 0, 0) < 0)
				break;
			id[nsent] = q.id;
		}
		watch_events(s.ear, LOOP_READ);
		hear_id(&s, id[nheard]);
		assert_int_equal(gate_is_connected(&s.g, s.got_fd),
		    nheard % 8 == 0);
		nheard++;
	}
	scene_close(&s);
}

/* ---- refusals that are told ---- */

/* Who asks for the same again and again is answered late. */
static void
test_retry_loop(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, LIST, false);
	for (int i = 0; i < RETRY_LOOP_MAX + 3; i++) {
		hear_id(&s, ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "other.test",
		    443));
		assert_int_equal(s.a.is_loop, i >= RETRY_LOOP_MAX);
	}
	hear_id(&s, ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "other.test", 444));
	assert_int_equal(s.a.is_loop, 0);
	hear_id(&s, ask(&s, ASK_LOOKUP, ASK_VIA_DNS, "other.test", 0));
	assert_int_equal(s.a.is_loop, 0);
	scene_close(&s);
}

/* The newest first; a repetition takes the place of the one before. */
static void
test_recent(void **state)
{
	static const struct { const char *what; unsigned count; } want[] = {
		{ "other.test", 2 }, { "bad.wild.test", 1 },
	};
	struct scene s;

	(void)state;
	scene_open(&s, LIST, false);
	hear_id(&s, ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "other.test", 443));
	hear_id(&s, ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "bad.wild.test", 443));
	hear_id(&s, ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "other.test", 443));
	for (uint16_t i = 0; i < 3; i++) {
		struct ask_msg q = gate_msg(&s.g, ASK_RECENT, ASK_VIA_HTTP,
		    "", 0);

		q.nth = i;
		put(&s, &q, sizeof q);
		hear_id(&s, q.id);
		if (i == 2) {
			assert_int_equal(s.a.status, ASK_NOHOST);
			break;
		}
		assert_int_equal(s.a.status, ASK_OK);
		assert_non_null(strstr(s.a.what, want[i].what));
		assert_int_equal(s.a.count, want[i].count);
		assert_non_null(strstr(s.a.rule, "network."));
	}
	scene_close(&s);
}

/* A proxy on the way says no: its word is told, and is no rule of ours. */
static void
test_proxy_says_no(void **state)
{
	static const struct {
		struct ask_answer	 shaken;
		const char		*want, *told;
	} t[] = {
		{ { .status = ASK_OK }, "ok fd name=good.test", NULL },
		{ { .status = ASK_PROXY_DENIED, .why = UPSTREAM_REFUSED,
		    .code = 403 }, "proxy denied network.via p.json:", "403" },
		{ { .status = ASK_PROXY_DENIED, .why = UPSTREAM_REFUSED,
		    .code = 503 }, "proxy failed network.via p.json:", "502" },
		{ { .status = ASK_PROXY_FAILED },
		    "proxy failed network.via p.json:", "502" },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(t); i++) {
		struct scene s;

		scene_open(&s, VIA, false);
		s.g.shaken = t[i].shaken;
		hear_id(&s, ask(&s, ASK_DIAL, ASK_VIA_HTTP, "good.test",
		    PORT_OPEN));
		if (strncmp(answer_words(&s), t[i].want,
		    strlen(t[i].want)) != 0)
			fail_msg("row %zu: \"%s\"", i, answer_words(&s));
		gate_assert_told(&s.g, t[i].want, t[i].told);
		scene_close(&s);
	}
}

/* What a worker notices: no answer, one record. */
static void
test_notes(void **state)
{
	static const char *const told[ASK_NOTES] = {
		[ASK_NOTE_LIMIT] = "limit of connections",
		[ASK_NOTE_BAD_REQUEST] = "malformed request",
		[ASK_NOTE_COMMAND] = "UDP ASSOCIATE",
	};

	(void)state;
	for (uint16_t i = 1; i < ASK_NOTES; i++) {
		struct ask_msg q;
		struct scene s;

		scene_open(&s, LIST, false);
		q = gate_msg(&s.g, ASK_NOTE, 0, "", 0);
		q.note = i;
		put(&s, &q, sizeof q);
		hear_id(&s, ask(&s, ASK_PTR, ASK_VIA_DNS, "1.2.3.4", 0));
		gate_assert_told(&s.g, told[i], told[i]);
		scene_close(&s);
	}
}

/* ---- with -d ---- */

static void
test_debug(void **state)
{
	struct ask_msg q;
	struct scene s;

	(void)state;
	scene_open(&s, LIST, true);
	hear_id(&s, ask(&s, ASK_LOOKUP, ASK_VIA_DNS, "good.test", 0));
	gate_assert_told(&s.g, "a look-up", "good.test");
	assert_int_equal(gate_told_lines(&s.g), 1);
	/* Plain HTTP is told when its answer is there. */
	q = gate_msg(&s.g, ASK_DIAL, ASK_VIA_HTTP, "good.test", PORT_OPEN);
	strcpy(q.method, "GET");
	strcpy(q.url_path, "/a/b");
	put(&s, &q, sizeof q);
	hear_id(&s, q.id);
	assert_int_equal(s.a.wants_done, 1);
	assert_int_equal(gate_told_lines(&s.g), 1);
	q.kind = ASK_DONE;
	q.code = 204;
	put(&s, &q, sizeof q);
	/* One that is open already: the verdict, and no descriptor. */
	q = gate_msg(&s.g, ASK_DIAL, ASK_VIA_HTTP, "good.test", PORT_OPEN);
	q.is_open = 1;
	put(&s, &q, sizeof q);
	hear_id(&s, q.id);
	assert_string_equal(answer_words(&s), "ok");
	assert_int_equal(s.a.wants_done, 1);
	gate_assert_told(&s.g, "a request", "204");
	gate_assert_told(&s.g, "a request", "/a/b");
	/* What was never granted is not told as if it had been. */
	q = gate_msg(&s.g, ASK_DONE, ASK_VIA_HTTP, "other.test", 80);
	q.code = 200;
	put(&s, &q, sizeof q);
	hear_id(&s, ask(&s, ASK_PTR, ASK_VIA_DNS, "1.2.3.4", 0));
	assert_int_equal(gate_told_lines(&s.g), 2);
	scene_close(&s);
}

/* A port of the host's, asked of the HTTP proxy. */
static void
test_debug_local(void **state)
{
	struct ask_msg q;
	struct scene s;

	(void)state;
	scene_open(&s, LOCAL, true);
	q = gate_msg(&s.g, ASK_DONE, ASK_VIA_HTTP, "localhost", PORT_OPEN);
	q.code = 204;
	put(&s, &q, sizeof q);
	hear_id(&s, ask(&s, ASK_PTR, ASK_VIA_DNS, "1.2.3.4", 0));
	gate_assert_told(&s.g, "a request", "204");
	scene_close(&s);
}

/* ---- changes on the way ---- */

static void
test_set_policy(void **state)
{
	struct policy *nothing;
	struct scene s;

	(void)state;
	scene_open(&s, LIST, false);
	nothing = gate_policy(&s.g, policies[NOTHING]);
	hear_id(&s, ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "127.0.0.1", PORT_OPEN));
	assert_int_equal(s.a.status, ASK_OK);
	monitor_set_policy(s.m, nothing);
	hear_id(&s, ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "127.0.0.1", PORT_OPEN));
	assert_int_equal(s.a.status, ASK_DENIED);
	hear_id(&s, ask(&s, ASK_LOOKUP, ASK_VIA_DNS, "good.test", 0));
	assert_int_equal(s.a.status, ASK_DENIED);
	scene_close(&s);
	policy_free(nothing);
}

/* The server of fence-net died: nobody gets the answers of the one before. */
static void
test_restart(void **state)
{
	struct ask_msg q;
	struct scene s;

	(void)state;
	scene_open(&s, LIST, false);
	s.g.mood = NAMES_SILENT;
	ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "good.test", PORT_OPEN);
	assert_int_equal(loop_run(s.g.loop), STOP_SILENT);
	q = gate_msg(&s.g, ASK_RESTART, 0, "", 0);
	q.wstatus = W_EXITCODE(0, SIGSEGV);
	put(&s, &q, sizeof q);
	hear_id(&s, q.id);
	assert_string_equal(answer_words(&s), "ok");
	gate_assert_told(&s.g, "restart", "signal 11");
	gate_resolve(&s.g, &s.g.asked);
	s.g.mood = NAMES_ANSWER;
	hear_id(&s, ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "good.test",
	    PORT_OPEN));
	assert_string_equal(answer_words(&s), "ok fd name=good.test");
	scene_close(&s);
}

/* fence-names died: names lead nowhere, the rest goes on. */
static void
test_names_gone(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, LIST, false);
	s.g.mood = NAMES_DIE;
	for (int i = 0; i < 2; i++) {
		hear_id(&s, ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "good.test",
		    PORT_OPEN));
		assert_string_equal(answer_words(&s), "nohost");
	}
	hear_id(&s, ask(&s, ASK_LOOKUP, ASK_VIA_DNS, "good.test", 0));
	assert_int_equal(s.a.status, ASK_OK);
	hear_id(&s, ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "127.0.0.1", PORT_OPEN));
	assert_string_equal(answer_words(&s), "ok fd name=127.0.0.1");
	scene_close(&s);
}

/* ---- the end ---- */

static void
on_done(void *arg)
{
	struct scene *s = arg;

	assert_false(s->is_eof);
	s->is_eof = true;
	loop_stop(s->g.loop, 0);
}

/* What was asked before the end is told, and answered to nobody. */
static void
test_hear_last(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, LIST, false);
	watch_free(s.ear);
	s.ear = NULL;
	ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "other.test", 443);
	ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "127.0.0.1", PORT_OPEN);
	ask(&s, ASK_LOOKUP, ASK_VIA_DNS, "bad.wild.test", 0);
	monitor_hear_last(s.m, on_done, &s);
	/* fence-net sees its end, and goes. */
	assert_int_equal(shutdown(s.fd, SHUT_WR), 0);
	assert_int_equal(loop_run(s.g.loop), 0);
	assert_true(s.is_eof);
	gate_assert_told(&s.g, "last", "other.test");
	gate_assert_told(&s.g, "last", "bad.wild.test");
	assert_int_equal(gate_told_lines(&s.g), 2);
	assert_int_equal(recv(s.fd, &s.a, sizeof s.a, MSG_DONTWAIT), 0);
	/* Nobody was dialled. */
	assert_int_equal(fd_nonblock(s.g.open_fd, 1), 0);
	assert_int_equal(accept(s.g.open_fd, NULL, NULL), -1);
	assert_int_equal(errno, EAGAIN);
	scene_close(&s);
}

/* fence-net is gone already, or stays and says nothing more. */
static void
test_hear_nobody(void **state)
{
	(void)state;
	for (int is_gone = 0; is_gone < 2; is_gone++) {
		struct scene s;

		scene_open(&s, LIST, false);
		watch_free(s.ear);
		s.ear = NULL;
		if (is_gone)
			fd_close(&s.fd);
		monitor_hear_last(s.m, on_done, &s);
		if (!s.is_eof)
			assert_int_equal(loop_run(s.g.loop), 0);
		assert_true(s.is_eof);
		scene_close(&s);
	}
}

/* fence-net closes its end with a dial under way: its socket is shut. */
static void
test_net_gone(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, LIST, false);
	s.g.mood = NAMES_SILENT;
	ask(&s, ASK_DIAL, ASK_VIA_SOCKS, "good.test", PORT_OPEN);
	assert_int_equal(loop_run(s.g.loop), STOP_SILENT);
	assert_int_equal(shutdown(s.fd, SHUT_WR), 0);
	hear(&s);
	assert_true(s.is_eof);
	gate_resolve(&s.g, &s.g.asked);
	scene_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_questions),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_gift),
		cmocka_unit_test(test_two_at_once),
		cmocka_unit_test(test_slow_reader),
		cmocka_unit_test(test_retry_loop),
		cmocka_unit_test(test_recent),
		cmocka_unit_test(test_proxy_says_no),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_debug),
		cmocka_unit_test(test_debug_local),
		cmocka_unit_test(test_set_policy),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_names_gone),
		cmocka_unit_test(test_hear_last),
		cmocka_unit_test(test_hear_nobody),
		cmocka_unit_test(test_net_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
