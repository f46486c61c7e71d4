/* fence allow: entries for the policy in force, shown before they are put. */
#include "launcher/cli/cmd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher/cli/config.h"
#include "launcher/cli/policyedit.h"
#include "launcher/exit.h"
#include "launcher/history/history.h"
#include "launcher/history/suggest.h"
#include "launcher/log.h"
#include "launcher/plan/request.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"
#include "platform/jail.h"
#include "policy/keys.h"
#include "policy/policy.h"
#include "policy/rule.h"
#include "policy/trust.h"

extern char **environ;

struct allow_options {
	bool		 yes, read, user, claims;
	const char	*from, *settings;
};

const struct opt allow_opts[] = {
	{ 'r', "read", NULL, OPT_FLAG, offsetof(struct allow_options, read),
	    "paths may be read, not written" },
	{ 0, "from", "RUN", OPT_WORD,
	    offsetof(struct allow_options, from),
	    "allow what was refused to this run" },
	{ 0, "claims", NULL, OPT_FLAG,
	    offsetof(struct allow_options, claims),
	    "with -y: also what only processes inside said of themselves" },
	{ 'y', "yes", NULL, OPT_FLAG, offsetof(struct allow_options, yes),
	    "change the policy without asking" },
	{ 'u', "user", NULL, OPT_FLAG, offsetof(struct allow_options, user),
	    "your own policy, also where a project has one" },
	{ 's', "settings", "FILE", OPT_TEXT,
	    offsetof(struct allow_options, settings),
	    "change this policy" },
	{ .name = NULL },
};

struct request {
	struct arena		*arena;
	struct allow_options	 opts;
	struct policyedit	 edit;
	struct suggest		 suggest;
	struct history		 history;	/* --from; arena NULL: none */
};

/* ---- what is allowed ---- */

/* A name with a slash in it alone is neither: "./a/b" is a path. */
static bool
is_path(const char *word)
{
	return strchr("/~.$", word[0]) != NULL;
}

static const char *
path_value(struct request *q, const char *word)
{
	const char *dir = path_dir(q->arena, q->edit.path), *full;

	if (word[0] != '.')
		return word;
	full = request_path(q->arena, q->edit.req.cwd, word);
	if (full == NULL || !str_path_below(full, dir) ||
	    (q->edit.base != NULL && strcmp(q->edit.path, q->edit.base) != 0) ||
	    q->edit.base == NULL)
		return full;
	return strcmp(full, dir) == 0 ? "." : arena_printf(q->arena, ".%s",
	    full + (strcmp(dir, "/") == 0 ? 0 : strlen(dir)));
}

static int
add_word(struct request *q, const char *word, struct err *e)
{
	struct suggest_entry entry = { .count = 1, .value = word,
	    .key = keys_name(KEY_OF(net.allowed_domains)) };

	if (word[0] == '\0')
		return err_usage(e, "a host or a path is empty", "");
	if (q->opts.read && !is_path(word))
		return err_usage(e, "--read is for paths",
		    "a path begins with / ~ . or $");
	if (is_path(word)) {
		entry.key = keys_name(q->opts.read ? KEY_OF(fs.allow_read) :
		    KEY_OF(fs.allow_write));
		entry.value = path_value(q, word);
		if (entry.value == NULL)
			return err_usage(e, "the path is too long", "");
	}
	*vec_push(&q->suggest) = entry;
	return 0;
}

/* A hostile command could claim a refusal, and -y would believe it. */
static void
drop_claims(struct request *q)
{
	size_t n = 0, left = 0;

	for (size_t i = 0; i < q->suggest.n; i++)
		if (q->suggest.v[i].is_claim)
			left++;
		else
			q->suggest.v[n++] = q->suggest.v[i];
	q->suggest.n = n;
	if (left > 0)
		log_say("%zu line%s left out that only processes inside asked "
		    "for: read %s without -y, or take %s with --claims", left,
		    left == 1 ? " was" : "s were", left == 1 ? "it" : "them",
		    left == 1 ? "it" : "them");
}

/*
 * A command of another workspace may be the last one, and what it asked for is
 * not for this one; the user who is asked can see whose run it was.
 */
