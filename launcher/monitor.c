#include "launcher/monitor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/addrbook.h"
#include "launcher/dial.h"
#include "launcher/herald.h"
#include "launcher/sni.h"
#include "platform/fd.h"
#include "policy/decide.h"
#include "proxy/ask.h"

enum {
	PENDING_MAX = 4096,	/* dials under way */
	QUEUE_MAX = 4096,	/* answers the worker has not taken yet */
	TURN_MAX = 16,		/* questions before others get a turn */
};

/* A dial that waits for names or for the network. */
struct pending {
	struct monitor	*m;
	struct pending	*next, **link;
	uint32_t	 id;		/* ours, towards fence-names */
	struct ask_msg	 msg;
	struct host	 host;
	struct dial	*dial;
	bool		 is_resolving;	/* waits for fence-names */
};

struct queued {
	struct queued		*next;
	struct ask_answer	 answer;
	int			 fd;
};

struct monitor {
	struct monitor_config	 c;
	struct addrbook		*book;
	struct watch		*net, *names;
	struct pending		*pending;
	unsigned		 npending;
	uint32_t		 next_id;
	struct queued		*first, **last;
	unsigned		 nqueued;
	struct herald		 herald;
};

/* ---- answers ---- */

static void
net_interest(struct monitor *m)
{
	/* While answers wait no question is read: a worker that does not
	 * listen is not listened to. */
	if (m->net != NULL)
		watch_events(m->net, m->first != NULL ? LOOP_WRITE :
		    LOOP_READ);
}

static void
enqueue(struct monitor *m, const struct ask_answer *a, int fd)
{
	struct queued *q = m->nqueued < QUEUE_MAX ? malloc(sizeof *q) : NULL;

	if (q == NULL) {
		fd_close(&fd);
		return;
	}
	*q = (struct queued){ .answer = *a, .fd = fd };
	*m->last = q;
	m->last = &q->next;
	m->nqueued++;
	net_interest(m);
}

/* Takes fd (or -1). */
static void
answer(struct monitor *m, const struct ask_answer *a, int fd)
{
	if (m->first != NULL) {
		enqueue(m, a, fd);
		return;
	}
	if (fd_send(m->c.net_fd, a, sizeof *a, &fd, fd >= 0, MSG_DONTWAIT) < 0
	    && (errno == EAGAIN || errno == EWOULDBLOCK)) {
		enqueue(m, a, fd);
		return;
	}
	fd_close(&fd);
}

static void
flush_queue(struct monitor *m)
{
	struct queued *q;

	while ((q = m->first) != NULL) {
		if (fd_send(m->c.net_fd, &q->answer, sizeof q->answer, &q->fd,
		    q->fd >= 0, MSG_DONTWAIT) < 0 && (errno == EAGAIN ||
		    errno == EWOULDBLOCK))
			break;
		m->first = q->next;
		if (m->first == NULL)
			m->last = &m->first;
		m->nqueued--;
		fd_close(&q->fd);
		free(q);
	}
	net_interest(m);
}

static void
answer_status(struct monitor *m, const struct ask_msg *q,
    enum ask_status status, int sys)
{
	struct ask_answer a = { .magic = ASK_MAGIC, .id = q->id,
	    .status = (uint16_t)status, .sys = sys };

	answer(m, &a, -1);
}

/* ---- refusals ---- */

static void
refuse(struct monitor *m, const struct ask_msg *q, const char *host,
    const struct verdict *v)
{
	struct ask_answer a = { .magic = ASK_MAGIC, .id = q->id,
	    .status = ASK_DENIED };

	herald_refusal(&m->herald, q, host, v);
	recent_words(v, a.rule, a.remedy);
	answer(m, &a, -1);
}

/* Bytes that are no host: refused without asking any rule. */
static void
refuse_bad(struct monitor *m, const struct ask_msg *q)
{
	struct verdict v = { .action = ACTION_DENY };

	snprintf(v.rule, sizeof v.rule, "network");
	snprintf(v.reason, sizeof v.reason, "not a host name");
	v.at = (struct origin){ .file = "<built-in>", .line = 0, .col = 0 };
	refuse(m, q, q->name, &v);
}

/* ---- questions ---- */

/* The gate's own name: nothing leaves, so nothing is asked. */
static bool
is_self(const struct host *h)
{
	return h->kind == HOST_NAME && strcmp(h->text, ASK_SELF_NAME) == 0;
}

