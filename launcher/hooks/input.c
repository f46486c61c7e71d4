#include "launcher/hooks/input.h"

#include <string.h>

/* Names of members, in the order of preference. */
static const char *const event_keys[] = { "hook_event_name", "event",
    "agent_action_name", NULL };
static const char *const tool_keys[] = { "tool_name", "toolName", NULL };
static const char *const fields_keys[] = { "tool_input", "toolArgs",
    "tool_info", NULL };
static const char *const cwd_keys[] = { "cwd", "working_directory",
    "workingDirectory", "workdir", "dir_path", "directory", NULL };
static const char *const command_keys[] = { "command", "command_line",
    NULL };
static const char *const path_keys[] = { "path", "file_path", "filePath",
    NULL };
static const char *const url_keys[] = { "url", "urls", NULL };

/* Tools by the names their agents have for them. */
static const struct {
	const char	*name;
	enum tool_kind	 kind;
} tools[] = {
	{ "Bash", TOOL_SHELL }, { "bash", TOOL_SHELL },
	{ "Shell", TOOL_SHELL }, { "shell", TOOL_SHELL },
	{ "run_shell_command", TOOL_SHELL }, { "terminal", TOOL_SHELL },
	{ "apply_patch", TOOL_WRITE }, { "patch", TOOL_WRITE },
	{ "write_file", TOOL_WRITE }, { "web_extract", TOOL_FETCH },
};

/* Events by which an agent asks before it acts; Windsurf's name the tool. */
static const struct {
	const char	*name;
	enum tool_kind	 kind;		/* TOOL_OTHER: the tool says */
} events[] = {
	{ "", TOOL_OTHER }, { "PreToolUse", TOOL_OTHER },
	{ "preToolUse", TOOL_OTHER }, { "BeforeTool", TOOL_OTHER },
	{ "pre_tool_call", TOOL_OTHER }, { "tool.execute.before", TOOL_OTHER },
	{ "beforeShellExecution", TOOL_SHELL },
	{ "pre_run_command", TOOL_SHELL }, { "pre_write_code", TOOL_WRITE },
	{ "pre_read_code", TOOL_READ },
};

static int
wrong(const struct jnode *n, const char *name, const char *wanted,
    struct err *e)
{
	return err_set(e, ERR_USAGE, "the agent's '%s' is %s, not %s", name,
	    json_kind_name(n->kind), wanted);
}

/* The first of the names that is there.  Two of one name: who wins is not ours
 * to guess. */
static int
find(const struct jnode *object, const char *const *names,
    const struct jnode **ret, struct err *e)
{
	*ret = NULL;
	for (; *names != NULL && *ret == NULL; names++) {
		if (jsontree_is_twice(object, *names))
			return err_set(e, ERR_USAGE, "the agent says '%s' "
			    "twice", *names);
		*ret = jsontree_get(object, *names);
		if (*ret != NULL && (*ret)->kind == JSON_NULL)
			*ret = NULL;
	}
	return 0;
}

static int
find_text(const struct jnode *object, const char *const *names,
    const char **ret, struct err *e)
{
	const struct jnode *n;

	*ret = "";
	if (find(object, names, &n, e) != 0)
		return -1;
	if (n == NULL)
		return 0;
	if (n->kind != JSON_STRING)
		return wrong(n, n->key, "a string", e);
	*ret = n->text;
	return 0;
}

/* An object, or one more JSON text inside of a string (Copilot). */
static int
find_fields(struct arena *a, const struct jnode *root,
    struct hook_input *in, struct err *e)
{
	const struct jnode *n;
	struct jnode *inner = NULL;

	if (find(root, fields_keys, &n, e) != 0)
		return -1;
	if (n != NULL && n->kind == JSON_STRING) {
		if (jsontree_parse(a, "toolArgs", n->text, n->len,
		    HOOK_INPUT_MAX, &inner, e) != 0)
			return -1;
		n = inner;
	}
	if (n != NULL && n->kind != JSON_OBJECT)
		return wrong(n, n->key != NULL ? n->key : "toolArgs",
		    "an object", e);
	in->fields = n;
	return 0;
}

/* ---- what the tool must have ---- */

static int
take_command(struct hook_input *in, struct err *e)
{
	const struct jnode *n;

	if (find(in->fields, command_keys, &n, e) != 0)
		return -1;
	if (n == NULL)
		return err_set(e, ERR_USAGE, "the agent's call of '%.60s' has "
		    "no command", in->tool_name);
	if (n->kind != JSON_STRING)
		return wrong(n, n->key, "a string", e);
	in->command = n->text;
	in->command_len = n->len;
	in->command_key = n->key;
	return 0;
}

static void
add_path(struct arena *a, struct hook_input *in, const char *p, size_t len)
{
	const char **v = arena_alloc(a, (in->npaths + 1) * sizeof *v);

	if (in->npaths > 0)
		memcpy(v, in->paths, in->npaths * sizeof *v);
	v[in->npaths++] = arena_strndup(a, p, len);
	in->paths = v;
}

enum { PATCH_FILES_MAX = 512 };

/* Codex's patches name each file in a line of its own. */
static int
take_patch(struct arena *a, struct hook_input *in, const struct jnode *n,
    struct err *e)
{
	static const char *const heads[] = { "*** Add File: ",
	    "*** Update File: ", "*** Delete File: ", "*** Move to: " };
	const char *p = n->text, *end;

