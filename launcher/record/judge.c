#include "launcher/record/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/record/explain.h"
#include "platform/calls.h"
#include "policy/decide.h"
#include "policy/pattern.h"
#include "policy/verdict.h"

static bool
fill_file(const struct judge *j, struct arena *arena,
    const struct wire_report *r, const char *path, struct event *e)
{
	static const enum event_op ops[WIRE_CALL_END] = {
		[WIRE_MAKE] = OP_MAKE, [WIRE_REMOVE] = OP_REMOVE,
		[WIRE_CHANGE] = OP_CHANGE, [WIRE_LOOK] = OP_LOOK,
	};
	const struct explain x = { .policy = j->policy };
	enum fs_op op = FS_READ;
	struct explained judged;

	if (r->call == WIRE_EXEC)
		op = FS_EXEC;
	else if (r->call == WIRE_MAKE || r->call == WIRE_REMOVE ||
	    r->call == WIRE_CHANGE || (r->call == WIRE_OPEN &&
	    ((r->flags & O_ACCMODE) != O_RDONLY ||
	    (r->flags & (O_CREAT | O_TRUNC)) != 0)))
		op = FS_WRITE;
	e->kind = r->call == WIRE_EXEC ? EVENT_EXEC :
	    r->call == WIRE_CONNECT ? EVENT_CONNECT : EVENT_OPEN;
	if (r->call < WIRE_CALL_END)
		e->op = ops[r->call];
	e->call = calls_name(r->nr);
	e->open_flags = r->call == WIRE_OPEN ? r->flags : 0;
	e->enforcer = op == FS_WRITE && r->err == EACCES ? ENFORCER_LANDLOCK :
	    ENFORCER_MOUNT;
	e->path = explain_path(&x, arena, op, e->process[0].cwd, path,
	    &judged);
	e->verdict = judged.verdict;
	if (e->path != NULL && (op != FS_WRITE ||
	    (r->flags & (O_CREAT | O_DIRECTORY)) == O_CREAT))
		explain_missing(&x, arena, op, &judged, &e->verdict);
	if (e->path != NULL && judged.is_listing)
		e->enforcer = ENFORCER_LANDLOCK;
	if (e->path == NULL && op == FS_WRITE && r->err == EROFS)
		e->path = explain_late(&x, arena, e->process[0].cwd,
		    path, &e->verdict);
	if (e->path == NULL && op == FS_EXEC && r->err == EACCES &&
	    j->has_masks)
		e->path = explain_program(&x, arena,
		    e->process[0].cwd, path, &e->verdict);
	/* Where reading has to be granted, missing may mean hidden. */
	return e->path != NULL && (r->err != ENOENT ||
	    access(e->path, F_OK) == 0);
}

/* A socket of the host's that is masked, or lies in a private place. */
static bool
fill_socket(const struct judge *j, struct arena *arena,
    const struct wire_report *r, const char *path, struct event *e)
{
	const char *clean = path[0] == '@' ? NULL : pattern_clean_path(arena,
	    path[0] == '/' ? "/" : e->process[0].cwd, path);
	struct stat st;

	if (fill_file(j, arena, r, path, e))
		return true;
	if ((r->err != EACCES && r->err != ENOENT) || clean == NULL ||
	    stat(clean, &st) != 0 || !S_ISSOCK(st.st_mode))
		return false;
	decide_unix(j->policy, clean, &e->verdict);
	e->kind = EVENT_CONNECT;
	e->enforcer = ENFORCER_MOUNT;
	e->path = clean;
	return e->verdict.action == ACTION_DENY;
}

/* Routes are made when a run begins (--watch-policy). */
static void
deny_late(struct verdict *v)
{
	v->action = ACTION_DENY;
	verdict_reason(v, "it was not allowed when the run began");
	verdict_remedy(v, REMEDY_NEXT_RUN, KEY_OF(net.allowed_domains), NULL);
}

/* An address that no route leads to. */
bool
judge_address(const struct judge *j, const struct host *host, uint16_t port,
    struct event *e)
{
	decide_net(j->net, host, port, &e->verdict);
	if (e->verdict.action == ACTION_ALLOW && j->net != j->policy)
		deny_late(&e->verdict);
	e->kind = EVENT_CONNECT;
	e->enforcer = ENFORCER_ROUTE;
	e->ip = host->text;
	e->port = port;
	return e->verdict.action == ACTION_DENY;
}

/* Only what routing says: a refused port is an answer, not a refusal. */
static bool
fill_connect(const struct judge *j, struct arena *arena,
    const struct wire_report *r, struct event *e)
{
	struct host *host = arena_alloc(arena, sizeof *host);

	if (r->err != EACCES && r->err != EPERM && r->err != ENETUNREACH &&
	    r->err != EHOSTUNREACH)
		return false;
	host_from_addr(r->addr, r->family == AF_INET ? 4 : 16, host);
	return judge_address(j, host, r->port, e);
}

/* A call that the filter refuses whatever the policy says. */
static bool
fill_call(const struct wire_report *r, struct event *e)
{
	e->kind = EVENT_CALL;
	e->enforcer = ENFORCER_SECCOMP;
	e->call = calls_name(r->nr);
	e->call_flags = r->flags;
	e->verdict.action = ACTION_DENY;
	e->verdict.rule = (struct rule){ .id = RULE_PLACE,
	    .text = "a system call that no jail permits" };
	return e->call != NULL;
}

bool
judge_report(const struct judge *j, struct arena *arena,
    const struct wire_report *r, const char *path, struct event *e)
{
	if (r->call == WIRE_CONNECT && path[0] == '\0')
		return fill_connect(j, arena, r, e);
	if (r->call == WIRE_CONNECT)
		return fill_socket(j, arena, r, path, e);
	if (r->call == WIRE_SYSTEM)
		return fill_call(r, e);
	return fill_file(j, arena, r, path, e);
}
