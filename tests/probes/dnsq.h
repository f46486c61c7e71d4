/*
 * dnsq: the bytes of one question for an address, and of its answer.  Pure;
 * shared by the probes that must not use libc's resolver.
 */
#ifndef FENCE_TESTS_PROBES_DNSQ_H
#define FENCE_TESTS_PROBES_DNSQ_H

#include <stddef.h>
#include <stdint.h>

enum { DNSQ_MAX = 512, DNSQ_ID = 0x4655 };

enum dnsq_answer {
	DNSQ_ADDRESS,		/* an A record: addr is set */
	DNSQ_NXDOMAIN,
	DNSQ_NODATA,		/* the name is there, an address is not */
	DNSQ_SERVFAIL,		/* or any other code */
	DNSQ_BAD,		/* no answer to our question */
};

/* Length of the query, 0 if the name cannot be asked for. */
size_t	 dnsq_build(const char *name, uint8_t query[DNSQ_MAX]);
enum dnsq_answer
	 dnsq_parse(const uint8_t *, size_t, uint8_t addr[4]);

#endif
