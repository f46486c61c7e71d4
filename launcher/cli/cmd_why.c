/*
 * fence why: what the policy answers, asked of the same deciders as the
 * enforcers ask.  Nothing is started and no name is resolved.
 */
#include "launcher/cli/cmd.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/exec/preflight.h"
#include "launcher/exit.h"
#include "launcher/record/explain.h"
#include "launcher/log.h"
#include "launcher/plan/plan.h"
#include "launcher/plan/request.h"
#include "platform/base/json.h"
#include "platform/base/str.h"
#include "policy/decide.h"
#include "policy/keys.h"
#include "policy/pattern.h"
#include "policy/resolve.h"

extern char **environ;

struct why_options {
	struct run_options	run;
	bool			json;
};

const struct opt why_opts[] = {
	OPT_POLICY_ROWS(struct why_options, run.),
	{ 0, "json", NULL, OPT_FLAG, offsetof(struct why_options, json),
	    "answer as one JSON object" },
	{ .name = NULL },
};

/* The policy and the plan that a question is about. */
struct asked {
	const struct policy	*policy;
	const char		*cwd;
	const struct jail_spec	*spec;	/* mounts of a run; may have none */
	char			*const *words;	/* of `fence why ssh ...` */
};

/* A question and its answer, in words. */
struct answer {
	const char	*verb;		/* "connect", "read" ... */
	const char	*object;
	struct verdict	 v;
	const char	*by;		/* what enforces it here */
	const char	*note;		/* or NULL */
	bool		 is_guidance;	/* denied, and nothing holds it */
};

static const char questions[] = "connect HOST[:PORT], read PATH, write PATH, "
    "exec PATH, run 'LINE' or ssh ARGUMENT ...";

static int
fail(struct err *e, const char *hint)
{
	err_hint(e, "%s", hint);
	return -1;
}

/* ---- connect ---- */

/* HOST, HOST:PORT, [V6]:PORT, V6; the port is 443 where none is said. */
static int
parse_target(const char *text, struct host *h, uint16_t *port,
    struct err *e)
{
	const char *colon = strrchr(text, ':');
	size_t len = strlen(text);
	uint64_t n = 443;

	if (colon != NULL && strchr(text, '/') == NULL &&
	    (strchr(text, ':') == colon ||
	    (text[0] == '[' && colon[-1] == ']'))) {
		if (str_to_u64(str_of(colon + 1), 65535, &n) != 0 || n == 0) {
			err_set(e, ERR_USAGE, "'%.60s' is not a port",
			    colon + 1);
			return fail(e, "a port is a number from 1 to 65535");
		}
		len = (size_t)(colon - text);
	}
	if (host_canon(text, len, h) != 0) {
		err_set(e, ERR_USAGE, "'%.100s' is not a host", text);
		return fail(e, "a name, an address, or HOST:PORT; no URL");
	}
	*port = (uint16_t)n;
	return 0;
}

static const char *
by_gate(const struct host *h, const struct verdict *v)
{
	if (v->rule.key == KEY_OF(net.mode))
		return "nobody: the network is the host's";
	if (v->action == ACTION_ALLOW)
		return v->via_upstream ?
		    "gate: it hands the connection to the upstream proxy" :
		    "gate: every connection ends there and is asked about";
	if (h->kind != HOST_NAME && v->rule.text == NULL)
		return "route: there is no way to this address (EACCES); "
		    "gate: 403 for programs that ask a proxy";
	if (h->kind != HOST_NAME)
		return "gate: the connection is reset; 403 for programs that "
		    "ask a proxy";
	return "resolver: the name does not exist inside (NXDOMAIN); gate: "
	    "403 for programs that ask a proxy";
}

/*
 * Localhost inside is the command's own; a port of it may lead to the host's.
 * Whatever the lists of domains say is for those who ask a proxy.
 */
