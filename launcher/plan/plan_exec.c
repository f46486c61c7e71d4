/* How command rules are held while a run lasts, and env.loader. */
#include "launcher/plan/env.h"
#include "launcher/plan/exec_files.h"
#include "launcher/plan/exec_mode.h"
#include "launcher/plan/facts.h"
#include "launcher/plan/plan_work.h"
#include "launcher/plan/shell.h"
#include "platform/base/vec.h"
#include "platform/paths.h"
#include "policy/decide.h"

static void
tell_shared(struct work *w, const struct exec_file *f)
{
	plan_notice(arena_printf(w->arena, "%s:%d:%d: '%s' is not refused to "
	    "programs inside: its file, %s, is also %s; "
	    "command.runtimeExecPolicy \"argv\" tells them apart",
	    f->rule->at.file, f->rule->at.line, f->rule->at.col, f->word,
	    f->path, f->other), w);
}

/* Only files that are nothing else are masked. */
static void
take_programs(struct work *w, const struct exec_files *files,
    struct facts_request *rq)
{
	struct exec_file *v = arena_alloc(w->arena,
	    (files->n + 1) * sizeof *v);

	for (size_t i = 0; i < files->n; i++)
		if (files->v[i].other == NULL)
			v[rq->nprograms++] = files->v[i];
		else if (!files->v[i].is_accepted)
			tell_shared(w, &files->v[i]);
	rq->programs = v;
}

/* The shell of -c is no program of the command's. */
static const char *
shell_of(struct work *w, const struct run_options *ro, char *const *env)
{
	const char *path;
	char **argv;
	struct err e = { 0 };

	return ro->command != NULL && shell_words(w->arena, ro, env, &argv,
	    &e) == 0 && paths_program(w->arena, argv[0], env_get(env, "PATH"),
	    &path, &e) == 0 ? path : NULL;
}

void
plan_exec(struct work *w, const struct run_options *ro, char *const *env,
    struct facts_request *rq)
{
	const struct policy *p = w->plan->policy;
	enum exec_mode mode = exec_mode(p);
	struct exec_files files = { 0 };

	if (mode == EXEC_MODE_PATH) {
		exec_files_find(w->arena, p, env_get(env, "PATH"),
		    shell_of(w, ro, env), &files);
		if (p->command.runtime_exec_policy.value == EXEC_POLICY_AUTO &&
		    exec_files_shared(&files))
			mode = EXEC_MODE_ARGV;
		else
			take_programs(w, &files, rq);
	}
	vec_release(&files);
	w->plan->has_masked_programs = rq->nprograms > 0;
	w->plan->has_exec_rules = mode == EXEC_MODE_ARGV;
	w->plan->spec.wants_exec = !w->plan->is_inside &&
	    (w->plan->has_exec_rules || decide_loader_refuses(p));
}
