/*
 * shadow_tree: copies and digests of files and folders that a jail may have
 * made, or may be changing.  Each step is relative to an open folder, follows
 * no symlink and has a ceiling.  Descriptors are the caller's.
 */
#ifndef FENCE_LAUNCHER_SHADOW_TREE_H
#define FENCE_LAUNCHER_SHADOW_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "platform/base/sha256.h"

enum { SHADOW_DEPTH = 48, SHADOW_ENTRIES = 50000 };
/* What is copied byte by byte; a reflink costs nothing of it. */
#define SHADOW_BYTES	((uint64_t)1 << 30)
/* What is read for a digest; of more, stamps alone say whether it changed. */
#define SHADOW_DIGEST_BYTES	((uint64_t)64 << 20)

enum shadow_way {
	/* Symlinks as they are, files of several names as if of one. */
	SHADOW_INWARD,
	/*
	 * To the host: neither setuid bits, nor rights for others to write;
	 * symlinks that stay in the tree, no file of several names.
	 */
	SHADOW_OUTWARD,
};

struct shadow_copying {
	enum shadow_way	 way;
	bool		 is_synced;	/* each file is on the disk, then */
	uint64_t	 bytes;		/* left */
	unsigned	 entries;	/* left */
	uint64_t	 longest;	/* of a file, reflink or not; 0: any */
	/* Out: what was left out, and why the first was (shadow_told). */
	unsigned	 nrefused;
	int		 refused;
};

void	 shadow_copying_init(struct shadow_copying *, enum shadow_way);
/*
 * Copies from/name to to/new_name, which must not exist; what is refused in a
 * folder is left out.  -1 with errno: nothing is there then.  Refused as a
 * whole: ELOOP, EMLINK, ENXIO, EFBIG as of shadow_told.
 */
int	 shadow_tree_copy(struct shadow_copying *, int from, const char *name,
	    int to, const char *new_name);

/*
 * renameat(), also of a folder that the jail closed: one that gets another
 * parent must be writable.
 */
int	 shadow_tree_move(int from, const char *name, int to,
	    const char *new_name);

/*
 * Digests; "-" if nothing is there, "?" if there is too much to say (which is
 * like nothing, itself included: compare by shadow_tree_is_like()).  A stamp is
 * of names, sizes, times and inode numbers, contents are read for the other.
 * Content leaves out what a copy does: types that are not carried, times, and
 * all of the mode but whether the owner may execute.
 */
void	 shadow_tree_stamp(int dir, const char *name, char ret[SHA256_HEX]);
void	 shadow_tree_content(int dir, const char *name, char ret[SHA256_HEX]);
bool	 shadow_tree_is_like(const char *a, const char *b);

/* Is there nothing in this folder, or no folder (-1)? */
bool	 shadow_tree_is_empty(int dir);

/*
 * Opens a folder of an absolute path without a symlink on the way.  -1 with
 * errno; ELOOP or ENOTDIR where there is one.
 */
int	 shadow_tree_open(const char *path);
/* The same below an open folder; "" is the folder. */
int	 shadow_tree_open_at(int dir, const char *path);

#endif
