/* fence shadow: what jailed agents changed of their own settings. */
#include "launcher/cli/cmd.h"

#include <stdio.h>
#include <string.h>

#include "launcher/exit.h"
#include "launcher/log.h"
#include "launcher/plan/request.h"
#include "launcher/shadow/shadow_user.h"
#include "platform/base/json.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/jail.h"
#include "policy/trust.h"

extern char **environ;

struct shadow_options {
	bool	 json, force;
};

static const struct opt list_opts[] = {
	{ 0, "json", NULL, OPT_FLAG, offsetof(struct shadow_options, json),
	    "answer as one JSON object" },
	{ .name = NULL },
};

static const struct opt no_opts[] = { { .name = NULL } };

static const struct opt reset_opts[] = {
	{ 'f', "force", NULL, OPT_FLAG,
	    offsetof(struct shadow_options, force),
	    "also what could not be carried to the host" },
	{ .name = NULL },
};

static cmd_fn shadow_list_cmd, shadow_diff_cmd, shadow_keep_cmd,
    shadow_drop_cmd, shadow_reset_cmd;

const struct command shadow_table[] = {
	{ .name = "list", .fn = shadow_list_cmd, .opts = list_opts,
	    .words = "", .help = "list what differs from the host" },
	{ .name = "diff", .fn = shadow_diff_cmd, .args = "[PATH]",
	    .help = "show how it differs" },
	{ .name = "keep", .fn = shadow_keep_cmd, .args = "PATH",
	    .help = "take a change over to the host" },
	{ .name = "drop", .fn = shadow_drop_cmd, .args = "PATH",
	    .help = "forget a change: the next run begins from the host's" },
	{ .name = "reset", .fn = shadow_reset_cmd, .opts = reset_opts,
	    .words = "", .help = "forget all of them" },
	{ .name = NULL },
};

/* ---- the command line ---- */

struct request {
	struct arena		*arena;
	struct shadow_options	 opts;
	const char		*state, *home;
	const char		*path;		/* absolute, or NULL */
};

static int
find_state(struct request *q, struct err *e)
{
	const char *store;

	q->home = request_home(q->arena, environ);
	store = trust_store(q->arena, q->home, environ);
	if (store == NULL)
		return err_set(e, ERR_POLICY, "there is no home directory to "
		    "have a shadow in");
	q->state = path_real_or_same(q->arena, path_dir(q->arena, store));
	return 0;
}

/* least to most words; what the sub-command is called stands in argv[0]. */
static int
parse(struct request *q, const struct opt *opts, int argc, char **argv,
    int least, int most, struct err *e)
{
	int nwords = 0;

	if (opt_parse_words(opts, argc, argv, &q->opts, &nwords, e) != 0)
		return -1;
	if (nwords < least || nwords > most) {
		err_set(e, ERR_USAGE, "'fence shadow %s' takes %s", argv[0],
		    most == 0 ? "no word" : least == 0 ? "at most one path" :
		    "one path");
		err_hint(e, "'fence shadow list' says what there is");
		return -1;
	}
	if (jail_is_inside()) {
		err_set(e, ERR_POLICY, "shadow %s: already inside fence",
		    argv[0]);
		err_hint(e, "what is kept here is looked at from outside");
		return -1;
	}
	if (nwords == 1) {
		const char *cwd = path_real_or_same(q->arena, ".");

		q->path = request_path(q->arena, cwd, argv[1]);
		if (q->path == NULL)
			return err_set(e, ERR_USAGE, "the path is too long");
	}
	return find_state(q, e);
}

/* Runs one of them with an arena of its own. */
static int
serve(int (*fn)(struct request *, struct err *), const struct opt *opts,
    int argc, char **argv, int least, int most, struct err *e)
{
	struct request q = { .arena = arena_new() };
	int rc = parse(&q, opts, argc, argv, least, most, e);

	if (rc == 0)
		rc = fn(&q, e);
	arena_free(q.arena);
	return rc == 0 ? 0 : (int)e->code;
}

static void
tell(const struct shadow_told *t, void *arg)
{
	const struct request *q = arg;
	struct buf b;

	buf_init(&b, 0);
	shadow_text(&b, t, q->home);
	log_say("%s", b.data);
	buf_release(&b);
}

/* ---- list ---- */

