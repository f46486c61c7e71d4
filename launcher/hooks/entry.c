#include "launcher/hooks/entry.h"

#include <string.h>

#include "launcher/hooks/line.h"
#include "platform/base/jsonedit.h"
#include "platform/base/path.h"

/* ---- texts ---- */

const char *
entry_line(struct arena *a, const struct entry_call *c)
{
	const char *ret;
	struct buf b;

	buf_init(&b, 0);
	line_quote(&b, c->program);
	for (size_t i = 0; c->args[i] != NULL; i++) {
		buf_putc(&b, ' ');
		line_quote(&b, c->args[i]);
	}
	ret = arena_strndup(a, b.data, b.len);
	buf_release(&b);
	return ret;
}

static void
put_args(struct buf *b, const struct entry_call *c)
{
	buf_putc(b, '[');
	for (size_t i = 0; c->args[i] != NULL; i++) {
		if (i > 0)
			buf_putc(b, ',');
		json_put_string(b, c->args[i], strlen(c->args[i]));
	}
	buf_putc(b, ']');
}

/* The row's entry with the call in it. */
static const char *
entry_json(struct arena *a, const struct agent *g,
    const struct entry_call *c)
{
	const char *line = entry_line(a, c), *ret;
	struct buf b;

	buf_init(&b, 0);
	for (const char *p = g->entry; *p != '\0'; p++) {
		if (*p != '%') {
			buf_putc(&b, *p);
			continue;
		}
		p++;
		if (*p == 's')
			json_put_string(&b, line, strlen(line));
		else if (*p == 'p')
			json_put_string(&b, c->program, strlen(c->program));
		else
			put_args(&b, c);
	}
	ret = arena_strndup(a, b.data, b.len);
	buf_release(&b);
	return ret;
}

static void
put_plugin(struct buf *b, const struct entry_call *c)
{
	buf_puts(b, "// Made by 'fence hooks install --opencode': fence is "
	    "asked before the shell\n// tool runs, and refuses a command or "
	    "puts it into its jail.\n"
	    "import { spawnSync } from \"node:child_process\"\n\n"
	    "const program = ");
	json_put_string(b, c->program, strlen(c->program));
	buf_puts(b, "\nconst args = ");
	put_args(b, c);
	buf_puts(b, "\n\n"
	    "export const Fence = async ({ directory }) => ({\n"
	    "  \"tool.execute.before\": async (input, output) => {\n"
	    "    if (input.tool !== \"bash\") return\n"
	    "    const asked = { tool_name: \"bash\", tool_input: output.args,"
	    " cwd: directory }\n"
	    "    const run = spawnSync(program, args, {\n"
	    "      input: JSON.stringify(asked), encoding: \"utf8\", timeout: "
	    "10000,\n"
	    "    })\n"
	    "    if (run.status !== 0)\n"
	    "      throw new Error(run.stderr || `fence does not answer: "
	    "${run.error ?? run.signal}`)\n"
	    "    if (run.stdout === \"\") return\n"
	    "    const answer = JSON.parse(run.stdout)\n"
	    "    if (answer.decision === \"deny\") throw new "
	    "Error(answer.reason)\n"
	    "    Object.assign(output.args, answer.tool_input)\n"
	    "  },\n"
	    "})\n");
}

/* ---- finding ---- */

static bool
is_flag(const struct agent *g, const char *word, const char *after)
{
	if (g->old_flag != NULL && strcmp(word, g->old_flag) == 0)
		return true;
	return strcmp(word, "hook") == 0 && after != NULL &&
	    strcmp(after, g->name) == 0;
}

bool
entry_is_call(struct arena *a, const struct agent *g, const char *line,
    const char **ret_program)
{
	char word[LINE_WORD_MAX], after[LINE_WORD_MAX];
	const char *p = line, *program;

	do
		if (!line_next_word(&p, word))
			return false;
	while (line_is_assignment(word));
	if (strcmp(path_name(word), "fence") != 0)
		return false;
	program = arena_strdup(a, word);
	while (line_next_word(&p, word)) {
		const char *q = p;
		bool has_after = line_next_word(&q, after);

		if (is_flag(g, word, has_after ? after : NULL)) {
			if (ret_program != NULL)
				*ret_program = program;
			return true;
		}
	}
	return false;
}

