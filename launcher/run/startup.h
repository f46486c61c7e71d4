/* startup: the plan in a few lines, which -d prints before a run starts. */
#ifndef FENCE_LAUNCHER_STARTUP_H
#define FENCE_LAUNCHER_STARTUP_H

#include "launcher/plan/plan.h"

/* host_env: the caller's, of which parts were taken away. */
void	 startup_tell(const struct plan *, char *const *host_env);

#endif
