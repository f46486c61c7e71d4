#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "platform/base/buf.h"
#include "platform/fd.h"
#include "proxy/serve.h"
#include "proxy/socks5.h"

enum { READ_BYTES = 4096 };

struct socks_conn {
	struct conn	conn;
	struct socks5	socks;
	struct buf	rest;		/* came behind the request */
};

const size_t serve_socks5_size = sizeof(struct socks_conn);

static void
socks_end(struct conn *c)
{
	buf_release(&((struct socks_conn *)c)->rest);
}

/* The end of the conversation; s is not to be used afterwards. */
static void
socks_refuse(struct socks_conn *s, enum socks5_outcome outcome)
{
	uint8_t reply[SOCKS5_REPLY_BYTES];

	socks5_reply(outcome, reply);
	conn_finish(&s->conn, reply, sizeof reply);
}

static enum socks5_outcome
outcome_of(const struct ask_answer *a)
{
	switch (a->status) {
	case ASK_DENIED:
	case ASK_PROXY_DENIED:
		return SOCKS5_NOT_ALLOWED;
	case ASK_NOHOST:
		return SOCKS5_HOST_UNREACHABLE;
	case ASK_REFUSED:
		return a->sys == ECONNREFUSED ? SOCKS5_REFUSED :
		    a->sys == ENETUNREACH ? SOCKS5_NET_UNREACHABLE :
		    SOCKS5_HOST_UNREACHABLE;
	}
	return SOCKS5_FAILURE;
}

static void
socks_answered(void *arg, const struct ask_answer *a, int *fd)
{
	struct socks_conn *s = arg;
	uint8_t reply[SOCKS5_REPLY_BYTES];
	struct relay_spec spec = {
		.to_client = reply, .to_client_len = sizeof reply,
		.to_server = s->rest.data, .to_server_len = s->rest.len,
	};

	s->conn.question = NULL;
	socks5_reply(SOCKS5_GRANTED, reply);
	if (a->status == ASK_SELF) {
		conn_self(&s->conn, reply, sizeof reply, s->rest.data,
		    s->rest.len);
		return;
	}
	if (a->status == ASK_DENIED && a->is_loop) {
		conn_hold(&s->conn);
		return;
	}
	if (a->status != ASK_OK || *fd < 0) {
		socks_refuse(s, outcome_of(a));
		return;
	}
	if (conn_tunnel(&s->conn, fd, &spec, ASK_VIA_SOCKS, s->socks.port,
	    a) != 0)
		conn_reset(&s->conn);
	else
		buf_release(&s->rest);
}

static void
socks_ask(struct socks_conn *s)
{
	struct ask_msg m = { .kind = ASK_DIAL, .via = ASK_VIA_SOCKS,
	    .port = s->socks.port };
	struct conn *c = &s->conn;

	ask_fill_name(&m, s->socks.host, strlen(s->socks.host));
	ask_fill_source(&m, &c->peer, false);
	if (conn_wait(c) != 0 ||
	    conn_expire(c, c->home->limits.idle_ms) != 0) {
		conn_reset(c);
		return;
	}
	c->question = questions_ask(c->home->questions, &m, socks_answered, s);
	if (c->question == NULL)
		socks_refuse(s, SOCKS5_FAILURE);
}

/* The parser has the last words for it. */
static void
socks_bad(struct socks_conn *s)
{
	bool is_command = s->socks.command == SOCKS5_BIND ||
	    s->socks.command == SOCKS5_UDP_ASSOCIATE;

	(void)questions_note(s->conn.home->questions, is_command ?
	    ASK_NOTE_COMMAND : ASK_NOTE_BAD_REQUEST, &s->conn.peer);
	conn_finish(&s->conn, s->socks.answer, s->socks.answer_len);
}

static bool
socks_say(const struct socks_conn *s)
{
	size_t len = s->socks.answer_len;

	return len == 0 || send(s->conn.fd, s->socks.answer, len,
	    MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len;
}

static void
socks_ready(struct watch *w, int what, void *arg)
{
	struct socks_conn *s = arg;
	enum socks5_status st;
	char bytes[READ_BYTES];
	size_t used;
	ssize_t n;

	(void)w;
	(void)what;
	n = recv(s->conn.fd, bytes, sizeof bytes, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		conn_free(&s->conn);
		return;
	}
	st = socks5_feed(&s->socks, bytes, (size_t)n, &used);
	if (st == SOCKS5_BAD) {
		socks_bad(s);
		return;
	}
	buf_add(&s->rest, bytes + used, (size_t)n - used);
	if (s->rest.failed || !socks_say(s))
		conn_free(&s->conn);
	else if (st == SOCKS5_DONE)
		socks_ask(s);
}

int
serve_socks5(struct conn *c)
{
	struct socks_conn *s = (struct socks_conn *)c;

	socks5_init(&s->socks);
	buf_init(&s->rest, READ_BYTES);
	c->end = socks_end;
	c->watch = loop_fd(c->home->loop, c->fd, LOOP_READ, socks_ready, s);
	if (c->watch == NULL ||
	    conn_expire(c, c->home->limits.handshake_ms) != 0)
		return -1;
	/* A client speaks as soon as it is connected: most have by now. */
	socks_ready(c->watch, LOOP_READ, s);
	return 0;
}
