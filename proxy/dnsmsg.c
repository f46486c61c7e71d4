#include "proxy/dnsmsg.h"

#include <string.h>

#include "platform/base/str.h"

enum {
	HEADER = 12,
	FLAG_QR = 0x8000, FLAG_OPCODE = 0x7800, FLAG_RD = 0x0100,
	FLAG_RA = 0x0080, FLAG_CD = 0x0010,
	CLASS_IN = 1,
	TYPE_SOA = 6, TYPE_OPT = 41,
	OPTION_EDE = 15, EDE_BLOCKED = 15,
	OUR_UDP_SIZE = 1232,
	MAX_WHY = 160,
};

/* Reading: a cursor that never passes the end. */

struct in {
	const uint8_t	*p;
	size_t		 at, len;
	bool		 is_short;
};

static unsigned
get8(struct in *in)
{
	if (in->at >= in->len) {
		in->is_short = true;
		return 0;
	}
	return in->p[in->at++];
}

static unsigned
get16(struct in *in)
{
	unsigned hi = get8(in);

	return hi << 8 | get8(in);
}

static void
skip(struct in *in, size_t n)
{
	if (n > in->len - in->at)
		in->is_short = true;
	else
		in->at += n;
}

/* A dot, a blank or a control byte in a label would change its text. */
static bool
is_label_char(unsigned c)
{
	return c > ' ' && c < 0x7f && c != '.' && c != '\\';
}

/* The question's name as text.  At most 255 bytes on the wire. */
static int
get_name(struct in *in, struct dns_query *q)
{
	size_t start = in->at;
	unsigned n, c;

	while ((n = get8(in)) != 0) {
		if (n > 63 || in->at + n - start >= 255)
			return -1;
		if (q->name_len > 0)
			q->name[q->name_len++] = '.';
		while (n-- > 0) {
			c = get8(in);
			if (!is_label_char(c))
				return -1;
			q->name[q->name_len++] = (char)c;
		}
	}
	q->name[q->name_len] = '\0';
	return in->is_short ? -1 : 0;
}

/* Over the owner of a record, which may end in a compression pointer. */
static int
skip_name(struct in *in)
{
	unsigned n;

	while ((n = get8(in)) != 0) {
		if (n >= 0xc0) {
			get8(in);
			break;
		}
		if (n > 63)
			return -1;
		skip(in, n);
		if (in->is_short)
			return -1;
	}
	return in->is_short ? -1 : 0;
}

static enum dns_rcode
parse_record(struct in *in, struct dns_query *q, bool may_be_opt)
{
	unsigned type, version;
	size_t start = in->at;
	bool is_root;

	if (skip_name(in) != 0)
		return DNS_FORMERR;
	is_root = in->at == start + 1;
	type = get16(in);
	get16(in);		/* class, or the client's UDP size */
	get8(in);
	version = get8(in);
	get16(in);
	skip(in, get16(in));
	if (in->is_short)
		return DNS_FORMERR;
	if (type != TYPE_OPT)
		return DNS_NOERROR;
	if (!may_be_opt || !is_root || q->has_edns)
		return DNS_FORMERR;
	q->has_edns = true;
	return version == 0 ? DNS_NOERROR : DNS_BADVERS;
}

/* Everything behind the question; each record takes 11 bytes at least. */
static enum dns_rcode
parse_records(struct in *in, struct dns_query *q, unsigned nother,
    unsigned nadditional)
{
	enum dns_rcode rc, found = DNS_NOERROR;

	for (unsigned i = 0; i < nother + nadditional; i++) {
		rc = parse_record(in, q, i >= nother);
		if (rc == DNS_FORMERR)
			return rc;
		if (rc != DNS_NOERROR)
			found = rc;
	}
	return in->at == in->len ? found : DNS_FORMERR;
}

