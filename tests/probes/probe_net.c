#include <sys/socket.h>
#include <sys/un.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/probes/dnsq.h"
#include "tests/probes/probe.h"

enum { ADDRS = 8, UDP_WAIT_MS = 300, DNS_WAIT_MS = 1500 };

struct addrs {
	struct sockaddr_storage	 a[ADDRS];
	size_t			 n;
};

static void
set_port(struct sockaddr_storage *ss, int port)
{
	if (ss->ss_family == AF_INET)
		((struct sockaddr_in *)ss)->sin_port = htons(port);
	else
		((struct sockaddr_in6 *)ss)->sin6_port = htons(port);
}

static socklen_t
addr_len(const struct sockaddr_storage *ss)
{
	return ss->ss_family == AF_INET ? sizeof(struct sockaddr_in) :
	    sizeof(struct sockaddr_in6);
}

static int
literal(int family, const char *text, struct sockaddr_storage *ss)
{
	memset(ss, 0, sizeof *ss);
	ss->ss_family = family;
	return inet_pton(family, text, family == AF_INET ?
	    (void *)&((struct sockaddr_in *)ss)->sin_addr :
	    (void *)&((struct sockaddr_in6 *)ss)->sin6_addr);
}

#ifdef PROBE_STATIC

/* The first name server; loopback if none is named, as libc has it. */
static void
name_server(struct sockaddr_storage *ss)
{
	FILE *f = fopen("/etc/resolv.conf", "re");
	char line[256], text[64];

	literal(AF_INET, "127.0.0.1", ss);
	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "nameserver %63s", text) == 1 &&
		    (literal(AF_INET, text, ss) == 1 ||
		    literal(AF_INET6, text, ss) == 1))
			break;
	if (f != NULL)
		fclose(f);
	set_port(ss, 53);
}

/* Length of the answer, or -1. */
static ssize_t
ask_server(uint8_t *msg, size_t len)
{
	struct sockaddr_storage ss;
	struct pollfd pfd = { .events = POLLIN };

	name_server(&ss);
	pfd.fd = socket(ss.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (pfd.fd < 0 ||
	    connect(pfd.fd, (struct sockaddr *)&ss, addr_len(&ss)) < 0 ||
	    send(pfd.fd, msg, len, MSG_NOSIGNAL) < 0 ||
	    poll(&pfd, 1, DNS_WAIT_MS) <= 0)
		return -1;
	return recv(pfd.fd, msg, DNSQ_MAX, 0);
}

/* The names of getaddrinfo(), so that both builds answer alike. */
static const char *
look_up(const char *host, struct addrs *out)
{
	uint8_t msg[DNSQ_MAX], addr[4];
	char text[INET_ADDRSTRLEN];
	size_t n = dnsq_build(host, msg);
	ssize_t got;

	if (n == 0)
		return "NXDOMAIN";
	got = ask_server(msg, n);
	if (got < 0)
		return "EAI_AGAIN";
	switch (dnsq_parse(msg, got, addr)) {
	case DNSQ_ADDRESS:
		inet_ntop(AF_INET, addr, text, sizeof text);
		literal(AF_INET, text, &out->a[0]);
		out->n = 1;
		return "OK";
	case DNSQ_NXDOMAIN:
		return "NXDOMAIN";
	case DNSQ_NODATA:
		return "EAI_NODATA";
	default:
		return "EAI_AGAIN";
	}
}

#else

static const char *
eai_name(int code)
{
	switch (code) {
	case EAI_NONAME:	return "NXDOMAIN";
	case EAI_AGAIN:		return "EAI_AGAIN";
	case EAI_FAIL:		return "EAI_FAIL";
	case EAI_FAMILY:	return "EAI_FAMILY";
	case EAI_MEMORY:	return "EAI_MEMORY";
	case EAI_SYSTEM:	return errno_name(errno);
#ifdef EAI_NODATA
	case EAI_NODATA:	return "EAI_NODATA";
#endif
	default:		return answer("EAI%d", code);
	}
}

static const char *
look_up(const char *host, struct addrs *out)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *res, *ai;
	int code = getaddrinfo(host, NULL, &hints, &res);

	if (code != 0)
		return eai_name(code);
	for (ai = res; ai != NULL && out->n < ADDRS; ai = ai->ai_next) {
		memset(&out->a[out->n], 0, sizeof out->a[0]);
		memcpy(&out->a[out->n++], ai->ai_addr, ai->ai_addrlen);
	}
	freeaddrinfo(res);
	return "OK";
}