static int
check_place(struct request *q, struct err *e)
{
	const struct record *start = q->history.start;
	const char *was = start != NULL ? start->workspace : "";

	if (was[0] != '\0' && str_path_below(q->edit.req.cwd, was))
		return 0;
	if (!q->opts.yes || strcmp(q->opts.from, "last") != 0) {
		if (was[0] != '\0')
			log_say("the run was in %s: %.200s", was,
			    start->command);
		return 0;
	}
	err_set(e, ERR_POLICY, "the last run was not here");
	err_where(e, was[0] != '\0' ? was : q->history.shown, 0, 0);
	if (start != NULL)
		err_hint(e, "--from %.8s -y takes it all the same", start->run);
	return -1;
}

static int
add_run(struct request *q, struct err *e)
{
	const char *store = trust_store(q->arena, request_home(q->arena,
	    environ), environ), *shown;
	auto_fd fd = -1;

	if (history_open(q->arena, store == NULL ? NULL :
	    path_real_or_same(q->arena, path_dir(q->arena, store)),
	    q->opts.from, &fd, &shown, e) != 0 ||
	    history_read(&q->history, fd, shown, e) != 0 ||
	    check_place(q, e) != 0)
		return -1;
	suggest_find(&q->history, &q->suggest);
	if (q->opts.yes && !q->opts.claims)
		drop_claims(q);
	if (q->suggest.n > 0)
		return 0;
	err_set(e, ERR_POLICY, "no line would allow what was refused");
	err_hint(e, "fence trace says what was, and what helps");
	return -1;
}

/* ---- the change ---- */

static void
tell_rest(struct request *q)
{
	const struct policyedit *p = &q->edit;

	if (p->untrusted != NULL && !q->opts.user && q->opts.settings == NULL)
		log_say("%s is not trusted: it has to allow it, too, or be "
		    "trusted (fence config trust)", p->untrusted);
	if (policyedit_breaks_trust(&q->edit))
		log_say("%s builds on it, and has to be trusted again: fence "
		    "config trust", p->base);
}

static int
change(struct request *q, struct err *e)
{
	struct buf b;
	bool may;

	if (policyedit_make(&q->edit, &q->suggest, e) != 0)
		return (int)e->code;
	if (policyedit_is_same(&q->edit)) {
		log_say("%s says so already", q->edit.path);
		return 0;
	}
	buf_init(&b, 0);
	suggest_put_claims(&b, &q->suggest);
	policyedit_put_diff(&q->edit, &b);
	fwrite(b.data, 1, b.len, stdout);
	buf_release(&b);
	may = q->opts.yes || (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
	    config_ask("Change it?"));
	if (!may) {
		err_set(e, ERR_POLICY, "nothing was changed");
		if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
			err_hint(e, "-y changes it without asking");
		return ERR_POLICY;
	}
	if (policyedit_write(&q->edit, e) != 0)
		return (int)e->code;
	log_say(q->edit.is_trusted ? "%s was changed, and is trusted as it is "
	    "now" : "%s was changed", q->edit.path);
	tell_rest(q);
	return 0;
}

static int
act(struct request *q, char **words, int nwords, struct err *e)
{
	int rc = 0;

	if (policyedit_open(&q->edit, q->arena, q->opts.settings,
	    q->opts.user, e) != 0)
		return (int)e->code;
	if (q->opts.from != NULL)
		rc = add_run(q, e);
	for (int i = 0; rc == 0 && i < nwords; i++)
		rc = add_word(q, words[i], e);
	return rc != 0 ? (int)e->code : change(q, e);
}

static int
check_words(const struct request *q, int nwords, struct err *e)
{
	if ((q->opts.from != NULL) == (nwords > 0) ||
	    (q->opts.from != NULL && q->opts.read))
		return err_usage(e, "'fence allow' takes hosts and paths, or "
		    "--from alone", "fence allow example.com ~/.cache; fence "
		    "allow --from last");
	if (q->opts.user && q->opts.settings != NULL)
		return err_usage(e, "--user and --settings exclude each "
		    "other", "");
	if (!jail_is_inside())
		return 0;
	err_set(e, ERR_POLICY, "allow: already inside fence");
	err_hint(e, "no command in a jail may change its policy");
	return -1;
}

int
cmd_allow(const char *program, int argc, char **argv, struct err *e)
{
	struct request q = { .arena = arena_new() };
	int nwords = 0, status = EXIT_USAGE;

	(void)program;
	if (opt_parse_words(allow_opts, argc, argv, &q.opts, &nwords, e) == 0)
		status = check_words(&q, nwords, e) != 0 ? (int)e->code :
		    act(&q, argv + 1, nwords, e);
	policyedit_release(&q.edit);
	vec_release(&q.suggest);
	if (q.history.arena != NULL)
		history_release(&q.history);
	arena_free(q.arena);
	return status;
}
