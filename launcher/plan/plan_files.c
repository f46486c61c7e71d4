/* The files of a plan: what is mounted how, and what is kept so. */
#include <errno.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "launcher/plan/env.h"
#include "launcher/plan/facts.h"
#include "launcher/log.h"
#include "launcher/plan/mounts.h"
#include "launcher/plan/plan_judge.h"
#include "launcher/plan/plan_work.h"
#include "launcher/plan/request.h"
#include "launcher/shadow/shadow.h"
#include "launcher/trace.h"
#include "platform/base/buf.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/paths.h"
#include "policy/decide.h"
#include "policy/pattern.h"
#include "policy/trust.h"

enum { OWN_BYTES = 64 * 1024 * 1024 };	/* of XDG_RUNTIME_DIR */

struct owns {
	struct own_file	*v;
	size_t		 n, cap;
};

/* Binaries and helpers that a later run would trust. */
static void
own_parts(struct work *w, struct owns *own)
{
	static const char *const names[] = { "fence", "fence-run" };
	const char *init = w->plan->spec.init;
	const char *exe = paths_self(w->arena);
	const char *bwrap = w->plan->spec.bwrap;
	struct verdict v;

	*vec_push(own) = (struct own_file){ path_dir(w->arena, init),
	    "fence's own programs", false, NULL };
	for (size_t i = 0; exe != NULL && i < 2; i++)
		*vec_push(own) = (struct own_file){ arena_printf(w->arena,
		    "%.*s/%s", (int)path_dir_len(exe), exe, names[i]),
		    "fence's own program", false, NULL };
	decide_fs(w->plan->policy, FS_WRITE, "/", &v);
	if (bwrap != NULL && v.action == ACTION_ALLOW)
		*vec_push(own) = (struct own_file){ bwrap,
		    "what fence-run starts", false, NULL };
}

/* The user's own policies and what was trusted: for runs to come. */
static void
own_state(struct work *w, const struct run_options *ro, char *const *env,
    struct owns *own)
{
	const char *home = w->request.home;
	const char *store = trust_store(w->arena, home, env);
	const char *config = env_get(env, "XDG_CONFIG_HOME");

	if (store != NULL) {
		w->plan->state = path_dir(w->arena, store);
		*vec_push(own) = (struct own_file){ w->plan->state,
		    "fence's state", !w->plan->is_inside && !ro->dry_run, NULL };
	}
	if (config != NULL && config[0] == '/')
		config = arena_printf(w->arena, "%s/fence", config);
	else if (home != NULL)
		config = arena_printf(w->arena, "%s/.config/fence", home);
	else
		return;
	*vec_push(own) = (struct own_file){ config, "your own policies",
	    !w->plan->is_inside && !ro->dry_run, NULL };
}

/* A record that the jail could rewrite would be none. */
static void
own_files(struct work *w, const struct run_options *ro, char *const *env,
    struct owns *own)
{
	const struct resolved *r = &w->plan->resolved;

	for (size_t i = 0; i < r->nfiles; i++)
		*vec_push(own) = (struct own_file){ r->files[i],
		    "the policy in force", false, NULL };
	/* As it was written: a symlink there could be pointed elsewhere. */
	if (ro->settings != NULL)
		*vec_push(own) = (struct own_file){ ro->settings,
		    "the policy in force", false, NULL };
	if (ro->trace_file != NULL && trace_is_file(ro->trace_file))
		*vec_push(own) = (struct own_file){ ro->trace_file,
		    "the record of this run", false, trace_real() };
	if (log_path() != NULL)
		*vec_push(own) = (struct own_file){ log_path(),
		    "the log of this run", false, log_real() };
	own_parts(w, own);
	own_state(w, ro, env, own);
}

static int
plan_exposed(struct work *w, const struct run_options *ro,
    struct facts_request *rq, struct err *e)
{
	size_t n = ro->expose.n + ro->expose_rw.n;

