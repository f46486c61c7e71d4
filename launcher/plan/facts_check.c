/* Refusals that can only be made once one has looked. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/plan/facts_parts.h"
#include "platform/base/str.h"
#include "platform/tree.h"
#include "policy/decide.h"
#include "policy/pattern.h"

/* Why a fact cannot be, or NULL. */
static const char *
misplaced(const struct mount_fact *f)
{
	const char *path = f->node.real;

	if (f->kind == FACT_ALLOW_WRITE && strcmp(path, "/etc") == 0)
		return "the jail itself needs it as it is";
	if (f->is_exposed && strcmp(path, "/run") == 0)
		return "the jail's own files are there";
	if (f->kind == FACT_DEVICE)
		return str_path_below(path, "/dev") &&
		    !str_path_below(path, "/dev/shm") &&
		    strcmp(path, "/dev") != 0 ? NULL : "it is no device";
	if (f->kind < FACT_ALLOW_EXECUTE || f->kind == FACT_SOCKET)
		return NULL;
	if (str_path_below(path, "/proc") ||
	    (str_path_below(path, "/dev") &&
	    !str_path_below(path, "/dev/shm") &&
	    (f->kind == FACT_DENY_READ || f->kind == FACT_DENY_WRITE)))
		return "/proc and /dev are the jail's own";
	return NULL;
}

static void
hint_rule(const struct rule *r, struct err *e)
{
	struct buf b;

	buf_init(&b, 0);
	rule_put_whole(&b, r);
	err_hint(e, "%s", b.data);
	buf_release(&b);
}

/* What the jail itself stands on, and places that are its own. */
static int
check_places(const struct gather *g, struct err *e)
{
	for (size_t i = 0; i < g->facts->n; i++) {
		const struct mount_fact *f = &g->facts->v[i];
		const char *bad = f->kind == FACT_LINK ? NULL : misplaced(f);

		if (bad == NULL)
			continue;
		err_set(e, ERR_POLICY, "'%s' cannot be used here: %s",
		    f->node.path, bad);
		hint_rule(f->rule, e);
		return -1;
	}
	return 0;
}

static const struct entry *
find_denial(const struct strlist *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++)
		if (pattern_match_path(l->v[i].pattern, path) > 0)
			return &l->v[i];
	return NULL;
}

/* A path is exposed as it is: never over a denial or a guarded name. */
static int
check_exposed(const struct gather *g, struct err *e)
{
	for (size_t i = 0; i < g->rq->nexposed; i++) {
		const struct exposed *x = &g->rq->exposed[i];

		for (const struct policy *p = g->rq->policy; p != NULL;
		    p = p->also) {
			const struct entry *no = find_denial(&p->fs.deny_read,
			    x->path);
			bool is_own;

			if (no == NULL && x->is_writable)
				no = find_denial(&p->fs.deny_write, x->path);
			if (no == NULL && !(x->is_writable &&
			    decide_guarded(p, x->path, &is_own) != 0))
				continue;
			err_set(e, ERR_POLICY, "'%s' cannot be exposed: %s",
			    x->path, no != NULL ? "the policy denies it" :
			    "it is a guarded name");
			if (no != NULL)
				err_where(e, no->at.file, no->at.line,
				    no->at.col);
			return -1;
		}
	}
	return 0;
}

int
check_facts(const struct gather *g, struct err *e)
{
	if (g->rq->policy->devices.mode.value == DEVICES_HOST &&
	    getuid() == 0) {
		err_set(e, ERR_POLICY, "root cannot be given the host's "
		    "devices: the disks are among them");
		err_key(e, "devices.mode");
		err_hint(e, "name the ones that are needed in devices.allow");
		return -1;
	}
	return check_places(g, e) != 0 ? -1 : check_exposed(g, e);
}

/* "." and $X may lead to "/" without anybody's having thought of it. */
static bool
is_all_by_name(const struct mount_fact *f)
{
	return strcmp(f->node.path, "/") == 0 && f->rule->id == RULE_ENTRY &&
	    strcmp(f->rule->text, "/") == 0;
}

int
check_all(const struct gather *g, struct err *e)
{
	for (size_t i = 0; i < g->facts->n; i++) {
		const struct mount_fact *f = &g->facts->v[i];

		if (f->kind != FACT_ALLOW_WRITE || f->node.real[1] != '\0' ||
		    is_all_by_name(f))
			continue;
		err_set(e, ERR_POLICY, "'/' as a whole cannot be made "
		    "writable by '%s'", f->rule->text);
		err_key(e, "filesystem.allowWrite");
		err_hint(e, "name the directories that the command has to "
		    "write to, or \"/\" itself");
		return -1;
	}
	return 0;
}

int
facts_check_roots(const struct path_list *roots, struct err *e)
{
	for (size_t i = 0; i < roots->n; i++) {
		const char *path = roots->v[i];
		struct stat st;

		if (tree_is_kernel(path)) {
			err_set(e, ERR_POLICY, "'%s' is the kernel's own and "
			    "cannot be made writable", path);
			err_key(e, "filesystem.allowWrite");
			return -1;
		}
		if (getuid() != 0 || path[1] == '\0' ||
		    stat(path, &st) != 0 || st.st_uid == 0)
			continue;
		/* Without CAP_DAC_OVERRIDE root may not write there. */
		err_set(e, ERR_POLICY, "'%s' belongs to uid %u, and inside the "
		    "jail root has no power over it", path,
		    (unsigned)st.st_uid);
		err_hint(e, "run fence-run as that user");
		return -1;
	}
	return 0;
}
