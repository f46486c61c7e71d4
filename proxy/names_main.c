/*
 * fence-names: resolves names as the host does, with getaddrinfo() in a
 * bounded pool of forked resolvers, and brings proxies to open a way (shake.h):
 * it parses what the network answers, with no right to write or to execute
 * anything.
 *
 *	fence-names ASK_FD
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/base/str.h"
#include "platform/confine.h"
#include "platform/fd.h"
#include "platform/loop.h"
#include "proxy/ask.h"
#include "proxy/shake.h"

enum {
	MAX_RESOLVERS = 64,
	MAX_A_DOMAIN = 16,	/* of them: who has dead servers waits alone */
	MAX_QUEUED = 1024,
	LOOKUP_S = 15,		/* then a resolver ends itself */
	RETRY_S = 2,		/* the next server is asked, at the latest */
	LATE_MS = (LOOKUP_S + 1) * 1000,	/* or is given up */
};

struct request {
	struct request	*next;
	uint32_t	 domain;	/* a hash of it */
	struct ask_msg	 msg;
};

struct resolver {
	struct names	*names;
	pid_t		 pid;
	int		 fd;		/* -1: not running */
	struct watch	*watch, *deadline;
	bool		 is_busy;
	uint32_t	 id, domain;	/* of what it looks up */
};

struct names {
	struct loop	*loop;
	int		 ask_fd;
	struct watch	*watch;
	struct resolver	 resolvers[MAX_RESOLVERS];
	struct request	*first, **last;
	unsigned	 nqueued;
	struct shakes	 shakes;
};

/* In the resolver */

static void
add_address(struct ask_answer *a, const struct sockaddr *sa)
{
	struct ask_addr addr = { .family = sa->sa_family };

	if (a->naddrs == ASK_MAX_ADDRS)
		return;
	if (sa->sa_family == AF_INET)
		memcpy(addr.addr, &((const struct sockaddr_in *)sa)->sin_addr,
		    4);
	else if (sa->sa_family == AF_INET6)
		memcpy(addr.addr,
		    &((const struct sockaddr_in6 *)sa)->sin6_addr, 16);
	else
		return;
	for (unsigned i = 0; i < a->naddrs; i++)
		if (memcmp(&a->addrs[i], &addr, sizeof addr) == 0)
			return;
	a->addrs[a->naddrs++] = addr;
}

/*
 * The policy allowed this name and no other: with the host's search list a
 * name that does not exist would be looked up below domains nobody asked for.
 * Names without a dot still get the default domain.  glibc takes a changed
 * option back when it loads resolv.conf again by itself, so that it may not,
 * and is made to each time.
 *
 * A lost packet, or a first server that is dead, costs five seconds by
 * default; somebody waits for this connection.
 */
static int
resolver_options(void)
{
	if (res_init() != 0)
		return -1;
	if (_res.retrans > RETRY_S)
		_res.retrans = RETRY_S;
	_res.options &= ~(unsigned long)RES_DNSRCH;
	_res.options |= RES_NORELOAD;
	return 0;
}

static void
resolve(const struct ask_msg *m, struct ask_answer *a)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
	    .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG };
	struct addrinfo *list, *ai;

	memset(a, 0, sizeof *a);
	a->magic = ASK_MAGIC;
	a->id = m->id;
	a->status = ASK_NOHOST;
	if (resolver_options() != 0 || getaddrinfo(m->name, NULL, &hints, &list) != 0)
		return;
	for (ai = list; ai != NULL; ai = ai->ai_next)
		add_address(a, ai->ai_addr);
	freeaddrinfo(list);
	if (a->naddrs > 0)
		a->status = ASK_OK;
}

