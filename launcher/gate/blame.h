/*
 * blame: a proxy on the way did not open it: which one, how, and the cure, as
 * a verdict for the record and for the program that asked.  Pure; says
 * nothing that the proxy itself has written, nor a user or password.
 */
#ifndef FENCE_LAUNCHER_BLAME_H
#define FENCE_LAUNCHER_BLAME_H

#include "launcher/plan/via.h"
#include "policy/decide.h"
#include "proxy/ask.h"

/*
 * a: what was answered when the proxy's name was looked up (ASK_NOHOST), it
 * was dialled (ASK_REFUSED) or asked to reach the port (ASK_PROXY_*).  Returns
 * what the program is told.  ASK_REFUSED: it is the host that cannot be
 * reached, *ret_sys says why, and there is no verdict.
 */
enum ask_status	 blame(const struct via_proxy *, uint16_t port,
		    const struct ask_answer *a, int *ret_sys,
		    struct verdict *ret_verdict);

#endif
