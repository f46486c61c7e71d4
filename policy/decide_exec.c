#include "policy/decide_exec.h"

#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/vec.h"
#include "policy/cmdrule.h"
#include "policy/decide_ssh.h"
#include "policy/exec_remedy.h"
#include "policy/shunwrap.h"
#include "policy/shwords.h"
#include "policy/sshline.h"
#include "policy/verdict.h"

enum {
	MAX_ITEMS = 8192,		/* commands and lines of one question */
	MAX_NESTED = 24,		/* wrappers within wrappers */
	MAX_TEXT = 4 * SHWORDS_MAX_BYTES,
	DENY_KEY = KEY_OF(command.deny),
	ALLOW_KEY = KEY_OF(command.allow),
	DEFAULTS_KEY = KEY_OF(command.use_defaults),
	UNSEEN_KEY = KEY_OF(command.unseen),
};

/* What waits to be judged: a line, a command, or a variable. */
struct item {
	enum { ITEM_LINE, ITEM_COMMAND, ITEM_ASSIGN } kind;
	struct sh_word		 text;		/* ITEM_LINE */
	bool			 is_posix, is_guess;
	const struct sh_word	*words;
	size_t			 nwords;
	const struct sh_command	*command;	/* or NULL, see shunwrap.h */
	const struct sh_line	*line;
	const char		*program;	/* of an execve */
	size_t			 offset;
	bool			 is_inner;	/* offset is the outer one's */
	bool			 is_remote;	/* it runs on another host */
	unsigned		 depth;
};

struct judge {
	const struct policy		*policy;
	const struct exec_world		*world;
	struct arena			*arena;
	struct { struct item *v; size_t n, cap; } stack;
	size_t				 nitems, ntext;
	bool				 is_alone;
	struct exec_verdict		*out;
	/* A denial, or the first entry that permitted something. */
	bool				 has_spoken, has_entry;
};

/* ---- answers ---- */

static void
note_unseen(struct judge *j, enum exec_unseen why, const struct item *item)
{
	struct exec_verdict *out = j->out;

	if (out->unseen != EXEC_SEEN || why == EXEC_SEEN || j->is_alone)
		return;
	out->unseen = why;
	if (item->kind == ITEM_LINE)
		exec_words(&item->text, 1, out->unseen_text,
		    sizeof out->unseen_text);
	else
		exec_words(item->words, item->nwords, out->unseen_text,
		    sizeof out->unseen_text);
	if (!j->has_spoken)
		out->offset = item->offset;
}

static void
speak(struct judge *j, const struct item *item)
{
	j->has_spoken = true;
	j->out->offset = item->offset;
	exec_words(item->words, item->nwords, j->out->command,
	    sizeof j->out->command);
}

/* ---- the rules of one layer about one command ---- */

static void
deny_by_entry(const struct policy *p, size_t i, const struct cmd_ask *ask,
    struct verdict *v)
{
	verdict_entry(v, ACTION_DENY, DENY_KEY, &p->command.deny, i);
	verdict_reason(v, "the rule refuses this command");
	if (!exec_remedy_add(v, ALLOW_KEY, ask,
	    p->cmd_index->v[CMD_DENY][i]))
		verdict_remedy(v, REMEDY_REMOVE, DENY_KEY,
		    p->command.deny.v[i].text);
}

static void
deny_by_default(const struct policy *p, const char *text,
    const struct cmd_ask *ask, struct verdict *v)
{
	struct arena *a = arena_new();
	const struct cmdrule *rule;
	struct err e;

	verdict_rule(v, ACTION_DENY, RULE_BUILTIN_COMMAND, text,
	    p->command.use_defaults.at);
	verdict_reason(v, "on the built-in list of dangerous commands");
	if (cmdrule_new(a, text, &rule, &e) != 0 ||
	    !exec_remedy_add(v, ALLOW_KEY, ask,
	    cmdrule_match(rule, ask, true) == CMD_NO ? NULL : rule))
		verdict_remedy(v, REMEDY_SET, DEFAULTS_KEY, "false");
	arena_free(a);
}

enum layer_answer { LAYER_PASSES, LAYER_ALLOWS, LAYER_DENIES, LAYER_UNSURE };

/*
 * YES_WITHOUT is a guess that certain words expand to nothing: enough for a
 * denial, and for an allowance of what such a denial refuses.
 */
static enum layer_answer
ask_layer(const struct policy *p, const struct cmd_ask *ask,
    struct verdict *v)
{
	size_t denied = 0, allowed = 0;
	enum cmd_match allow, deny, builtin = CMD_NO;
	const char *text = NULL;

