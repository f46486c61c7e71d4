/*
 * The JSON line: OCSF 1.8.0 (Open Cybersecurity Schema Framework), which log
 * pipelines already read.  Every string goes through json_put_string(),
 * whoever it comes from.
 */
#include "launcher/record/event.h"

#include <inttypes.h>
#include <string.h>

#include "launcher/record/probe_call.h"
#include "platform/base/errname.h"
#include "platform/base/json.h"
#include "policy/keys.h"

#define OCSF_VERSION	"1.8.0"

enum {
	CLASS_FILE = 1001, CLASS_KERNEL = 1003, CLASS_MODULE = 1005,
	CLASS_PROCESS = 1007,
	CLASS_FINDING = 2004,
	CLASS_NETWORK = 4001, CLASS_HTTP = 4002, CLASS_DNS = 4003,
	CLASS_CONFIG = 5019, CLASS_LIFECYCLE = 6002,
};

enum {
	SEVERITY_INFO = 1, SEVERITY_MEDIUM = 3,
	STATUS_SUCCESS = 1, STATUS_FAILURE = 2,
	ACTION_ID_ALLOWED = 1, ACTION_ID_DENIED = 2,
	RCODE_NOERROR = 0, RCODE_NXDOMAIN = 3,
	ACTIVITY_OTHER = 99,
};

static const char *const enforcer_names[] = {
	[ENFORCER_MOUNT] = "mount", [ENFORCER_LANDLOCK] = "landlock",
	[ENFORCER_SECCOMP] = "seccomp", [ENFORCER_GATE] = "gate",
	[ENFORCER_DNS] = "dns", [ENFORCER_ROUTE] = "route",
	[ENFORCER_GUARD] = "guard", [ENFORCER_EXEC] = "exec",
	[ENFORCER_NONE] = "none",
};

static const char *const witness_names[] = {
	[WITNESS_SHIM] = "shim", [WITNESS_GATE] = "gate",
	[WITNESS_MONITOR] = "monitor", [WITNESS_GUARD] = "guard",
	[WITNESS_NOTIFY] = "notify", [WITNESS_PROBE] = "probe",
};

/* Each value is followed by a comma; the end of its object takes it back. */
static void
put_key(struct buf *b, const char *key)
{
	if (key != NULL)
		buf_printf(b, "\"%s\":", key);
}

static void
put_open(struct buf *b, const char *key, char bracket)
{
	put_key(b, key);
	buf_putc(b, bracket);
}

static void
put_close(struct buf *b, char bracket)
{
	if (b->len > 0 && b->data[b->len - 1] == ',')
		b->data[--b->len] = '\0';
	buf_putc(b, bracket);
	buf_putc(b, ',');
}

static void
put_num(struct buf *b, const char *key, int64_t v)
{
	put_key(b, key);
	buf_printf(b, "%" PRId64 ",", v);
}

static void
put_str(struct buf *b, const char *key, const char *s)
{
	put_key(b, key);
	json_put_string(b, s, strlen(s));
	buf_putc(b, ',');
}

static void
put_str_if(struct buf *b, const char *key, const char *s)
{
	if (s != NULL && s[0] != '\0')
		put_str(b, key, s);
}

static bool
is_denied(const struct event *e)
{
	return e->kind < EVENT_RUN_START && e->verdict.action == ACTION_DENY;
}

static int
http_activity(const char *method)
{
	static const char *const names[] = { "CONNECT", "DELETE", "GET",
	    "HEAD", "OPTIONS", "POST", "PUT", "TRACE", "PATCH" };

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (method != NULL && strcmp(method, names[i]) == 0)
			return (int)i + 1;
	return ACTIVITY_OTHER;
}

static int
file_activity(const struct event *e)
{
	static const int activities[] = { [OP_OPEN] = 14, [OP_MAKE] = 1,
	    [OP_REMOVE] = 4, [OP_CHANGE] = 3, [OP_LOOK] = 2 };

	return activities[e->op];
}

