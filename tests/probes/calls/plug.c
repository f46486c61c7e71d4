/* plug: is loaded by loader, and calls what it and libc bring. */
#include <stdlib.h>

int	 made_write(void *, const void *, int);
int	 plug_run(void);
double	 plug_half(double, float, int);

static int in_constructor;

__attribute__((constructor)) static void
construct(void)
{
	in_constructor = getenv("IN_CONSTRUCTOR") == NULL;
}

int
plug_run(void)
{
	return made_write((void *)0x1234, "hello\n", 6) + in_constructor;
}

double
plug_half(double d, float f, int i)
{
	return d / 2 + (double)f + i;
}
