/*
 * caller WAY [ADDRESS PORT]…: calls each address in one way, static, and
 * prints `ADDRESS ERRNO` for each, as far as it gets.
 *
 *	connect thread sendto unspec fastopen mapped
 *	sendmsg sendmmsg
 *	sendmsg-long	says that its address has 4096 bytes
 *	i386 i386-sendto i386-sendmsg i386-sendmmsg
 *	socketcall socketcall-sendto socketcall-sendmsg socketcall-sendmmsg
 *	vanish		is gone before it could hear an answer
 *	storm		a signal every 50 µs meanwhile
 *	wild		hands over pointers that lead nowhere, then calls
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct job {
	const char		*way;
	struct sockaddr_in	*to;	/* below 4 GiB */
	int			 result;
};

static long
result(long rv)
{
	return rv < 0 ? -errno : 0;
}

static long
by_connect(const struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return result(connect(fd, (const void *)to, sizeof *to));
}

static long
by_sendto(const struct sockaddr_in *to, int type, int flags)
{
	int fd = socket(AF_INET, type, 0);

	return result(sendto(fd, "x", 1, flags, (const void *)to, sizeof *to));
}

static long
by_sendmsg(const char *way, struct sockaddr_in *to)
{
	struct iovec iov = { (void *)(uintptr_t)"x", 1 };
	struct mmsghdr m = { .msg_hdr = { .msg_name = to,
	    .msg_namelen = sizeof *to, .msg_iov = &iov, .msg_iovlen = 1 } };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (strcmp(way, "sendmsg-long") == 0)
		m.msg_hdr.msg_namelen = 4096;	/* which is cut to 128 */
	if (strcmp(way, "sendmmsg") == 0)
		return result(sendmmsg(fd, &m, 1, 0));
	return result(sendmsg(fd, &m.msg_hdr, 0));
}

static long
by_mapped(const struct sockaddr_in *to)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
	    .sin6_port = to->sin_port };
	int fd = socket(AF_INET6, SOCK_STREAM, 0);

	in6.sin6_addr.s6_addr[10] = in6.sin6_addr.s6_addr[11] = 0xff;
	memcpy(&in6.sin6_addr.s6_addr[12], &to->sin_addr, 4);
	return result(connect(fd, (const void *)&in6, sizeof in6));
}

static void *
thread_main(void *arg)
{
	struct job *j = arg;

	(void)pthread_setname_np(pthread_self(), "a-thread");
	j->result = (int)by_connect(j->to);
	return NULL;
}

static long
by_thread(struct job *j)
{
	pthread_t t;

	if (pthread_create(&t, NULL, thread_main, j) != 0)
		return -EAGAIN;
	pthread_join(t, NULL);
	return j->result;
}

static void
on_alarm(int signo)
{
	(void)signo;
}

static long
by_storm(const struct sockaddr_in *to)
{
	struct sigaction sa = { .sa_handler = on_alarm,
	    .sa_flags = SA_RESTART };
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { 0 };
	long rv;

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	rv = by_connect(to);
	setitimer(ITIMER_REAL, &never, NULL);
	return rv;
}

static long
by_wild(const struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)!syscall(SYS_connect, fd, (void *)8, 16);
	(void)!syscall(SYS_connect, fd, (void *)UINTPTR_MAX, 16);
	(void)!syscall(SYS_connect, fd, to, 0);
	(void)!syscall(SYS_connect, fd, to, -1);
	(void)!syscall(SYS_connect, fd, to, 1 << 30);
	(void)!syscall(SYS_sendto, fd, NULL, 0, 0, (void *)8, 16);
	(void)!syscall(SYS_connect, -1, NULL, 0);
	(void)!syscall(SYS_sendmsg, fd, NULL, 0);
	(void)!syscall(SYS_sendmsg, fd, (void *)8, 0);
	(void)!syscall(SYS_sendmmsg, fd, (void *)UINTPTR_MAX, 1, 0);
	(void)!syscall(SYS_sendmmsg, fd, NULL, 0, 0);
	return by_connect(to);
}

