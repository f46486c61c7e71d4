/*
 * cancelled: a thread that waits in connect(), for a server that does not
 * answer, is cancelled; one that may not be is not.  Prints what became of
 * both.  Dynamic: the shim is between it and libc.
 */
#include <sys/socket.h>

#include <netinet/in.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ENOUGH = 8 };

static struct sockaddr_in to;

/* Its queue is full, so that whoever comes waits. */
static int
silent_server(void)
{
	socklen_t len = sizeof to;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	to.sin_family = AF_INET;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&to, sizeof to) != 0 ||
	    listen(fd, 0) != 0 ||
	    getsockname(fd, (struct sockaddr *)&to, &len) != 0)
		return -1;
	for (int i = 0; i < ENOUGH; i++)
		(void)!connect(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0),
		    (struct sockaddr *)&to, sizeof to);
	return fd;
}

/* arg: may it be cancelled?  What may not gives up after a while. */
static void *
wait_there(void *arg)
{
	struct timeval soon = { .tv_usec = 200000 };
	int fd = socket(AF_INET, SOCK_STREAM, 0), old;

	if (arg == NULL) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
	}
	(void)!connect(fd, (struct sockaddr *)&to, sizeof to);
	return NULL;
}

static const char *
cancel_one(void *arg)
{
	struct timespec moment = { .tv_nsec = 50000000 };
	pthread_t t;
	void *end;

	if (pthread_create(&t, NULL, wait_there, arg) != 0)
		return "no thread";
	(void)nanosleep(&moment, NULL);
	(void)pthread_cancel(t);
	(void)pthread_join(t, &end);
	return end == PTHREAD_CANCELED ? "cancelled" : "ended";
}

int
main(void)
{
	static char yes;

	if (silent_server() < 0)
		return 1;
	printf("%s %s\n", cancel_one(&yes), cancel_one(NULL));
	return 0;
}
