/*
 * gate_world: what stands around the gate, for its unit tests.  The test plays
 * fence-net by one end of a socket pair.  A script plays fence-names: it
 * answers from a table, as soon as the loop sees the question.  Two ports of
 * 127.0.0.1: somebody listens on one of them, and nobody on the other.
 */
#ifndef FENCE_TESTS_GATE_WORLD_H
#define FENCE_TESTS_GATE_WORLD_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/record/witness.h"
#include "platform/fd.h"
#include "platform/loop.h"
#include "policy/policy.h"
#include "proxy/ask.h"
#include "tests/unit/verdict_words.h"

#define N_OF(a)	(sizeof(a) / sizeof(a)[0])

/* In policies and in questions: the ports of the world. */
enum { PORT_OPEN = 1, PORT_SHUT = 2 };

/* What fence-names knows; a name that is not here does not resolve. */
struct gate_name {
	const char	*name;
	const char	*addrs[3];
};

static const struct gate_name gate_names[] = {
	{ "good.test", { "127.0.0.1" } },
	{ "both.test", { "10.9.9.9", "127.0.0.1" } },
	{ "private.test", { "10.1.2.3" } },
	{ "meta.test", { "169.254.169.254" } },
	{ "own.test", { "127.0.0.2" } },
	{ "own6.test", { "::1" } },
	{ "mapped.test", { "::ffff:127.0.0.2" } },
	{ "none.test", { NULL } },
	{ "proxy.test", { "127.0.0.1" } },
	{ "grey.test", { "127.0.0.1" } },
};

/* How the scripted fence-names behaves. */
enum { STOP_SILENT = 7 };	/* of loop_run() */

enum names_mood {
	NAMES_ANSWER,
	NAMES_SILENT,		/* reads, says nothing, and stops the loop */
	NAMES_DIE,		/* closes at the first question */
	NAMES_BABBLE,		/* sends rubbish before each answer */
};

struct gate_world {
	struct loop	*loop;
	struct policy	*policy;
	struct witness	*witness;
	int		 text_fd;	/* the records, as lines */
	int		 open_fd, shut_fd;
	uint16_t	 open_port, shut_port;

	int		 names_fd;	/* the gate's end */
	int		 script_fd;	/* the script's */
	struct watch	*script;
	enum names_mood	 mood;
	unsigned	 nasked;	/* RESOLVE that came */
	struct ask_msg	 asked;		/* the last of them */
	struct ask_shake shake;		/* the last that came */
	unsigned	 nshakes;
	int		 shake_fd;	/* with it */
	struct ask_answer shaken;	/* what is answered to it */
};

/* ---- ports ---- */

static inline int
gate_bind(uint16_t *ret_port, bool is_open)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof in;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (void *)&in, sizeof in), 0);
	assert_int_equal(getsockname(fd, (void *)&in, &len), 0);
	if (is_open)
		assert_int_equal(listen(fd, 64), 0);
	*ret_port = ntohs(in.sin_port);
	return fd;
}

static inline uint16_t
gate_port(const struct gate_world *g, int port)
{
	return port == PORT_OPEN ? g->open_port : port == PORT_SHUT ?
	    g->shut_port : (uint16_t)port;
}

/* Is the descriptor connected to the port that is open? */
static inline bool
gate_is_connected(const struct gate_world *g, int fd)
{
	struct sockaddr_in in = { 0 };
	socklen_t len = sizeof in;

	return fd >= 0 && getpeername(fd, (void *)&in, &len) == 0 &&
	    in.sin_family == AF_INET && ntohs(in.sin_port) == g->open_port;
}

