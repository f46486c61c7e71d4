/*
 * environ: arrays of NAME=VALUE, as execve() takes them.
 */
#ifndef FENCE_BASE_ENVIRON_H
#define FENCE_BASE_ENVIRON_H

/* The value of NAME in such an array, which ends with NULL; or NULL. */
const char	*env_get(char *const *env, const char *name);

#endif
