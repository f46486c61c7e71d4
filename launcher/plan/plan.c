#include "launcher/plan/plan.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/plan/direct.h"
#include "launcher/plan/enforce.h"
#include "launcher/plan/plan_work.h"
#include "launcher/plan/request.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/paths.h"
#include "policy/decide.h"
#include "policy/flags.h"
#include "policy/hides.h"
#include "policy/pattern.h"
#include "policy/trust.h"

void *
plan_keep(struct arena *a, const void *v, size_t bytes)
{
	void *p = arena_alloc(a, bytes + 1);

	if (bytes > 0)
		memcpy(p, v, bytes);
	return p;
}

/* ---- the policy ---- */

void
plan_notice(const char *text, void *arg)
{
	struct work *w = arg;

	*vec_push(&w->notices) = arena_strdup(w->arena, text);
}

static int
fail_workspace(const struct entry *entry, const char *path, bool is_lost,
    struct err *e)
{
	if (is_lost) {
		err_set(e, ERR_POLICY, "'%s' is no workspace: it is private "
		    "inside, and what is written there is gone at the end",
		    path);
		err_hint(e, "make a directory in it and cd there");
	} else {
		err_set(e, ERR_POLICY, "'%s' is no workspace: it would make "
		    "your home writable", path);
		err_hint(e, "cd into a project; a policy that means it names "
		    "the path: \"allowWrite\": [\"~\"]");
	}
	err_key(e, "filesystem.allowWrite");
	err_where(e, entry->at.file, entry->at.line, entry->at.col);
	return -1;
}

static bool
is_home_below(const struct policy *p, const char *path)
{
	return strcmp(path, "/") == 0 ||
	    (p->home != NULL && str_path_below(p->home, path)) ||
	    (p->other_home != NULL && str_path_below(p->other_home, path));
}

/*
 * "." is written for a project: where it is a home or above one, the command
 * would be given the user's start files and keys.  A path that is written in
 * full means what it says.
 */
static int
check_workspace(const struct policy *p, struct err *e)
{
	for (size_t i = 0; i < p->fs.allow_write.n; i++) {
		const struct entry *entry = &p->fs.allow_write.v[i];
		const char *path = entry->pattern->text;
		bool is_lost = strcmp(path, "/tmp") == 0 ||
		    strcmp(path, "/run") == 0 || strcmp(path, "/dev/shm") == 0;
		struct verdict v;

		if (strchr("/~$", entry->text[0]) != NULL ||
		    entry->pattern->kind != PATTERN_PATH ||
		    (!is_lost && !is_home_below(p, path)))
			continue;
		decide_fs(p, FS_WRITE, path, &v);
		if (v.action == ACTION_ALLOW)
			return fail_workspace(entry, path, is_lost, e);
	}
	return 0;
}