/* A hook of any shape: {"command": ..., "args": [...]}, or "exec". */
static bool
is_ours(struct arena *a, const struct agent *g, const struct jnode *n,
    const char **ret_program, const char **ret_line)
{
	const char *command = jsontree_text(n, "command");
	const struct jnode *args = jsontree_get(n, "args");
	struct buf b;
	bool is;

	if (command == NULL)
		command = jsontree_text(n, "exec");
	if (command == NULL)
		return false;
	buf_init(&b, 0);
	if (args == NULL || args->kind != JSON_ARRAY) {
		buf_puts(&b, command);
	} else {
		line_quote(&b, command);
		for (n = args->child; n != NULL; n = n->next) {
			buf_putc(&b, ' ');
			line_quote(&b, n->kind == JSON_STRING ? n->text : "");
		}
	}
	is = entry_is_call(a, g, b.data, ret_program);
	if (is)
		*ret_line = arena_strndup(a, b.data, b.len);
	buf_release(&b);
	return is;
}

/* The first one in or below n, in the order of the text. */
static const struct jnode *
next_ours(struct arena *a, const struct agent *g, const struct jnode *top,
    const struct jnode *n, const char **program, const char **line)
{
	while (n != NULL) {
		if (n->kind == JSON_OBJECT && is_ours(a, g, n, program, line))
			return n;
		if (n->child != NULL) {
			n = n->child;
			continue;
		}
		while (n != NULL && n != top && n->next == NULL)
			n = n->parent;
		if (n == NULL || n == top)
			return NULL;
		n = n->next;
	}
	return NULL;
}

/* What follows n and is not below it. */
static const struct jnode *
step_over(const struct jnode *top, const struct jnode *n)
{
	while (n != top && n->next == NULL)
		n = n->parent;
	return n != top ? n->next : NULL;
}

static const char *
compact(struct arena *a, const struct jnode *n)
{
	const char *ret;
	struct buf b;

	buf_init(&b, 0);
	jsontree_put(&b, n, NULL, "", "");
	ret = arena_strndup(a, b.data, b.len);
	buf_release(&b);
	return ret;
}

/* Is the entry among the items of hooks.EVENT? */
static bool
has_entry(struct arena *a, const struct jnode *root, const char *event,
    const char *wanted)
{
	const struct jnode *list = jsontree_walk(root, "hooks", event, NULL);
	const char *text = NULL;
	struct jnode *n = NULL;
	struct err e;

	if (list == NULL || list->kind != JSON_ARRAY ||
	    jsontree_parse(a, "", wanted, strlen(wanted), JSONEDIT_MAX, &n,
	    &e) != 0)
		return false;
	text = compact(a, n);
	for (const struct jnode *c = list->child; c != NULL; c = c->next)
		if (strcmp(compact(a, c), text) == 0)
			return true;
	return false;
}

static bool
has_all(struct arena *a, const struct agent *g, const struct entry_call *c,
    const struct jnode *root, unsigned n)
{
	const char *wanted = entry_json(a, g, c);
	unsigned nevents = 0;

	for (size_t i = 0; g->events[i] != NULL; i++, nevents++)
		if (!has_entry(a, root, g->events[i], wanted))
			return false;
	return n == nevents;
}

static int
find_json(struct arena *a, const struct agent *g,
    const struct entry_call *c, const char *shown, const char *text,
    size_t len, struct entry_found *ret, struct err *e)
{
	const struct jnode *hooks, *n;
	const char *program, *line;
	struct jsonedit j;

	if (jsonedit_init(&j, a, shown, text, len, e) != 0)
		return -1;
	hooks = jsontree_get(j.root, "hooks");
	for (n = next_ours(a, g, hooks, hooks, &program, &line); n != NULL;
	    n = next_ours(a, g, hooks, step_over(hooks, n), &program,
	    &line)) {
		if (ret->n++ == 0) {
			ret->program = program;
			ret->command = line;
		}
	}
	ret->is_as_wanted = c != NULL && ret->n > 0 &&
	    has_all(a, g, c, j.root, ret->n);
	return 0;
}

