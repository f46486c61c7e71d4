/* gate_events: what became of a question in; the record, as a line, out. */
#include "tests/unit/gate_world.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "launcher/gate/gate_events.h"

static const char policy[] =
"{ \"network\": { \"allowedDomains\": [\"good.test\"],\n"
"  \"deniedDomains\": [\"bad.test\"] } }\n";

#define NO	"\xe2\x9c\x97 "
#define YES	"\xe2\x9c\x93 "

struct scene {
	struct gate_world	 g;
	struct gate_events	 h;
};

static void
scene_open(struct scene *s, bool is_debug)
{
	memset(s, 0, sizeof *s);
	gate_open(&s->g, policy, is_debug);
	s->h = (struct gate_events){ .witness = s->g.witness,
	    .jail_pid = getpid(), .stop_pid = getppid(),
	    .is_debug = is_debug, .http_port = 3128, .socks_port = 1080 };
}

static void
scene_close(struct scene *s)
{
	gate_events_release(&s->h);
	gate_close(&s->g);
}

static void
decide(const struct scene *s, const char *name, uint16_t port,
    struct verdict *v)
{
	struct host h;

	if (host_canon(name, strlen(name), &h) != 0)
		(void)host_canon("other.test", 10, &h);
	decide_net(s->g.policy, &h, port, v);
}

/* "fence:http ✗ CONNECT 403 ...": without the time, and all lines of it. */
static void
assert_line(const struct scene *s, size_t row, const char *want)
{
	char *all = gate_told(&s->g), got[2000] = "";
	char *time = strchr(all, ']');

	if (time != NULL && strlen(time) > 11)
		snprintf(got, sizeof got, "%.*s %s", (int)(time - all) - 1,
		    all + 1, time + 11);
	if (strcspn(got, "\n") + 1 < strlen(got) ||
	    strncmp(got, want, strlen(want)) != 0 ||
	    (want[0] == '\0' && all[0] != '\0'))
		fail_msg("row %zu: \"%s\"", row, got);
	free(all);
}

/* ---- refusals ---- */

static const struct {
	enum ask_kind	 kind;
	enum ask_via	 via;
	const char	*name;
	uint16_t	 port, qtype;
	const char	*method, *url_path;
	enum ask_status	 status;
	const char	*line;
} refusals[] = {
	{ ASK_LOOKUP, ASK_VIA_DNS, "other.test", 0, 1, "", "", ASK_DENIED,
	    "fence:dns " NO "query(other.test, A) NXDOMAIN | rule "
	    "network.allowedDomains (no entry matches) p.json:1:34   allow: "
	    "network.allowedDomains += \"other.test\"\n" },
	{ ASK_LOOKUP, ASK_VIA_DNS, "bad.test", 0, 28, "", "", ASK_DENIED,
	    "fence:dns " NO "query(bad.test, AAAA) NXDOMAIN | rule "
	    "network.deniedDomains[0] \"bad.test\" p.json:2:21\n" },
	{ ASK_LOOKUP, ASK_VIA_DNS, "bad.test", 0, 64, "", "", ASK_DENIED,
	    "fence:dns " NO "query(bad.test, SVCB) NXDOMAIN" },
	{ ASK_LOOKUP, ASK_VIA_DNS, "bad.test", 0, 999, "", "", ASK_DENIED,
	    "fence:dns " NO "query(bad.test, TYPE999) NXDOMAIN" },
	{ ASK_DIAL, ASK_VIA_HTTP, "other.test", 443, 0, "", "", ASK_DENIED,
	    "fence:http " NO "CONNECT 403 other.test" },
	{ ASK_DIAL, ASK_VIA_HTTP, "other.test", 80, 0, "GET", "/a?b",
	    ASK_DENIED, "fence:http " NO "GET     403 other.test "
	    "http://other.test/a?b (0ms) | rule network.allowedDomains " },
	{ ASK_DIAL, ASK_VIA_HTTP, "good.test", 80, 0, "GET", "/",
	    ASK_PROXY_FAILED,
	    "fence:http ! GET     502 good.test http://good.test/" },
	{ ASK_DIAL, ASK_VIA_HTTP, "good.test", 80, 0, "GET", "/",
	    ASK_PROXY_DENIED, "fence:http " NO "GET     403 good.test" },
	{ ASK_DIAL, ASK_VIA_SOCKS, "other.test", 25, 0, "", "", ASK_DENIED,
	    "fence:socks " NO "CONNECT other.test:25 BLOCKED" },
	{ ASK_DIAL, ASK_VIA_TRANSPARENT, "other.test", 22, 0, "", "",
	    ASK_DENIED, "fence:gate " NO "connect(other.test:22) ECONNRESET" },
	{ ASK_DIAL, ASK_VIA_LOCAL, "127.0.0.1", 22, 0, "", "",
	    ASK_DENIED, "fence:gate " NO "connect(127.0.0.1:22)" },
	{ ASK_DIAL, ASK_VIA_INSIDE, "localhost", 22, 0, "", "",
	    ASK_DENIED, "fence:gate " NO "connect(localhost:22)" },
	{ ASK_SNI, ASK_VIA_SOCKS, "other.test", 443, 0, "", "", ASK_DENIED,
	    "fence:gate " NO "tls(other.test) on a connection to "
	    "good.test:443 | rule network.allowedDomains " },
	{ ASK_SNI, ASK_VIA_HTTP, "", 443, 0, "", "", ASK_DENIED,
	    "fence:gate " NO "tls(?) on a connection to good.test:443" },
	/* Bytes of the jail's. */
	{ ASK_LOOKUP, ASK_VIA_DNS, "a\033[31m\n.test", 0, 1, "", "",
	    ASK_DENIED, "fence:dns " NO
	    "query(a\\x1b[31m\\x0a.test, A) NXDOMAIN" },
	{ ASK_DIAL, ASK_VIA_HTTP, "other.test", 80, 0, "G\nT", "/\r\n",
	    ASK_DENIED, "fence:http " NO "G\\x0aT  403 other.test "
	    "http://other.test/\\x0d\\x0a (0ms)" },
};