static bool
is_missing(const char *path)
{
	struct stat st;

	return lstat(path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* A mistyped path grants nothing, or makes folders: say that it is missing. */
static void
notice_missing(struct work *w, const char *flag, const struct strlist *l,
    const struct opt_list *asked, bool is_write)
{
	for (size_t i = 0; i < l->n; i++) {
		const char *path = l->v[i].pattern->text;
		const char *dir = path_dir(w->arena, path);
		bool is_asked = false;

		for (size_t k = 0; k < asked->n; k++)
			is_asked = is_asked || strcmp(asked->v[k],
			    l->v[i].text) == 0;
		if (!is_asked || l->v[i].pattern->kind != PATTERN_PATH ||
		    !flags_made(&l->v[i]))
			continue;
		if (is_missing(dir))
			plan_notice(arena_printf(w->arena, "%s %s: '%s' does "
			    "not exist", flag, l->v[i].text, dir), w);
		else if (!is_write && is_missing(path))
			plan_notice(arena_printf(w->arena, "%s %s: it does "
			    "not exist", flag, l->v[i].text), w);
	}
}

/* network.mode direct: announced, and refused with options that would have no
 * effect. */
static int
plan_direct(struct work *w, const struct run_options *ro, struct err *e)
{
	const struct choice *mode = &w->plan->policy->net.mode;

	if (ro->watch_policy) {
		err_set(e, ERR_USAGE, "with network.mode \"direct\" there is "
		    "nothing that a change could take effect on");
		err_key(e, "--watch-policy");
		return -1;
	}

	plan_notice(arena_printf(w->arena, "%s:%d:%d: network.mode is "
	    "\"direct\": the command has the host's network, and none of its "
	    "connections is filtered or told", mode->at.file, mode->at.line,
	    mode->at.col), w);
	w->plan->spec.shares_net = true;
	return direct_check(w->plan->policy, e);
}

/* Once for each policy, and only at a terminal: scripts read stderr. */
static void
notice_hides(struct work *w, bool is_dry)
{
	const struct resolve_request *r = &w->request;
	const char *text;

	if (w->plan->is_inside || is_dry || !isatty(STDERR_FILENO))
		return;
	text = hides_less(w->arena, r, &w->plan->resolved);
	if (text != NULL && !trust_told(w->arena, trust_store(w->arena,
	    r->home, r->environ), text))
		plan_notice(text, w);
}

static int
load_policy(struct work *w, const struct run_options *ro, char **env,
    struct err *e)
{
	struct resolved *r = &w->plan->resolved;

	if (request_make(w->arena, ro, env, &w->request, e) != 0 ||
	    policy_resolve(&w->request, r, e) != 0)
		return -1;
	w->plan->policy = r->policy;
	for (size_t i = 0; i < r->nnotices; i++)
		plan_notice(r->notices[i], w);
	if (!w->plan->is_inside && check_workspace(r->policy, e) != 0)
		return -1;
	notice_hides(w, ro->dry_run);
	notice_missing(w, "--write", &r->policy->fs.allow_write, &ro->write,
	    true);
	notice_missing(w, "--read", &r->policy->fs.allow_read, &ro->read,
	    false);
	if (direct_is(r->policy) && plan_direct(w, ro, e) != 0)
		return -1;
	return enforce_check(r->policy, e);
}

static int
make(const struct run_options *ro, char **argv, char **env, bool is_again,
    struct plan *ret, struct err *e)
{
	struct work w = { .plan = ret, .is_again = is_again };
	int rc = -1;

	*ret = (struct plan){ .arena = arena_new(),
	    .is_inside = jail_is_inside() };
	w.arena = ret->arena;
	if (plan_port_options(&w, ro, e) == 0 &&
	    load_policy(&w, ro, env, e) == 0 && plan_ports(&w, e) == 0 &&
	    plan_parts(&w, ro, env, e) == 0 && plan_probes(&w, ro, e) == 0 &&
	    plan_files(&w, ro, env, e) == 0 &&
	    plan_command(&w, ro, argv, env, e) == 0) {
		plan_many(&w, ro->engine);
		plan_ranges(&w, ro);
		plan_calls(&w, ro);
		plan_etc(&w);
		rc = plan_via(&w, env, e);
		ret->notices = plan_keep(w.arena, w.notices.v,
		    w.notices.n * sizeof *w.notices.v);
		ret->nnotices = w.notices.n;
		ret->request = w.request;
		if (rc == 0 && !ret->is_inside)
			rc = jail_probe(&ret->spec, e);
	}
	vec_release(&w.notices);
	if (rc != 0) {
		plan_release(ret);
		ret->is_outdated = e->sys == ESTALE;
	}
	return rc;
}

int
plan_make(const struct run_options *ro, char **argv, char **env,
    struct plan *ret, struct err *e)
{
	return make(ro, argv, env, false, ret, e);
}

int
plan_again(const struct run_options *ro, char **argv, char **env,
    struct plan *plan, struct err *e)
{
	plan_release(plan);
	return make(ro, argv, env, true, plan, e);
}

int
plan_known(struct arena *a, const struct run_options *ro,
    const struct resolve_request *req, struct resolved *res,
    char *const *env, struct jail_spec *ret, struct err *e)
{
	struct plan plan = { .arena = a, .is_inside = jail_is_inside(),
	    .resolved = *res, .policy = res->policy };
	struct work w = { .plan = &plan, .arena = a, .request = *req };
	struct run_options dry = *ro;
	const char *dir;
	int rc;

	dry.dry_run = true;
	rc = paths_libexec(a, &dir, e);
	if (rc == 0) {
		plan.spec.init = arena_printf(a, "%s/fence-init", dir);
		rc = plan_files(&w, &dry, env, e);
	}
	vec_release(&w.notices);
	*ret = plan.spec;
	return rc;
}

void
plan_release(struct plan *p)
{
	resolved_release(&p->resolved);
	arena_free(p->arena);
	*p = (struct plan){ 0 };
}

static void
print_list(struct buf *b, const char *verb, const struct strlist *l)
{
	for (size_t i = 0; i < l->n; i++) {
		buf_printf(b, "%s %s  (", verb, l->v[i].text);
		origin_put(b, &l->v[i].at);
		buf_puts(b, ")\n");
	}
}

static void
put_reason(struct buf *b, const void *reason)
{
	rule_put_whole(b, reason);
}

void
plan_print(const struct plan *p, struct buf *b)
{
	buf_puts(b, "policy ");
	str_escape(b, p->policy->name, strlen(p->policy->name), 0);
	buf_putc(b, '\n');
	jail_describe(&p->spec, put_reason, b);
	if (p->spec.shares_net) {
		buf_puts(b, "network direct: the host's, unfiltered\n");
		return;
	}
	print_list(b, "allow", &p->policy->net.allowed_domains);
	print_list(b, "deny ", &p->policy->net.denied_domains);
	if (!p->wants_names)
		buf_puts(b, "network closed\n");
	ports_print(&p->ports, b);
	via_print(&p->via, b);
}