	allow = cmd_index_find(p, CMD_ALLOW, ask, &allowed);
	if (allow == CMD_YES) {
		verdict_entry(v, ACTION_ALLOW, ALLOW_KEY, &p->command.allow,
		    allowed);
		verdict_reason(v, "the rule permits this command");
		return LAYER_ALLOWS;
	}
	deny = cmd_index_find(p, CMD_DENY, ask, &denied);
	if (p->command.use_defaults.value != TRI_FALSE)
		text = cmdrule_builtin(ask, &builtin);
	if (allow == CMD_YES_WITHOUT && deny != CMD_YES && builtin != CMD_YES)
		return LAYER_PASSES;
	if (deny >= CMD_YES_WITHOUT) {
		deny_by_entry(p, denied, ask, v);
		return LAYER_DENIES;
	}
	if (builtin >= CMD_YES_WITHOUT) {
		deny_by_default(p, text, ask, v);
		return LAYER_DENIES;
	}
	return deny == CMD_MAYBE || builtin == CMD_MAYBE ? LAYER_UNSURE :
	    LAYER_PASSES;
}

/* Does any layer refuse the command under this name? */
static bool
local_denies(struct judge *j, const struct item *item,
    const struct cmd_ask *ask)
{
	struct verdict *v = &j->out->v;

	for (const struct policy *p = j->policy; p != NULL; p = p->also) {
		struct verdict answer;

		switch (ask_layer(p, ask, &answer)) {
		case LAYER_PASSES:
			break;
		case LAYER_ALLOWS:
			if (!j->has_entry && p == j->policy) {
				*v = answer;
				j->has_entry = true;
				speak(j, item);
				j->has_spoken = false;
			}
			break;
		case LAYER_UNSURE:
			note_unseen(j, EXEC_UNSEEN_WORDS, item);
			break;
		case LAYER_DENIES:
			*v = answer;
			speak(j, item);
			return true;
		}
	}
	return false;
}

static bool
remote_denies(struct judge *j, const struct item *item,
    const struct cmd_ask *ask)
{
	for (const struct policy *p = j->policy; p != NULL; p = p->also) {
		bool is_unsure = false;

		if (decide_ssh_command_denies(p, ask, &j->out->v,
		    &is_unsure)) {
			speak(j, item);
			return true;
		}
		if (is_unsure)
			note_unseen(j, EXEC_UNSEEN_WORDS, item);
	}
	return false;
}

/* ---- names ---- */

/* The name that a word in command position spells, or NULL. */
static const char *
name_of(const struct sh_word *w)
{
	const char *name = cmdrule_last_name(w->text);

	if (!w->is_whole && (name == w->text || *name == '\0' ||
	    w->len - (size_t)(name - w->text) > w->tail))
		return NULL;
	return name;
}

enum { MOST_NAMES = 4 };

static void
add_name(const char **names, size_t *n, const char *name)
{
	if (name == NULL || *name == '\0' || *n >= MOST_NAMES)
		return;
	for (size_t i = 0; i < *n; i++)
		if (strcmp(names[i], name) == 0)
			return;
	names[(*n)++] = name;
}

/*
 * All names that the program goes by: that of its file, the one it is told
 * (programs of many names do what that says), and its file's behind symlinks.
 */
static size_t
names_of(struct judge *j, const struct item *item, const char **names)
{
	const struct exec_world *world = j->world;
	const char *word = name_of(&item->words[0]), *real = NULL;
	const char *program = item->program;
	size_t n = 0;

	if (program != NULL)
		add_name(names, &n, cmdrule_last_name(program));
	if (word != NULL && word[0] == '-' && word[1] != '\0')
		word++;			/* a login shell */
	/* zsh: "=git" is the path of git. */
	if (word != NULL && word[0] == '=' && word[1] != '\0')
		word++;
	add_name(names, &n, word);
	if (program == NULL && item->words[0].is_whole)
		program = item->words[0].text;
	if (world != NULL && world->real_name != NULL && program != NULL &&
	    !item->is_remote)
		real = world->real_name(world->arg, program);
	if (real != NULL)
		add_name(names, &n, arena_strdup(j->arena, real));
	return n;
}

/* ---- what is inside ---- */

static void
push(struct judge *j, const struct item *parent, struct item item)
{
	item.is_inner |= parent->is_inner;
	if (item.is_inner)
		item.offset = parent->offset;
	item.depth = parent->depth + 1;
	item.is_remote |= parent->is_remote;
	*vec_push(&j->stack) = item;
}

