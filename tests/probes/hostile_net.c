/*
 * A fence-net that was conquered: everything of the real one, but that the
 * loop of its serving half is this file's (ld --wrap=loop_run), entered where
 * the real one would serve, behind all of its walls.  It obeys whoever comes
 * to the jail's HTTP proxy and says a line:
 *
 *	calls		the rows of hostile.c
 *	rest		every other number: lines of those not refused
 *	tricks		those of hostile_socket.c, on a connection to
 *			allowed.test, which works before and after
 *	listener	the same on the transparent gate's listener
 *	asks		right and forged questions, "WHAT STATUS fd|-"
 *	flood KIND N	N of them, unread or read, on distinct names
 *	hush		no more questions: the line to the monitor is shut
 *	i386, x32	a call by another entry; nothing comes back
 *	serve		becomes the real one
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/fd.h"
#include "platform/loop.h"
#include "proxy/ask.h"
#include "tests/probes/hostile.h"

enum { ASK_FD = 3, HTTP_PORT = 3128, ECHO_PORT = 7, WAIT_MS = 5000,
	HIGHEST = 1024, MAX_PASSED = 8 };

int	__real_loop_run(struct loop *);
int	__wrap_loop_run(struct loop *);

static uint32_t last_id;

static void
say(int to, const char *text, size_t len)
{
	struct pollfd p = { .fd = to, .events = POLLOUT };

	while (len > 0) {
		ssize_t n = write(to, text, len);

		if (n > 0) {
			text += n;
			len -= (size_t)n;
		} else if (n == 0 || errno != EAGAIN || poll(&p, 1, WAIT_MS) < 1)
			return;
	}
}

/* Descriptors are found as an intruder would find them. */
static int
find_listener(int is_http)
{
	struct sockaddr_storage ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)&ss;
	int fd, found = -1;

	for (fd = ASK_FD + 1; fd < 64; fd++) {
		socklen_t len = sizeof ss;

		if (getsockname(fd, (struct sockaddr *)&ss, &len) != 0 ||
		    ss.ss_family != AF_INET)
			continue;
		if ((ntohs(sin->sin_port) == HTTP_PORT) == is_http) {
			found = fd;
			break;
		}
	}
	return found;
}

/* Questions */

static int
wait_ask(short events)
{
	struct pollfd p = { .fd = ASK_FD, .events = events };

	return poll(&p, 1, WAIT_MS) == 1 && (p.revents & events) != 0 ? 0 : -1;
}

static struct ask_msg
question(enum ask_kind kind, const char *name, uint16_t port)
{
	struct ask_msg m = { .magic = ASK_MAGIC, .id = ++last_id,
	    .kind = (uint16_t)kind, .via = ASK_VIA_HTTP, .port = port,
	    .name_len = (uint16_t)strlen(name) };

	memcpy(m.name, name, strlen(name));
	return m;
}

/* Reads what is there; keeps nothing. */
static void
drain(void)
{
	struct ask_answer a;
	int fd = -1;
	size_t nfds;

	while (fd_recv(ASK_FD, &a, sizeof a, &fd, 1, &nfds,
	    MSG_DONTWAIT) > 0)
		fd_close(&fd);
}

