/*
 * init: look everything up while the process is young.  dlsym() takes the
 * loader's lock, which is no company for a signal handler or for the child of
 * a process with threads; afterwards no hook needs it.
 */
#include "shim/hook.h"
#include "shim/real.h"

__attribute__((constructor)) static void
init(void)
{
	real_find_early();
}
