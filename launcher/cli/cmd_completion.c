/*
 * fence completion: scripts for shells, made from the tables of commands and
 * options, so that a new row completes by itself.
 */
#include "launcher/cli/cmd.h"

#include <stdio.h>
#include <string.h>

#include "launcher/exit.h"
#include "launcher/hooks/agent.h"
#include "platform/base/buf.h"
#include "policy/policy.h"

static void
put_templates(struct buf *b)
{
	const char *name;

	for (size_t i = 0; (name = policy_builtin_name(i, NULL)) != NULL; i++)
		buf_printf(b, "%s%s", i > 0 ? " " : "", name);
}

static void
put_agents(struct buf *b)
{
	for (const struct agent *a = agents; a->name != NULL; a++)
		buf_printf(b, "%s%s", a != agents ? " " : "", a->name);
}

/* The words that may follow a command: subs, or its own list. */
static void
put_words(struct buf *b, const struct command *c)
{
	const char *sep = "";

	if (c->words != NULL && strcmp(c->words, "@templates") == 0)
		put_templates(b);
	else if (c->words != NULL && strcmp(c->words, "@agents") == 0)
		put_agents(b);
	else if (c->words != NULL)
		buf_puts(b, c->words);
	for (const struct command *s = c->subs; s != NULL && s->name != NULL;
	    s++) {
		buf_printf(b, "%s%s", sep, s->name);
		sep = " ";
	}
}

/* A value that is one of a few words: "a|b" as "a b". */
static void
put_values(struct buf *b, const char *value)
{
	for (const char *p = value; *p != '\0'; p++)
		buf_putc(b, *p == '|' ? ' ' : *p);
}

static bool
has_values(const struct opt *o)
{
	return o->kind != OPT_LATER && o->value != NULL &&
	    strchr(o->value, '|') != NULL;
}

static void
put_opts(struct buf *b, const struct opt *table)
{
	const char *sep = "";

	for (const struct opt *o = table; o != NULL && o->name != NULL; o++) {
		if (o->kind == OPT_LATER)
			continue;
		if (o->letter != 0)
			buf_printf(b, "%s-%c --%s", sep, o->letter, o->name);
		else
			buf_printf(b, "%s--%s", sep, o->name);
		sep = " ";
	}
}

/* Every command that is in this version, each sub by "config show". */
static void
each_command(struct buf *b, void (*fn)(struct buf *, const char *at,
    const struct command *))
{
	char at[64];

	for (const struct command *c = cmd_table; c->name != NULL; c++) {
		if (c->fn == NULL)
			continue;
		fn(b, c->name, c);
		for (const struct command *s = c->subs; s != NULL &&
		    s->name != NULL; s++) {
			snprintf(at, sizeof at, "%s %s", c->name, s->name);
			fn(b, at, s);
		}
	}
}

static void
put_names(struct buf *b, bool with_subs)
{
	const char *sep = "";

	for (const struct command *c = cmd_table; c->name != NULL; c++) {
		if (c->fn == NULL || (with_subs && c->subs == NULL))
			continue;
		buf_printf(b, "%s%s", sep, c->name);
		sep = with_subs ? "|" : " ";
	}
}

/* ---- bash and zsh ---- */

static void
put_case(struct buf *b, const char *at, const struct command *c)
{
	buf_printf(b, "\t'%s')\n\t\topts='", at);
	put_opts(b, c->opts);
	buf_puts(b, "'\n\t\tlist='");
	put_words(b, c);
	buf_puts(b, "' ;;\n");
}

/* $1, $2: the words before the cursor's; leaves $at, $opts, $list. */
static void
put_lookup(struct buf *b)
{
	buf_puts(b, "_fence_lookup() {\n\tcase $at in\n\tfence-run) at=run ;;\n"
	    "\tfence)\n\t\tcase $1 in\n\t\t'') ;;\n\t\t-*) at=run ;;\n\t\t");
	put_names(b, true);
	buf_puts(b, ") at=\"$1${2:+ $2}\" ;;\n\t\t*) at=$1 ;;\n\t\tesac ;;\n"
	    "\tesac\n\tcase $at in\n\tfence)\n\t\topts='");
	put_opts(b, run_opts);
	buf_puts(b, "'\n\t\tlist='");
	put_names(b, false);
	buf_puts(b, "' ;;\n");
	each_command(b, put_case);
	buf_puts(b, "\t*)\n\t\topts=\n\t\tlist= ;;\n\tesac\n}\n\n");
}

/* What may follow the option before the cursor. */
static void
put_previous(struct buf *b)
{
	buf_puts(b, "\tcase $prev in\n"
	    "\t-t|--template) list='");
	put_templates(b);
	buf_puts(b, "' ;;\n");
	for (const struct opt *o = run_opts; o->name != NULL; o++) {
		if (!has_values(o))
			continue;
		buf_printf(b, "\t--%s) list='", o->name);
		put_values(b, o->value);
		buf_puts(b, "' ;;\n");
	}
	buf_puts(b, "\t-s|--settings|-w|--write|-r|--read|--deny-read|"
	    "-o|--output|--chdir)\n"
	    "\t\tlist= ;;\n"
	    "\tesac\n");
}

