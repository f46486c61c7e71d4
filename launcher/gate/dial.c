#include "launcher/gate/dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/base/clock.h"
#include "platform/fd.h"

enum { PROBE_S = 120 };

struct attempt {
	struct dial	*dial;
	struct watch	*watch;
	int		 fd;
};

struct dial {
	struct loop	*loop;
	dial_fn		*fn;
	void		*arg;
	uint16_t	 port;
	struct dial_addr addrs[DIAL_MAX_ADDRS];
	struct attempt	 attempts[DIAL_MAX_ADDRS];
	const int	*made;		/* sockets to use, or NULL */
	int		 made_fd[DIAL_MAX_MADE];
	size_t		 naddrs, next, open;
	struct attempt	*won;		/* connected at once, or NULL */
	int		 sys;		/* of the last failure */
	struct watch	*stagger;
	struct watch	*deadline;
};

static socklen_t
fill(struct sockaddr_storage *ss, const struct dial_addr *a, uint16_t port)
{
	memset(ss, 0, sizeof *ss);
	if (a->family == AF_INET) {
		struct sockaddr_in *sin = (struct sockaddr_in *)ss;

		sin->sin_family = AF_INET;
		sin->sin_port = htons(port);
		memcpy(&sin->sin_addr, a->addr, 4);
		return sizeof *sin;
	}
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;

	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = htons(port);
	memcpy(&sin6->sin6_addr, a->addr, 16);
	return sizeof *sin6;
}

/* What was found out lately: a busy jail dials the same few addresses. */
static struct own_entry {
	struct dial_addr	 addr;
	int64_t			 until_ms;
	bool			 is_own;
} own_cache[64];

enum { OWN_MS = 1000 };

