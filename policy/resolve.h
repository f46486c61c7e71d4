/*
 * resolve: from a command line and a directory to the policy in force.
 *
 *	-t NAME		a template
 *	-s FILE		a file: naming it is trusting it
 *	neither		the nearest trusted project file upwards of cwd (the
 *			first such one of its directory), else
 *			the user's own, else the built-in workspace-write
 *
 * Over that lie layers, and every layer must agree (policy->also): all other
 * project files from cwd up to the directory of the trusted one, or to the
 * root, the template "strict" for `profile: strict`, and the ceilings of
 * this machine.  One-shot flags add to the user's policy and to the
 * projects', never to a profile or a ceiling.
 *
 * The workspace is the directory of a trusted project file, else cwd.  An
 * untrusted one anchors its own relative paths in its directory and moves
 * nothing else: with it, nothing is allowed that would not be without it.
 * It extends templates, @base and files of its own folder; another path is
 * an error, and what is wrong with a file it extends is told by place alone.
 */
#ifndef FENCE_POLICY_RESOLVE_H
#define FENCE_POLICY_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/err.h"
#include "platform/base/sha256.h"
#include "policy/extends.h"
#include "policy/policy.h"

/* Values of a repeatable flag. */
struct resolve_list {
	const char	*const *v;
	size_t		 n;
};

struct resolve_request {
	const char	*settings;	/* -s, or NULL */
	const char	*template_name;	/* -t, or NULL; not both */
	const char	*cwd;		/* absolute, real */
	const char	*home;		/* real; or NULL */
	const char	*other_home;	/* real; or NULL, see policy_env */
	char *const	*environ;
	bool		 ignore_project;
	bool		 ignore_unknown;	/* --ignore-unknown-keys */
	const char	*ceiling_dir;	/* NULL: /etc/fence/ceiling.d */
	struct resolve_list allow;	/* -a, network.allowedDomains */
	struct resolve_list host_port;	/* --host-port, network.hostPorts */
	struct resolve_list write;	/* -w, filesystem.allowWrite */
	struct resolve_list read;	/* -r, filesystem.allowRead */
	struct resolve_list deny_read;	/* --deny-read */
	struct resolve_list env_set;	/* --env NAME=VALUE, env.set */
	struct resolve_list env_allow;	/* --env NAME, env.allow */
	enum tri	 force_new_session;	/* TRI_AUTO: not given */
};

struct resolved {
	struct arena	*arena;		/* of all strings here */
	struct policy	*policy;	/* the first layer, settled */
	const char	*workspace;
	/* Without any file: the built-in workspace-write is the first layer. */
	bool		 is_builtin_default;
	/* The trusted project file, else the nearest of all, or NULL. */
	const char	*project;
	bool		 is_trusted;	/* that one */
	/* Lines for the user. */
	const char	**notices;
	size_t		 nnotices;
	/* What was read, in the order of the layers; depth 0 begins one. */
	struct extends_step *chain;
	size_t		 nchain;
	/* Real paths of every policy file in force, for policy_own(). */
	const char	**files;
	size_t		 nfiles;
};

/* -1: ERR_POLICY, or ERR_USAGE for a bad -t or one-shot value. */
int	 policy_resolve(const struct resolve_request *, struct resolved *ret,
	    struct err *);
void	 resolved_release(struct resolved *);	/* twice is fine */

/*
 * The digest of a project file and all it extends, for policy/trust.h.  The
 * file must be without error.  *ret_name: the path to trust, in the arena.
 */
int	 policy_digest(const struct resolve_request *, const char *path,
	    struct arena *, const char **ret_name, char ret_hex[SHA256_HEX],
	    struct err *);

/*
 * The digests that a file had with one text and will have with another.  What
 * it extends is read once for both: trust in the first is trust in the second
 * for whoever knows how the texts differ.
 */
int	 policy_digest_edit(const struct resolve_request *, const char *path,
	    const struct buf *before, const struct buf *after,
	    struct arena *, const char **ret_name,
	    char ret_before[SHA256_HEX], char ret_after[SHA256_HEX],
	    struct err *);

/* The name under which a path is trusted. */
const char	*policy_trusted_name(struct arena *, const char *cwd,
		    const char *path);

#endif
