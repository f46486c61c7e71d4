/*
 * report: tell the monitor of one refused call.  One record, one datagram,
 * dropped rather than waited for.  How many were dropped goes with the next
 * one that passes, or when the process exits; what a process has counted and
 * not told is lost where it is killed, or executes another program.
 *
 * Everything here keeps errno, holds nothing afterwards, and uses only system
 * calls, so it may run in signal handlers, after vfork and before main.  A
 * record takes as much stack as its path has bytes; a path that has to be made
 * absolute takes WIRE_PATH_MAX.
 */
#ifndef FENCE_SHIM_REPORT_H
#define FENCE_SHIM_REPORT_H

#include <sys/socket.h>

#include <fcntl.h>

#include "shim/real.h"
#include "shim/wire.h"

/* What became of a call. */
struct told {
	uint16_t	 call;		/* enum wire_call */
	uint16_t	 nr;		/* the system call */
	uint32_t	 flags;		/* as wire.h says for the call */
	int		 err;
};

/* Names that come and go where the folder is what matters. */
enum { REPORT_CHANGES = O_WRONLY | O_CREAT };

/*
 * The path is joined to the directory as text, nothing is resolved; an empty
 * one stands for dir_fd itself.  What has no path in the end is not sent.
 */
SHIM_HIDDEN void report_path(struct told, int dir_fd, const char *path);

/* The folder in which an absolute path ends, as an open of itself. */
SHIM_HIDDEN void report_dir(struct told, const char *path, size_t dir_len);

/*
 * A program named as execvp() takes it: the candidate in PATH that spoke, or
 * with ENOENT every one, because which of them is hidden nobody here knows.
 */
SHIM_HIDDEN void report_program(struct told, const char *file);

/*
 * Internet addresses and unix sockets ("@name" when abstract); no others.  The
 * socket's type is asked of fd.
 */
SHIM_HIDDEN void report_connect(struct told, int fd, const struct sockaddr *,
	    socklen_t);

/* A call of no path.  type: of a socket that was not made, or 0. */
SHIM_HIDDEN void report_call(struct told, int type);

#endif
