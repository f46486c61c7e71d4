/* genfilter: prints the jail's filters as C, while fence is built. */
#include <linux/filter.h>
#include <stdio.h>
#include <string.h>

#include "platform/linux/seccomp.h"

static int
print_filter(unsigned who)
{
	struct err e = { 0 };
	struct sock_filter f;
	struct buf b;

	buf_init(&b, 0);
	if (seccomp_make_filter(SECCOMP_HERE, who, &b, &e) != 0) {
		err_print(&e, stderr);
		return -1;
	}
	printf("static const struct sock_filter filter_%u[] = {\n", who);
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
	for (unsigned who = 0; who < SECCOMP_NWHO; who++)
		if (print_filter(who) != 0)
			return 1;
	printf("static const struct {\n"
	    "\tconst struct sock_filter *code;\n"
	    "\tsize_t n;\n"
	    "} filters[] = {\n");
	for (unsigned who = 0; who < SECCOMP_NWHO; who++)
		printf("\t{ filter_%u, sizeof filter_%u / "
		    "sizeof filter_%u[0] },\n", who, who, who);
	printf("};\n");
	return fflush(stdout) == 0 ? 0 : 1;
}