/* What came out of a wrapper; the last pushed is judged first. */
static void
push_unwrapped(struct judge *j, const struct item *parent,
    const struct unwrap *u)
{
	for (size_t i = u->n; i > 0; i--) {
		const struct unwrapped *w = &u->v[i - 1];
		struct item item = { .words = w->words, .nwords = w->nwords,
		    .text = w->text, .is_posix = w->is_posix,
		    .command = parent->command, .line = parent->line,
		    .is_inner = true };

		switch (w->kind) {
		case UNWRAP_UNSEEN:
			break;
		case UNWRAP_ARGV:
			item.kind = ITEM_COMMAND;
			push(j, parent, item);
			break;
		case UNWRAP_ASSIGN:
			item.kind = ITEM_ASSIGN;
			push(j, parent, item);
			break;
		case UNWRAP_GUESS:
			item.is_guess = true;
			/* fall through */
		case UNWRAP_LINE:
			item.kind = ITEM_LINE;
			item.command = NULL;
			item.line = NULL;
			push(j, parent, item);
			break;
		}
	}
	for (size_t i = 0; i < u->n; i++)
		if (u->v[i].kind == UNWRAP_UNSEEN)
			note_unseen(j, u->v[i].why, parent);
}

static void
look_through(struct judge *j, const struct item *item, const char *name)
{
	struct unwrap *u = arena_alloc(j->arena, sizeof *u);

	*u = (struct unwrap){ .arena = j->arena, .name = name,
	    .words = item->words, .nwords = item->nwords,
	    .command = item->command, .line = item->line };
	if (j->world != NULL && !item->is_remote) {
		u->git_alias = j->world->git_alias;
		u->arg = j->world->arg;
	}
	shunwrap(u);
	push_unwrapped(j, item, u);
}

static void
look_at_assigns(struct judge *j, const struct item *item)
{
	const struct sh_command *c = item->command;

	for (size_t i = 0; i < c->nassigns; i++)
		push(j, item, (struct item){ .kind = ITEM_ASSIGN,
		    .words = &c->assigns[i], .nwords = 1, .is_inner = true });
}

/* ---- ssh ---- */

static bool
judge_ssh(struct judge *j, const struct item *item, const char *name)
{
	struct sshline *line = arena_alloc(j->arena, sizeof *line);
	struct sshline_ask ask = { .arena = j->arena, .name = name,
	    .words = item->words, .nwords = item->nwords };
	bool is_active = false;

	if (j->world != NULL && !item->is_remote) {
		ask.config = j->world->ssh_config;
		ask.arg = j->world->arg;
	}
	if (!sshline_parse(&ask, line))
		return false;
	for (const struct policy *p = j->policy; p != NULL; p = p->also) {
		is_active |= decide_ssh_is_active(p);
		if (decide_ssh_hosts_deny(p, line, &j->out->v)) {
			speak(j, item);
			return true;
		}
	}
	if (is_active && line->is_unsure)
		note_unseen(j, EXEC_UNSEEN_WORDS, item);
	for (size_t i = 0; i < line->nlocal; i++)
		if (!line->local[i].is_whole)
			note_unseen(j, EXEC_UNSEEN_TEXT, item);
	for (size_t i = 0; is_active && i < line->nremote; i++)
		if (!line->remote[i].is_whole)
			note_unseen(j, EXEC_UNSEEN_TEXT, item);
	if (line->is_cut)
		note_unseen(j, EXEC_UNSEEN_MANY, item);
	for (size_t i = line->nlocal; i > 0; i--)
		push(j, item, (struct item){ .kind = ITEM_LINE,
		    .text = line->local[i - 1], .is_posix = true,
		    .is_inner = true });
	for (size_t i = is_active ? line->nremote : 0; i > 0; i--)
		push(j, item, (struct item){ .kind = ITEM_LINE,
		    .text = line->remote[i - 1], .is_posix = true,
		    .is_inner = true, .is_remote = true });
	return false;
}

/* ---- items ---- */

/* Words that may expand to none leave the next one in their place. */
static void
push_rest(struct judge *j, const struct item *item)
{
	const struct sh_word *w = &item->words[0];

	if (w->is_whole || !w->may_split || w->head > 0 || w->tail > 0 ||
	    item->nwords < 2)
		return;
	push(j, item, (struct item){ .kind = ITEM_COMMAND,
	    .words = item->words + 1, .nwords = item->nwords - 1,
	    .command = item->command, .line = item->line,
	    .is_inner = true });
}

