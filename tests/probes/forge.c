/*
 * forge [-w] N ERRNO FLAGS PATH: sends N reports of refused opens as the shim
 * sends them, as fast as it can; every '%' of PATH becomes the number of the
 * report.  With -w it waits for room in the socket.  Prints how many were
 * taken.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shim/wire.h"

static void
fill_path(struct wire_report *r, const char *path, long number)
{
	size_t at = 0;

	for (; *path != '\0' && at < WIRE_PATH_MAX - 24; path++)
		if (*path == '%')
			at += (size_t)sprintf(r->path + at, "%ld", number);
		else
			r->path[at++] = *path;
	r->path_len = (uint16_t)at;
}

int
main(int argc, char **argv)
{
	static struct wire_report r = { .magic = WIRE_MAGIC,
	    .call = WIRE_OPEN, .comm = "forged" };
	const struct sockaddr_un to = { .sun_family = AF_UNIX,
	    .sun_path = WIRE_SOCKET };
	int flags = argc > 1 && strcmp(argv[1], "-w") == 0 ? 0 : MSG_DONTWAIT;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	long taken = 0;

	if (flags == 0) {
		argc--;
		argv++;
	}
	if (argc != 5 || fd < 0)
		return 2;
	r.err = atoi(argv[2]);
	r.flags = (uint32_t)atoi(argv[3]);
	for (long i = 0; i < atol(argv[1]); i++) {
		fill_path(&r, argv[4], i);
		taken += sendto(fd, &r, WIRE_HEADER_BYTES + r.path_len, flags,
		    (const void *)&to, sizeof to) > 0;
	}
	printf("%ld\n", taken);
	return 0;
}
