#include "launcher/record/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/record/explain.h"
#include "platform/base/str.h"
#include "platform/calls.h"
#include "policy/decide.h"
#include "policy/pattern.h"
#include "policy/verdict.h"

/* How many of what a command line says are looked at. */
enum { MAX_WORDS = 64 };

static bool
opens_to_write(uint32_t flags)
{
	return (flags & O_ACCMODE) != O_RDONLY ||
	    (flags & (O_CREAT | O_TRUNC)) != 0;
}

/* By the call's name: numbers differ between machines. */
static bool
is_call(const char *call, const char *const *names)
{
	while (call != NULL && *names != NULL && strcmp(call, *names) != 0)
		names++;
	return call != NULL && *names != NULL;
}

static bool
changes_mode(const char *call)
{
	static const char *const names[] = { "chmod", "fchmod", "fchmodat",
	    "fchmodat2", NULL };

	return is_call(call, names);
}

static bool
changes_owner(const char *call)
{
	static const char *const names[] = { "chown", "lchown", "fchown",
	    "fchownat", NULL };

	return is_call(call, names);
}

static bool
changes_size(const char *call)
{
	static const char *const names[] = { "truncate", "ftruncate",
	    "fallocate", NULL };

	return is_call(call, names);
}

static void
open_deed(uint32_t flags, struct explain_deed *ret)
{
	if (!opens_to_write(flags)) {
		*ret = (struct explain_deed){ FS_READ, .need = NEED_READ };
		return;
	}
	*ret = (struct explain_deed){ FS_WRITE, .need = NEED_WRITE,
	    .is_new = (flags & O_EXCL) != 0 };
	/* O_TMPFILE names a folder. */
	if ((flags & (O_CREAT | O_DIRECTORY)) == O_CREAT)
		ret->name = NAME_OPENED;
}

static void
change_deed(const char *call, struct explain_deed *ret)
{
	*ret = (struct explain_deed){ FS_WRITE, .need = NEED_OWNER_OR_WRITE };
	if (changes_mode(call) || changes_owner(call))
		ret->need = NEED_OWNER;
	else if (changes_size(call))
		ret->need = NEED_WRITE;
}

static void
deed_of(const struct wire_report *r, const char *call,
    struct explain_deed *ret)
{
	switch (r->call) {
	case WIRE_OPEN:
		open_deed(r->flags, ret);
		break;
	case WIRE_EXEC:
		*ret = (struct explain_deed){ FS_EXEC, .need = NEED_EXECUTE };
		break;
	case WIRE_MAKE:
		*ret = (struct explain_deed){ FS_WRITE, .need = NEED_NAME,
		    .name = NAME_MADE };
		break;
	case WIRE_REMOVE:
		*ret = (struct explain_deed){ FS_WRITE, .need = NEED_NAME,
		    .name = NAME_GOES };
		break;
	case WIRE_CHANGE:
		change_deed(call, ret);
		break;
	case WIRE_CONNECT:
		*ret = (struct explain_deed){ FS_READ, .need = NEED_WRITE };
		break;
	default:		/* WIRE_LOOK; FS_READ would ask for a listing */
		*ret = (struct explain_deed){ FS_EXEC, .need = NEED_SEARCH };
		break;
	}
}

/*
 * `rm -r D` removes first what is in D, and D in the end: the folder around D
 * is needed.  Other programs that do so do not say so beforehand.
 */
static const char *
find_tree(struct arena *arena, const struct event_process *p,
    const char *path)
{
	const char *s = p->cmdline, *tree = NULL, *word;

	if (strcmp(p->comm, "rm") != 0)
		return NULL;
	for (unsigned n = 0; *s != '\0' && n < MAX_WORDS; n++) {
		size_t len = strcspn(s, " ");

		word = arena_strndup(arena, s, len);
		word = word[0] == '-' || len == 0 ? NULL :
		    pattern_clean_path(arena, p->cwd[0] == '/' ? p->cwd : "/",
		    word);
		if (word != NULL && word[1] != '\0' &&
		    strcmp(word, path) != 0 && str_path_below(path, word))
			tree = word;
		s += len + (s[len] == ' ');
	}
	return tree;
}

