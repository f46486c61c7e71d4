/*
 * looker: receives the calls that a jail holds, where it holds those on files
 * (calls.h), and says which of them the jail will refuse.  What it permits it
 * lets go at once; of the rest it tells the launcher (launcher/gate/
 * held_files.c), which makes the record and answers.  Calls of other kinds are
 * handed to the launcher as they are.
 *
 * It is a process of its own, since a look at a path may wait for a file
 * system that does not answer.  Then the looker is killed after a second, the
 * call goes on unseen, and another looker takes its place.
 *
 * It ends with its socket or its parent.
 */
#ifndef FENCE_PLATFORM_LOOKER_H
#define FENCE_PLATFORM_LOOKER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "platform/base/err.h"
#include "platform/calls.h"

struct looker_config {
	const struct calls_wall	*wall;		/* may be NULL */
	bool			 wants_calls;	/* jail.h: others go on */
	/* Calls come by looker_ask(), not from the listener: the tracer
	 * receives them. */
	bool			 is_asked;
};

/* The caller owns *ret_fd, non-blocking, and waits for *ret_pid. */
int	 looker_start(const struct looker_config *, int *ret_fd,
	    pid_t *ret_pid, struct err *);
/* First of all: the descriptor of the held calls. */
int	 looker_listen(int fd, int calls_fd);
/* 0, or -1: it cannot take the call now. */
int	 looker_ask(int fd, const struct held_call *);

enum looker_word_kind {
	LOOKER_CALL = 1,	/* call waits for an answer; nobody looked */
	LOOKER_REFUSAL,		/* it will fail with sys; it waits, too */
	LOOKER_BLIND,		/* a file system does not answer: told once */
};

struct looker_word {
	enum looker_word_kind	kind;
	struct held_call	call;
	int			sys;
	bool			is_told[2];	/* the names that may be why */
	uint32_t		open_flags;
	char			path[2][PATH_MAX];
};

/* Not waited for: 1; 0 while there is none; -1: the looker is gone. */
int	 looker_next(int fd, struct looker_word *);

#endif
