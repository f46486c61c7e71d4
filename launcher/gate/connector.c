#include "launcher/gate/connector.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "launcher/gate/proxy_error.h"
#include "launcher/gate/dial.h"
#include "platform/fd.h"
#include "proxy/upstream.h"

enum {
	PENDING_MAX = 4096,	/* under way */
	TURN_MAX = 16,		/* answers before others get a turn */
};

/* What is waited for. */
enum wait { WAIT_DIAL, WAIT_NAME, WAIT_SHAKE };

struct pending {
	struct connector	*connector;
	struct pending	*next, **link;
	uint32_t	 id;		/* ours, towards fence-names */
	int64_t		 start_ms;
	const struct via_proxy *proxy;	/* NULL: straight to the host */
	enum wait	 wait;
	struct dial	*dial;
	struct inbound_call *call;	/* into the jail */
	int		 fd;		/* WAIT_SHAKE: to the proxy */
	bool		 is_local;
	struct ask_msg	 msg;
	struct host	 host;
	struct verdict	 granted;
};

struct connector {
	struct connector_config	 c;
	struct watch		*names;
	struct pending		*pending;
	unsigned		 npending;
	uint32_t		 next_id;
};

static void
pending_free(struct pending *p)
{
	*p->link = p->next;
	if (p->next != NULL)
		p->next->link = p->link;
	p->connector->npending--;
	dial_cancel(p->dial);
	inbound_cancel(p->call);
	fd_close(&p->fd);
	free(p);
}

/* NULL, and answered, if there are too many. */
static struct pending *
pending_new(struct connector *r, const struct ask_msg *q, const struct host *h,
    const struct verdict *granted)
{
	struct pending *p = r->npending < PENDING_MAX ? malloc(sizeof *p) :
	    NULL;
	struct connector_result full = { .status = ASK_FULL, .fd = -1,
	    .host = h, .granted = granted };

	if (p == NULL) {
		r->c.fn(q, &full, r->c.arg);
		return NULL;
	}
	/* All but the three large ones, which are copied once. */
	memset(p, 0, offsetof(struct pending, msg));
	p->connector = r;
	p->next = r->pending;
	p->link = &r->pending;
	p->id = ++r->next_id;
	p->start_ms = loop_now_ms(r->c.loop);
	p->fd = -1;
	p->msg = *q;
	p->host = *h;
	p->granted = *granted;
	if (p->next != NULL)
		p->next->link = &p->next;
	r->pending = p;
	r->npending++;
	return p;
}

/* ---- the end of one ---- */

/* Takes fd (or -1); p is gone afterwards. */
static void
finish(struct pending *p, enum ask_status status, int sys, int fd,
    const struct verdict *v)
{
	const struct connector_config *c = &p->connector->c;
	const struct connector_result result = { .status = status, .sys = sys,
	    .fd = fd, .host = &p->host, .verdict = v,
	    .granted = &p->granted, .is_local = p->is_local,
	    .ms = loop_now_ms(c->loop) - p->start_ms };

	c->fn(&p->msg, &result, c->arg);
	pending_free(p);
}

/* Something did not work.  By way of a proxy, that is what did not. */
static void
fail(struct pending *p, const struct ask_answer *a)
{
	struct verdict v;
	enum ask_status status = (enum ask_status)a->status;
	int sys = a->sys;

	if (p->proxy != NULL)
		status = proxy_error(p->proxy, p->msg.port, a, &sys, &v);
	finish(p, status, sys, -1, status == ASK_PROXY_DENIED ||
	    status == ASK_PROXY_FAILED ? &v : NULL);
}

static void
fail_status(struct pending *p, enum ask_status status, int sys)
{
	const struct ask_answer a = { .status = (uint16_t)status,
	    .sys = sys };

	fail(p, &a);
}

/* ---- dialling ---- */

/* The proxy has to be asked before anybody else may use the connection. */
static void
shake(struct pending *p, int fd)
{
	const struct proxyurl *url = &p->proxy->url;
	struct ask_shake s = { .magic = ASK_MAGIC, .id = p->id,
	    .kind = ASK_SHAKE, .proxy = url->kind == PROXYURL_HTTP ?
	    UPSTREAM_HTTP : UPSTREAM_SOCKS5, .port = p->msg.port,
	    .has_login = url->has_login };

	_Static_assert(sizeof s.host == sizeof p->host.text &&
	    sizeof s.user == sizeof url->user &&
	    sizeof s.password == sizeof url->password, "struct ask_shake");
	p->fd = fd;
	p->wait = WAIT_SHAKE;
	memcpy(s.host, p->host.text, sizeof s.host);
	memcpy(s.user, url->user, sizeof s.user);
	memcpy(s.password, url->password, sizeof s.password);
	if (p->connector->names == NULL || fd_send(p->connector->c.names_fd, &s,
	    sizeof s, &fd, 1, MSG_DONTWAIT) < 0)
		fail_status(p, ASK_FULL, 0);
}

static void
on_dialled(int fd, int sys, void *arg)
{
	struct pending *p = arg;

	p->dial = NULL;
	p->call = NULL;
	if (fd < 0)
		fail_status(p, ASK_REFUSED, sys);
	else if (p->proxy != NULL)
		shake(p, fd);
	else
		finish(p, ASK_OK, 0, fd, NULL);
}