/* Who does not listen is not listened to: old answers make room. */
static int
tell(const void *data, size_t len)
{
	while (send(ASK_FD, data, len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		if (errno != EAGAIN || wait_ask(POLLIN | POLLOUT) != 0)
			return -1;
		drain();
	}
	return 0;
}

/* The answer to the last question; others are thrown away. */
static int
hear(struct ask_answer *a, int *fd)
{
	size_t nfds;

	for (*fd = -1; wait_ask(POLLIN) == 0; fd_close(fd))
		if (fd_recv(ASK_FD, a, sizeof *a, fd, 1, &nfds, MSG_DONTWAIT) ==
		    sizeof *a && a->id == last_id)
			return 0;
	return -1;
}

static int
ask(const struct ask_msg *m, struct ask_answer *a, int *fd)
{
	return tell(m, sizeof *m) == 0 ? hear(a, fd) : -1;
}

static void
report(int to, const char *what, const struct ask_msg *m)
{
	static const char *const words[] = { [ASK_OK] = "OK",
	    [ASK_DENIED] = "DENIED", [ASK_NOHOST] = "NOHOST",
	    [ASK_REFUSED] = "REFUSED", [ASK_FULL] = "FULL",
	    [ASK_SELF] = "SELF" };
	struct ask_answer a = { 0 };
	char text[200];
	int fd = -1, n;

	if (ask(m, &a, &fd) != 0)
		a.status = 0;
	n = snprintf(text, sizeof text, "%s %s %s\n", what,
	    a.status >= ASK_OK && a.status <= ASK_SELF ? words[a.status] :
	    "silence", fd >= 0 ? "fd" : "-");
	say(to, text, (size_t)n);
	fd_close(&fd);
}

/* Nobody answers these; a question behind them shows who still listens. */
static void
forge(int to, const char *what, const void *data, size_t len)
{
	struct ask_msg m = question(ASK_PTR, "127.0.0.1", 0);

	if (tell(data, len) != 0)
		say(to, "not sent: ", 10);
	report(to, what, &m);
}

static void
forge_lengths(int to)
{
	static char huge[100 * 1000];
	struct ask_msg m = question(ASK_DIAL, "denied.test", ECHO_PORT);

	for (size_t n = 1; n < sizeof m; n++)
		if (tell(&m, n) != 0)
			return;
	forge(to, "cut short", &m, 1);
	memcpy(huge, &m, sizeof m);
	forge(to, "a byte more", huge, sizeof m + 1);
	forge(to, "too long", huge, sizeof huge);
	forge(to, "nothing", huge, 0);
}

#define FORGE(what, name, change) do {				\
	struct ask_msg m = question(ASK_DIAL, name, ECHO_PORT);	\
	change;							\
	forge(to, what, &m, sizeof m);				\
} while (0)

static void
forge_fields(int to)
{
	FORGE("magic", "allowed.test", m.magic++);
	FORGE("kind 0", "allowed.test", m.kind = 0);
	FORGE("kind LISTEN", "allowed.test", m.kind = ASK_LISTEN);
	FORGE("kind RESOLVE", "allowed.test", m.kind = ASK_RESOLVE);
	FORGE("kind 60000", "allowed.test", m.kind = 60000);
	FORGE("via 0", "allowed.test", m.via = 0);
	FORGE("via DNS", "allowed.test", m.via = ASK_VIA_DNS);
	FORGE("kind PORT", "127.0.0.1", m.kind = ASK_PORT;
	    m.via = ASK_VIA_INSIDE);
	FORGE("via 60000", "allowed.test", m.via = 60000);
	FORGE("port 0", "allowed.test", m.port = 0);
	FORGE("no name", "allowed.test", m.name_len = 0);
	FORGE("long name", "allowed.test", m.name_len = 256);
	FORGE("endless name", "allowed.test", m.name_len = 65535);
	FORGE("NUL", "allowed.test", m.name[7] = '\0');
	FORGE("family", "allowed.test", m.source.family = 999);
	FORGE("method", "allowed.test", memset(m.method, 'x',
	    sizeof m.method));
	FORGE("note", "allowed.test", m.kind = ASK_NOTE; m.note = 60000);
}

/* Descriptors nobody asked for. */
static void
forge_fds(int to)
{
	struct ask_msg m = question(ASK_PTR, "127.0.0.1", 0);
	int fds[MAX_PASSED];

	for (size_t i = 0; i < MAX_PASSED; i++)
		fds[i] = to;
	for (int i = 0; i < 200; i++)
		if (wait_ask(POLLOUT) != 0 || fd_send(ASK_FD, &m, sizeof m,
		    fds, MAX_PASSED, MSG_DONTWAIT) < 0)
			break;
	m = question(ASK_PTR, "127.0.0.1", 0);
	report(to, "descriptors", &m);
}

