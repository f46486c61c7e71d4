/* made: a library that others find by their own search path alone. */
#include <stdlib.h>

int	 made_write(void *, const void *, int);

int
made_write(void *to, const void *bytes, int n)
{
	(void)to, (void)bytes;
	getenv("IN_MADE");
	return n - 1;
}
