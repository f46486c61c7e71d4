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

#include "launcher/gather.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/linux/unixlist.h"
#include "policy/decide.h"

struct listing {
	struct gather		*g;
	struct path_list	 relative;	/* names as they were bound */
};

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
			need = S_IXUSR;
		else if (st.st_gid == 0)
			need = S_IXGRP;
		if ((st.st_mode & need) == 0)
			return true;
	}
	return false;
}

static const struct rule granted = { .id = RULE_KEY,
    .key = KEY_OF(net.allow_unix_sockets) };

static void
add_socket(struct gather *g, const char *path)
{
	struct tree_node node;
	bool is_named;
	struct stat st;

	gather_look(g, path, &node);
	if (node.kind == TREE_MISSING || lstat(node.real, &st) != 0 ||
	    !S_ISSOCK(st.st_mode) || is_out_of_reach(node.real))
		return;
	if (is_allowed(g->rq->policy, path, node.real, &is_named)) {
		if (is_named)
			gather_fact(g, FACT_SEE, &node,
			    &granted);
	} else
		gather_fact(g, FACT_SOCKET, &node, gather_words(g,
		    "a socket of the host's"));
}

static void
take(const char *path, void *arg)
{
	struct listing *l = arg;

	if (path[0] == '/')
		add_socket(l->g, path);
	else
		*vec_push(&l->relative) = arena_strdup(l->g->arena, path);
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/*
 * One that the walk saw may be bound by a relative name; one that nobody
 * listens at is the command's to remove and to bind anew.
 */
static void
add_relative(struct listing *l, const char *path)
{
	for (size_t i = 0; i < l->relative.n; i++)
		if (strcmp(base_name(path), base_name(l->relative.v[i])) ==
		    0) {
			add_socket(l->g, path);
			return;
		}
}

int
socket_facts(struct gather *g, struct err *e)
{
	struct listing l = { .g = g };
	int rc = 0;

	if (unixlist_read(take, &l) != 0)
		rc = err_sys(e, errno, "cannot list the host's unix sockets");
	for (size_t i = 0; i < g->facts->sockets.n; i++)
		add_relative(&l, g->facts->sockets.v[i]);
	vec_release(&l.relative);
	return rc;
}