static void
ask_home(const struct policy *p, uint16_t port, struct answer *ret)
{
	struct verdict v;

	decide_local(p, port, &v);
	if (v.action == ACTION_ALLOW) {
		ret->v = v;
		ret->by = "gate: the port inside is the host's";
		ret->note = NULL;
	} else if (ret->v.action == ACTION_ALLOW) {
		ret->note = "by the proxy alone: without it localhost is the "
		    "command's own";
	} else {
		ret->v = v;
		ret->by = "network: localhost inside is the command's own; "
		    "gate: 403 for programs that ask a proxy";
		ret->note = "what the command itself listens on it reaches";
	}
}

static int
ask_connect(const struct policy *p, const char *object, struct arena *a,
    struct answer *ret, struct err *e)
{
	struct host h;
	uint16_t port;

	if (parse_target(object, &h, &port, e) != 0)
		return -1;
	decide_net(p, &h, port, &ret->v);
	if (ret->v.action == ACTION_ALLOW && h.kind != HOST_NAME)
		decide_net_dial(p, &h, port, h.addr,
		    h.kind == HOST_IPV4 ? 4 : 16, 0, &ret->v);
	else if (ret->v.action == ACTION_ALLOW)
		ret->note = "the address that the name resolves to is judged "
		    "when the command connects";
	ret->object = arena_printf(a, h.kind == HOST_IPV6 ? "[%s]:%u" :
	    "%s:%u", h.text, (unsigned)port);
	ret->by = by_gate(&h, &ret->v);
	if (decide_local_is_home(&h))
		ask_home(p, port, ret);
	return 0;
}

/* ---- read, write, exec ---- */

static const char *
by_mounts(enum fs_op op, const char *path, const struct verdict *v)
{
	bool is_guard = v->rule.id == RULE_GUARD || v->rule.id == RULE_OWN;

	if (v->rule.id == RULE_PLACE)
		return "mount: a private place of the jail";
	if (v->rule.id == RULE_SHADOW)
		return "mount: the jail's own folder lies over the host's; "
		    "what changed in it: fence shadow diff";
	if (is_guard && access(path, F_OK) == 0)
		return "mount: read-only (EROFS)";
	if (is_guard)
		return "shim: refused (EACCES); guard: what appears all the "
		    "same is moved to quarantine";
	if (v->action == ACTION_ALLOW && op == FS_WRITE)
		return "mount: writable; landlock: granted";
	if (v->action == ACTION_ALLOW)
		return "mount: visible";
	if (v->rule.key == KEY_OF(fs.deny_read) || op != FS_WRITE)
		return "mount: hidden (EACCES)";
	return "mount: read-only (EROFS); landlock: no right to write";
}

/* Does the plan of a run leave it writable? */
static bool
is_writable_in(const struct jail_spec *spec, const char *path)
{
	size_t i = spec->nmounts;
	enum mount_kind kind;

	while (i > 1 && (!str_path_below(path, spec->mounts[i - 1].path) ||
	    spec->mounts[i - 1].kind == MOUNT_PLACE ||
	    spec->mounts[i - 1].kind == MOUNT_LINK))
		i--;
	kind = i > 0 ? spec->mounts[i - 1].kind : MOUNT_RW;
	return kind == MOUNT_RW || kind == MOUNT_OTHER ||
	    kind == MOUNT_TMPFS || kind == MOUNT_OWN;
}

/* A grant or a denial of a path that does not exist is no mount. */
static void
note_missing(struct explained *j, enum fs_op op, const struct jail_spec *spec,
    struct answer *ret)
{
	const struct rule *r = &j->verdict.rule;

	if (j->verdict.action == ACTION_ALLOW) {
		if (op == FS_WRITE && r->key == KEY_OF(fs.allow_write) &&
		    !is_writable_in(spec, j->real))
			explain_deny_late(&j->verdict);
	} else if (r->id == RULE_ENTRY && strpbrk(r->text, "*?[") != NULL) {
		ret->is_guidance = true;
		ret->note = "the path does not exist: a glob is a wall for "
		    "what it matches when the run begins; later matches are "
		    "told, not walled";
	}
}

