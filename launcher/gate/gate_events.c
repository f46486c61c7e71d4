#include "launcher/gate/gate_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "launcher/record/who.h"
#include "platform/base/clock.h"
#include "platform/jail.h"
#include "policy/host.h"

enum {
	WHO_MS = 100,		/* a second, for finding out who asked */
	ASKERS = 32,		/* remembered */
};

struct askers {
	struct asker {
		struct ask_source	source;
		struct event_process	process[EVENT_ANCESTORS];
		unsigned		nprocess;
	} v[ASKERS];
	unsigned	next;
};

static const char *
qtype_name(unsigned type, char buf[16])
{
	static const struct { unsigned type; const char *name; } known[] = {
		{ 1, "A" }, { 2, "NS" }, { 5, "CNAME" }, { 6, "SOA" },
		{ 12, "PTR" }, { 15, "MX" }, { 16, "TXT" }, { 28, "AAAA" },
		{ 33, "SRV" }, { 64, "SVCB" }, { 65, "HTTPS" }, { 255, "ANY" },
	};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (known[i].type == type)
			return known[i].name;
	snprintf(buf, 16, "TYPE%u", type);
	return buf;
}

/* The place that the asking process has called. */
static void
called_place(const struct gate_events *h, const struct ask_msg *q,
    struct callers_place *p)
{
	struct host host;

	*p = (struct callers_place){ .is_any = true, .port = q->port };
	switch (q->via) {
	case ASK_VIA_DNS:
		p->port = JAIL_DNS_PORT;
		break;
	case ASK_VIA_HTTP:
		p->port = h->http_port;
		break;
	case ASK_VIA_SOCKS:
		p->port = h->socks_port;
		break;
	case ASK_VIA_TRANSPARENT:
		if (q->kind == ASK_SNI || host_canon(q->name, q->name_len,
		    &host) != 0 || host.kind == HOST_NAME)
			break;
		callers_place(p, host.addr, host.kind == HOST_IPV4 ? 4 : 16,
		    q->port);
		break;
	default:
		break;
	}
}

/*
 * A jail with thousands of sockets and processes makes the search for the
 * asker long.  It may cost a tenth of each second of ours (waiting for a busy
 * machine costs nothing); beyond that records come without a process.
 */
static pid_t
find_socket(struct gate_events *h, const struct ask_msg *q, struct event *ev)
{
	int64_t start = clock_us(CLOCK_PROCESS_CPUTIME_ID);
	int64_t second = clock_ms(CLOCK_MONOTONIC) / 1000;
	pid_t pid;

	if (second != h->who_second) {
		h->who_second = second;
		h->who_us = 0;
	}
	if (h->who_us > WHO_MS * 1000)
		return 0;
	pid = who_socket(h->jail_pid, q->is_udp, &q->source);
	if (pid > 0)
		who_pid(pid, h->stop_pid, ev);
	h->who_us += clock_us(CLOCK_PROCESS_CPUTIME_ID) - start;
	return ev->nprocess > 0 ? pid : 0;
}

static void
find_asker(struct gate_events *h, const struct ask_msg *q, struct event *ev)
{
	struct callers_place p;

	if (q->via == ASK_VIA_INSIDE)
		return;			/* nobody of the jail's */
	called_place(h, q, &p);
	if (find_socket(h, q, ev) == 0)
		ev->is_guess = witness_caller(h->witness, &p, q->source.port,
		    ev);
}

void
gate_events_remember(struct gate_events *h, const struct ask_msg *q)
{
	struct event ev = { .nprocess = 0 };
	struct asker *a;

	if (!h->is_debug)
		return;
	if (h->askers == NULL)
		h->askers = calloc(1, sizeof *h->askers);
	if (h->askers == NULL)
		return;
	find_asker(h, q, &ev);
	a = &h->askers->v[h->askers->next++ % ASKERS];
	a->source = q->source;
	a->nprocess = ev.nprocess;
	memcpy(a->process, ev.process, sizeof a->process);
}

static bool
find_remembered(const struct gate_events *h, const struct ask_msg *q,
    struct event *ev)
{
	for (unsigned i = 0; h->askers != NULL && i < ASKERS; i++) {
		const struct asker *a = &h->askers->v[(h->askers->next - 1 -
		    i) % ASKERS];

		if (memcmp(&a->source, &q->source, sizeof a->source) != 0)
			continue;
		ev->nprocess = a->nprocess;
		memcpy(ev->process, a->process, sizeof ev->process);
		return true;
	}
	return false;
}

void
gate_events_release(struct gate_events *h)
{
	free(h->askers);
	h->askers = NULL;
}

