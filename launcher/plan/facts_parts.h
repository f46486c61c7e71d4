/*
 * facts_parts: what the parts of facts (facts_*.c) share while they look at the
 * disk.  Not for anyone else.
 */
#ifndef FENCE_LAUNCHER_FACTS_PARTS_H
#define FENCE_LAUNCHER_FACTS_PARTS_H

#include <stdbool.h>

#include "launcher/plan/facts.h"
#include "platform/name_filter.h"
#include "policy/guard.h"

enum { GATHER_WALK_MAX = 1000 * 1000, GATHER_SEEN = 16, GATHER_LISTED = 5 };

struct agent_state;

struct gather {
	const struct facts_request	*rq;
	struct arena			*arena;
	struct facts			*facts;
	struct policy			*layer;	/* the one being looked at */
	struct path_list		 roots;	/* writable directories, real */
	/* Something could not be looked at: errno, and what. */
	int				 sys;
	const char			*sys_path;
	/* Folders looked at for what is missing in them. */
	struct tree_node		 seen[GATHER_SEEN];
	unsigned			 nseen;
	/* Folders listed once, because many names are looked for in them. */
	struct gather_listed {
		const char	*path;
		struct name_filter names;
	}				 listed[GATHER_LISTED];
	unsigned			 nlisted;
	/* Where guarded names are: for the decider, policy->places. */
	struct guard_places		*places;
	struct { struct guard_at *v; size_t n, cap; } guarded;
	/* Those that are the jail's own copies: facts_shadow.c. */
	struct { struct guard_at *v; size_t n, cap; } shadowed;
	/* What could not be looked at: facts_closed.c. */
	struct path_list		 closed;
	/* Where symlinks may have been made by others: facts_grant.c. */
	struct path_list		 tended;
	/* What the walk saw and went past: names that may be guarded. */
	struct path_list		 deep;
	/* Files of fence's own, as they were found: facts_own.c. */
	struct tree_node		*own;
	/* The host's mounts, read when they are first asked for. */
	struct mount_table		 mounts;
	/* Of the work tree that the run begins in, where it lies elsewhere:
	 * facts_gitdir.c. */
	const char			*git_dir;
	/* Facts that were looked for at other mounts: facts_again.c. */
	size_t				 nagain;
	/* Searches for the next walk. */
	struct { struct tree_want *v; size_t n, cap; } wants;
};

/* tree_look(); where nobody knows what is there, the run does not start. */
void	 gather_look(struct gather *, const char *path, struct tree_node *);
void	 gather_lack(struct gather *, int sys, const char *path);
void	 gather_fact(struct gather *, enum fact_kind,
	    const struct tree_node *, const struct rule *);
/* Of an entry of g->layer, or readable by default; grants are judged later. */
void	 gather_ruled(struct gather *, enum fact_kind,
	    const struct tree_node *, const struct rule *, bool is_glob);
/* A symlink at that place, for links_on_way(). */
void	 gather_link(const char *at, const char *text, void *gather);
/* Looks first; nothing there is no fact. */
void	 gather_path(struct gather *, enum fact_kind, const char *path,
	    const char *words);
/* What no key of the policy asked for: RULE_JAIL. */
const struct rule *gather_words(struct gather *, const char *words);
void	 gather_guard(struct gather *, enum guard_kind, const char *path,
	    const struct tree_node *);
/* Several names in this folder will be looked at: makes that cheap. */
void	 gather_know(struct gather *, const char *folder);
/* NULL, and what is no folder or not at its real path, is passed over. */
void	 gather_list(struct gather *, const char *folder);
/* NULL: it was not listed. */
const struct name_filter *gather_listed(const struct gather *,
	    const char *folder);
/* Is it known that nothing lies there, and no symlink in its listed folder? */
bool	 gather_lacks(const struct gather *, const char *path);
/*
 * The symlinks on the way to something that is denied are kept.  Returns where
 * they lead, or the path if that cannot be told.
 */
