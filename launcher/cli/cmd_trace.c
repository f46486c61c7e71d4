/* fence trace: what was refused to runs, from their records. */
#include "launcher/cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/cli/policyedit.h"
#include "launcher/exit.h"
#include "launcher/history/history.h"
#include "launcher/history/suggest.h"
#include "launcher/log.h"
#include "launcher/page/page.h"
#include "launcher/plan/request.h"
#include "platform/base/path.h"
#include "platform/base/vec.h"
#include "platform/fd.h"
#include "platform/jail.h"
#include "policy/trust.h"

extern char **environ;

struct trace_options {
	bool		 list, json, verify, suggest, follow;
	const char	*by, *html, *settings;
};

const struct opt trace_opts[] = {
	{ 'l', "list", NULL, OPT_FLAG, offsetof(struct trace_options, list),
	    "list the runs whose records were kept" },
	{ 0, "by", "time|rule|process|object", OPT_TEXT,
	    offsetof(struct trace_options, by),
	    "one line a record, or groups with counts" },
	{ 0, "json", NULL, OPT_FLAG, offsetof(struct trace_options, json),
	    "the records themselves, or the list or groups as an object" },
	{ 0, "html", "FILE", OPT_TEXT, offsetof(struct trace_options, html),
	    "write a page that shows them; - for standard output" },
	{ 'f', "follow", NULL, OPT_FLAG,
	    offsetof(struct trace_options, follow),
	    "show each record as it is written, until the run ends" },
	{ 0, "suggest", NULL, OPT_FLAG,
	    offsetof(struct trace_options, suggest),
	    "show how the policy would have to change, and change nothing" },
	{ 's', "settings", "FILE", OPT_TEXT,
	    offsetof(struct trace_options, settings),
	    "--suggest for this policy" },
	{ 0, "verify", NULL, OPT_FLAG,
	    offsetof(struct trace_options, verify),
	    "say whether records were changed, taken out or put in" },
	{ .name = NULL },
};

struct request {
	struct arena		*arena;
	struct trace_options	 opts;
	const char		*state;		/* or NULL */
	const char		*word;
	const char		*shown;
	int			 fd;
};

static void
print(struct buf *b)
{
	fwrite(b->data, 1, b->len, stdout);
	buf_release(b);
}

/* ---- what is shown ---- */

static int
list(struct request *q, struct err *e)
{
	struct history_runs runs;
	struct buf b;

	if (history_runs(q->arena, q->state, &runs, e) != 0)
		return (int)e->code;
	buf_init(&b, 0);
	if (q->opts.json)
		history_put_runs_json(&b, &runs);
	else
		history_put_runs(&b, &runs);
	if (!q->opts.json && runs.n == 0)
		log_say("no run is kept: none was refused anything yet");
	print(&b);
	vec_release(&runs);
	return 0;
}

static int
verify(struct request *q, struct err *e)
{
	struct buf b;
	int rc;

	buf_init(&b, 0);
	rc = history_verify(&b, q->fd, q->shown, e);
	print(&b);
	return rc < 0 ? (int)e->code : rc;
}

/* A page that is whole, or no page. */
static int
write_page(struct request *q, struct err *e)
{
	char *tmp = arena_printf(q->arena, "%s.fence-XXXXXX", q->opts.html);
	auto_fd fd = -1;
	int rc;

	if (strcmp(q->opts.html, "-") == 0)
		return page_write(q->fd, STDOUT_FILENO, e) != 0 ?
		    (int)e->code : 0;
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0) {
		err_sys(e, errno, "--html: cannot write beside '%s'",
		    q->opts.html);
		return e->code = ERR_POLICY;
	}
	rc = page_write(q->fd, fd, e);
	if (rc == 0 && rename(tmp, q->opts.html) != 0)
		rc = err_sys(e, errno, "--html: cannot write '%s'",
		    q->opts.html);
	if (rc != 0)
		(void)unlink(tmp);
	return rc != 0 ? (int)(e->code = ERR_POLICY) : 0;
}

/* What the text cannot say, on standard error. */
static void
tell_gaps(const struct history *h)
{
	if (h->bad > 0)
		log_say("%s:%llu: this is no record (%llu such line%s)",
		    h->shown, (unsigned long long)h->first_bad,
		    (unsigned long long)h->bad, h->bad == 1 ? "" : "s");
	if (h->is_cut)
		log_say("%s: the last line is cut, and was left out",
		    h->shown);
	if (h->left_out > 0)
		log_say("%s: only the first %d records are shown, %llu more "
		    "are there", h->shown, HISTORY_RECORDS,
		    (unsigned long long)h->left_out);
}

/* What the run was under may not be what holds here and now. */
static void
tell_policy(const struct policyedit *p, const struct history *h)
{
	const char *was = h->start != NULL ? h->start->policy_file : "";

	if (was[0] != '\0' && strcmp(was, p->path) != 0)
		log_say("the run's policy was %s: --settings names it", was);
	if (p->untrusted != NULL)
		log_say("%s is not trusted: it has to allow it, too",
		    p->untrusted);
}