/* A file of git's called git-push is "git push". */
static void
push_dashed(struct judge *j, const struct item *item, const char **names,
    size_t n)
{
	const char *dashed = NULL;
	struct sh_word *words;
	bool is_git = false;

	for (size_t i = 0; i < n; i++) {
		is_git |= strcmp(names[i], "git") == 0;
		if (strncmp(names[i], "git-", 4) == 0)
			dashed = names[i] + 4;
	}
	if (!is_git || dashed == NULL || item->is_remote)
		return;
	words = arena_alloc(j->arena, (item->nwords + 1) * sizeof *words);
	words[0] = shwords_literal("git");
	words[1] = shwords_literal(dashed);
	memcpy(words + 2, item->words + 1, (item->nwords - 1) *
	    sizeof *words);
	push(j, item, (struct item){ .kind = ITEM_COMMAND, .words = words,
	    .nwords = item->nwords + 1, .line = item->line,
	    .is_inner = true });
}

static bool
judge_command(struct judge *j, const struct item *item)
{
	const char *names[MOST_NAMES];
	size_t n;

	if (item->command != NULL && !j->is_alone)
		look_at_assigns(j, item);
	if (item->nwords == 0)
		return false;
	n = names_of(j, item, names);
	push_dashed(j, item, names, n);
	if (n == 0 || !item->words[0].is_whole) {
		if (n == 0 || item->words[0].may_split)
			note_unseen(j, EXEC_UNSEEN_PROGRAM, item);
		push_rest(j, item);
	}
	if (n == 0 && item->is_remote)
		return remote_denies(j, item, &(struct cmd_ask){ NULL,
		    item->words, item->nwords });
	for (size_t i = 0; i < n; i++) {
		struct cmd_ask ask = { names[i], item->words, item->nwords };

		if (item->is_remote ? remote_denies(j, item, &ask) :
		    local_denies(j, item, &ask))
			return true;
	}
	for (size_t i = 0; i < n; i++)
		if (judge_ssh(j, item, names[i]))
			return true;
	for (size_t i = n; i > 0 && !j->is_alone; i--)
		look_through(j, item, names[i - 1]);
	return false;
}

static void
push_line(struct judge *j, const struct item *item, enum sh_dialect dialect,
    bool *ret_is_dialect)
{
	struct sh_line *line = arena_alloc(j->arena, sizeof *line);

	shwords_parse(j->arena, dialect, item->text.text, item->text.len,
	    line);
	for (size_t i = line->n; i > 0; i--) {
		const struct sh_command *c = &line->v[i - 1];

		push(j, item, (struct item){ .kind = ITEM_COMMAND,
		    .words = c->words, .nwords = c->nwords, .command = c,
		    .line = line, .offset = c->offset });
	}
	if (dialect == SH_BASH && !item->is_guess && line->nunseen > 0) {
		struct item part = *item;

		if (!item->is_inner)
			part.offset = line->unseen[0].offset;
		if (line->unseen[0].offset < item->text.len) {
			part.text.text += line->unseen[0].offset;
			part.text.len -= line->unseen[0].offset;
		}
		note_unseen(j, line->unseen[0].why, &part);
	}
	*ret_is_dialect = line->is_dialect;
}

/*
 * Where a POSIX shell may read the line in another way than bash, both ways
 * are judged: nobody knows which shell `sh` is.
 */
static bool
judge_line(struct judge *j, const struct item *item)
{
	static const struct sh_word nothing[1];
	bool is_dialect, ignored;
	size_t before = j->stack.n, unseen;

	j->ntext += item->text.len;
	if (j->ntext > MAX_TEXT) {
		note_unseen(j, EXEC_UNSEEN_MANY, item);
		return false;
	}
	unseen = j->out->unseen;
	push_line(j, item, SH_BASH, &is_dialect);
	if (is_dialect && item->is_posix)
		push_line(j, item, SH_POSIX, &ignored);
	/* What is not parsed matches no entry of ssh.allowedCommands. */
	if (item->is_remote && !item->is_guess && (j->out->unseen != unseen ||
	    (j->stack.n == before && item->text.text[strspn(item->text.text,
	    " \t\n")] != '\0')))
		return remote_denies(j, item, &(struct cmd_ask){ NULL,
		    nothing, 0 });
	return false;
}

static void
judge_assign(struct judge *j, const struct item *item)
{
	struct unwrap *u = arena_alloc(j->arena, sizeof *u);

	*u = (struct unwrap){ .arena = j->arena, .name = "" };
	shunwrap_assign(u, &item->words[0]);
	push_unwrapped(j, item, u);
}

