#include "platform/base/clock.h"

int64_t
clock_us(clockid_t clock)
{
	struct timespec ts = { 0 };

	(void)clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t
clock_ms(clockid_t clock)
{
	return clock_us(clock) / 1000;
}
