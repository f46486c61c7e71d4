/* musl-client HOST PORT: a libc whose resolver and sockets are its own. */
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char request[] = "GET / HTTP/1.0\r\n\r\n";

static int
dial(const char *host, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	int rv = getaddrinfo(host, port, &hints, &list), fd;

	if (rv != 0) {
		fprintf(stderr, "musl-client: %s\n", gai_strerror(rv));
		exit(1);
	}
	for (struct addrinfo *a = list; a != NULL; a = a->ai_next) {
		fd = socket(a->ai_family, SOCK_STREAM, 0);
		if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
			return fd;
		close(fd);
	}
	perror("musl-client: connect");
	exit(1);
}

int
main(int argc, char **argv)
{
	char buf[4096];
	ssize_t n;
	size_t got = 0;
	int fd;

	if (argc != 3)
		return 2;
	fd = dial(argv[1], argv[2]);
	if (write(fd, request, sizeof request - 1) < 0)
		return 1;
	while ((n = read(fd, buf + got, sizeof buf - 1 - got)) > 0)
		got += n;
	buf[got] = '\0';
	fputs(buf, stdout);
	return strstr(buf, " 200 ") == NULL;
}
