#include "launcher/cmd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher/exit.h"
#include "launcher/opt.h"
#include "launcher/plan.h"
#include "launcher/run.h"
#include "launcher/trace.h"
#include "platform/fd.h"

extern char **environ;

static int
dry_run(const struct plan *plan)
{
	struct buf b;

	buf_init(&b, 0);
	plan_print(plan, &b);
	fwrite(b.data, 1, b.len, stdout);
	buf_release(&b);
	return 0;
}

static void
print_notices(const struct plan *plan)
{
	for (size_t i = 0; i < plan->nnotices; i++)
		fprintf(stderr, "fence: %s\n", plan->notices[i]);
}

static int
run_planned(const struct run_options *ro, char **argv, struct err *e)
{
	auto_fd trace_fd = -1;
	struct plan plan;
	int status = 0;

	/* Before the plan, which makes the file read-only inside. */
	if (ro->trace_file != NULL && !ro->dry_run &&
	    trace_open(ro->trace_file, &trace_fd, e) != 0)
		return (int)e->code;
	if (plan_make(ro, argv, environ, &plan, e) != 0)
		return (int)e->code;
	print_notices(&plan);
	if (ro->dry_run)
		status = dry_run(&plan);
	else if (run_command(ro, &plan, trace_fd, &status, e) != 0)
		status = (int)e->code;
	plan_release(&plan);
	return status;
}

static int
run_options(const char *program, const struct run_options *ro, char **argv,
    struct err *e)
{
	if (ro->help && strcmp(program, "fence") == 0)
		return cmd_help(program, 0, NULL, e);
	if (ro->help) {
		opt_usage(program, stdout);
		return 0;
	}
	if (ro->version) {
		printf("fence %s\n", FENCE_VERSION);
		return 0;
	}
	if (ro->list_templates)
		return cmd_template_list(program, 1, (char *[]){
		    (char *)"list", NULL }, e);
	if (argv[0] == NULL) {
		err_set(e, ERR_USAGE, "no command given");
		err_hint(e, "%s [options] [--] command [argument ...]",
		    program);
		return EXIT_USAGE;
	}
	return run_planned(ro, argv, e);
}

int
cmd_run(const char *program, int argc, char **argv, struct err *e)
{
	struct run_options ro = { 0 };
	int rest = 0, status;

	if (opt_parse(argc, argv, &ro, &rest, e) != 0)
		status = (int)e->code;
	else
		status = run_options(program, &ro, argv + rest, e);
	opt_release(&ro);
	return status;
}
