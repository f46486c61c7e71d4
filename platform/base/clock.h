/*
 * clock: what a clock of the system shows, as one number.  A clock that the
 * kernel does not know shows 0.  Async-signal-safe.
 */
#ifndef FENCE_BASE_CLOCK_H
#define FENCE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

int64_t	 clock_ms(clockid_t);
int64_t	 clock_us(clockid_t);

#endif
