#include "platform/base/environ.h"

#include <stddef.h>
#include <string.h>

const char *
env_get(char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; *env != NULL; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}
