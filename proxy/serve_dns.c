#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "platform/base/buf.h"
#include "platform/fd.h"
#include "proxy/dnsmsg.h"
#include "proxy/serve.h"

enum {
	MAX_PENDING = 512,
	MAX_PENDING_TCP = 32,		/* on one connection */
	MAX_TCP_OUT = 64 * 1024,
	MAX_QUERY = 4096,
	QUERIES_A_TURN = 64,
};

struct dns_conn {
	struct conn	 conn;
	struct buf	 in, out;
	unsigned	 npending;
	bool		 is_eof;	/* it asks no more, may still read */
};

const size_t serve_dns_tcp_size = sizeof(struct dns_conn);

/* Where a UDP answer goes: back, and from the address that was asked. */
struct dns_path {
	struct sockaddr_storage	peer;
	socklen_t		peer_len;
	int			level;	/* of the PKTINFO, or 0 */
	union {
		struct in_pktinfo	v4;
		struct in6_pktinfo	v6;
	} local;
};

/* A query whose answer the monitor is thinking about. */
struct dns_pending {
	struct dns		*dns;
	struct dns_pending	*next, *prev;	/* oldest first */
	struct question		*question;
	struct dns_conn		*conn;		/* NULL: by UDP */
	struct dns_path		 path;
	struct dns_query	 query;
};

struct dns {
	struct questions	*questions;
	struct loop		*loop;
	int			 udp_fd;
	struct watch		*udp_watch;
	struct dns_pending	*first, *last;
	unsigned		 npending;
};

/* Replies */

