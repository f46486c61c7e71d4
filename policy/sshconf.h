/*
 * sshconf: the settings of an ssh_config(5) text that apply, or may apply, to
 * a host.  Pure: Include asks the caller for the text.
 */
#ifndef FENCE_POLICY_SSHCONF_H
#define FENCE_POLICY_SSHCONF_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

struct sshconf_ask {
	struct arena	*arena;
	const char	*host;		/* as typed, lower case */
	/* Text of an included file, as its name is written; or NULL. */
	const char	*(*file)(void *arg, const char *path, size_t *ret_len);
	void		*file_arg;
	/*
	 * key: lower case; "match exec" for the commands of Match.  is_sure:
	 * false where only a Match decides.  In the order of the text; the
	 * first of a key wins.
	 */
	void		(*setting)(void *arg, const char *key,
			    const char *value, bool is_sure);
	/* What HostName has said so far, or NULL: for Match host. */
	const char	*(*hostname)(void *arg);
	void		*setting_arg;		/* of both */
};

void	 sshconf_read(const struct sshconf_ask *, const char *text,
	    size_t len);
/* ssh's patterns: '*' and '?', letter case ignored. */
bool	 sshconf_match(const char *pattern, size_t len, const char *host);

#endif
