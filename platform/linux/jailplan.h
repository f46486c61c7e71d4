/* jailplan: a jail_spec as the bytes of a plan (platform/linux/initplan.h). */
#ifndef FENCE_LINUX_JAILPLAN_H
#define FENCE_LINUX_JAILPLAN_H

#include "platform/base/buf.h"
#include "platform/base/err.h"
#include "platform/jail.h"

int	 jail_make_plan(const struct jail_spec *, struct buf *, struct err *);

#endif
