/*
 * Claude Code's settings.json: permissions.{allow,deny,ask}, the folders it
 * may work in besides, and its own sandbox.
 */
#include "launcher/hooks/import_parts.h"

#include <string.h>

#include "platform/base/path.h"
#include "platform/base/str.h"
#include "policy/pattern.h"

enum list { LIST_ALLOW, LIST_DENY, LIST_ASK };

/* One rule: Tool, or Tool(what). */
struct rule_in {
	const struct jnode *at;
	const char	*text;
	const char	*tool;
	const char	*what;		/* NULL: the whole tool */
	enum list	 list;
};

/*
 * What relative paths of the settings mean: the project for .claude/ in one,
 * ~/.claude for the user's.
 */
static const char *
base_of(struct import *m)
{
	const char *dir = path_dir(m->arena, m->rq.file);

	if (strcmp(path_name(dir), ".claude") == 0 &&
	    strcmp(path_dir(m->arena, dir), m->rq.home) != 0)
		return path_dir(m->arena, dir);
	return dir;
}

static const char *
below_base(struct import *m, const char *path)
{
	const char *p = pattern_clean_path(m->arena, base_of(m),
	    path + strspn(path, "/"));

	return import_short(m, p != NULL ? p : path);
}

/* What a folder is said to hold is the folder. */
static char *
without_tail(struct import *m, const char *path)
{
	char *p = arena_strdup(m->arena, path);
	size_t n = strlen(p);

	for (;;) {
		if (n > 3 && strcmp(p + n - 3, "/**") == 0)
			n -= 3;
		else if (n > 1 && p[n - 1] == '/')
			n--;
		else
			break;
		p[n] = '\0';
	}
	return p;
}

/* A path of a rule, which has the syntax of .gitignore. */
static const char *
rule_path(struct import *m, const char *text)
{
	const char *p = without_tail(m, import_escape(m, text));
	const char *slash = strchr(text, '/');

	if (strcmp(p, "**") == 0 || strcmp(p, "*") == 0)
		return ".";
	if (p[0] == '/' && p[1] == '/')
		return import_short(m, p + 1);
	if (p[0] == '/')
		return below_base(m, p);
	if (p[0] == '~' || strncmp(p, "./", 2) == 0 ||
	    strncmp(p, "../", 3) == 0 || strncmp(p, "**/", 3) == 0 ||
	    strcmp(p, ".") == 0)
		return p;
	/* A name without a slash, but at its end, is one at any depth. */
	return arena_printf(m->arena, slash != NULL && slash[1] != '\0' ?
	    "./%s" : "**/%s", p);
}

/* A path of the sandbox: absolute, the home's, or the settings'. */
static const char *
sandbox_path(struct import *m, const char *text)
{
	const char *p = without_tail(m, import_escape(m, text));

	if (p[0] == '/' && p[1] == '/')
		p++;
	if (p[0] == '/')
		return import_short(m, p);
	if (p[0] == '~')
		return p;
	return below_base(m, p);
}

static void
left(struct import *m, const struct rule_in *r, const char *why)
{
	static const char *const names[] = { "allow", "deny", "ask" };

	import_note(m, r->at, arena_printf(m->arena, "%s %s", names[r->list],
	    r->text), "%s", why);
}

static const char *
from_of(struct import *m, const struct rule_in *r)
{
	static const char *const names[] = { "allow", "deny", "ask, denied" };

	return arena_printf(m->arena, "%s: %s", names[r->list], r->text);
}

/* ---- Bash ---- */

/* Stars inside: as a regular expression over the words. */
static const char *
pattern_of(struct import *m, const char *text, size_t len, bool is_open)
{
	const char *ret;
	struct buf b;

	buf_init(&b, 0);
	buf_puts(&b, "re:^");
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '*')
			buf_puts(&b, ".*");
		else if (strchr("\\^$.[]|()?+{}#", text[i]) != NULL)
			buf_printf(&b, "\\%c", text[i]);
		else
			buf_putc(&b, text[i]);
	}
	if (!is_open)
		buf_putc(&b, '$');
	ret = arena_strndup(m->arena, b.data, b.len);
	buf_release(&b);
	return ret;
}

