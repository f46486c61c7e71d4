/* genfilter: prints the jail's filter as C, while fence is built. */
#include <linux/filter.h>
#include <stdio.h>
#include <string.h>

#include "platform/linux/seccomp.h"

int
main(void)
{
	struct err e = { 0 };
	struct sock_filter f;
	struct buf b;

	buf_init(&b, 0);
	if (seccomp_make_filter(&b, &e) != 0) {
		err_print(&e, stderr);
		return 1;
	}
	for (size_t i = 0; i + sizeof f <= b.len; i += sizeof f) {
		memcpy(&f, b.data + i, sizeof f);
		printf("{ 0x%04x, %u, %u, 0x%08x },\n", f.code, f.jt, f.jf,
		    f.k);
	}
	buf_release(&b);
	return fflush(stdout) == 0 ? 0 : 1;
}
