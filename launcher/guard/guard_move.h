/*
 * guard_move: a thing carried from one file system to another, and things
 * removed.  Whoever made them may still be changing them: every step is
 * relative to an open folder, follows no symlink, and ends somewhere.
 */
#ifndef FENCE_LAUNCHER_GUARD_MOVE_H
#define FENCE_LAUNCHER_GUARD_MOVE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOVE_LATE = 16 };

struct move {
	/* Removed while somebody had them open for writing. */
	struct move_late {
		int	in, out;
	}		late[MOVE_LATE];
	size_t		nlate;
	uint64_t	copied;		/* bytes, of all that was copied */
	const volatile bool *is_stopped;	/* no more copying; or NULL */
};

/* What something takes. */
struct weight {
	uint64_t	bytes, entries;
};

/*
 * The first copies all of it, or nothing; with a ceiling on depth, entries,
 * bytes, and bytes of all copies (EFBIG).  Contents, symlinks, times and
 * permissions are kept, but that the owner can always read; owners, setuid bits
 * and extended attributes are not.
 * The second removes what has its like in the copy; ENOTEMPTY or ESTALE if
 * something came or changed meanwhile.
 */
int	 move_copy(struct move *, int from, const char *name, int to,
	    const char *new_name);
int	 move_drop(struct move *, int from, const char *name, int to,
	    const char *new_name);
/* What was written since goes to the copy; is_last: whoever still writes. */
void	 move_late(struct move *, bool is_last);

/* Adds, with a ceiling on entries; what may not be looked at has no weight. */
void	 move_weigh(int dir, const char *name, struct weight *);

/* rm -rf, at any depth. */
int	 move_remove(int dir, const char *name);

/* Is somebody writing to it?  Where the kernel cannot say, nobody is. */
bool	 move_has_writer(int fd);
/*
 * Does b say what a says already?  Small things only, and no file that
 * somebody is writing to.
 */
bool	 move_is_same(int dir, const char *a, const char *b);

/* The entries of a folder, but for "." and ".."; NULL at the end. */
DIR	*move_list(int fd);
const char	*move_next(DIR *);

#endif
