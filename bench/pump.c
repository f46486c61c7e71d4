/*
 * pump: makes the load that bench/run measures, and holds the watch itself,
 * so that what is counted is the work and not the start of a program.
 *
 *	serve ADDR bulk|echo		prints its port, serves until killed
 *	get ADDR:PORT BYTES [PROXY]	one stream from a bulk server
 *	gets ADDR:PORT CLIENTS BYTES [PROXY]
 *					as many streams at once, BYTES in all
 *	conns ADDR:PORT CLIENTS TOTAL [PROXY]
 *					connect, one byte there and back, close
 *	pings ADDR:PORT TOTAL [PROXY]	the same byte on one connection
 *	idle ADDR:PORT COUNT [PROXY]	holds COUNT connections until stdin ends
 *	calls KIND FILE COUNT libc|raw	KIND: open (and close), stat, missing
 *					(stat of what is not there), unlink (of
 *					what is made anew); raw: past any shim
 *	getenvs COUNT			getenv(), which a probe may tell
 *	execs COUNT CMD…		starts it and waits for it, COUNT times
 *	plants NAME SAMPLES COUNT FILE…	makes NAME and waits until it is gone,
 *					again and again, while another thread
 *					makes the others, COUNT in all
 *	time ROUNDS PAUSE_MS CMD… [-- CMD…]…
 *					runs the commands in turn, ROUNDS times
 *	once CMD…			runs it once, its output in front
 *
 * plants prints the nanoseconds of each sample; the first, which waits for the
 * guard to begin, is not told.  It ends when both are done.
 *
 * get, gets, conns, pings, calls, getenvs and execs print one number, the nanoseconds it
 * took; time and once print a line "command wall_ns cpu_ns" per run, where cpu is that of the
 * command and all its descendants; idle prints "ready".  ADDR is a literal
 * IPv4 address.  PROXY is ADDR:PORT of something that knows CONNECT, or
 * socks:ADDR:PORT.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BULK_BYTES	(256 * 1024)
#define MAX_CLIENTS	256
#define MAX_COMMANDS	8

extern char **environ;

static _Noreturn void die(const char *, ...)
    __attribute__((format(printf, 1, 2)));

static _Noreturn void
die(const char *fmt, ...)
{
	va_list ap;

	fputs("pump: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static int64_t
clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static int64_t
now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static uint64_t
number(const char *s, uint64_t max)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(s, &end, 10);
	if (*s < '0' || *s > '9' || *end != '\0' || errno != 0 || n > max)
		die("'%s' is not a number up to %" PRIu64, s, max);
	return n;
}

static struct sockaddr_in
address(const char *host, uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };

	sin.sin_port = htons(port);
	if (inet_pton(AF_INET, host, &sin.sin_addr) != 1)
		die("'%s' is not an IPv4 address", host);
	return sin;
}

static struct sockaddr_in
address_port(const char *text)
{
	const char *colon = strrchr(text, ':');
	char host[64];

	if (colon == NULL || (size_t)(colon - text) >= sizeof host)
		die("'%s' is not ADDR:PORT", text);
	memcpy(host, text, colon - text);
	host[colon - text] = '\0';
	return address(host, number(colon + 1, 65535));
}

static void
write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0)
			die("write: %s", strerror(errno));
		p += n;
		len -= n;
	}
}

static void
read_all(int fd, void *data, size_t len)
{
	char *p = data;

	while (len > 0) {
		ssize_t n = read(fd, p, len);

		if (n <= 0)
			die("read: %s", n < 0 ? strerror(errno) : "early end");
		p += n;
		len -= n;
	}
}

/* Where a connection goes: straight, or through a proxy. */
struct route {
	struct sockaddr_in	first, dest;
	int			is_socks;
	char			request[256];	/* "" for straight */
};

static struct route
route(const char *dest, const char *proxy)
{
	static const char socks[] = "socks:";
	int is_socks = proxy != NULL && strncmp(proxy, socks,
	    sizeof socks - 1) == 0;
	struct route r = { .first = address_port(proxy == NULL ? dest :
	    is_socks ? proxy + sizeof socks - 1 : proxy),
	    .dest = address_port(dest), .is_socks = is_socks };

	if (proxy != NULL)
		snprintf(r.request, sizeof r.request,
		    "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", dest, dest);
	return r;
}