static void
dial(struct pending *p, const struct dial_addr *addrs, size_t n,
    uint16_t port)
{
	int fd;

	p->dial = dial_start(p->connector->c.loop, addrs, n, port, on_dialled,
	    p, &fd);
	if (fd >= 0)
		on_dialled(fd, 0, p);
	else if (p->dial == NULL)
		fail_status(p, ASK_FULL, 0);
}

/* Also by way of a translator: an IPv4 address inside an IPv6 one. */
static bool
is_own(const struct dial_addr *a)
{
	struct dial_addr v4 = { .family = AF_INET };
	struct host h, inner;

	if (dial_is_own(a))
		return true;
	host_from_addr(a->addr, a->family == AF_INET ? 4 : 16, &h);
	if (!host_embedded(&h, &inner))
		return false;
	memcpy(v4.addr, inner.addr, 4);
	return dial_is_own(&v4);
}

/* The addresses a name resolved to, or the literal itself: those we may. */
static size_t
vet(const struct pending *p, const struct dial_addr *addrs, size_t n,
    struct dial_addr good[DIAL_MAX_ADDRS], struct verdict *denied)
{
	struct verdict v;
	size_t ngood = 0;

	for (size_t i = 0; i < n && i < DIAL_MAX_ADDRS; i++) {
		decide_net_dial(p->connector->c.policy, &p->host, p->msg.port,
		    addrs[i].addr, addrs[i].family == AF_INET ? 4 : 16,
		    is_own(&addrs[i]), &v);
		/* What only an upstream proxy may reach is not ours to dial. */
		if (v.action == ACTION_ALLOW &&
		    (!v.via_upstream || p->proxy != NULL))
			good[ngood++] = addrs[i];
		else
			*denied = v;
		denied->action = ACTION_DENY;
	}
	return ngood;
}

static void
vet_and_dial(struct pending *p, const struct dial_addr *addrs, size_t n)
{
	struct dial_addr good[DIAL_MAX_ADDRS];
	struct verdict denied = { .action = ACTION_DENY };

	n = vet(p, addrs, n, good, &denied);
	if (n == 0)
		finish(p, ASK_DENIED, 0, -1, &denied);
	else
		dial(p, good, n, p->msg.port);
}

static struct dial_addr
literal(const struct host *h)
{
	struct dial_addr a = { .family = h->kind == HOST_IPV4 ? AF_INET :
	    AF_INET6 };

	memcpy(a.addr, h->addr, sizeof a.addr);
	return a;
}

/* ---- names ---- */

/* Whose name is looked up. */
static const struct host *
sought(const struct pending *p)
{
	return p->proxy != NULL ? &p->proxy->url.host : &p->host;
}

/* Somebody else waits for the same name: its answer is for both. */
static bool
is_asked(const struct pending *p)
{
	for (const struct pending *o = p->next; o != NULL; o = o->next)
		if (o->wait == WAIT_NAME &&
		    strcmp(sought(o)->text, sought(p)->text) == 0)
			return true;
	return false;
}

static void
resolve(struct pending *p)
{
	struct connector *r = p->connector;
	struct ask_msg q = { .magic = ASK_MAGIC, .id = p->id,
	    .kind = ASK_RESOLVE };
	size_t n = strlen(sought(p)->text);

	p->wait = WAIT_NAME;
	if (r->names != NULL && is_asked(p))
		return;
	q.name_len = (uint16_t)n;
	memcpy(q.name, sought(p)->text, n);
	if (r->names == NULL || fd_send(r->c.names_fd, &q, sizeof q, NULL, 0,
	    MSG_DONTWAIT) < 0)
		fail_status(p, r->names == NULL ? ASK_NOHOST : ASK_FULL, 0);
}

static void
on_resolved(struct pending *p, const struct ask_answer *a)
{
	struct dial_addr addrs[ASK_MAX_ADDRS];
	size_t n = 0;

	p->wait = WAIT_DIAL;
	for (size_t i = 0; i < a->naddrs && i < ASK_MAX_ADDRS; i++) {
		if (a->addrs[i].family != AF_INET &&
		    a->addrs[i].family != AF_INET6)
			continue;
		addrs[n].family = a->addrs[i].family;
		memcpy(addrs[n].addr, a->addrs[i].addr, 16);
		n++;
	}
	if (a->status != ASK_OK || n == 0)
		fail_status(p, ASK_NOHOST, 0);
	else if (p->proxy != NULL)
		dial(p, addrs, n, p->proxy->url.port);
	else
		vet_and_dial(p, addrs, n);
}

/* Everybody who waits for this name (NULL: for any); the list changes. */
static void
resolved_all(struct connector *r, const char *name, const struct ask_answer *a)
{
	struct pending *p, *next;
	char copy[256];

	if (name != NULL) {		/* it goes with the first of them */
		snprintf(copy, sizeof copy, "%s", name);
		name = copy;
	}
	for (p = r->pending; p != NULL; p = next) {
		next = p->next;
		if (p->wait == WAIT_NAME && (name == NULL ||
		    strcmp(sought(p)->text, name) == 0))
			on_resolved(p, a);
	}
}