static void
put_bash(struct buf *b)
{
	buf_puts(b, "# Completion of fence and fence-run for bash.\n\n");
	put_lookup(b);
	buf_puts(b, "_fence() {\n"
	    "\tlocal cur=${COMP_WORDS[COMP_CWORD]}\n"
	    "\tlocal prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	    "\tlocal at=${COMP_WORDS[0]##*/} first= second= opts list\n"
	    "\t[ \"$COMP_CWORD\" -le 1 ] || first=${COMP_WORDS[1]}\n"
	    "\t[ \"$COMP_CWORD\" -le 2 ] || second=${COMP_WORDS[2]}\n"
	    "\t_fence_lookup \"$first\" \"$second\"\n");
	put_previous(b);
	buf_puts(b, "\tcase $cur in\n"
	    "\t-*) list=$opts ;;\n"
	    "\tesac\n"
	    "\tmapfile -t COMPREPLY < <(compgen -W \"$list\" -- \"$cur\")\n"
	    "}\n\n"
	    "complete -o bashdefault -o default -F _fence fence fence-run\n");
}

static void
put_zsh(struct buf *b)
{
	buf_puts(b, "#compdef fence fence-run\n"
	    "# Completion of fence and fence-run for zsh.\n\n");
	put_lookup(b);
	buf_puts(b, "_fence() {\n"
	    "\tlocal at=${words[1]##*/} prev=${words[CURRENT-1]} opts list\n"
	    "\tlocal first= second=\n"
	    "\t(( CURRENT <= 2 )) || first=${words[2]}\n"
	    "\t(( CURRENT <= 3 )) || second=${words[3]}\n"
	    "\t_fence_lookup \"$first\" \"$second\"\n");
	put_previous(b);
	buf_puts(b, "\tcase $PREFIX in\n"
	    "\t-*) compadd -- ${=opts} ;;\n"
	    "\t*)\n"
	    "\t\t[[ -z $list ]] || compadd -- ${=list}\n"
	    "\t\t[[ $at != run ]] || _command_names -e\n"
	    "\t\t[[ $at == fence ]] || _files ;;\n"
	    "\tesac\n"
	    "}\n\n"
	    "compdef _fence fence fence-run\n");
}

/* ---- fish ---- */

/* Single quotes of fish know \' and \\. */
static void
put_quoted(struct buf *b, const char *s)
{
	buf_putc(b, '\'');
	for (; *s != '\0'; s++) {
		if (*s == '\'' || *s == '\\')
			buf_putc(b, '\\');
		buf_putc(b, *s);
	}
	buf_putc(b, '\'');
}

static void
put_fish_opts(struct buf *b, const char *program, const char *when,
    const struct opt *table)
{
	for (const struct opt *o = table; o != NULL && o->name != NULL; o++) {
		if (o->kind == OPT_LATER)
			continue;
		buf_printf(b, "complete -c %s", program);
		if (when != NULL) {
			buf_puts(b, " -n ");
			put_quoted(b, when);
		}
		if (o->letter != 0)
			buf_printf(b, " -s %c", o->letter);
		buf_printf(b, " -l %s", o->name);
		if (strcmp(o->name, "template") == 0) {
			buf_puts(b, " -x -a '");
			put_templates(b);
			buf_putc(b, '\'');
		} else if (has_values(o)) {
			buf_puts(b, " -x -a '");
			put_values(b, o->value);
			buf_putc(b, '\'');
		} else if (o->value != NULL) {
			buf_puts(b, " -r");
		}
		buf_puts(b, " -d ");
		put_quoted(b, o->help);
		buf_putc(b, '\n');
	}
}

static void
put_fish_command(struct buf *b, const char *at, const struct command *c)
{
	const char *blank = strchr(at, ' ');
	char when[160];

	if (blank == NULL)
		snprintf(when, sizeof when, "__fish_use_subcommand");
	else
		snprintf(when, sizeof when, "__fish_seen_subcommand_from %.*s",
		    (int)(blank - at), at);
	buf_printf(b, "complete -c fence -f -n '%s' -a %s -d ", when,
	    c->name);
	put_quoted(b, c->help);
	buf_putc(b, '\n');
	if (blank == NULL)
		snprintf(when, sizeof when, "__fish_seen_subcommand_from %s",
		    c->name);
	else
		snprintf(when, sizeof when, "__fish_seen_subcommand_from %.*s"
		    "; and __fish_seen_subcommand_from %s",
		    (int)(blank - at), at, c->name);
	put_fish_opts(b, "fence", when, c->opts);
	if (c->words != NULL) {
		buf_printf(b, "complete -c fence -n '%s' -a '", when);
		put_words(b, c);
		buf_puts(b, "'\n");
	}
}

static void
put_fish(struct buf *b)
{
	buf_puts(b, "# Completion of fence and fence-run for fish.\n\n");
	put_fish_opts(b, "fence-run", NULL, run_opts);
	buf_puts(b, "complete -c fence-run -x -a "
	    "'(__fish_complete_subcommand)'\n");
	put_fish_opts(b, "fence", "__fish_use_subcommand", run_opts);
	each_command(b, put_fish_command);
}

/* ---- the command ---- */

int
cmd_completion(const char *program, int argc, char **argv, struct err *e)
{
	static const struct { const char *name; void (*put)(struct buf *); }
	    shells[] = {
		{ "bash", put_bash }, { "zsh", put_zsh },
		{ "fish", put_fish },
	};
	struct buf b;

	(void)program;
	if (argc != 2) {
		err_set(e, ERR_USAGE, "'fence completion' wants a shell");
		err_hint(e, "bash, zsh or fish");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
		if (strcmp(shells[i].name, argv[1]) == 0) {
			buf_init(&b, 0);
			shells[i].put(&b);
			fwrite(b.data, 1, b.len, stdout);
			buf_release(&b);
			return 0;
		}
	err_set(e, ERR_USAGE, "there is no completion for '%.60s'", argv[1]);
	err_hint(e, "bash, zsh or fish");
	return EXIT_USAGE;
}
