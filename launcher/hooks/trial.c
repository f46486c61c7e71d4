/* The hook, run once as the agent would run it, with a denied command. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/exec/preflight.h"
#include "launcher/hooks/install_parts.h"
#include "launcher/plan/request.h"
#include "platform/base/io.h"
#include "platform/base/str.h"
#include "policy/resolve.h"

/*
 * A command that the policy denies by a rule of its own; or what every hook
 * refuses.
 */
static const char *
denied_command(const struct install *in)
{
	const char *ret = "fence -c true";
	struct preflight ask = { .arena = in->arena, .env = in->env };
	struct resolve_request req;
	struct exec_verdict v;
	struct resolved res;
	struct err e;

	if (request_make(in->arena, &in->opts.run, in->env, &req, &e) != 0 ||
	    policy_resolve(&req, &res, &e) != 0)
		return ret;
	ask.policy = res.policy;
	ask.cwd = req.cwd;
	for (size_t i = 0; i < res.policy->command.deny.n; i++) {
		const char *text = res.policy->command.deny.v[i].text;

		ask.line = text;
		preflight_ask(&ask, &v);
		if (v.v.action == ACTION_DENY) {
			ret = arena_strdup(in->arena, text);
			break;
		}
	}
	resolved_release(&res);
	return ret;
}

static const char *
question(const struct install *in, const char *command)
{
	const char *p = strstr(in->agent->trial, "%s"), *ret;
	struct buf b;

	buf_init(&b, 0);
	buf_add(&b, in->agent->trial, (size_t)(p - in->agent->trial));
	json_put_string(&b, command, strlen(command));
	buf_puts(&b, p + 2);
	ret = arena_strndup(in->arena, b.data, b.len);
	buf_release(&b);
	return ret;
}

static pid_t
start(const struct install *in, const struct entry_call *c, int in_fd,
    int out_fd)
{
	posix_spawn_file_actions_t acts;
	char *argv[12];
	size_t n = 0;
	pid_t pid = -1;

	argv[n++] = arena_strdup(in->arena, c->program);
	for (size_t i = 0; c->args[i] != NULL; i++)
		argv[n++] = arena_strdup(in->arena, c->args[i]);
	argv[n] = NULL;
	posix_spawn_file_actions_init(&acts);
	posix_spawn_file_actions_adddup2(&acts, in_fd, 0);
	posix_spawn_file_actions_adddup2(&acts, out_fd, 1);
	posix_spawn_file_actions_adddup2(&acts, out_fd, 2);
	if (posix_spawn(&pid, c->program, &acts, NULL, argv, in->env) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&acts);
	return pid;
}

/* The question is shorter than a pipe, so nobody waits for the other. */
static int
ask(const struct install *in, const char *text, struct buf *answer,
    int *ret_status)
{
	int to[2], from[2], rc = -1;
	struct entry_call call;
	pid_t pid;

	install_call(in, &call);
	if (pipe2(to, O_CLOEXEC) != 0)
		return -1;
	if (pipe2(from, O_CLOEXEC) == 0) {
		(void)io_write_all(to[1], text, strlen(text));
		close(to[1]);
		to[1] = -1;
		pid = start(in, &call, to[0], from[1]);
		close(from[1]);
		if (pid > 0) {
			rc = buf_read(answer, from[0]);
			while (waitpid(pid, ret_status, 0) < 0 &&
			    errno == EINTR)
				continue;
		}
		close(from[0]);
	}
	close(to[0]);
	if (to[1] >= 0)
		close(to[1]);
	return rc;
}

static bool
is_refusal(const struct install *in, int status, const char *answer)
{
	bool ended = WIFEXITED(status);

	if (in->agent->dialect == DIALECT_WINDSURF)
		return ended && WEXITSTATUS(status) == 2;
	return ended && WEXITSTATUS(status) == 0 &&
	    (strstr(answer, "\"deny\"") != NULL ||
	    strstr(answer, "\"block\"") != NULL);
}

int
install_try(const struct install *in, const char **ret_what,
    const char **ret_answer, struct err *e)
{
	int status = 0, rc = 0;
	struct buf b;

	*ret_what = denied_command(in);
	buf_init(&b, 64 * 1024);
	if (ask(in, question(in, *ret_what), &b, &status) != 0) {
		err_set(e, ERR_POLICY, "cannot run the hook");
		e->sys = errno;
		rc = -1;
	} else if (!is_refusal(in, status, b.data)) {
		err_set(e, ERR_POLICY, "the hook is installed, but does not "
		    "refuse '%.60s'", *ret_what);
		err_hint(e, "it said: %.120s", b.data);
		rc = -1;
	}
	while (b.len > 0 && b.data[b.len - 1] == '\n')
		b.len--;
	*ret_answer = arena_strndup(in->arena, b.data, b.len);
	buf_release(&b);
	return rc;
}
