/* fence doctor: can this machine enforce the default policy, and does it? */
#include "launcher/cli/cmd.h"

#include <stdio.h>
#include <string.h>

#include "launcher/doctor/doctor.h"
#include "launcher/exit.h"

extern char **environ;

struct doctor_options {
	const char	*engine;
	bool		 json;
};

const struct opt doctor_opts[] = {
	{ 0, "engine", "bwrap|native", OPT_TEXT,
	    offsetof(struct doctor_options, engine),
	    "what makes the jail that is tried" },
	{ 0, "json", NULL, OPT_FLAG, offsetof(struct doctor_options, json),
	    "answer as one JSON object" },
	{ .name = NULL },
};

static void
print(const struct doctor *d, void (*put)(const struct doctor *,
    struct buf *))
{
	struct buf b;

	buf_init(&b, 0);
	put(d, &b);
	fwrite(b.data, 1, b.len, stdout);
	buf_release(&b);
}

int
cmd_doctor(const char *program, int argc, char **argv, struct err *e)
{
	struct doctor d = { .arena = NULL };
	struct doctor_options o = { 0 };
	int nwords = 0, status;

	(void)program;
	if (opt_parse_words(doctor_opts, argc, argv, &o, &nwords, e) != 0)
		return (int)e->code;
	if (nwords > 0) {
		err_set(e, ERR_USAGE, "'fence doctor' takes no word");
		return EXIT_USAGE;
	}
	d.engine = o.engine != NULL ? o.engine : "bwrap";
	if (strcmp(d.engine, "bwrap") != 0 &&
	    strcmp(d.engine, "native") != 0) {
		err_set(e, ERR_USAGE, "--engine: there is no engine '%s'",
		    d.engine);
		err_hint(e, "bwrap or native");
		return EXIT_USAGE;
	}
	d.arena = arena_new();
	d.env = environ;
	doctor_facts(&d);
	doctor_jail(&d);
	print(&d, o.json ? doctor_json : doctor_text);
	status = doctor_is_enforced(&d) ? 0 : 1;
	arena_free(d.arena);
	return status;
}

int
cmd_features(const char *program, int argc, char **argv, struct err *e)
{
	struct doctor d = { .arena = arena_new(), .env = environ,
	    .engine = "bwrap" };

	(void)program;
	(void)argc;
	(void)argv;
	(void)e;
	doctor_facts(&d);
	print(&d, doctor_features);
	arena_free(d.arena);
	return 0;
}