static enum dns_rcode
parse_question(struct in *in, struct dns_query *q)
{
	size_t start = in->at;
	unsigned qclass;

	if (get_name(in, q) != 0)
		return DNS_FORMERR;
	q->qtype = (uint16_t)get16(in);
	qclass = get16(in);
	if (in->is_short)
		return DNS_FORMERR;
	q->question_len = (uint16_t)(in->at - start);
	memcpy(q->question, in->p + start, q->question_len);
	return qclass == CLASS_IN ? DNS_NOERROR : DNS_REFUSED;
}

enum dns_rcode
dnsmsg_parse(const uint8_t *p, size_t len, struct dns_query *q)
{
	struct in in = { .p = p, .len = len };
	unsigned nquestions, nother, nadditional;
	enum dns_rcode rc, rest;

	memset(q, 0, sizeof *q);
	if (len < HEADER)
		return DNS_DROP;
	q->id = (uint16_t)get16(&in);
	q->flags = (uint16_t)get16(&in);
	if ((q->flags & FLAG_QR) != 0)
		return DNS_DROP;
	if ((q->flags & FLAG_OPCODE) != 0)
		return DNS_NOTIMP;
	nquestions = get16(&in);
	nother = get16(&in);
	nother += get16(&in);
	nadditional = get16(&in);
	if (nquestions != 1)
		return DNS_FORMERR;
	rc = parse_question(&in, q);
	if (rc == DNS_FORMERR)
		return rc;
	rest = parse_records(&in, q, nother, nadditional);
	return rest != DNS_NOERROR ? rest : rc;
}

/* Writing: the longest answer there is fits DNS_MAX_ANSWER. */

struct out {
	uint8_t	*p;
	size_t	 len;
};

static void
put8(struct out *o, unsigned v)
{
	if (o->len < DNS_MAX_ANSWER)
		o->p[o->len++] = (uint8_t)v;
}

static void
put16(struct out *o, unsigned v)
{
	put8(o, v >> 8);
	put8(o, v);
}

static void
put32(struct out *o, uint32_t v)
{
	put16(o, v >> 16);
	put16(o, v);
}

static void
put_bytes(struct out *o, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put8(o, ((const uint8_t *)p)[i]);
}

/* Text to wire form; 0 bytes written when it is not a name. */
static int
put_name(struct out *o, const char *name)
{
	size_t start = o->len, n;

	while (*name != '\0') {
		n = strcspn(name, ".");
		if (n == 0 || n > 63 || o->len - start + n + 2 > 255) {
			o->len = start;
			return -1;
		}
		put8(o, (unsigned)n);
		put_bytes(o, name, n);
		name += n;
		if (*name == '.')
			name++;
	}
	put8(o, 0);
	return 0;
}

static void
put_header(struct out *o, const struct dns_query *q, enum dns_rcode rc,
    unsigned nanswers, unsigned nauthority)
{
	unsigned flags = FLAG_QR | FLAG_RA |
	    (q->flags & (FLAG_OPCODE | FLAG_RD | FLAG_CD));

	put16(o, q->id);
	put16(o, flags | ((unsigned)rc & 15));
	put16(o, q->question_len > 0);
	put16(o, nanswers);
	put16(o, nauthority);
	put16(o, q->has_edns);
	put_bytes(o, q->question, q->question_len);
}

static void
put_edns(struct out *o, const struct dns_query *q, enum dns_rcode rc,
    const char *why)
{
	size_t n = why != NULL ? strnlen(why, MAX_WHY) : 0;

	if (!q->has_edns)
		return;
	if (o->len + 11 + 6 + n > DNS_MAX_ANSWER)
		n = 0;
	put8(o, 0);
	put16(o, TYPE_OPT);
	put16(o, OUR_UDP_SIZE);
	put8(o, (unsigned)rc >> 4);
	put8(o, 0);
	put16(o, 0);
	if (n == 0) {
		put16(o, 0);
		return;
	}
	put16(o, (unsigned)n + 6);
	put16(o, OPTION_EDE);
	put16(o, (unsigned)n + 2);
	put16(o, EDE_BLOCKED);
	put_bytes(o, why, n);
}

