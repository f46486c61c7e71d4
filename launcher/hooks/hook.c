#include "launcher/hooks/hook.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "launcher/exec/preflight.h"
#include "launcher/hooks/line.h"
#include "launcher/plan/env.h"
#include "launcher/plan/request.h"
#include "launcher/record/explain.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/paths.h"
#include "policy/decide_exec.h"
#include "policy/host.h"
#include "policy/resolve.h"

/* One call of the hook. */
struct call {
	struct arena		*arena;
	const struct agent	*agent;
	const struct hook_options *opts;
	char			**env;
	struct hook_input	 in;
	struct resolve_request	 req;
	const struct policy	*policy;
	struct answer		 answer;
};

/* ---- words ---- */

/* Escaped: what the agent's model wrote may be in it. */
static void
put_part(struct buf *b, const char *before, const char *text,
    const char *after)
{
	if (text[0] == '\0')
		return;
	buf_puts(b, before);
	str_escape(b, text, strlen(text), 0);
	buf_puts(b, after);
}

/* "blocked by fence policy (Bash): 'git push': " */
static void
put_refusal(struct buf *b, const struct call *c, const char *what)
{
	put_part(b, "blocked by fence policy (", c->in.tool_name[0] != '\0' ?
	    c->in.tool_name : c->agent->name, "): '");
	str_escape(b, what, strnlen(what, 200), '\'');
	buf_puts(b, "': ");
}

static void
fail(struct call *c, const struct err *e)
{
	struct buf b;

	buf_init(&b, 0);
	buf_puts(&b, "fence: ");
	put_part(&b, "", e->where, ": ");
	put_part(&b, "", e->key, ": ");
	put_part(&b, "", e->msg, "");
	put_part(&b, ": ", e->sys != 0 ? strerror(e->sys) : "", "");
	put_part(&b, " (", e->hint, ")");
	c->answer = (struct answer){ ANSWER_ERROR,
	    arena_strndup(c->arena, b.data, b.len) };
	buf_release(&b);
}

/*
 * "blocked by fence policy (Bash): 'git push': command.deny[0] "git push"
 * f:3:5; to allow it: command.allow += "git push"".
 */
static void
deny(struct call *c, const char *what, const struct verdict *v)
{
	struct buf b;

	buf_init(&b, 0);
	put_refusal(&b, c, what);
	if (v->reason[0] != '\0')
		buf_printf(&b, "%s, ", v->reason);
	rule_put_whole(&b, &v->rule);
	if (v->remedy.kind != REMEDY_NONE) {
		buf_puts(&b, "; to allow it: ");
		remedy_put(&b, &v->remedy);
	}
	c->answer = (struct answer){ ANSWER_DENY,
	    arena_strndup(c->arena, b.data, b.len) };
	buf_release(&b);
}

/* A refusal that is no rule's of the policy. */
static void
deny_words(struct call *c, const char *what, const char *why)
{
	struct buf b;

	buf_init(&b, 0);
	put_refusal(&b, c, what);
	buf_puts(&b, why);
	c->answer = (struct answer){ ANSWER_DENY,
	    arena_strndup(c->arena, b.data, b.len) };
	buf_release(&b);
}

/* ---- where, and by which policy ---- */

static int
go_to(const char *dir, struct err *e)
{
	if (dir[0] == '\0' || chdir(dir) == 0)
		return 0;
	err_set(e, ERR_USAGE, "cannot go to '%.180s', where the tool works",
	    dir);
	e->sys = errno;
	return -1;
}

static int
resolve(struct call *c, struct resolved *res, struct err *e)
{
	if (go_to(c->in.cwd, e) != 0 || go_to(c->in.tool_cwd, e) != 0 ||
	    request_make(c->arena, &c->opts->run, c->env, &c->req, e) != 0 ||
	    policy_resolve(&c->req, res, e) != 0)
		return -1;
	for (size_t i = 0; i < res->nfiles; i++)
		policy_own(res->policy, res->files[i], "the policy in force");
	c->policy = res->policy;
	return 0;
}

/* ---- commands ---- */

