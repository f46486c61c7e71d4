#include "launcher/run/nested.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/plan/mounts.h"
#include "platform/base/str.h"
#include "platform/fd.h"
#include "policy/keys.h"

static int
cannot(struct err *e, const char *key, const struct origin *at,
    const char *hint)
{
	err_set(e, ERR_POLICY, "cannot be held inside another fence");
	err_key(e, "%s", key);
	if (at != NULL && at->file != NULL)
		err_where(e, at->file, at->line, at->col);
	err_hint(e, "%s", hint);
	return -1;
}

static bool
is_builtin(const struct origin *at)
{
	return at->file == NULL || at->kind != ORIGIN_FILE;
}

/* ---- files ---- */

/* The outer jail hides it already, or there is nothing to be hidden. */
static bool
is_hidden(const char *path)
{
	struct stat st;
	auto_fd fd = -1;

	if (stat(path, &st) != 0)
		return true;
	if (S_ISSOCK(st.st_mode))
		return access(path, W_OK) != 0;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0;
}

static bool
is_in_write_root(const struct jail_spec *spec, const char *path)
{
	for (size_t i = 0; i < spec->nwrite_roots; i++)
		if (str_path_below(path, spec->write_roots[i]))
			return true;
	return false;
}

/* Does the outer jail, or a Landlock rule, do what this mount would? */
static bool
is_held(const struct jail_spec *spec, const struct jail_mount *m)
{
	switch (m->kind) {
	case MOUNT_MASK_DIR:
	case MOUNT_MASK_FILE:
	case MOUNT_MASK_AROUND:
		return is_hidden(m->path);
	case MOUNT_RO:
		return !is_in_write_root(spec, m->path) ||
		    access(m->path, W_OK) != 0;
	default:
		return true;
	}
}

/* A rule of a file that was named, or of an option. */
static bool
is_rule_asked(const struct run_options *ro, const struct rule *r)
{
	return r->id == RULE_ENTRY && (r->at.kind == ORIGIN_COMMAND_LINE ||
	    (r->at.kind == ORIGIN_FILE && ro->settings != NULL));
}

static int
unheld_rule(const struct jail_mount *m, const struct rule *r, struct err *e)
{
	err_set(e, ERR_POLICY, "'%s' cannot be %s inside another fence",
	    m->path, m->kind == MOUNT_RO ? "made read-only" : "hidden");
	err_key(e, "%s[%zu]", keys_name(r->key), r->index);
	err_where(e, r->at.file, r->at.line, r->at.col);
	err_hint(e, "the outer fence-run can: put the rule into its policy");
	return -1;
}

static int
check_files(const struct run_options *ro, const struct jail_spec *spec,
    size_t *ret_unheld, struct err *e)
{
	*ret_unheld = 0;
	for (size_t i = MOUNTS_BASE; i < spec->nmounts; i++) {
		const struct jail_mount *m = &spec->mounts[i];

		const struct rule *r = m->reason;

		if (is_held(spec, m))
			continue;
		if (is_rule_asked(ro, r))
			return unheld_rule(m, r, e);
		*ret_unheld += r->id == RULE_ENTRY;
	}
	return 0;
}

/* ---- the rest ---- */

/*
 * Where a value of this key stands that only the outer fence can hold, or
 * NULL.  A policy that is built in may list what it likes: the outer jail
 * holds, and what it does not hold is reported.
 */
static const struct origin *
unheld_value(const struct key *k, const struct policy *p)
{
	const struct origin *at = keys_lost(k, k->nested, p);
	const struct strlist *l = keys_cstrlist(k, p);

	if (at == NULL || l == NULL)
		return at;
	for (size_t i = 0; i < l->n; i++)
		if (!is_builtin(&l->v[i].at))
			return &l->v[i].at;
	return NULL;
}

static int
check_values(const struct policy *p, struct err *e)
{
	for (size_t i = 0; i < policy_nkeys; i++) {
		const struct key *k = &policy_keys[i];
		const struct origin *at = unheld_value(k, p);

		if (at != NULL)
			return cannot(e, k->name, at, k->nested_hint != NULL ?
			    k->nested_hint : "put it into the policy of the "
			    "outer fence-run");
	}
	return 0;
}

/* Unasked-for policies leave the network to the outer jail. */
static bool
has_network(const struct run_options *ro, const struct policy *p)
{
	return (ro->settings == NULL && ro->template_name == NULL) ||
	    p->net.allowed_domains.n > 0;
}

/* Every host is what the outer jail narrows down, as this one would not. */
static bool
has_hosts(const struct policy *p)
{
	const struct strlist *allow = &p->net.allowed_domains;

	for (size_t i = 0; i < allow->n; i++)
		if (strcmp(allow->v[i].text, "*") == 0)
			return p->net.denied_domains.n > 0;
	return true;
}

static void
say(const struct plan *p, bool has_net, size_t unheld)
{
	const struct policy *policy = p->policy;

	fputs("fence: already inside fence: the outer jail holds, this run "
	    "can only take more away", stderr);
	if (unheld > 0)
		fprintf(stderr, " (%zu path%s that %s denies %s not)", unheld,
		    unheld == 1 ? "" : "s", policy->name,
		    unheld == 1 ? "is" : "are");
	/* What nobody wrote needs no word. */
	if (has_net && !p->resolved.is_builtin_default && has_hosts(policy))
		fprintf(stderr, " (the hosts are the outer jail's, not those "
		    "of %s)", policy->name);
	fputc('\n', stderr);
}

int
nested_run(const struct run_options *ro, const struct plan *p, struct err *e)
{
	struct jail_spec spec = p->spec;
	size_t unheld;

	if (check_files(ro, &spec, &unheld, e) != 0)
		return -1;
	if (p->ports.nin > 0)
		return cannot(e, "--port", NULL, "the outer fence-run's "
		    "--port leads in");
	if (ro->settings != NULL && check_values(p->policy, e) != 0)
		return -1;
	/* Of all the outer jail's processes it would count each. */
	spec.limits.processes = 0;
	spec.may_nest = false;
	say(p, has_network(ro, p->policy), unheld);
	fflush(NULL);
	return jail_tighten(&spec, has_network(ro, p->policy), e);
}