/* Reads to the empty line; the far server speaks only when spoken to. */
static void
handshake(int fd, const struct route *r)
{
	char reply[2048];
	size_t len = 0;

	write_all(fd, r->request, strlen(r->request));
	while (len < 4 || memcmp(reply + len - 4, "\r\n\r\n", 4) != 0) {
		ssize_t n = read(fd, reply + len, sizeof reply - 1 - len);

		if (n <= 0)
			die("CONNECT: %s", n < 0 ? strerror(errno) :
			    len == sizeof reply - 1 ? "long reply" :
			    "early end");
		len += n;
	}
	reply[len] = '\0';
	if (strncmp(reply, "HTTP/1.", 7) != 0 || strncmp(reply + 8, " 200", 4))
		die("CONNECT: %.*s", (int)strcspn(reply, "\r\n"), reply);
}

/* No password, then CONNECT to an IPv4 address. */
static void
handshake_socks(int fd, const struct route *r)
{
	uint8_t request[10] = { 5, 1, 0, 1 }, reply[10];

	write_all(fd, "\5\1\0", 3);
	read_all(fd, reply, 2);
	if (reply[1] != 0)
		die("SOCKS: no method");
	memcpy(request + 4, &r->dest.sin_addr, 4);
	memcpy(request + 8, &r->dest.sin_port, 2);
	write_all(fd, request, sizeof request);
	read_all(fd, reply, sizeof reply);
	if (reply[1] != 0 || reply[3] != 1)
		die("SOCKS: reply %d", reply[1]);
}

static int
connect_by(const struct route *r)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die("socket: %s", strerror(errno));
	if (connect(fd, (const struct sockaddr *)&r->first,
	    sizeof r->first) != 0)
		die("connect: %s", strerror(errno));
	if (r->is_socks)
		handshake_socks(fd, r);
	else if (r->request[0] != '\0')
		handshake(fd, r);
	return fd;
}

/*
 * A reset instead of the last FIN takes the client's TIME_WAIT away; else a
 * long bench runs out of ports and measures the search for a free one.
 */
static void
close_reset(int fd)
{
	struct linger l = { .l_onoff = 1, .l_linger = 0 };

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l);
	close(fd);
}

static void
echo_one(int fd)
{
	char bytes[64];
	ssize_t n = read(fd, bytes, sizeof bytes);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || write(fd, bytes, n) != n)
		close_reset(fd);
}

static void
echo_accept(int ep_fd, int listen_fd)
{
	int fd;

	while ((fd = accept4(listen_fd, NULL, NULL,
	    SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

		if (epoll_ctl(ep_fd, EPOLL_CTL_ADD, fd, &ev) != 0)
			close(fd);
	}
}

static void
serve_echo(int listen_fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = listen_fd };
	struct epoll_event evs[64];
	int ep_fd = epoll_create1(EPOLL_CLOEXEC);

	(void)fcntl(listen_fd, F_SETFL, O_NONBLOCK);
	if (ep_fd < 0 || epoll_ctl(ep_fd, EPOLL_CTL_ADD, listen_fd, &ev) != 0)
		die("epoll: %s", strerror(errno));
	for (;;) {
		int n = epoll_wait(ep_fd, evs, 64, -1);

		for (int i = 0; i < n; i++)
			if (evs[i].data.fd == listen_fd)
				echo_accept(ep_fd, listen_fd);
			else
				echo_one(evs[i].data.fd);
	}
}

static void
send_bulk(int fd)
{
	static char block[BULK_BYTES];
	uint64_t left = 0;
	ssize_t n;

	if (recv(fd, &left, sizeof left, MSG_WAITALL) != sizeof left)
		left = 0;
	while (left > 0) {
		n = write(fd, block, left < BULK_BYTES ? left : BULK_BYTES);
		if (n <= 0)
			break;
		left -= n;
	}
}

/* A process for each stream. */
static void
serve_bulk(int listen_fd)
{
	int fd;

	signal(SIGCHLD, SIG_IGN);
	while ((fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		if (fork() == 0) {
			send_bulk(fd);
			_exit(0);
		}
		close(fd);
	}
	die("accept: %s", strerror(errno));
}

static int
cmd_serve(char **argv)
{
	struct sockaddr_in sin = address(argv[0], 0);
	socklen_t len = sizeof sin;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* Also a bench that is killed leaves no server behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sin, len) != 0 ||
	    listen(fd, 4096) != 0 ||
	    getsockname(fd, (struct sockaddr *)&sin, &len) != 0)
		die("cannot listen on %s: %s", argv[0], strerror(errno));
	printf("%d\n", ntohs(sin.sin_port));
	fflush(stdout);
	if (strcmp(argv[1], "bulk") == 0)
		serve_bulk(fd);
	else
		serve_echo(fd);
	return 1;
}