/* Root's jail lets no setuid file be made: it would outlive the jail. */
static bool
is_setuid(const struct wire_report *r, const struct event *e,
    const struct explain_deed *d, const struct explained *x)
{
	return r->call == WIRE_CHANGE && r->err == EPERM && geteuid() == 0 &&
	    changes_mode(e->call) && !explain_is_hosts(d, x);
}

static enum judged
deny_setuid(const struct explained *x, struct event *e)
{
	e->enforcer = ENFORCER_SECCOMP;
	e->path = x->path;
	verdict_rule(&e->verdict, ACTION_DENY, RULE_PLACE,
	    "a setuid file of root's would outlive the jail",
	    (struct origin){ .file = NULL });
	return JUDGED_FENCE;
}

static void
begin_file(const struct wire_report *r, struct event *e)
{
	static const enum event_op ops[WIRE_CALL_END] = {
		[WIRE_MAKE] = OP_MAKE, [WIRE_REMOVE] = OP_REMOVE,
		[WIRE_CHANGE] = OP_CHANGE, [WIRE_LOOK] = OP_LOOK,
	};

	e->kind = r->call == WIRE_EXEC ? EVENT_EXEC :
	    r->call == WIRE_CONNECT ? EVENT_CONNECT : EVENT_OPEN;
	e->op = r->call < WIRE_CALL_END ? ops[r->call] : OP_OPEN;
	e->call = calls_name(r->nr);
	e->open_flags = r->call == WIRE_OPEN ? r->flags : 0;
}

/* The policy allows it, and the wall does not: a grant that came too late. */
static void
judge_late(const struct judge *j, struct arena *arena,
    const struct wire_report *r, const char *path,
    const struct explain_deed *d, struct event *e)
{
	const struct explain x = { .policy = j->policy };
	const char *cwd = e->process[0].cwd;

	if (d->op == FS_WRITE && d->name != NAME_MADE &&
	    d->name != NAME_GOES && r->err == EROFS)
		e->path = explain_late(&x, arena, cwd, path, &e->verdict);
	if (e->path == NULL && r->call == WIRE_EXEC && r->err == EACCES &&
	    j->has_masks)
		e->path = explain_program(&x, arena, cwd, path, &e->verdict);
}

/* What is offered whether anything lies at a hidden path or not. */
static void
find_blind(const struct judge *j, enum fs_op op, const struct explained *x,
    struct event *e)
{
	struct verdict v;

	decide_fs(j->policy, FS_READ, x->path, &v);
	e->is_hidden = v.action == ACTION_DENY;
	if (!e->is_hidden) {
		decide_fs(j->policy, FS_READ, x->real, &v);
		e->is_led = e->is_hidden = x->is_way_hidden ||
		    v.action == ACTION_DENY;
	}
	if (!e->is_hidden || e->is_led)
		return;
	/* As of a name that leads nowhere. */
	decide_fs(j->policy, op, x->path, &v);
	e->blind = v.action == ACTION_DENY ? v.remedy : e->verdict.remedy;
}

static enum judged
judge_file(const struct judge *j, struct arena *arena,
    const struct wire_report *r, const char *path, struct event *e)
{
	const struct explain x = { .policy = j->policy };
	struct explain_deed d;
	struct explained judged;

	begin_file(r, e);
	deed_of(r, e->call, &d);
	e->enforcer = d.op == FS_WRITE && r->err == EACCES ?
	    ENFORCER_LANDLOCK : ENFORCER_MOUNT;
	e->path = d.name == NAME_MADE || d.name == NAME_GOES ?
	    explain_name(&x, arena, e->process[0].cwd, path, &judged) :
	    explain_path(&x, arena, d.op, e->process[0].cwd, path, &judged);
	e->verdict = judged.verdict;
	if (e->path == NULL)
		judge_late(j, arena, r, path, &d, e);
	if (e->path == NULL && judged.path != NULL && is_setuid(r, e, &d,
	    &judged))
		return deny_setuid(&judged, e);
	if (e->path == NULL) {
		e->path = judged.path;
		return r->err == EACCES || r->err == EPERM ||
		    r->err == EROFS ? JUDGED_HOST : JUDGED_NOTHING;
	}
	/* Where reading has to be granted, missing may mean hidden. */
	if (r->err == ENOENT && access(e->path, F_OK) != 0)
		return JUDGED_NOTHING;
	find_blind(j, d.op, &judged, e);
	if (explain_is_hosts(&d, &judged))
		return JUDGED_HOST;
	if (d.name == NAME_GOES)
		d.tree = find_tree(arena, &e->process[0], judged.real);
	if (e->verdict.remedy.kind != REMEDY_MUST_EXIST)
		explain_remedy(&x, arena, &d, &judged, &e->verdict);
	if (judged.is_listing)
		e->enforcer = ENFORCER_LANDLOCK;
	return JUDGED_FENCE;
}

