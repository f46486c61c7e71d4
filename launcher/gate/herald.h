/*
 * herald: what the gate refused or noticed becomes a record, with the process
 * that asked, found by the address it asked from, or by who called the gate
 * a moment ago (callers.h).
 */
#ifndef FENCE_LAUNCHER_HERALD_H
#define FENCE_LAUNCHER_HERALD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/record/suspect.h"
#include "launcher/record/witness.h"
#include "policy/decide.h"
#include "proxy/ask.h"

/* The first six are the owner's; the rest begins as 0. */
struct herald {
	struct witness	*witness;
	pid_t		 jail_pid;	/* any process in the jail's network */
	pid_t		 stop_pid;	/* ancestors end here */
	bool		 is_debug;	/* -d */
	uint16_t	 http_port;	/* of the proxies */
	uint16_t	 socks_port;
	int64_t		 who_second;	/* the budget's current one */
	int64_t		 who_us;	/* spent of it */
	struct askers	*askers;	/* -d: of requests under way */
	bool		 is_book_full;	/* and told */
	struct suspect	 suspect;
};

/*
 * A question was answered with a refusal, by us or by a proxy on the way
 * (ASK_PROXY_*); host in canonical spelling.  Who asked, 0: not
 * known.
 */
pid_t	 herald_refusal(struct herald *, const struct ask_msg *,
	    enum ask_status, const char *host, const struct verdict *);
/*
 * A question was granted: `sys` is why it came to nothing, or 0.  Only what
 * failed in HTTP, and a port of the host's where nobody listens, is worth a
 * record in every run; all of it is told with -d.
 */
struct herald_grant {
	int		 code;		/* of HTTP, 0: no HTTP */
	int64_t		 ms;
	int		 sys;
};
/* One that is told when it is answered: who asked may be gone by then. */
void	 herald_remember(struct herald *, const struct ask_msg *);
void	 herald_grant(struct herald *, const struct ask_msg *,
	    const char *host, const struct verdict *,
	    const struct herald_grant *);
/* A question was granted, or needs no grant: its caller has been heard. */
void	 herald_heard(struct herald *, const struct ask_msg *);
/* A name was refused: does it look like data carried out? */
void	 herald_name(struct herald *, const char *name);
/* Something of a worker's, with who caused it if that one is still there. */
void	 herald_note(struct herald *, const struct ask_msg *);
/* fence-net was started again; the wait status of the one before. */
void	 herald_restart(struct herald *, int wstatus);
/* No address is left for names; told once. */
void	 herald_book_full(struct herald *);
void	 herald_release(struct herald *);

#endif