static void
take_command(struct import *m, const struct rule_in *r)
{
	size_t key = r->list == LIST_ALLOW ? KEY_OF(command.allow) :
	    KEY_OF(command.deny);
	const char *p = r->what, *value;
	size_t n = strlen(p);
	bool is_open = false;

	if (n >= 2 && strcmp(p + n - 2, ":*") == 0)
		n -= 2;		/* the older spelling of " *" */
	else if (n >= 2 && strcmp(p + n - 2, " *") == 0)
		n -= 2;
	else if (n >= 1 && p[n - 1] == '*')
		n--, is_open = true;	/* "ls*": any word that begins so */
	while (n > 0 && p[n - 1] == ' ')
		n--;
	if (n == 0) {
		left(m, r, r->list == LIST_ALLOW ?
		    "every command runs that nothing denies" :
		    "fence has no line that denies every command");
		return;
	}
	value = is_open || memchr(p, '*', n) != NULL ?
	    pattern_of(m, p, n, is_open || n < strlen(p)) :
	    arena_strndup(m->arena, p, n);
	import_add_rule(m, key, value, r->at, from_of(m, r));
}

/* ---- files and hosts ---- */

static bool
has_glob(const char *path)
{
	return strpbrk(path, "*?[") != NULL;
}

static void
take_read(struct import *m, const struct rule_in *r)
{
	const char *path = rule_path(m, r->what);

	if (r->list != LIST_ALLOW)
		import_add_rule(m, KEY_OF(fs.deny_read), path, r->at,
		    from_of(m, r));
	else if (has_glob(path))
		left(m, r, "what is not hidden can be read; a pattern here "
		    "would open hidden files, too");
	else
		import_add_rule(m, KEY_OF(fs.allow_read), path, r->at,
		    from_of(m, r));
}

static void
take_write(struct import *m, const struct rule_in *r)
{
	import_add_rule(m, r->list == LIST_ALLOW ? KEY_OF(fs.allow_write) :
	    KEY_OF(fs.deny_write), rule_path(m, r->what), r->at,
	    from_of(m, r));
}

static void
take_fetch(struct import *m, const struct rule_in *r)
{
	const char *host = r->what;

	if (strncmp(host, "domain:", 7) != 0) {
		left(m, r, "fence knows hosts, not pages");
		return;
	}
	host += 7;
	import_add_rule(m, r->list == LIST_ALLOW ? KEY_OF(net.allowed_domains) :
	    KEY_OF(net.denied_domains), host, r->at, from_of(m, r));
}

/* ---- rules ---- */

static const struct {
	const char	*tool;
	void		(*take)(struct import *, const struct rule_in *);
	const char	*whole_allowed, *whole_denied;	/* without (...) */
} tools[] = {
	{ "Bash", take_command, "every command runs that nothing denies",
	    "fence has no line that denies every command" },
	{ "Read", take_read, "what is not hidden can be read",
	    "filesystem.strictDenyRead hides everything that no list grants" },
	{ "Edit", take_write, "filesystem.allowWrite wants the folders named",
	    "with --no-extend, nothing can be written that no rule allows" },
	{ "Write", take_write, "filesystem.allowWrite wants the folders "
	    "named", "with --no-extend, nothing can be written that no rule "
	    "allows" },
	{ "MultiEdit", take_write, "as Edit", "as Edit" },
	{ "NotebookEdit", take_write, "as Edit", "as Edit" },
	{ "Grep", take_read, "what is not hidden can be read", "as Read" },
	{ "Glob", take_read, "what is not hidden can be read", "as Read" },
	{ "WebFetch", take_fetch, "network.allowedDomains wants the hosts "
	    "named", "with --no-extend, no host can be reached that no rule "
	    "allows" },
};

/* "Tool(what)" in two pieces; the last parenthesis closes it. */
static bool
split(struct import *m, struct rule_in *r)
{
	const char *open = strchr(r->text, '(');
	size_t n = strlen(r->text);

	if (open == NULL) {
		r->tool = r->text;
		return r->text[0] != '\0';
	}
	if (r->text[n - 1] != ')')
		return false;
	r->tool = arena_strndup(m->arena, r->text, (size_t)(open - r->text));
	r->what = arena_strndup(m->arena, open + 1,
	    (size_t)(r->text + n - 1 - (open + 1)));
	return true;
}

