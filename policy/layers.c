#include "policy/layers.h"

#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/str.h"
#include "policy/decide.h"
#include "policy/pattern.h"

#define COUNT(a)	(sizeof(a) / sizeof *(a))
#define AT(field)	offsetof(struct policy, field)

void
layers_add(struct policy *first, struct policy *layer)
{
	while (first->also != NULL)
		first = first->also;
	first->also = layer;
}

/* ---- settling ---- */

static void *
field(struct policy *p, size_t offset)
{
	return (char *)p + offset;
}

static const void *
const_field(const struct policy *p, size_t offset)
{
	return (const char *)p + offset;
}

/* A flag that grants: on only where every layer has it on. */
static void
need_flag(struct policy *first, const struct policy *l, size_t offset)
{
	struct flag *mine = field(first, offset);
	const struct flag *theirs = const_field(l, offset);

	if (mine->value && !theirs->value)
		*mine = *theirs;
}

/* A flag that restricts: on where any layer has it on. */
static void
any_flag(struct policy *first, const struct policy *l, size_t offset)
{
	struct flag *mine = field(first, offset);
	const struct flag *theirs = const_field(l, offset);

	if (!mine->value && theirs->value)
		*mine = *theirs;
}

/* A limit: the smallest that is one. */
static void
least(struct policy *first, const struct policy *l, size_t offset)
{
	struct number *mine = field(first, offset);
	const struct number *theirs = const_field(l, offset);

	if (theirs->value != 0 && (mine->value == 0 ||
	    theirs->value < mine->value))
		*mine = *theirs;
}

/*
 * Without a limit /tmp has the system's own room, which only the first layer
 * may make larger.  What another one sets is no word of the first's: it is
 * left as not set there, and the planner takes the smaller.
 */
static void
least_room(struct policy *first, const struct policy *l, size_t offset)
{
	struct number *mine = field(first, offset);
	bool is_set = mine->is_set;

	least(first, l, offset);
	mine->is_set = is_set;
}

/* A choice whose words go from loose to tight. */
static void
last_word(struct policy *first, const struct policy *l, size_t offset)
{
	struct choice *mine = field(first, offset);
	const struct choice *theirs = const_field(l, offset);

	if (theirs->value > mine->value)
		*mine = *theirs;
}

/* A choice whose words go from tight to loose. */
static void
first_word(struct policy *first, const struct policy *l, size_t offset)
{
	struct choice *mine = field(first, offset);
	const struct choice *theirs = const_field(l, offset);

	if (theirs->value < mine->value)
		*mine = *theirs;
}

static bool
is_path(const struct entry *e)
{
	return e->pattern != NULL && (e->pattern->kind == PATTERN_PATH ||
	    e->pattern->kind == PATTERN_GLOB);
}

/* "." of two layers may be two places: paths are compared as they lead. */
bool
layers_same(const struct entry *a, const struct entry *b)
{
	if (is_path(a) && is_path(b))
		return pattern_equal(a->pattern, b->pattern);
	return strcmp(a->text, b->text) == 0;
}

static bool
is_listed(const struct strlist *l, const struct entry *entry)
{
	for (size_t i = 0; i < l->n; i++)
		if (layers_same(&l->v[i], entry))
			return true;
	return false;
}

/* A list that grants and that no decider reads: what every layer lists. */
static void
intersect(struct policy *first, const struct policy *l, size_t offset)
{
	struct strlist *mine = field(first, offset);
	const struct strlist *theirs = const_field(l, offset);
	size_t n = 0;

	for (size_t i = 0; i < mine->n; i++)
		if (is_listed(theirs, &mine->v[i]))
			mine->v[n++] = mine->v[i];
	mine->n = n;
}

/* A list that restricts: what any layer lists.  Layers outlive each other. */
static void
unite(struct policy *first, const struct policy *l, size_t offset)
{
	struct strlist *mine = field(first, offset);
	const struct strlist *theirs = const_field(l, offset);
	struct entry *v;

	if (theirs->n == 0)
		return;
	v = arena_alloc(first->arena, (mine->n + theirs->n) * sizeof *v);
	if (mine->n > 0)
		memcpy(v, mine->v, mine->n * sizeof *v);
	mine->v = v;
	mine->is_set = true;
	for (size_t i = 0; i < theirs->n; i++)
		if (!is_listed(mine, &theirs->v[i]))
			mine->v[mine->n++] = theirs->v[i];
}

