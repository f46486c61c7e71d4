/*
 * agent: the coding agents that fence has a hook for, and what is known of
 * each: where its settings lie, which entry calls us, how it wants an answer.
 * THE table of agents; options, texts, goldens and the manual follow its rows.
 */
#ifndef FENCE_LAUNCHER_AGENT_H
#define FENCE_LAUNCHER_AGENT_H

#include <stdbool.h>
#include <stddef.h>

/* How an answer is spelled (answer.c). */
enum dialect {
	DIALECT_CLAUDE,		/* hookSpecificOutput */
	DIALECT_CODEX,		/* the same for Codex and Qwen alone */
	DIALECT_GEMINI,
	DIALECT_OPENCODE,	/* of our plugin */
	DIALECT_COPILOT,
	DIALECT_CURSOR,
	DIALECT_CRUSH,
	DIALECT_WINDSURF,	/* an exit status and stderr */
	DIALECT_HERMES,
};

/* How the file is written that names the hook. */
enum agent_file {
	AGENT_JSON,		/* settings of the agent's, merged into */
	AGENT_OWN,		/* a file of ours alone: OpenCode's plugin */
	AGENT_YAML,		/* Hermes */
};

struct agent {
	const char	*name;		/* "claude": the word and the option */
	const char	*title;		/* "Claude" */
	const char	*noun;		/* "hook", "plugin", "hooks" */
	enum dialect	 dialect;
	enum agent_file	 file;
	const char	*path;		/* below the home */
	/* A variable that stands for the first folder of path, or NULL. */
	const char	*folder_env;
	/*
	 * The entries as JSON text: "%s" at a command line, "%p" at the
	 * program and "%a" at its arguments; events[] says of which lists.
	 */
	const char	*entry;
	const char	*events[4];	/* below "hooks"; ends with NULL */
	bool		 has_version;	/* "version": 1 beside "hooks" */
	/* The option by which the Go program's entries call it, or NULL. */
	const char	*old_flag;
	bool		 can_rewrite;
	/* A call of its shell tool, "%s" at the command, for a trial. */
	const char	*trial;
	/* What to tell who has installed it, or NULL. */
	const char	*advice;
};

extern const struct agent agents[];	/* ends with name NULL */

const struct agent	*agent_find(const char *name);	/* or NULL */
/* By the option of the Go program, "--claude-pre-tool-use"; or NULL. */
const struct agent	*agent_by_flag(const char *flag);

#endif
