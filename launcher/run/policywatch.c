#include "launcher/run/policywatch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "launcher/plan/enforce.h"
#include "launcher/log.h"
#include "launcher/plan/ranges.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/base/xalloc.h"
#include "platform/fd.h"
#include "policy/decide.h"
#include "policy/diff.h"
#include "policy/keys.h"
#include "policy/trust.h"

enum {
	SETTLE_MS = 100,	/* editors write, rename and remove in a row */
	LINES_MAX = 10,		/* told of one change */
	READS_A_TURN = 16,
	EVENTS = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE,
};

struct watched {
	int	 wd;
	char	*name;
};

struct policywatch {
	struct policywatch_config	 c;
	int				 fd;
	struct watch			*ready, *settle;
	struct { struct watched *v; size_t n, cap; } watched;
	/* All that were ever taken: verdicts lead into them. */
	struct { struct resolved **v; size_t n, cap; } taken;
	const struct resolved		*now;
	char				 told[1024];	/* the last complaint */
};

/* ---- complaints ---- */

/* Once each, however often a file is saved as it is. */
static void
complain(struct policywatch *w, const struct err *e)
{
	char text[1024];

	snprintf(text, sizeof text, "%s%s%s%s%s%s%s", e->where,
	    e->where[0] != '\0' ? ": " : "", e->key,
	    e->key[0] != '\0' ? ": " : "", e->msg, e->sys != 0 ? ": " : "",
	    e->sys != 0 ? strerror(e->sys) : "");
	if (strcmp(text, w->told) == 0)
		return;
	strcpy(w->told, text);
	log_say("%s", text);
	if (e->hint[0] != '\0')
		log_say("hint: %s", e->hint);
	log_say("the policy was not changed: the one before stays in force");
}

/* The first key of those that are settled when a run begins; or NULL. */
static const char *
changed_key(const struct policy *a, const struct policy *b)
{
	for (size_t i = 0; i < policy_nkeys; i++)
		if (policy_keys[i].live == LIVE_FIXED &&
		    !keys_same(&policy_keys[i], a, b))
			return policy_keys[i].name;
	return NULL;
}

/*
 * What is extended since the run began is not read-only inside.  NULL, or one
 * that the command could write, and so say what it may do.
 */
static const char *
writable_inside(const struct policywatch *w, const struct resolved *next)
{
	const struct resolved *first = &w->c.plan->resolved;
	struct verdict v;

	for (size_t i = 0; i < next->nfiles; i++) {
		size_t k = 0;

		while (k < first->nfiles && strcmp(first->files[k],
		    next->files[i]) != 0)
			k++;
		if (k < first->nfiles)
			continue;
		decide_fs(first->policy, FS_WRITE, next->files[i], &v);
		if (v.action == ACTION_ALLOW)
			return next->files[i];
	}
	return NULL;
}

/* What cannot take the place of the one in force. */
static int
check(const struct policywatch *w, const struct resolved *next, struct err *e)
{
	const char *key = changed_key(w->now->policy, next->policy);
	const char *file = writable_inside(w, next);

	if (next->nfiles == 0)
		return err_set(e, ERR_POLICY, "no policy file is left");
	if (key != NULL)
		return err_set(e, ERR_POLICY, "%s cannot change while the run "
		    "lasts", key);
	if (file != NULL) {
		err_set(e, ERR_POLICY, "the command may write '%s': it cannot "
		    "be extended while the run lasts", file);
		err_hint(e, "keep it where the command cannot write, or start "
		    "again");
		return -1;
	}
	if (w->now->is_trusted && (!next->is_trusted ||
	    strcmp(w->now->project, next->project) != 0)) {
		err_set(e, ERR_POLICY, "%s is not trusted as it is now",
		    w->now->project);
		err_hint(e, "read it, then 'fence config trust' it");
		return -1;
	}
	return enforce_check(next->policy, e);
}

/* ---- what changed ---- */

/* Does the running jail follow this change? */
static bool
is_live(const struct diff_line *l)
{
	return l->key->live == LIVE_NOW ||
	    (l->key->live == LIVE_LESS && !l->is_more);
}

struct changes {
	unsigned	nlive, nlater;
	bool		is_less;
};

