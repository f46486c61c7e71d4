/*
 * shwords: the simple commands of a shell line (POSIX sh and bash), for rules
 * about commands.  Every one is listed: those in pipelines, compound commands,
 * functions, substitutions and unquoted here-documents, too.  Nothing is
 * expanded or run.  What cannot be parsed is listed as unseen, never dropped.
 *
 * Text, nesting and number of commands have ceilings, so hostile text costs
 * bounded time and stack.  Everything lives in the arena given.
 */
#ifndef FENCE_POLICY_SHWORDS_H
#define FENCE_POLICY_SHWORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/unseen.h"

struct arena;

enum {
	SHWORDS_MAX_BYTES = 256 * 1024,
	SHWORDS_MAX_DEPTH = 128,
	SHWORDS_MAX_COMMANDS = 4096,
};

struct sh_word {
	/* Without its quotes; expansions as they are written. */
	const char	*text;
	size_t		 len;
	/* So many bytes at the front, and at the end, are no expansion's. */
	size_t		 head, tail;
	bool		 is_whole;	/* no expansion; head, tail: len */
	bool		 is_quoted;	/* a quote or a backslash was in it */
	bool		 may_split;	/* it may become none, or many */
};

enum sh_op {
	SH_OP_IN, SH_OP_OUT, SH_OP_APPEND, SH_OP_DUP, SH_OP_BOTH,
	SH_OP_HEREDOC, SH_OP_HERESTRING,
};

struct sh_redirect {
	enum sh_op	 op;
	int		 fd;		/* -1: as the operator says */
	struct sh_word	 word;		/* file; delimiter; here-string */
	struct sh_word	 body;		/* text NULL: it never came */
	bool		 strip_tabs;	/* <<- */
};

/* Where a command's standard input comes from, as far as the line says. */
enum sh_input {
	SH_INPUT_OUTER,			/* whatever the line has */
	SH_INPUT_FILE,			/* a file, or a descriptor */
	SH_INPUT_TEXT,			/* here-document or -string */
	SH_INPUT_COMMAND,		/* the pipe from command `from` */
	SH_INPUT_OTHER,			/* a pipe from something else */
};

struct sh_command {
	size_t			 offset;	/* in the line */
	const struct sh_word	*words;
	size_t			 nwords;	/* 0: assignments alone */
	const struct sh_word	*assigns;	/* NAME=VALUE */
	size_t			 nassigns;
	struct sh_redirect	**redirects;
	size_t			 nredirects;
	enum sh_input		 in;
	size_t			 from;
	const struct sh_redirect *input;	/* SH_INPUT_TEXT */
};

struct sh_unseen {
	enum exec_unseen	 why;
	size_t			 offset;
};

enum sh_dialect { SH_BASH, SH_POSIX };

struct sh_line {
	struct sh_command	*v;
	size_t			 n;
	struct sh_unseen	*unseen;
	size_t			 nunseen;
	/* A POSIX shell may read the text as other commands. */
	bool			 is_dialect;
};

/*
 * The commands of text in their order; those nested in a word follow the
 * command that has the word.
 */
void	 shwords_parse(struct arena *, enum sh_dialect, const char *text,
	    size_t len, struct sh_line *ret);
/* A word without expansions. */
struct sh_word	 shwords_literal(const char *text);
/* Several words joined with spaces, as eval and ssh do. */
struct sh_word	 shwords_join(struct arena *, const struct sh_word *,
		    size_t n);

#endif
