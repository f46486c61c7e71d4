#include "launcher/history/record.h"

#include <limits.h>
#include <string.h>

#include "platform/base/jsontree.h"
#include "platform/base/str.h"

enum { CLASS_PROCESS = 1007, CLASS_FINDING = 2004, CLASS_LIFECYCLE = 6002,
	ACTIVITY_START = 3, ACTION_ID_DENIED = 2 };

static const char *
text(const struct jnode *n, const char *key)
{
	const char *s = jsontree_text(n, key);

	return s != NULL ? s : "";
}

/* A number without sign and fraction; 0 for anything else. */
static uint64_t
number(const struct jnode *n, const char *key)
{
	const struct jnode *v = jsontree_get(n, key);
	uint64_t ret;

	return v != NULL && v->kind == JSON_NUMBER && str_to_u64((struct str){
	    v->text, v->len }, INT64_MAX, &ret) == 0 ? ret : 0;
}

static const char *
host_port(struct arena *a, const char *host, uint64_t port)
{
	if (port == 0 || host[0] == '\0')
		return host;
	return arena_printf(a, strchr(host, ':') != NULL ? "[%s]:%llu" :
	    "%s:%llu", host, (unsigned long long)port);
}

static const char *
endpoint(struct arena *a, const struct jnode *n)
{
	const char *host = text(n, "domain");

	if (text(n, "name")[0] != '\0')
		return text(n, "name");
	return host_port(a, host[0] != '\0' ? host : text(n, "ip"),
	    number(n, "port"));
}

/* The first that says something. */
static const char *
object_of(struct arena *a, const struct jnode *root, uint64_t class_uid)
{
	const struct jnode *url = jsontree_walk(root, "http_request", "url",
	    NULL);
	const char *const v[] = {
		text(jsontree_get(root, "file"), "path"),
		class_uid == CLASS_PROCESS ?
		    text(jsontree_get(root, "process"), "path") : "",
		text(jsontree_get(root, "query"), "hostname"),
		host_port(a, text(url, "hostname"), number(url, "port")),
		endpoint(a, jsontree_get(root, "dst_endpoint")),
		text(jsontree_get(root, "kernel"), "system_call"),
		text(jsontree_get(root, "kernel"), "name"),
		text(jsontree_get(root, "finding_info"), "desc"),
		text(jsontree_get(root, "finding_info"), "title"),
	};

	for (size_t i = 0; i < sizeof v / sizeof v[0]; i++)
		if (v[i][0] != '\0')
			return v[i];
	return "";
}

static void
read_actor(struct arena *a, const struct jnode *root, struct record *r)
{
	const struct jnode *p = jsontree_walk(root, "actor", "process", NULL);
	const char *name = text(p, "name");
	uint64_t pid = number(p, "pid");

	if (p == NULL)
		return;
	if (name[0] == '\0')
		name = "?";
	r->process = pid == 0 ? name : arena_printf(a, "%s[%llu]", name,
	    (unsigned long long)pid);
	r->program = name;
}

static void
read_own(const struct jnode *n, struct record *r)
{
	const struct jnode *remedy = jsontree_get(n, "remedy");
	const struct jnode *status = jsontree_get(n, "exit_status");

	r->prev = text(n, "prev");
	r->is_claim = strcmp(text(n, "trust"), "kernel") != 0;
	r->dropped = number(n, "dropped");
	r->key = text(remedy, "key");
	r->value = text(remedy, "value");
	r->command = text(n, "command");
	r->workspace = text(n, "workspace");
	r->policy_file = text(n, "policy_file");
	r->exit_status = status != NULL ? (int)number(n, "exit_status") : -1;
}

static enum record_kind
kind_of(const struct jnode *root, uint64_t class_uid)
{
	if (class_uid == CLASS_LIFECYCLE)
		return number(root, "activity_id") == ACTIVITY_START ?
		    RECORD_START : RECORD_END;
	if (number(root, "action_id") == ACTION_ID_DENIED)
		return RECORD_REFUSAL;
	return class_uid == CLASS_FINDING ? RECORD_FINDING : RECORD_OTHER;
}

int
record_parse(struct arena *a, const char *line, size_t len,
    struct record *ret, struct err *e)
{
	const struct jnode *meta, *rule;
	struct jnode *root;
	uint64_t class_uid;

	*ret = (struct record){ .process = "", .program = "" };
	if (jsontree_parse(a, "", line, len, RECORD_LINE_BYTES, &root, e) != 0)
		return -1;
	meta = jsontree_get(root, "metadata");
	ret->run = text(meta, "correlation_uid");
	if (ret->run[0] == '\0')
		return err_set(e, ERR_POLICY, "no record of fence");
	class_uid = number(root, "class_uid");
	ret->kind = kind_of(root, class_uid);
	ret->time_ms = (int64_t)number(root, "time");
	ret->sequence = number(meta, "sequence");
	ret->count = number(root, "count");
	if (ret->count == 0)
		ret->count = 1;
	ret->message = text(root, "message");
	ret->object = object_of(a, root, class_uid);
	rule = jsontree_get(root, "firewall_rule");
	ret->rule = text(rule, "uid");
	ret->rule_text = text(rule, "name");
	ret->place = text(jsontree_get(root, "policy"), "name");
	read_actor(a, root, ret);
	read_own(jsontree_walk(root, "unmapped", "fence", NULL), ret);
	return 0;
}