static bool
can_bind(const struct dial_addr *a)
{
	auto_fd fd = socket(a->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_storage ss;
	socklen_t len = fill(&ss, a, 0);

	/* Only an address of this machine can be bound.  Where that cannot be
	 * found out (no descriptor left), it is taken for one. */
	return fd < 0 || bind(fd, (struct sockaddr *)&ss, len) == 0 ||
	    errno != EADDRNOTAVAIL;
}

bool
dial_is_own(const struct dial_addr *a)
{
	unsigned h = (unsigned)a->family;
	struct own_entry *o;
	int64_t now = clock_ms(CLOCK_MONOTONIC_COARSE);

	for (size_t i = 0; i < sizeof a->addr; i++)
		h = h * 31 + a->addr[i];
	o = &own_cache[h % (sizeof own_cache / sizeof own_cache[0])];
	if (o->until_ms > now && o->addr.family == a->family &&
	    memcmp(o->addr.addr, a->addr, sizeof a->addr) == 0)
		return o->is_own;
	*o = (struct own_entry){ *a, now + OWN_MS, can_bind(a) };
	return o->is_own;
}

static void
dial_free(struct dial *d)
{
	for (size_t i = 0; i < d->next; i++) {
		watch_free(d->attempts[i].watch);
		fd_close(&d->attempts[i].fd);
	}
	for (size_t i = 0; d->made != NULL && i < d->naddrs; i++)
		fd_close(&d->made_fd[i]);
	watch_free(d->stagger);
	watch_free(d->deadline);
	free(d);
}

void
dial_cancel(struct dial *d)
{
	if (d != NULL)
		dial_free(d);
}

static void
dial_finish(struct dial *d, int fd)
{
	dial_fn *fn = d->fn;
	void *arg = d->arg;
	int sys = d->sys;

	dial_free(d);
	fn(fd, fd < 0 ? sys : 0, arg);
}

static void	dial_next(struct dial *);

static void
attempt_fail(struct attempt *a, int sys)
{
	struct dial *d = a->dial;

	d->sys = sys;
	watch_free(a->watch);
	a->watch = NULL;
	fd_close(&a->fd);
	d->open--;
	dial_next(d);
}

static void
attempt_ready(struct watch *w, int what, void *arg)
{
	struct attempt *a = arg;
	socklen_t len = sizeof(int);
	int sys = 0;

	(void)w;
	(void)what;
	if (getsockopt(a->fd, SOL_SOCKET, SO_ERROR, &sys, &len) != 0)
		sys = errno;
	if (sys != 0) {
		attempt_fail(a, sys);
		return;
	}
	watch_free(a->watch);
	a->watch = NULL;
	dial_finish(a->dial, fd_take(&a->fd));
}

/* Starts one attempt; false if it failed at once. */
static bool
attempt_start(struct dial *d, size_t i)
{
	struct attempt *a = &d->attempts[i];
	struct sockaddr_storage ss;
	socklen_t len = fill(&ss, &d->addrs[i], d->port);
	const int on = 1, probe_s = PROBE_S;
	int rc;

	a->dial = d;
	a->watch = NULL;
	a->fd = d->made != NULL ? fd_take(&d->made_fd[i]) :
	    socket(d->addrs[i].family, SOCK_STREAM | SOCK_NONBLOCK |
	    SOCK_CLOEXEC, 0);
	if (a->fd < 0) {
		d->sys = errno;
		return false;
	}
	setsockopt(a->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	/* A machine that vanished is noticed before the hour of silence. */
	setsockopt(a->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
	setsockopt(a->fd, IPPROTO_TCP, TCP_KEEPIDLE, &probe_s,
	    sizeof probe_s);
	rc = connect(a->fd, (struct sockaddr *)&ss, len);
	/* On this machine it is over by now, and asking again says so. */
	if (rc != 0 && errno == EINPROGRESS)
		rc = connect(a->fd, (struct sockaddr *)&ss, len);
	if (rc != 0 && errno != EINPROGRESS && errno != EALREADY) {
		d->sys = errno;
		fd_close(&a->fd);
		return false;
	}
	if (rc == 0) {
		d->won = a;
		d->open++;
		return true;
	}
	a->watch = loop_fd(d->loop, a->fd, LOOP_WRITE, attempt_ready, a);
	if (a->watch == NULL) {
		d->sys = ENOMEM;
		fd_close(&a->fd);
		return false;
	}
	d->open++;
	return true;
}

static void
dial_next(struct dial *d)
{
	while (d->next < d->naddrs)
		if (attempt_start(d, d->next++)) {
			watch_after(d->stagger, d->won != NULL ? 0 :
			    DIAL_NEXT_MS);
			return;
		}
	if (d->open == 0)
		dial_finish(d, -1);
}

static void
stagger_due(struct watch *w, int what, void *arg)
{
	struct dial *d = arg;

	(void)w;
	(void)what;
	if (d->won != NULL)
		dial_finish(d, fd_take(&d->won->fd));
	else if (d->next < d->naddrs || d->open == 0)
		dial_next(d);
}

static void
deadline_due(struct watch *w, int what, void *arg)
{
	struct dial *d = arg;

	(void)w;
	(void)what;
	d->sys = ETIMEDOUT;
	dial_finish(d, -1);
}

/* v6 and v4 take turns, in the order the resolver gave each. */
static void
interleave(struct dial *d, const struct dial_addr *addrs, size_t n)
{
	size_t at[2] = { 0, 0 };
	int family[2];

	family[0] = n > 0 ? addrs[0].family : AF_INET;
	family[1] = family[0] == AF_INET ? AF_INET6 : AF_INET;
	for (size_t turn = 0; d->naddrs < n && turn < 2 * n; turn++) {
		size_t *i = &at[turn % 2];

		while (*i < n && addrs[*i].family != family[turn % 2])
			(*i)++;
		if (*i < n)
			d->addrs[d->naddrs++] = addrs[(*i)++];
	}
}

static struct dial *
dial_new(struct loop *loop, uint16_t port, dial_fn *fn, void *arg)
{
	struct dial *d = calloc(1, sizeof *d);

	if (d == NULL)
		return NULL;
	d->loop = loop;
	d->fn = fn;
	d->arg = arg;
	d->port = port;
	d->sys = EHOSTUNREACH;
	return d;
}

static struct dial *
dial_begin(struct dial *d, int *ret_fd)
{
	struct loop *loop = d->loop;
	bool is_open = d->naddrs > 0 && attempt_start(d, d->next++);

	if (d->won != NULL) {
		*ret_fd = fd_take(&d->won->fd);
		dial_free(d);
		return NULL;
	}
	/* A failure is left to the loop: the callback never comes before the
	 * caller has the pointer. */
	d->stagger = loop_after(loop, is_open ? DIAL_NEXT_MS : 0, stagger_due,
	    d);
	d->deadline = loop_after(loop, DIAL_DEADLINE_MS, deadline_due, d);
	if (d->stagger == NULL || d->deadline == NULL) {
		dial_free(d);
		return NULL;
	}
	return d;
}

struct dial *
dial_start(struct loop *loop, const struct dial_addr *addrs, size_t n,
    uint16_t port, dial_fn *fn, void *arg, int *ret_fd)
{
	struct dial *d = dial_new(loop, port, fn, arg);

	*ret_fd = -1;
	if (d == NULL)
		return NULL;
	interleave(d, addrs, n < DIAL_MAX_ADDRS ? n : DIAL_MAX_ADDRS);
	return dial_begin(d, ret_fd);
}

struct dial *
dial_start_made(struct loop *loop, const struct dial_addr *addrs, int *fds,
    size_t n, uint16_t port, dial_fn *fn, void *arg, int *ret_fd)
{
	struct dial *d = n <= DIAL_MAX_MADE ? dial_new(loop, port, fn, arg) :
	    NULL;

	*ret_fd = -1;
	if (d == NULL)
		return NULL;
	for (; d->naddrs < n; d->naddrs++) {
		d->addrs[d->naddrs] = addrs[d->naddrs];
		d->made_fd[d->naddrs] = fd_take(&fds[d->naddrs]);
	}
	d->made = d->made_fd;
	return dial_begin(d, ret_fd);
}
