/*
 * report: tell the monitor of one refused call.  One record, one datagram,
 * dropped rather than waited for.  Everything here keeps errno, holds nothing
 * afterwards, and uses only system calls, so it may run in signal handlers,
 * after vfork and before main.  A record takes as much stack as its path has
 * bytes; a path that has to be made absolute takes WIRE_PATH_MAX.
 */
#ifndef FENCE_SHIM_REPORT_H
#define FENCE_SHIM_REPORT_H

#include <sys/socket.h>

#include <fcntl.h>

#include "shim/real.h"
#include "shim/wire.h"

/* Names that come and go are told as opens that would have made them. */
enum { REPORT_CHANGES = O_WRONLY | O_CREAT };

/*
 * The path is joined to the directory as text, nothing is resolved; an empty
 * one stands for dir_fd itself.
 */
SHIM_HIDDEN void report_path(enum wire_call, int dir_fd, const char *path,
	    int flags, int err);

/* The folder in which an absolute path ends, as an open of itself. */
SHIM_HIDDEN void report_dir(const char *path, size_t dir_len, int flags,
	    int err);

/*
 * A program named as execvp() takes it: the candidate in PATH that spoke, or
 * with ENOENT every one, because which of them is hidden nobody here knows.
 */
SHIM_HIDDEN void report_program(const char *file, int err);

/* Internet addresses and unix sockets ("@name" when abstract); no others. */
SHIM_HIDDEN void report_connect(const struct sockaddr *, socklen_t, int err);

#endif
