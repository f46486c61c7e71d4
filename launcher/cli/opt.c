#include "launcher/cli/opt.h"

#include <string.h>

#include "platform/base/str.h"
#include "platform/base/vec.h"

#define AT(field)	offsetof(struct run_options, field)

const struct opt run_opts[] = {
	OPT_POLICY_ROWS(struct run_options, ),
	{ 'd', "debug", NULL, OPT_FLAG, AT(debug),
	    "tell what the run is made of, and all that the gate decides" },
	{ 'm', "monitor", NULL, OPT_FLAG, AT(monitor),
	    "tell every refusal on stderr as it happens" },
	{ 0, "fence-log-file", "PATH", OPT_TEXT, AT(log_file),
	    "write fence's own lines to PATH instead of stderr" },
	{ 0, "watch-policy", NULL, OPT_FLAG, AT(watch_policy),
	    "let changes of the policy's network part take effect" },
	{ 0, "trace-file", "DEST", OPT_TEXT, AT(trace_file),
	    "write each record as a JSON line to FILE, fd:N or unix:PATH" },
	{ 'c', "c", "STRING", OPT_TEXT, AT(command),
	    "let a shell run STRING, as sh -c does" },
	{ 0, "shell", "default|user", OPT_TEXT, AT(shell),
	    "the shell of -c: bash, or that of $SHELL" },
	{ 0, "shell-login", NULL, OPT_FLAG, AT(shell_login),
	    "the shell of -c is a login shell" },
	{ 0, "chdir", "DIR", OPT_TEXT, AT(chdir),
	    "run as if started in DIR" },
	{ 0, "env", "NAME[=VALUE]", OPT_LIST, AT(env),
	    "set a variable, or let the caller's pass; may be repeated" },
	{ 0, "force-new-session", NULL, OPT_TRI, AT(force_new_session),
	    "a session, and on a terminal a terminal, of its own" },
	{ 0, "keep-fd", "N", OPT_LIST, AT(keep_fd),
	    "leave descriptor N open to the command; may be repeated" },
	{ 0, "engine", "bwrap|native", OPT_TEXT, AT(engine),
	    "what builds the jail; native is faster, and without bwrap" },
	{ 'p', "port", "[ADDR:]PORT[:INSIDE]", OPT_LIST, AT(port),
	    "let a port of the host lead in; may be repeated" },
	{ 0, "service-execution-model", "in-sandbox|on-host", OPT_WORD,
	    AT(model), "on-host: others listen on the ports of -p" },
	{ 0, "expose-host-path", "PATH", OPT_LIST, AT(expose),
	    "show the host's PATH, also below /tmp and /run" },
	{ 0, "expose-host-path-rw", "PATH", OPT_LIST, AT(expose_rw),
	    "the same, writable" },
	{ 0, "dry-run", NULL, OPT_FLAG, AT(dry_run),
	    "print what would be done and start nothing" },
	{ 0, "list-templates", NULL, OPT_FLAG, AT(list_templates),
	    "print the built-in policies" },
	{ 0, "linux-features", NULL, OPT_FLAG, AT(linux_features),
	    "print what this machine has for a jail" },
	{ 'h', "help", NULL, OPT_FLAG, AT(help), "print this text" },
	{ 'v', "version", NULL, OPT_FLAG, AT(version), "print the version" },
	/* Options of the Go program, and ours to come: never ignored. */
	{ 0, "weaker", NULL, OPT_LATER, 0, NULL },
	{ 0, NULL, NULL, OPT_FLAG, 0, NULL },
};

static const struct opt *
by_letter(const struct opt *table, char c)
{
	for (const struct opt *o = table; o->name != NULL; o++)
		if (o->letter != 0 && o->letter == c)
			return o;
	return NULL;
}

static const struct opt *
by_name(const struct opt *table, struct str name)
{
	for (const struct opt *o = table; o->name != NULL; o++)
		if (str_eq(name, o->name))
			return o;
	return NULL;
}

static int
unknown(const struct opt *table, const char *word, struct err *e)
{
	const struct opt *best = NULL;
	unsigned least = 4;

	err_set(e, ERR_USAGE, "unknown option '%s'", word);
	for (const struct opt *o = table; o->name != NULL; o++) {
		unsigned d = str_distance(word + strspn(word, "-"), o->name);

		if (d < least) {
			least = d;
			best = o;
		}
	}
	if (best != NULL)
		err_hint(e, "did you mean --%s?", best->name);
	else if (table == run_opts)
		err_hint(e, "fence-run --help lists the options");
	else
		err_hint(e, "fence help lists the options");
	return -1;
}

static bool
takes_value(const struct opt *o)
{
	return o->kind == OPT_TEXT || o->kind == OPT_LIST ||
	    o->kind == OPT_WORD;
}

/* A value's name "a|b" says what it may be; any other name, that it may be
 * anything. */
static bool
is_choice(const char *name, const char *value)
{
	size_t n = strlen(value);

	if (strchr(name, '|') == NULL)
		return true;
	for (const char *p = name; p != NULL; p = strchr(p, '|')) {
		p += *p == '|';
		if (strcspn(p, "|") == n && strncmp(p, value, n) == 0)
			return true;
	}
	return false;
}

/* --flag=true and --flag=false, as some write them. */
static int
take_flag(const struct opt *o, const char *value, bool *at, struct err *e)
{
	if (value != NULL && strcmp(value, "true") != 0 &&
	    strcmp(value, "false") != 0)
		return err_set(e, ERR_USAGE, "--%s takes no value but true "
		    "or false", o->name);
	*at = value == NULL || value[0] == 't';
	return 0;
}

