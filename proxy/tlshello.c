#include "proxy/tlshello.h"

#include <string.h>

enum {
	RECORD_CCS = 20, RECORD_HANDSHAKE = 22, RECORD_HEARTBEAT = 24,
	RECORD_HEADER = 5, MAX_RECORD = 1 << 14,
	VERSION_MAJOR = 3,
	CLIENT_HELLO = 1, HELLO_HEADER = 4,
	EXT_SERVER_NAME = 0, EXT_ALPN = 16, EXT_ECH = 0xfe0d,
	NAME_HOST = 0,
};

void
tlshello_init(struct tlshello *t)
{
	memset(t, 0, sizeof *t);
	t->status = TLSHELLO_MORE;
}

static enum tlshello_status
bad(struct tlshello *t, const char *why)
{
	t->why = why;
	return TLSHELLO_BAD;
}

/*
 * Reading: a cursor over the bytes of the hello that steps over the headers
 * of records, which were checked before, and never passes its end.
 */

struct in {
	const uint8_t	*p;
	size_t		 record_left;	/* 0: p is at a header */
	size_t		 left;
	bool		 is_short;
};

static unsigned
get8(struct in *in)
{
	if (in->left == 0) {
		in->is_short = true;
		return 0;
	}
	if (in->record_left == 0) {
		in->record_left = (size_t)in->p[3] << 8 | in->p[4];
		in->p += RECORD_HEADER;
	}
	in->record_left--;
	in->left--;
	return *in->p++;
}

static unsigned
get16(struct in *in)
{
	unsigned hi = get8(in);

	return hi << 8 | get8(in);
}

static unsigned
get24(struct in *in)
{
	unsigned hi = get16(in);

	return hi << 8 | get8(in);
}

static void
skip(struct in *in, size_t n)
{
	size_t step;

	while (n > 0 && !in->is_short) {
		get8(in);
		step = n - 1 < in->record_left ? n - 1 : in->record_left;
		if (step > in->left)
			step = in->left;
		in->p += step;
		in->record_left -= step;
		in->left -= step;
		n -= step + 1;
	}
}

/* The next n bytes as a cursor of their own; empty if there are fewer. */
static struct in
take(struct in *in, size_t n)
{
	struct in part = *in;

	part.left = n;
	skip(in, n);
	if (in->is_short)
		part.left = 0;
	return part;
}

/* The hello */

static enum tlshello_status
parse_host(struct tlshello *t, struct in name)
{
	unsigned c;

	if (t->has_sni)
		return bad(t, "two host names in a TLS hello");
	if (name.left == 0 || name.left >= sizeof t->sni)
		return bad(t, "bad length of the host name in a TLS hello");
	while (name.left > 0) {
		c = get8(&name);
		if (c < ' ' || c == 0x7f)
			return bad(t, "control byte in the host name of a "
			    "TLS hello");
		t->sni[t->sni_len++] = (char)c;
	}
	t->has_sni = true;
	return TLSHELLO_DONE;
}

/* RFC 6066: names of types yet to come begin with a length as well. */
static enum tlshello_status
parse_server_name(struct tlshello *t, struct in ext)
{
	struct in list = take(&ext, get16(&ext)), name;
	enum tlshello_status st;
	unsigned type;

	if (ext.is_short || ext.left > 0 || list.left == 0)
		return bad(t, "bad server_name in a TLS hello");
	while (list.left > 0) {
		type = get8(&list);
		name = take(&list, get16(&list));
		if (list.is_short)
			return bad(t, "bad server_name list in a TLS hello");
		if (type != NAME_HOST)
			continue;
		st = parse_host(t, name);
		if (st != TLSHELLO_DONE)
			return st;
	}
	return TLSHELLO_DONE;
}

static bool
is_text(struct in in, const char *text)
{
	if (in.left != strlen(text))
		return false;
	for (; *text != '\0'; text++)
		if (get8(&in) != (unsigned char)*text)
			return false;
	return true;
}

static enum tlshello_status
parse_alpn(struct tlshello *t, struct in ext)
{
	struct in list = take(&ext, get16(&ext)), name;

	if (ext.is_short || ext.left > 0 || list.left == 0)
		return bad(t, "bad ALPN in a TLS hello");
	while (list.left > 0) {
		name = take(&list, get8(&list));
		if (list.is_short || name.left == 0)
			return bad(t, "bad ALPN list in a TLS hello");
		t->has_h2 |= is_text(name, "h2");
		t->has_http11 |= is_text(name, "http/1.1");
	}
	return TLSHELLO_DONE;
}

static enum tlshello_status
parse_extension(struct tlshello *t, unsigned type, struct in ext,
    bool *has_server_name)
{
	static const char twice[] = "an extension twice in a TLS hello";

	switch (type) {
	case EXT_SERVER_NAME:
		if (*has_server_name)
			return bad(t, twice);
		*has_server_name = true;
		return parse_server_name(t, ext);
	case EXT_ALPN:
		if (t->has_alpn)
			return bad(t, twice);
		t->has_alpn = true;
		return parse_alpn(t, ext);
	case EXT_ECH:
		if (t->has_ech)
			return bad(t, twice);
		t->has_ech = true;
		break;
	}
	return TLSHELLO_DONE;
}

