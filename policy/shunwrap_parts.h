/*
 * shunwrap_parts: what the files of shunwrap share; shunwrap.h is the door for
 * everybody else.
 */
#ifndef FENCE_POLICY_SHUNWRAP_PARTS_H
#define FENCE_POLICY_SHUNWRAP_PARTS_H

#include "policy/shunwrap.h"

enum {
	W_ENV = 1,		/* NAME=VALUE before the command */
	W_JOIN = 2,		/* the command is a line, joined with blanks */
	W_APPEND = 4,		/* further words are added (xargs) */
	W_SCAN = 8,		/* options may follow other words */
	W_ONLY_TEXT = 16,	/* no command but in a text option */
	W_ONE_DASH = 32,	/* long options begin with one dash */
	W_NEED = 64,		/* only behind the option `need` */
	W_SUBCOMMAND = 128,	/* its name is the row's second word */
	W_TEMPLATE = 256,	/* the command is no plain one (parallel) */
};

/*
 * Where the command begins: behind the options, and behind `skip` other
 * words.  values: short options with a value; longs: long ones, a blank before
 * and behind each.  text, long_text: options whose value is a shell line.
 */
struct wrapper {
	const char	*name;
	const char	*values, *longs;
	unsigned	 skip, how;
	const char	*text, *long_text;
	const char	*need;		/* the option, or the sub-command */
};

/* One thing more that the command runs; NULL where there is no room. */
struct unwrapped	*unwrap_push(struct unwrap *, enum unwrap_kind);
void	 unwrap_argv(struct unwrap *, const struct sh_word *, size_t n);
void	 unwrap_line(struct unwrap *, struct sh_word text, bool is_posix);
/* A line in a language that is not ours: unseen, and read all the same. */
void	 unwrap_guess(struct unwrap *, struct sh_word text);
void	 unwrap_unseen(struct unwrap *, enum exec_unseen);

/* The same word without its first n bytes. */
struct sh_word	 unwrap_behind(const struct sh_word *, size_t n);
bool	 unwrap_is_dashes(const struct sh_word *);
bool	 unwrap_is_option(const struct sh_word *);
/* The length of NAME of NAME=VALUE, or 0. */
size_t	 unwrap_assignment(const struct sh_word *);
/* Is the word in a list of words with a blank before and behind each? */
bool	 unwrap_has_word(const char *list, const char *word, size_t n);
/* Does an option word before all others begin with that letter? */
bool	 unwrap_has_option(const struct unwrap *, char c);
/* The first word behind the options from word i on. */
size_t	 unwrap_skip_options(struct unwrap *, const struct wrapper *,
	    size_t i, bool *ret_is_over);
/* The words from i on, "{}" unknown, and one that stands for all added. */
void	 unwrap_appended(struct unwrap *, size_t i);

/* By the table; does nothing where the name has no row. */
void	 unwrap_by_row(struct unwrap *);
/* false: not the name of a shell. */
bool	 unwrap_shell(struct unwrap *);
/* A file of commands that may be standard input, or a substitution. */
void	 unwrap_shell_file(struct unwrap *, const struct sh_word *,
	    bool is_posix);
void	 unwrap_git(struct unwrap *);

#endif
