/*
 * table: the names that the launcher left for the shim (wire.h), mapped once
 * and never unmapped.  Loading needs no lock and no malloc, so it may happen
 * before main, in a signal handler or after vfork; when two threads load at
 * once, the loser unmaps its own copy.
 *
 * A name is known by the device and inode of its folder, so that neither a
 * symlink nor "../" leads around it.  The text is used where it lies; the
 * index over it costs as much as four opens, and is made only in a program
 * that makes a name or misses a file.
 */
#ifndef FENCE_SHIM_TABLE_H
#define FENCE_SHIM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/real.h"

enum { TABLE_BYTES_MAX = 4 << 20, TABLE_LEAF_MAX = 255 };

enum name_kind { NAME_GUARDED = 'g', NAME_FILE = 'f', NAME_BOUND = 'b' };

/* One record, taken apart. */
struct name {
	enum name_kind	 kind;
	uint64_t	 dev, ino;	/* of the folder; 0 0: as it is now */
	const char	*path;		/* "/a/b/name" */
	size_t		 dir_len;	/* "/a/b/" */
};

struct table_entry {
	uint32_t	 at;		/* in the text: the record, */
	uint32_t	 name;		/* and its path's last component */
	uint32_t	 next;		/* of its bucket or list; 0: last */
};

struct table {
	const char	*text;
	size_t		 text_len;
	bool		 needs_grant;	/* "D" */
	const char	*listened;	/* "L": its ports, or NULL */
	uint32_t	 nguards;
	uint32_t	 first_file;	/* as all indices: of v, 0 for none */
	uint32_t	 first_bound;
	uint32_t	 mask;		/* of the buckets */
	const uint32_t	*buckets;	/* guarded names */
	const struct table_entry *v;	/* from 1 on */
};

/* The last component of a path; slashes behind it do not count. */
struct leaf {
	const char	*name;
	size_t		 len;
	size_t		 dir_len;	/* bytes before it; 0: only itself */
};

struct dir_id {
	uint64_t	 dev, ino;
};

extern SHIM_HIDDEN const struct table *the_table;

SHIM_HIDDEN const struct table	*table_load(void);	/* keeps errno */

/* Never NULL: without a file there is an empty one. */
static inline const struct table *
table_get(void)
{
	const struct table *t = __atomic_load_n(&the_table,
	    __ATOMIC_ACQUIRE);

	return __builtin_expect(t != NULL, 1) ? t : table_load();
}

/* False for a path that ends in nothing, "." or "..", or is too long. */
SHIM_HIDDEN bool leaf_of(const char *path, struct leaf *ret);

/* The folder that path, relative to dir_fd, has its last component in. */
SHIM_HIDDEN bool leaf_dir(int dir_fd, const char *path, const struct leaf *,
	    struct dir_id *ret);

/* First guarded name in the leaf's bucket. */
SHIM_HIDDEN uint32_t table_bucket(const struct table *, const struct leaf *);
/* Is this the name, and where?  The last component alone is compared. */
SHIM_HIDDEN bool table_is(const struct table *, uint32_t,
	    const struct leaf *);
SHIM_HIDDEN void table_at(const struct table *, uint32_t, struct name *ret);
SHIM_HIDDEN bool name_is_in(const struct name *, const struct dir_id *);

/*
 * The table of a text, in zeroed memory of table_room() bytes.  The text stays
 * in use.  A record that is not well formed is left out.
 */
SHIM_HIDDEN size_t table_room(const char *text, size_t len);
SHIM_HIDDEN struct table *table_build(void *mem, const char *text, size_t len);

#endif
