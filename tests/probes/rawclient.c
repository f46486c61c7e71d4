/*
 * rawclient HOST PORT [RESOLVER]: a client that no preloaded library and no proxy
 * variable reaches.  It asks the resolver itself and speaks HTTP itself, with
 * system calls by number.  Exit status 0 if the answer begins "HTTP/1.".
 */
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/probes/dnsq.h"

static _Noreturn void
die(const char *what)
{
	fprintf(stderr, "rawclient: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int
dial(int type, uint32_t addr, int port)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = addr,
	};
	struct timeval limit = { .tv_sec = 3 };
	int fd = syscall(SYS_socket, AF_INET, type, 0);

	if (fd < 0)
		die("socket");
	syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, &limit,
	    sizeof limit);
	if (syscall(SYS_connect, fd, &in, sizeof in) < 0)
		die(type == SOCK_DGRAM ? "connect to the resolver" :
		    "connect");
	return fd;
}

static uint32_t
look_up(const char *host, const char *resolver)
{
	uint8_t msg[DNSQ_MAX];
	size_t n = dnsq_build(host, msg);
	uint32_t addr;
	long got;
	int fd;

	if (n == 0) {
		errno = EINVAL;
		die(host);
	}
	fd = dial(SOCK_DGRAM, inet_addr(resolver), 53);
	if (syscall(SYS_write, fd, msg, n) < 0)
		die("query");
	got = syscall(SYS_read, fd, msg, sizeof msg);
	if (got < 0)
		die("answer");
	syscall(SYS_close, fd);
	switch (dnsq_parse(msg, got, (uint8_t *)&addr)) {
	case DNSQ_ADDRESS:
		return addr;
	case DNSQ_NXDOMAIN:
		fprintf(stderr, "rawclient: %s: NXDOMAIN\n", host);
		break;
	default:
		fprintf(stderr, "rawclient: %s: no address\n", host);
	}
	exit(1);
}

int
main(int argc, char **argv)
{
	char buf[1024];
	long n, got = 0;
	uint32_t addr;
	int fd;

	if (argc != 3 && argc != 4) {
		fputs("usage: rawclient HOST PORT [RESOLVER]\n", stderr);
		return 2;
	}
	addr = look_up(argv[1], argc == 4 ? argv[3] : "127.0.0.1");
	fd = dial(SOCK_STREAM, addr, atoi(argv[2]));
	n = snprintf(buf, sizeof buf, "GET / HTTP/1.0\r\nHost: %s\r\n\r\n",
	    argv[1]);
	if (n >= (long)sizeof buf || syscall(SYS_write, fd, buf, n) != n)
		die("request");
	while (got < (long)sizeof buf - 1 && memchr(buf, '\n', got) == NULL) {
		n = syscall(SYS_read, fd, buf + got, sizeof buf - 1 - got);
		if (n < 0)
			die("response");
		if (n == 0)
			break;
		got += n;
	}
	buf[got] = '\0';
	printf("%.*s\n", (int)strcspn(buf, "\r\n"), buf);
	return strncmp(buf, "HTTP/1.", 7) != 0;
}
