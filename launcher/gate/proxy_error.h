/*
 * proxy_error: a proxy on the way out did not open a connection.  Which proxy,
 * how it failed and what cures it, as a verdict for the record and for the
 * program that asked.  The connector calls it.  Pure.  The verdict holds
 * nothing that the proxy wrote, and no user name or password.
 */
#ifndef FENCE_LAUNCHER_PROXY_ERROR_H
#define FENCE_LAUNCHER_PROXY_ERROR_H

#include "launcher/plan/via.h"
#include "policy/decide.h"
#include "proxy/ask.h"

/*
 * a: what was answered when the proxy's name was looked up (ASK_NOHOST), it
 * was dialled (ASK_REFUSED) or asked to reach the port (ASK_PROXY_*).  Returns
 * what the program is told.  ASK_REFUSED: it is the host that cannot be
 * reached, *ret_sys says why, and there is no verdict.
 */
enum ask_status	 proxy_error(const struct via_proxy *, uint16_t port,
		    const struct ask_answer *a, int *ret_sys,
		    struct verdict *ret_verdict);

#endif