/* "@OPEN@" and "@SHUT@" become numbers. */
static inline char *
gate_expand(const struct gate_world *g, const char *text)
{
	struct buf b;
	char *ret;

	buf_init(&b, 0);
	for (; *text != '\0'; text++) {
		if (strncmp(text, "@OPEN@", 6) == 0)
			buf_printf(&b, "%u", g->open_port);
		else if (strncmp(text, "@SHUT@", 6) == 0)
			buf_printf(&b, "%u", g->shut_port);
		else {
			buf_putc(&b, *text);
			continue;
		}
		text += 5;
	}
	ret = strdup(b.data);
	buf_release(&b);
	return ret;
}

/* ---- the scripted fence-names ---- */

static inline void
gate_addr(struct ask_answer *a, const char *text)
{
	struct ask_addr *at = &a->addrs[a->naddrs++];

	at->family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
	assert_int_equal(inet_pton(at->family, text, at->addr), 1);
}

static inline void
gate_resolve(struct gate_world *g, const struct ask_msg *q)
{
	struct ask_answer a = { .magic = ASK_MAGIC, .id = q->id,
	    .status = ASK_NOHOST };

	for (size_t i = 0; i < N_OF(gate_names); i++) {
		if (strcmp(gate_names[i].name, q->name) != 0)
			continue;
		a.status = ASK_OK;
		for (size_t n = 0; n < 3 && gate_names[i].addrs[n] != NULL;
		    n++)
			gate_addr(&a, gate_names[i].addrs[n]);
	}
	assert_int_equal(fd_send(g->script_fd, &a, sizeof a, NULL, 0, 0),
	    sizeof a);
}

static inline void
gate_names_die(struct gate_world *g)
{
	watch_free(g->script);
	g->script = NULL;
	fd_close(&g->script_fd);
}

/* No magic, half a message, a status that is none, an id that is nobody's. */
static inline void
gate_babble(const struct gate_world *g, uint32_t id)
{
	struct ask_answer a = { .magic = 1, .id = id, .status = ASK_OK };

	(void)fd_send(g->script_fd, &a, sizeof a, NULL, 0, 0);
	a.magic = ASK_MAGIC;
	(void)fd_send(g->script_fd, &a, sizeof a / 2, NULL, 0, 0);
	a.status = 99;
	(void)fd_send(g->script_fd, &a, sizeof a, NULL, 0, 0);
	a.status = ASK_OK;
	a.naddrs = ASK_MAX_ADDRS + 1;
	(void)fd_send(g->script_fd, &a, sizeof a, NULL, 0, 0);
	a.naddrs = 0;
	a.id = id + 1000;
	(void)fd_send(g->script_fd, &a, sizeof a, NULL, 0, 0);
}

static inline void
gate_names_ready(struct watch *w, int what, void *arg)
{
	struct gate_world *g = arg;
	union { struct ask_msg m; struct ask_shake s; } raw;
	size_t nfds = 0;
	int fd = -1;
	ssize_t n;

	(void)w;
	(void)what;
	n = fd_recv(g->script_fd, &raw, sizeof raw, &fd, 1, &nfds,
	    MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0 || g->mood == NAMES_DIE) {
		if (nfds > 0)
			fd_close(&fd);
		gate_names_die(g);
		return;
	}
	if (ask_check_shake(&raw, (size_t)n, &g->shake) == 0) {
		assert_int_equal(nfds, 1);
		fd_close(&g->shake_fd);
		g->shake_fd = fd;
		g->nshakes++;
		g->shaken.magic = ASK_MAGIC;
		g->shaken.id = g->shake.id;
		if (g->mood == NAMES_SILENT)
			loop_stop(g->loop, STOP_SILENT);
		else
			(void)fd_send(g->script_fd, &g->shaken,
			    sizeof g->shaken, NULL, 0, 0);
		return;
	}
	assert_int_equal(nfds, 0);
	assert_int_equal(ask_check_msg(&raw, (size_t)n, &g->asked), 0);
	assert_int_equal(g->asked.kind, ASK_RESOLVE);
	g->nasked++;
	if (g->mood == NAMES_BABBLE)
		gate_babble(g, g->asked.id);
	if (g->mood == NAMES_SILENT)
		loop_stop(g->loop, STOP_SILENT);
	else
		gate_resolve(g, &g->asked);
}