	rq->exposed = arena_alloc(w->arena, (n + 1) * sizeof *rq->exposed);
	for (size_t i = 0; i < n; i++) {
		bool is_rw = i >= ro->expose.n;
		const char *path = request_path(w->arena, w->request.cwd,
		    is_rw ? ro->expose_rw.v[i - ro->expose.n] :
		    ro->expose.v[i]);

		if (path == NULL)
			return err_set(e, ERR_USAGE, "--expose-host-path: the "
			    "path is too long");
		rq->exposed[rq->nexposed++] = (struct exposed){ path, is_rw };
	}
	return 0;
}

/* A pin is mounted like the rest: upon the inode that was there. */
static int
look_at_pins(struct mounts *mounts, struct err *e)
{
	for (size_t i = MOUNTS_BASE; i < mounts->list.n; i++) {
		struct jail_mount *m = &mounts->list.v[i];

		if (!m->is_pin)
			continue;
		if (tree_look_plain(m->path, &m->dev, &m->ino) == 0)
			continue;
		return errno == ESTALE ? tree_changed(m->path, e) :
		    err_sys(e, errno, "cannot look at '%s'", m->path);
	}
	return 0;
}

/* What the jail is made of, and what has to be kept so while it runs. */
static void
take_mounts(struct work *w, struct facts *facts, const struct mounts *mounts)
{
	struct jail_spec *spec = &w->plan->spec;
	struct buf names;

	spec->mounts = plan_keep(w->arena, mounts->list.v,
	    mounts->list.n * sizeof *mounts->list.v);
	spec->nmounts = mounts->list.n;
	spec->write_roots = plan_keep(w->arena, mounts->roots.v,
	    mounts->roots.n * sizeof *mounts->roots.v);
	spec->nwrite_roots = mounts->roots.n;
	spec->is_apart = mounts->is_apart;
	w->plan->missing = plan_keep(w->arena, facts->missing.v,
	    facts->missing.n * sizeof *facts->missing.v);
	w->plan->nmissing = facts->missing.n;
	w->plan->has_others = facts->has_others;
	w->plan->git_dir = facts->git_dir;
	facts_guard_mounts(facts, mounts);
	w->plan->guards = plan_keep(w->arena, facts->guards.v,
	    facts->guards.n * sizeof *facts->guards.v);
	w->plan->nguards = facts->guards.n;
	w->plan->shadows = plan_keep(w->arena, facts->shadows.v,
	    facts->shadows.n * sizeof *facts->shadows.v);
	w->plan->nshadows = facts->shadows.n;
	w->plan->variables = plan_keep(w->arena, facts->variables.v,
	    facts->variables.n * sizeof *facts->variables.v);
	w->plan->nvariables = facts->variables.n;
	buf_init(&names, 0);
	facts_names(facts, mounts, &names);
	if (names.len > 0) {
		spec->names = plan_keep(w->arena, names.data, names.len);
		spec->names_len = names.len;
	}
	buf_release(&names);
}

/* A folder for XDG_RUNTIME_DIR, unless the host's own is shown there. */
static void
add_runtime(struct work *w, char *const *env, struct facts *facts)
{
	const char *path = plan_runtime(w->arena, env);

	static const struct rule rule = { .id = RULE_JAIL,
	    .text = "XDG_RUNTIME_DIR" };

	if (path != NULL)
		*vec_push(facts) = (struct mount_fact){ .kind = FACT_OWN,
		    .node = { .path = path, .real = path, .kind = TREE_DIR },
		    .rule = &rule };
}

/* A grant that may name something to be made, beyond the workspace. */
static bool
may_make(const struct policy *p)
{
	for (; p != NULL; p = p->also)
		for (size_t i = 0; i < p->fs.allow_write.n; i++)
			if (!str_path_below(
			    p->fs.allow_write.v[i].pattern->text,
			    p->workspace))
				return true;
	return false;
}

