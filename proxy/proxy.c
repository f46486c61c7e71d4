#include "proxy/proxy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/base/buf.h"
#include "platform/fd.h"
#include "proxy/serve.h"

enum {
	MAX_QUESTIONS = 4096,
	ACCEPTS_A_TURN = 64,
	/* Out of descriptors: a listener that stays ready would spin. */
	ACCEPT_PAUSE_MS = 100,
	LAST_MS = 200,		/* for what was asked before the end */
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

/* Its id is its slot and how often the slot was used: late answers miss. */
struct question {
	struct questions *questions;
	answer_fn	*fn;
	void		*arg;
	struct question	*next, *prev;	/* in the queue of those not sent */
	bool		 is_queued;
	struct ask_msg	 msg;
};

struct slot {
	struct question	*question;
	uint16_t	 uses;
	uint16_t	 next_free;	/* slot number + 1, 0 for none */
};

struct questions {
	struct loop		*loop;
	int			 ask_fd;
	struct watch		*watch;
	struct slot		 slots[MAX_QUESTIONS];
	unsigned		 nslots;	/* used at least once */
	uint16_t		 free_first, free_last;
	struct question		*queue_first, *queue_last;
	struct watch		*last;		/* no answer comes any more */
	int64_t			 last_ms;
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

/* Questions */

static void
slot_release(struct questions *qs, unsigned at)
{
	struct slot *s = &qs->slots[at];

	/* The oldest is reused first, so that an id stays unused for long. */
	s->question = NULL;
	s->uses++;
	s->next_free = 0;
	if (qs->free_last != 0)
		qs->slots[qs->free_last - 1].next_free = (uint16_t)(at + 1);
	else
		qs->free_first = (uint16_t)(at + 1);
	qs->free_last = (uint16_t)(at + 1);
}

static int
slot_take(struct questions *qs, struct question *q)
{
	unsigned at;

	if (qs->free_first != 0) {
		at = qs->free_first - 1u;
		qs->free_first = qs->slots[at].next_free;
		if (qs->free_first == 0)
			qs->free_last = 0;
	} else if (qs->nslots < MAX_QUESTIONS)
		at = qs->nslots++;
	else
		return -1;
	qs->slots[at].question = q;
	q->msg.id = (uint32_t)qs->slots[at].uses << 16 | at;
	return 0;
}

static struct question *
slot_find(const struct questions *qs, uint32_t id)
{
	unsigned at = id & 0xffff;

	if (at >= qs->nslots || qs->slots[at].uses != id >> 16)
		return NULL;
	return qs->slots[at].question;
}

static void
queue_remove(struct question *q)
{
	struct questions *qs = q->questions;

	if (!q->is_queued)
		return;
	q->is_queued = false;
	if (q->prev != NULL)
		q->prev->next = q->next;
	else
		qs->queue_first = q->next;
	if (q->next != NULL)
		q->next->prev = q->prev;
	else
		qs->queue_last = q->prev;
}

static void
queue_add(struct question *q)
{
	struct questions *qs = q->questions;

	q->is_queued = true;
	q->prev = qs->queue_last;
	if (q->prev != NULL)
		q->prev->next = q;
	else
		qs->queue_first = q;
	qs->queue_last = q;
}

static bool
send_msg(struct questions *qs, const struct ask_msg *m)
{
	return fd_send(qs->ask_fd, m, sizeof *m, NULL, 0, MSG_DONTWAIT) >= 0;
}

/*
 * A message that cannot be sent stays in the queue; reading tells when the
 * monitor is gone.
 */
static void
queue_flush(struct questions *qs)
{
	struct question *q;

	while ((q = qs->queue_first) != NULL && send_msg(qs, &q->msg))
		queue_remove(q);
	(void)watch_events(qs->watch, (qs->last == NULL ? LOOP_READ : 0) |
	    (qs->queue_first != NULL ? LOOP_WRITE : 0));
}

struct question *
questions_ask(struct questions *qs, const struct ask_msg *m, answer_fn *fn,
    void *arg)
{
	struct question *q = malloc(sizeof *q);

	if (q == NULL)
		return NULL;
	*q = (struct question){ .questions = qs, .fn = fn, .arg = arg,
	    .msg = *m };
	q->msg.magic = ASK_MAGIC;
	if (slot_take(qs, q) != 0) {
		free(q);
		return NULL;
	}
	queue_add(q);
	queue_flush(qs);
	return q;
}

void
question_drop(struct question *q)
{
	if (q == NULL)
		return;
	queue_remove(q);
	slot_release(q->questions, q->msg.id & 0xffff);
	free(q);
}

bool
questions_tell(struct questions *qs, struct ask_msg *m)
{
	m->magic = ASK_MAGIC;
	return qs->queue_first == NULL && send_msg(qs, m);
}

bool
questions_note(struct questions *qs, enum ask_note note,
    const struct net_addr *source)
{
	struct ask_msg m = { .kind = ASK_NOTE, .note = (uint16_t)note };

	ask_fill_source(&m, source, false);
	return questions_tell(qs, &m);
}

void
ask_fill_source(struct ask_msg *m, const struct net_addr *a, bool is_udp)
{
	m->source.family = a->family;
	m->source.port = a->port;
	memcpy(m->source.addr, a->addr, sizeof m->source.addr);
	m->is_udp = is_udp;
}

void
ask_fill_name(struct ask_msg *m, const char *name, size_t len)
{
	if (len >= sizeof m->name)
		len = sizeof m->name - 1;
	memcpy(m->name, name, len);
	m->name_len = (uint16_t)len;
}

/* Connections */

struct conn *
conn_new(size_t size, struct budget *b, int fd, const struct conn_home *home)
{
	struct conn *c = calloc(1, size);

	if (c == NULL)
		return NULL;
	c->home = home;
	c->fd = fd;
	c->since_ms = loop_now_ms(home->loop);
	budget_add(b, c);
	return c;
}

/* Those whose connections are of this budget; NULL: all of them. */
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

void
conn_free(struct conn *c)
{
	struct budget *b = c->budget;
	const struct conn_home *home = c->home;

	if (c->end != NULL)
		c->end(c);
	question_drop(c->question);
	watch_free(c->watch);
	watch_free(c->deadline);
	relay_free(c->relay);
	free(c->tunnel);
	fd_close(&c->fd);
	budget_remove(c);
	free(c);
	if (b->is_full)
		home->has_room(b, home->proxy);
}

void
conn_reset(struct conn *c)
{
	watch_free(c->watch);
	c->watch = NULL;
	net_reset(&c->fd);
	conn_free(c);
}

static void
conn_late(struct watch *w, int what, void *arg)
{
	(void)w;
	(void)what;
	conn_free(arg);
}

int
conn_expire(struct conn *c, int64_t ms)
{
	c->since_ms = loop_now_ms(c->home->loop);
	if (c->deadline != NULL) {
		watch_after(c->deadline, ms);
		return 0;
	}
	c->deadline = loop_after(c->home->loop, ms, conn_late, c);
	return c->deadline != NULL ? 0 : -1;
}

static void
conn_hangup(struct watch *w, int what, void *arg)
{
	(void)w;
	(void)what;
	conn_reset(arg);
}

/* It says more already, or has said all: that is for later. */
static void
conn_waiting(struct watch *w, int what, void *arg)
{
	if ((what & LOOP_HUP) != 0 || watch_events(w, LOOP_HUP) != 0)
		conn_reset(arg);
}

/* Most clients say nothing until they are answered: no word to the kernel. */
int
conn_wait(struct conn *c)
{
	if (c->watch != NULL) {
		watch_become(c->watch, conn_waiting, c);
		return 0;
	}
	c->watch = loop_fd(c->home->loop, c->fd, LOOP_HUP, conn_hangup, c);
	return c->watch != NULL ? 0 : -1;
}

static void
conn_relayed(struct relay *r, void *arg)
{
	(void)r;
	conn_free(arg);
}

int
conn_relay(struct conn *c, int *server_fd, struct relay_spec *spec)
{
	spec->client_watch = c->watch;
	c->watch = NULL;
	spec->client_fd = c->fd;
	spec->server_fd = *server_fd;
	spec->idle_ms = c->home->limits.idle_ms;
	spec->done = conn_relayed;
	spec->arg = c;
	c->relay = relay_start(c->home->loop, spec);
	if (c->relay == NULL)
		return -1;
	fd_take(&c->fd);
	fd_take(server_fd);
	watch_free(c->deadline);
	c->deadline = NULL;
	return 0;
}

void
conn_self(struct conn *c, const void *words, size_t nwords, const void *early,
    size_t len)
{
	const struct conn_home *home = c->home;
	struct budget *b = c->budget;
	struct net_addr peer = c->peer;
	struct buf copy;
	int fd;

	if (nwords > 0 && send(c->fd, words, nwords, MSG_NOSIGNAL |
	    MSG_DONTWAIT) != (ssize_t)nwords) {
		conn_reset(c);
		return;
	}
	buf_init(&copy, 0);
	buf_add(&copy, early, len);
	fd = fd_take(&c->fd);
	conn_free(c);
	/* It stays in its budget, or it would get around both ceilings. */
	c = conn_new(serve_http_size, b, fd, home);
	if (c == NULL) {
		fd_close(&fd);
	} else {
		c->peer = peer;
		if (copy.failed || serve_self(c, copy.data, copy.len) != 0)
			conn_reset(c);
	}
	buf_release(&copy);
}

/* Listeners */

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
 * All of them are busy: whoever comes now waits in the listener's queue until
 * a connection ends or was idle for long.  Most clients do not try again.
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

/* At the ceiling, with somebody waiting; makes room for one, or not now. */
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

/* The monitor */

static void
ask_answered(struct questions *qs, const struct ask_answer *a, int *fd)
{
	struct question *q = slot_find(qs, a->id);
	answer_fn *fn;
	void *arg;

	if (q == NULL)
		return;
	fn = q->fn;
	arg = q->arg;
	question_drop(q);
	fn(arg, a, fd);
}

static void
ask_received(struct questions *qs, const void *data, size_t len,
    const int *fds, size_t nfds)
{
	struct ask_answer a;
	int fd = nfds > 0 ? *fds : -1;

	if (ask_check_answer(data, len, &a) == 0)
		ask_answered(qs, &a, &fd);
	fd_close(&fd);
}

/*
 * Nobody is left inside, and no answer comes; but what was asked before that
 * is still to be heard, so that it can be told.  Done when nothing is ready.
 */
static void
hear_last(struct watch *w, int what, void *arg)
{
	struct questions *qs = arg;

	(void)what;
	if (loop_is_idle(qs->loop) || loop_now_ms(qs->loop) >= qs->last_ms)
		loop_stop(qs->loop, 0);
	else
		watch_after(w, 0);
}

static void
begin_last(struct questions *qs)
{
	qs->last = loop_after(qs->loop, 0, hear_last, qs);
	if (qs->last == NULL) {
		loop_stop(qs->loop, 0);
		return;
	}
	qs->last_ms = loop_now_ms(qs->loop) + LAST_MS;
	queue_flush(qs);
}

static void
ask_ready(struct watch *w, int what, void *arg)
{
	struct ask_answer data;
	struct questions *qs = arg;
	size_t nfds;
	ssize_t n;
	int fd;

	(void)w;
	if ((what & LOOP_WRITE) != 0)
		queue_flush(qs);
	if ((what & LOOP_READ) == 0)
		return;
	for (int i = 0; i < ACCEPTS_A_TURN; i++) {
		n = fd_recv(qs->ask_fd, &data, sizeof data, &fd, 1, &nfds,
		    MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EMSGSIZE))
			return;
		if (n == 0 && (what & LOOP_HUP) == 0) {
			begin_last(qs);
			return;
		}
		if (n <= 0) {
			loop_stop(qs->loop, n == 0 ? 0 : 1);
			return;
		}
		ask_received(qs, &data, (size_t)n, &fd, nfds);
	}
}

struct questions *
questions_new(struct loop *l, int ask_fd)
{
	struct questions *qs = calloc(1, sizeof *qs);

	if (qs == NULL)
		return NULL;
	qs->loop = l;
	qs->ask_fd = ask_fd;
	qs->watch = loop_fd(l, ask_fd, LOOP_READ, ask_ready, qs);
	if (qs->watch == NULL) {
		free(qs);
		return NULL;
	}
	return qs;
}

void
questions_free(struct questions *qs)
{
	if (qs == NULL)
		return;
	watch_free(qs->watch);
	watch_free(qs->last);
	free(qs);
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
