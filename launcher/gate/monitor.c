#include "launcher/gate/monitor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/gate/addrbook.h"
#include "launcher/gate/answers.h"
#include "launcher/gate/gate_events.h"
#include "launcher/gate/connector.h"
#include "launcher/gate/retry_loop.h"
#include "launcher/gate/sni.h"
#include "platform/fd.h"
#include "policy/decide.h"
#include "policy/verdict.h"
#include "proxy/ask.h"

enum {
	TURN_MAX = 16,		/* questions before others get a turn */
	LAST_MS = 200,		/* for what was asked before the end */
};

struct monitor {
	struct monitor_config	 c;
	struct addrbook		*book;
	struct answers		 answers;
	struct connector	*connector;
	struct gate_events	 events;
	struct retry_loop	 retries;
	struct watch		*hearing;	/* last questions */
	void			(*done)(void *);
	void			*done_arg;
};

static void
answer_status(struct monitor *m, const struct ask_msg *q,
    enum ask_status status, int sys)
{
	struct ask_answer a = { .magic = ASK_MAGIC, .id = q->id,
	    .status = (uint16_t)status, .sys = sys };

	answers_send(&m->answers, &a, -1);
}

/* ---- refusals ---- */

/* The refusal is the policy's, or of a proxy on the way (ASK_PROXY_*). */
static void
refuse_as(struct monitor *m, const struct ask_msg *q, enum ask_status status,
    const char *host, const struct verdict *v)
{
	struct ask_answer a = { .magic = ASK_MAGIC, .id = q->id,
	    .status = (uint16_t)status };
	pid_t pid;

	pid = gate_events_refusal(&m->events, q, status, host, v);
	if (q->kind == ASK_DIAL && status == ASK_DENIED)
		a.is_loop = retry_loop_refused(&m->retries, pid, host, q->port,
		    loop_now_ms(m->c.loop));
	recent_words(v, a.rule, a.remedy);
	snprintf(a.reason, sizeof a.reason, "%s", v->reason);
	answers_send(&m->answers, &a, -1);
}

static void
refuse(struct monitor *m, const struct ask_msg *q, const char *host,
    const struct verdict *v)
{
	refuse_as(m, q, ASK_DENIED, host, v);
}

/* Bytes that are no host: refused without asking any rule. */
static void
refuse_bad(struct monitor *m, const struct ask_msg *q)
{
	struct verdict v;

	verdict_rule(&v, ACTION_DENY, RULE_HOST, NULL,
	    (struct origin){ .file = "<built-in>",
	    .kind = ORIGIN_BUILT_IN });
	verdict_reason(&v, "not a host name");
	refuse(m, q, q->name, &v);
}

/*
 * Reports a dial.  For a request of plain HTTP the report waits for ASK_DONE,
 * which has the answer's code.
 */
static void
tell_dial(struct monitor *m, const struct ask_msg *q,
    const struct connector_result *r)
{
	struct gate_events_grant g = { .sys = r->sys, .ms = r->ms };
	bool is_connected = r->status == ASK_OK;

	if (q->via == ASK_VIA_HTTP) {
		g.code = is_connected ? 200 : 502;
		if (is_connected && strcmp(q->method, "CONNECT") != 0) {
			gate_events_remember(&m->events, q);
			return;
		}
	}
	gate_events_grant(&m->events, q, r->host->text, r->granted, &g);
}

/* ---- questions ---- */

/* fence.internal: nothing leaves the machine, so no rule is asked. */
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
		gate_events_name(&m->events, h.text);
		return;
	}
	if (addrbook_get(m->book, h.text, is_self(&h) ||
	    decide_net_is_entry(m->c.policy, &h), &addr) != 0) {
		gate_events_book_full(&m->events);
		answer_status(m, q, ASK_FULL, 0);
		return;
	}
	a.addrs[0].family = AF_INET;
	addr = htonl(addr);
	memcpy(a.addrs[0].addr, &addr, 4);
	if (v.action == ACTION_ALLOW)
		gate_events_grant(&m->events, q, h.text, &v,
		    &(struct gate_events_grant){ 0 });
	answers_send(&m->answers, &a, -1);
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
	answers_send(&m->answers, &a, -1);
}

static void
on_reached(const struct ask_msg *q, const struct connector_result *r, void *arg)
{
	struct monitor *m = arg;
	struct ask_answer a = { .magic = ASK_MAGIC, .id = q->id,
	    .status = (uint16_t)r->status, .sys = r->sys };

	switch (r->status) {
	case ASK_DENIED:
	case ASK_PROXY_DENIED:
	case ASK_PROXY_FAILED:
		refuse_as(m, q, r->status, r->host->text, r->verdict);
		return;
	case ASK_OK:
		if (!r->is_local &&
		    m->c.policy->net.sni.value == NET_SNI_ENFORCE)
			snprintf(a.tls_name, sizeof a.tls_name, "%s",
			    r->host->text);
		a.wants_done = m->c.is_debug;
		tell_dial(m, q, r);
		break;
	case ASK_REFUSED:
	case ASK_NOHOST:
		tell_dial(m, q, r);
		break;
	default:
		break;
	}
	answers_send(&m->answers, &a, r->fd);
}