static void
tell_line(const struct diff_line *l, void *arg)
{
	struct changes *c = arg;
	struct buf b;

	if (!is_live(l)) {
		c->nlater++;
		return;
	}
	c->is_less |= !l->is_more;
	if (++c->nlive > LINES_MAX)
		return;
	buf_init(&b, 0);
	diff_put(&b, l);
	log_say("policy changed: %s", b.data);
	buf_release(&b);
}

static void
tell_changes(struct changes *c, const struct policy *from,
    const struct policy *to)
{
	diff_each(from, to, tell_line, c);
	if (c->nlive > LINES_MAX)
		log_say("policy changed: and %u more", c->nlive - LINES_MAX);
	if (c->is_less)
		log_say("policy changed: connections that are open stay "
		    "open");
	if (c->nlater > 0)
		log_say("policy changed: %u other change%s take%s effect with "
		    "the next run", c->nlater, c->nlater == 1 ? "" : "s",
		    c->nlater == 1 ? "s" : "");
}

/* The routes of a jail that runs are what they are. */
static void
tell_routes(const struct policywatch *w, const struct policy *p)
{
	const struct strlist *l = &p->net.allowed_domains;
	const struct jail_spec *spec = &w->c.plan->spec;
	struct jail_range r[RANGES_MAX];

	for (size_t i = 0; i < l->n; i++) {
		size_t n = ranges_of(l->v[i].pattern, r);

		if (n > 0 && !ranges_cover(spec->ranges, spec->nranges, r))
			log_say("policy changed: \"%s\": there is no route to "
			    "addresses it names before the next run; only the "
			    "proxies reach them", l->v[i].text);
	}
}

static void
tell_record(struct policywatch *w, const struct policy *p)
{
	struct event ev = { .kind = EVENT_POLICY, .count = 1,
	    .witness = WITNESS_MONITOR, .enforcer = ENFORCER_NONE,
	    .detail = p->name };

	witness_gate(w->c.witness, &ev);
}

/* ---- the files ---- */

static bool
is_watched(const struct policywatch *w, int wd, const char *name)
{
	for (size_t i = 0; i < w->watched.n; i++)
		if (w->watched.v[i].wd == wd &&
		    strcmp(w->watched.v[i].name, name) == 0)
			return true;
	return false;
}

/*
 * The name is watched in its directory, for files are replaced by rename.
 * 1: from now on, 0: as before.
 */
static int
watch_file(struct policywatch *w, const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	int wd;

	if (slash == NULL || (size_t)(slash - path) >= sizeof dir - 1)
		return 0;
	snprintf(dir, sizeof dir, "%.*s", slash == path ? 1 :
	    (int)(slash - path), path);
	wd = inotify_add_watch(w->fd, dir, EVENTS | IN_ONLYDIR);
	if (wd < 0)
		return -1;
	if (is_watched(w, wd, slash + 1))
		return 0;
	*vec_push(&w->watched) = (struct watched){ wd, xstrdup(slash + 1) };
	return 1;
}

/* Files that are newly extended; true if there are any. */
static bool
watch_more(struct policywatch *w, const struct resolved *next)
{
	bool has_more = false;

	for (size_t i = 0; i < next->nfiles; i++) {
		int rv = watch_file(w, next->files[i]);

		if (rv < 0)
			log_say("--watch-policy: cannot watch '%s': %s",
			    next->files[i], strerror(errno));
		has_more |= rv > 0;
	}
	return has_more;
}

/* ---- a change ---- */

static void
note_change(const struct diff_line *l, void *arg)
{
	(void)l;
	*(bool *)arg = true;
}

/* Layers beyond the first are not compared: they count as changed. */
static bool
is_equal(const struct resolved *a, const struct resolved *b)
{
	bool is_other = a->policy->also != NULL || b->policy->also != NULL;

	diff_each(a->policy, b->policy, note_change, &is_other);
	return !is_other;
}

