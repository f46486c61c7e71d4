/*
 * recent: the last refusals of a run, each with the line that would allow it,
 * in the few words that the gate hands to the command itself.  A refusal of
 * the same object by the same rule takes the place of the one before.  Nothing
 * here tells what lies at a path that is hidden from the command.
 */
#ifndef FENCE_LAUNCHER_RECENT_H
#define FENCE_LAUNCHER_RECENT_H

#include "launcher/record/event.h"
#include "policy/decide.h"

enum { RECENT_MAX = 20, RECENT_RULE = 96, RECENT_REMEDY = 256 };

/* Escaped, valid UTF-8 if the policy's text is. */
struct recent_entry {
	char		what[256];	/* the record, from the deed on */
	char		rule[RECENT_RULE];	/* key and place */
	char		remedy[RECENT_REMEDY];	/* "" where no line helps */
	unsigned	count;
	char		object[256];
	struct rule	by;
};

struct recent {
	struct recent_entry	entry[RECENT_MAX];	/* newest first */
	unsigned		n;
};

/* What is no refusal is not added. */
void	 recent_add(struct recent *, const struct event *);
/* The words alone: "network.allowedDomains f.json:3:5", 'KEY += "VALUE"'. */
void	 recent_words(const struct verdict *, char rule[RECENT_RULE],
	    char remedy[RECENT_REMEDY]);

#endif