void
hook_put_pinned(struct buf *b, const struct run_options *ro)
{
	if (ro->settings != NULL) {
		buf_puts(b, " --settings ");
		line_quote(b, ro->settings);
	}
	if (ro->template_name != NULL) {
		buf_puts(b, " --template ");
		line_quote(b, ro->template_name);
	}
}

const char *
hook_program(struct arena *a, const char *name)
{
	const char *self = paths_self(a), *path;

	if (self == NULL)
		return name;
	path = arena_printf(a, "%.*s/%s", (int)path_dir_len(self), self,
	    name);
	return access(path, X_OK) == 0 ? path : self;
}

/* "/usr/bin/fence-run --template code": what stands before -c. */
static const char *
prefix_of(struct call *c, const char *program)
{
	const char *ret;
	struct buf b;

	buf_init(&b, 0);
	line_quote(&b, hook_program(c->arena, program));
	hook_put_pinned(&b, &c->opts->run);
	ret = arena_strndup(c->arena, b.data, b.len);
	buf_release(&b);
	return ret;
}

/* The line inside of an answer of ours that came back; or NULL. */
static const char *
unwrap(struct call *c)
{
	const char *inner = line_wrapped(c->arena, c->in.command,
	    prefix_of(c, "fence-run"));

	return inner != NULL ? inner : line_wrapped(c->arena, c->in.command,
	    prefix_of(c, "fence"));
}

static bool
may_rewrite(const struct call *c)
{
	const char *wrap = env_get(c->env, "FENCE_CODEX_WRAP");

	if (!c->agent->can_rewrite || c->opts->no_wrap ||
	    env_get(c->env, "FENCE_SANDBOX") != NULL ||
	    strcmp(c->in.event, "beforeShellExecution") == 0)
		return false;
	return c->agent->dialect != DIALECT_CODEX || c->opts->wrap ||
	    (wrap != NULL && strcmp(wrap, "1") == 0);
}

static void
rewrite(struct call *c)
{
	struct buf b;

	buf_init(&b, 0);
	buf_puts(&b, prefix_of(c, "fence-run"));
	buf_puts(&b, " -c ");
	line_quote_always(&b, c->in.command);
	c->answer = (struct answer){ ANSWER_REWRITE,
	    arena_strndup(c->arena, b.data, b.len) };
	buf_release(&b);
}

/*
 * Does the line start fence somewhere, through whatever wrapper?  Asked as a
 * rule is, so that the same eyes look.
 */
static bool
starts_fence(const struct call *c, const char *line, struct exec_verdict *v)
{
	static const char text[] = "{\"command\":{\"useDefaults\":false,"
	    "\"deny\":[\"fence\",\"fence-run\"]}}";
	struct policy_env env = { .workspace = c->req.cwd,
	    .home = c->req.home };
	struct policy *p;
	struct err e;

	if (policy_parse(text, sizeof text - 1, "hook", &env, &p, &e) != 0)
		return true;
	decide_line(p, line, strlen(line), NULL, v);
	policy_free(p);
	return v->v.action == ACTION_DENY;
}

static void
judge_command(struct call *c)
{
	const char *inner = unwrap(c);
	const char *line = inner != NULL ? inner : c->in.command;
	struct preflight ask = { .arena = c->arena, .policy = c->policy,
	    .env = c->env, .cwd = c->req.cwd, .line = line };
	struct exec_verdict v;

	c->answer.kind = ANSWER_ALLOW;
	if (line[strspn(line, " \t\n")] == '\0')
		return;
	preflight_ask(&ask, &v);
	if (v.v.action == ACTION_DENY) {
		deny(c, v.command, &v.v);
		return;
	}
	if (inner != NULL || line_is_cd(line))
		return;
	if (starts_fence(c, line, &v))
		deny_words(c, v.command, "nested Fence command does not use "
		    "the active hook policy; give the command itself, the hook "
		    "puts it into the jail");
	else if (may_rewrite(c))
		rewrite(c);
}

/* ---- files and hosts ---- */