static void
put_path(struct buf *b, const struct request *q, const char *path)
{
	size_t n = q->home != NULL ? strlen(q->home) : 0;

	if (n > 1 && str_path_below(path, q->home)) {
		buf_putc(b, '~');
		path += n;
	}
	str_escape(b, path, strlen(path), 0);
}

static void
put_row(struct buf *b, const struct request *q,
    const struct shadow_entry *entry)
{
	buf_printf(b, "%-8s ", shadow_state_names[entry->state]);
	put_path(b, q, entry->path);
	if (entry->is_host_newer)
		buf_puts(b, " (the host's changed, too)");
	if (entry->state == SHADOW_IS_ASIDE) {
		buf_putc(b, ' ');
		str_escape(b, entry->place, strlen(entry->place), 0);
	}
	buf_putc(b, '\n');
}

static void
put_object(struct buf *b, const struct shadow_entry *entry, bool is_first)
{
	buf_puts(b, is_first ? "\n  {" : ",\n  {");
	json_put_text(b, "path", entry->path);
	json_put_text(b, "state", shadow_state_names[entry->state]);
	json_put_name(b, "hostChanged");
	buf_puts(b, entry->is_host_newer ? "true" : "false");
	json_put_text(b, "inside", entry->place);
	json_put_name(b, "time");
	buf_printf(b, "%lld}", (long long)entry->time);
}

static int
list(struct request *q, struct err *e)
{
	struct shadow_entries entries;
	struct buf b;

	if (shadow_list(q->arena, q->state, &entries, e) != 0) {
		vec_release(&entries);
		return -1;
	}
	buf_init(&b, 0);
	if (q->opts.json)
		buf_puts(&b, "{\"shadow\": [");
	for (size_t i = 0; i < entries.n; i++)
		if (q->opts.json)
			put_object(&b, &entries.v[i], i == 0);
		else
			put_row(&b, q, &entries.v[i]);
	if (q->opts.json)
		buf_puts(&b, "]}\n");
	fwrite(b.data, 1, b.len, stdout);
	buf_release(&b);
	vec_release(&entries);
	return 0;
}

static int
shadow_list_cmd(const char *program, int argc, char **argv, struct err *e)
{
	(void)program;
	return serve(list, list_opts, argc, argv, 0, 0, e);
}

/* ---- diff ---- */

static int
diff(struct request *q, struct err *e)
{
	struct buf b;
	int rc;

	buf_init(&b, 0);
	rc = shadow_diff(q->arena, q->state, q->path, &b, e);
	if (rc == 0)
		fwrite(b.data, 1, b.len, stdout);
	buf_release(&b);
	return rc;
}

static int
shadow_diff_cmd(const char *program, int argc, char **argv, struct err *e)
{
	(void)program;
	return serve(diff, no_opts, argc, argv, 0, 1, e);
}

/* ---- keep, drop, reset ---- */

static int
keep(struct request *q, struct err *e)
{
	struct buf b;

	if (shadow_keep(q->arena, q->state, q->path, tell, q, e) != 0)
		return -1;
	buf_init(&b, 0);
	put_path(&b, q, q->path);
	printf("%s is on the host as it was inside\n", b.data);
	buf_release(&b);
	return 0;
}

static int
shadow_keep_cmd(const char *program, int argc, char **argv, struct err *e)
{
	(void)program;
	return serve(keep, no_opts, argc, argv, 1, 1, e);
}

static int
drop(struct request *q, struct err *e)
{
	struct buf b;
	size_t n;

	if (shadow_drop(q->arena, q->state, q->path, &n, e) != 0)
		return -1;
	buf_init(&b, 0);
	put_path(&b, q, q->path);
	printf("%s: forgotten; the next run begins from the host's\n",
	    b.data);
	buf_release(&b);
	return 0;
}

static int
shadow_drop_cmd(const char *program, int argc, char **argv, struct err *e)
{
	(void)program;
	return serve(drop, no_opts, argc, argv, 1, 1, e);
}

static int
reset(struct request *q, struct err *e)
{
	if (shadow_reset(q->state, q->opts.force, shadow_sift_agent,
	    (void *)q->home, tell, q, e) != 0)
		return -1;
	printf("the shadow is empty\n");
	return 0;
}

static int
shadow_reset_cmd(const char *program, int argc, char **argv, struct err *e)
{
	(void)program;
	return serve(reset, reset_opts, argc, argv, 0, 0, e);
}

int
cmd_shadow(const char *program, int argc, char **argv, struct err *e)
{
	return cmd_sub(program, shadow_table, argc, argv, e);
}
