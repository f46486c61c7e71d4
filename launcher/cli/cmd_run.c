#include "launcher/cli/cmd.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/exit.h"
#include "launcher/run/nested.h"
#include "launcher/plan/kept_fds.h"
#include "launcher/log.h"
#include "launcher/cli/opt.h"
#include "launcher/plan/plan.h"
#include "launcher/run/prepare.h"
#include "launcher/run/run.h"
#include "launcher/run/startup.h"
#include "launcher/plan/shell.h"
#include "launcher/trace.h"
#include "platform/fd.h"

enum { REPLANS = 3 };

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
		log_say("%s", plan->notices[i]);
}

/* As if we had been started there: policy, workspace and command. */
static int
enter(const char *dir, struct err *e)
{
	char path[PATH_MAX];

	if (chdir(dir) != 0 || getcwd(path, sizeof path) == NULL) {
		err_sys(e, errno, "--chdir: cannot enter '%s'", dir);
		e->code = ERR_POLICY;
		return -1;
	}
	if (setenv("PWD", path, 1) != 0)
		return err_sys(e, errno, "--chdir");
	return 0;
}

/* What is not the policy's business, before anything is opened. */
static int
check_options(const struct run_options *ro, char *const *argv, struct err *e)
{
	if (shell_check(ro, argv, e) != 0 || kept_fds_check(ro, e) != 0)
		return -1;
	return ro->chdir != NULL ? enter(ro->chdir, e) : 0;
}

static int
open_files(const struct run_options *ro, int *trace_fd, struct err *e)
{
	if (log_open(ro->log_file, getenv("FENCE_LOG_FILE"), e) != 0)
		return -1;
	return ro->trace_file == NULL ? 0 : trace_open(ro->trace_file,
	    trace_fd, e);
}

/* What stays while a run is planned once, or again. */
struct attempts {
	const struct run_options	*ro;
	char				**argv;
	int				 trace_fd;
	bool				 makes_jail;
	struct prepared			*prepared;	/* NULL without a jail */
	bool				 has_begun;
};

/* A pipe has nothing to be emptied of. */
static void
empty_files(const struct run_options *ro, int trace_fd)
{
	log_begin();
	if (ro->trace_file != NULL && trace_is_file(ro->trace_file))
		(void)!ftruncate(trace_fd, 0);
}

/* Notices and record files are handled once, however often a run is planned. */
static void
begin(struct attempts *a, const struct plan *plan)
{
	if (a->has_begun)
		return;
	a->has_begun = true;
	if (!a->ro->dry_run)
		empty_files(a->ro, a->trace_fd);
	if (a->prepared != NULL)
		prepare_tell(a->prepared);
	print_notices(plan);
	if (a->ro->debug)
		startup_tell(plan, environ);
}

/* Where the plan needs directories that are missing, they are made first. */
static int
plan_whole(const struct run_options *ro, char **argv,
    struct prepared *prepared, struct plan *ret, struct err *e)
{
	if (plan_make(ro, argv, environ, ret, e) != 0)
		return -1;
	if (prepared == NULL || ret->nmissing == 0)
		return 0;
	if (prepare_make(prepared, ret, e) == 0)
		return plan_again(ro, argv, environ, ret, e);
	plan_release(ret);
	return -1;
}

/* Does what is planned. */
static int
run_plan(const struct run_options *ro, const struct plan *plan,
    struct jail_ahead *ahead, const struct run_fds *fds, bool *ret_again,
    struct err *e)
{
	struct run_end end = { 0 };
	int rc;

	if (ro->dry_run)
		return dry_run(plan);
	if (plan->is_inside)
		return nested_run(ro, plan, e) != 0 ? (int)e->code : 0;
	rc = run_command(ro, plan, ahead, fds, &end, e);
	*ret_again = end.is_outdated;
	return rc != 0 ? (int)e->code : end.status;
}

/*
 * Plans, and does what is planned.  The jail's network is begun beside the
 * planning, and before everything else.
 */
static int
run_once(struct attempts *a, bool *ret_again, struct err *e)
{
	struct jail_ahead *ahead = a->makes_jail ? jail_ahead() : NULL;
	struct run_fds fds = { .trace = a->trace_fd };
	struct plan plan;
	int status;

	if (a->makes_jail && a->prepared == NULL)
		a->prepared = prepare_new(environ);
	if (plan_whole(a->ro, a->argv, a->prepared, &plan, e) == 0) {
		/* A way that leads elsewhere was refused by now. */
		begin(a, &plan);
		fds.made = prepare_fd(a->prepared);
		fds.kept = prepare_kept_fd(a->prepared);
		status = run_plan(a->ro, &plan, ahead, &fds, ret_again, e);
		plan_release(&plan);
	} else {
		*ret_again = plan.is_outdated;
		status = (int)e->code;
	}
	jail_ahead_free(ahead);
	return status;
}

/*
 * A plan holds for the files that it judged.  Where another file lies at one
 * of its paths by then, everything is judged anew; nothing is left of the plan
 * before.
 */
static int
run_until_steady(struct attempts *a, struct err *e)
{
	for (unsigned i = 0;; i++) {
		bool again = false;
		int status = run_once(a, &again, e);

		if (!again)
			return status;
		if (i == REPLANS)
			break;
		*e = (struct err){ 0 };
	}
	e->sys = 0;
	err_hint(e, "something renames there while the jail is built, and did "
	    "each of %u times: end it, or start again", REPLANS + 1);
	return (int)e->code;
}

static int
run_planned(const struct run_options *ro, char **argv, struct err *e)
{
	struct attempts a = { .ro = ro, .argv = argv, .trace_fd = -1 };
	int status;

	if (check_options(ro, argv, e) != 0)
		return (int)e->code;
	if ((ro->trace_file != NULL || ro->watch_policy) && jail_is_inside()) {
		err_set(e, ERR_POLICY, "%s: already inside fence",
		    ro->watch_policy ? "--watch-policy" : "--trace-file");
		err_hint(e, "the outer fence-run keeps the %s",
		    ro->watch_policy ? "network" : "record");
		return (int)e->code;
	}
	/* Before the plan, which makes the files read-only inside. */
	if (!ro->dry_run && open_files(ro, &a.trace_fd, e) != 0) {
		log_undo();
		return (int)e->code;
	}
	a.makes_jail = !ro->dry_run && !jail_is_inside();
	status = run_until_steady(&a, e);
	if (!ro->dry_run && !a.has_begun) {
		log_undo();
		trace_undo(a.trace_fd);
	}
	prepare_free(a.prepared);
	fd_close(&a.trace_fd);
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
	if (ro->linux_features)
		return cmd_features(program, 0, NULL, e);
	if (ro->list_templates)
		return cmd_template_list(program, 1, (char *[]){
		    (char *)"list", NULL }, e);
	if (argv[0] == NULL && ro->command == NULL) {
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