/* What kind of record it is, by the way the question came. */
static void
fill_way(struct event *ev, const struct ask_msg *q, char type[16])
{
	switch (q->via) {
	case ASK_VIA_DNS:
		ev->kind = EVENT_DNS;
		ev->enforcer = ENFORCER_DNS;
		ev->qtype = qtype_name(q->qtype, type);
		break;
	case ASK_VIA_HTTP:
		ev->kind = EVENT_HTTP;
		ev->method = q->method[0] != '\0' ? q->method : "CONNECT";
		ev->url_path = q->kind != ASK_SNI ? q->url_path : NULL;
		ev->status = 403;
		break;
	case ASK_VIA_SOCKS:
		ev->kind = EVENT_CONNECT;
		ev->is_socks = true;
		break;
	default:
		ev->kind = EVENT_CONNECT;
		ev->sys = ECONNRESET;
		break;
	}
}

pid_t
gate_events_refusal(struct gate_events *h, const struct ask_msg *q,
    enum ask_status status, const char *host, const struct verdict *v)
{
	struct event ev = { .witness = WITNESS_GATE, .count = 1,
	    .enforcer = ENFORCER_GATE, .verdict = *v, .host = host,
	    .port = q->port };
	char type[16];

	fill_way(&ev, q, type);
	if (ev.kind == EVENT_HTTP && status == ASK_PROXY_FAILED)
		ev.status = 502;
	if (q->kind == ASK_SNI) {
		ev.kind = EVENT_SNI;
		ev.server = q->granted;
		ev.host = q->name_len > 0 ? host : NULL;
		ev.sys = 0;
	}
	find_asker(h, q, &ev);
	witness_gate(h->witness, &ev);
	return ev.nprocess > 0 ? ev.process[0].pid : 0;
}

void
gate_events_grant(struct gate_events *h, const struct ask_msg *q,
    const char *host, const struct verdict *v,
    const struct gate_events_grant *g)
{
	struct event ev;
	char type[16];

	/* Before anything is filled in: most grants are not told. */
	if (!h->is_debug && (q->via != ASK_VIA_HTTP || g->code < 500) &&
	    (q->via < ASK_VIA_LOCAL || g->sys == 0))
		return;
	ev = (struct event){ .witness = WITNESS_GATE, .count = 1,
	    .enforcer = ENFORCER_GATE, .verdict = *v, .host = host,
	    .port = q->port };
	fill_way(&ev, q, type);
	ev.status = g->code;
	ev.duration_ms = g->ms;
	ev.sys = g->sys;
	if (q->kind != ASK_DONE || !find_remembered(h, q, &ev))
		find_asker(h, q, &ev);
	witness_gate(h->witness, &ev);
}

void
gate_events_book_full(struct gate_events *h)
{
	struct event ev = { .kind = EVENT_WORKER, .witness = WITNESS_MONITOR,
	    .enforcer = ENFORCER_DNS, .count = 1,
	    .detail = "all addresses for names below wildcards are used up: "
	    "further ones do not resolve in this run" };

	if (h->is_book_full)
		return;
	h->is_book_full = true;
	witness_gate(h->witness, &ev);
}

void
gate_events_name(struct gate_events *h, const char *name)
{
	struct event ev = { .kind = EVENT_SUSPECT, .count = 1,
	    .witness = WITNESS_GATE, .enforcer = ENFORCER_DNS };
	const char *domain;
	char text[700];

	if (!suspect_name(&h->suspect, name, &domain))
		return;
	snprintf(text, sizeof text, "names below %s look like data carried "
	    "out, and are refused: %s", domain, name);
	ev.detail = text;
	witness_gate(h->witness, &ev);
}

void
gate_events_note(struct gate_events *h, const struct ask_msg *q)
{
	static const char *const text[ASK_NOTES] = {
		[ASK_NOTE_LIMIT] =
		    "the gate's limit of connections is reached: "
		    "the longest idle give way, others wait",
		[ASK_NOTE_BAD_REQUEST] = "the gate met a malformed request",
		[ASK_NOTE_COMMAND] = "a program asked for BIND or UDP "
		    "ASSOCIATE, which the SOCKS proxy does not offer",
	};
	struct event ev = { .kind = EVENT_WORKER, .witness = WITNESS_GATE,
	    .enforcer = ENFORCER_GATE, .count = 1 };

	ev.detail = text[q->note];
	if (q->source.family != 0)
		find_asker(h, q, &ev);
	witness_gate(h->witness, &ev);
}

void
gate_events_restart(struct gate_events *h, int wstatus)
{
	struct event ev = { .kind = EVENT_WORKER, .count = 1,
	    .witness = WITNESS_MONITOR, .enforcer = ENFORCER_GATE };
	char text[160];

	snprintf(text, sizeof text, "fence-net ended (%s %d) and was started "
	    "again: open connections are lost", WIFSIGNALED(wstatus) ?
	    "signal" : "status", WIFSIGNALED(wstatus) ? WTERMSIG(wstatus) :
	    WEXITSTATUS(wstatus));
	ev.detail = text;
	witness_gate(h->witness, &ev);
}
