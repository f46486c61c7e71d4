/* leak: ways out that are more than a socket and an address. */
#ifndef FENCE_TESTS_LEAK_H
#define FENCE_TESTS_LEAK_H

#include <stddef.h>

struct leak_trick {
	const char	*name;
	long		(*fn)(void);	/* 0, or -errno */
};

extern const struct leak_trick leak_tricks[];
extern const size_t leak_ntricks;
/* Sweeps of all there is, and changes of the network before the attempt. */
extern const struct leak_trick leak_sweeps[];
extern const size_t leak_nsweeps;

#endif
