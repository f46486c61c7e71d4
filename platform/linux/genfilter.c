/* genfilter: prints the jail's filter as C, while fence is built. */
#include <linux/filter.h>
#include <stdio.h>
#include <string.h>

#include "platform/linux/seccomp.h"

static int
print_filter(enum seccomp_who who, const char *name)
{
	struct err e = { 0 };
	struct sock_filter f;
	struct buf b;

	buf_init(&b, 0);
	if (seccomp_make_filter(who, &b, &e) != 0) {
		err_print(&e, stderr);
		return -1;
	}
	printf("static const struct sock_filter %s[] = {\n", name);
	for (size_t i = 0; i + sizeof f <= b.len; i += sizeof f) {
		memcpy(&f, b.data + i, sizeof f);
		printf("{ 0x%04x, %u, %u, 0x%08x },\n", f.code, f.jt, f.jf,
		    f.k);
	}
	printf("};\n");
	buf_release(&b);
	return 0;
}

int
main(void)
{
	if (print_filter(SECCOMP_USER, "filter_user") != 0 ||
	    print_filter(SECCOMP_ROOT, "filter_root") != 0)
		return 1;
	return fflush(stdout) == 0 ? 0 : 1;
}