static int
class_of(const struct event *e, int *ret_activity)
{
	static const struct { int class_uid, activity; } table[] = {
		[EVENT_OPEN] = { CLASS_FILE, 14 },
		[EVENT_CALL] = { CLASS_KERNEL, 4 },
		[EVENT_EXEC] = { CLASS_PROCESS, 1 },
		[EVENT_CONNECT] = { CLASS_NETWORK, 1 },
		[EVENT_HTTP] = { CLASS_HTTP, 0 },
		[EVENT_DNS] = { CLASS_DNS, 1 },
		[EVENT_SNI] = { CLASS_FINDING, 1 },
		[EVENT_RUN_START] = { CLASS_LIFECYCLE, 3 },
		[EVENT_RUN_END] = { CLASS_LIFECYCLE, 4 },
		[EVENT_POLICY] = { CLASS_CONFIG, 1 },
		[EVENT_DROPPED] = { CLASS_FINDING, 1 },
		[EVENT_WORKER] = { CLASS_FINDING, 1 },
		[EVENT_SUSPECT] = { CLASS_FINDING, 1 },
		[EVENT_LIMIT] = { CLASS_FINDING, 1 },
		[EVENT_NEST] = { CLASS_FINDING, 1 },
		[EVENT_UNSEEN] = { CLASS_FINDING, 1 },
		[EVENT_BLIND] = { CLASS_FINDING, 1 },
		[EVENT_PROBE] = { CLASS_MODULE, 3 },	/* invoke */
	};

	*ret_activity = table[e->kind].activity;
	if (e->kind == EVENT_OPEN)
		*ret_activity = file_activity(e);
	else if (e->kind == EVENT_HTTP)
		*ret_activity = http_activity(e->method);
	else if (e->kind == EVENT_CONNECT && is_denied(e))
		*ret_activity = 5;		/* Refuse */
	return table[e->kind].class_uid;
}

static void
put_metadata(struct buf *b, const struct event *e, const struct event_run *run)
{
	char uid[64];

	(void)snprintf(uid, sizeof uid, "%s-%" PRIu64, run->id, e->sequence);
	put_open(b, "metadata", '{');
	put_str(b, "version", OCSF_VERSION);
	put_open(b, "product", '{');
	put_str(b, "name", "fence");
	put_str(b, "version", run->version);
	put_close(b, '}');
	put_open(b, "profiles", '[');
	put_str(b, NULL, "security_control");
	put_str(b, NULL, "host");
	put_close(b, ']');
	put_str(b, "uid", uid);
	put_num(b, "sequence", (int64_t)e->sequence);
	put_str(b, "correlation_uid", run->id);
	put_close(b, '}');
}

static void
put_process(struct buf *b, const struct event_process *p)
{
	put_num(b, "pid", p->pid);
	put_str_if(b, "name", p->comm);
	put_str_if(b, "path", p->exe);
	put_str_if(b, "cmd_line", p->cmdline);
	put_str_if(b, "working_directory", p->cwd);
}

