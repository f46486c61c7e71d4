#include "launcher/hooks/answer.h"

#include <string.h>

#include "launcher/exit.h"
#include "platform/base/json.h"

static void
put_member(struct buf *b, const char *name, const char *json)
{
	json_put_name(b, name);
	buf_puts(b, json);
}

/* The tool's own fields, with the new command in its place. */
static void
put_fields(struct buf *b, const char *name, const struct hook_input *in,
    const char *command)
{
	json_put_name(b, name);
	buf_putc(b, '{');
	for (const struct jnode *c = in->fields->child; c != NULL;
	    c = c->next) {
		if (c->prev != NULL)
			buf_putc(b, ',');
		json_put_string(b, c->key, strlen(c->key));
		buf_putc(b, ':');
		if (strcmp(c->key, in->command_key) == 0)
			json_put_string(b, command, strlen(command));
		else
			jsontree_put(b, c, NULL, "", "");
	}
	buf_putc(b, '}');
}

/* The command alone: for agents that merge. */
static void
put_command(struct buf *b, const char *name, const struct hook_input *in,
    const char *command)
{
	json_put_name(b, name);
	buf_putc(b, '{');
	json_put_text(b, in->command_key, command);
	buf_putc(b, '}');
}

static void
put_claude(struct buf *b, const struct hook_input *in,
    const struct answer *a)
{
	bool is_deny = a->kind == ANSWER_DENY;

	if (a->kind != ANSWER_DENY && a->kind != ANSWER_REWRITE)
		return;
	buf_puts(b, "{\"hookSpecificOutput\":{");
	json_put_text(b, "hookEventName", "PreToolUse");
	json_put_text(b, "permissionDecision", is_deny ? "deny" : "allow");
	if (is_deny)
		json_put_text(b, "permissionDecisionReason", a->text);
	else
		put_fields(b, "updatedInput", in, a->text);
	buf_puts(b, "}}");
}

static void
put_gemini(struct buf *b, const struct hook_input *in,
    const struct answer *a)
{
	buf_putc(b, '{');
	if (a->kind == ANSWER_DENY) {
		json_put_text(b, "decision", "deny");
		json_put_text(b, "reason", a->text);
	} else if (a->kind == ANSWER_REWRITE) {
		json_put_name(b, "hookSpecificOutput");
		buf_putc(b, '{');
		json_put_text(b, "hookEventName", "BeforeTool");
		put_command(b, "tool_input", in, a->text);
		buf_putc(b, '}');
	}
	buf_putc(b, '}');
}

static void
put_opencode(struct buf *b, const struct hook_input *in,
    const struct answer *a)
{
	if (a->kind != ANSWER_DENY && a->kind != ANSWER_REWRITE)
		return;
	buf_putc(b, '{');
	json_put_text(b, "decision", a->kind == ANSWER_DENY ? "deny" : "wrap");
	if (a->kind == ANSWER_DENY)
		json_put_text(b, "reason", a->text);
	else
		put_fields(b, "tool_input", in, a->text);
	buf_putc(b, '}');
}

static void
put_copilot(struct buf *b, const struct hook_input *in,
    const struct answer *a)
{
	buf_putc(b, '{');
	if (a->kind == ANSWER_DENY) {
		json_put_text(b, "permissionDecision", "deny");
		json_put_text(b, "permissionDecisionReason", a->text);
	} else if (a->kind == ANSWER_REWRITE) {
		put_fields(b, "modifiedArgs", in, a->text);
	}
	buf_putc(b, '}');
}

/* Empty output blocks where failClosed is set, so there is always an answer. */
static void
put_cursor(struct buf *b, const struct hook_input *in,
    const struct answer *a)
{
	buf_putc(b, '{');
	if (a->kind != ANSWER_NONE) {
		json_put_text(b, "permission", a->kind == ANSWER_DENY ?
		    "deny" : "allow");
		put_member(b, "continue", "true");
	}
	if (a->kind == ANSWER_DENY) {
		json_put_text(b, "user_message", a->text);
		json_put_text(b, "agent_message", a->text);
	} else if (a->kind == ANSWER_REWRITE) {
		put_fields(b, "updated_input", in, a->text);
	}
	buf_putc(b, '}');
}

static void
put_crush(struct buf *b, const struct hook_input *in,
    const struct answer *a)
{
	if (a->kind != ANSWER_DENY && a->kind != ANSWER_REWRITE)
		return;
	buf_putc(b, '{');
	if (a->kind == ANSWER_DENY) {
		json_put_text(b, "decision", "deny");
		json_put_text(b, "reason", a->text);
	} else {
		put_command(b, "updated_input", in, a->text);
	}
	buf_putc(b, '}');
}

static void
put_hermes(struct buf *b, const struct answer *a)
{
	if (a->kind != ANSWER_DENY && a->kind != ANSWER_ERROR)
		return;
	buf_putc(b, '{');
	json_put_text(b, "action", "block");
	json_put_text(b, "message", a->text);
	buf_putc(b, '}');
}

static void
put_windsurf(const struct answer *a, struct answer_out *ret)
{
	if (a->kind != ANSWER_DENY)
		return;
	buf_puts(&ret->err, a->text);
	buf_putc(&ret->err, '\n');
	ret->status = EXIT_USAGE;
}

/* Cursor loads Claude's settings, and so may call Claude's hook its own way. */
static enum dialect
dialect_of(const struct agent *agent, const struct hook_input *in)
{
	enum dialect d = agent->dialect;

	if ((d == DIALECT_CLAUDE || d == DIALECT_CURSOR) && in != NULL) {
		if (in->kind == INPUT_CLAUDE)
			return DIALECT_CLAUDE;
		if (in->kind == INPUT_CURSOR)
			return DIALECT_CURSOR;
	}
	return d;
}

static void
put_dialect(enum dialect d, const struct hook_input *in,
    const struct answer *a, struct answer_out *ret)
{
	struct buf *b = &ret->out;

	switch (d) {
	case DIALECT_CLAUDE:
	case DIALECT_CODEX:
		put_claude(b, in, a);
		break;
	case DIALECT_GEMINI:
		put_gemini(b, in, a);
		break;
	case DIALECT_OPENCODE:
		put_opencode(b, in, a);
		break;
	case DIALECT_COPILOT:
		put_copilot(b, in, a);
		break;
	case DIALECT_CURSOR:
		put_cursor(b, in, a);
		break;
	case DIALECT_CRUSH:
		put_crush(b, in, a);
		break;
	case DIALECT_WINDSURF:
		put_windsurf(a, ret);
		break;
	case DIALECT_HERMES:
		put_hermes(b, a);
		break;
	}
}

void
answer_put(const struct agent *agent, const struct hook_input *in,
    const struct answer *a, struct answer_out *ret)
{
	buf_init(&ret->out, 0);
	buf_init(&ret->err, 0);
	ret->status = 0;
	if (a->kind == ANSWER_ERROR) {
		ret->status = EXIT_USAGE;
		buf_puts(&ret->err, a->text);
		buf_putc(&ret->err, '\n');
		if (agent->dialect == DIALECT_HERMES)
			put_hermes(&ret->out, a);
	} else {
		put_dialect(dialect_of(agent, in), in, a, ret);
	}
	if (ret->out.len > 0)
		buf_putc(&ret->out, '\n');
}

void
answer_release(struct answer_out *o)
{
	buf_release(&o->out);
	buf_release(&o->err);
}