static int
take(const struct opt *o, const char *word, const char *value, void *into,
    struct err *e)
{
	char *at = (char *)into + o->offset;
	bool is_on;

	if (takes_value(o) && (value == NULL ||
	    (value[0] == '\0' && o->kind != OPT_WORD))) {
		err_set(e, ERR_USAGE, "%s wants a value", word);
		err_hint(e, "--%s %s", o->name, o->value);
		return -1;
	}
	if (takes_value(o) && o->kind != OPT_WORD && !is_choice(o->value, value)) {
		err_set(e, ERR_USAGE, "--%s: '%.60s' is none of %s", o->name,
		    value, o->value);
		return -1;
	}
	switch (o->kind) {
	case OPT_LATER:
		return err_set(e, ERR_USAGE, "--%s is not in this version",
		    o->name);
	case OPT_FLAG:
		return take_flag(o, value, (bool *)(void *)at, e);
	case OPT_TRI:
		if (take_flag(o, value, &is_on, e) != 0)
			return -1;
		*(enum tri *)(void *)at = is_on ? TRI_TRUE : TRI_FALSE;
		return 0;
	case OPT_TEXT:
	case OPT_WORD:
		*(const char **)(void *)at = value;
		return 0;
	case OPT_LIST:
		*vec_push((struct opt_list *)(void *)at) = value;
		return 0;
	}
	return -1;
}

/* --name, --name=value, --name value. */
static int
parse_long(const struct opt *table, int argc, char **argv, int *i,
    void *into, struct err *e)
{
	char *word = argv[*i], *eq = strchr(word, '=');
	struct str name = { word + 2, eq != NULL ? (size_t)(eq - word - 2) :
	    strlen(word + 2) };
	const struct opt *o = by_name(table, name);
	const char *value = eq != NULL ? eq + 1 : NULL;

	if (o == NULL)
		return unknown(table, word, e);
	if (takes_value(o) && value == NULL && *i + 1 < argc)
		value = argv[++*i];
	return take(o, word, value, into, e);
}

/* -m, -ms FILE, -sFILE. */
static int
parse_short(const struct opt *table, int argc, char **argv, int *i,
    void *into, struct err *e)
{
	char *word = argv[*i];

	for (char *p = word + 1; *p != '\0'; p++) {
		const struct opt *o = by_letter(table, *p);
		const char *value = NULL;

		if (o == NULL)
			return unknown(table, word, e);
		if (takes_value(o)) {
			if (p[1] != '\0')
				value = p + 1;
			else if (*i + 1 < argc)
				value = argv[++*i];
			return take(o, word, value, into, e);
		}
		if (take(o, word, NULL, into, e) != 0)
			return -1;
	}
	return 0;
}

/* From argv[*i] on; stops at the first word, and behind a "--". */
static int
parse_some(const struct opt *table, int argc, char **argv, void *into,
    int *i, bool *ret_ended, struct err *e)
{
	for (; *i < argc; ++*i) {
		char *word = argv[*i];

		if (word[0] != '-' || word[1] == '\0')
			break;
		if (strcmp(word, "--") == 0) {
			*ret_ended = true;
			++*i;
			break;
		}
		if ((word[1] == '-' ? parse_long : parse_short)(table, argc,
		    argv, i, into, e) != 0)
			return -1;
	}
	return 0;
}

int
opt_parse_table(const struct opt *table, int argc, char **argv, void *into,
    int *ret_rest, struct err *e)
{
	bool ended = false;
	int i = 1;

	if (parse_some(table, argc, argv, into, &i, &ended, e) != 0)
		return -1;
	*ret_rest = i;
	return 0;
}

int
opt_parse_words(const struct opt *table, int argc, char **argv, void *into,
    int *ret_nwords, struct err *e)
{
	bool ended = false;
	int i = 1, n = 0;

	for (;;) {
		if (!ended && parse_some(table, argc, argv, into, &i, &ended,
		    e) != 0)
			return -1;
		if (i >= argc)
			break;
		argv[++n] = argv[i++];
	}
	*ret_nwords = n;
	return 0;
}

int
opt_parse(int argc, char **argv, struct run_options *ro, int *ret_rest,
    struct err *e)
{
	return opt_parse_table(run_opts, argc, argv, ro, ret_rest, e);
}

void
opt_release(struct run_options *ro)
{
	vec_release(&ro->allow);
	vec_release(&ro->write);
	vec_release(&ro->read);
	vec_release(&ro->deny_read);
	vec_release(&ro->port);
	vec_release(&ro->expose);
	vec_release(&ro->expose_rw);
	vec_release(&ro->env);
	vec_release(&ro->keep_fd);
}

void
opt_rows(const struct opt *table, FILE *fp)
{
	for (const struct opt *o = table; o->name != NULL; o++) {
		char left[64];

		if (o->kind == OPT_LATER)
			continue;
		snprintf(left, sizeof left, "%c%c --%s%s%s",
		    o->letter != 0 ? '-' : ' ',
		    o->letter != 0 ? o->letter : ' ',
		    o->name,
		    o->value != NULL ? " " : "",
		    o->value != NULL ? o->value : "");
		fprintf(fp, "  %-26s %s\n", left, o->help);
	}
}

void
opt_usage(const char *program, FILE *fp)
{
	fprintf(fp, "usage: %s [options] [--] command [argument ...]\n",
	    program);
	opt_rows(run_opts, fp);
}
