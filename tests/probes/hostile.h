/*
 * hostile: what a conquered worker of fence might try.  The same rows run
 * inside a worker behind its walls (hostile_net.c, hostile_names.c) and bare
 * (hostile_main.c), which shows that a row can fail to be refused.
 */
#ifndef FENCE_TESTS_HOSTILE_H
#define FENCE_TESTS_HOSTILE_H

#include <stdbool.h>
#include <stddef.h>

enum {
	HOSTILE_PRIVILEGED = 1,	/* refused to an ordinary user anyway */
	HOSTILE_NAMES_MAY = 2,	/* what fence-names needs for its work */
};

struct hostile_row {
	const char	*name;
	long		(*fn)(void);	/* >= 0, or -errno */
	int		 flags;
};

extern const struct hostile_row hostile_rows[];
extern const size_t hostile_nrows;

/* "NAME ANSWER\n": OK, or the name of an errno.  Bytes written. */
size_t	 hostile_try(const struct hostile_row *, char *, size_t);

/* What a stranger may do with a socket it was handed; same rules. */
struct hostile_trick {
	const char	*name;
	long		(*fn)(int fd);
};

extern const struct hostile_trick hostile_tricks[];
extern const size_t hostile_ntricks;

size_t	 hostile_play(const struct hostile_trick *, int fd, char *, size_t);
const char	*hostile_errno(long rv);

#endif