static void
on_lookup(struct monitor *m, const struct ask_msg *q)
{
	struct ask_answer a = { .magic = ASK_MAGIC, .id = q->id,
	    .status = ASK_OK, .naddrs = 1 };
	struct verdict v;
	struct host h;
	uint32_t addr;

	if (host_canon(q->name, q->name_len, &h) != 0 ||
	    h.kind != HOST_NAME) {
		refuse_bad(m, q);
		return;
	}
	decide_net(m->c.policy, &h, 0, &v);
	if (v.action == ACTION_DENY && !is_self(&h)) {
		refuse(m, q, h.text, &v);
		herald_name(&m->herald, h.text);
		return;
	}
	if (addrbook_get(m->book, h.text, &addr) != 0) {
		herald_book_full(&m->herald);
		answer_status(m, q, ASK_FULL, 0);
		return;
	}
	a.addrs[0].family = AF_INET;
	addr = htonl(addr);
	memcpy(a.addrs[0].addr, &addr, 4);
	answer(m, &a, -1);
}

static void
on_ptr(struct monitor *m, const struct ask_msg *q)
{
	struct ask_answer a = { .magic = ASK_MAGIC, .id = q->id,
	    .status = ASK_OK };
	const char *name = NULL;
	struct host h;
	uint32_t addr;

	if (host_canon(q->name, q->name_len, &h) == 0 &&
	    h.kind == HOST_IPV4) {
		memcpy(&addr, h.addr, 4);
		name = addrbook_name(m->book, ntohl(addr));
	}
	if (name == NULL)
		a.status = ASK_NOHOST;
	else
		snprintf(a.name, sizeof a.name, "%s", name);
	answer(m, &a, -1);
}

static void
pending_free(struct pending *p)
{
	*p->link = p->next;
	if (p->next != NULL)
		p->next->link = p->link;
	p->m->npending--;
	dial_cancel(p->dial);
	free(p);
}

static void
on_dialled(int fd, int sys, void *arg)
{
	struct pending *p = arg;
	struct ask_answer a = { .magic = ASK_MAGIC, .id = p->msg.id,
	    .status = fd >= 0 ? ASK_OK : ASK_REFUSED, .sys = sys };

	p->dial = NULL;
	if (fd >= 0 && p->m->c.policy->net.sni.value == NET_SNI_ENFORCE)
		snprintf(a.name, sizeof a.name, "%s", p->host.text);
	answer(p->m, &a, fd);
	pending_free(p);
}

/* The addresses a name resolved to, or the literal itself. */
static void
vet_and_dial(struct pending *p, const struct dial_addr *addrs, size_t n)
{
	struct monitor *m = p->m;
	struct dial_addr good[DIAL_MAX_ADDRS];
	struct verdict v = { .action = ACTION_DENY }, denied = v;
	size_t ngood = 0;

	for (size_t i = 0; i < n && i < DIAL_MAX_ADDRS; i++) {
		decide_net_dial(m->c.policy, &p->host, p->msg.port,
		    addrs[i].addr, addrs[i].family == AF_INET ? 4 : 16,
		    dial_is_own(&addrs[i]), &v);
		/* What only an upstream proxy may reach is not ours to dial. */
		if (v.action == ACTION_ALLOW && !v.via_upstream)
			good[ngood++] = addrs[i];
		else
			denied = v;
	}
	if (ngood == 0) {
		refuse(m, &p->msg, p->host.text, &denied);
		pending_free(p);
		return;
	}
	p->dial = dial_start(m->c.loop, good, ngood, p->msg.port, on_dialled,
	    p);
	if (p->dial == NULL) {
		answer_status(m, &p->msg, ASK_FULL, 0);
		pending_free(p);
	}
}

/* Somebody else waits for the same name: its answer is for both. */
static bool
is_asked(const struct pending *p)
{
	for (const struct pending *o = p->next; o != NULL; o = o->next)
		if (o->is_resolving &&
		    strcmp(o->host.text, p->host.text) == 0)
			return true;
	return false;
}

static void
resolve(struct pending *p)
{
	struct monitor *m = p->m;
	struct ask_msg q = { .magic = ASK_MAGIC, .id = p->id,
	    .kind = ASK_RESOLVE };
	size_t n = strlen(p->host.text);

	p->is_resolving = true;
	if (m->names != NULL && is_asked(p))
		return;
	q.name_len = (uint16_t)n;
	memcpy(q.name, p->host.text, n);
	if (m->names == NULL || fd_send(m->c.names_fd, &q, sizeof q, NULL, 0,
	    MSG_DONTWAIT) < 0) {
		answer_status(m, &p->msg, m->names == NULL ? ASK_NOHOST :
		    ASK_FULL, 0);
		pending_free(p);
	}
}