#endif

const char *
op_resolve(char **arg)
{
	struct addrs as = { .n = 0 };

	return look_up(arg[0], &as);
}

/* Up to size bytes, or fewer once `until` was seen; -1 with errno. */
static ssize_t
read_some(int fd, char *buf, size_t size, const char *until)
{
	size_t got = 0;
	ssize_t n;

	while (got < size - 1) {
		n = read(fd, buf + got, size - 1 - got);
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		got += n;
		buf[got] = '\0';
		if (strstr(buf, until) != NULL)
			break;
	}
	buf[got] = '\0';
	return got;
}

/*
 * A gate accepts before it decides, so a connection proves nothing and an
 * answer does.  A refusal in words of HTTP is none from the other side.
 */
static const char *
talk_http(int fd, const char *host)
{
	char buf[4096];
	ssize_t n;

	n = snprintf(buf, sizeof buf,
	    "GET / HTTP/1.0\r\nHost: %s\r\nConnection: close\r\n\r\n", host);
	if (send(fd, buf, n, MSG_NOSIGNAL) < 0)
		return errno_name(errno);
	n = read_some(fd, buf, sizeof buf, "\r\n\r\n");
	if (n < 0)
		return errno_name(errno);
	if (n == 0)
		return "EOF";
	if (strncmp(buf, "HTTP/1.", 7) != 0)
		return "BADREPLY";
	if (strcasestr(buf, "\nX-Fence-") != NULL)
		return answer("HTTP%.3s", buf + 9);
	return "OK";
}

/* A ClientHello of TLS 1.2 that any server answers; its length. */
static size_t
client_hello(const char *host, uint8_t *out)
{
	static const uint8_t suites[] = {
		0, 10, 0xc0, 0x2f, 0xc0, 0x2b, 0xc0, 0x30, 0xc0, 0x2c,
		0, 0x9c,
		1, 0,			/* no compression */
	};
	static const uint8_t more[] = {
		0, 10, 0, 6, 0, 4, 0, 29, 0, 23,	/* groups */
		0, 11, 0, 2, 1, 0,			/* points */
		0, 13, 0, 10, 0, 8, 4, 3, 4, 1, 8, 4, 5, 1, /* signatures */
	};
	size_t name = strlen(host), at = 9;
	size_t exts = 9 + name + sizeof more;

	memcpy(out + at, "\3\3", 2);
	memset(out + at + 2, 0x5a, 32);	/* random */
	out[at + 34] = 0;		/* no session */
	at += 35;
	memcpy(out + at, suites, sizeof suites);
	at += sizeof suites;
	memcpy(out + at, (uint8_t[]){ exts >> 8, exts, 0, 0, 0, name + 5,
	    0, name + 3, 0, 0, name }, 11);
	at += 11;
	memcpy(out + at, host, name);
	at += name;
	memcpy(out + at, more, sizeof more);
	at += sizeof more;
	memcpy(out, (uint8_t[]){ 22, 3, 1, (at - 5) >> 8, at - 5,
	    1, 0, (at - 9) >> 8, at - 9 }, 9);
	return at;
}

static const char *
talk_tls(int fd, const char *host)
{
	uint8_t buf[512];
	ssize_t n;

	if (strlen(host) > 200)
		return "BADOP";
	n = client_hello(host, buf);
	if (send(fd, buf, n, MSG_NOSIGNAL) < 0)
		return errno_name(errno);
	n = recv(fd, buf, 7, MSG_WAITALL);
	if (n <= 0)
		return n == 0 ? "EOF" : errno_name(errno);
	if (n == 7 && buf[0] == 21)
		return answer("TLSALERT%d", buf[6]);
	return "OK";
}

static const char *
talk_echo(int fd)
{
	char byte;
	ssize_t n;

	if (send(fd, "x", 1, MSG_NOSIGNAL) < 0)
		return errno_name(errno);
	n = read(fd, &byte, 1);
	if (n <= 0)
		return n == 0 ? "EOF" : errno_name(errno);
	return byte == 'x' ? "OK" : "BADREPLY";
}

static const char *
talk(int fd, const char *host, int port)
{
	return port == 80 ? talk_http(fd, host) :
	    port == 443 ? talk_tls(fd, host) : talk_echo(fd);
}