/* tmpfs gives half of the memory by itself: see least_room() of layers.c. */
static uint64_t
tmp_size(const struct policy *p)
{
	const struct number *n = &p->limits.tmp.num;
	struct sysinfo si = { 0 };

	if (n->is_set || n->value == 0 || sysinfo(&si) != 0)
		return n->value;
	return n->value < (uint64_t)si.totalram * si.mem_unit / 2 ?
	    n->value : 0;
}

static const struct rule *
device_rule(struct arena *a, const struct policy *p)
{
	const struct rule rule = { .id = RULE_KEY,
	    .key = KEY_OF(devices.mode), .at = p->devices.mode.at };

	return plan_keep(a, &rule, sizeof rule);
}

/* Mounts show a folder with its names. */
static void
tell_listed(struct work *w, const struct mounts *mounts)
{
	struct jail_walls walls;
	size_t i = 0;

	while (i < mounts->list.n && !mounts->list.v[i].is_unlisted)
		i++;
	if (i == mounts->list.n)
		return;
	jail_walls(&walls);
	if (!walls.has_second || w->plan->spec.may_nest)
		plan_notice("filesystem.allowExecute: without Landlock its "
		    "folders can be listed, too", w);
}

/* ESTALE: a directory of fence's own was made for this plan and is gone. */
static int
check_own(const struct work *w, const struct facts *facts, struct err *e)
{
	for (size_t i = 0; w->is_again && i < facts->missing.n; i++)
		if (facts->missing.v[i].what != NULL)
			return tree_changed(facts->missing.v[i].path, e);
	return 0;
}

int
plan_files(struct work *w, const struct run_options *ro, char *const *env,
    struct err *e)
{
	const struct policy *p = w->plan->policy;
	struct owns own = { 0 };
	struct facts facts = { 0 };
	struct mounts mounts = { 0 };
	struct facts_request rq = { .arena = w->arena,
	    .policy = w->plan->policy, .cwd = w->request.cwd,
	    .notice = plan_notice, .arg = w };
	struct mounts_mode mode = { .bwrap = w->plan->spec.bwrap,
	    .is_host_dev = p->devices.mode.value == DEVICES_HOST,
	    .dev_rule = device_rule(w->arena, p),
	    .tmp_size = tmp_size(p), .own_size = OWN_BYTES };
	int rc;

	if (mode.tmp_size > 0 && mode.tmp_size < mode.own_size)
		mode.own_size = mode.tmp_size;
	for (const struct policy *l = p; l != NULL; l = l->also)
		mode.is_closed |= l->fs.default_deny_read.value ||
		    l->fs.strict_deny_read.value;
	for (size_t i = 0; i < 2; i++) {
		const char *way = env_get(env, i == 0 ? "HOME" : "PWD");

		if (way != NULL && way[0] == '/')
			rq.ways[rq.nways++] = way;
	}
	if (plan_exposed(w, ro, &rq, e) != 0)
		return -1;
	own_files(w, ro, env, &own);
	rq.own = own.v;
	rq.nown = own.n;
	if (!w->plan->is_inside && w->plan->state != NULL)
		rq.state = path_real_or_same(w->arena, w->plan->state);
	rq.as_if_made = !w->is_again && !w->plan->is_inside && may_make(p);
	plan_exec(w, ro, env, &rq);
	rc = facts_gather(&rq, &facts, e);
	if (rc == 0) {
		add_runtime(w, env, &facts);
		mounts_plan(w->arena, &mode, facts.v, facts.n, &mounts);
		rc = facts_check_roots(&mounts.roots, e);
	}
	/* Inside another fence nothing is mounted, and openat2() may fail. */
	if (rc == 0 && !w->plan->is_inside)
		rc = look_at_pins(&mounts, e);
	if (rc == 0)
		rc = plan_judge(p, &facts, &mounts, e);
	if (rc == 0)
		rc = check_own(w, &facts, e);
	if (rc == 0) {
		take_mounts(w, &facts, &mounts);
		tell_listed(w, &mounts);
	}
	vec_release(&own);
	facts_release(&facts);
	vec_release(&mounts.list);
	vec_release(&mounts.roots);
	return rc;
}
