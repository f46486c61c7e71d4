/*
 * input: what an agent tells its hook about a tool call, one JSON object, in
 * the spellings of all agents at once.  Pure; hostile bytes are expected (the
 * model wrote the command).
 */
#ifndef FENCE_LAUNCHER_HOOK_INPUT_H
#define FENCE_LAUNCHER_HOOK_INPUT_H

#include <stddef.h>

#include "platform/base/arena.h"
#include "platform/base/err.h"
#include "platform/base/jsontree.h"

enum { HOOK_INPUT_MAX = 16 * 1024 * 1024 };

/* What a tool does, whatever the agent calls it. */
enum tool_kind {
	TOOL_OTHER,		/* nothing that we judge */
	TOOL_SHELL,		/* command */
	TOOL_WRITE,		/* paths */
	TOOL_READ,		/* paths */
	TOOL_FETCH,		/* urls */
};

/* Whose spelling the object is in, where two agents share a hook. */
enum input_kind { INPUT_PLAIN, INPUT_CLAUDE, INPUT_CURSOR };

struct hook_input {
	enum input_kind	 kind;
	enum tool_kind	 tool;
	const char	*tool_name;	/* for people; "" if there is none */
	const char	*event;		/* "" if there is none */
	const char	*cwd;		/* of the event; "" if there is none */
	const char	*tool_cwd;	/* of the tool; "" if there is none */
	const char	*command;	/* TOOL_SHELL; may be "" */
	size_t		 command_len;
	const char	**paths;	/* TOOL_WRITE, TOOL_READ, TOOL_FETCH */
	size_t		 npaths;
	/* The tool's own object, for the fields that a rewrite keeps. */
	const struct jnode *fields;
	const char	*command_key;	/* which field holds the command */
};

/*
 * An event that no hook of ours acts on is TOOL_OTHER.  -1: no JSON, or what
 * the tool must have is missing or of another type; the text is fit for the
 * agent.  All strings are in the arena.
 */
int	 hook_input_parse(struct arena *, const char *text, size_t len,
	    struct hook_input *ret, struct err *);

#endif
