/*
 * noproxy: hosts that are reached without a proxy, as NO_PROXY lists them for
 * every other program.  Pure.
 */
#ifndef FENCE_LAUNCHER_NOPROXY_H
#define FENCE_LAUNCHER_NOPROXY_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/host.h"

/*
 * Entries stand between commas or blanks: "*"; a name, with a dot or "*."
 * before it or without, that means all below it as well; an address; a range
 * ("10.0.0.0/8"), which means addresses that are written as such.  Each may
 * have a port.  What is none of these is passed over.
 */
bool	 noproxy_has(const char *list, const struct host *, uint16_t port);

/* This machine: loopback addresses, localhost and the names below it. */
bool	 noproxy_is_loopback(const struct host *);

#endif