/* The plugin's program stands in its own line. */
static void
find_plugin(struct arena *a, const char *text, struct entry_found *ret)
{
	const char *p = strstr(text, "\nconst program = ");
	struct jnode *n = NULL;
	struct err e;

	if (p == NULL || strstr(text, "fence") == NULL)
		return;
	p += strlen("\nconst program = ");
	if (jsontree_parse(a, "", p, strcspn(p, "\n"), JSONEDIT_MAX, &n,
	    &e) != 0 || n == NULL || n->kind != JSON_STRING)
		return;
	ret->n = 1;
	ret->program = n->text;
	ret->command = arena_printf(a, "%s hook opencode", n->text);
}

int
entry_find(struct arena *a, const struct agent *g,
    const struct entry_call *c, const char *shown, const char *text,
    size_t len, struct entry_found *ret, struct err *e)
{
	struct buf b;

	*ret = (struct entry_found){ .n = 0 };
	if (g->file == AGENT_YAML)
		return entry_yaml_find(a, g, c, text, ret, e);
	if (g->entry != NULL)
		return find_json(a, g, c, shown, text, len, ret, e);
	find_plugin(a, text, ret);
	if (c != NULL) {
		buf_init(&b, 0);
		put_plugin(&b, c);
		ret->is_as_wanted = strcmp(b.data, text) == 0;
		buf_release(&b);
	}
	return 0;
}

/* ---- taking out ---- */

/* The outermost thing that holds nothing but this hook. */
static const struct jnode *
outermost(const struct jsonedit *j, const struct jnode *n)
{
	while (n->parent != NULL && n->parent->kind == JSON_ARRAY &&
	    !jsonedit_has_more(j, n->parent, n)) {
		const struct jnode *list = n->parent, *in = list->parent;

		if (in->parent != NULL && in->parent->kind == JSON_ARRAY) {
			n = in;		/* a group with its matcher */
			continue;
		}
		n = list;
		if (in->parent != NULL && !jsonedit_has_more(j, in, list))
			n = in;		/* "hooks" itself */
		break;
	}
	return n;
}

static int
remove_json(struct jsonedit *j, const struct agent *g, struct err *e)
{
	const char *program, *line;
	const struct jnode *hooks, *n;

	for (;;) {
		hooks = jsontree_get(j->root, "hooks");
		n = next_ours(j->arena, g, hooks, hooks, &program, &line);
		if (n == NULL)
			return 0;
		if (jsonedit_cut(j, outermost(j, n), e) != 0)
			return -1;
	}
}

int
entry_remove(struct arena *a, const struct agent *g, const char *shown,
    const char *text, size_t len, struct buf *ret, struct err *e)
{
	struct jsonedit j;

	if (g->file == AGENT_YAML)
		return entry_yaml_remove(a, g, text, ret);
	if (g->file == AGENT_OWN)
		return 0;
	if (jsonedit_init(&j, a, shown, text, len, e) != 0 ||
	    remove_json(&j, g, e) != 0)
		return -1;
	buf_add(ret, j.text, j.len);
	return 0;
}

/* ---- adding ---- */

static int
add_json(struct jsonedit *j, const struct agent *g,
    const struct entry_call *c, struct err *e)
{
	const char *value = entry_json(j->arena, g, c);

	if (remove_json(j, g, e) != 0)
		return -1;
	if (g->has_version && jsontree_get(j->root, "version") == NULL &&
	    jsonedit_add_member(j, "version", "1", e) != 0)
		return -1;
	for (size_t i = 0; g->events[i] != NULL; i++) {
		const char *names[] = { "hooks", g->events[i], NULL };

		if (jsonedit_append(j, names, value, e) != 0)
			return -1;
	}
	return 0;
}

int
entry_add(struct arena *a, const struct agent *g,
    const struct entry_call *c, const char *shown, const char *text,
    size_t len, struct buf *ret, struct err *e)
{
	struct jsonedit j;

	if (g->file == AGENT_YAML)
		return entry_yaml_add(a, g, c, shown, text, ret, e);
	if (g->entry == NULL) {
		put_plugin(ret, c);
		return 0;
	}
	if (jsonedit_init(&j, a, shown, text, len, e) != 0 ||
	    add_json(&j, g, c, e) != 0)
		return -1;
	buf_add(ret, j.text, j.len);
	return 0;
}
