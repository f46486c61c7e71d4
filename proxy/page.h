/*
 * page: what the gate itself has to say to a program, as text for people and
 * agents or as JSON: why a request was refused, and at http://fence.internal/
 * what was refused lately, and why a host would be.  Pure.  Names and paths in
 * it are the jail's own bytes: none reaches the reader as more than text.
 */
#ifndef FENCE_PROXY_PAGE_H
#define FENCE_PROXY_PAGE_H

#include <stdbool.h>

#include "platform/base/buf.h"
#include "proxy/ask.h"

struct page_refusal {
	int		 code;
	const char	*phrase;
	const char	*error;		/* X-Fence-Error */
	const char	*detail;
	const char	*reason, *rule, *remedy;	/* "" for none */
};

void	 page_refusal(struct buf *, const struct page_refusal *, bool is_json);

/* One more entry of the list: the answer to ASK_RECENT for nth, from 0. */
void	 page_recent(struct buf *, const struct ask_answer *, unsigned nth,
	    bool is_json);
/* May the command talk to a host?  "" for what there is none of. */
struct page_why {
	bool		 is_denied;
	const char	*host;
	uint16_t	 port;
	const char	*reason, *rule, *remedy;
};

void	 page_why(struct buf *, const struct page_why *, bool is_json);

/* The end of the list, of which there are n entries. */
void	 page_recent_end(struct buf *, unsigned n, bool is_json);

#endif
