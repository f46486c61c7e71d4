/* Unix sockets: see README.md. */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "tests/probes/probe.h"

/* Length of the address, 0 if the path is too long. */
static socklen_t
fill_addr(struct sockaddr_un *un, const char *path)
{
	size_t n = strlen(path);

	memset(un, 0, sizeof *un);
	un->sun_family = AF_UNIX;
	if (n >= sizeof un->sun_path)
		return 0;
	memcpy(un->sun_path, path, n);
	if (path[0] == '@')
		un->sun_path[0] = '\0';
	return offsetof(struct sockaddr_un, sun_path) + n;
}

/* A message without a connection: nobody has to accept it. */
const char *
op_unix_dgram(char **arg)
{
	struct sockaddr_un un;
	socklen_t n = fill_addr(&un, arg[0]);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (n == 0)
		return "ENAMETOOLONG";
	return outcome(fd < 0 ? fd : sendto(fd, "x", 1, MSG_NOSIGNAL,
	    (struct sockaddr *)&un, n));
}

/* A child that says one byte to the socket at that address. */
static void
start_client(int type, const struct sockaddr_un *un, socklen_t n)
{
	int fd;

	if (fork() != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = socket(AF_UNIX, type, 0);
	_exit(connect(fd, (const struct sockaddr *)un, n) < 0 ||
	    send(fd, "x", 1, MSG_NOSIGNAL) < 0);
}

static const char *
serve(int type, const char *path)
{
	struct sockaddr_un un;
	socklen_t n = fill_addr(&un, path);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	char byte = '\0';

	if (n == 0)
		return "ENAMETOOLONG";
	if (fd < 0 || bind(fd, (struct sockaddr *)&un, n) < 0 ||
	    (type == SOCK_STREAM && listen(fd, 1) < 0))
		return errno_name(errno);
	start_client(type, &un, n);
	if (type == SOCK_STREAM && (fd = accept(fd, NULL, NULL)) < 0)
		return errno_name(errno);
	if (recv(fd, &byte, 1, 0) < 0)
		return errno_name(errno);
	return byte == 'x' ? "OK" : "EOF";
}

/* Listens at PATH, and a child connects. */
const char *
op_unix_serve(char **arg)
{
	if (strcmp(arg[1], "stream") == 0)
		return serve(SOCK_STREAM, arg[0]);
	if (strcmp(arg[1], "dgram") == 0)
		return serve(SOCK_DGRAM, arg[0]);
	return "BADOP";
}