static void
outbound(struct policy *first, const struct policy *l, size_t offset)
{
	struct tristate *mine = field(first, offset);
	const struct tristate *theirs = const_field(l, offset);

	if (decide_local_is_open(first) && !decide_local_is_open(l)) {
		mine->value = TRI_FALSE;
		mine->is_set = true;
		mine->at = theirs->at;
	}
}

/* A session of its own is what any layer may ask for. */
static void
any_session(struct policy *first, const struct policy *l, size_t offset)
{
	struct tristate *mine = field(first, offset);
	const struct tristate *theirs = const_field(l, offset);

	if (theirs->value == TRI_TRUE && mine->value != TRI_TRUE)
		*mine = *theirs;
}

/* The built-in list of commands holds unless every layer turns it off. */
static void
any_default(struct policy *first, const struct policy *l, size_t offset)
{
	struct tristate *mine = field(first, offset);
	const struct tristate *theirs = const_field(l, offset);

	if (mine->value == TRI_FALSE && theirs->value != TRI_FALSE)
		*mine = *theirs;
}

static const struct settle {
	void	(*fn)(struct policy *, const struct policy *, size_t);
	size_t	  offset;
} rules[] = {
	{ need_flag, AT(allow_pty) },
	{ need_flag, AT(allow_nested_sandbox) },
	{ any_session, AT(force_new_session) },
	{ last_word, AT(profile) },
	{ intersect, AT(net.allow_unix_sockets) },
	{ need_flag, AT(net.allow_all_unix_sockets) },
	{ outbound, AT(net.allow_local_outbound) },	/* before the next */
	{ need_flag, AT(net.allow_local_binding) },
	{ intersect, AT(net.allow_local_outbound_ports) },
	{ first_word, AT(net.default_action) },
	{ first_word, AT(net.mode) },
	{ first_word, AT(net.sni) },
	{ need_flag, AT(fs.allow_git_config) },
	{ last_word, AT(fs.guard) },
	{ intersect, AT(devices.allow) },
	{ intersect, AT(macos.mach_lookup) },
	{ intersect, AT(macos.mach_register) },
	{ unite, AT(command.deny) },
	{ intersect, AT(command.allow) },
	{ any_default, AT(command.use_defaults) },
	{ intersect, AT(command.accept_shared_binary) },
	{ last_word, AT(command.runtime_exec_policy) },
	{ unite, AT(ssh.denied_hosts) },
	{ intersect, AT(ssh.allowed_hosts) },
	{ unite, AT(ssh.denied_commands) },
	{ intersect, AT(ssh.allowed_commands) },
	{ need_flag, AT(ssh.allow_all_commands) },
	{ any_flag, AT(ssh.inherit_deny) },
	{ last_word, AT(env.loader) },
	{ least, AT(limits.memory) },
	{ least, AT(limits.process_memory) },
	{ least, AT(limits.processes) },
	{ least, AT(limits.time) },
	{ least, AT(limits.files) },
	{ least_room, AT(limits.tmp) },
};

/* minimal, then auto, then host: not the order of the words. */
static void
settle_devices(struct policy *first, const struct policy *l)
{
	static const int looseness[] = {
		[DEVICES_MINIMAL] = 0, [DEVICES_AUTO] = 1, [DEVICES_HOST] = 2,
	};

	if (looseness[l->devices.mode.value] <
	    looseness[first->devices.mode.value])
		first->devices.mode = l->devices.mode;
}

void
layers_settle(struct policy *first)
{
	for (const struct policy *l = first->also; l != NULL; l = l->also) {
		for (size_t i = 0; i < COUNT(rules); i++)
			rules[i].fn(first, l, rules[i].offset);
		settle_devices(first, l);
	}
}

/* ---- ceilings ---- */