/* A socket of the host's that is masked, or lies in a private place. */
static enum judged
judge_socket(const struct judge *j, struct arena *arena,
    const struct wire_report *r, const char *path, struct event *e)
{
	const char *clean = path[0] == '@' ? NULL : pattern_clean_path(arena,
	    path[0] == '/' ? "/" : e->process[0].cwd, path);
	enum judged said = judge_file(j, arena, r, path, e);
	struct stat st;

	if (said == JUDGED_FENCE || (r->err != EACCES && r->err != ENOENT) ||
	    clean == NULL || stat(clean, &st) != 0 || !S_ISSOCK(st.st_mode))
		return said;
	if (outside_refuses(clean, NEED_WRITE))
		return JUDGED_HOST;
	decide_unix(j->policy, clean, &e->verdict);
	e->kind = EVENT_CONNECT;
	e->enforcer = ENFORCER_MOUNT;
	e->path = clean;
	return e->verdict.action == ACTION_DENY ? JUDGED_FENCE : said;
}

/* Routes are made when a run begins (--watch-policy). */
static void
deny_late(struct verdict *v)
{
	v->action = ACTION_DENY;
	verdict_reason(v, "it was not allowed when the run began");
	verdict_remedy(v, REMEDY_NEXT_RUN, KEY_OF(net.allowed_domains), NULL);
}

/* No entry of any list opens it. */
static void
deny_datagram(struct verdict *v, struct origin at)
{
	verdict_key(v, ACTION_DENY, KEY_OF(net.allowed_domains), at);
	verdict_reason(v, "UDP does not leave a jail; names are resolved, TCP "
	    "is proxied");
}

bool
judge_address(const struct judge *j, const struct host *host, uint16_t port,
    struct event *e)
{
	decide_net(j->net, host, port, &e->verdict);
	if (e->is_datagram)
		deny_datagram(&e->verdict, j->net->net.allowed_domains.at);
	else if (e->verdict.action == ACTION_ALLOW && j->net != j->policy)
		deny_late(&e->verdict);
	e->kind = EVENT_CONNECT;
	e->enforcer = ENFORCER_ROUTE;
	e->ip = host->text;
	e->port = port;
	return e->verdict.action == ACTION_DENY;
}

/* Only what routing says: a refused port is an answer, not a refusal. */
static enum judged
judge_connect(const struct judge *j, struct arena *arena,
    const struct wire_report *r, struct event *e)
{
	struct host *host = arena_alloc(arena, sizeof *host);

	if (r->err != EACCES && r->err != EPERM && r->err != ENETUNREACH &&
	    r->err != EHOSTUNREACH)
		return JUDGED_NOTHING;
	host_from_addr(r->addr, r->family == AF_INET ? 4 : 16, host);
	return judge_address(j, host, r->port, e) ? JUDGED_FENCE :
	    JUDGED_NOTHING;
}

bool
judge_needs_who(const struct wire_report *r, const char *path)
{
	return path[0] != '/' || r->call == WIRE_REMOVE ||
	    r->call == WIRE_SYSTEM;
}

enum judged
judge_report(const struct judge *j, struct arena *arena,
    const struct wire_report *r, const char *path, struct event *e)
{
	e->is_datagram = r->call == WIRE_CONNECT &&
	    r->sock_type == SOCK_DGRAM;
	if (r->call == WIRE_CONNECT && path[0] == '\0')
		return judge_connect(j, arena, r, e);
	if (r->call == WIRE_CONNECT)
		return judge_socket(j, arena, r, path, e);
	if (r->call == WIRE_SYSTEM)
		return judge_call(j, r, e);
	return judge_file(j, arena, r, path, e);
}
