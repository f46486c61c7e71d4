/*
 * herald: what the gate refused or noticed becomes a record, with the process
 * that asked, found by the address it asked from.
 */
#ifndef FENCE_LAUNCHER_HERALD_H
#define FENCE_LAUNCHER_HERALD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/suspect.h"
#include "launcher/witness.h"
#include "policy/decide.h"
#include "proxy/ask.h"

/* witness, jail_pid and stop_pid are the owner's; the rest begins as 0. */
struct herald {
	struct witness	*witness;
	pid_t		 jail_pid;	/* any process in the jail's network */
	pid_t		 stop_pid;	/* ancestors end here */
	int64_t		 who_second;	/* the budget's current one */
	int64_t		 who_us;	/* spent of it */
	bool		 is_book_full;	/* and told */
	struct suspect	 suspect;
};

/* A question was answered with a refusal; host in canonical spelling. */
void	 herald_refusal(struct herald *, const struct ask_msg *,
	    const char *host, const struct verdict *);
/* A name was refused: does it look like data carried out? */
void	 herald_name(struct herald *, const char *name);
void	 herald_note(struct herald *, enum ask_note);
/* fence-net was started again; the wait status of the one before. */
void	 herald_restart(struct herald *, int wstatus);
/* No address is left for names; told once. */
void	 herald_book_full(struct herald *);

#endif