/* An answer record about the name of the question. */
static void
put_record(struct out *o, unsigned type, unsigned data_len)
{
	put16(o, 0xc000 | HEADER);
	put16(o, type);
	put16(o, CLASS_IN);
	put32(o, DNS_TTL);
	put16(o, data_len);
}

/* Of the root, so that it covers every name; it ends caches after a TTL. */
static void
put_soa(struct out *o)
{
	/* Their NULs are the root label. */
	static const char mname[] = "\5fence\10internal";
	static const char rname[] = "\6nobody\7invalid";

	put8(o, 0);
	put16(o, TYPE_SOA);
	put16(o, CLASS_IN);
	put32(o, DNS_TTL);
	put16(o, sizeof mname + sizeof rname + 5 * 4);
	put_bytes(o, mname, sizeof mname);
	put_bytes(o, rname, sizeof rname);
	put32(o, 1);
	put32(o, 3600);
	put32(o, 600);
	put32(o, 86400);
	put32(o, DNS_TTL);
}

size_t
dnsmsg_error(const struct dns_query *q, enum dns_rcode rc, uint8_t *out)
{
	struct out o = { .p = out };

	put_header(&o, q, rc, 0, 0);
	put_edns(&o, q, rc, NULL);
	return o.len;
}

size_t
dnsmsg_a(const struct dns_query *q, const uint8_t addr[4], uint8_t *out)
{
	struct out o = { .p = out };

	put_header(&o, q, DNS_NOERROR, 1, 0);
	put_record(&o, DNS_TYPE_A, 4);
	put_bytes(&o, addr, 4);
	put_edns(&o, q, DNS_NOERROR, NULL);
	return o.len;
}

size_t
dnsmsg_ptr(const struct dns_query *q, const char *name, uint8_t *out)
{
	uint8_t data[DNS_MAX_ANSWER];
	struct out o = { .p = out }, d = { .p = data };

	if (put_name(&d, name) != 0)
		return dnsmsg_error(q, DNS_SERVFAIL, out);
	put_header(&o, q, DNS_NOERROR, 1, 0);
	if (o.len + 12 + d.len + 11 > DNS_MAX_ANSWER)
		return dnsmsg_error(q, DNS_SERVFAIL, out);
	put_record(&o, DNS_TYPE_PTR, (unsigned)d.len);
	put_bytes(&o, data, d.len);
	put_edns(&o, q, DNS_NOERROR, NULL);
	return o.len;
}

size_t
dnsmsg_nothing(const struct dns_query *q, enum dns_rcode rc, const char *why,
    uint8_t *out)
{
	struct out o = { .p = out };

	put_header(&o, q, rc, 0, 1);
	put_soa(&o);
	put_edns(&o, q, rc, why);
	return o.len;
}

static bool
ends_with(struct str name, const char *zone)
{
	size_t n = strlen(zone);

	if (name.len < n ||
	    !str_caseeq((struct str){ name.p + name.len - n, n }, zone))
		return false;
	return name.len == n || name.p[name.len - n - 1] == '.';
}

bool
dnsmsg_is_localhost(const struct dns_query *q)
{
	return ends_with((struct str){ q->name, q->name_len }, "localhost");
}

bool
dnsmsg_is_reverse(const struct dns_query *q, uint8_t ret_addr[4],
    bool *has_addr)
{
	struct str name = { q->name, q->name_len };
	const char *p = q->name;
	uint8_t addr[4];
	uint64_t v;
	size_t n;

	*has_addr = false;
	if (ends_with(name, "ip6.arpa"))
		return true;
	if (!ends_with(name, "in-addr.arpa"))
		return false;
	for (int i = 3; i >= 0; i--) {
		n = strcspn(p, ".");
		if (str_to_u64((struct str){ p, n }, 255, &v) != 0 ||
		    p[n] == '\0')
			return true;
		addr[i] = (uint8_t)v;
		p += n + 1;
	}
	if (str_caseeq(str_of(p), "in-addr.arpa")) {
		memcpy(ret_addr, addr, 4);
		*has_addr = true;
	}
	return true;
}