#ifdef __x86_64__
/* The sixth argument is of no use to us; %ebp stays the compiler's. */
static long
int80(long nr, long a, long b, long c, long d, long e)
{
	long rv;

	__asm__ volatile("push %%rbp; mov $16, %%ebp; int $0x80; pop %%rbp"
	    : "=a"(rv) : "a"(nr), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
	    : "memory", "r8", "r9", "r10", "r11");
	return rv;
}

static long
at_most_0(long rv)
{
	return rv < 0 ? rv : 0;
}

/* A struct mmsghdr of 32 bits; name and namelen come first. */
static uint32_t
header32(uint32_t *room, uint32_t to)
{
	room[0] = to;
	room[1] = sizeof(struct sockaddr_in);
	room[2] = (uint32_t)(uintptr_t)(room + 8);
	room[3] = 1;
	memset(room + 4, 0, 4 * sizeof *room);
	room[8] = to;			/* an iovec: one byte of it */
	room[9] = 1;
	return (uint32_t)(uintptr_t)room;
}

static long
by_i386(const char *way, struct sockaddr_in *to)
{
	static const struct {
		const char	*end;
		int		 type, nr, call;
	} rows[] = {
		{ "sendto", SOCK_DGRAM, 369, 11 },
		{ "sendmsg", SOCK_DGRAM, 370, 16 },
		{ "sendmmsg", SOCK_DGRAM, 345, 20 },
		{ "", SOCK_STREAM, 362, 3 },
	};
	uint32_t *args = (void *)(to + 1), at = (uint32_t)(uintptr_t)to;
	size_t i = 0;

	while (strstr(way, rows[i].end) == NULL)
		i++;
	args[0] = (uint32_t)int80(359, AF_INET, rows[i].type, 0, 0, 0);
	args[1] = strstr(way, "msg") != NULL ? header32(args + 8, at) : at;
	args[2] = rows[i].call == 3 ? sizeof *to :
	    rows[i].call == 16 ? 0 : 1;
	args[3] = 0;
	args[4] = at;
	args[5] = sizeof *to;		/* int80() has it in %ebp */
	if (strncmp(way, "socketcall", 10) == 0)
		return int80(102, rows[i].call, (long)(uintptr_t)args, 0, 0,
		    0);
	return int80(rows[i].nr, args[0], args[1], args[2], args[3], args[4]);
}
#endif

static long
call(struct job *j)
{
	const char *way = j->way;

	if (strcmp(way, "connect") == 0)
		return by_connect(j->to);
	if (strcmp(way, "thread") == 0)
		return by_thread(j);
	if (strcmp(way, "sendto") == 0)
		return by_sendto(j->to, SOCK_DGRAM, 0);
	if (strcmp(way, "unspec") == 0) {
		j->to->sin_family = AF_UNSPEC;
		return by_sendto(j->to, SOCK_DGRAM, 0);
	}
	if (strcmp(way, "fastopen") == 0)
		return by_sendto(j->to, SOCK_STREAM, MSG_FASTOPEN);
	if (strncmp(way, "sendm", 5) == 0)
		return by_sendmsg(way, j->to);
	if (strcmp(way, "mapped") == 0)
		return by_mapped(j->to);
	if (strcmp(way, "storm") == 0)
		return by_storm(j->to);
	if (strcmp(way, "wild") == 0)
		return by_wild(j->to);
	if (strcmp(way, "vanish") == 0) {
		(void)by_connect(j->to);
		_exit(0);
	}
#ifdef __x86_64__
	if (strncmp(way, "i386", 4) == 0 || strncmp(way, "socket", 6) == 0)
		return at_most_0(by_i386(way, j->to));
#endif
	fprintf(stderr, "caller: %s: what is that?\n", way);
	exit(2);
}

int
main(int argc, char **argv)
{
	struct job j = { .way = argc > 1 ? argv[1] : "" };

	j.to = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS
#ifdef MAP_32BIT
	    | MAP_32BIT
#endif
	    , -1, 0);
	for (int i = 2; i + 1 < argc; i += 2) {
		*j.to = (struct sockaddr_in){ .sin_family = AF_INET,
		    .sin_port = htons((uint16_t)atoi(argv[i + 1])) };
		if (inet_pton(AF_INET, argv[i], &j.to->sin_addr) != 1)
			return 2;
		j.result = (int)call(&j);
		printf("%s %s\n", argv[i], strerrorname_np(-j.result));
	}
	return 0;
}
