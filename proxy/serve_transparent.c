#include <stdio.h>
#include <string.h>

#include "platform/fd.h"
#include "proxy/serve.h"
#include "proxy/sshsay.h"

/* ssh and git over ssh have a place for the reason; a reset has none. */
static void
say_refused(struct conn *c, const struct ask_answer *a)
{
	uint8_t buf[SSHSAY_MAX];
	char text[sizeof a->rule + sizeof a->remedy + 64];

	(void)snprintf(text, sizeof text, "fence: not allowed by the policy, "
	    "rule: %s, allow: %s", a->rule, a->remedy);
	conn_finish(c, buf, sshsay_refusal(buf, text));
}

static void
transparent_answered(void *arg, const struct ask_answer *a, int *fd)
{
	struct relay_spec spec = { 0 };
	struct conn *c = arg;
	struct net_addr dest = { 0 };

	c->question = NULL;
	if (a->status == ASK_SELF) {
		conn_self(c, NULL, 0, NULL, 0);
		return;
	}
	if (a->status == ASK_DENIED && a->is_loop) {
		conn_hold(c);
		return;
	}
	(void)net_local(c->fd, &dest);
	if (a->status == ASK_DENIED && dest.port == SSHSAY_PORT) {
		say_refused(c, a);
		return;
	}
	if (a->status != ASK_OK || *fd < 0 || dest.port == 0 ||
	    conn_tunnel(c, fd, &spec, ASK_VIA_TRANSPARENT, dest.port, a) != 0)
		conn_reset(c);
}

/*
 * The connection was made before anybody was asked, so a refusal can only be
 * a reset (but for ssh's port).  What the client sends meanwhile waits in its socket.
 */
int
serve_transparent(struct conn *c)
{
	struct ask_msg m = { .kind = ASK_DIAL, .via = ASK_VIA_TRANSPARENT };
	struct net_addr dest;
	char text[NET_TEXT_MAX];

	/* A loopback destination is the listener itself, called by its name. */
	if (net_local(c->fd, &dest) != 0 || net_is_loopback(&dest))
		return -1;
	net_text(&dest, text);
	ask_fill_name(&m, text, strlen(text));
	ask_fill_source(&m, &c->peer, false);
	m.port = dest.port;
	if (conn_wait(c) != 0 || conn_expire(c, c->home->limits.idle_ms) != 0)
		return -1;
	c->question = questions_ask(c->home->questions, &m,
	    transparent_answered, c);
	return c->question != NULL ? 0 : -1;
}