/*
 * What a run would offer.  Whoever asks beforehand may make the file, or mean a
 * folder: then the path itself is the line, with a word about it.
 */
static void
ask_remedy(const struct explain *judge, struct arena *a, enum fs_op op,
    struct explained *j, struct answer *ret)
{
	const struct explain_deed d = { .op = op,
	    .need = op == FS_WRITE ? NEED_WRITE : op == FS_EXEC ?
	    NEED_EXECUTE : NEED_READ,
	    .name = op == FS_WRITE ? NAME_OPENED : NAME_STAYS };
	struct remedy itself = j->verdict.remedy;

	if (j->verdict.action == ACTION_ALLOW)
		return;
	if (explain_is_hosts(&d, j)) {
		ret->note = "the file's permissions refuse it as well";
		j->verdict.remedy.kind = REMEDY_NONE;
		return;
	}
	explain_remedy(judge, a, &d, j, &j->verdict);
	if (j->verdict.remedy.kind != REMEDY_MUST_EXIST)
		return;
	j->verdict.remedy = itself;
	ret->note = "it does not exist: a file has to be made before the "
	    "run; a missing folder that is granted is made";
}

/* No mount can hold it. */
static void
note_listing(const struct jail_spec *spec, struct answer *ret)
{
	struct jail_walls walls;

	jail_walls(&walls);
	ret->is_guidance = !walls.has_second || spec->may_nest;
	ret->by = ret->is_guidance ? "nobody: there is no Landlock" :
	    "landlock: no right to list it (EACCES)";
	ret->note = "the programs in it can be read and executed";
}

static int
ask_file(const struct asked *q, enum fs_op op, struct arena *a,
    struct answer *ret, struct err *e)
{
	const struct explain judge = { .policy = q->policy };
	struct explained j;

	(void)explain_place(&judge, a, op, q->cwd, ret->object, &j);
	if (j.path == NULL)
		return err_set(e, ERR_USAGE, "the path is too long");
	if (strcmp(j.real, j.path) != 0)
		ret->note = arena_printf(a, "it leads to %s", j.real);
	ask_remedy(&judge, a, op, &j, ret);
	if (access(j.path, F_OK) != 0)
		note_missing(&j, op, q->spec, ret);
	ret->object = j.path;
	ret->v = j.verdict;
	ret->by = by_mounts(op, j.path, &ret->v);
	if (j.is_listing)
		note_listing(q->spec, ret);
	return 0;
}

/* ---- run, ssh ---- */

static const char *
note_command(struct arena *a, const struct exec_verdict *x)
{
	if (x->unseen == EXEC_SEEN && x->v.action == ACTION_ALLOW)
		return NULL;
	if (x->unseen == EXEC_SEEN)
		return arena_printf(a, "the command is: %s", x->command);
	return arena_printf(a, "not all of it can be looked into: %s%s%s",
	    unseen_words(x->unseen), x->unseen_text[0] != '\0' ? ": " : "",
	    x->unseen_text);
}

/* A line as for -c, or the words of an ssh command. */
static void
ask_command(const struct asked *q, struct arena *a, struct answer *ret)
{
	struct preflight p = { .arena = a, .policy = q->policy,
	    .env = environ, .cwd = q->cwd, .argv = q->words };
	struct exec_verdict x;
	struct buf b;

	if (q->words == NULL)
		p.line = ret->object;
	preflight_ask(&p, &x);
	if (q->words != NULL) {
		buf_init(&b, 0);
		for (char *const *w = q->words + 1; *w != NULL; w++)
			buf_printf(&b, "%s%s", b.len > 0 ? " " : "", *w);
		ret->object = arena_strdup(a, b.data);
		buf_release(&b);
	}
	ret->v = x.v;
	ret->by = x.v.action == ACTION_ALLOW ? "preflight: no rule refuses it" :
	    "preflight: refused before anything is started; a guide for the "
	    "semi-trusted, not a wall";
	ret->note = note_command(a, &x);
	ret->is_guidance = x.v.action == ACTION_DENY;
}