/* Ports both ways: what was named, where nobody is, and what was not. */
static void
asks_ports(int to)
{
	static const struct { const char *word; unsigned via; } ways[] = {
		{ "out", ASK_VIA_LOCAL }, { "in", ASK_VIA_INSIDE },
	};
	static const uint16_t ports[] = { ECHO_PORT, 7301, 7302 };
	char what[64];

	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < 3; k++) {
			struct ask_msg m = question(ASK_DIAL, "127.0.0.1",
			    ports[k]);

			m.via = (uint16_t)ways[i].via;
			snprintf(what, sizeof what, "%s %u", ways[i].word,
			    ports[k]);
			report(to, what, &m);
		}
}

static void
asks(int to)
{
	static const char *const names[] = { "allowed.test", "denied.test",
	    "ALLOWED.test.", "loop.test", "localhost", "127.0.0.1", "::1",
	    "198.51.100.10", "198.51.100.20", "0x7f.1", "169.254.169.254",
	    "fence.internal", "allowed.test\rX", "allowed.test.evil.test",
	    "203.0.113.2", "198.18.0.1", "198.18.77.77", " ", "." };
	char what[64];

	for (unsigned via = ASK_VIA_HTTP; via <= ASK_VIA_SOCKS; via++)
		for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
			struct ask_msg m = question(ASK_DIAL, names[i],
			    ECHO_PORT);

			m.via = (uint16_t)via;
			snprintf(what, sizeof what, "%u %.*s", via,
			    (int)strcspn(names[i], "\r"), names[i]);
			report(to, what, &m);
		}
	asks_ports(to);
	forge_fields(to);
	forge_lengths(to);
	forge_fds(to);
}

/* Floods */

static struct ask_msg
flood_question(const char *kind, unsigned i)
{
	struct ask_msg m;
	char name[300];
	int deny = strcmp(kind, "denied") == 0;

	snprintf(name, sizeof name, "x%u.%.200s%s", i, deny ? "" :
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.",
	    deny ? "denied.test" : "wild.test");
	m = question(strcmp(kind, "dials") == 0 ? ASK_DIAL : ASK_LOOKUP, name,
	    9);
	if (strcmp(kind, "notes") == 0) {
		m.kind = ASK_NOTE;
		m.note = ASK_NOTE_LIMIT;
	} else if (strcmp(kind, "restarts") == 0) {
		m.kind = ASK_RESTART;
		m.wstatus = 9;
	}
	if (m.kind == ASK_LOOKUP)
		m.via = ASK_VIA_DNS;
	return m;
}

static void
flood(int to, const char *kind, unsigned n)
{
	struct ask_msg m;
	char text[80];
	unsigned sent = 0;

	for (; sent < n; sent++) {
		m = flood_question(kind, sent);
		if (tell(&m, sizeof m) != 0)
			break;
	}
	say(to, text, (size_t)snprintf(text, sizeof text, "%s %u\n", kind,
	    sent));
	m = question(ASK_DIAL, "allowed.test", ECHO_PORT);
	report(to, "then", &m);
}

/* Rights */

static const long allowed[] = {
#ifdef __x86_64__
	SYS_epoll_wait, SYS_poll,
	/* uretprobe and uprobe pass every filter (Linux 6.13) and end with
	 * SIGILL whoever calls them other than the kernel's own trampoline. */
	335, 336,
#endif
	SYS_recvfrom, SYS_sendto, SYS_epoll_pwait, SYS_epoll_ctl, SYS_recvmsg,
	SYS_sendmsg, SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_close,
	SYS_shutdown, SYS_getsockname, SYS_getpeername, SYS_ppoll, SYS_accept4,
	SYS_clock_gettime, SYS_gettimeofday, SYS_clock_nanosleep, SYS_brk,
	SYS_munmap, SYS_mremap, SYS_madvise, SYS_futex, SYS_rt_sigaction,
	SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack, SYS_exit,
	SYS_exit_group, SYS_getpid, SYS_gettid, SYS_getrandom,
	SYS_restart_syscall, SYS_rseq, SYS_sched_yield, SYS_mmap,
	SYS_mprotect,
};