/*
 * The host that is meant.  A fake address stands for the name it was handed
 * out for, in a transparent connection as in a request to a proxy.
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
	/* A fake address that was never handed out means no host. */
	return q->via == ASK_VIA_TRANSPARENT && addrbook_is_fake(addr) ? -1 :
	    0;
}

/* Does the question mean the host's own localhost, by a listener for its port
 * or by way of a proxy? */
static bool
is_local(const struct monitor *m, const struct ask_msg *q,
    const struct host *h, struct verdict *v)
{
	if (q->via != ASK_VIA_LOCAL && !decide_local_is_home(h))
		return false;
	decide_local(m->c.policy, q->port, v);
	return q->via == ASK_VIA_LOCAL || v->action == ACTION_ALLOW;
}

/* Does --port lead a port of the host to this port inside? */
static bool
is_published(const struct monitor *m, uint16_t port, struct verdict *v)
{
	const struct ports *ports = m->c.ports;

	verdict_rule(v, ACTION_DENY, RULE_PORT, NULL,
	    (struct origin){ .file = "<command line>",
	    .kind = ORIGIN_COMMAND_LINE });
	for (size_t i = 0; m->c.inbound != NULL && i < ports->nin; i++)
		if (ports->in[i].inside == port)
			v->action = ACTION_ALLOW;
	verdict_reason(v, v->action == ACTION_ALLOW ?
	    "a port of the host leads in" : "no port of the host leads there");
	return v->action == ACTION_ALLOW;
}

/* A peer on the host connected to a port of --port. */
static void
on_inside(struct monitor *m, const struct ask_msg *q)
{
	static const struct host home = { .kind = HOST_NAME,
	    .text = "localhost" };
	struct verdict v;

	if (is_published(m, q->port, &v))
		connector_inside(m->connector, q, &home, &v);
	else
		refuse(m, q, home.text, &v);
}

static void
on_dial(struct monitor *m, const struct ask_msg *q)
{
	struct verdict v;
	struct host h;
	bool local;

	if (q->via == ASK_VIA_INSIDE) {
		on_inside(m, q);
		return;
	}
	if (dial_host(m, q, &h) != 0) {
		refuse_bad(m, q);
		return;
	}
	if (is_self(&h)) {
		answer_status(m, q, q->port == ASK_SELF_PORT ? ASK_SELF :
		    ASK_REFUSED, q->port == ASK_SELF_PORT ? 0 : ECONNREFUSED);
		return;
	}
	local = is_local(m, q, &h, &v);
	if (!local)
		decide_net(m->c.policy, &h, q->port, &v);
	if (v.action == ACTION_DENY) {
		refuse(m, q, h.text, &v);
		return;
	}
	if (m->hearing != NULL)
		return;
	if (q->is_open) {
		gate_events_remember(&m->events, q);
		answers_send(&m->answers, &(struct ask_answer){
		    .magic = ASK_MAGIC, .id = q->id, .status = ASK_OK,
		    .wants_done = m->c.is_debug }, -1);
		return;
	}
	if (local)
		connector_local(m->connector, q, &h, &v);
	else
		connector_start(m->connector, q, &h, &v);
}

/* The code and time of an answer are the worker's word, and are believed. */
static void
on_done(struct monitor *m, const struct ask_msg *q)
{
	struct gate_events_grant g = { .code = q->code, .ms = q->ms };
	struct verdict v;
	struct host h;

	if (dial_host(m, q, &h) != 0)
		return;
	if (!is_local(m, q, &h, &v))
		decide_net(m->c.policy, &h, q->port, &v);
	if (v.action == ACTION_ALLOW)
		gate_events_grant(&m->events, q, h.text, &v, &g);
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

	_Static_assert(sizeof a.what == sizeof r->what &&
	    sizeof a.rule == RECENT_RULE && sizeof a.remedy == RECENT_REMEDY,
	    "what is remembered fits an answer");
	if (q->nth >= l->n) {
		answer_status(m, q, ASK_NOHOST, 0);
		return;
	}
	r = &l->entry[q->nth];
	memcpy(a.what, r->what, sizeof a.what);
	memcpy(a.rule, r->rule, sizeof a.rule);
	memcpy(a.remedy, r->remedy, sizeof a.remedy);
	a.count = r->count;
	answers_send(&m->answers, &a, -1);
}

/* Asked by a program that wants to know: nothing was refused. */
static void
on_why(struct monitor *m, const struct ask_msg *q)
{
	struct ask_answer a = { .magic = ASK_MAGIC, .id = q->id,
	    .status = ASK_NOHOST };
	struct verdict v;
	struct host h;

	if (host_canon(q->name, q->name_len, &h) != 0) {
		answers_send(&m->answers, &a, -1);
		return;
	}
	decide_net(m->c.policy, &h, q->port, &v);
	if (v.action == ACTION_ALLOW && h.kind != HOST_NAME)
		decide_net_dial(m->c.policy, &h, q->port, h.addr,
		    h.kind == HOST_IPV4 ? 4 : 16, 0, &v);
	if (is_self(&h))
		verdict_rule(&v, ACTION_ALLOW, RULE_PLACE, "the gate itself",
		    (struct origin){ .file = NULL });
	a.status = v.action == ACTION_DENY ? ASK_DENIED : ASK_OK;
	if (v.action == ACTION_ALLOW)
		v.remedy.kind = REMEDY_NONE;
	recent_words(&v, a.rule, a.remedy);
	snprintf(a.reason, sizeof a.reason, "%s", v.reason);
	answers_send(&m->answers, &a, -1);
}