static void
take_stream(const struct route *r, uint64_t bytes)
{
	char *block = malloc(BULK_BYTES);
	uint64_t left = bytes;
	int fd = connect_by(r);

	write_all(fd, &bytes, sizeof bytes);
	while (left > 0 && block != NULL) {
		ssize_t n = read(fd, block, BULK_BYTES);

		if (n <= 0)
			die("read: %s, %" PRIu64 " bytes missing",
			    n < 0 ? strerror(errno) : "early end", left);
		left -= (uint64_t)n < left ? (uint64_t)n : left;
	}
	close(fd);
	free(block);
}

static int
cmd_get(char **argv)
{
	struct route r = route(argv[0], argv[2]);
	uint64_t bytes = number(argv[1], UINT64_C(1) << 40);
	int64_t start = now_ns();

	take_stream(&r, bytes);
	printf("%" PRId64 "\n", now_ns() - start);
	return 0;
}

struct client {
	const struct route	*route;
	pthread_t		 thread;
	uint64_t		 count;
};

static void
there_and_back(int fd)
{
	char byte = 'x';

	write_all(fd, &byte, 1);
	read_all(fd, &byte, 1);
	if (byte != 'x')
		die("another byte came back");
}

static void *
client_run(void *arg)
{
	const struct client *c = arg;

	for (uint64_t i = 0; i < c->count; i++) {
		int fd = connect_by(c->route);

		there_and_back(fd);
		close(fd);
	}
	return NULL;
}

static void *
client_stream(void *arg)
{
	const struct client *c = arg;

	take_stream(c->route, c->count);
	return NULL;
}

/* As many threads as clients, each with its part of the work. */
static int
share(char **argv, uint64_t max, void *(*work)(void *))
{
	static struct client clients[MAX_CLIENTS];
	struct route r = route(argv[0], argv[3]);
	unsigned n = number(argv[1], MAX_CLIENTS);
	uint64_t total = number(argv[2], max);
	int64_t start;

	if (n == 0 || total % n != 0)
		die("the work must be a multiple of CLIENTS");
	start = now_ns();
	for (unsigned i = 0; i < n; i++) {
		clients[i].route = &r;
		clients[i].count = total / n;
		if (pthread_create(&clients[i].thread, NULL, work,
		    &clients[i]) != 0)
			die("cannot start a thread");
	}
	for (unsigned i = 0; i < n; i++)
		pthread_join(clients[i].thread, NULL);
	printf("%" PRId64 "\n", now_ns() - start);
	return 0;
}

static int
cmd_conns(char **argv)
{
	return share(argv, 1000000, client_run);
}

static int
cmd_gets(char **argv)
{
	return share(argv, UINT64_C(1) << 40, client_stream);
}

static int
cmd_pings(char **argv)
{
	struct route r = route(argv[0], argv[2]);
	uint64_t total = number(argv[1], 100000000);
	int fd = connect_by(&r);
	int64_t start = now_ns();

	for (uint64_t i = 0; i < total; i++)
		there_and_back(fd);
	printf("%" PRId64 "\n", now_ns() - start);
	return 0;
}

static int
cmd_idle(char **argv)
{
	struct route r = route(argv[0], argv[2]);
	uint64_t count = number(argv[1], 100000);
	char byte;

	/* The byte proves that the tunnel reaches its far end. */
	for (uint64_t i = 0; i < count; i++)
		there_and_back(connect_by(&r));
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}

/* Past the hook of syscall(), too. */
static long
raw(long nr, long a, long b, long c, long d)
{
#if defined(__x86_64__) && defined(__LP64__)
	register long r10 __asm__("r10") = d;
	long rv;

	__asm__ volatile("syscall" : "=a"(rv)
	    : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
	    : "rcx", "r11", "memory");
	if (rv < 0)
		errno = -rv;
	return rv < 0 ? -1 : rv;
#else
	return syscall(nr, a, b, c, d);
#endif
}

static int
raw_open(const char *path, int flags)
{
	return (int)raw(SYS_openat, AT_FDCWD, (long)path, flags, 0600);
}

static long
call_open(const char *path, bool is_raw)
{
	int fd = is_raw ? raw_open(path, O_RDONLY) : open(path, O_RDONLY);

	return fd < 0 ? -1 : close(fd);
}

