#include "launcher/exec/exec_judge.h"

#include <string.h>

#include "platform/base/path.h"
#include "platform/base/str.h"
#include "policy/verdict.h"

/* ---- rules ---- */

struct world {
	const struct exec_step	*step;
	const struct exec_world	*facts;
};

/* The file that the step's own program is; of other names nobody looked. */
static const char *
real_name(void *arg, const char *program)
{
	const struct exec_step *s = ((const struct world *)arg)->step;

	return s->real != NULL && strcmp(program, s->program) == 0 ?
	    path_name(s->real) : NULL;
}

static const char *
ssh_config(void *arg, const char *path, size_t *ret_len)
{
	const struct exec_world *facts = ((const struct world *)arg)->facts;

	return facts->ssh_config(facts->arg, path, ret_len);
}

static const char *
git_alias(void *arg, const char *name)
{
	const struct exec_world *facts = ((const struct world *)arg)->facts;

	return facts->git_alias(facts->arg, name);
}

/*
 * Programs that run what their words name without another execution: the words
 * are looked through.  All others will be asked about again.
 */
static bool
runs_within(const char *name)
{
	static const char *const names[] = { "busybox", "toybox",
	    "coreutils" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	/* ld-linux-x86-64.so.2, ld-2.31.so, ld-musl-x86_64.so.1, ld64.so.2 */
	return strncmp(name, "ld64", 4) == 0 ||
	    (strncmp(name, "ld-", 3) == 0 && strstr(name, ".so") != NULL);
}

/* The built-in list acts before the run only. */
static bool
is_denied(const struct exec_judge *j, const struct exec_step *s,
    const char *program, struct exec_verdict *ret)
{
	struct world own = { s, j->world };
	const struct exec_world world = { .real_name = real_name,
	    .ssh_config = j->world != NULL ? ssh_config : NULL,
	    .git_alias = j->world != NULL ? git_alias : NULL, .arg = &own };

	if (runs_within(path_name(s->real != NULL ? s->real : s->program)))
		decide_argv(j->policy, program, s->argv, s->argc, &world,
		    ret);
	else
		decide_argv_alone(j->policy, program, s->argv, s->argc,
		    &world, ret);
	return ret->v.action == ACTION_DENY &&
	    ret->v.rule.id != RULE_BUILTIN_COMMAND;
}

/*
 * A file of many programs acts by argv[0], whatever the name is that it was
 * executed by.
 */
static bool
is_step_denied(const struct exec_judge *j, const struct exec_step *s,
    struct exec_verdict *ret)
{
	const char *program = s->program[0] != '\0' || s->real == NULL ?
	    s->program : s->real;

	if (is_denied(j, s, program, ret))
		return true;
	return s->argc > 0 && strcmp(path_name(s->argv[0]),
	    path_name(program)) != 0 && is_denied(j, s, NULL, ret);
}

/* ---- the loader's variables ---- */

static bool
is_own(const struct exec_judge *j, const char *var)
{
	for (size_t i = 0; j->envp != NULL && j->envp[i] != NULL; i++)
		if (strcmp(j->envp[i], var) == 0)
			return true;
	return false;
}

static bool
is_env_denied(const struct exec_judge *j, const struct held_exec *x,
    struct verdict *ret)
{
	for (size_t i = 0; i < x->envc; i++) {
		decide_loader(j->policy, x->envp[i], ret);
		if (ret->action == ACTION_DENY && !is_own(j, x->envp[i]))
			return true;
	}
	return false;
}

/* ---- the face ---- */

bool
exec_judge(const struct exec_judge *j, const struct held_exec *x,
    struct exec_judged *ret)
{
	for (unsigned i = 0; j->has_rules && i < x->nsteps; i++) {
		ret->step = &x->step[i];
		if (is_step_denied(j, ret->step, &ret->verdict))
			return true;
	}
	ret->step = &x->step[0];
	memset(&ret->verdict, 0, sizeof ret->verdict);
	return j->has_loader && is_env_denied(j, x, &ret->verdict.v);
}

static const char *
name_of(const struct exec_step *s)
{
	return s->program[0] != '\0' ? s->program : s->real != NULL ?
	    s->real : s->argc > 0 ? s->argv[0] : "?";
}

void
exec_judge_line(const struct exec_judged *x, bool is_final, size_t max,
    struct buf *b)
{
	const struct verdict *v = &x->verdict.v;
	const char *name = name_of(x->step);

	buf_puts(b, "fence: execution of '");
	str_escape(b, name, strnlen(name, 128), '\'');
	buf_puts(b, "' was refused: ");
	rule_put_whole(b, &v->rule);
	if (v->remedy.kind != REMEDY_NONE) {
		buf_puts(b, "; to allow it: ");
		remedy_put(b, &v->remedy);
	}
	if (is_final)
		buf_puts(b, "; this answer is final, a retry will not "
		    "change it");
	if (b->len > max - 1)
		b->data[b->len = max - 1] = '\0';
	buf_putc(b, '\n');
}