static void
test_refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(refusals); i++) {
		struct ask_msg q;
		struct verdict v;
		struct scene s;

		scene_open(&s, false);
		q = gate_msg(&s.g, refusals[i].kind, refusals[i].via,
		    refusals[i].name, refusals[i].port);
		q.qtype = refusals[i].qtype;
		strcpy(q.method, refusals[i].method);
		if (q.kind == ASK_SNI)
			strcpy(q.granted, "good.test");
		else
			strcpy(q.url_path, refusals[i].url_path);
		decide(&s, refusals[i].name, q.port, &v);
		v.action = ACTION_DENY;
		assert_int_equal(gate_events_refusal(&s.h, &q,
		    refusals[i].status, refusals[i].name, &v), 0);
		assert_line(&s, i, refusals[i].line);
		scene_close(&s);
	}
}

/* ---- who asked ---- */

struct asker {
	pid_t			pid;
	struct ask_source	source;
};

/* A process with a connection, which waits until it is ended. */
static void
asker_start(const struct scene *s, struct asker *a)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
	    .sin_port = htons(s->g.open_port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof in;
	int ready[2], fd;

	assert_int_equal(pipe(ready), 0);
	a->pid = fork();
	assert_true(a->pid >= 0);
	if (a->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)prctl(PR_SET_NAME, "asker");
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(fd, (void *)&in, sizeof in) != 0 ||
		    getsockname(fd, (void *)&in, &len) != 0 ||
		    write(ready[1], &in, sizeof in) != sizeof in)
			_exit(1);
		for (;;)
			(void)pause();
	}
	fd_close(&ready[1]);
	assert_int_equal(read(ready[0], &in, sizeof in), sizeof in);
	fd_close(&ready[0]);
	a->source = (struct ask_source){ .family = AF_INET,
	    .port = ntohs(in.sin_port) };
	memcpy(a->source.addr, &in.sin_addr, 4);
}

static void
asker_end(const struct asker *a)
{
	(void)kill(a->pid, SIGKILL);
	(void)waitpid(a->pid, NULL, 0);
}

/* By the address of its socket; behind a port of --port there is none. */
static void
test_asker(void **state)
{
	static const struct { enum ask_via via; bool is_found; } t[] = {
		{ ASK_VIA_SOCKS, true }, { ASK_VIA_HTTP, true },
		{ ASK_VIA_TRANSPARENT, true }, { ASK_VIA_INSIDE, false },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(t); i++) {
		struct asker a;
		struct verdict v;
		struct ask_msg q;
		struct scene s;
		char who[32];

		scene_open(&s, false);
		s.h.stop_pid = getpid();
		asker_start(&s, &a);
		decide(&s, "other.test", 443, &v);
		q = gate_msg(&s.g, ASK_DIAL, t[i].via, "other.test", 443);
		q.source = a.source;
		assert_int_equal(gate_events_refusal(&s.h, &q, ASK_DENIED,
		    "other.test", &v), t[i].is_found ? a.pid : 0);
		snprintf(who, sizeof who, "asker[%d]", (int)a.pid);
		if (t[i].is_found)
			gate_assert_told(&s.g, "asker", who);
		asker_end(&a);		/* and is gone */
		assert_int_equal(gate_events_refusal(&s.h, &q, ASK_DENIED,
		    "other.test", &v), 0);
		scene_close(&s);
	}
}

