/*
 * loader FLAGS [new]: loads libplug.so, in a namespace of its own with `new`,
 * and calls it; then once more after it was unloaded.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
use(void *h)
{
	int (*run)(void) = (int (*)(void))dlsym(h, "plug_run");
	int (*made)(void *, const void *, int) = (int (*)(void *,
	    const void *, int))dlsym(h, "made_write");
	double (*half)(double, float, int) = (double (*)(double, float,
	    int))dlsym(h, "plug_half");
	const char *why;
	void *none;

	printf("run %d %d\n", run(), run());
	printf("made %d\n", made(NULL, "straight", 8));
	printf("half %g\n", half(5, 0.25f, 1));
	none = dlsym(h, "no_such_function");
	why = dlerror();
	printf("none %d %d\n", none == NULL, why != NULL &&
	    strstr(why, "no_such_function") != NULL);
	printf("none %d\n", dlerror() == NULL);
}

int
main(int argc, char **argv)
{
	int flags = argc > 1 ? atoi(argv[1]) : RTLD_NOW;
	void *h;

	for (int i = 0; i < 2; i++) {
		h = argc > 2 ? dlmopen(LM_ID_NEWLM, "libplug.so", flags) :
		    dlopen("libplug.so", flags);
		if (h == NULL) {
			puts(dlerror());
			return 1;
		}
		use(h);
		dlclose(h);
	}
	return 0;
}
