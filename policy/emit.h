/*
 * emit: the table of keys, and policies, as text.  What emit_json() and
 * emit_ini() write is read back as the same policy in the same workspace.
 * Values that are not set, and empty lists, are left out.
 */
#ifndef FENCE_POLICY_EMIT_H
#define FENCE_POLICY_EMIT_H

#include "platform/base/buf.h"
#include "policy/policy.h"

enum {
	EMIT_ORIGINS = 1,	/* comments that say where each value is from */
};

void	 emit_json(const struct policy *, unsigned flags, struct buf *);
void	 emit_ini(const struct policy *, unsigned flags, struct buf *);
/* JSON Schema, draft 2020-12. */
void	 emit_schema(struct buf *);
/* The key section of fence-policy(5). */
void	 emit_mdoc(struct buf *);

#endif