/* Two homes are two paths, each mounted as a whole. */
static bool
is_glob(const struct entry *e)
{
	const struct pattern *p = e->pattern;

	if (p->nalts == 0 || strchr(e->text, '{') != NULL)
		return p->kind == PATTERN_GLOB;
	for (size_t i = 0; i < p->nalts; i++)
		if (p->alts[i]->kind == PATTERN_GLOB)
			return true;
	return false;
}

int
layers_check_ceiling(const struct policy *p, struct err *e)
{
	static const struct { const char *key; size_t offset; } lists[] = {
		{ "filesystem.allowRead", AT(fs.allow_read) },
		{ "filesystem.allowExecute", AT(fs.allow_execute) },
		{ "filesystem.denyRead", AT(fs.deny_read) },
		{ "filesystem.allowWrite", AT(fs.allow_write) },
		{ "filesystem.denyWrite", AT(fs.deny_write) },
	};

	for (size_t i = 0; i < COUNT(lists); i++) {
		const struct strlist *l = const_field(p, lists[i].offset);

		for (size_t k = 0; k < l->n; k++) {
			const struct entry *entry = &l->v[k];

			if (!is_glob(entry))
				continue;
			err_set(e, ERR_POLICY, "a ceiling cannot hold the "
			    "glob \"%.100s\"", entry->text);
			err_where(e, entry->at.file, entry->at.line,
			    entry->at.col);
			err_key(e, "%s[%zu]", lists[i].key, k);
			err_hint(e, "name the directory: a path covers all "
			    "that is below it");
			return -1;
		}
	}
	return 0;
}

/* ---- what was asked for ---- */

struct refused {
	const struct policy	*user;
	struct buf		*b;
	size_t			 n, most;
};

static void
refuse(struct refused *r, const char *key, const char *text)
{
	if (r->n++ >= r->most)
		return;
	buf_printf(r->b, "%s%s", r->n > 1 ? ", " : "", key);
	if (text != NULL) {
		buf_puts(r->b, " \"");
		str_escape(r->b, text, strlen(text), '"');
		buf_putc(r->b, '"');
	}
}

/* Does one of the user's own patterns cover all of this one? */
static bool
covers_domain(const struct policy *user, const struct entry *asked)
{
	const struct strlist *l = &user->net.allowed_domains;
	const struct pattern *p = asked->pattern;
	struct verdict v;

	if (is_listed(l, asked))
		return true;
	if (p->kind == PATTERN_DOMAIN) {
		decide_net(user, &p->host, 0, &v);
		return v.action == ACTION_ALLOW;
	}
	for (size_t i = 0; i < l->n; i++) {
		const struct pattern *q = l->v[i].pattern;

		if (q->kind == PATTERN_ANY)
			return true;
		if (q->kind == PATTERN_SUFFIX && p->kind == PATTERN_SUFFIX) {
			size_t n = strlen(p->text), m = strlen(q->text);

			if (n > m && p->text[n - m - 1] == '.' &&
			    strcmp(p->text + n - m, q->text) == 0)
				return true;
		}
	}
	return false;
}

/* A glob is asked about by the directory above its first wildcard. */
static bool
covers_path(const struct policy *user, enum fs_op op,
    const struct pattern *p)
{
	struct verdict v;
	struct arena *a;
	size_t n;

	if (p->kind != PATTERN_GLOB) {
		decide_fs(user, op, p->text, &v);
		return v.action == ACTION_ALLOW;
	}
	n = strcspn(p->text, "*?[{\\");
	while (n > 1 && p->text[n - 1] != '/')
		n--;
	a = arena_new();
	decide_fs(user, op, n <= 1 ? "/" : arena_strndup(a, p->text, n - 1),
	    &v);
	arena_free(a);
	return v.action == ACTION_ALLOW;
}

static void
refused_paths(struct refused *r, const char *key, enum fs_op op,
    const struct strlist *asked, const struct strlist *granted)
{
	for (size_t i = 0; i < asked->n; i++)
		if (!is_listed(granted, &asked->v[i]) &&
		    !covers_path(r->user, op, asked->v[i].pattern))
			refuse(r, key, asked->v[i].text);
}