static long
call_stat(const char *path, bool is_raw)
{
	struct stat st;

	return is_raw ? raw(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st,
	    0) : stat(path, &st);
}

static long
call_missing(const char *path, bool is_raw)
{
	return call_stat(path, is_raw) < 0 && errno == ENOENT ? 0 : -1;
}

/* Made in the same way for both. */
static long
call_unlink(const char *path, bool is_raw)
{
	int fd = raw_open(path, O_WRONLY | O_CREAT);

	if (fd < 0)
		return -1;
	close(fd);
	return is_raw ? raw(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0) :
	    unlink(path);
}

/* By the processor's watch: nothing in here waits, but others may push in. */
static int
cmd_calls(char **argv)
{
	static const struct {
		const char	*name;
		long		(*fn)(const char *, bool);
	} kinds[] = { { "open", call_open }, { "stat", call_stat },
	    { "missing", call_missing }, { "unlink", call_unlink } };
	uint64_t count = number(argv[2], 100000000);
	bool is_raw = strcmp(argv[3], "raw") == 0;
	size_t kind = 0;
	int64_t start;

	while (strcmp(kinds[kind].name, argv[0]) != 0)
		if (++kind == sizeof kinds / sizeof *kinds)
			die("no such kind: '%s'", argv[0]);
	start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (uint64_t i = 0; i < count; i++)
		if (kinds[kind].fn(argv[1], is_raw) < 0)
			die("%s '%s': %s", argv[0], argv[1], strerror(errno));
	printf("%" PRId64 "\n", clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start);
	return 0;
}

static int
cmd_getenvs(char **argv)
{
	uint64_t count = number(argv[0], 100000000);
	int64_t start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	for (uint64_t i = 0; i < count; i++)
		if (getenv("PUMP_IS_NOT_SET") != NULL)
			die("PUMP_IS_NOT_SET is set");
	printf("%" PRId64 "\n", clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start);
	return 0;
}

static int
cmd_execs(char **argv)
{
	uint64_t count = number(argv[0], 1000000);
	int64_t start = now_ns();
	int status;
	pid_t pid;

	for (uint64_t i = 0; i < count; i++) {
		int err = posix_spawn(&pid, argv[1], NULL, NULL, argv + 1,
		    environ);

		if (err != 0 || waitpid(pid, &status, 0) != pid || status != 0)
			die("'%s' did not run", argv[1]);
	}
	printf("%" PRId64 "\n", now_ns() - start);
	return 0;
}

/* Raw, as a hostile program would. */
static int
plant(const char *path)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT |
	    O_EXCL, 0644);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

struct flood {
	char	**names;
	uint64_t  count;
	int	  is_done;
};

static void *
flood(void *arg)
{
	struct flood *f = arg;
	char **name = f->names;

	while (f->count > 0) {
		if (*name == NULL)
			name = f->names;
		f->count -= (uint64_t)plant(*name++);
	}
	__atomic_store_n(&f->is_done, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Polls every 20 us or so: the processor belongs to the others. */
static int64_t
until_gone(const char *path)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 };
	int64_t start;

	if (!plant(path))
		die("cannot make '%s': %s", path, strerror(errno));
	start = clock_ns(CLOCK_MONOTONIC);
	while (syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0)
		nanosleep(&pause, NULL);
	return clock_ns(CLOCK_MONOTONIC) - start;
}

static int
cmd_plants(char **argv)
{
	uint64_t samples = number(argv[1], 1000000);
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };
	struct flood f = { .names = argv + 3,
	    .count = number(argv[2], 1000000) };
	pthread_t thread;

	(void)until_gone(argv[0]);
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	if (pthread_create(&thread, NULL, flood, &f) != 0)
		die("cannot make a thread");
	while (samples > 0 || !__atomic_load_n(&f.is_done,
	    __ATOMIC_ACQUIRE)) {
		printf("%" PRId64 "\n", until_gone(argv[0]));
		nanosleep(&pause, NULL);
		samples -= samples > 0;
	}
	pthread_join(thread, NULL);
	return 0;
}

static int64_t
timeval_ns(struct timeval tv)
{
	return tv.tv_sec * INT64_C(1000000000) + tv.tv_usec * INT64_C(1000);
}

/*
 * Orphans of the command come to us and are waited for: bwrap ends without
 * waiting for its child, and so the time of all that ran in it would be lost.
 */
