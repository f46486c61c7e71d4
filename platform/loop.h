/*
 * loop: one thread, one loop per process.  Descriptors, deadlines, children
 * and signals are events; handlers are ordinary code.  A watch may be freed
 * inside its own callback, and inside any other.
 */
#ifndef FENCE_PLATFORM_LOOP_H
#define FENCE_PLATFORM_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct loop;
struct watch;

enum { LOOP_READ = 1, LOOP_WRITE = 2, LOOP_HUP = 4 };

/*
 * what: for a descriptor the LOOP_* bits that are ready (HUP and errors come
 * as LOOP_HUP, whether asked or not, together with the bits that were asked
 * for, so that trying tells why); for a signal its number (details by
 * loop_signal_*()); for a child its wait status, once, or -1 when somebody
 * else reaped it; for a deadline 0, once until it is armed again.
 */
typedef void	 loop_fn(struct watch *, int what, void *arg);

struct loop	*loop_new(void);		/* NULL: errno says why */
void		 loop_free(struct loop *);	/* frees its watches, closes no fd */
int		 loop_run(struct loop *);	/* until loop_stop(); its status */
void		 loop_stop(struct loop *, int status);

/*
 * NULL when memory or descriptors ran out.  The fd stays the caller's, who
 * frees the watch before closing it.  One watch a descriptor.  The signal
 * must be blocked.  Events 0: asleep, not even LOOP_HUP (which keeps coming
 * otherwise, turn after turn); LOOP_HUP alone waits for nothing else.
 */
struct watch	*loop_fd(struct loop *, int fd, int events, loop_fn *, void *);
struct watch	*loop_after(struct loop *, int64_t ms, loop_fn *, void *);
struct watch	*loop_child(struct loop *, pid_t, loop_fn *, void *);
struct watch	*loop_signal(struct loop *, int signo, loop_fn *, void *);
int		 watch_events(struct watch *, int events);
/* The same descriptor and events, for another: no word to the kernel. */
void		 watch_become(struct watch *, loop_fn *, void *arg);
/* Arms a deadline anew, and cannot fail; below 0: disarms it. */
void		 watch_after(struct watch *, int64_t ms);
void		 watch_free(struct watch *);	/* NULL is fine */

/* Inside a signal callback: si_code of this delivery. */
int		 loop_signal_code(const struct watch *);

/* Nothing was ready when it last looked: so a deadline of 0 ms can ask. */
bool		 loop_is_idle(const struct loop *);
int64_t		 loop_now_ms(const struct loop *);	/* monotonic, per turn */

/* The loop's one shared read buffer, made at first use; NULL: no memory. */
enum { LOOP_BUF_BYTES = 256 * 1024 };
char		*loop_buf(struct loop *);

#endif
