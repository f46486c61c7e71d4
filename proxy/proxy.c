#include "proxy/proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "platform/fd.h"
#include "proxy/serve.h"

enum {
	ACCEPTS_A_TURN = 64,
	/* Out of descriptors: a listener that stays ready would spin. */
	ACCEPT_PAUSE_MS = 100,
};

const struct proxy_limits proxy_default_limits = {
	.max_connections = 1024,
	.max_total = 1024 * BUDGET_KINDS,
	.max_header_bytes = 64 * 1024,
	.handshake_ms = 30 * 1000,
	.idle_ms = 60 * 60 * 1000,
	/* A server may take this long to answer before it counts as idle. */
	.give_way_ms = 5 * 1000,
};

struct listener {
	struct proxy	*proxy;
	struct watch	*watch;
	int		 fd;
	uint16_t	 via, port;
	enum budget_kind kind;
	size_t		 conn_size;
	int		(*serve)(struct conn *);
};

struct proxy {
	struct conn_home	 home;
	struct listener		 listeners[PROXY_NLISTENERS];
	struct listener		*ports;
	size_t			 nports;
	struct budget		 budgets[BUDGET_KINDS];
	struct watch		*pause;
	bool			 told_limit;
};

/* The listeners whose connections are of this budget; NULL: all listeners. */
static void
listeners_set(struct proxy *p, const struct budget *b, int events)
{
	struct listener *l;

	for (size_t i = 0; i < PROXY_NLISTENERS + p->nports; i++) {
		l = i < PROXY_NLISTENERS ? &p->listeners[i] :
		    &p->ports[i - PROXY_NLISTENERS];
		if (l->watch != NULL && (b == NULL ||
		    b == &p->budgets[l->kind]))
			(void)watch_events(l->watch, events);
	}
}

static void
budget_open(struct budget *b, void *arg)
{
	struct proxy *p = arg;

	b->is_full = false;
	watch_free(b->wait);
	b->wait = NULL;
	listeners_set(p, b, LOOP_READ);
}

static void
pause_over(struct watch *w, int what, void *arg)
{
	(void)w;
	(void)what;
	listeners_set(arg, NULL, LOOP_READ);
}

static void
listeners_pause(struct proxy *p)
{
	if (p->pause == NULL)
		p->pause = loop_after(p->home.loop, ACCEPT_PAUSE_MS,
		    pause_over, p);
	else
		watch_after(p->pause, ACCEPT_PAUSE_MS);
	if (p->pause != NULL)
		listeners_set(p, NULL, 0);
}

static void
wait_over(struct watch *w, int what, void *arg)
{
	struct listener *l = arg;

	(void)w;
	(void)what;
	budget_open(&l->proxy->budgets[l->kind], l->proxy);
}

/*
 * All connections are busy: new clients wait in the listener's queue until a
 * connection ends or was idle for long.  A refused client would rarely try
 * again.
 */
static void
budget_wait(struct listener *l, struct budget *b, int64_t ms)
{
	struct proxy *p = l->proxy;

	b->is_full = true;
	watch_free(b->wait);
	b->wait = loop_after(p->home.loop, ms, wait_over, l);
	listeners_set(p, b, 0);
}

static void
conn_give_way(struct conn *c)
{
	if (c->relay != NULL)
		relay_abort(c->relay);
	else
		conn_reset(c);
}

/* A client waits at the ceiling: ends the idlest connection, or false. */
static bool
budget_make_room(struct listener *l, struct budget *b)
{
	static const struct net_addr nobody;
	struct proxy *p = l->proxy;
	struct conn *c = budget_idlest(b);
	int64_t idle_ms;

	if (!p->told_limit)
		p->told_limit = questions_note(p->home.questions,
		    ASK_NOTE_LIMIT, &nobody);
	idle_ms = c != NULL ? loop_now_ms(p->home.loop) - budget_last_ms(c) : 0;
	if (c == NULL || idle_ms < p->home.limits.give_way_ms) {
		budget_wait(l, b, p->home.limits.give_way_ms - idle_ms);
		return false;
	}
	conn_give_way(c);
	return true;
}

static void
accepted(struct listener *l, int fd, const struct net_addr *peer)
{
	struct conn *c = conn_new(l->conn_size, &l->proxy->budgets[l->kind],
	    fd, &l->proxy->home);

	if (c == NULL) {
		fd_close(&fd);
		return;
	}
	c->via = l->via;
	c->port = l->port;
	c->peer = *peer;
	if (l->serve(c) != 0)
		conn_reset(c);
}

static bool
has_room(const struct listener *l)
{
	const struct proxy *p = l->proxy;

	return p->budgets[l->kind].n < budget_ceiling(p->budgets, l->kind,
	    p->home.limits.max_connections, p->home.limits.max_total);
}