static int64_t
reap_cpu_ns(pid_t pid, int64_t start, int *ret_status, int64_t *ret_wall)
{
	struct rusage ru;
	int64_t cpu = 0;
	int status;
	pid_t got;

	while ((got = wait4(-1, &status, 0, &ru)) > 0) {
		if (got == pid) {
			*ret_wall = now_ns() - start;
			*ret_status = status;
		}
		cpu += timeval_ns(ru.ru_utime) + timeval_ns(ru.ru_stime);
	}
	if (errno != ECHILD)
		die("wait4: %s", strerror(errno));
	return cpu;
}

static void
run_once(size_t which, char **argv, const posix_spawn_file_actions_t *quiet,
    int is_told)
{
	int64_t start = now_ns(), wall = 0, cpu;
	int status = 0, sys;
	pid_t pid;

	if ((sys = posix_spawnp(&pid, argv[0], quiet, NULL, argv,
	    environ)) != 0)
		die("cannot run '%s': %s", argv[0], strerror(sys));
	cpu = reap_cpu_ns(pid, start, &status, &wall);
	if (WIFSIGNALED(status))
		die("'%s' died of signal %d", argv[0], WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		die("'%s' ended with status %d", argv[0], WEXITSTATUS(status));
	if (is_told)
		printf("%zu %" PRId64 " %" PRId64 "\n", which, wall, cpu);
}

static int
cmd_once(char **argv)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	run_once(0, argv, NULL, 1);
	return 0;
}

/* Cuts the words at "--" and returns the number of commands. */
static size_t
split_commands(char **argv, char ***ret_cmds)
{
	size_t n = 0;

	ret_cmds[n++] = argv;
	for (; *argv != NULL; argv++)
		if (strcmp(*argv, "--") == 0) {
			if (n == MAX_COMMANDS)
				die("more than %d commands", MAX_COMMANDS);
			*argv = NULL;
			ret_cmds[n++] = argv + 1;
		}
	for (size_t i = 0; i < n; i++)
		if (ret_cmds[i][0] == NULL)
			die("an empty command");
	return n;
}

static int
cmd_time(char **argv)
{
	uint64_t rounds = number(argv[0], 100000);
	uint64_t pause_ms = number(argv[1], 10000);
	struct timespec pause = { pause_ms / 1000, pause_ms % 1000 * 1000000 };
	posix_spawn_file_actions_t quiet;
	char **cmds[MAX_COMMANDS];
	size_t n = split_commands(argv + 2, cmds);

	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (posix_spawn_file_actions_init(&quiet) != 0 ||
	    posix_spawn_file_actions_addopen(&quiet, STDIN_FILENO,
	    "/dev/null", O_RDONLY, 0) != 0 ||
	    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO,
	    "/dev/null", O_WRONLY, 0) != 0)
		die("out of memory");
	/* The first round warms the caches and is not told. */
	for (uint64_t round = 0; round <= rounds; round++)
		for (size_t i = 0; i < n; i++) {
			nanosleep(&pause, NULL);
			run_once(i, cmds[i], &quiet, round > 0);
		}
	posix_spawn_file_actions_destroy(&quiet);
	return 0;
}

static const struct mode {
	const char	*name;
	int		 min_args, max_args;
	int		(*fn)(char **);
} modes[] = {
	{ "serve", 2, 2, cmd_serve },
	{ "get", 2, 3, cmd_get },
	{ "gets", 3, 4, cmd_gets },
	{ "conns", 3, 4, cmd_conns },
	{ "pings", 2, 3, cmd_pings },
	{ "idle", 2, 3, cmd_idle },
	{ "calls", 4, 4, cmd_calls },
	{ "getenvs", 1, 1, cmd_getenvs },
	{ "execs", 2, 1 << 20, cmd_execs },
	{ "plants", 4, 1 << 20, cmd_plants },
	{ "once", 1, 1 << 20, cmd_once },
	{ "time", 3, 1 << 20, cmd_time },
};

/* Not for commands that are timed: they would inherit it. */
static void
prepare_sockets(void)
{
	struct rlimit rl;

	signal(SIGPIPE, SIG_IGN);
	if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
		rl.rlim_cur = rl.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
	}
}

int
main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++) {
		const struct mode *m = &modes[i];

		if (strcmp(argv[1], m->name) != 0)
			continue;
		if (argc - 2 < m->min_args || argc - 2 > m->max_args)
			die("wrong number of words for '%s'", m->name);
		if (m->fn != cmd_time && m->fn != cmd_once)
			prepare_sockets();
		return m->fn(argv + 2);
	}
	die("one of serve, get, conns, idle, calls, once, time is wanted");
}