/* ---- life ---- */

static inline void
gate_pair(int ret[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0, ret), 0);
}

static inline struct policy *
gate_policy(const struct gate_world *g, const char *text)
{
	const struct policy_env env = { .workspace = "/ws", .home = "/h" };
	char *t = gate_expand(g, text);
	struct policy *p = NULL;
	struct err e = { 0 };

	if (policy_parse(t, strlen(t), "p.json", &env, &p, &e) != 0)
		fail_msg("%s: %s", t, e.msg);
	free(t);
	return p;
}

static inline void
gate_open(struct gate_world *g, const char *policy, bool is_debug)
{
	struct witness_config c = { .run = { .id = "0123456789abcdef",
	    .hostname = "box", .version = "0", .policy_name = "p.json" },
	    .trace_fd = -1, .is_debug = is_debug };
	FILE *text = tmpfile();
	int sv[2];

	memset(g, 0, sizeof *g);
	assert_non_null(text);
	g->text_fd = dup(fileno(text));
	(void)fclose(text);
	g->loop = loop_new();
	assert_non_null(g->loop);
	g->open_fd = gate_bind(&g->open_port, true);
	g->shut_fd = gate_bind(&g->shut_port, false);
	g->policy = gate_policy(g, policy);
	c.policy = g->policy;
	c.text_fd = g->text_fd;
	g->witness = witness_new(&c);
	assert_non_null(g->witness);
	gate_pair(sv);
	g->names_fd = sv[0];
	g->script_fd = sv[1];
	g->shake_fd = -1;
	g->shaken.status = ASK_OK;
	g->script = loop_fd(g->loop, g->script_fd, LOOP_READ,
	    gate_names_ready, g);
	assert_non_null(g->script);
}

/* What is made of the world's loop is freed before. */
static inline void
gate_close(struct gate_world *g)
{
	gate_names_die(g);
	witness_free(g->witness);
	policy_free(g->policy);
	loop_free(g->loop);
	fd_close(&g->names_fd);
	fd_close(&g->shake_fd);
	fd_close(&g->text_fd);
	fd_close(&g->open_fd);
	fd_close(&g->shut_fd);
}

/* ---- records ---- */

/* Everything that was told so far; the caller frees it. */
static inline char *
gate_told(const struct gate_world *g)
{
	struct stat st;
	char *s;

	assert_int_equal(fstat(g->text_fd, &st), 0);
	s = calloc(1, (size_t)st.st_size + 1);
	assert_non_null(s);
	assert_int_equal(pread(g->text_fd, s, (size_t)st.st_size, 0),
	    st.st_size);
	return s;
}

static inline unsigned
gate_told_lines(const struct gate_world *g)
{
	char *s = gate_told(g);
	unsigned n = 0;

	for (const char *p = s; *p != '\0'; p++)
		n += *p == '\n';
	free(s);
	return n;
}

/* One of the records has these words; of NULL there is none at all. */
static inline void
gate_assert_told(const struct gate_world *g, const char *row,
    const char *words)
{
	char *s = gate_told(g);

	if (words == NULL ? s[0] != '\0' : strstr(s, words) == NULL)
		fail_msg("%s: told \"%s\", not \"%s\"", row, s,
		    words != NULL ? words : "");
	free(s);
}

/* ---- questions ---- */

static inline struct ask_msg
gate_msg(const struct gate_world *g, enum ask_kind kind, enum ask_via via,
    const char *name, int port)
{
	static uint32_t id;
	struct ask_msg q = { .magic = ASK_MAGIC, .id = ++id,
	    .kind = (uint16_t)kind, .via = (uint16_t)via,
	    .port = gate_port(g, port), .qtype = 1,
	    .name_len = (uint16_t)strlen(name) };

	assert_true(strlen(name) < sizeof q.name);
	strcpy(q.name, name);
	return q;
}

#endif
