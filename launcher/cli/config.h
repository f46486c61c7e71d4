/* config: those parts of `fence config` that have a file of their own. */
#ifndef FENCE_LAUNCHER_CONFIG_H
#define FENCE_LAUNCHER_CONFIG_H

#include "launcher/cli/cmd.h"

extern const struct opt	config_init_opts[];
cmd_fn			config_init;

#endif
