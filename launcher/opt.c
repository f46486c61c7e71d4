#include "launcher/opt.h"

#include <string.h>

#include "platform/base/str.h"

#define AT(field)	offsetof(struct run_options, field)

const struct opt run_opts[] = {
	{ 's', "settings", "FILE", OPT_TEXT, AT(settings),
	    "take the policy from FILE (JSONC)" },
	{ 'm', "monitor", NULL, OPT_FLAG, AT(monitor),
	    "tell every refusal on stderr as it happens" },
	{ 0, "trace-file", "DEST", OPT_TEXT, AT(trace_file),
	    "write each record as a JSON line to FILE, fd:N or unix:PATH" },
	{ 0, "dry-run", NULL, OPT_FLAG, AT(dry_run),
	    "print what would be done and start nothing" },
	{ 'h', "help", NULL, OPT_FLAG, AT(help), "print this text" },
	{ 'v', "version", NULL, OPT_FLAG, AT(version), "print the version" },
	/* Options of the Go program, and ours to come: never ignored. */
	{ 'd', "debug", NULL, OPT_LATER, 0, NULL },
	{ 't', "template", NULL, OPT_LATER, 0, NULL },
	{ 'c', "c", NULL, OPT_LATER, 0, NULL },
	{ 'p', "port", NULL, OPT_LATER, 0, NULL },
	{ 'a', "allow", NULL, OPT_LATER, 0, NULL },
	{ 'w', "write", NULL, OPT_LATER, 0, NULL },
	{ 'r', "read", NULL, OPT_LATER, 0, NULL },
	{ 0, "deny-read", NULL, OPT_LATER, 0, NULL },
	{ 0, "list-templates", NULL, OPT_LATER, 0, NULL },
	{ 0, "service-execution-model", NULL, OPT_LATER, 0, NULL },
	{ 0, "expose-host-path", NULL, OPT_LATER, 0, NULL },
	{ 0, "expose-host-path-rw", NULL, OPT_LATER, 0, NULL },
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
	{ 0, "ignore-unknown-keys", NULL, OPT_LATER, 0, NULL },
	{ 0, NULL, NULL, OPT_FLAG, 0, NULL },
};

static const struct opt *
by_letter(char c)
{
	for (const struct opt *o = run_opts; o->name != NULL; o++)
		if (o->letter != 0 && o->letter == c)
			return o;
	return NULL;
}

static const struct opt *
by_name(struct str name)
{
	for (const struct opt *o = run_opts; o->name != NULL; o++)
		if (str_eq(name, o->name))
			return o;
	return NULL;
}

static int
unknown(const char *word, struct err *e)
{
	const struct opt *best = NULL;
	unsigned least = 4;

	err_set(e, ERR_USAGE, "unknown option '%s'", word);
	for (const struct opt *o = run_opts; o->name != NULL; o++) {
		unsigned d = str_distance(word + strspn(word, "-"), o->name);

		if (d < least) {
			least = d;
			best = o;
		}
	}
	if (best != NULL)
		err_hint(e, "did you mean --%s?", best->name);
	else
		err_hint(e, "fence-run --help lists the options");
	return -1;
}

static int
take(const struct opt *o, const char *word, const char *value,
    struct run_options *ro, struct err *e)
{
	char *at = (char *)ro + o->offset;

	switch (o->kind) {
	case OPT_LATER:
		err_set(e, ERR_USAGE, "--%s is not in this version", o->name);
		return -1;
	case OPT_FLAG:
		if (value != NULL)
			return err_set(e, ERR_USAGE, "--%s takes no value",
			    o->name);
		*(bool *)(void *)at = true;
		return 0;
	case OPT_TEXT:
		if (value == NULL || value[0] == '\0') {
			err_set(e, ERR_USAGE, "%s wants a value", word);
			err_hint(e, "--%s %s", o->name, o->value);
			return -1;
		}
		*(const char **)(void *)at = value;
		return 0;
	}
	return -1;
}

/* --name, --name=value, --name value. */
static int
parse_long(int argc, char **argv, int *i, struct run_options *ro,
    struct err *e)
{
	char *word = argv[*i], *eq = strchr(word, '=');
	struct str name = { word + 2, eq != NULL ? (size_t)(eq - word - 2) :
	    strlen(word + 2) };
	const struct opt *o = by_name(name);
	const char *value = eq != NULL ? eq + 1 : NULL;

	if (o == NULL)
		return unknown(word, e);
	if (o->kind == OPT_TEXT && value == NULL && *i + 1 < argc)
		value = argv[++*i];
	return take(o, word, value, ro, e);
}

/* -m, -ms FILE, -sFILE. */
static int
parse_short(int argc, char **argv, int *i, struct run_options *ro,
    struct err *e)
{
	char *word = argv[*i];

	for (char *p = word + 1; *p != '\0'; p++) {
		const struct opt *o = by_letter(*p);
		const char *value = NULL;

		if (o == NULL)
			return unknown(word, e);
		if (o->kind == OPT_TEXT) {
			if (p[1] != '\0')
				value = p + 1;
			else if (*i + 1 < argc)
				value = argv[++*i];
			return take(o, word, value, ro, e);
		}
		if (take(o, word, NULL, ro, e) != 0)
			return -1;
	}
	return 0;
}

int
opt_parse(int argc, char **argv, struct run_options *ro, int *ret_rest,
    struct err *e)
{
	int i;

	for (i = 1; i < argc; i++) {
		char *word = argv[i];

		if (word[0] != '-' || word[1] == '\0')
			break;
		if (strcmp(word, "--") == 0) {
			i++;
			break;
		}
		if ((word[1] == '-' ? parse_long : parse_short)(argc, argv,
		    &i, ro, e) != 0)
			return -1;
	}
	*ret_rest = i;
	return 0;
}

void
opt_usage(const char *program, FILE *fp)
{
	fprintf(fp, "usage: %s [options] [--] command [argument ...]\n",
	    program);
	for (const struct opt *o = run_opts; o->name != NULL; o++) {
		char left[64];

		if (o->kind == OPT_LATER)
			continue;
		snprintf(left, sizeof left, "%c%c --%s%s%s",
		    o->letter != 0 ? '-' : ' ',
		    o->letter != 0 ? o->letter : ' ',
		    o->name,
		    o->value != NULL ? " " : "",
		    o->value != NULL ? o->value : "");
		fprintf(fp, "  %-24s %s\n", left, o->help);
	}
}