/*
 * A transparent connection names an address; which name did it stand for?  A
 * client that looked the name up before it asked a proxy means the same.
 */
static int
dial_host(struct monitor *m, const struct ask_msg *q, struct host *ret)
{
	const char *name;
	uint32_t addr;

	if (host_canon(q->name, q->name_len, ret) != 0)
		return -1;
	if (ret->kind != HOST_IPV4)
		return 0;
	memcpy(&addr, ret->addr, 4);
	addr = ntohl(addr);
	name = addrbook_name(m->book, addr);
	if (name != NULL)
		return host_canon(name, strlen(name), ret);
	/* In the fake range, yet handed out to nobody: a guess. */
	return q->via == ASK_VIA_TRANSPARENT && addrbook_is_fake(addr) ? -1 :
	    0;
}

static void
on_dial(struct monitor *m, const struct ask_msg *q)
{
	struct pending *p;
	struct verdict v;
	struct host h;

	if (dial_host(m, q, &h) != 0) {
		refuse_bad(m, q);
		return;
	}
	if (is_self(&h)) {
		answer_status(m, q, q->port == ASK_SELF_PORT ? ASK_SELF :
		    ASK_REFUSED, q->port == ASK_SELF_PORT ? 0 : ECONNREFUSED);
		return;
	}
	decide_net(m->c.policy, &h, q->port, &v);
	if (v.action == ACTION_DENY) {
		refuse(m, q, h.text, &v);
		return;
	}
	p = m->npending < PENDING_MAX ? calloc(1, sizeof *p) : NULL;
	if (p == NULL) {
		answer_status(m, q, ASK_FULL, 0);
		return;
	}
	*p = (struct pending){ .m = m, .next = m->pending,
	    .link = &m->pending, .id = ++m->next_id, .msg = *q, .host = h };
	if (p->next != NULL)
		p->next->link = &p->next;
	m->pending = p;
	m->npending++;
	if (h.kind == HOST_NAME)
		resolve(p);
	else {
		struct dial_addr addr = { .family = h.kind == HOST_IPV4 ?
		    AF_INET : AF_INET6 };

		memcpy(addr.addr, h.addr, sizeof addr.addr);
		vet_and_dial(p, &addr, 1);
	}
}

static void
on_sni(struct monitor *m, const struct ask_msg *q)
{
	struct host h = { .text = "" };
	struct verdict v;

	if (sni_is_denied(m->c.policy, q, &h, &v)) {
		v.action = ACTION_DENY;
		refuse(m, q, h.text, &v);
	} else
		answer_status(m, q, ASK_OK, 0);
}

static void
on_recent(struct monitor *m, const struct ask_msg *q)
{
	struct ask_answer a = { .magic = ASK_MAGIC, .id = q->id,
	    .status = ASK_OK };
	const struct recent *l = witness_recent(m->c.witness);
	const struct recent_entry *r;

	_Static_assert(sizeof a.name == sizeof r->what &&
	    sizeof a.rule == RECENT_RULE && sizeof a.remedy == RECENT_REMEDY,
	    "what is remembered fits an answer");
	if (q->port >= l->n) {
		answer_status(m, q, ASK_NOHOST, 0);
		return;
	}
	r = &l->entry[q->port];
	memcpy(a.name, r->what, sizeof a.name);
	memcpy(a.rule, r->rule, sizeof a.rule);
	memcpy(a.remedy, r->remedy, sizeof a.remedy);
	a.sys = r->count < INT32_MAX ? (int32_t)r->count : INT32_MAX;
	answer(m, &a, -1);
}

static void
on_note(struct monitor *m, const struct ask_msg *q)
{
	herald_note(&m->herald, (enum ask_note)q->note);
}

static void
drop_answers(struct monitor *m)
{
	struct queued *q;

	while (m->pending != NULL)
		pending_free(m->pending);
	while ((q = m->first) != NULL) {
		m->first = q->next;
		fd_close(&q->fd);
		free(q);
	}
	m->last = &m->first;
	m->nqueued = 0;
	if (m->net != NULL)
		net_interest(m);
}

/* The one who asked is dead: its successor must not get its answers. */
static void
on_restart(struct monitor *m, const struct ask_msg *q)
{
	drop_answers(m);
	herald_restart(&m->herald, q->port);
	answer_status(m, q, ASK_OK, 0);
}

static void (*const questions[])(struct monitor *, const struct ask_msg *) = {
	[ASK_LOOKUP] = on_lookup,
	[ASK_DIAL] = on_dial,
	[ASK_PTR] = on_ptr,
	[ASK_SNI] = on_sni,
	[ASK_RECENT] = on_recent,
	[ASK_NOTE] = on_note,
	[ASK_RESTART] = on_restart,
};

