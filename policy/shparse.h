/*
 * shparse: what the levels of the shell parser share: words (shlex.c), their
 * quotes and expansions (shexpand.c), here-documents (shheredoc.c), commands
 * (shgrammar.c).  shwords.h is the door for everybody else.
 */
#ifndef FENCE_POLICY_SHPARSE_H
#define FENCE_POLICY_SHPARSE_H

#include "platform/base/buf.h"
#include "policy/shwords.h"

enum {
	SHPARSE_EOF = -1,
	SHPARSE_HEREDOCS = 32,
	/* What a text may cost: so many steps, and some for each byte. */
	SHPARSE_STEPS = 32768,
	SHPARSE_STEPS_PER_BYTE = 16,
};

struct shcommands { struct sh_command *v; size_t n, cap; };
struct shunseens { struct sh_unseen *v; size_t n, cap; };

/* Shared by a text and the texts inside of its backquotes. */
struct shout {
	struct arena		*arena;
	struct shcommands	 commands;
	struct shunseens	 unseen;
	/* Bytes that were looked at again, and levels. */
	size_t			 steps, max_steps;
	bool			 is_dialect;
};

struct shparse {
	struct shout	*out;
	enum sh_dialect	 dialect;
	const char	*s;
	size_t		 len, pos;
	/* Of s in the line; the same for all of s where is_moved. */
	size_t		 base;
	bool		 is_moved;
	unsigned	 depth;
	/* Here-documents whose bodies begin behind the next newline. */
	struct sh_redirect *pending[SHPARSE_HEREDOCS];
	size_t		 npending, first_pending;
	/* What the next command reads. */
	enum sh_input	 in;
	size_t		 from;
	bool		 is_failed;
};

/* A word as it grows. */
struct shgrow {
	struct buf	 text;
	bool		 has_expansion, is_quoted, may_split;
	size_t		 head, tail_at;
	size_t		 name_len;	/* NAME of NAME=VALUE, or 0 */
};

enum shword_flags {
	SHWORD_ASSIGN = 1,	/* NAME=VALUE is one */
	SHWORD_REGEX = 2,	/* behind =~ */
	SHWORD_PATTERN = 4,	/* of case: extended globs always */
};

/* ---- shlex.c ---- */

/* The k-th character from here, line continuations left out; or EOF. */
int	 shlex_peek(const struct shparse *, size_t k);
void	 shlex_skip(struct shparse *, size_t n);
/* Blanks, and a comment. */
void	 shlex_blanks(struct shparse *);
size_t	 shlex_offset(const struct shparse *, size_t pos);
bool	 shlex_is_end(int c);	/* ends a word that is not quoted */
/* Always false. */
bool	 shlex_fail(struct shparse *, enum exec_unseen);
/* One word; empty (ret->text NULL) where none begins. */
bool	 shlex_word(struct shparse *, unsigned flags, struct sh_word *ret,
	    size_t *ret_name_len);
/* Back to an earlier state of p, forgetting what was found since. */
bool	 shlex_rewind(struct shparse *, const struct shparse *then,
	    size_t ncommands, size_t nunseen);

/* One level deeper; false: too deep. */
bool	 shlex_enter(struct shparse *);
bool	 shlex_is_name(int c, bool is_first);
/* To the character that shlex_peek() sees. */
void	 shlex_join(struct shparse *);

/* ---- shexpand.c ---- */

void	 shgrow_add(struct shgrow *, int c);
/* From text offset `from` on, the word is an expansion's. */
void	 shgrow_mark(struct shgrow *, size_t from, bool may_split);
/* The text of p from there to here. */
void	 shgrow_slice(struct shgrow *, const struct shparse *p, size_t from);
struct sh_word	 shgrow_word(struct shparse *, const struct shgrow *);

bool	 shexpand_single(struct shparse *, struct shgrow *);
bool	 shexpand_ansi(struct shparse *, struct shgrow *);
/* Text inside double quotes, or of a here-document, up to `end`. */
bool	 shexpand_quoted(struct shparse *, struct shgrow *, int end);
bool	 shexpand_dollar(struct shparse *, struct shgrow *, bool is_quoted);
bool	 shexpand_backquotes(struct shparse *, struct shgrow *,
	    bool is_quoted);
/* Behind "$(" and "<(": commands, up to and with the ")". */
bool	 shexpand_commands(struct shparse *);
/* Behind "$[" and "NAME[". */
bool	 shexpand_bracket(struct shparse *);
/* One element of an expression or of ${...}: quotes and expansions. */
bool	 shexpand_inner(struct shparse *, bool is_quoted, bool has_single);
/*
 * $((...)) and ((...)) behind their first two parentheses: 1, 0 no, -1.  2: it
 * may be, but bash has been seen to take such a text for commands.
 */
int	 shlex_arithmetic(struct shparse *);
/* ---- shheredoc.c ---- */

/* The bodies of pending here-documents; pos is behind a newline. */
bool	 shlex_heredocs(struct shparse *);

/* ---- shgrammar.c ---- */

/* Commands until a ')' (not eaten), or until the end. */
bool	 shgrammar_list(struct shparse *);
bool	 shgrammar_all(struct shparse *);

#endif