static void
take(struct policywatch *w, struct resolved *next)
{
	struct changes c = { 0 };
	struct resolved *kept;

	w->told[0] = '\0';
	if (is_equal(w->now, next)) {
		resolved_release(next);
		return;
	}
	monitor_set_policy(w->c.monitor, next->policy);
	witness_set_net(w->c.witness, next->policy);
	tell_changes(&c, w->now->policy, next->policy);
	tell_routes(w, next->policy);
	tell_record(w, next->policy);
	*vec_push(&w->taken) = kept = xcalloc(1, sizeof *kept);
	*kept = *next;
	w->now = kept;
}

static void
settled(struct watch *t, int what, void *arg)
{
	struct policywatch *w = arg;
	struct resolved next = { 0 };
	struct err e = { 0 };

	(void)what;
	if (policy_resolve(&w->c.plan->request, &next, &e) != 0) {
		complain(w, &e);
		return;
	}
	/* What it newly extends may have changed since it was read. */
	if (watch_more(w, &next))
		watch_after(t, SETTLE_MS);
	if (check(w, &next, &e) != 0) {
		complain(w, &e);
		resolved_release(&next);
		return;
	}
	take(w, &next);
}

/* ---- the watch ---- */

static bool
is_ours(const struct policywatch *w, const struct inotify_event *ev)
{
	return (ev->mask & IN_Q_OVERFLOW) != 0 ||
	    (ev->len > 0 && is_watched(w, ev->wd, ev->name));
}

static void
ready(struct watch *x, int what, void *arg)
{
	struct policywatch *w = arg;
	char bytes[16384]
	    __attribute__((aligned(__alignof__(struct inotify_event))));
	bool is_changed = false;

	(void)x;
	(void)what;
	for (int i = 0; i < READS_A_TURN; i++) {
		ssize_t n = read(w->fd, bytes, sizeof bytes);
		const struct inotify_event *ev;

		if (n <= 0)
			break;
		for (char *p = bytes; p < bytes + n;
		    p += sizeof *ev + ev->len) {
			ev = (const void *)p;
			is_changed |= is_ours(w, ev);
		}
	}
	if (is_changed)
		watch_after(w->settle, SETTLE_MS);
}

static int
watch_files(struct policywatch *w, struct err *e)
{
	const struct plan *p = w->c.plan;
	const char *store = trust_store(p->arena, p->request.home,
	    p->request.environ);

	for (size_t i = 0; i < p->resolved.nfiles; i++)
		if (watch_file(w, p->resolved.files[i]) < 0)
			return err_sys(e, errno, "--watch-policy: cannot "
			    "watch '%s'", p->resolved.files[i]);
	/* As it was named: a link there may be pointed elsewhere. */
	if (p->request.settings != NULL)
		(void)watch_file(w, p->request.settings);
	if (p->resolved.is_trusted && store != NULL)
		(void)watch_file(w, store);
	return 0;
}

struct policywatch *
policywatch_new(const struct policywatch_config *c, struct err *e)
{
	struct policywatch *w;

	if (c->plan->resolved.nfiles == 0) {
		err_set(e, ERR_POLICY, "--watch-policy: no policy file is in "
		    "force");
		err_hint(e, "name one with --settings");
		return NULL;
	}
	w = xcalloc(1, sizeof *w);
	w->c = *c;
	w->now = &c->plan->resolved;
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->fd < 0)
		err_sys(e, errno, "--watch-policy: cannot make a watch");
	else if (watch_files(w, e) == 0) {
		w->ready = loop_fd(c->loop, w->fd, LOOP_READ, ready, w);
		/* What changed since the policy was read has no event. */
		w->settle = loop_after(c->loop, SETTLE_MS, settled, w);
		if (w->ready != NULL && w->settle != NULL)
			return w;
		err_sys(e, errno, "--watch-policy");
	}
	policywatch_free(w);
	return NULL;
}

void
policywatch_free(struct policywatch *w)
{
	if (w == NULL)
		return;
	watch_free(w->ready);
	watch_free(w->settle);
	fd_close(&w->fd);
	for (size_t i = 0; i < w->watched.n; i++)
		free(w->watched.v[i].name);
	vec_release(&w->watched);
	for (size_t i = 0; i < w->taken.n; i++) {
		resolved_release(w->taken.v[i]);
		free(w->taken.v[i]);
	}
	vec_release(&w->taken);
	free(w);
}