static int
suggest(struct request *q, struct err *e)
{
	struct policyedit p = { .path = NULL };
	struct suggest s = { 0 };
	struct history h;
	struct buf b;
	int rc;

	buf_init(&b, 0);
	rc = history_read(&h, q->fd, q->shown, e);
	if (rc == 0) {
		tell_gaps(&h);
		suggest_find(&h, &s);
	}
	if (rc == 0 && s.n == 0)
		rc = err_set(e, ERR_POLICY, "no line would allow what was "
		    "refused");
	if (rc == 0)
		rc = policyedit_open(&p, q->arena, q->opts.settings, false, e);
	if (rc == 0 && (rc = policyedit_make(&p, &s, e)) == 0) {
		tell_policy(&p, &h);
		suggest_put_claims(&b, &s);
		if (!policyedit_is_same(&p))
			policyedit_put_diff(&p, &b);
		else
			log_say("%s says so already", p.path);
	}
	policyedit_release(&p);
	print(&b);
	vec_release(&s);
	history_release(&h);
	return rc == 0 ? 0 : (int)e->code;
}

static int
by_of(const char *word, enum history_by *ret)
{
	static const char *const words[] = { [HISTORY_BY_TIME] = "time",
	    [HISTORY_BY_RULE] = "rule", [HISTORY_BY_PROCESS] = "process",
	    [HISTORY_BY_OBJECT] = "object" };

	*ret = HISTORY_BY_TIME;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (word != NULL && strcmp(word, words[i]) == 0) {
			*ret = (enum history_by)i;
			return 0;
		}
	return word == NULL ? 0 : -1;
}

static int
show(struct request *q, struct err *e)
{
	enum history_by by;
	struct history h;
	struct buf b;
	int rc;

	(void)by_of(q->opts.by, &by);
	rc = history_read(&h, q->fd, q->shown, e);
	if (rc == 0) {
		tell_gaps(&h);
		buf_init(&b, 0);
		if (q->opts.json)
			history_put_groups_json(&b, &h, by);
		else
			history_put_head(&b, &h);
		if (!q->opts.json && by == HISTORY_BY_TIME)
			history_put_times(&b, &h, isatty(STDOUT_FILENO));
		else if (!q->opts.json)
			history_put_groups(&b, &h, by);
		if (!q->opts.json && by != HISTORY_BY_TIME)
			history_put_policy(&b, &h);
		print(&b);
		if (h.n == 0) {
			rc = err_set(e, ERR_POLICY, "there is no record");
			err_where(e, q->shown, 0, 0);
		}
	}
	history_release(&h);
	return rc == 0 ? 0 : (int)e->code;
}

static void
put_line(const char *line, size_t len, enum record_kind *ret, void *arg)
{
	const struct request *q = arg;
	struct buf b;

	buf_init(&b, 0);
	*ret = q->opts.json ? history_put_json(&b, line, len) :
	    history_put_line(&b, line, len, isatty(STDOUT_FILENO));
	print(&b);
	fflush(stdout);
}

static int
follow(struct request *q, struct err *e)
{
	return history_follow(q->fd, q->shown, put_line, q, e) != 0 ?
	    (int)e->code : 0;
}

/* ---- the command line ---- */

static void
find_state(struct request *q)
{
	const char *store = trust_store(q->arena, request_home(q->arena,
	    environ), environ);

	q->state = store == NULL ? NULL : path_real_or_same(q->arena,
	    path_dir(q->arena, store));
}

static int
check_words(struct request *q, int nwords, struct err *e)
{
	enum history_by by;

	if (nwords > 1 || (nwords == 1 && q->opts.list))
		return err_usage(e, "'fence trace' takes one run or file",
		    "'fence trace --list' names the runs that were kept");
	if (by_of(q->opts.by, &by) != 0)
		return err_usage(e, "--by takes time, rule, process or "
		    "object", "");
	if (q->opts.list + q->opts.verify + q->opts.suggest +
	    q->opts.follow + (q->opts.by != NULL) +
	    (q->opts.html != NULL) > 1 ||
	    (q->opts.json && (q->opts.verify || q->opts.suggest ||
	    q->opts.html != NULL)) ||
	    (q->opts.settings != NULL && !q->opts.suggest))
		return err_usage(e, "these options show different things: "
		    "take one", "");
	return 0;
}

static int
act(struct request *q, struct err *e)
{
	int status;

	find_state(q);
	if (jail_is_inside() && (q->opts.list || q->word == NULL)) {
		err_set(e, ERR_POLICY, "trace: already inside fence");
		err_hint(e, "the records are kept outside, and no command "
		    "may read them; name a file");
		return ERR_POLICY;
	}
	if (q->opts.list)
		return list(q, e);
	if (q->opts.follow && q->word == NULL) {
		if (history_wait(q->arena, q->state, &q->fd, &q->shown,
		    e) != 0)
			return (int)e->code;
	} else if (history_open(q->arena, q->state, q->word != NULL ? q->word :
	    "last", &q->fd, &q->shown, e) != 0)
		return (int)e->code;
	if (q->opts.follow)
		status = follow(q, e);
	else if (q->opts.verify)
		status = verify(q, e);
	else if (q->opts.suggest)
		status = suggest(q, e);
	else if (q->opts.html != NULL)
		status = write_page(q, e);
	else if (q->opts.json && q->opts.by == NULL)
		status = history_write_json(q->fd, stdout, e) != 0 ?
		    (int)e->code : 0;
	else
		status = show(q, e);
	fd_close(&q->fd);
	return status;
}

int
cmd_trace(const char *program, int argc, char **argv, struct err *e)
{
	struct request q = { .arena = arena_new(), .fd = -1 };
	int nwords = 0, status = EXIT_USAGE;

	(void)program;
	if (opt_parse_words(trace_opts, argc, argv, &q.opts, &nwords, e) == 0 &&
	    check_words(&q, nwords, e) == 0) {
		q.word = nwords == 1 ? argv[1] : NULL;
		status = act(&q, e);
	}
	arena_free(q.arena);
	return status;
}