static void
udp_send(const struct dns *d, const struct dns_path *path,
    const uint8_t *p, size_t len)
{
	union {
		struct cmsghdr	align;
		char		bytes[CMSG_SPACE(sizeof path->local)];
	} control;
	struct iovec iov = { (void *)(uintptr_t)p, len };
	struct msghdr msg = { .msg_name = (void *)(uintptr_t)&path->peer,
	    .msg_namelen = path->peer_len, .msg_iov = &iov, .msg_iovlen = 1 };
	bool is_v6 = path->level == IPPROTO_IPV6;
	size_t n = is_v6 ? sizeof path->local.v6 : sizeof path->local.v4;
	struct cmsghdr *c;

	if (path->level != 0) {
		memset(&control, 0, sizeof control);
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = path->level;
		c->cmsg_type = is_v6 ? IPV6_PKTINFO : IP_PKTINFO;
		c->cmsg_len = CMSG_LEN(n);
		memcpy(CMSG_DATA(c), &path->local, n);
	}
	/* A lost answer is asked for again: that is how DNS over UDP works. */
	(void)!sendmsg(d->udp_fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int
tcp_flush(struct dns_conn *t)
{
	ssize_t n;

	if (t->out.failed)
		return -1;
	if (t->out.len == 0)
		return 0;
	n = send(t->conn.fd, t->out.data, t->out.len,
	    MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	buf_consume(&t->out, (size_t)n);
	return 0;
}

static void
tcp_send(struct dns_conn *t, const uint8_t *p, size_t len)
{
	char prefix[2] = { (char)(len >> 8), (char)len };

	buf_add(&t->out, prefix, sizeof prefix);
	buf_add(&t->out, p, len);
}

static int	tcp_settle(struct dns_conn *);

/* By TCP it is only queued: tcp_settle() sends, or finds the client gone. */
static void
dns_reply(const struct dns *d, struct dns_conn *t,
    const struct dns_path *path, const uint8_t *p, size_t len)
{
	if (t == NULL)
		udp_send(d, path, p, len);
	else
		tcp_send(t, p, len);
}

/* Pending queries */

static void
pending_free(struct dns_pending *w)
{
	struct dns *d = w->dns;

	if (w->prev != NULL)
		w->prev->next = w->next;
	else
		d->first = w->next;
	if (w->next != NULL)
		w->next->prev = w->prev;
	else
		d->last = w->prev;
	d->npending--;
	if (w->conn != NULL)
		w->conn->npending--;
	question_drop(w->question);
	free(w);
}

static struct dns_pending *
pending_new(struct dns *d, struct dns_conn *t, const struct dns_path *path,
    const struct dns_query *q)
{
	struct dns_pending *w = calloc(1, sizeof *w);

	if (w == NULL)
		return NULL;
	w->dns = d;
	w->conn = t;
	if (path != NULL)
		w->path = *path;
	w->query = *q;
	w->prev = d->last;
	if (w->prev != NULL)
		w->prev->next = w;
	else
		d->first = w;
	d->last = w;
	d->npending++;
	if (t != NULL)
		t->npending++;
	return w;
}

/* The answer to one query, which is then no longer pending. */
static void
pending_reply(struct dns_pending *w, const uint8_t *p, size_t len)
{
	struct dns_conn *t = w->conn;

	dns_reply(w->dns, t, &w->path, p, len);
	pending_free(w);
	if (t != NULL && tcp_settle(t) != 0)
		conn_free(&t->conn);
}

static size_t
answer_lookup(const struct dns_query *q, const struct ask_answer *a,
    uint8_t *out)
{
	switch (a->status) {
	case ASK_OK:
		if (q->qtype == DNS_TYPE_A && a->naddrs > 0 &&
		    a->addrs[0].family == AF_INET)
			return dnsmsg_a(q, a->addrs[0].addr, out);
		return dnsmsg_nothing(q, DNS_NOERROR, NULL, out);
	case ASK_DENIED:
		return dnsmsg_nothing(q, DNS_NXDOMAIN,
		    a->rule[0] != '\0' ? a->rule : "fence", out);
	case ASK_NOHOST:
		return dnsmsg_nothing(q, DNS_NXDOMAIN, NULL, out);
	}
	return dnsmsg_error(q, DNS_SERVFAIL, out);
}

static void
lookup_answered(void *arg, const struct ask_answer *a, int *fd)
{
	struct dns_pending *w = arg;
	uint8_t out[DNS_MAX_ANSWER];

	(void)fd;
	w->question = NULL;
	pending_reply(w, out, answer_lookup(&w->query, a, out));
}

static void
ptr_answered(void *arg, const struct ask_answer *a, int *fd)
{
	struct dns_pending *w = arg;
	uint8_t out[DNS_MAX_ANSWER];
	size_t len;

	(void)fd;
	w->question = NULL;
	if (a->status == ASK_OK && a->name[0] != '\0')
		len = dnsmsg_ptr(&w->query, a->name, out);
	else if (a->status == ASK_FULL)
		len = dnsmsg_error(&w->query, DNS_SERVFAIL, out);
	else
		len = dnsmsg_nothing(&w->query, DNS_NXDOMAIN, NULL, out);
	pending_reply(w, out, len);
}

/* Queries */

/* Over the ceiling the oldest gives way: its client has waited longest. */
static void
make_room(struct dns *d)
{
	uint8_t out[DNS_MAX_ANSWER];
	struct dns_pending *w = d->first;
	struct dns_conn *t;

	if (d->npending < MAX_PENDING)
		return;
	t = w->conn;
	dns_reply(d, t, &w->path, out,
	    dnsmsg_error(&w->query, DNS_SERVFAIL, out));
	pending_free(w);
	/* Not freed here: it may be the one whose query is being read. */
	if (t != NULL)
		(void)watch_events(t->conn.watch, LOOP_READ | LOOP_WRITE);
}

static int
ask_monitor(struct dns *d, struct dns_conn *t, const struct dns_path *path,
    const struct dns_query *q, const uint8_t *reverse)
{
	struct ask_msg m = { .kind = ASK_LOOKUP, .via = ASK_VIA_DNS,
	    .qtype = q->qtype };
	struct net_addr peer = { 0 };
	char text[NET_TEXT_MAX];
	struct dns_pending *w;

	make_room(d);
	if (t != NULL)
		peer = t->conn.peer;
	else
		(void)net_from_sockaddr((const struct sockaddr *)&path->peer,
		    path->peer_len, &peer);
	ask_fill_source(&m, &peer, t == NULL);
	ask_fill_name(&m, q->name, q->name_len);
	if (reverse != NULL) {
		struct net_addr addr = { .family = AF_INET };

		memcpy(addr.addr, reverse, 4);
		net_text(&addr, text);
		m.kind = ASK_PTR;
		ask_fill_name(&m, text, strlen(text));
	}
	w = pending_new(d, t, path, q);
	if (w == NULL)
		return -1;
	w->question = questions_ask(d->questions, &m,
	    reverse != NULL ? ptr_answered : lookup_answered, w);
	if (w->question == NULL) {
		pending_free(w);
		return -1;
	}
	return 0;
}

static bool
is_fake(const uint8_t addr[4])
{
	return addr[0] == 198 && (addr[1] & 0xfe) == 18;	/* 198.18/15 */
}

/* What needs no question: the length of the answer, or 0. */
static size_t
answer_at_once(const struct dns_query *q, enum dns_rcode rc, uint8_t *reverse,
    bool *is_ptr, uint8_t *out)
{
	bool has_addr;

	*is_ptr = false;
	if (rc != DNS_NOERROR)
		return dnsmsg_error(q, rc, out);
	if (q->name_len == 0)
		return dnsmsg_nothing(q, DNS_NOERROR, NULL, out);
	if (dnsmsg_is_localhost(q))
		return q->qtype == DNS_TYPE_A ?
		    dnsmsg_a(q, (const uint8_t[]){ 127, 0, 0, 1 }, out) :
		    dnsmsg_nothing(q, DNS_NOERROR, NULL, out);
	if (!dnsmsg_is_reverse(q, reverse, &has_addr))
		return 0;
	if (!has_addr || !is_fake(reverse))
		return dnsmsg_nothing(q, DNS_NXDOMAIN, NULL, out);
	if (q->qtype != DNS_TYPE_PTR)
		return dnsmsg_nothing(q, DNS_NOERROR, NULL, out);
	*is_ptr = true;
	return 0;
}

static void
dns_query(struct dns *d, struct dns_conn *t, const struct dns_path *path,
    const uint8_t *p, size_t len)
{
	uint8_t out[DNS_MAX_ANSWER], reverse[4];
	struct dns_query q;
	enum dns_rcode rc = dnsmsg_parse(p, len, &q);
	bool is_ptr;
	size_t n;

	if (rc == DNS_DROP)
		return;
	n = answer_at_once(&q, rc, reverse, &is_ptr, out);
	if (n == 0 &&
	    ask_monitor(d, t, path, &q, is_ptr ? reverse : NULL) != 0)
		n = dnsmsg_error(&q, DNS_SERVFAIL, out);
	if (n > 0)
		dns_reply(d, t, path, out, n);
}

/* UDP */

static void
path_from(struct dns_path *path, struct msghdr *msg)
{
	struct cmsghdr *c;

	path->peer_len = msg->msg_namelen;
	for (c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == IPPROTO_IPV6 &&
		    c->cmsg_type == IPV6_PKTINFO) {
			path->level = IPPROTO_IPV6;
			memcpy(&path->local.v6, CMSG_DATA(c),
			    sizeof path->local.v6);
			/* The way back is the route's business ... */
			if (!IN6_IS_ADDR_LINKLOCAL(&path->local.v6.ipi6_addr))
				path->local.v6.ipi6_ifindex = 0;
		} else if (c->cmsg_level == IPPROTO_IP &&
		    c->cmsg_type == IP_PKTINFO && path->level == 0) {
			path->level = IPPROTO_IP;
			memcpy(&path->local.v4, CMSG_DATA(c),
			    sizeof path->local.v4);
			path->local.v4.ipi_ifindex = 0;
			/* ... and the source is the address that was asked. */
			path->local.v4.ipi_spec_dst = path->local.v4.ipi_addr;
		}
	}
}

static void
udp_ready(struct watch *w, int what, void *arg)
{
	struct dns *d = arg;
	uint8_t data[MAX_QUERY];
	char control[256] __attribute__((aligned(8)));
	struct dns_path path;
	struct iovec iov = { data, sizeof data };
	ssize_t n;

	(void)w;
	(void)what;
	for (int i = 0; i < QUERIES_A_TURN; i++) {
		struct msghdr msg = { .msg_name = &path.peer,
		    .msg_namelen = sizeof path.peer, .msg_iov = &iov,
		    .msg_iovlen = 1, .msg_control = control,
		    .msg_controllen = sizeof control };

		memset(&path, 0, sizeof path);
		n = recvmsg(d->udp_fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n < 0)
			return;
		if ((msg.msg_flags & MSG_TRUNC) != 0)
			continue;
		path_from(&path, &msg);
		dns_query(d, NULL, &path, data, (size_t)n);
	}
}

int
dns_listen_udp(struct dns *d, int fd)
{
	d->udp_fd = fd;
	d->udp_watch = loop_fd(d->loop, fd, LOOP_READ, udp_ready, d);
	return d->udp_watch != NULL ? 0 : -1;
}

struct dns *
dns_new(struct questions *qs, struct loop *l)
{
	struct dns *d = calloc(1, sizeof *d);

	if (d == NULL)
		return NULL;
	d->questions = qs;
	d->loop = l;
	d->udp_fd = -1;
	return d;
}

void
dns_free(struct dns *d)
{
	if (d == NULL)
		return;
	while (d->first != NULL)
		pending_free(d->first);
	watch_free(d->udp_watch);
	free(d);
}

/* TCP */

static void
tcp_end(struct conn *c)
{
	struct dns_conn *t = (struct dns_conn *)c;
	struct dns_pending *w, *next;

	for (w = c->home->dns->first; w != NULL; w = next) {
		next = w->next;
		if (w->conn == t)
			pending_free(w);
	}
	buf_release(&t->in);
	buf_release(&t->out);
}

/*
 * A client that does not read, or has many out, is not read from.  -1: the
 * conversation is over.
 */
static int
tcp_settle(struct dns_conn *t)
{
	int events = 0;

	if (tcp_flush(t) != 0)
		return -1;
	if (t->is_eof && t->out.len == 0 && t->npending == 0)
		return -1;
	if (t->out.len > 0)
		events |= LOOP_WRITE;
	else if (t->is_eof)
		events |= LOOP_HUP;
	else if (t->npending < MAX_PENDING_TCP)
		events |= LOOP_READ;
	return watch_events(t->conn.watch, events);
}

/* Whole messages at the front; an incomplete one waits for more. */
static void
tcp_queries(struct dns_conn *t)
{
	const uint8_t *p = (const uint8_t *)t->in.data;
	size_t at = 0, len;

	while (t->in.len - at >= 2) {
		len = (size_t)p[at] << 8 | p[at + 1];
		if (t->in.len - at - 2 < len)
			break;
		dns_query(t->conn.home->dns, t, NULL, p + at + 2, len);
		at += 2 + len;
	}
	buf_consume(&t->in, at);
}

static int
tcp_read(struct dns_conn *t)
{
	char bytes[MAX_QUERY];
	ssize_t n;

	n = recv(t->conn.fd, bytes, sizeof bytes, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return -1;
	t->is_eof = n == 0;
	buf_add(&t->in, bytes, (size_t)n);
	if (t->in.failed)
		return -1;
	tcp_queries(t);
	/* A query longer than any that is understood ends the connection. */
	if (t->in.len > MAX_QUERY)
		return -1;
	return conn_expire(&t->conn, t->conn.home->limits.handshake_ms);
}

static void
tcp_ready(struct watch *w, int what, void *arg)
{
	struct dns_conn *t = arg;

	(void)w;
	if (((what & LOOP_HUP) != 0 && t->is_eof) ||
	    ((what & LOOP_READ) != 0 && tcp_read(t) != 0) ||
	    tcp_settle(t) != 0)
		conn_free(&t->conn);
}

int
serve_dns_tcp(struct conn *c)
{
	struct dns_conn *t = (struct dns_conn *)c;

	buf_init(&t->in, 2 * MAX_QUERY + 2);
	buf_init(&t->out, MAX_TCP_OUT);
	c->end = tcp_end;
	c->watch = loop_fd(c->home->loop, c->fd, LOOP_READ, tcp_ready, t);
	if (c->watch == NULL ||
	    conn_expire(c, c->home->limits.handshake_ms) != 0)
		return -1;
	return 0;
}