static void
refused_entries(struct refused *r, const char *key,
    const struct strlist *asked, const struct strlist *granted)
{
	for (size_t i = 0; i < asked->n; i++)
		if (!is_listed(granted, &asked->v[i]))
			refuse(r, key, asked->v[i].text);
}

static void
refused_flag(struct refused *r, const char *key, const struct flag *asked,
    const struct flag *granted)
{
	if (asked->value && !granted->value)
		refuse(r, key, NULL);
}

static void
refused_via(struct refused *r, const struct string *asked)
{
	const struct string *via = &r->user->net.via;
	const char *now = via->is_set ? via->text : "auto";

	if (asked->is_set && strcmp(asked->text, now) != 0)
		refuse(r, "network.via", asked->shown);
}

/* Names that the user's policy takes away; of a pattern some may be. */
static void
refused_variables(struct refused *r, const struct strlist *asked)
{
	const struct policy *user = r->user;
	bool takes_some = user->env.deny.n > 0 ||
	    user->env.deny_secrets.value;

	for (size_t i = 0; i < asked->n; i++) {
		const char *text = asked->v[i].text;

		if (strchr(text, '*') != NULL ? takes_some &&
		    !is_listed(&user->env.allow, &asked->v[i]) :
		    !decide_env(user, text))
			refuse(r, "env.allow", text);
	}
}

size_t
layers_refused(const struct policy *user, const struct policy *asked,
    size_t most, struct buf *b)
{
	struct refused r = { .user = user, .b = b, .most = most };
	const struct strlist *l = &asked->net.allowed_domains;

	refused_flag(&r, "allowNestedSandbox", &asked->allow_nested_sandbox,
	    &user->allow_nested_sandbox);
	for (size_t i = 0; i < l->n; i++)
		if (!covers_domain(user, &l->v[i]))
			refuse(&r, "network.allowedDomains", l->v[i].text);
	refused_entries(&r, "network.allowPrivate", &asked->net.allow_private,
	    &user->net.allow_private);
	refused_entries(&r, "network.allowUnixSockets",
	    &asked->net.allow_unix_sockets, &user->net.allow_unix_sockets);
	refused_entries(&r, "network.allowLocalOutboundPorts",
	    &asked->net.allow_local_outbound_ports.list,
	    &user->net.allow_local_outbound_ports.list);
	refused_flag(&r, "network.allowAllUnixSockets",
	    &asked->net.allow_all_unix_sockets,
	    &user->net.allow_all_unix_sockets);
	if (asked->net.mode.value == NET_MODE_DIRECT &&
	    user->net.mode.value != NET_MODE_DIRECT)
		refuse(&r, "network.mode", "direct");
	if (asked->net.upstream_proxy.text[0] != '\0' &&
	    strcmp(asked->net.upstream_proxy.text,
	    user->net.upstream_proxy.text) != 0)
		refuse(&r, "network.upstreamProxy",
		    asked->net.upstream_proxy.shown);
	refused_via(&r, &asked->net.via);
	if (asked->net.sni.value == NET_SNI_OFF &&
	    user->net.sni.value != NET_SNI_OFF)
		refuse(&r, "network.sni", "off");
	refused_paths(&r, "filesystem.allowWrite", FS_WRITE,
	    &asked->fs.allow_write, &user->fs.allow_write);
	refused_paths(&r, "filesystem.allowRead", FS_READ,
	    &asked->fs.allow_read, &user->fs.allow_read);
	refused_paths(&r, "filesystem.allowExecute", FS_EXEC,
	    &asked->fs.allow_execute, &user->fs.allow_execute);
	refused_flag(&r, "filesystem.allowGitConfig",
	    &asked->fs.allow_git_config, &user->fs.allow_git_config);
	if (asked->devices.mode.value == DEVICES_HOST &&
	    user->devices.mode.value != DEVICES_HOST)
		refuse(&r, "devices.mode", "host");
	refused_entries(&r, "devices.allow", &asked->devices.allow,
	    &user->devices.allow);
	refused_variables(&r, &asked->env.allow);
	refused_entries(&r, "env.set", &asked->env.set.list,
	    &user->env.set.list);
	return r.n;
}