const char *gather_hold_links(struct gather *, const char *path);
/* A path whose end is missing, with no symlink in the part that is there. */
const char	*gather_real(struct gather *, const char *path);
/* Where a path would be made that is missing, at the end of all symlinks. */
const char	*gather_target(struct gather *, const char *path);
/* Strictly below a directory that the policy makes writable? */
bool	 gather_in_grant(const struct gather *, const char *path);
/* Below it, or the directory itself? */
bool	 gather_is_granted(const struct gather *, const char *path);
bool	 gather_grants_all(const struct gather *);	/* "/" as a whole? */
void	 gather_want(struct gather *, const struct tree_want *);
/* Walks for all searches, and leaves what they found in them. */
int	 gather_walk(struct gather *, struct err *);

/*
 * facts_grant.c: which grants hold.  Asked once all of them are known, and
 * again when guarded names are: what the policy does not give at the place
 * where the path really leads is dropped, and told or refused.
 */
int	 grants_settle(struct gather *, struct err *);
/*
 * Where "/" is granted, homes and workspace are as if they were named, too:
 * their names are guarded and their git directories looked at like those of
 * any tree that is.
 */
void	 grants_in_all(struct gather *);
/*
 * The first symlink on the way that a repository may have brought, or a run
 * have made: one in the workspace, or in what the user's policy makes
 * writable.  NULL if there is none, and the path still leads to real.
 */
const char *grants_link(const struct gather *, const char *path,
	    const char *real);
/* The symlinks on the way to those that hold. */
void	 grants_show(struct gather *);

/* facts_gitdir.c: the workspace's git directory, after the policy's grants. */
void	 gitdir_grant(struct gather *);

/* facts_closed.c: a path that met EACCES, for tree_walk(); once all is known,
 * what of it has to be hidden. */
void	 gather_closed(const char *path, void *gather);
int	 closed_facts(struct gather *, struct err *);
/*
 * facts_places.c: names are guarded there; kind: of policy/guard.h.  All of
 * these places, after the walk.
 */
void	 guard_add_at(struct gather *, const char *path, unsigned kind);
void	 guard_places_find(struct gather *);
/*
 * facts_repo.c: a ".git" that was found; a folder that may be a git directory;
 * one around or above a writable folder.
 */
void	 repo_at(struct gather *, const struct tree_node *);
void	 repo_may_be(struct gather *, const char *dir);
void	 repo_around(struct gather *, const char *root);
/* facts_git.c: what the configuration of a git directory leads to. */
void	 guard_git_targets(struct gather *, const char *dir);

/* facts_places.c: searches, before the walk.  facts_guard.c: the names, after
 * it. */
void	 guard_searches(struct gather *);
void	 guard_facts(struct gather *);
/* facts_shadow.c: once it is known what else the policy says of the disk, and
 * before names are guarded. */
void	 shadow_facts(struct gather *);
/*
 * facts_state.c: plans a granted file of agent_states[] that is missing as if it
 * were there; false: it is none of them, or will not be made.  All that patterns
 * grant, after the walk.
 */
bool	 state_plan(struct gather *, const char *path, struct tree_node *);
void	 state_grants(struct gather *);
/* The granted file that is to be seen in this agent's folder, too, or NULL. */
const struct agent_state *state_beside(struct gather *, const char *folder);
/* facts_socket.c; after the walk, in which guard_searches() saw sockets. */
int	 socket_facts(struct gather *, struct err *);
/* facts_secret.c: for a run that root started. */
void	 secret_facts(struct gather *);
/*
 * facts_own.c: what no grant opens has to be known before one is judged; what
 * the command must not make is listed as missing before names are guarded; at
 * the end it all is read-only.
 */
void	 own_know(struct gather *);
void	 own_list(struct gather *);
int	 own_facts(struct gather *, struct err *);
/*
 * facts_again.c: what is denied by now, at other mounts of it.  Called again
 * for what has come since.
 */
void	 again_facts(struct gather *);
/* facts_check.c; the first: is "/" granted in so many words, if at all? */
int	 check_all(const struct gather *, struct err *);
int	 check_facts(const struct gather *, struct err *);

#endif