static void
judge_files(struct call *c, enum fs_op op)
{
	const struct explain judge = { .policy = c->policy };
	struct explained j;

	c->answer.kind = ANSWER_ALLOW;
	for (size_t i = 0; i < c->in.npaths; i++) {
		const char *path = c->in.paths[i];

		if (path[0] == '~' && (path[1] == '/' || path[1] == '\0'))
			path = arena_printf(c->arena, "%s%s", c->req.home,
			    path + 1);
		if (path[0] != '/' && c->in.cwd[0] == '\0' &&
		    c->in.tool_cwd[0] == '\0') {
			deny_words(c, path, "a relative path, and the agent "
			    "does not say where it works");
			return;
		}
		if (explain_place(&judge, c->arena, op, c->req.cwd, path,
		    &j)) {
			deny(c, path, &j.verdict);
			return;
		}
		if (j.path == NULL) {
			deny_words(c, path, "the path is too long");
			return;
		}
	}
}

/* SCHEME://[USER@]HOST[:PORT]/...; -1: no address of the web. */
static int
split_url(const char *url, struct host *h, uint16_t *port)
{
	static const struct { const char *scheme; uint16_t port; } rows[] = {
		{ "https", 443 }, { "http", 80 }, { "wss", 443 },
		{ "ws", 80 },
	};
	const char *p = strstr(url, "://"), *end, *at, *colon;
	uint64_t n;

	*port = 0;
	for (size_t i = 0; p != NULL && i < sizeof rows / sizeof *rows; i++)
		if (strlen(rows[i].scheme) == (size_t)(p - url) &&
		    strncasecmp(url, rows[i].scheme, (size_t)(p - url)) == 0)
			*port = rows[i].port;
	if (*port == 0)
		return -1;
	p += 3;
	end = p + strcspn(p, "/?#\\");
	at = memrchr(p, '@', (size_t)(end - p));
	p = at != NULL ? at + 1 : p;
	colon = memrchr(p, ':', (size_t)(end - p));
	if (colon != NULL && memchr(colon, ']', (size_t)(end - colon)) ==
	    NULL) {
		if (str_to_u64((struct str){ colon + 1,
		    (size_t)(end - colon - 1) }, 65535, &n) != 0 || n == 0)
			return -1;
		*port = (uint16_t)n;
		end = colon;
	}
	return host_canon(p, (size_t)(end - p), h);
}

static void
judge_urls(struct call *c)
{
	struct verdict v;
	struct host h;
	uint16_t port;

	c->answer.kind = ANSWER_ALLOW;
	for (size_t i = 0; i < c->in.npaths; i++) {
		if (split_url(c->in.paths[i], &h, &port) != 0) {
			deny_words(c, c->in.paths[i], "no address of the web "
			    "with a host that fence can judge");
			return;
		}
		decide_net(c->policy, &h, port, &v);
		if (v.action == ACTION_ALLOW && h.kind != HOST_NAME)
			decide_net_dial(c->policy, &h, port, h.addr,
			    h.kind == HOST_IPV4 ? 4 : 16, 0, &v);
		if (v.action == ACTION_DENY) {
			deny(c, c->in.paths[i], &v);
			return;
		}
	}
}

/* ---- the whole ---- */

static void
judge(struct call *c)
{
	switch (c->in.tool) {
	case TOOL_SHELL:
		judge_command(c);
		break;
	case TOOL_WRITE:
		judge_files(c, FS_WRITE);
		break;
	case TOOL_READ:
		judge_files(c, FS_READ);
		break;
	case TOOL_FETCH:
		judge_urls(c);
		break;
	case TOOL_OTHER:
		break;
	}
}

void
hook_answer(struct arena *a, const struct agent *agent,
    const struct hook_options *opts, const char *text, size_t len,
    char **env, struct answer_out *ret)
{
	struct call c = { .arena = a, .agent = agent, .opts = opts,
	    .env = env };
	struct resolved res;
	struct err e = { 0 };

	if (hook_input_parse(a, text, len, &c.in, &e) != 0) {
		fail(&c, &e);
	} else if (c.in.tool != TOOL_OTHER) {
		if (resolve(&c, &res, &e) == 0) {
			judge(&c);
			resolved_release(&res);
		} else {
			fail(&c, &e);
		}
	}
	answer_put(agent, c.answer.kind == ANSWER_ERROR ? NULL : &c.in,
	    &c.answer, ret);
}