static void
listener_ready(struct watch *w, int what, void *arg)
{
	struct listener *l = arg;
	struct proxy *p = l->proxy;
	struct budget *b = &p->budgets[l->kind];
	struct net_addr peer;
	int fd;

	(void)w;
	(void)what;
	if (!has_room(l) && !budget_make_room(l, b))
		return;
	for (int i = 0; i < ACCEPTS_A_TURN && has_room(l); i++) {
		fd = net_accept(l->fd, &peer);
		if (fd >= 0) {
			accepted(l, fd, &peer);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
		    errno == ENOBUFS)
			listeners_pause(p);
		if (errno != EINTR && errno != ECONNABORTED)
			return;
	}
}

static int
listener_start(struct proxy *p, enum proxy_listener which, int fd)
{
	struct listener *l = &p->listeners[which];

	l->fd = fd;
	if (fd_nonblock(fd, 1) != 0)
		return -1;
	if (which == PROXY_LISTEN_DNS_UDP)
		return dns_listen_udp(p->home.dns, fd);
	l->watch = loop_fd(p->home.loop, fd, LOOP_READ, listener_ready, l);
	return l->watch != NULL ? 0 : -1;
}

int
proxy_listen(struct proxy *p, unsigned which, const int *fds, size_t nfds)
{
	size_t at = 0;

	if (nfds != (size_t)__builtin_popcount(which) ||
	    which >= 1u << PROXY_NLISTENERS)
		return -1;
	for (int i = 0; i < PROXY_NLISTENERS; i++)
		if ((which & 1u << i) != 0 && listener_start(p,
		    (enum proxy_listener)i, fds[at++]) != 0)
			return -1;
	return 0;
}

int
proxy_listen_ports(struct proxy *p, const struct proxy_port *ports, size_t n)
{
	if (n == 0)
		return 0;
	p->ports = calloc(n, sizeof *p->ports);
	if (p->ports == NULL)
		return -1;
	for (; p->nports < n; p->nports++) {
		const struct proxy_port *from = &ports[p->nports];
		struct listener *l = &p->ports[p->nports];

		*l = (struct listener){ .proxy = p, .fd = from->fd,
		    .via = from->via, .port = from->port,
		    .kind = from->via == ASK_VIA_INSIDE ? BUDGET_INSIDE :
		    BUDGET_LOCAL,
		    .conn_size = sizeof(struct conn), .serve = serve_port };
		if (fd_nonblock(l->fd, 1) != 0)
			return -1;
		l->watch = loop_fd(p->home.loop, l->fd, LOOP_READ,
		    listener_ready, l);
		if (l->watch == NULL)
			return -1;
	}
	return 0;
}

static void
listeners_init(struct proxy *p)
{
	static const struct listener kinds[PROXY_NLISTENERS] = {
		[PROXY_LISTEN_TRANSPARENT4] = { .serve = serve_transparent,
		    .kind = BUDGET_TRANSPARENT },
		[PROXY_LISTEN_TRANSPARENT6] = { .serve = serve_transparent,
		    .kind = BUDGET_TRANSPARENT },
		[PROXY_LISTEN_HTTP] = { .serve = serve_http,
		    .kind = BUDGET_HTTP },
		[PROXY_LISTEN_SOCKS] = { .serve = serve_socks5,
		    .kind = BUDGET_SOCKS },
		[PROXY_LISTEN_DNS_TCP] = { .serve = serve_dns_tcp,
		    .kind = BUDGET_DNS },
	};

	memcpy(p->listeners, kinds, sizeof kinds);
	for (int i = 0; i < PROXY_NLISTENERS; i++) {
		p->listeners[i].proxy = p;
		p->listeners[i].fd = -1;
		p->listeners[i].conn_size = sizeof(struct conn);
	}
	p->listeners[PROXY_LISTEN_HTTP].conn_size = serve_http_size;
	p->listeners[PROXY_LISTEN_SOCKS].conn_size = serve_socks5_size;
	p->listeners[PROXY_LISTEN_DNS_TCP].conn_size = serve_dns_tcp_size;
}

struct proxy *
proxy_new(struct loop *l, int ask_fd, const struct proxy_limits *limits)
{
	struct proxy *p = calloc(1, sizeof *p);

	if (p == NULL)
		return NULL;
	p->home = (struct conn_home){ .loop = l, .limits = *limits,
	    .has_room = budget_open, .proxy = p };
	listeners_init(p);
	p->home.questions = questions_new(l, ask_fd);
	if (p->home.questions != NULL)
		p->home.dns = dns_new(p->home.questions, l);
	if (p->home.dns == NULL) {
		proxy_free(p);
		return NULL;
	}
	return p;
}

void
proxy_free(struct proxy *p)
{
	if (p == NULL)
		return;
	for (size_t i = 0; i < BUDGET_KINDS; i++) {
		while (p->budgets[i].first != NULL)
			conn_free(p->budgets[i].first);
		watch_free(p->budgets[i].wait);
	}
	dns_free(p->home.dns);
	questions_free(p->home.questions);
	watch_free(p->pause);
	for (int i = 0; i < PROXY_NLISTENERS; i++) {
		watch_free(p->listeners[i].watch);
		fd_close(&p->listeners[i].fd);
	}
	for (size_t i = 0; i < p->nports; i++) {
		watch_free(p->ports[i].watch);
		fd_close(&p->ports[i].fd);
	}
	free(p->ports);
	free(p);
}
