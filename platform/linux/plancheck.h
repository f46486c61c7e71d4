/*
 * plancheck: is this memory a struct init_plan whose every offset stays
 * inside it?  After a yes the tables can be used without further thought:
 * they are aligned, strings end, counts fit.
 */
#ifndef FENCE_LINUX_PLANCHECK_H
#define FENCE_LINUX_PLANCHECK_H

#include <stdbool.h>
#include <stddef.h>

bool	 plan_is_sound(const void *, size_t);

#endif
