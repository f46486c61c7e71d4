/*
 * opt: the command line as a table.  One row makes the parser, the usage
 * text and the completions.  Options of fence-run end at the first word that
 * is none, so that `fence-run npm -d` gives -d to npm; those of sub-commands
 * may stand anywhere.
 */
#ifndef FENCE_LAUNCHER_OPT_H
#define FENCE_LAUNCHER_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "launcher/options.h"
#include "platform/base/err.h"

enum opt_kind {
	OPT_FLAG,	/* bool */
	OPT_TRI,	/* enum tri: --name, --name=false, or neither */
	OPT_TEXT,	/* const char * */
	OPT_WORD,	/* the same; may be empty, is judged by its user */
	OPT_LIST,	/* struct opt_list */
	OPT_LATER,	/* known, and not in this version */
};

struct opt {
	char		 letter;	/* or 0 */
	const char	*name;		/* without dashes */
	/* The value's name in the usage, or NULL; with "|", all it may be. */
	const char	*value;
	enum opt_kind	 kind;
	size_t		 offset;	/* into the struct the table is for */
	const char	*help;
};

/* Which policy: rows that run and the explaining sub-commands share. */
#define OPT_POLICY_ROWS(type, field)					\
	{ 's', "settings", "FILE", OPT_TEXT,				\
	    offsetof(type, field settings),				\
	    "take the policy from FILE (JSONC, or INI: FILE.ini)" },	\
	{ 't', "template", "NAME", OPT_TEXT,				\
	    offsetof(type, field template_name),			\
	    "take the built-in policy NAME" },				\
	{ 'a', "allow", "DOMAIN[:PORT]", OPT_LIST,			\
	    offsetof(type, field allow),				\
	    "let this run reach DOMAIN; may be repeated" },		\
	{ 0, "host-port", "N", OPT_LIST, offsetof(type, field host_port),\
	    "let this run reach port N of the host's localhost; may be "	\
	    "repeated" },						\
	{ 'w', "write", "PATH", OPT_LIST, offsetof(type, field write),	\
	    "let this run write PATH; may be repeated" },		\
	{ 'r', "read", "PATH", OPT_LIST, offsetof(type, field read),	\
	    "let this run read PATH; may be repeated" },		\
	{ 0, "deny-read", "PATH", OPT_LIST,				\
	    offsetof(type, field deny_read),				\
	    "hide PATH from this run; may be repeated" },		\
	{ 0, "ignore-unknown-keys", NULL, OPT_FLAG,			\
	    offsetof(type, field ignore_unknown_keys),			\
	    "warn of unknown keys in policies instead of refusing" }

extern const struct opt run_opts[];	/* ends with name NULL */

/*
 * Fills `into`, the struct that the table is for.  Sets *ret_rest to the
 * index of the first word that is no option.
 */
int	 opt_parse_table(const struct opt *, int argc, char **argv,
	    void *into, int *ret_rest, struct err *);
/* Options and words in any order: the words move to argv[1] and on. */
int	 opt_parse_words(const struct opt *, int argc, char **argv,
	    void *into, int *ret_nwords, struct err *);
/* With run_opts. */
int	 opt_parse(int argc, char **argv, struct run_options *, int *ret_rest,
	    struct err *);
void	 opt_release(struct run_options *);
void	 opt_usage(const char *program, FILE *);
/* One line for each row that is in this version. */
void	 opt_rows(const struct opt *, FILE *);

#endif