/* ---- the answer ---- */

/* A line that is pasted into a shell means this value, whatever is in it. */
static void
put_word(struct buf *b, const char *value)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./~:@%+,=-";

	if (value[strspn(value, safe)] == '\0') {
		buf_puts(b, value);
		return;
	}
	buf_putc(b, '\'');
	for (; *value != '\0'; value++)
		if (*value == '\'')
			buf_puts(b, "'\\''");
		else
			buf_putc(b, *value);
	buf_putc(b, '\'');
}

/* What a terminal would obey is not shown as it is. */
static bool
is_plain(const char *value)
{
	for (; *value != '\0'; value++)
		if ((unsigned char)*value < ' ' ||
		    (unsigned char)*value >= 0x7f)
			return false;
	return true;
}

static void
put_remedy(struct buf *b, const struct remedy *r)
{
	const char *flag = remedy_flag(r);
	struct buf value;

	buf_init(&value, 0);
	buf_puts(b, "  to allow  ");
	remedy_put(b, r);
	remedy_put_value(&value, r);
	if (flag[0] != '\0' && is_plain(value.data)) {
		buf_printf(b, ", or once: fence-run %s ", flag);
		put_word(b, value.data);
	}
	buf_putc(b, '\n');
	buf_release(&value);
}

static void
put_text(struct buf *b, const struct answer *a)
{
	const struct verdict *v = &a->v;

	buf_printf(b, "%s: %s ", v->action == ACTION_DENY ? "denied" :
	    v->rule.id == RULE_SHADOW ? "shadowed" : "allowed", a->verb);
	str_escape(b, a->object, strlen(a->object), 0);
	buf_puts(b, "\n  rule      ");
	rule_put(b, &v->rule);
	if (v->rule.text != NULL) {
		buf_puts(b, " \"");
		str_escape(b, v->rule.text, strlen(v->rule.text), '"');
		buf_putc(b, '"');
	}
	if (v->rule.at.file != NULL) {
		buf_puts(b, "  ");
		origin_put(b, &v->rule.at);
	}
	buf_putc(b, '\n');
	if (v->reason[0] != '\0')
		buf_printf(b, "  because   %s\n", v->reason);
	buf_printf(b, "  enforced  %s\n", a->by);
	if (a->note != NULL) {
		buf_puts(b, "  note      ");
		str_escape(b, a->note, strlen(a->note), 0);
		buf_putc(b, '\n');
	}
	if (v->action == ACTION_DENY && v->remedy.kind != REMEDY_NONE)
		put_remedy(b, &v->remedy);
}

static void
put_json_remedy(struct buf *b, const struct remedy *r)
{
	const char *key = keys_name(r->key);
	struct buf value;

	buf_init(&value, 0);
	remedy_put_value(&value, r);
	buf_puts(b, ",\"remedy\":{\"key\":");
	json_put_string(b, key, strlen(key));
	json_put_text(b, "value", value.data);
	json_put_text(b, "flag", remedy_flag(r));
	buf_putc(b, '}');
	buf_release(&value);
}

static void
put_json(struct buf *b, const struct answer *a)
{
	const struct verdict *v = &a->v;
	struct buf rule;

	buf_init(&rule, 0);
	rule_put(&rule, &v->rule);
	buf_putc(b, '{');
	json_put_text(b, "verdict", v->action == ACTION_ALLOW ? "allowed" :
	    "denied");
	json_put_text(b, "operation", a->verb);
	json_put_text(b, "object", a->object);
	json_put_text(b, "rule", rule.data);
	json_put_text(b, "entry", v->rule.text);
	json_put_text(b, "file", v->rule.at.file);
	buf_printf(b, ",\"line\":%d,\"column\":%d", v->rule.at.line,
	    v->rule.at.col);
	json_put_text(b, "reason", v->reason);
	json_put_text(b, "enforcedBy", a->by);
	json_put_text(b, "note", a->note);
	if (v->rule.id == RULE_SHADOW)
		buf_puts(b, ",\"shadowed\":true");
	if (a->is_guidance)
		buf_puts(b, ",\"walled\":false");
	if (v->action == ACTION_DENY && v->remedy.kind != REMEDY_NONE)
		put_json_remedy(b, &v->remedy);
	buf_release(&rule);
	buf_puts(b, "}\n");
}

