/*
 * dnsmsg: one DNS query read, one answer written.  Pure and bounded: a query
 * has exactly one question, of class IN, and its name is written without
 * compression; everything else gets the error code that says so.
 */
#ifndef FENCE_PROXY_DNSMSG_H
#define FENCE_PROXY_DNSMSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DNS_TYPE_A = 1, DNS_TYPE_PTR = 12, DNS_TYPE_AAAA = 28 };

enum dns_rcode {
	DNS_NOERROR = 0, DNS_FORMERR = 1, DNS_SERVFAIL = 2, DNS_NXDOMAIN = 3,
	DNS_NOTIMP = 4, DNS_REFUSED = 5, DNS_BADVERS = 16,
	DNS_DROP = -1,		/* too short, or itself an answer: no reply */
};

enum {
	DNS_MAX_QUESTION = 255 + 4,
	DNS_MAX_ANSWER = 512,	/* what every client takes over UDP */
	DNS_TTL = 60,
};

struct dns_query {
	uint16_t	 id;
	uint16_t	 flags;		/* as they came */
	uint16_t	 qtype;
	bool		 has_edns;
	uint16_t	 question_len;	/* 0: not understood, not echoed */
	uint8_t		 question[DNS_MAX_QUESTION];
	uint16_t	 name_len;
	char		 name[256];	/* no trailing dot; "" is the root */
};

/*
 * DNS_NOERROR: a query to answer.  DNS_DROP: say nothing.  Otherwise the code
 * to answer with; ret then holds what could be understood.
 */
enum dns_rcode	 dnsmsg_parse(const uint8_t *, size_t, struct dns_query *ret);

/*
 * Each writes at most DNS_MAX_ANSWER bytes and returns their number.  An OPT
 * record answers an OPT record.
 */
size_t	 dnsmsg_error(const struct dns_query *, enum dns_rcode, uint8_t *out);
size_t	 dnsmsg_a(const struct dns_query *, const uint8_t addr[4],
	    uint8_t *out);
size_t	 dnsmsg_ptr(const struct dns_query *, const char *name, uint8_t *out);
/*
 * NODATA (DNS_NOERROR) or NXDOMAIN, with an SOA.  why, or NULL: the reason,
 * as an extended error "Blocked" (RFC 8914) if the query had EDNS.
 */
size_t	 dnsmsg_nothing(const struct dns_query *, enum dns_rcode,
	    const char *why, uint8_t *out);

/* "localhost", or below it: the asker's own machine (RFC 6761, 6.3). */
bool	 dnsmsg_is_localhost(const struct dns_query *);
/*
 * Is it below in-addr.arpa or ip6.arpa?  ret_addr: the IPv4 address of a
 * complete in-addr.arpa name; *has_addr says whether it was one.
 */
bool	 dnsmsg_is_reverse(const struct dns_query *, uint8_t ret_addr[4],
	    bool *has_addr);

#endif
