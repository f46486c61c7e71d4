/*
 * agentconf_parts: what the files of agentconf share.
 *
 *	agentconf.c		which keys differ, and what the host is to have
 *	agentconf_rows.c	the table of files and keys
 *	agentconf_edit.c	a text changed until it says that
 *	agentconf_toml.c	the same for TOML
 */
#ifndef FENCE_LAUNCHER_AGENTCONF_PARTS_H
#define FENCE_LAUNCHER_AGENTCONF_PARTS_H

#include "launcher/guard/agentconf.h"
#include "platform/base/err.h"
#include "platform/base/jsontree.h"

enum { AGENTCONF_EDITS = 64 };

/* Members of an object, sorted by name. */
struct members {
	const struct jnode	**v;
	size_t			 n;
};

struct members	 members_of(struct arena *, const struct jnode *);
const struct jnode *members_get(const struct members *, const char *key);
/* The same value?  The order of an object's members says nothing. */
bool		 conf_same(struct arena *, const struct jnode *,
		    const struct jnode *);

/* The first thing that has to change in `is`, so that it becomes `want`. */
struct conf_edit {
	enum { CONF_DONE, CONF_CUT, CONF_REPLACE, CONF_INSERT } what;
	const struct jnode	*is;		/* or, of CONF_INSERT, where */
	const struct jnode	*want;
};

struct conf_edit conf_next_edit(struct arena *, const struct jnode *is,
		    const struct jnode *want);

/* -1: the text does not read as it should. */
int		 conf_parse(struct arena *, const struct agentconf_file *,
		    const char *text, size_t len, struct jnode **ret,
		    struct err *);
/* Text that says `want`: the given one edited, or, if that fails, a new one. */
int		 conf_write(struct arena *, const struct agentconf_file *,
		    const char *text, size_t len, const struct jnode *want,
		    const char **ret, size_t *ret_len);

/* One edit of a TOML text; want_root: of the tree that edit->want is in. */
int		 conf_toml_apply(struct arena *, const char *text, size_t len,
		    const struct conf_edit *, const struct jnode *want_root,
		    const char **ret, size_t *ret_len);
void		 conf_toml_put(struct buf *, const struct jnode *root);

#endif
