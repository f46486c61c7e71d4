/*
 * netlink: messages built in memory the caller has, sent at once, every
 * answer read.  No malloc and no stdio, so that it may run between a
 * CLONE_VM clone and exec.  Bytes are in the order of this machine, as the
 * kernel wants them; only what a protocol calls big-endian is.
 */
#ifndef FENCE_LINUX_NETLINK_H
#define FENCE_LINUX_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nl_buf {
	unsigned char	*data;
	size_t		 len;
	size_t		 max;
	unsigned	 nacks;		/* messages that ask for an answer */
	bool		 failed;	/* something did not fit */
};

void	 nl_init(struct nl_buf *, unsigned char *, size_t max);
/*
 * Opens a message whose fixed part is head; the value goes to nl_end().
 * NLM_F_REQUEST is implied.  seq comes back in the answer: it names the step.
 */
size_t	 nl_begin(struct nl_buf *, uint16_t type, uint16_t flags,
	    uint32_t seq, const void *head, size_t len);
void	 nl_end(struct nl_buf *, size_t message);
void	 nl_attr(struct nl_buf *, uint16_t type, const void *, size_t);
void	 nl_attr_u32(struct nl_buf *, uint16_t type, uint32_t);
void	 nl_attr_be32(struct nl_buf *, uint16_t type, uint32_t);
void	 nl_attr_str(struct nl_buf *, uint16_t type, const char *);
size_t	 nl_nest(struct nl_buf *, uint16_t type);
void	 nl_nest_end(struct nl_buf *, size_t nest);

/* Is this failure of message seq one the caller can live with? */
typedef bool nl_pardon_fn(uint32_t seq, int error, const void *arg);

int	 nl_open(int protocol);		/* close-on-exec; -1 and errno */
/*
 * Sends the messages and reads their answers.  -1 with errno, and *ret_seq
 * the message that failed (0: the conversation itself).  pardon may be NULL.
 */
int	 nl_talk(int fd, const struct nl_buf *, nl_pardon_fn *,
	    const void *arg, uint32_t *ret_seq);

#endif
