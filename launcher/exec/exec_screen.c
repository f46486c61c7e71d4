#include "launcher/exec/exec_screen.h"

#include "policy/decide.h"

static const char *
ask_ssh_config(void *arg, const char *path, size_t *ret_len)
{
	struct exec_screen *s = arg;

	(void)path;
	(void)ret_len;
	s->has_asked = true;
	return NULL;
}

static const char *
ask_git_alias(void *arg, const char *name)
{
	struct exec_screen *s = arg;

	(void)name;
	s->has_asked = true;
	return NULL;
}

void
exec_screen_init(struct exec_screen *s, const struct exec_watch_config *c)
{
	*s = (struct exec_screen){
		.judge = { .policy = c->policy, .envp = c->envp,
		    .has_rules = c->has_rules,
		    .has_loader = decide_loader_refuses(c->policy) },
		.world = { .ssh_config = ask_ssh_config,
		    .git_alias = ask_git_alias },
		.root_fd = -1,
	};
}

bool
exec_screen_permits(const struct held_call *call, struct arena *a,
    struct held_exec *ret, void *arg)
{
	struct exec_screen *s = arg;
	struct exec_judged judged;

	if (s->root_fd < 0)
		s->root_fd = exec_root(call->tid);
	s->world.arg = s;
	s->judge.world = &s->world;
	s->has_asked = false;
	if (held_exec_read(s->root_fd, call, s->judge.has_loader, a,
	    ret) != 0 || exec_judge(&s->judge, ret, &judged) || s->has_asked)
		return false;
	/* The tracer does not look at the environment. */
	if (s->judge.has_loader)
		ret->exe = NULL;
	return true;
}
