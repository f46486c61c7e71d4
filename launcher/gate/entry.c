#include "launcher/gate/entry.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "platform/fd.h"
#include "platform/mint.h"

/* So few that neither side of the socket ever blocks. */
enum { ASKED_MAX = 32, TURN_MAX = 16 };

struct entry_call {
	struct entry_desk	*desk;
	struct entry_call	*next, **link;	/* while it waits for a socket */
	struct dial		*dial;
	dial_fn			*fn;
	void			*arg;
	uint16_t		 port;
};

struct entry_desk {
	struct loop		*loop;
	int			 fd;
	struct watch		*watch;		/* NULL: the minter is gone */
	struct entry_call	*first, **last;	/* who waits, by turns */
	unsigned		 nwaiting, nasked;
};

static void
leave_queue(struct entry_call *c)
{
	struct entry_desk *d = c->desk;

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
	struct entry_call *c = arg;
	dial_fn *fn = c->fn;
	void *fn_arg = c->arg;

	free(c);
	fn(fd, sys, fn_arg);
}

static void
fail(struct entry_call *c, int sys)
{
	leave_queue(c);
	finish(-1, sys, c);
}

/* One request for each who waits, up to the ceiling. */
static void
ask_more(struct entry_desk *d)
{
	while (d->nasked < ASKED_MAX && d->nasked < d->nwaiting &&
	    fd_send(d->fd, "", 1, NULL, 0, MSG_DONTWAIT) == 1)
		d->nasked++;
}

static void
minter_gone(struct entry_desk *d)
{
	watch_free(d->watch);
	d->watch = NULL;
	while (d->first != NULL)
		fail(d->first, EPIPE);
}

/* Takes the sockets, which may be none. */
static void
begin(struct entry_desk *d, int *fds, size_t n)
{
	static const struct dial_addr homes[MINTER_SOCKETS] = {
		{ AF_INET, { 127, 0, 0, 1 } },
		{ AF_INET6, { [15] = 1 } },
	};
	struct entry_call *c = d->first;
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
	struct entry_desk *d = arg;
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

struct entry_call *
entry_dial(struct entry_desk *d, uint16_t port, dial_fn *fn, void *arg)
{
	struct entry_call *c = d->watch != NULL ? calloc(1, sizeof *c) : NULL;

	if (c == NULL)
		return NULL;
	*c = (struct entry_call){ .desk = d, .link = d->last, .fn = fn,
	    .arg = arg, .port = port };
	*d->last = c;
	d->last = &c->next;
	d->nwaiting++;
	ask_more(d);
	return c;
}

void
entry_cancel(struct entry_call *c)
{
	if (c == NULL)
		return;
	leave_queue(c);
	dial_cancel(c->dial);
	free(c);
}

struct entry_desk *
entry_new(struct loop *loop, int minter_fd)
{
	struct entry_desk *d = calloc(1, sizeof *d);

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
entry_free(struct entry_desk *d)
{
	if (d == NULL)
		return;
	watch_free(d->watch);
	free(d);
}