/* ---- the command ---- */

static int
ask(const struct asked *q, struct arena *a, struct answer *ret,
    struct err *e)
{
	static const struct { const char *verb; enum fs_op op; } verbs[] = {
		{ "read", FS_READ }, { "write", FS_WRITE },
		{ "exec", FS_EXEC },
	};

	if (strcmp(ret->verb, "connect") == 0)
		return ask_connect(q->policy, ret->object, a, ret, e);
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (strcmp(ret->verb, verbs[i].verb) == 0)
			return ask_file(q, verbs[i].op, a, ret, e);
	if (strcmp(ret->verb, "run") == 0 || strcmp(ret->verb, "ssh") == 0) {
		ask_command(q, a, ret);
		return 0;
	}
	err_set(e, ERR_USAGE, "'%.60s' is no question", ret->verb);
	return fail(e, questions);
}

/* The answers are those of a run, so its plan is made; or it is said why not. */
static void
know_disk(const struct why_options *o, struct arena *arena,
    const struct resolve_request *req, struct resolved *res,
    struct jail_spec *ret)
{
	struct err e = { 0 };

	if (plan_known(arena, &o->run, req, res, environ, ret, &e) == 0)
		return;
	log_say("a run would not start: %s%s%s", e.where,
	    e.where[0] != '\0' ? ": " : "", e.msg);
	/* As the launcher does: policy files in force stay as they are. */
	for (size_t i = 0; i < res->nfiles; i++)
		policy_own(res->policy, res->files[i], "the policy in force");
}

static int
answer_with(const struct why_options *o, struct arena *arena, char **words,
    struct err *e)
{
	struct answer a = { .verb = words[0], .object = words[1] };
	struct resolve_request req;
	struct resolved res;
	struct jail_spec spec = { 0 };
	struct asked q = { .spec = &spec };
	struct buf b;
	int rc;

	if (request_make(arena, &o->run, environ, &req, e) != 0 ||
	    policy_resolve(&req, &res, e) != 0)
		return EXIT_USAGE;
	for (size_t i = 0; i < res.nnotices; i++)
		log_say("%s", res.notices[i]);
	q.policy = res.policy;
	q.cwd = req.cwd;
	if (strcmp(a.verb, "ssh") == 0)
		q.words = words;
	else if (strcmp(a.verb, "connect") != 0 && strcmp(a.verb, "run") != 0)
		know_disk(o, arena, &req, &res, &spec);
	rc = ask(&q, arena, &a, e);
	if (rc == 0) {
		buf_init(&b, 0);
		(o->json ? put_json : put_text)(&b, &a);
		fwrite(b.data, 1, b.len, stdout);
		buf_release(&b);
	}
	resolved_release(&res);
	return rc != 0 ? EXIT_USAGE : a.v.action == ACTION_DENY;
}

int
cmd_why(const char *program, int argc, char **argv, struct err *e)
{
	struct why_options o = { 0 };
	struct arena *arena = arena_new();
	int nwords = 0, status = EXIT_USAGE;

	(void)program;
	if (opt_parse_words(why_opts, argc, argv, &o, &nwords, e) == 0) {
		if (nwords == 2 || (nwords > 2 &&
		    strcmp(argv[1], "ssh") == 0)) {
			argv[1 + nwords] = NULL;
			status = answer_with(&o, arena, argv + 1, e);
		} else {
			err_set(e, ERR_USAGE, "'fence why' wants a question");
			err_hint(e, "%s", questions);
		}
	}
	opt_release(&o.run);
	arena_free(arena);
	return status;
}
