#include "launcher/gate/inbound.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "platform/fd.h"
#include "platform/mint.h"

/* So few that neither side of the socket ever blocks. */
enum { ASKED_MAX = 32, TURN_MAX = 16 };

struct inbound_call {
	struct inbound	*inbound;
	struct inbound_call	*next, **link;	/* while there is no socket */
	struct dial		*dial;
	dial_fn			*fn;
	void			*arg;
	uint16_t		 port;
};

struct inbound {
	struct loop		*loop;
	int			 fd;
	struct watch		*watch;		/* NULL: the minter is gone */
	struct inbound_call	*first, **last;	/* who waits, by turns */
	unsigned		 nwaiting, nasked;
};

static void
leave_queue(struct inbound_call *c)
{
	struct inbound *d = c->inbound;

	if (c->link == NULL)
		return;
	*c->link = c->next;
	if (c->next != NULL)
		c->next->link = c->link;
	else
		d->last = c->link;
	c->link = NULL;
	d->nwaiting--;
}

static void
finish(int fd, int sys, void *arg)
{
	struct inbound_call *c = arg;
	dial_fn *fn = c->fn;
	void *fn_arg = c->arg;

	free(c);
	fn(fd, sys, fn_arg);
}

static void
fail(struct inbound_call *c, int sys)
{
	leave_queue(c);
	finish(-1, sys, c);
}

/* One request for each who waits, up to the ceiling. */
static void
ask_more(struct inbound *d)
{
	while (d->nasked < ASKED_MAX && d->nasked < d->nwaiting &&
	    fd_send(d->fd, "", 1, NULL, 0, MSG_DONTWAIT) == 1)
		d->nasked++;
}

static void
minter_gone(struct inbound *d)
{
	watch_free(d->watch);
	d->watch = NULL;
	while (d->first != NULL)
		fail(d->first, EPIPE);
}

/* Takes the sockets, which may be none. */
static void
begin(struct inbound *d, int *fds, size_t n)
{
	static const struct dial_addr homes[MINTER_SOCKETS] = {
		{ AF_INET, { 127, 0, 0, 1 } },
		{ AF_INET6, { [15] = 1 } },
	};
	struct inbound_call *c = d->first;
	int fd = -1;

	if (c != NULL && n > 0)
		c->dial = dial_start_made(d->loop, homes, fds, n, c->port,
		    finish, c, &fd);
	if (c != NULL && c->dial == NULL && fd < 0) {
		fail(c, ENOBUFS);
	} else if (c != NULL) {
		leave_queue(c);
		if (fd >= 0)
			finish(fd, 0, c);
	}
	while (n > 0)
		fd_close(&fds[--n]);
}

static void
minter_ready(struct watch *w, int what, void *arg)
{
	struct inbound *d = arg;
	int fds[MINTER_SOCKETS];
	size_t nfds;
	ssize_t n;
	char c;

	(void)w;
	(void)what;
	for (int i = 0; i < TURN_MAX; i++) {
		n = fd_recv(d->fd, &c, 1, fds, MINTER_SOCKETS, &nfds,
		    MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EMSGSIZE))
			break;
		if (n <= 0) {
			minter_gone(d);
			return;
		}
		d->nasked--;
		begin(d, fds, nfds);
	}
	ask_more(d);
}

struct inbound_call *
inbound_dial(struct inbound *d, uint16_t port, dial_fn *fn, void *arg)
{
	struct inbound_call *c = d->watch != NULL ? calloc(1, sizeof *c) : NULL;

	if (c == NULL)
		return NULL;
	*c = (struct inbound_call){ .inbound = d, .link = d->last, .fn = fn,
	    .arg = arg, .port = port };
	*d->last = c;
	d->last = &c->next;
	d->nwaiting++;
	ask_more(d);
	return c;
}

void
inbound_cancel(struct inbound_call *c)
{
	if (c == NULL)
		return;
	leave_queue(c);
	dial_cancel(c->dial);
	free(c);
}

struct inbound *
inbound_new(struct loop *loop, int minter_fd)
{
	struct inbound *d = calloc(1, sizeof *d);

	if (d == NULL)
		return NULL;
	d->loop = loop;
	d->fd = minter_fd;
	d->last = &d->first;
	d->watch = loop_fd(loop, minter_fd, LOOP_READ, minter_ready, d);
	if (d->watch != NULL)
		return d;
	free(d);
	return NULL;
}

void
inbound_free(struct inbound *d)
{
	if (d == NULL)
		return;
	watch_free(d->watch);
	free(d);
}