static void
on_note(struct monitor *m, const struct ask_msg *q)
{
	gate_events_note(&m->events, q);
}

static void
drop_answers(struct monitor *m)
{
	if (m->connector != NULL)
		connector_drop(m->connector);
	answers_drop(&m->answers);
}

/* The server that asked is dead; the next one must not get its answers. */
static void
on_restart(struct monitor *m, const struct ask_msg *q)
{
	drop_answers(m);
	gate_events_restart(&m->events, q->wstatus);
	answer_status(m, q, ASK_OK, 0);
}

static void (*const questions[])(struct monitor *, const struct ask_msg *) = {
	[ASK_LOOKUP] = on_lookup,
	[ASK_DIAL] = on_dial,
	[ASK_PTR] = on_ptr,
	[ASK_DONE] = on_done,
	[ASK_SNI] = on_sni,
	[ASK_RECENT] = on_recent,
	[ASK_WHY] = on_why,
	[ASK_NOTE] = on_note,
	[ASK_RESTART] = on_restart,
};

static void
heard_last(struct monitor *m)
{
	watch_free(m->hearing);
	m->hearing = NULL;
	m->done(m->done_arg);
}

/* fence-net asks no more: it is told to end, and worker.c reports its end. */
static void
net_gone(struct monitor *m)
{
	watch_free(m->answers.net);
	m->answers.net = NULL;
	(void)shutdown(m->c.net_fd, SHUT_RDWR);
	if (m->hearing != NULL)
		heard_last(m);
}

static void
net_ready(struct watch *w, int what, void *arg)
{
	struct monitor *m = arg;
	struct ask_msg raw, q;
	ssize_t n;

	(void)w;
	if (m->answers.first != NULL) {
		answers_flush(&m->answers);
		if (m->answers.first != NULL && (what & LOOP_HUP) == 0)
			return;
	}
	for (int i = 0; i < TURN_MAX && m->answers.first == NULL; i++) {
		n = fd_hear(m->c.net_fd, &raw, sizeof raw);
		if (n < 0)
			net_gone(m);
		if (n <= 0)
			return;
		if (ask_check_msg(&raw, (size_t)n, &q) != 0)
			continue;
		if (q.kind < sizeof questions / sizeof questions[0] &&
		    questions[q.kind] != NULL)
			questions[q.kind](m, &q);
	}
}

static void
last_late(struct watch *w, int what, void *arg)
{
	struct monitor *m = arg;

	(void)w;
	(void)what;
	heard_last(m);
}

void
monitor_hear_last(struct monitor *m, void (*done)(void *), void *arg)
{
	drop_answers(m);
	m->done = done;
	m->done_arg = arg;
	if (m->answers.net != NULL)
		m->hearing = loop_after(m->c.loop, LAST_MS, last_late, m);
	if (m->hearing == NULL || shutdown(m->c.net_fd, SHUT_WR) != 0)
		heard_last(m);
}

/* ---- life ---- */

struct monitor *
monitor_new(const struct monitor_config *c)
{
	struct monitor *m = calloc(1, sizeof *m);

	if (m == NULL)
		return NULL;
	m->c = *c;
	m->events.witness = c->witness;
	m->events.jail_pid = c->jail_pid;
	m->events.stop_pid = c->stop_pid;
	m->events.is_debug = c->is_debug;
	m->events.http_port = c->http_port;
	m->events.socks_port = c->socks_port;
	answers_init(&m->answers, c->net_fd);
	m->book = addrbook_new();
	m->answers.net = loop_fd(c->loop, c->net_fd, LOOP_READ, net_ready, m);
	m->connector = connector_new(&(struct connector_config){
	    .loop = c->loop,
	    .policy = c->policy, .via = c->via, .names_fd = c->names_fd,
	    .inbound = c->inbound,
	    .fn = on_reached, .arg = m });
	if (m->book == NULL || m->answers.net == NULL || m->connector == NULL) {
		monitor_free(m);
		return NULL;
	}
	return m;
}

void
monitor_set_policy(struct monitor *m, const struct policy *p)
{
	m->c.policy = p;
	connector_set_policy(m->connector, p);
}

void
monitor_stop_pid(struct monitor *m, pid_t pid)
{
	m->events.stop_pid = pid;
}

void
monitor_free(struct monitor *m)
{
	if (m == NULL)
		return;
	watch_free(m->answers.net);
	m->answers.net = NULL;
	watch_free(m->hearing);
	drop_answers(m);
	gate_events_release(&m->events);
	connector_free(m->connector);
	addrbook_free(m->book);
	free(m);
}