/* With -d: who asked is known when the answer comes, though it is gone. */
static void
test_remembered(void **state)
{
	const struct gate_events_grant g = { .code = 200, .ms = 12 };
	struct asker a;
	struct verdict v;
	struct ask_msg q;
	struct scene s;
	char who[32];

	(void)state;
	scene_open(&s, true);
	s.h.stop_pid = getpid();
	asker_start(&s, &a);
	decide(&s, "good.test", 80, &v);
	q = gate_msg(&s.g, ASK_DIAL, ASK_VIA_HTTP, "good.test", 80);
	q.source = a.source;
	strcpy(q.method, "GET");
	gate_events_remember(&s.h, &q);
	asker_end(&a);
	gate_assert_told(&s.g, "not yet", NULL);
	q.kind = ASK_DONE;
	gate_events_grant(&s.h, &q, "good.test", &v, &g);
	snprintf(who, sizeof who, "asker[%d]", (int)a.pid);
	gate_assert_told(&s.g, "done", who);
	gate_assert_told(&s.g, "done", "(12ms)");
	scene_close(&s);
}

/* ---- grants ---- */

static const struct {
	enum ask_via	 via;
	int		 code, sys;
	bool		 is_told;	/* without -d */
	const char	*line;
} grants[] = {
	{ ASK_VIA_DNS, 0, 0, false, "fence:dns " YES "query(good.test, A)" },
	{ ASK_VIA_HTTP, 200, 0, false, "fence:http " YES "CONNECT 200" },
	{ ASK_VIA_HTTP, 404, 0, false, "fence:http " YES "CONNECT 404" },
	{ ASK_VIA_HTTP, 502, ECONNREFUSED, true,
	    "fence:http ! CONNECT 502 good.test" },
	{ ASK_VIA_SOCKS, 0, 0, false, "fence:socks " YES "CONNECT good.test" },
	{ ASK_VIA_SOCKS, 0, ECONNREFUSED, false, "fence:socks " },
	{ ASK_VIA_TRANSPARENT, 0, 0, false,
	    "fence:gate " YES "connect(good.test:443)" },
	{ ASK_VIA_LOCAL, 0, 0, false, "fence:gate " YES "connect(" },
	/* Nobody listens at a port of the host's, or of the jail's. */
	{ ASK_VIA_LOCAL, 0, ECONNREFUSED, true, "fence:gate ! connect(" },
	{ ASK_VIA_INSIDE, 0, ECONNREFUSED, true, "fence:gate ! connect(" },
};

static void
test_grants(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * N_OF(grants); i++) {
		const bool is_debug = i % 2 != 0;
		const struct gate_events_grant g = {
		    .code = grants[i / 2].code, .sys = grants[i / 2].sys };
		struct verdict v;
		struct ask_msg q;
		struct scene s;

		scene_open(&s, is_debug);
		decide(&s, "good.test", 443, &v);
		q = gate_msg(&s.g, grants[i / 2].via == ASK_VIA_DNS ?
		    ASK_LOOKUP : ASK_DIAL, grants[i / 2].via, "good.test",
		    443);
		gate_events_grant(&s.h, &q, "good.test", &v, &g);
		assert_line(&s, i / 2, is_debug || grants[i / 2].is_told ?
		    grants[i / 2].line : "");
		scene_close(&s);
	}
}

/* ---- findings ---- */

static void
test_findings(void **state)
{
	struct ask_msg q;
	struct scene s;

	(void)state;
	scene_open(&s, false);
	gate_events_restart(&s.h, W_EXITCODE(0, SIGKILL));
	gate_assert_told(&s.g, "killed", "fence-net ended (signal 9)");
	gate_events_restart(&s.h, W_EXITCODE(3, 0));
	gate_assert_told(&s.g, "ended", "fence-net ended (status 3)");
	/* Once for a run. */
	gate_events_book_full(&s.h);
	gate_events_book_full(&s.h);
	gate_assert_told(&s.g, "full", "are used up");
	assert_int_equal(gate_told_lines(&s.g), 3);
	q = gate_msg(&s.g, ASK_NOTE, 0, "", 0);
	q.note = ASK_NOTE_BAD_REQUEST;
	gate_events_note(&s.h, &q);
	gate_assert_told(&s.g, "note", "malformed request");
	assert_int_equal(gate_told_lines(&s.g), 4);
	scene_close(&s);
}

/* Long labels below one domain, again and again: told, with the domain. */
static void
test_names(void **state)
{
	struct scene s;
	char name[200];
	unsigned n;

	(void)state;
	scene_open(&s, false);
	for (int i = 0; i < 50; i++)
		gate_events_name(&s.h, "www.plain.test");
	gate_assert_told(&s.g, "plain", NULL);
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "%08x%08x%08x%08x%08x.leak.test",
		    i * 2654435761u, i * 40503u + 77, i * 2246822519u,
		    ~i * 3266489917u, i * 668265263u);
		gate_events_name(&s.h, name);
	}
	gate_assert_told(&s.g, "leak", "names below leak.test");
	n = gate_told_lines(&s.g);
	assert_true(n >= 1 && n < 300);
	scene_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_asker),
		cmocka_unit_test(test_remembered),
		cmocka_unit_test(test_grants),
		cmocka_unit_test(test_findings),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
