/*
 * vec: a growing array inside any struct that has `v`, `n` and `cap`.
 *
 *	struct { struct thing *v; size_t n, cap; } things = { 0 };
 *	*vec_push(&things) = (struct thing){ ... };
 */
#ifndef FENCE_BASE_VEC_H
#define FENCE_BASE_VEC_H

#include <stdlib.h>

#include "platform/base/xalloc.h"

#define vec_push(a) (							\
	((a)->n == (a)->cap						\
	    ? ((a)->cap = (a)->cap != 0 ? (a)->cap * 2 : 8,		\
	       (a)->v = xrealloc((a)->v, (a)->cap, sizeof *(a)->v))	\
	    : (a)->v),							\
	&(a)->v[(a)->n++])

#define vec_release(a)	(free((a)->v), (a)->v = NULL, (a)->n = (a)->cap = 0)

#endif
