/*
 * hostile [HOST PORT]: the rows of hostile.c without any wall around them;
 * with HOST and PORT the tricks on a connection to there.
 */
#include "tests/probes/hostile.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

static int
dialled(const char *host, const char *port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)atoi(port)) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, host, &sin.sin_addr);
	if (connect(fd, (struct sockaddr *)&sin, sizeof sin) != 0)
		exit(1);
	return fd;
}

int
main(int argc, char **argv)
{
	int fd = argc == 3 ? dialled(argv[1], argv[2]) : -1;
	char text[80];

	for (size_t i = 0; fd >= 0 && i < hostile_ntricks; i++) {
		hostile_play(&hostile_tricks[i], fd, text, sizeof text);
		fputs(text, stdout);
	}
	for (size_t i = 0; fd < 0 && i < hostile_nrows; i++) {
		hostile_try(&hostile_rows[i], text, sizeof text);
		printf("%d %s", hostile_rows[i].flags, text);
		fflush(stdout);
	}
	return 0;
}
