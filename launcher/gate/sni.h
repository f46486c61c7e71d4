/*
 * sni: may a connection that was granted to one host name itself so in its
 * TLS hello?  Pure.
 */
#ifndef FENCE_LAUNCHER_SNI_H
#define FENCE_LAUNCHER_SNI_H

#include <stdbool.h>

#include "policy/decide.h"
#include "policy/policy.h"
#include "proxy/ask.h"

/*
 * q: an ASK_SNI.  Whoever was let through to a name does not speak to another
 * one there that is not allowed.  An address may be called whatever one
 * likes, except by a name that is denied.  True: it is, by *ret_verdict;
 * *ret_host is the name in canonical spelling, as it was sent if it has none.
 */
bool	 sni_is_denied(const struct policy *, const struct ask_msg *q,
	    struct host *ret_host, struct verdict *ret_verdict);

#endif
