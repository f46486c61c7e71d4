/* One query and every answer to it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/dnsmsg.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check(const uint8_t *out, size_t len)
{
	struct dns_query q;

	if (len < 12 || len > DNS_MAX_ANSWER ||
	    dnsmsg_parse(out, len, &q) != DNS_DROP)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint8_t addr[4] = { 198, 18, 0, 1 };
	uint8_t out[DNS_MAX_ANSWER], reverse[4];
	struct dns_query q;
	enum dns_rcode rc = dnsmsg_parse(data, len, &q);
	bool has_addr;

	if (rc == DNS_DROP)
		return 0;
	if (strlen(q.name) != q.name_len && rc != DNS_FORMERR)
		abort();
	check(out, dnsmsg_error(&q, rc, out));
	check(out, dnsmsg_a(&q, addr, out));
	check(out, dnsmsg_ptr(&q, q.name, out));
	check(out, dnsmsg_nothing(&q, DNS_NXDOMAIN, "because", out));
	(void)dnsmsg_is_reverse(&q, reverse, &has_addr);
	return 0;
}
