/*
 * questions: what the servers have asked the monitor and what is not answered
 * yet, over one SOCK_SEQPACKET socket (ask.h).  A message that does not fit
 * into the socket waits here; an answer finds its question by the id that the
 * monitor echoes.  When the monitor closes its end, what was asked before is
 * still sent, then the loop is stopped.
 */
#ifndef FENCE_PROXY_QUESTIONS_H
#define FENCE_PROXY_QUESTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/loop.h"
#include "platform/net.h"
#include "proxy/ask.h"

/*
 * A question is out until its answer comes or it is dropped; both free it.
 * fd is the descriptor that came with the answer, or -1: take it with
 * fd_take(), otherwise it is closed.
 */
struct question;
struct questions;
typedef void	 answer_fn(void *arg, const struct ask_answer *, int *fd);

/* ask_fd stays the caller's; its end of file is loop_stop(0).  NULL: memory. */
struct questions *questions_new(struct loop *, int ask_fd);
void		 questions_free(struct questions *);	/* last of all */
/* magic and id are filled in.  NULL: too many are out, or no memory. */
struct question	*questions_ask(struct questions *, const struct ask_msg *,
		    answer_fn *, void *arg);
void		 question_drop(struct question *);	/* NULL is fine */
/* Messages without an answer; false: dropped, because the socket is full. */
bool		 questions_tell(struct questions *, struct ask_msg *);
bool		 questions_note(struct questions *, enum ask_note,
		    const struct net_addr *source);

void		 ask_fill_source(struct ask_msg *, const struct net_addr *,
		    bool is_udp);
void		 ask_fill_name(struct ask_msg *, const char *, size_t);

#endif
