/*
 * options: what the command line of fence-run asked for, as it was typed.
 * launcher/cli/opt.c fills it; planning and the run read it and never change
 * it.  The strings are those of argv.
 */
#ifndef FENCE_LAUNCHER_OPTIONS_H
#define FENCE_LAUNCHER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/policy.h"

/* Values of an option that may be repeated; they are argv's. */
struct opt_list {
	const char	**v;
	size_t		  n, cap;
};

struct run_options {
	const char	*settings;	/* --settings FILE */
	const char	*template_name;	/* --template NAME */
	const char	*log_file;	/* --fence-log-file PATH */
	const char	*trace_file;	/* --trace-file FILE|fd:N|unix:PATH */
	const char	*command;	/* -c: a line for a shell */
	const char	*shell;		/* --shell default|user */
	const char	*chdir;
	const char	*engine;	/* --engine bwrap|native */
	bool		 shell_login;
	bool		 monitor;	/* -m: tell refusals as they happen */
	bool		 debug;		/* -d: tell everything */
	bool		 watch_policy;
	bool		 dry_run;
	bool		 ignore_unknown_keys;
	bool		 list_templates;
	bool		 linux_features;
	bool		 help;
	bool		 version;
	struct opt_list	 allow;		/* one-shot: -a DOMAIN[:PORT] */
	struct opt_list	 host_port;	/* --host-port N */
	struct opt_list	 write;		/* -w PATH */
	struct opt_list	 read;		/* -r PATH */
	struct opt_list	 deny_read;
	struct opt_list	 port;		/* -p [ADDR:]PORT[:INSIDE] */
	const char	*model;		/* --service-execution-model */
	struct opt_list	 expose;	/* --expose-host-path PATH */
	struct opt_list	 expose_rw;
	struct opt_list	 env;		/* --env NAME[=VALUE] */
	struct opt_list	 keep_fd;
	enum tri	 force_new_session;
};

#endif