static int
dial(struct sockaddr_storage *ss, int type, int port)
{
	int fd = socket(ss->ss_family, type | SOCK_CLOEXEC, 0), saved;

	if (fd < 0)
		return -1;
	set_port(ss, port);
	if (connect(fd, (struct sockaddr *)ss, addr_len(ss)) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

const char *
op_connect(char **arg)
{
	struct addrs as = { .n = 0 };
	const char *res = "OK";
	size_t i;
	int fd = -1, port = atoi(arg[1]);

	if (literal(AF_INET, arg[0], &as.a[0]) == 1 ||
	    literal(AF_INET6, arg[0], &as.a[0]) == 1)
		as.n = 1;
	else
		res = look_up(arg[0], &as);
	if (strcmp(res, "OK") != 0)
		return res;
	for (i = 0; i < as.n && fd < 0; i++)
		fd = dial(&as.a[i], SOCK_STREAM, port);
	return fd < 0 ? errno_name(errno) : talk(fd, arg[0], port);
}

static const char *
connect_literal(int family, char **arg)
{
	struct sockaddr_storage ss;
	int fd, port = atoi(arg[1]);

	if (literal(family, arg[0], &ss) != 1)
		return "BADOP";
	fd = dial(&ss, SOCK_STREAM, port);
	return fd < 0 ? errno_name(errno) : talk(fd, arg[0], port);
}

const char *
op_connect4(char **arg)
{
	return connect_literal(AF_INET, arg);
}

const char *
op_connect6(char **arg)
{
	return connect_literal(AF_INET6, arg);
}

/* A connected socket hears the ICMP error that a bare sendto() would not. */
const char *
op_udp(char **arg)
{
	struct pollfd pfd = { .events = POLLIN };
	struct sockaddr_storage ss;
	char buf[64];

	if (literal(AF_INET, arg[0], &ss) != 1 &&
	    literal(AF_INET6, arg[0], &ss) != 1)
		return "BADOP";
	pfd.fd = dial(&ss, SOCK_DGRAM, atoi(arg[1]));
	if (pfd.fd < 0 || send(pfd.fd, "x", 1, MSG_NOSIGNAL) < 0)
		return errno_name(errno);
	if (poll(&pfd, 1, UDP_WAIT_MS) > 0 &&
	    recv(pfd.fd, buf, sizeof buf, MSG_DONTWAIT) < 0)
		return errno_name(errno);
	return "OK";
}

/* "@name" is an abstract socket. */
const char *
op_unix(char **arg)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	size_t n = strlen(arg[0]);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (n >= sizeof un.sun_path)
		return "ENAMETOOLONG";
	memcpy(un.sun_path, arg[0], n);
	if (un.sun_path[0] == '@')
		un.sun_path[0] = '\0';
	if (fd < 0)
		return errno_name(errno);
	return outcome(connect(fd, (struct sockaddr *)&un,
	    offsetof(struct sockaddr_un, sun_path) + n));
}

const char *
op_proxy(char **arg)
{
	struct sockaddr_storage ss;
	char buf[4096];
	ssize_t n;
	int fd;

	literal(AF_INET, "127.0.0.1", &ss);
	fd = dial(&ss, SOCK_STREAM, 3128);
	if (fd < 0)
		return errno_name(errno);
	n = snprintf(buf, sizeof buf, "CONNECT %s:%s HTTP/1.1\r\n"
	    "Host: %s:%s\r\n\r\n", arg[0], arg[1], arg[0], arg[1]);
	if (n >= (ssize_t)sizeof buf)
		return "BADOP";
	if (send(fd, buf, n, MSG_NOSIGNAL) < 0)
		return errno_name(errno);
	n = read_some(fd, buf, sizeof buf, "\r\n\r\n");
	if (n <= 0)
		return n == 0 ? "EOF" : errno_name(errno);
	if (strncmp(buf, "HTTP/1.", 7) != 0 || n < 12)
		return "BADREPLY";
	return strncmp(buf + 9, "200", 3) == 0 ? "OK" :
	    answer("HTTP%.3s", buf + 9);
}

const char *
op_raw(char **arg)
{
	long family = number(arg[0]), type = number(arg[1]);
	long proto = arg[2] == NULL ? 0 : number(arg[2]);

	if (family < 0 || type < 0 || proto < 0)
		return "BADOP";
	return outcome(socket(family, type | SOCK_CLOEXEC, proto));
}