static enum tlshello_status
parse_extensions(struct tlshello *t, struct in in)
{
	bool has_server_name = false;
	enum tlshello_status st;
	unsigned type;
	struct in ext;

	while (in.left > 0) {
		type = get16(&in);
		ext = take(&in, get16(&in));
		if (in.is_short)
			return bad(t, "bad extension in a TLS hello");
		st = parse_extension(t, type, ext, &has_server_name);
		if (st != TLSHELLO_DONE)
			return st;
	}
	return TLSHELLO_DONE;
}

static enum tlshello_status
parse_hello(struct tlshello *t, struct in in)
{
	unsigned major = get8(&in), session_len, ciphers_len, packings_len;
	struct in extensions;

	skip(&in, 1 + 32);		/* minor version, random */
	session_len = get8(&in);
	skip(&in, session_len);
	ciphers_len = get16(&in);
	skip(&in, ciphers_len);
	packings_len = get8(&in);
	skip(&in, packings_len);
	if (in.is_short || major != VERSION_MAJOR || session_len > 32 ||
	    ciphers_len == 0 || ciphers_len % 2 != 0 || packings_len == 0)
		return bad(t, "bad TLS hello");
	if (in.left == 0)		/* older than extensions */
		return TLSHELLO_DONE;
	extensions = take(&in, get16(&in));
	if (in.is_short || in.left > 0)
		return bad(t, "bad length of the extensions in a TLS hello");
	return parse_extensions(t, extensions);
}

/* Records */

/* As soon as the bytes tell; DONE: this may be a hello. */
static enum tlshello_status
sniff(struct tlshello *t, const uint8_t *p, size_t len)
{
	if (len > 0 && (p[0] & 0x80) != 0) {
		if ((len > 2 && p[2] != CLIENT_HELLO) ||
		    (len > 3 && p[3] != VERSION_MAJOR && p[3] != 0) ||
		    (len > 4 && p[3] == 0 && p[4] != 2))
			return TLSHELLO_NOT_TLS;
		return len > 4 ? bad(t, "SSLv2 hello") : TLSHELLO_MORE;
	}
	if ((len > 0 && (p[0] < RECORD_CCS || p[0] > RECORD_HEARTBEAT)) ||
	    (len > 1 && p[1] != VERSION_MAJOR))
		return TLSHELLO_NOT_TLS;
	return len > 1 ? TLSHELLO_DONE : TLSHELLO_MORE;
}

/* The header of a record and how far it may reach. */
static enum tlshello_status
check_record(struct tlshello *t, const uint8_t *p, size_t *ret_len)
{
	size_t len = (size_t)p[3] << 8 | p[4];

	if (p[0] != RECORD_HANDSHAKE || p[1] != VERSION_MAJOR)
		return bad(t, "another record where a TLS hello should be");
	if (len == 0 || len > MAX_RECORD)
		return bad(t, "bad length of a TLS record");
	if (len > TLSHELLO_MAX_BYTES - RECORD_HEADER - t->record_at)
		return bad(t, "the TLS hello is too long");
	*ret_len = len;
	return TLSHELLO_DONE;
}

/*
 * Of a hello `got` bytes are there, the last of them from a record that
 * will bring it to `sum`.  MORE if that is not all of it.
 */
static enum tlshello_status
check_hello(struct tlshello *t, const uint8_t *data, size_t got, size_t sum)
{
	struct in in = { .p = data, .left = got };
	size_t len;

	if (got > 0 && get8(&in) != CLIENT_HELLO)
		return bad(t, "another message where a TLS hello should be");
	if (got < HELLO_HEADER)
		return TLSHELLO_MORE;
	len = get24(&in);
	if (len > TLSHELLO_MAX_BYTES)
		return bad(t, "the TLS hello is too long");
	if (sum > HELLO_HEADER + len)
		return bad(t, "bytes behind a TLS hello");
	return in.left < len ? TLSHELLO_MORE : parse_hello(t, in);
}

/* Record by record, in their order: a late byte never changes the answer. */
static enum tlshello_status
walk(struct tlshello *t, const uint8_t *data, size_t len)
{
	enum tlshello_status st;
	size_t there, record_len;

	for (;;) {
		if (t->record_at >= TLSHELLO_MAX_BYTES - RECORD_HEADER)
			return bad(t, "the TLS hello is too long");
		if (len - t->record_at < RECORD_HEADER)
			return TLSHELLO_MORE;
		st = check_record(t, data + t->record_at, &record_len);
		if (st != TLSHELLO_DONE)
			return st;
		there = len - t->record_at - RECORD_HEADER;
		if (there > record_len)
			there = record_len;
		st = check_hello(t, data, t->have + there,
		    t->have + record_len);
		if (st == TLSHELLO_DONE)
			t->hello_len = t->record_at + RECORD_HEADER + there;
		if (st != TLSHELLO_MORE || there < record_len)
			return st;
		t->record_at += RECORD_HEADER + record_len;
		t->have += record_len;
	}
}

enum tlshello_status
tlshello_feed(struct tlshello *t, const void *data, size_t len)
{
	if (t->status != TLSHELLO_MORE)
		return t->status;
	t->status = sniff(t, data, len);
	if (t->status == TLSHELLO_DONE)
		t->status = walk(t, data, len);
	return t->status;
}