static void
put_actor(struct buf *b, const struct event *e)
{
	unsigned n = e->nprocess < EVENT_ANCESTORS ? e->nprocess :
	    EVENT_ANCESTORS;

	put_open(b, "actor", '{');
	put_open(b, "process", '{');
	if (n == 0)
		put_str(b, "name", "unknown");
	else
		put_process(b, &e->process[0]);
	if (n > 1) {
		put_open(b, "parent_process", '{');
		put_process(b, &e->process[1]);
		put_close(b, '}');
		put_open(b, "ancestry", '[');
		for (unsigned i = 1; i < n; i++) {
			put_open(b, NULL, '{');
			put_process(b, &e->process[i]);
			put_close(b, '}');
		}
		put_close(b, ']');
	}
	put_close(b, '}');
	put_close(b, '}');
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* Joined by blanks, as far as a reader wants to see. */
static void
put_command(struct buf *b, const char *key, const struct event *e)
{
	enum { MOST = 2048 };
	struct buf text;

	buf_init(&text, 0);
	for (size_t i = 0; i < e->argc && text.len < MOST; i++) {
		size_t n = strlen(e->argv[i]);

		if (i > 0)
			buf_putc(&text, ' ');
		buf_add(&text, e->argv[i], n < MOST ? n : MOST);
	}
	if (text.len > MOST)
		text.data[text.len = MOST] = '\0';
	put_str(b, key, text.data);
	buf_release(&text);
}

static void
put_file(struct buf *b, const struct event *e)
{
	const char *path = e->path != NULL ? e->path : "";

	put_open(b, e->kind == EVENT_OPEN ? "file" : "process", '{');
	put_str(b, "path", path);
	put_str(b, "name", base_name(path));
	if (e->kind == EVENT_OPEN)
		put_num(b, "type_id", 0);	/* a claim does not tell */
	if (e->argv != NULL)
		put_command(b, "cmd_line", e);
	put_close(b, '}');
	if (e->kind == EVENT_OPEN && e->op == OP_OPEN)
		put_num(b, "access_mask", e->open_flags);
}

static void
put_call(struct buf *b, const struct event *e)
{
	const char *name = e->call != NULL ? e->call : "";

	put_open(b, "kernel", '{');
	put_str(b, "name", name);
	put_num(b, "type_id", 2);		/* a system call */
	put_str(b, "system_call", name);
	put_close(b, '}');
}

static void
put_endpoint(struct buf *b, const struct event *e)
{
	put_open(b, "dst_endpoint", '{');
	if (e->path != NULL) {
		put_str(b, "name", e->path);
	} else {
		put_str_if(b, "domain", e->host);
		put_str_if(b, "ip", e->ip);
		put_num(b, "port", e->port);
	}
	put_close(b, '}');
	put_open(b, "connection_info", '{');
	put_str(b, "protocol_name", e->path != NULL ? "unix" :
	    e->is_datagram ? "udp" : "tcp");
	put_num(b, "direction_id", 2);		/* outbound */
	put_close(b, '}');
}

static void
put_http(struct buf *b, const struct event *e)
{
	bool is_tunnel = e->method != NULL &&
	    strcmp(e->method, "CONNECT") == 0;
	const char *host = e->host != NULL ? e->host :
	    e->ip != NULL ? e->ip : "";
	const char *scheme = is_tunnel ? "https" : "http";
	char url[640];

	(void)snprintf(url, sizeof url, strchr(host, ':') != NULL ?
	    "%s://[%.256s]:%u%.256s" : "%s://%.256s:%u%.256s", scheme, host,
	    e->port, e->url_path != NULL && !is_tunnel ? e->url_path : "");
	put_open(b, "http_request", '{');
	put_str_if(b, "http_method", e->method);
	put_open(b, "url", '{');
	put_str(b, "url_string", url);
	put_str(b, "scheme", scheme);
	put_str(b, "hostname", host);
	put_num(b, "port", e->port);
	put_close(b, '}');
	put_close(b, '}');
	put_open(b, "http_response", '{');
	put_num(b, "code", e->status);
	put_close(b, '}');
	put_num(b, "duration", e->duration_ms);
}

static void
put_query(struct buf *b, const struct event *e)
{
	put_open(b, "query", '{');
	put_str(b, "hostname", e->host != NULL ? e->host : "");
	put_str_if(b, "type", e->qtype);
	put_close(b, '}');
	put_num(b, "rcode_id", is_denied(e) ? RCODE_NXDOMAIN : RCODE_NOERROR);
}

/* What the finding is made of, and the line that would make it none. */
static void
put_evidence(struct buf *b, const struct event *e)
{
	const struct verdict *v = &e->verdict;
	struct buf text;

	put_open(b, "evidences", '[');
	put_open(b, NULL, '{');
	put_open(b, "dst_endpoint", '{');
	put_str_if(b, "domain", e->server);
	put_num(b, "port", e->port);
	put_close(b, '}');
	put_open(b, "data", '{');
	put_str_if(b, "sni", e->host);
	put_close(b, '}');
	put_close(b, '}');
	put_close(b, ']');
	if (v->remedy.kind == REMEDY_NONE)
		return;
	buf_init(&text, 0);
	remedy_put(&text, &v->remedy);
	put_open(b, "remediation", '{');
	put_str(b, "desc", text.data);
	put_close(b, '}');
	buf_release(&text);
}

static void
put_finding(struct buf *b, const struct event *e, const struct event_run *run)
{
	static const char *const titles[] = {
		[EVENT_SNI] = "a TLS hello names another host",
		[EVENT_DROPPED] = "records were dropped",
		[EVENT_WORKER] = "a worker was in trouble",
		[EVENT_SUSPECT] = "names that look like data carried out",
		[EVENT_LIMIT] = "a limit was met",
		[EVENT_NEST] = "a sandbox inside was refused",
		[EVENT_UNSEEN] = "an execution was looked at once only",
		[EVENT_BLIND] = "a program without the preloaded library",
	};
	char uid[64];

	(void)snprintf(uid, sizeof uid, "%s-%" PRIu64, run->id, e->sequence);
	put_open(b, "finding_info", '{');
	put_str(b, "title", titles[e->kind]);
	put_str(b, "uid", uid);
	put_str_if(b, "desc", e->detail);
	put_close(b, '}');
}

static void
put_object(struct buf *b, const struct event *e, const struct event_run *run)
{
	switch (e->kind) {
	case EVENT_OPEN:
	case EVENT_EXEC:
		put_file(b, e);
		break;
	case EVENT_CALL:
		put_call(b, e);
		break;
	case EVENT_HTTP:
		put_http(b, e);
		/* FALLTHROUGH */
	case EVENT_CONNECT:
		put_endpoint(b, e);
		break;
	case EVENT_DNS:
		put_query(b, e);
		break;
	case EVENT_RUN_START:
	case EVENT_RUN_END:
		put_open(b, "app", '{');
		put_str(b, "name", "fence");
		put_str(b, "version", run->version);
		put_close(b, '}');
		break;
	case EVENT_SNI:
		put_evidence(b, e);
		/* FALLTHROUGH */
	case EVENT_DROPPED:
	case EVENT_WORKER:
	case EVENT_SUSPECT:
	case EVENT_LIMIT:
	case EVENT_NEST:
	case EVENT_UNSEEN:
	case EVENT_BLIND:
		put_finding(b, e, run);
		break;
	case EVENT_PROBE:
		put_open(b, "module", '{');
		put_str(b, "function_name", e->probe->function);
		put_close(b, '}');
		break;
	case EVENT_POLICY:
		break;
	}
}

/* The rule that spoke, in the words of the security_control profile. */
static void
put_rule(struct buf *b, const struct event *e)
{
	const struct rule *r = &e->verdict.rule;
	struct buf uid;

	if (r->id == RULE_NONE)
		return;
	buf_init(&uid, 0);
	rule_put(&uid, r);
	put_open(b, "firewall_rule", '{');
	put_str(b, "uid", uid.data);
	buf_release(&uid);
	put_str_if(b, "name", r->text);
	put_str(b, "type", is_denied(e) ? "deny" : "allow");
	put_close(b, '}');
}

static void
put_policy(struct buf *b, const struct event *e, const struct event_run *run)
{
	const struct origin *at = &e->verdict.rule.at;
	bool is_rule = e->kind < EVENT_RUN_START && at->file != NULL;
	struct buf name;

	buf_init(&name, 8192);
	buf_puts(&name, is_rule ? at->file : run->policy_name);
	if (is_rule && at->line > 0)
		buf_printf(&name, ":%d:%d", at->line, at->col);
	put_open(b, "policy", '{');
	put_str(b, "name", name.data);
	put_str_if(b, "uid", run->policy_sha256);
	put_close(b, '}');
	buf_release(&name);
}

static void
put_remedy(struct buf *b, const struct remedy *r)
{
	struct buf value;

	buf_init(&value, 0);
	remedy_put_value(&value, r);
	put_open(b, "remedy", '{');
	put_str(b, "key", keys_name(r->key));
	put_str(b, "value", value.data);
	put_str(b, "flag", remedy_flag(r));
	put_close(b, '}');
	buf_release(&value);
}

/* Values as one would write them in C. */
static void
put_probe(struct buf *b, const struct probe_call *c)
{
	char other[ERRNAME_MAX];

	put_open(b, "probe", '{');
	put_str(b, "function", c->function);
	put_open(b, "args", '[');
	for (size_t i = 0; i < c->nargs; i++)
		put_str(b, NULL, c->arg[i]);
	put_close(b, ']');
	if (c->result != NULL)
		put_str(b, "result", c->result);
	if (c->err != 0)
		put_str(b, "errno", errname(c->err, other));
	put_close(b, '}');
}

/* What `fence trace` says of a run, and where its policy would be changed. */
static void
put_run(struct buf *b, const struct event *e, const struct event_run *run)
{
	if (e->argv != NULL)
		put_command(b, "command", e);
	put_str_if(b, "workspace", run->workspace);
	put_str_if(b, "policy_file", run->policy_file);
}

static void
put_unmapped(struct buf *b, const struct event *e,
    const struct event_run *run)
{
	put_open(b, "unmapped", '{');
	put_open(b, "fence", '{');
	put_num(b, "schema", 1);
	put_str(b, "enforcer", enforcer_names[e->enforcer]);
	put_str(b, "witness", witness_names[e->witness]);
	put_str(b, "trust", e->witness == WITNESS_SHIM ||
	    e->witness == WITNESS_PROBE ? "claim" : "kernel");
	if (e->is_guess && e->nprocess > 0)
		put_str(b, "actor", "guess");
	if (is_denied(e) && e->verdict.remedy.kind != REMEDY_NONE)
		put_remedy(b, &e->verdict.remedy);
	put_str_if(b, "prev", e->prev);
	put_str_if(b, "moved_to", e->moved_to);
	if (e->kind == EVENT_PROBE)
		put_probe(b, e->probe);
	if (e->is_killed)
		put_str(b, "deed", "killed");
	if (e->is_final)
		put_str(b, "answer", "final");
	if (e->kind == EVENT_DROPPED)
		put_num(b, "dropped", (int64_t)e->dropped);
	if (e->is_least)
		put_str(b, "dropped_is", "least");
	if (e->kind == EVENT_RUN_START)
		put_run(b, e, run);
	if (e->kind == EVENT_RUN_END)
		put_num(b, "exit_status", e->status);
	put_close(b, '}');
	put_close(b, '}');
}

static void
put_outcome(struct buf *b, const struct event *e)
{
	char other[ERRNAME_MAX];
	bool is_trouble = event_is_trouble(e);
	int action = is_denied(e) ? ACTION_ID_DENIED : ACTION_ID_ALLOWED;

	put_num(b, "severity_id", is_trouble ? SEVERITY_MEDIUM :
	    SEVERITY_INFO);
	put_num(b, "status_id", is_trouble ? STATUS_FAILURE : STATUS_SUCCESS);
	if (e->sys != 0)
		put_str(b, "status_code", errname(e->sys, other));
	if (e->kind >= EVENT_RUN_START)
		return;
	put_str_if(b, "status_detail", e->verdict.reason);
	/* The dispositions "allowed" and "blocked" have the same numbers. */
	put_num(b, "action_id", action);
	put_num(b, "disposition_id", action);
	put_num(b, "count", e->count > 0 ? e->count : 1);
	if (e->start_ms > 0) {
		put_num(b, "start_time", e->start_ms);
		put_num(b, "end_time", e->end_ms);
	}
}

void
event_json(const struct event *e, const struct event_run *run, struct buf *b)
{
	int activity, class_uid = class_of(e, &activity);
	struct buf text;

	buf_init(&text, 0);
	event_text(e, NULL, &text);
	buf_putc(b, '{');
	put_num(b, "time", e->time_ms);
	put_num(b, "category_uid", class_uid / 1000);
	put_num(b, "class_uid", class_uid);
	put_num(b, "activity_id", activity);
	put_num(b, "type_uid", class_uid * 100 + activity);
	put_outcome(b, e);
	put_str(b, "message", text.data);
	put_metadata(b, e, run);
	put_open(b, "device", '{');
	put_str(b, "hostname", run->hostname);
	put_num(b, "type_id", 0);
	put_close(b, '}');
	if (e->kind < EVENT_RUN_START || e->kind == EVENT_PROBE ||
	    (e->kind == EVENT_WORKER && e->nprocess > 0))
		put_actor(b, e);
	put_object(b, e, run);
	if (e->kind < EVENT_RUN_START)
		put_rule(b, e);
	put_policy(b, e, run);
	put_unmapped(b, e, run);
	put_close(b, '}');
	if (!b->failed)
		b->data[--b->len] = '\0';	/* the last comma */
	buf_release(&text);
}
