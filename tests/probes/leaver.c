/*
 * leaver WAY ADDRESS PORT [NAME]: asks the gate for something, and is gone
 * before anybody could look who asked.  Built static, and dynamic as
 * leaver-shim.
 *
 *	connect		a connection, ended
 *	reset		the same, by a reset
 *	close		ended, and the process lives on until its stdin ends
 *	confined	by one who may make no other socket, or is killed
 *	dns		a question for NAME as a datagram
 *	dns-message	the same by sendmsg()
 *	dns-connected	by a connected socket
 *	http socks	a request for NAME, port 443
 */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/probes/dnsq.h"

static void
must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static int
dial(const struct sockaddr_in *to, int type)
{
	int fd = socket(AF_INET, type, 0);

	must(fd >= 0, "socket");
	must(connect(fd, (const void *)to, sizeof *to) == 0, "connect");
	return fd;
}

/* As one does that has all the sockets it needs. */
static void
confine(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_socket, 0, 1),
		BPF_STMT(BPF_RET, SECCOMP_RET_KILL_PROCESS),
		BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_sendto, 0, 1),
		BPF_STMT(BPF_RET, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof f / sizeof *f, f };

	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0, "prctl");
}

static void
by_message(struct sockaddr_in *to, void *data, size_t len)
{
	struct iovec iov = { data, len };
	struct msghdr m = { .msg_name = to, .msg_namelen = sizeof *to,
	    .msg_iov = &iov, .msg_iovlen = 1 };

	must(sendmsg(socket(AF_INET, SOCK_DGRAM, 0), &m, 0) > 0, "sendmsg");
}

static void
ask_dns(const char *way, struct sockaddr_in *to, const char *name)
{
	uint8_t query[DNSQ_MAX];
	size_t n = dnsq_build(name, query);

	must(n > 0, name);
	if (strcmp(way, "dns-message") == 0)
		by_message(to, query, n);
	else if (strcmp(way, "dns-connected") == 0)
		must(send(dial(to, SOCK_DGRAM), query, n, 0) > 0, "send");
	else
		must(sendto(socket(AF_INET, SOCK_DGRAM, 0), query, n, 0,
		    (const void *)to, sizeof *to) > 0, "sendto");
}

static void
ask_proxy(const char *way, const struct sockaddr_in *to, const char *name)
{
	char text[600];
	int n;

	if (strcmp(way, "http") == 0)
		n = snprintf(text, sizeof text,
		    "CONNECT %s:443 HTTP/1.1\r\nHost: %s:443\r\n\r\n", name,
		    name);
	else
		n = snprintf(text, sizeof text, "\x05\x01%c\x05\x01%c\x03%c%s"
		    "\x01\xbb", 0, 0, (int)strlen(name), name);
	must(write(dial(to, SOCK_STREAM), text, (size_t)n) == n, "write");
}

int
main(int argc, char **argv)
{
	static const struct linger now = { 1, 0 };
	struct sockaddr_in to = { .sin_family = AF_INET };
	const char *way = argc > 3 ? argv[1] : "";
	char byte;
	int fd;

	if (argc < 4 || inet_pton(AF_INET, argv[2], &to.sin_addr) != 1)
		return 2;
	to.sin_port = htons((uint16_t)atoi(argv[3]));
	if (strncmp(way, "dns", 3) == 0 && argc > 4)
		ask_dns(way, &to, argv[4]);
	else if (argc > 4)
		ask_proxy(way, &to, argv[4]);
	else {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (strcmp(way, "confined") == 0)
			confine();
		must(connect(fd, (const void *)&to, sizeof to) == 0,
		    "connect");
		if (strcmp(way, "reset") == 0)
			must(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now,
			    sizeof now) == 0, "linger");
		(void)close(fd);
	}
	if (strcmp(way, "close") == 0)
		(void)!read(0, &byte, 1);
	_exit(0);
}
