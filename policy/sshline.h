/*
 * sshline: the hosts, the remote command and the local commands that the
 * words of ssh and its kin (scp, sftp, rsync, git, sshfs, mosh ...) and the
 * user's ssh_config name.
 */
#ifndef FENCE_POLICY_SSHLINE_H
#define FENCE_POLICY_SSHLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/shwords.h"

struct arena;

enum { SSHLINE_MAX = 32 };

struct sshhost {
	const char	*name;		/* lower case, no user, no port */
	/* What HostName says it is, or NULL. */
	const char	*real_name;
	/*
	 * An option or a -F file said so, not the user's own config: the
	 * name as typed is worth nothing.
	 */
	bool		 is_renamed;
};

struct sshline {
	struct sshhost	 hosts[SSHLINE_MAX];
	size_t		 nhosts;
	/* Lines that a shell over there, or here, runs. */
	struct sh_word	 remote[SSHLINE_MAX], local[SSHLINE_MAX];
	size_t		 nremote, nlocal;
	bool		 is_unsure;	/* an expansion hides a host */
	bool		 is_cut;	/* more than fit */
};

struct sshline_ask {
	struct arena		*arena;
	const char		*name;		/* of the program */
	const struct sh_word	*words;
	size_t			 nwords;
	/* As of struct exec_world; may be NULL. */
	const char		*(*config)(void *arg, const char *path,
				    size_t *ret_len);
	void			*arg;
};

/* false: the words are not about ssh. */
bool	 sshline_parse(const struct sshline_ask *, struct sshline *ret);

#endif