	for (; *p != '\0'; p = *end != '\0' ? end + 1 : end) {
		end = p + strcspn(p, "\n");
		p += strspn(p, " \t");
		for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
			size_t skip = strlen(heads[i]);

			if (strncmp(p, heads[i], skip) != 0)
				continue;
			if (in->npaths == PATCH_FILES_MAX)
				return err_set(e, ERR_USAGE, "the patch names "
				    "more than %d files", PATCH_FILES_MAX);
			p += skip;
			add_path(a, in, p, (size_t)(end - p) -
			    (end > p && end[-1] == '\r'));
			break;
		}
	}
	return 0;
}

static int
take_paths(struct arena *a, struct hook_input *in, struct err *e)
{
	const char *text;
	const struct jnode *n;

	if (strcmp(in->tool_name, "apply_patch") == 0) {
		static const char *const keys[] = { "command", "input",
		    "patch", NULL };

		if (find(in->fields, keys, &n, e) != 0)
			return -1;
		if (n != NULL && n->kind == JSON_STRING)
			return take_patch(a, in, n, e);
	}
	if (find_text(in->fields, path_keys, &text, e) != 0)
		return -1;
	if (text[0] == '\0')
		return err_set(e, ERR_USAGE, "the agent's call of '%.60s' "
		    "names no file", in->tool_name);
	add_path(a, in, text, strlen(text));
	return 0;
}

static int
take_urls(struct arena *a, struct hook_input *in, struct err *e)
{
	const struct jnode *n, *c;

	if (find(in->fields, url_keys, &n, e) != 0)
		return -1;
	if (n == NULL)
		return err_set(e, ERR_USAGE, "the agent's call of '%.60s' "
		    "names no url", in->tool_name);
	if (n->kind == JSON_STRING)
		add_path(a, in, n->text, n->len);
	for (c = n->kind == JSON_ARRAY ? n->child : NULL; c != NULL;
	    c = c->next) {
		if (c->kind != JSON_STRING)
			return wrong(c, n->key, "a list of strings", e);
		if (in->npaths == PATCH_FILES_MAX)
			return err_set(e, ERR_USAGE, "more than %d urls",
			    PATCH_FILES_MAX);
		add_path(a, in, c->text, c->len);
	}
	if (n->kind != JSON_STRING && n->kind != JSON_ARRAY)
		return wrong(n, n->key, "a string", e);
	return 0;
}

/* ---- the whole ---- */

static enum tool_kind
kind_of(const struct hook_input *in)
{
	size_t i;

	for (i = 0; i < sizeof events / sizeof *events; i++)
		if (strcmp(in->event, events[i].name) == 0)
			break;
	if (i == sizeof events / sizeof *events)
		return TOOL_OTHER;
	if (events[i].kind != TOOL_OTHER)
		return events[i].kind;
	/* Our plugin's predecessor said neither. */
	if (in->tool_name[0] == '\0')
		return TOOL_SHELL;
	for (i = 0; i < sizeof tools / sizeof *tools; i++)
		if (strcmp(in->tool_name, tools[i].name) == 0)
			return tools[i].kind;
	return TOOL_OTHER;
}

static enum input_kind
spelling_of(const struct hook_input *in)
{
	if (strcmp(in->event, "preToolUse") == 0 ||
	    strcmp(in->event, "beforeShellExecution") == 0 ||
	    strcmp(in->tool_name, "Shell") == 0)
		return INPUT_CURSOR;
	if (strcmp(in->event, "PreToolUse") == 0 &&
	    strcmp(in->tool_name, "Bash") == 0)
		return INPUT_CLAUDE;
	return INPUT_PLAIN;
}

static int
take_tool(struct arena *a, struct hook_input *in, struct err *e)
{
	if (find_text(in->fields, cwd_keys, &in->tool_cwd, e) != 0)
		return -1;
	switch (in->tool) {
	case TOOL_SHELL:
		return take_command(in, e);
	case TOOL_WRITE:
	case TOOL_READ:
		return take_paths(a, in, e);
	case TOOL_FETCH:
		return take_urls(a, in, e);
	case TOOL_OTHER:
		break;
	}
	return 0;
}

int
hook_input_parse(struct arena *a, const char *text, size_t len,
    struct hook_input *ret, struct err *e)
{
	struct hook_input in = { .tool_cwd = "", .command = "" };
	struct jnode *root;

	if (jsontree_parse(a, "the agent's input", text, len, HOOK_INPUT_MAX,
	    &root, e) != 0)
		return -1;
	if (root == NULL || root->kind != JSON_OBJECT)
		return err_set(e, ERR_USAGE, "the agent's input is no JSON "
		    "object");
	if (find_text(root, event_keys, &in.event, e) != 0 ||
	    find_text(root, tool_keys, &in.tool_name, e) != 0 ||
	    find_text(root, cwd_keys, &in.cwd, e) != 0)
		return -1;
	in.kind = spelling_of(&in);
	in.tool = kind_of(&in);
	if (in.tool == TOOL_OTHER) {
		*ret = in;
		return 0;
	}
	if (find_fields(a, root, &in, e) != 0)
		return -1;
	if (in.fields == NULL)		/* Cursor's beforeShellExecution */
		in.fields = root;
	if (in.tool_name[0] == '\0' && in.event[0] != '\0')
		in.tool_name = in.event;
	if (take_tool(a, &in, e) != 0)
		return -1;
	*ret = in;
	return 0;
}
