#include "launcher/opt.h"

#include <string.h>

#include "platform/base/str.h"
#include "platform/base/vec.h"

#define AT(field)	offsetof(struct run_options, field)

const struct opt run_opts[] = {
	OPT_POLICY_ROWS(struct run_options, ),
	{ 'm', "monitor", NULL, OPT_FLAG, AT(monitor),
	    "tell every refusal on stderr as it happens" },
	{ 0, "trace-file", "DEST", OPT_TEXT, AT(trace_file),
	    "write each record as a JSON line to FILE, fd:N or unix:PATH" },
	{ 0, "expose-host-path", "PATH", OPT_LIST, AT(expose),
	    "show the host's PATH, also below /tmp and /run" },
	{ 0, "expose-host-path-rw", "PATH", OPT_LIST, AT(expose_rw),
	    "the same, writable" },
	{ 0, "dry-run", NULL, OPT_FLAG, AT(dry_run),
	    "print what would be done and start nothing" },
	{ 0, "list-templates", NULL, OPT_FLAG, AT(list_templates),
	    "print the built-in policies" },
	{ 'h', "help", NULL, OPT_FLAG, AT(help), "print this text" },
	{ 'v', "version", NULL, OPT_FLAG, AT(version), "print the version" },
	/* Options of the Go program, and ours to come: never ignored. */
	{ 'd', "debug", NULL, OPT_LATER, 0, NULL },
	{ 'c', "c", NULL, OPT_LATER, 0, NULL },
	{ 'p', "port", NULL, OPT_LATER, 0, NULL },
	{ 0, "service-execution-model", NULL, OPT_LATER, 0, NULL },
	{ 0, "shell", NULL, OPT_LATER, 0, NULL },
	{ 0, "shell-login", NULL, OPT_LATER, 0, NULL },
	{ 0, "fence-log-file", NULL, OPT_LATER, 0, NULL },
	{ 0, "force-new-session", NULL, OPT_LATER, 0, NULL },
	{ 0, "linux-features", NULL, OPT_LATER, 0, NULL },
	{ 0, "chdir", NULL, OPT_LATER, 0, NULL },
	{ 0, "env", NULL, OPT_LATER, 0, NULL },
	{ 0, "keep-fd", NULL, OPT_LATER, 0, NULL },
	{ 0, "weaker", NULL, OPT_LATER, 0, NULL },
	{ 0, "engine", NULL, OPT_LATER, 0, NULL },
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
	return o->kind == OPT_TEXT || o->kind == OPT_LIST;
}

static int
take(const struct opt *o, const char *word, const char *value, void *into,
    struct err *e)
{
	char *at = (char *)into + o->offset;

	if (takes_value(o) && (value == NULL || value[0] == '\0')) {
		err_set(e, ERR_USAGE, "%s wants a value", word);
		err_hint(e, "--%s %s", o->name, o->value);
		return -1;
	}
	switch (o->kind) {
	case OPT_LATER:
		return err_set(e, ERR_USAGE, "--%s is not in this version",
		    o->name);
	case OPT_FLAG:
		if (value != NULL)
			return err_set(e, ERR_USAGE, "--%s takes no value",
			    o->name);
		*(bool *)(void *)at = true;
		return 0;
	case OPT_TEXT:
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
	vec_release(&ro->expose);
	vec_release(&ro->expose_rw);
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
