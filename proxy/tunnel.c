#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "platform/fd.h"
#include "proxy/peek.h"
#include "proxy/serve.h"

enum { DRAIN_MS = 2000, HOLD_MS = 1000 };

_Static_assert((int)RELAY_HELD_MAX >= (int)TLSHELLO_MAX_BYTES,
    "a hello that is held must be one that can be judged");

/* A tunnel while it is looked into. */
struct tunnel {
	struct peek	peek;
	struct ask_msg	msg;		/* the question, but for the name */
	bool		is_granted;	/* whatever it is */
};

static void
conn_drain(struct watch *w, int what, void *arg)
{
	struct conn *c = arg;
	char *buf = loop_buf(c->home->loop);
	ssize_t n;

	(void)w;
	(void)what;
	n = buf == NULL ? 0 : recv(c->fd, buf, LOOP_BUF_BYTES, MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		conn_free(c);
}

void
conn_finish(struct conn *c, const void *data, size_t len)
{
	/* Far below any send buffer, and the first bytes in it. */
	ssize_t n = send(c->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);

	watch_free(c->watch);
	c->watch = NULL;
	if (n == (ssize_t)len && shutdown(c->fd, SHUT_WR) == 0 &&
	    conn_expire(c, DRAIN_MS) == 0)
		c->watch = loop_fd(c->home->loop, c->fd, LOOP_READ, conn_drain,
		    c);
	if (c->watch == NULL)
		conn_free(c);
}

void
conn_hold(struct conn *c)
{
	if (conn_wait(c) != 0 || conn_expire(c, HOLD_MS) != 0)
		conn_reset(c);
}

static void
tunnel_judged(void *arg, const struct ask_answer *a, int *fd)
{
	/* A fatal alert, in the open as all before the server's hello. */
	static const uint8_t access_denied[] = { 21, 3, 3, 0, 2, 2, 49 };
	struct conn *c = arg;
	struct tunnel *t = c->tunnel;

	(void)fd;
	c->question = NULL;
	if (a->status != ASK_OK) {
		relay_finish(c->relay, access_denied, sizeof access_denied);
		return;
	}
	if (t->msg.name_len > 0)
		peek_allow(&t->peek);
	else
		t->is_granted = true;
	relay_look(c->relay);
}

/* Asks about a name; "" stands for a hello that cannot be understood. */
static int
tunnel_ask(struct conn *c, const char *sni)
{
	struct tunnel *t = c->tunnel;

	if (c->question != NULL)
		return 0;
	memset(t->msg.name, 0, sizeof t->msg.name);
	ask_fill_name(&t->msg, sni, strlen(sni));
	c->question = questions_ask(c->home->questions, &t->msg,
	    tunnel_judged, c);
	return c->question != NULL ? 0 : -1;
}

/* The name that was dialled needs no question. */
static bool
is_dialled(const struct tunnel *t)
{
	return strcasecmp(t->peek.hello.sni, t->msg.granted) == 0;
}

static ssize_t
tunnel_over(struct conn *c, size_t len, bool *is_over)
{
	*is_over = true;
	free(c->tunnel);
	c->tunnel = NULL;
	return (ssize_t)len;
}

static ssize_t
tunnel_look(void *arg, const char *held, size_t len, bool *is_over)
{
	struct conn *c = arg;
	struct tunnel *t = c->tunnel;
	size_t at = 0, n;

	while (!t->is_granted)
		switch (peek_client(&t->peek, held + at, len - at, &n)) {
		case PEEK_PASS:
			at += n;
			break;
		case PEEK_HOLD:
			return (ssize_t)at;
		case PEEK_JUDGE:
			if (is_dialled(t)) {
				peek_allow(&t->peek);
				break;
			}
			return tunnel_ask(c, t->peek.hello.sni) == 0 ?
			    (ssize_t)at : -1;
		case PEEK_BAD:
			return tunnel_ask(c, "") == 0 ? (ssize_t)at : -1;
		case PEEK_OVER:
			t->is_granted = true;
			break;
		}
	return tunnel_over(c, len, is_over);
}

static void
tunnel_hear(void *arg, const char *data, size_t len)
{
	struct conn *c = arg;

	peek_server(&c->tunnel->peek, data, len);
}

int
conn_tunnel(struct conn *c, int *server_fd, struct relay_spec *spec,
    enum ask_via via, uint16_t port, const struct ask_answer *a)
{
	struct tunnel *t;

	if (a->tls_name[0] == '\0')
		return conn_relay(c, server_fd, spec);
	t = calloc(1, sizeof *t);
	if (t == NULL)
		return -1;
	peek_init(&t->peek);
	t->msg = (struct ask_msg){ .kind = ASK_SNI, .via = (uint16_t)via,
	    .port = port };
	memcpy(t->msg.granted, a->tls_name, sizeof t->msg.granted);
	ask_fill_source(&t->msg, &c->peer, false);
	c->tunnel = t;
	spec->look = tunnel_look;
	spec->hear = tunnel_hear;
	return conn_relay(c, server_fd, spec);
}