static bool
judge_item(struct judge *j, const struct item *item)
{
	if (j->nitems++ >= MAX_ITEMS) {
		note_unseen(j, EXEC_UNSEEN_MANY, item);
		return false;
	}
	if (item->depth > MAX_NESTED) {
		note_unseen(j, EXEC_UNSEEN_DEEP, item);
		return false;
	}
	switch (item->kind) {
	case ITEM_LINE:
		return judge_line(j, item);
	case ITEM_COMMAND:
		return judge_command(j, item);
	case ITEM_ASSIGN:
		judge_assign(j, item);
		break;
	}
	return false;
}

/* ---- the end of it ---- */

static void
deny_unseen(struct judge *j)
{
	struct exec_verdict *out = j->out;

	for (const struct policy *p = j->policy; p != NULL; p = p->also) {
		if (p->command.unseen.value != UNSEEN_DENY)
			continue;
		verdict_key(&out->v, ACTION_DENY, UNSEEN_KEY,
		    p->command.unseen.at);
		verdict_reason(&out->v, "%s", unseen_words(out->unseen));
		verdict_remedy(&out->v, REMEDY_SET, UNSEEN_KEY, "\"allow\"");
		memcpy(out->command, out->unseen_text,
		    sizeof out->unseen_text);
		j->has_spoken = true;
		return;
	}
}

static void
judge(struct judge *j, struct item first)
{
	struct exec_verdict *out = j->out;
	size_t unseen_offset = 0;

	out->command[0] = out->unseen_text[0] = '\0';
	out->offset = 0;
	out->unseen = EXEC_SEEN;
	verdict_default(&out->v, ACTION_ALLOW, DENY_KEY,
	    &j->policy->command.deny);
	j->arena = arena_new();
	*vec_push(&j->stack) = first;
	while (j->stack.n > 0 && !j->has_spoken) {
		struct item item = j->stack.v[--j->stack.n];
		bool was_seen = out->unseen == EXEC_SEEN;

		judge_item(j, &item);
		if (was_seen && out->unseen != EXEC_SEEN)
			unseen_offset = out->offset;
	}
	if (!j->has_spoken && out->unseen != EXEC_SEEN) {
		out->offset = unseen_offset;
		deny_unseen(j);
	}
	vec_release(&j->stack);
	arena_free(j->arena);
}

void
decide_line(const struct policy *p, const char *line, size_t len,
    const struct exec_world *world, struct exec_verdict *ret)
{
	struct judge j = { .policy = p, .world = world, .out = ret };

	judge(&j, (struct item){ .kind = ITEM_LINE, .is_posix = true,
	    .text = { .text = line, .len = len, .head = len, .tail = len,
	    .is_whole = true } });
}

static void
judge_argv(const struct policy *p, const char *program,
    const char *const *argv, size_t argc, const struct exec_world *world,
    bool is_alone, struct exec_verdict *ret)
{
	struct judge j = { .policy = p, .world = world, .out = ret,
	    .is_alone = is_alone };
	struct sh_word *words = xcalloc(argc + 1, sizeof *words);

	for (size_t i = 0; i < argc; i++)
		words[i] = shwords_literal(argv[i]);
	if (argc == 0 && program != NULL)
		words[argc++] = shwords_literal(program);
	judge(&j, (struct item){ .kind = ITEM_COMMAND, .words = words,
	    .nwords = argc, .program = program, .is_inner = true });
	free(words);
}

void
decide_argv(const struct policy *p, const char *program,
    const char *const *argv, size_t argc, const struct exec_world *world,
    struct exec_verdict *ret)
{
	judge_argv(p, program, argv, argc, world, false, ret);
}

void
decide_argv_alone(const struct policy *p, const char *program,
    const char *const *argv, size_t argc, const struct exec_world *world,
    struct exec_verdict *ret)
{
	judge_argv(p, program, argv, argc, world, true, ret);
}

bool
decide_exec_has_rules(const struct policy *p)
{
	for (; p != NULL; p = p->also)
		if (p->command.deny.n > 0 || decide_ssh_is_active(p) ||
		    p->command.unseen.value == UNSEEN_DENY)
			return true;
	return false;
}

/* A file that answers to many names is told apart by its words alone. */
static bool
is_shared(const char *name)
{
	static const char *const names[] = { "busybox", "toybox",
	    "coreutils" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

bool
decide_exec_needs_argv(const struct policy *p)
{
	for (; p != NULL; p = p->also) {
		if (decide_ssh_is_active(p))
			return true;
		for (size_t i = 0; i < p->command.deny.n; i++) {
			const struct cmdrule *r =
			    p->cmd_index->v[CMD_DENY][i];

			if (r != NULL && (r->regex != NULL ||
			    r->ntokens > 1 || is_shared(r->tokens[0])))
				return true;
		}
	}
	return false;
}
