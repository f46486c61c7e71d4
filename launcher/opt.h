/*
 * opt: the command line as a table.  One row makes the parser, the usage
 * text and the manual's list.  Options end at the first word that is none,
 * so that `fence-run npm -d` gives -d to npm.
 */
#ifndef FENCE_LAUNCHER_OPT_H
#define FENCE_LAUNCHER_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "platform/base/err.h"

struct run_options {
	const char	*settings;	/* --settings FILE */
	const char	*trace_file;	/* --trace-file FILE|fd:N|unix:PATH */
	bool		 monitor;	/* -m: tell refusals as they happen */
	bool		 dry_run;
	bool		 help;
	bool		 version;
};

enum opt_kind {
	OPT_FLAG,	/* bool */
	OPT_TEXT,	/* const char * */
	OPT_LATER,	/* known, and not in this version */
};

struct opt {
	char		 letter;	/* or 0 */
	const char	*name;		/* without dashes */
	const char	*value;		/* the value's name in the usage, or NULL */
	enum opt_kind	 kind;
	size_t		 offset;	/* into struct run_options */
	const char	*help;
};

extern const struct opt run_opts[];	/* ends with name NULL */

/* Sets *ret_rest to the index of the first word that is no option. */
int	 opt_parse(int argc, char **argv, struct run_options *, int *ret_rest,
	    struct err *);
void	 opt_usage(const char *program, FILE *);

#endif