static void
net_ready(struct watch *w, int what, void *arg)
{
	struct monitor *m = arg;
	struct ask_msg raw, q;
	ssize_t n;

	(void)w;
	if (m->first != NULL) {
		flush_queue(m);
		if (m->first != NULL && (what & LOOP_HUP) == 0)
			return;
	}
	for (int i = 0; i < TURN_MAX && m->first == NULL; i++) {
		n = fd_recv(m->c.net_fd, &raw, sizeof raw, NULL, 0, NULL,
		    MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {		/* the worker is gone: run.c tells */
			watch_free(m->net);
			m->net = NULL;
			return;
		}
		if (ask_check_msg(&raw, (size_t)n, &q) != 0)
			continue;
		if (q.kind < sizeof questions / sizeof questions[0] &&
		    questions[q.kind] != NULL)
			questions[q.kind](m, &q);
	}
}

static void
on_resolved(struct pending *p, const struct ask_answer *a)
{
	struct dial_addr addrs[ASK_MAX_ADDRS];
	size_t n = 0;

	p->is_resolving = false;
	for (size_t i = 0; i < a->naddrs && i < ASK_MAX_ADDRS; i++) {
		if (a->addrs[i].family != AF_INET &&
		    a->addrs[i].family != AF_INET6)
			continue;
		addrs[n].family = a->addrs[i].family;
		memcpy(addrs[n].addr, a->addrs[i].addr, 16);
		n++;
	}
	if (a->status != ASK_OK || n == 0) {
		answer_status(p->m, &p->msg, ASK_NOHOST, 0);
		pending_free(p);
		return;
	}
	vet_and_dial(p, addrs, n);
}

/* Everybody who waits for this name (NULL: for any); the list changes. */
static void
resolved_all(struct monitor *m, const char *name, const struct ask_answer *a)
{
	struct pending *p, *next;
	char copy[256];

	if (name != NULL) {		/* it goes with the first of them */
		snprintf(copy, sizeof copy, "%s", name);
		name = copy;
	}
	for (p = m->pending; p != NULL; p = next) {
		next = p->next;
		if (p->is_resolving && (name == NULL ||
		    strcmp(p->host.text, name) == 0))
			on_resolved(p, a);
	}
}

static void
names_gone(struct monitor *m)
{
	const struct ask_answer none = { .status = ASK_NOHOST };

	watch_free(m->names);
	m->names = NULL;
	resolved_all(m, NULL, &none);
}

static void
names_ready(struct watch *w, int what, void *arg)
{
	struct monitor *m = arg;
	struct ask_answer raw, a;
	struct pending *p;
	ssize_t n;

	(void)w;
	(void)what;
	for (int i = 0; i < TURN_MAX; i++) {
		n = fd_recv(m->c.names_fd, &raw, sizeof raw, NULL, 0, NULL,
		    MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			names_gone(m);
			return;
		}
		if (ask_check_answer(&raw, (size_t)n, &a) != 0)
			continue;
		for (p = m->pending; p != NULL; p = p->next)
			if (p->id == a.id && p->is_resolving)
				break;
		if (p != NULL)
			resolved_all(m, p->host.text, &a);
	}
}

/* ---- life ---- */

struct monitor *
monitor_new(const struct monitor_config *c)
{
	struct monitor *m = calloc(1, sizeof *m);

	if (m == NULL)
		return NULL;
	m->c = *c;
	m->herald.witness = c->witness;
	m->herald.jail_pid = c->jail_pid;
	m->herald.stop_pid = c->stop_pid;
	m->last = &m->first;
	m->book = addrbook_new();
	m->net = loop_fd(c->loop, c->net_fd, LOOP_READ, net_ready, m);
	if (c->names_fd >= 0)
		m->names = loop_fd(c->loop, c->names_fd, LOOP_READ,
		    names_ready, m);
	if (m->book == NULL || m->net == NULL ||
	    (c->names_fd >= 0 && m->names == NULL)) {
		monitor_free(m);
		return NULL;
	}
	return m;
}

void
monitor_stop_pid(struct monitor *m, pid_t pid)
{
	m->herald.stop_pid = pid;
}

void
monitor_free(struct monitor *m)
{
	if (m == NULL)
		return;
	watch_free(m->net);
	watch_free(m->names);
	m->net = m->names = NULL;
	drop_answers(m);
	addrbook_free(m->book);
	free(m);
}
