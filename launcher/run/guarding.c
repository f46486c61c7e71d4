#include "launcher/run/guarding.h"
#include "launcher/guard/guard_text.h"
#include "launcher/log.h"
#include "launcher/run/agent_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/buf.h"
#include "platform/base/path.h"
#include "platform/base/xalloc.h"
#include "platform/pause.h"
#include "policy/decide.h"

/* On stderr, and of one path; the record has all. */
enum { LINES_MAX = 10, LINES_PATH = 2 };

struct guarding {
	struct loop	*loop;
	struct witness	*witness;
	struct guard	*guard;
	struct watch	*watch;
	unsigned	 nlines, nreplaced;
	/* So that a loop that makes one name leaves lines for the others. */
	struct {
		char		*path;
		unsigned	 n;
	}		 shown[LINES_MAX];
	void		(*violated)(void *);
	void		(*flooded)(void *);
	void		*arg;
};

static void
put_removed(struct buf *b, const struct guard_told *t)
{
	if (t->to != NULL) {
		buf_puts(b, "is being removed; until then it lies at ");
		guard_text_word(b, t->to);
		return;
	}
	buf_puts(b, "was removed");
	if (t->sys == EDQUOT)
		buf_puts(b, ", and is lost: quarantine is full "
		    "(~/.local/state/fence/quarantine)");
	else if (t->sys != 0)
		buf_printf(b, ", and is lost: %s", strerror(t->sys));
}

/* In the same folder, because quarantine could not take it? */
static bool
is_beside(const struct guard_told *t)
{
	size_t n = path_dir_len(t->path);

	return strncmp(t->path, t->to, n + 1) == 0 &&
	    strchr(t->to + n + 1, '/') == NULL;
}

static void
put_name(struct buf *b, const struct guard_told *t)
{
	guard_text_word(b, t->path);
	if (t->deed == GUARD_FLOODED) {
		buf_puts(b, " and others: too many guarded names were made");
		return;
	}
	if (t->deed == GUARD_REPLACED) {
		buf_puts(b, " was replaced during the run; fence did not see "
		    "by whom");
		return;
	}
	if (t->to != NULL && strcmp(t->to, t->path) == 0) {
		buf_puts(b, " is a guarded name: what was made there could "
		    "not be moved away");
		return;
	}
	if (t->deed == GUARD_FAILED) {
		buf_printf(b, " could not be kept as it was: %s",
		    strerror(t->sys));
		return;
	}
	buf_puts(b, " is a guarded name: what was made there ");
	if (t->deed == GUARD_REMOVED) {
		put_removed(b, t);
		return;
	}
	buf_printf(b, "lies %s; back with: mv ", is_beside(t) ? "beside it" :
	    "in quarantine");
	guard_text_word(b, t->to);
	buf_putc(b, ' ');
	guard_text_word(b, t->path);
}

/* Were there lines enough about this path? */
static bool
is_shown(struct guarding *g, const char *path)
{
	size_t i = 0;

	while (i < LINES_MAX && g->shown[i].path != NULL &&
	    strcmp(g->shown[i].path, path) != 0)
		i++;
	if (i == LINES_MAX)
		return false;
	if (g->shown[i].path == NULL)
		g->shown[i].path = xstrdup(path);
	return g->shown[i].n++ >= LINES_PATH;
}

static void
told(const struct guard_told *t, void *arg)
{
	struct guarding *g = arg;
	struct buf b;

	unsigned *nlines = t->deed == GUARD_REPLACED ? &g->nreplaced :
	    &g->nlines;

	if (t->deed == GUARD_REMASKED)
		return;
	if (t->deed == GUARD_SAID) {
		log_say("%s", t->what);
		return;
	}
	if (t->deed == GUARD_FLOODED && g->flooded != NULL)
		g->flooded(g->arg);
	else if (t->deed != GUARD_REPLACED) {
		witness_guard(g->witness, t);
		if (t->kind < GUARD_GIT && g->violated != NULL)
			g->violated(g->arg);
	}
	if (*nlines >= LINES_MAX || (t->deed != GUARD_REPLACED &&
	    is_shown(g, t->path)))
		return;
	++*nlines;
	buf_init(&b, 0);
	if (t->kind >= GUARD_GIT)
		guard_text_git(&b, t);
	else
		put_name(&b, t);
	if (t->count > 1)
		buf_printf(&b, " (%u times)", t->count);
	log_say("%s", b.data);
	buf_release(&b);
	if (*nlines == LINES_MAX)
		log_say(t->deed == GUARD_REPLACED ? "more were replaced" :
		    "more of this is in the record only");
}