/* Whoever started us has all signals blocked. */
static void
alarm_on(void)
{
	sigset_t set;

	signal(SIGALRM, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static _Noreturn void
resolver_main(int fd)
{
	struct ask_msg m, checked;
	struct ask_answer a;
	ssize_t n;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm_on();
	for (;;) {
		n = fd_recv(fd, &m, sizeof m, NULL, 0, NULL, 0);
		if (n <= 0 || ask_check_msg(&m, (size_t)n, &checked) != 0)
			_exit(0);
		alarm(LOOKUP_S);
		resolve(&checked, &a);
		alarm(0);
		if (fd_send(fd, &a, sizeof a, NULL, 0, 0) < 0)
			_exit(0);
	}
}

/* In the server */

static void	names_serve(struct names *);

static void
names_answer(struct names *nm, const struct ask_answer *a)
{
	/* Blocking: the monitor reads its answers, or is gone. */
	if (fd_send(nm->ask_fd, a, sizeof *a, NULL, 0, 0) < 0)
		loop_stop(nm->loop, 0);
}

static void
names_fail(struct names *nm, uint32_t id, enum ask_status status)
{
	struct ask_answer a = { .magic = ASK_MAGIC, .id = id,
	    .status = (uint16_t)status };

	names_answer(nm, &a);
}

static void
reaped(struct watch *w, int what, void *arg)
{
	(void)what;
	(void)arg;
	watch_free(w);
}

/* We may not kill: it ends by its alarm, or when it sees its socket closed. */
static void
resolver_end(struct resolver *r)
{
	watch_free(r->watch);
	r->watch = NULL;
	fd_close(&r->fd);
	(void)loop_child(r->names->loop, r->pid, reaped, NULL);
	watch_after(r->deadline, -1);
	if (r->is_busy)
		names_fail(r->names, r->id, ASK_NOHOST);
	r->is_busy = false;
}

static void
resolver_late(struct watch *w, int what, void *arg)
{
	struct resolver *r = arg;

	(void)w;
	(void)what;
	resolver_end(r);
	names_serve(r->names);
}

/* A resolver has read the network: its answer is believed as one's is. */
static void
resolver_ready(struct watch *w, int what, void *arg)
{
	struct resolver *r = arg;
	struct ask_answer a, checked;
	ssize_t n;

	(void)w;
	(void)what;
	n = fd_recv(r->fd, &a, sizeof a, NULL, 0, NULL, MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0 || !r->is_busy ||
	    ask_check_answer(&a, (size_t)n, &checked) != 0)
		resolver_end(r);
	else {
		checked.id = r->id;
		r->is_busy = false;
		watch_after(r->deadline, -1);
		names_answer(r->names, &checked);
	}
	names_serve(r->names);
}

/* The resolver's own end alone stays open in it, so that ours means gone. */
static _Noreturn void
resolver_child(struct names *nm, int fd)
{
	for (int i = 0; i < MAX_RESOLVERS; i++)
		fd_close(&nm->resolvers[i].fd);
	fd_close(&nm->ask_fd);
	shakes_close(&nm->shakes);
	resolver_main(fd);
}

static int
resolver_start(struct resolver *r)
{
	struct names *nm = r->names;
	int sv[2];

	if (r->deadline == NULL)
		r->deadline = loop_after(nm->loop, -1, resolver_late, r);
	if (r->deadline == NULL || socketpair(AF_UNIX,
	    SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) != 0)
		return -1;
	r->pid = fork();
	if (r->pid == 0) {
		fd_close(&sv[0]);
		resolver_child(nm, sv[1]);
	}
	fd_close(&sv[1]);
	r->fd = sv[0];
	if (r->pid > 0)
		r->watch = loop_fd(nm->loop, r->fd, LOOP_READ, resolver_ready,
		    r);
	if (r->watch != NULL)
		return 0;
	if (r->pid > 0)
		resolver_end(r);
	fd_close(&r->fd);
	return -1;
}

/* An idle one; else a new one; else NULL: all are busy. */
static struct resolver *
names_idle(struct names *nm)
{
	struct resolver *fresh = NULL;

	for (int i = 0; i < MAX_RESOLVERS; i++) {
		struct resolver *r = &nm->resolvers[i];

		if (r->fd >= 0 && !r->is_busy)
			return r;
		if (r->fd < 0 && fresh == NULL)
			fresh = r;
	}
	if (fresh != NULL && resolver_start(fresh) == 0)
		return fresh;
	return NULL;
}

static bool
names_is_running(const struct names *nm)
{
	for (int i = 0; i < MAX_RESOLVERS; i++)
		if (nm->resolvers[i].fd >= 0)
			return true;
	return false;
}

/* "a.b.example.com" and "example.com" are one. */
static uint32_t
domain_of(const char *name, size_t len)
{
	uint32_t h = STR_HASH_START;
	int dots = 0;

	while (len > 0 && !(name[len - 1] == '.' && ++dots == 2))
		h = str_hash_add(h, (unsigned char)name[--len]);
	return h;
}

static bool
may_start(const struct names *nm, uint32_t domain)
{
	unsigned n = 0;

	for (int i = 0; i < MAX_RESOLVERS; i++)
		n += nm->resolvers[i].is_busy &&
		    nm->resolvers[i].domain == domain;
	return n < MAX_A_DOMAIN;
}

/* The first whose domain does not wait already; NULL: all of them do. */
static struct request *
queue_take(struct names *nm)
{
	struct request **link = &nm->first, *q;

	while ((q = *link) != NULL && !may_start(nm, q->domain))
		link = &q->next;
	if (q == NULL)
		return NULL;
	*link = q->next;
	if (q->next == NULL)
		nm->last = link;
	nm->nqueued--;
	return q;
}

static void
resolver_ask(struct resolver *r, const struct request *q)
{
	r->is_busy = true;
	r->id = q->msg.id;
	r->domain = q->domain;
	watch_after(r->deadline, LATE_MS);
	if (fd_send(r->fd, &q->msg, sizeof q->msg, NULL, 0, MSG_DONTWAIT) < 0)
		resolver_end(r);
}

static void
names_serve(struct names *nm)
{
	struct resolver *r;
	struct request *q;

	while (nm->first != NULL) {
		r = names_idle(nm);
		/* None could be forked: whoever waits would wait for ever. */
		if (r == NULL && names_is_running(nm))
			return;
		if ((q = queue_take(nm)) == NULL)
			return;
		if (r == NULL)
			names_fail(nm, q->msg.id, ASK_FULL);
		else
			resolver_ask(r, q);
		free(q);
	}
}

static void
names_request(struct names *nm, const struct ask_msg *m)
{
	struct request *q = NULL;

	if (nm->nqueued < MAX_QUEUED)
		q = calloc(1, sizeof *q);
	if (q == NULL) {
		names_fail(nm, m->id, ASK_FULL);
		return;
	}
	q->msg = *m;
	q->domain = domain_of(m->name, m->name_len);
	*nm->last = q;
	nm->last = &q->next;
	nm->nqueued++;
	names_serve(nm);
}

static void
names_shaken(const struct ask_answer *a, void *arg)
{
	names_answer(arg, a);
}

static void
names_shake(struct names *nm, const struct ask_shake *s, int *fd)
{
	if (*fd < 0 || shake_start(&nm->shakes, fd, s) != 0)
		names_fail(nm, s->id, ASK_FULL);
}

static void
names_ready(struct watch *w, int what, void *arg)
{
	struct names *nm = arg;
	union {
		struct ask_msg		m;
		struct ask_shake	s;
	} raw;
	struct ask_msg m;
	struct ask_shake s;
	auto_fd fd = -1;
	size_t nfds = 0;
	ssize_t n;

	(void)w;
	(void)what;
	n = fd_recv(nm->ask_fd, &raw, sizeof raw, &fd, 1, &nfds,
	    MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EMSGSIZE))
		return;
	if (n <= 0)
		loop_stop(nm->loop, n == 0 ? 0 : 1);
	else if (ask_check_msg(&raw, (size_t)n, &m) == 0 &&
	    m.kind == ASK_RESOLVE)
		names_request(nm, &m);
	else if (ask_check_shake(&raw, (size_t)n, &s) == 0)
		names_shake(nm, &s, &fd);
}

static int
names_open(struct names *nm, int ask_fd)
{
	nm->ask_fd = ask_fd;
	nm->last = &nm->first;
	for (int i = 0; i < MAX_RESOLVERS; i++) {
		nm->resolvers[i].names = nm;
		nm->resolvers[i].fd = -1;
	}
	nm->loop = loop_new();
	nm->shakes = (struct shakes){ .loop = nm->loop, .fn = names_shaken,
	    .arg = nm };
	if (nm->loop == NULL || fd_nonblock(ask_fd, 0) != 0)
		return -1;
	nm->watch = loop_fd(nm->loop, ask_fd, LOOP_READ, names_ready, nm);
	return nm->watch != NULL ? 0 : -1;
}

int
main(int argc, char **argv)
{
	static struct names nm;
	struct err e = { 0 };
	uint64_t fd;

	if (argc != 2 || str_to_u64(str_of(argv[1]), 1 << 20, &fd) != 0 ||
	    fd_cloexec((int)fd, 1) != 0) {
		fputs("usage: fence-names ASK_FD (started by fence-run)\n",
		    stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	if (names_open(&nm, (int)fd) != 0) {
		fputs("fence-names: out of memory\n", stderr);
		return 125;
	}
	if (confine_child(SIGKILL, &e) != 0 || confine_names(&e) != 0) {
		err_print(&e, stderr);
		return 125;
	}
	/* The resolvers end with their sockets, or by the death signal. */
	_exit(loop_run(nm.loop));
}
