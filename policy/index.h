/*
 * index: the lists of a policy as hash tables, so that an answer takes as
 * long with ten thousand rules as with ten.  Hosts are found by their name
 * and its suffixes, addresses by each prefix length in use, paths by each of
 * their ancestors, and globs of the form DIR and two stars and NAME by NAME.
 * Other globs are looked at one by one, after a glance at their last bytes.
 */
#ifndef FENCE_POLICY_INDEX_H
#define FENCE_POLICY_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/host.h"
#include "policy/policy.h"

struct arena;

enum { INDEX_NONE = -1 };

/* Never NULL; everything lives in the arena and borrows the lists. */
const struct net_index	*net_index_new(struct arena *,
			    const struct strlist *);
/*
 * The first entry that matches, or INDEX_NONE.  port 0: entries with a port
 * match if is_some_port.  literal_only: names and wildcards do not count.
 */
long	 net_index_find(const struct net_index *, const struct host *,
	    uint16_t port, bool is_some_port, bool literal_only);
/* Does an entry, on whatever port, spell this very name? */
bool	 net_index_has_name(const struct net_index *, const char *name);

/* The lists of paths that decide_fs() looks at. */
enum fs_list { FS_ALLOW_READ, FS_ALLOW_EXECUTE, FS_ALLOW_WRITE, FS_DENY_WRITE,
    FS_DENY_READ, FS_NLISTS };

const struct strlist	*fs_list_of(const struct policy *, enum fs_list);

/* The longest match of each list; len 0: none. */
struct fs_match {
	size_t	len;
	size_t	entry;
};

const struct fs_index	*fs_index_new(struct arena *, const struct policy *);
/* want: bits 1 << FS_*; others are left as they are. */
void	 fs_index_find(const struct policy *, const char *path,
	    unsigned want, struct fs_match ret[FS_NLISTS]);

#endif
