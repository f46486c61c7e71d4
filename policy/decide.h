/*
 * decide: pure questions, pure answers.  A verdict names the rule that
 * spoke, where it is written, and the line that would change the answer.
 * The enforcers and the explainers ask the same functions.
 *
 * Layers (policy->also) must agree: the first denial speaks, and where all
 * allow, the first layer's rule is named.
 */
#ifndef FENCE_POLICY_DECIDE_H
#define FENCE_POLICY_DECIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/host.h"
#include "policy/origin.h"
#include "policy/policy.h"
#include "policy/rule.h"

enum action { ACTION_ALLOW, ACTION_DENY };

struct verdict {
	enum action	 action;
	/* Allowed, by network.upstreamProxy alone: never dial it directly. */
	bool		 via_upstream;
	struct rule	 rule;
	/* A few words for people: "denied by name", "a guarded name" ... */
	char		 reason[96];
	struct remedy	 remedy;
};

/*
 * May the command talk to this host on this port?  Asked before resolving.
 * Port 0: on some port?  (A look-up does not say which.)
 */
void	 decide_net(const struct policy *, const struct host *,
	    uint16_t port, struct verdict *);
/* Is this name an entry of network.allowedDomains, not merely below one? */
bool	 decide_net_is_entry(const struct policy *, const struct host *);
/* Are there hosts that network.upstreamProxy decides about? */
bool	 decide_has_grey(const struct policy *);
/*
 * And is the address it resolved to one we may dial?  `host` and `port` as
 * above; is_own: the address belongs to this machine.  Loopback, link-local,
 * metadata and own addresses must be named by the policy as a literal (or by
 * a range of that class alone); private ones may also be covered by
 * network.allowPrivate.  An address that the command itself names is asked
 * about here also where a proxy is to reach it; a name is not.  port 0: some
 * port, so that entries which carry one do not deny.
 */
void	 decide_net_dial(const struct policy *, const struct host *,
	    uint16_t port, const uint8_t *addr, size_t addr_len, int is_own,
	    struct verdict *);

/*
 * May the command reach this port of the host's own localhost, under the same
 * number of its own (network.hostPorts, network.allowLocalOutboundPorts)?
 */
void	 decide_local(const struct policy *, uint16_t port,
	    struct verdict *);
/* Is it where such a port is: localhost, 127.0.0.1 or ::1? */
bool	 decide_local_is_home(const struct host *);
/* One layer: network.allowLocalOutbound, or what it defaults to. */
bool	 decide_local_is_open(const struct policy *);

/* FS_LIST: to read a folder's names.  Of what is no folder it is FS_READ. */
enum fs_op { FS_READ, FS_WRITE, FS_EXEC, FS_LIST };

struct fs_question {
	enum fs_op	 op;
	/* Absolute and clean (no "." or ".." or double slash). */
	const char	*path;
	/*
	 * Are guarded names denied?  Always where the policy knows what is on
	 * disk (policy->places).
	 */
	bool		 is_guarded;
	/* A name of that length is guarded although nobody looked for it:
	 * what a run makes has no place in policy->places.  Else 0. */
	size_t		 guarded_len;
};

/*
 * Longest match decides; a glob is as long as what it matched; at equal
 * length the denial speaks, except over an -r or -w.  Writable places every jail has of its own
 * (/tmp, /dev/shm, /dev/null ...) are allowed by the rule "built-in", unless
 * an entry matches as long; a workspace below /tmp is not part of them.  A
 * write is denied where denyRead would deny the read.  allowWrite and
 * allowExecute let read, too; where reading has to be granted, a folder that
 * allowExecute alone grants is not listed.  The workspace's git directory
 * (policy_git()) is allowed where no entry matches.
 */
void	 decide_fs_ask(const struct policy *, const struct fs_question *,
	    struct verdict *);
/* Without guarded names. */
void	 decide_fs(const struct policy *, enum fs_op, const char *path,
	    struct verdict *);

/* Can there be a folder that is read and not listed?  Of any layer. */
bool	 decide_may_unlist(const struct policy *);

/*
 * Might the policy open this guarded name, or is it shadowed?  false: writing
 * to it is denied, and decide_fs() need not be asked.
 */
bool	 decide_guard_may_open(const struct policy *, const char *path);

/* Is it an -r or -w that opens this very path?  Of one layer. */
bool	 decide_fs_flag(const struct policy *, enum fs_op, const char *path);

/* May the command talk to the host's unix socket at this path? */
void	 decide_unix(const struct policy *, const char *path,
	    struct verdict *);

/*
 * Does a variable of the host's, NAME or NAME=VALUE, pass env.deny and
 * env.denySecrets?  A layer's env.allow brings back what this very layer
 * takes away, and no other's.
 */
bool	 decide_env(const struct policy *, const char *var);

/*
 * May a program inside execute another with this variable, NAME=VALUE
 * (env.loader)?  Denied are those by which the loader takes up code.
 */
void	 decide_loader(const struct policy *, const char *var,
	    struct verdict *);
/* Does any layer refuse such variables? */
bool	 decide_loader_refuses(const struct policy *);

/* Every path that filesystem.defaultDenyRead alone leaves readable. */
void	 decide_readable(const struct policy *,
	    void (*fn)(const char *path, void *arg), void *arg);

/* Is the path a part of what "/" in filesystem.allowWrite makes writable? */
bool	 decide_is_in_all(const char *path);

/*
 * Are names guarded directly in this writable folder?  Not in folders of
 * state, in or below a hidden folder of $HOME, where nobody works; nor in
 * those below a writable workspace, unless an entry names the folder itself;
 * nor in the workspace's git directory.
 */
bool	 decide_is_root(const struct policy *, const char *folder,
	    bool is_named);

/*
 * The length of the guarded name that the path is or is below, or 0.  Where
 * the policy knows what is on disk, by policy->places.  Else by its lists: a
 * name of policy/guard.c directly in a root of filesystem.allowWrite (each
 * folder that a glob matches is one), in the workspace or in a home, or git's
 * in any folder called .git down to depth 3 of them.  *ret_is_own: fence's own
 * file, which no line opens.
 */
size_t	 decide_guarded(const struct policy *, const char *path,
	    bool *ret_is_own);

#endif
