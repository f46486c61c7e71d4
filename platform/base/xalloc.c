#include "platform/base/xalloc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void
xalloc_die(void)
{
	static const char text[] = "fence: out of memory\n"
	    "fence: hint: the memory, or the limit on it (ulimit -v, "
	    "memory.max of a cgroup), is used up\n";

	(void)!write(STDERR_FILENO, text, sizeof text - 1);
	_exit(125);
}

void *
xcalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (p == NULL)
		xalloc_die();
	return p;
}

void *
xrealloc(void *old, size_t n, size_t size)
{
	void *p = reallocarray(old, n, size);

	if (p == NULL)
		xalloc_die();
	return p;
}

char *
xstrdup(const char *s)
{
	char *p = strdup(s);

	if (p == NULL)
		xalloc_die();
	return p;
}
