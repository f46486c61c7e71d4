/*
 * shadow_parts: what begin, end and the commands share: one name of a folder
 * carried between the host and the store.  Private to this room.
 */
#ifndef FENCE_LAUNCHER_SHADOW_PARTS_H
#define FENCE_LAUNCHER_SHADOW_PARTS_H

#include <stdbool.h>

#include "launcher/shadow/shadow.h"
#include "launcher/shadow/shadow_run.h"
#include "launcher/shadow/shadow_store.h"

enum { LOCK_WAIT_MS = 30000 };
#define SHADOW_FILE_BYTES	((uint64_t)2 << 30)	/* of one file */
/* Of a credential, and of a file that is sifted. */
#define SHADOW_SMALL_BYTES	((uint64_t)16 << 20)
/* What one end carries to the host byte by byte, in sum. */
#define SHADOW_END_BYTES	((uint64_t)4 << 30)
/* In the host's folder, under the store's lock; of a killed one removed. */
#define SHADOW_TEMP		".fence-carry"

struct shadow {
	char			*state;
	struct run		 run;
	shadow_sift_fn		*sift;
	void			*sift_arg;
	int			 watch_fd;	/* inotify, or -1 */
	int			*wds;		/* of each folder */
	bool			 is_late;	/* watched since just now */
	unsigned		 ncarried;
};

struct carry {
	const struct store	*store;
	struct shade		*f;
	shadow_sift_fn		*sift;
	void			*sift_arg;
	shadow_told_fn		*told;		/* or NULL */
	void			*told_arg;
	int			 host_fd;	/* -1: the host has no folder */
	bool			 is_beside;	/* another run lives */
	bool			 is_last;	/* this run's end */
	bool			 has_failed;
	uint64_t		*left;		/* of SHADOW_END_BYTES; or NULL */
};

/* Opens the host's folder, removes what a killed one left in it. */
void	 carry_init(struct carry *, const struct store *, struct shade *);
void	 carry_release(struct carry *);
/* The host's folder, made where it is missing.  -1 with errno. */
int	 carry_need_host(struct carry *);
/*
 * A copy to the host that may take so many bytes; after it, how many of the
 * sum are left.  Refused for the sum: EFBIG becomes ENOBUFS.
 */
void	 carry_copying(const struct carry *, uint64_t max,
	    struct shadow_copying *);
void	 carry_count(const struct carry *, uint64_t max,
	    const struct shadow_copying *);
/*
 * 0; 1: nothing is there, or no folder (-1).  -1: no file, or longer than the
 * buffer may be.
 */
int	 carry_read(int dir, const char *name, struct buf *);

/* shadow_login.c: what a credential is worth. */
enum login { LOGIN_WHOLE, LOGIN_EMPTY, LOGIN_BROKEN };
enum login shadow_login(const char *name, const char *text, size_t len);
/*
 * 0, or why jail/NAME must not take the place of the host's, which is a login:
 * ENODATA empty, EBADMSG it does not parse.
 */
int	 carry_is_no_login(const struct carry *, const char *name);

void	 carry_tell(const struct carry *, enum shadow_deed, const char *name,
	    const char *to, int sys);
/* Moves (or copies) jail/NAME aside and says so; false: it failed. */
bool	 carry_aside(struct carry *, enum shadow_deed, const char *name,
	    int sys);

/* The shared memory of a database, which a copy would make wrong. */
bool	 carry_is_shm(const char *name);
/* Replaces jail/NAME with the host's, and notes it.  -1 with errno. */
int	 carry_in(struct carry *, const char *name, enum shadow_kind);
/*
 * Was the jail's changed later than the host's?  By the time that no program
 * can set.  No if the jail has none.
 */
bool	 carry_jail_is_newer(const struct carry *, const char *name);
/* A CARRIED or CREDENTIAL file.  True: jail/NAME is needed no longer. */
bool	 carry_file(struct carry *, const char *name, enum shadow_kind);
void	 carry_sifted(struct carry *, const char *name);
/* FRESH: removes it, unless another run lives. */
void	 carry_fresh(struct carry *, const char *name);
/* KEPT: says it if it changed since it was last said. */
void	 carry_kept(struct carry *, const char *name, enum shadow_kind);
/* A folder that was made inside, which the host may have, too. */
void	 carry_dir(struct carry *, const char *name);
/*
 * Puts jail/NAME in the place of the host's, whose version moves aside.
 * -1 with errno.
 */
int	 carry_out_all(struct carry *, const char *name, struct record *,
	    unsigned *nrefused);

/* Under the store's lock: ends runs of which no process is left. */
void	 shadow_sweep_locked(struct store *, const struct shadow_config *);

#endif
