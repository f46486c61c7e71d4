/*
 * record: one line of a trace as `fence trace` needs it.  A trace is somebody
 * else's file: the reader is pure and bounded, takes any bytes, and promises
 * nothing about the strings but that they end; printing escapes them.
 */
#ifndef FENCE_LAUNCHER_HISTORY_RECORD_H
#define FENCE_LAUNCHER_HISTORY_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/base/arena.h"
#include "platform/base/err.h"

enum { RECORD_LINE_BYTES = 256 * 1024 };	/* the longest that is written */

enum record_kind {
	RECORD_OTHER,
	RECORD_REFUSAL,
	RECORD_FINDING,		/* told though no call was refused */
	RECORD_START, RECORD_END,	/* of a run */
};

/* Strings are the arena's, and never NULL: "" for what is not there. */
struct record {
	enum record_kind kind;
	int64_t		 time_ms;
	uint64_t	 sequence, count, dropped;
	const char	*run;		/* metadata.correlation_uid */
	const char	*prev;
	const char	*message;
	const char	*object;	/* path, host:port, name, call */
	const char	*process;	/* "make[4701]" */
	/* Its name: the path is gone with the process, the name is not. */
	const char	*program;
	const char	*rule, *rule_text, *place;
	const char	*key, *value;	/* of the remedy */
	bool		 is_claim;	/* a process of the jail says so */
	/* RECORD_START */
	const char	*command, *workspace, *policy_file;
	int		 exit_status;	/* RECORD_END */
};

/* -1: no JSON object, or no record (metadata.correlation_uid is missing). */
int	 record_parse(struct arena *, const char *line, size_t len,
	    struct record *ret, struct err *);

#endif
