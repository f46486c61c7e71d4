/* pageof: the page of the trace on stdin, to stdout. */
#include <stdio.h>

#include "launcher/page/page.h"

int
main(void)
{
	struct err e = { 0 };

	if (page_write(0, 1, &e) == 0)
		return 0;
	err_print(&e, stderr);
	return 1;
}