static void
take_rule(struct import *m, struct rule_in *r)
{
	if (!split(m, r)) {
		left(m, r, "it is no rule of the form Tool(what)");
		return;
	}
	for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
		if (strcmp(r->tool, tools[i].tool) != 0)
			continue;
		if (r->what == NULL || r->what[0] == '\0')
			left(m, r, r->list == LIST_ALLOW ?
			    tools[i].whole_allowed : tools[i].whole_denied);
		else
			tools[i].take(m, r);
		return;
	}
	left(m, r, strncmp(r->tool, "mcp__", 5) == 0 ?
	    "servers of MCP are not fence's to judge" :
	    "fence has nothing of that kind");
}

static void
take_rules(struct import *m, const struct jnode *list, enum list which)
{
	if (list->kind != JSON_ARRAY) {
		import_left(m, list, "it is no list");
		return;
	}
	for (const struct jnode *n = list->child; n != NULL; n = n->next) {
		struct rule_in r = { .at = n, .text = n->text,
		    .list = which };

		m->nrules++;
		if (n->kind != JSON_STRING) {
			import_left(m, n, "it is no string");
			continue;
		}
		if (which == LIST_ASK)
			import_note(m, n, n->text, "Ask rule converted to "
			    "deny: fence does not ask");
		take_rule(m, &r);
	}
}

static void
take_permissions(struct import *m, const struct jnode *p)
{
	if (p->kind != JSON_OBJECT) {
		import_left(m, p, "it is no object");
		return;
	}
	for (const struct jnode *n = p->child; n != NULL; n = n->next) {
		if (strcmp(n->key, "allow") == 0)
			take_rules(m, n, LIST_ALLOW);
		else if (strcmp(n->key, "deny") == 0)
			take_rules(m, n, LIST_DENY);
		else if (strcmp(n->key, "ask") == 0)
			take_rules(m, n, LIST_ASK);
		else if (strcmp(n->key, "additionalDirectories") == 0)
			import_list(m, n, KEY_OF(fs.allow_write),
			    sandbox_path);
		else
			import_left(m, n, "how Claude asks is not fence's to "
			    "say");
	}
}

/* ---- denials win in Claude Code; in a policy the closer line does ---- */

static bool
begins(const char *text, const char *with, char after)
{
	size_t n = strlen(with);

	return strncmp(text, with, n) == 0 && (text[n] == '\0' ||
	    text[n] == after || (n > 0 && with[n - 1] == after));
}

/* The words of a pattern up to its first star. */
static const char *
plain_part(struct import *m, const char *value)
{
	const char *star;

	if (strncmp(value, "re:^", 4) != 0)
		return value;
	value += 4;
	star = strpbrk(value, "\\.$");
	return arena_strndup(m->arena, value, star != NULL ?
	    (size_t)(star - value) : strlen(value));
}

static bool
is_opened_by(struct import *m, const struct import_entry *allow,
    const struct import_entry *deny)
{
	static const size_t pairs[][2] = {
		{ KEY_OF(fs.allow_write), KEY_OF(fs.deny_write) },
		{ KEY_OF(fs.allow_read), KEY_OF(fs.deny_read) },
		{ KEY_OF(fs.allow_write), KEY_OF(fs.deny_read) },
	};
	const char *a, *d;

	if (!allow->is_rule || !deny->is_rule)
		return false;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if (allow->key == pairs[i][0] &&
		    deny->key == pairs[i][1])
			return begins(allow->value, deny->value, '/');
	if (allow->key != KEY_OF(command.allow) ||
	    deny->key != KEY_OF(command.deny))
		return false;
	a = plain_part(m, allow->value);
	d = plain_part(m, deny->value);
	if (a != allow->value || d != deny->value)	/* no whole words */
		return strncmp(a, d, strlen(a)) == 0 ||
		    strncmp(a, d, strlen(d)) == 0;
	return begins(a, d, ' ') || begins(d, a, ' ');
}