static void
names_gone(struct connector *r)
{
	const struct ask_answer none = { .status = ASK_NOHOST };
	struct pending *p, *next;

	watch_free(r->names);
	r->names = NULL;
	resolved_all(r, NULL, &none);
	for (p = r->pending; p != NULL; p = next) {
		next = p->next;
		if (p->wait == WAIT_SHAKE)
			fail_status(p, ASK_FULL, 0);
	}
}

static void
on_answer(struct connector *r, const struct ask_answer *a)
{
	struct pending *p;

	for (p = r->pending; p != NULL; p = p->next)
		if (p->id == a->id && p->wait != WAIT_DIAL)
			break;
	if (p == NULL)
		return;
	if (p->wait == WAIT_NAME)
		resolved_all(r, sought(p)->text, a);
	else if (a->status == ASK_OK)
		finish(p, ASK_OK, 0, fd_take(&p->fd), NULL);
	else
		fail(p, a);
}

static void
names_ready(struct watch *w, int what, void *arg)
{
	struct connector *r = arg;
	struct ask_answer raw, a;
	ssize_t n;

	(void)w;
	(void)what;
	for (int i = 0; i < TURN_MAX; i++) {
		n = fd_hear(r->c.names_fd, &raw, sizeof raw);
		if (n < 0)
			names_gone(r);
		if (n <= 0)
			return;
		if (ask_check_answer(&raw, (size_t)n, &a) == 0)
			on_answer(r, &a);
	}
}

/* ---- the beginning ---- */

/* Plain HTTP, as far as we are told. */
static bool
is_plain(const struct ask_msg *q)
{
	return q->via == ASK_VIA_HTTP && q->method[0] != '\0' &&
	    strcmp(q->method, "CONNECT") != 0;
}

/*
 * By way of a proxy: a name leads where that says; an address is vetted here
 * as it always is.  The proxy's own address is the user's word.
 */
static void
begin_proxy(struct pending *p)
{
	struct verdict denied = { .action = ACTION_DENY };
	struct dial_addr addr, good[DIAL_MAX_ADDRS];

	if (p->host.kind != HOST_NAME) {
		addr = literal(&p->host);
		if (vet(p, &addr, 1, good, &denied) == 0) {
			finish(p, ASK_DENIED, 0, -1, &denied);
			return;
		}
	}
	if (p->proxy->url.host.kind == HOST_NAME) {
		resolve(p);
		return;
	}
	addr = literal(&p->proxy->url.host);
	dial(p, &addr, 1, p->proxy->url.port);
}

void
connector_start(struct connector *r, const struct ask_msg *q,
    const struct host *h, const struct verdict *granted)
{
	struct pending *p = pending_new(r, q, h, granted);
	struct dial_addr addr;

	if (p == NULL)
		return;
	if (r->c.via != NULL)
		p->proxy = granted->via_upstream ? r->c.via->upstream :
		    via_pick(r->c.via, h, q->port, is_plain(q));
	if (p->proxy != NULL) {
		begin_proxy(p);
	} else if (h->kind == HOST_NAME) {
		resolve(p);
	} else {
		addr = literal(h);
		vet_and_dial(p, &addr, 1);
	}
}

void
connector_local(struct connector *r, const struct ask_msg *q,
    const struct host *h, const struct verdict *granted)
{
	static const struct dial_addr homes[] = {
		{ AF_INET, { 127, 0, 0, 1 } },
		{ AF_INET6, { [15] = 1 } },
		{ AF_INET, { 127, 0, 0, 1 } },
	};
	struct pending *p = pending_new(r, q, h, granted);

	if (p == NULL)
		return;
	p->is_local = true;
	/* The family that was asked for goes first. */
	dial(p, &homes[h->kind == HOST_IPV6], 2, q->port);
}

void
connector_inside(struct connector *r, const struct ask_msg *q,
    const struct host *h, const struct verdict *granted)
{
	struct pending *p = pending_new(r, q, h, granted);

	if (p == NULL)
		return;
	p->is_local = true;
	p->call = inbound_dial(r->c.inbound, q->port, on_dialled, p);
	if (p->call == NULL)
		fail_status(p, ASK_FULL, 0);
}

struct connector *
connector_new(const struct connector_config *c)
{
	struct connector *r = calloc(1, sizeof *r);

	if (r == NULL)
		return NULL;
	r->c = *c;
	if (c->names_fd >= 0) {
		r->names = loop_fd(c->loop, c->names_fd, LOOP_READ,
		    names_ready, r);
		if (r->names == NULL) {
			connector_free(r);
			return NULL;
		}
	}
	return r;
}

void
connector_set_policy(struct connector *r, const struct policy *p)
{
	r->c.policy = p;
}

void
connector_drop(struct connector *r)
{
	while (r->pending != NULL)
		pending_free(r->pending);
}

void
connector_free(struct connector *r)
{
	if (r == NULL)
		return;
	watch_free(r->names);
	connector_drop(r);
	free(r);
}