static void
ready(struct watch *w, int what, void *arg)
{
	struct guarding *g = arg;

	(void)w;
	(void)what;
	if (guard_ready(g->guard, told, g) >= 0)
		return;
	watch_free(g->watch);
	g->watch = NULL;
	log_say("the guard ended: guarded names are looked after when the "
	    "run ends");
}

/* ---- what is to be guarded ---- */

/* Named in full, or all of git's configuration. */
static bool
is_open_git(const char *path, void *arg)
{
	const struct policy *p = arg;
	const char *name = path_name(path);
	struct fs_question q = { .op = FS_WRITE, .path = path,
	    .is_guarded = true, .guarded_len = strlen(path) };
	struct verdict v;

	if (strncmp(name, "config", strlen("config")) == 0 &&
	    p->fs.allow_git_config.value)
		return true;
	decide_fs_ask(p, &q, &v);
	return v.action == ACTION_ALLOW;
}

/*
 * What of the host the command may write to.  A whole machine is too much to
 * be searched after every run: of "/" only what was named beside it is, and
 * homes and workspace.
 */
static void
take_roots(const struct plan *p, struct guard_config *c)
{
	const struct jail_spec *spec = &p->spec;
	const char **roots = arena_alloc(p->arena,
	    (spec->nmounts + 1) * sizeof *roots);

	for (size_t i = 0; i < spec->nmounts; i++)
		if (spec->mounts[i].kind == MOUNT_OTHER ||
		    (spec->mounts[i].kind == MOUNT_RW &&
		    !spec->mounts[i].is_pin &&
		    strcmp(spec->mounts[i].path, "/") != 0))
			roots[c->nroots++] = spec->mounts[i].path;
	c->roots = roots;
}

void
guarding_plan(const struct plan *p, const char *run_id,
    struct guard_config *ret)
{
	*ret = (struct guard_config){ .paths = p->guards,
	    .npaths = p->nguards, .is_open = is_open_git, .arg = p->policy,
	    .git_dir = p->git_dir,
	    .max_planted = (unsigned)pretend_number("planted", 0) };
	if (!p->is_inside)	/* else they are the outer run's */
		take_roots(p, ret);
	agent_files_plan(p, ret);
	if (p->state == NULL)
		return;
	ret->quarantine = arena_printf(p->arena, "%s/quarantine/%s",
	    p->state, run_id);
	ret->journal = arena_printf(p->arena, "%s/runs/%s", p->state, run_id);
}

/* ---- the guard of a run ---- */

struct guarding *
guarding_new(const struct guarding_config *c, struct err *e)
{
	struct guarding *g = xcalloc(1, sizeof *g);

	g->loop = c->loop;
	g->witness = c->witness;
	g->violated = c->violated;
	g->flooded = c->flooded;
	g->arg = c->arg;
	g->guard = guard_new(&c->guard, e);
	if (g->guard != NULL)
		return g;
	free(g);
	return NULL;
}

int
guarding_start(struct guarding *g, pid_t jail_pid, struct err *e)
{
	if (guard_start(g->guard, jail_pid, e) != 0)
		return -1;
	if (guard_fd(g->guard) < 0)
		return 0;
	g->watch = loop_fd(g->loop, guard_fd(g->guard), LOOP_READ, ready, g);
	return g->watch != NULL ? 0 : err_sys(e, errno,
	    "cannot watch the guard");
}

void
guarding_ending(struct guarding *g)
{
	guard_ending(g->guard);
}

void
guarding_finish(struct guarding *g)
{
	watch_free(g->watch);
	g->watch = NULL;
	(void)guard_finish(g->guard, told, g);
}

void
guarding_free(struct guarding *g)
{
	if (g == NULL)
		return;
	watch_free(g->watch);
	guard_free(g->guard);
	for (size_t i = 0; i < LINES_MAX; i++)
		free(g->shown[i].path);
	free(g);
}
