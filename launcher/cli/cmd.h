/*
 * cmd: the sub-commands of fence, one file each, and the one table of them:
 * main, `fence help` and the completions read it.  A command prints its own
 * results and returns the exit status; an error it leaves in err is printed
 * by main.
 */
#ifndef FENCE_LAUNCHER_CMD_H
#define FENCE_LAUNCHER_CMD_H

#include "launcher/cli/opt.h"
#include "platform/base/err.h"

/* argv[0] is the program or the sub-command; options begin at argv[1]. */
typedef int	 cmd_fn(const char *program, int argc, char **argv,
		    struct err *);

struct command {
	const char	*name;
	cmd_fn		*fn;		/* NULL: not in this version */
	const char	*args;		/* for the usage, or NULL */
	const char	*help;
	const struct opt *opts;		/* or NULL */
	const struct command *subs;	/* ends with name NULL; or NULL */
	/*
	 * The words that may follow, in one string; "@templates" and
	 * "@agents" stand for those of a table.  NULL: files.
	 */
	const char	*words;
};

extern const struct command cmd_table[];	/* ends with name NULL */
extern const struct command config_table[];
extern const struct command template_table[];
extern const struct command hooks_table[];
extern const struct command shadow_table[];
extern const struct opt	why_opts[];
extern const struct opt	doctor_opts[];
extern const struct opt	hook_opts[];
extern const struct opt	import_opts[];
extern const struct opt	trace_opts[];
extern const struct opt	allow_opts[];

/* In a table; NULL if there is none of that name. */
const struct command	*cmd_find(const struct command *, const char *name);
/* argv[1] says which of a command's subs; the rest is that one's. */
int		 cmd_sub(const char *program, const struct command *subs,
		    int argc, char **argv, struct err *);

cmd_fn		 cmd_run;
cmd_fn		 cmd_help;
cmd_fn		 cmd_config;
cmd_fn		 cmd_template;
cmd_fn		 cmd_template_list;
cmd_fn		 cmd_why;
cmd_fn		 cmd_doctor;
cmd_fn		 cmd_hook;
cmd_fn		 cmd_hooks;
cmd_fn		 cmd_import;
cmd_fn		 cmd_shadow;
cmd_fn		 cmd_trace;
cmd_fn		 cmd_allow;
cmd_fn		 cmd_hook_flag;		/* fence --claude-pre-tool-use */
cmd_fn		 cmd_features;		/* fence-run --linux-features */
cmd_fn		 cmd_completion;

#endif