static void
rest(int to)
{
	char text[80];

	for (long nr = 0; nr < HIGHEST; nr++) {
		size_t i = 0;

		while (i < sizeof allowed / sizeof allowed[0] &&
		    allowed[i] != nr)
			i++;
		if (i < sizeof allowed / sizeof allowed[0])
			continue;
		if (syscall(nr, -1L, -1L, -1L, -1L, -1L, -1L) >= 0 ||
		    errno != EPERM)
			say(to, text, (size_t)snprintf(text, sizeof text,
			    "%ld not refused\n", nr));
	}
	say(to, "all\n", 4);
}

static void
calls(int to)
{
	char text[80];

	for (size_t i = 0; i < hostile_nrows; i++)
		say(to, text, hostile_try(&hostile_rows[i], text,
		    sizeof text));
}

static void
echo_works(int to, int fd, const char *when)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char c = 0, text[80];
	int is_good = write(fd, "y", 1) == 1 && poll(&p, 1, WAIT_MS) == 1 &&
	    read(fd, &c, 1) == 1 && c == 'y';

	say(to, text, (size_t)snprintf(text, sizeof text, "%s %s\n", when,
	    is_good ? "works" : "fails"));
}

static void
play(int to, int fd)
{
	char text[80];

	for (size_t i = 0; i < hostile_ntricks; i++)
		say(to, text, hostile_play(&hostile_tricks[i], fd, text,
		    sizeof text));
}

static void
tricks(int to)
{
	struct ask_msg m = question(ASK_DIAL, "allowed.test", ECHO_PORT);
	struct ask_answer a;
	int fd;

	if (ask(&m, &a, &fd) != 0 || fd < 0)
		return;
	echo_works(to, fd, "before");
	play(to, fd);
	echo_works(to, fd, "after");
	fd_close(&fd);
}

static void
other_entry(int is_x32)
{
#ifdef __x86_64__
	long rv;

	if (is_x32)
		(void)syscall(0x40000000L | SYS_getpid);
	else
		__asm__ volatile("int $0x80" : "=a"(rv) : "a"(20) : "memory");
#else
	(void)is_x32;
#endif
}

/* Returns 1 to become the real one. */
static int
obey(int to, char *line)
{
	char *arg = strchr(line, ' ');
	char *count = arg != NULL ? strchr(arg + 1, ' ') : NULL;

	if (strcmp(line, "calls") == 0)
		calls(to);
	else if (strcmp(line, "rest") == 0)
		rest(to);
	else if (strcmp(line, "tricks") == 0)
		tricks(to);
	else if (strcmp(line, "listener") == 0)
		play(to, find_listener(0));
	else if (strcmp(line, "asks") == 0)
		asks(to);
	else if (strcmp(line, "hush") == 0)
		(void)shutdown(ASK_FD, SHUT_WR);
	else if (strcmp(line, "i386") == 0 || strcmp(line, "x32") == 0)
		other_entry(line[0] == 'x');
	else if (strncmp(line, "flood ", 6) == 0 && count != NULL) {
		*count = '\0';
		flood(to, arg + 1, (unsigned)atoi(count + 1));
	}
	return strcmp(line, "serve") == 0;
}

/* One line, as far as it comes in one piece. */
static int
serve_one(int to)
{
	struct pollfd p = { .fd = to, .events = POLLIN };
	char line[100];
	ssize_t n;
	int rv;

	if (poll(&p, 1, WAIT_MS) != 1 ||
	    (n = read(to, line, sizeof line - 1)) <= 0)
		return 0;
	line[n] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	rv = obey(to, line);
	say(to, "end\n", 4);
	(void)shutdown(to, SHUT_WR);
	return rv;
}

int
__wrap_loop_run(struct loop *loop)
{
	struct pollfd p[] = {
		{ .fd = find_listener(1), .events = POLLIN },
		{ .fd = ASK_FD, .events = POLLRDHUP },
	};
	int fd, rv = 0;

	while (rv == 0) {
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[1].revents != 0)
			return 0;
		fd = accept4(p[0].fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		rv = serve_one(fd);
		close(fd);
	}
	return __real_loop_run(loop);
}