static void
let_denials_win(struct import *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->entries.n; i++) {
		const struct import_entry *e = &m->entries.v[i];
		size_t k = 0;

		/* Those before i may have moved, but denials stay. */
		while (k < m->entries.n && !is_opened_by(m, e,
		    &m->entries.v[k]))
			k++;
		if (k < m->entries.n)
			import_note(m, NULL, e->from, "it would open what "
			    "\"%s\" (%s) closes", m->entries.v[k].value,
			    m->entries.v[k].from);
		else
			m->entries.v[kept++] = *e;
	}
	m->entries.n = kept;
}

/* ---- its own sandbox ---- */

static const struct import_row sandbox_network[] = {
	{ .name = "allowedDomains", .key = KEY_OF(net.allowed_domains) },
	{ .name = "deniedDomains", .key = KEY_OF(net.denied_domains) },
	{ .name = "allowUnixSockets", .key = KEY_OF(net.allow_unix_sockets),
	  .fn = sandbox_path },
	{ .name = "allowAllUnixSockets",
	  .key = KEY_OF(net.allow_all_unix_sockets) },
	{ .name = "allowLocalBinding", .key = KEY_OF(net.allow_local_binding) },
	{ .name = "httpProxyPort", .why = "fence brings its own proxy" },
	{ .name = "socksProxyPort", .why = "fence brings its own proxy" },
	{ .name = "allowManagedDomainsOnly", .why = "that is what "
	  "/etc/fence/ceiling.d is for" },
	{ .name = NULL },
};

static const struct import_row sandbox_files[] = {
	{ .name = "allowWrite", .key = KEY_OF(fs.allow_write),
	  .fn = sandbox_path },
	{ .name = "denyWrite", .key = KEY_OF(fs.deny_write),
	  .fn = sandbox_path },
	{ .name = "allowRead", .key = KEY_OF(fs.allow_read),
	  .fn = sandbox_path },
	{ .name = "denyRead", .key = KEY_OF(fs.deny_read),
	  .fn = sandbox_path },
	{ .name = "allowManagedReadPathsOnly", .why = "that is what "
	  "/etc/fence/ceiling.d is for" },
	{ .name = NULL },
};

static const struct import_row sandbox_rows[] = {
	{ .name = "enabled", .why = "fence-run always makes a jail" },
	{ .name = "excludedCommands", .why = "no command runs outside of the "
	  "jail: start these without fence" },
	{ .name = "autoAllowBashIfSandboxed", .why = "how Claude asks is not "
	  "fence's to say" },
	{ .name = "allowUnsandboxedCommands", .why = "no command runs outside "
	  "of the jail" },
	{ .name = "enableWeakerNestedSandbox", .why = "fence has no weaker "
	  "jail for that" },
	{ .name = "ignoreViolations", .why = "fence tells every refusal" },
	{ .name = NULL },
};

static void
take_sandbox(struct import *m, const struct jnode *sandbox)
{
	if (sandbox->kind != JSON_OBJECT) {
		import_left(m, sandbox, "it is no object");
		return;
	}
	for (const struct jnode *n = sandbox->child; n != NULL; n = n->next) {
		const struct import_row *r = sandbox_rows;

		while (r->name != NULL && strcmp(r->name, n->key) != 0)
			r++;
		if (strcmp(n->key, "network") == 0)
			import_rows(m, n, sandbox_network);
		else if (strcmp(n->key, "filesystem") == 0)
			import_rows(m, n, sandbox_files);
		else
			import_left(m, n, r->name != NULL ? r->why :
			    "fence does not know it");
	}
}

void
import_claude(struct import *m, const struct jnode *root)
{
	const char *rest = "";
	const struct jnode *first = NULL;

	for (const struct jnode *n = root->child; n != NULL; n = n->next) {
		if (strcmp(n->key, "permissions") == 0) {
			take_permissions(m, n);
		} else if (strcmp(n->key, "sandbox") == 0) {
			take_sandbox(m, n);
		} else if (strcmp(n->key, "$schema") != 0) {
			rest = arena_printf(m->arena, "%s%s%s", rest,
			    rest[0] != '\0' ? ", " : "", n->key);
			first = first == NULL ? n : first;
		}
	}
	if (first != NULL)
		import_note(m, first, rest, "not about what commands may "
		    "touch");
	let_denials_win(m);
}
