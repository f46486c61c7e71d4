/*
 * Unix sockets of the host.  A read-only mount does not stop connect(2), and
 * what listens there acts with the user's rights outside: masked unless the
 * policy names it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/plan/facts_parts.h"
#include "launcher/plan/stray.h"
#include "policy/decide.h"

/* By its name or by where it lies; *ret_is_named: not merely as one of all. */
static bool
is_allowed(const struct policy *p, const char *path, const char *real,
    bool *ret_is_named)
{
	struct verdict v;

	decide_unix(p, path, &v);
	if (v.action == ACTION_DENY)
		decide_unix(p, real, &v);
	*ret_is_named = v.rule.id == RULE_ENTRY;
	return v.action == ACTION_ALLOW;
}

/*
 * Started by root: inside, uid 0 has no capability, and the folders of others
 * are as closed to it as to anyone.  Nothing can be mounted there, either.
 */
static bool
is_out_of_reach(const char *path)
{
	char dir[PATH_MAX];
	struct stat st;

	for (const char *s = strchr(path + 1, '/'); geteuid() == 0 &&
	    s != NULL; s = strchr(s + 1, '/')) {
		mode_t need = S_IXOTH;

		snprintf(dir, sizeof dir, "%.*s", (int)(s - path), path);
		if (stat(dir, &st) != 0)
			return true;
		if (st.st_uid == 0)
			continue;	/* its owner may open it */
		if (st.st_gid == 0)
			need = S_IXGRP;
		if ((st.st_mode & need) == 0)
			return true;
	}
	return false;
}

static const struct rule granted = { .id = RULE_KEY,
    .key = KEY_OF(net.allow_unix_sockets) };

static bool
is_socket(const char *path)
{
	struct stat st;

	return path != NULL && lstat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* False: there is none at this path. */
static bool
add_socket(struct gather *g, const char *path)
{
	struct tree_node node;
	bool is_named;

	gather_look(g, arena_strdup(g->arena, path), &node);
	if (node.kind == TREE_MISSING || !is_socket(node.real))
		return false;
	if (is_out_of_reach(node.real))
		return true;
	if (is_allowed(g->rq->policy, path, node.real, &is_named)) {
		if (is_named)
			gather_fact(g, FACT_SEE, &node,
			    &granted);
	} else
		gather_fact(g, FACT_SOCKET, &node, gather_words(g,
		    "a socket of the host's"));
	return true;
}

struct listing {
	struct gather	*g;
	struct strays	 strays;
};

static void
take(const struct unixlist_entry *e, void *arg)
{
	struct listing *l = arg;
	bool is_named = stray_is_named(e->path);

	if (!is_named && add_socket(l->g, e->path))
		return;
	/* A name that is gone says something with its file alone. */
	if (is_named || e->has_file)
		strays_add(&l->strays, e);
}

static void
take_found(const char *path, void *arg)
{
	(void)add_socket(arg, path);
}

static void
announce_lost(struct gather *g, const struct strays *s)
{
	struct buf b;
	size_t n;

	buf_init(&b, 4096);
	n = strays_lost(s, &b);
	if (n > 0)
		g->rq->notice(arena_printf(g->arena, "%zu unix socket%s of the "
		    "host cannot be located, and may be reached: %s", n,
		    n > 1 ? "s" : "", b.data), g->rq->arg);
	buf_release(&b);
}

/*
 * Of the sockets that the walk saw, one that nobody listens at is the
 * command's to remove and to bind anew.
 */
int
socket_facts(struct gather *g, struct err *e)
{
	struct listing l = { .g = g, .strays = { .arena = g->arena,
	    .found = take_found, .arg = g } };
	int rc = 0;

	if (unixlist_read(take, &l) != 0)
		rc = err_sys(e, errno, "cannot list the host's unix sockets");
	for (size_t i = 0; i < g->facts->sockets.n; i++)
		strays_try(&l.strays, g->facts->sockets.v[i]);
	strays_search(&l.strays);
	announce_lost(g, &l.strays);
	strays_release(&l.strays);
	return rc;
}
