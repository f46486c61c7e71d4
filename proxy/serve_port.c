#include <string.h>

#include "platform/fd.h"
#include "proxy/serve.h"

static void
port_answered(void *arg, const struct ask_answer *a, int *fd)
{
	struct relay_spec spec = { 0 };
	struct conn *c = arg;

	c->question = NULL;
	if (a->status != ASK_OK || *fd < 0 || conn_relay(c, fd, &spec) != 0)
		conn_reset(c);
}

/*
 * As with the transparent gate the connection is there before anybody was
 * asked: a refusal, or that nobody listens at the other end, is a reset.
 */
int
serve_port(struct conn *c)
{
	struct ask_msg m = { .kind = ASK_DIAL, .via = (uint16_t)c->via,
	    .port = c->port };
	struct net_addr here;
	char text[NET_TEXT_MAX];

	if (net_local(c->fd, &here) != 0)
		return -1;
	net_text(&here, text);
	ask_fill_name(&m, text, strlen(text));
	ask_fill_source(&m, &c->peer, false);
	if (conn_wait(c) != 0 || conn_expire(c, c->home->limits.idle_ms) != 0)
		return -1;
	c->question = questions_ask(c->home->questions, &m, port_answered, c);
	return c->question != NULL ? 0 : -1;
}
