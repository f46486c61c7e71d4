#include "launcher/record/probe_call.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "platform/base/buf.h"
#include "platform/base/str.h"
#include "shim/probe/probe_wire.h"

_Static_assert(PROBE_HEADER_BYTES + PROBE_DATA_MAX <=
    sizeof(struct wire_report), "whoever receives has room for either");

#define ELLIPSIS	"\xe2\x80\xa6"

/* A report that is being read. */
struct reading {
	struct arena		*arena;
	const struct probesig	*sig;
	struct probe_report	 r;	/* its header */
	const char		*data;
	size_t			 left;
};

const struct probesig *
probe_call_sigs(struct arena *a, const struct policy *p, size_t *ret_n)
{
	const struct strlist *calls = &p->trace.calls;
	struct probesig *v = arena_alloc(a, (calls->n + 1) * sizeof *v);
	struct err e;

	*ret_n = 0;
	for (size_t i = 0; i < calls->n; i++)
		if (probesig_parse(calls->v[i].text, &v[i], &e) == 0)
			*ret_n = i + 1;
	return v;
}

static int64_t
as_signed(const struct probesig_value *v, uint64_t value)
{
	unsigned unused = 64 - 8 * v->size;

	return (int64_t)(value << unused) >> unused;
}

static uint64_t
as_unsigned(const struct probesig_value *v, uint64_t value)
{
	unsigned unused = 64 - 8 * v->size;

	return value << unused >> unused;
}

static bool
is_integer(const struct probesig_value *v)
{
	return v->type == 'i' || v->type == 'u';
}

/* A length: what is negative, or too large to be one, is none. */
static uint64_t
length_of(const struct probesig_value *v, uint64_t value)
{
	uint64_t n = v->type == 'i' ? (uint64_t)as_signed(v, value) :
	    as_unsigned(v, value);

	return n > INT64_MAX ? 0 : n;
}

/* How many bytes a buffer had, of which some may have been told. */
static uint64_t
buffer_len(const struct reading *in, size_t i)
{
	const struct probesig *s = in->sig;
	uint64_t n = length_of(&s->arg[i + 1], in->r.value[i + 1]), filled;

	if (s->arg[i].type != 'o' || !is_integer(&s->result))
		return n;
	filled = length_of(&s->result, in->r.value[s->nargs]);
	return filled < n ? filled : n;
}

static const char *
number_words(struct arena *a, const struct probesig_value *v, uint64_t value)
{
	double d;
	float f;

	switch (v->type) {
	case 'i':
		return arena_printf(a, "%" PRId64, as_signed(v, value));
	case 'u':
		return arena_printf(a, "%" PRIu64, as_unsigned(v, value));
	case 'd':
		memcpy(&d, &value, sizeof d);
		return arena_printf(a, "%.15g", d);
	case 'f':
		memcpy(&f, &value, sizeof f);
		return arena_printf(a, "%.7g", (double)f);
	}
	return value == 0 ? "NULL" : arena_printf(a, "0x%" PRIx64, value);
}

/* The bytes of a text or a buffer; NULL: the report does not hold them. */
static const char *
bytes_words(struct reading *in, const struct probesig_value *v, size_t i)
{
	uint16_t got = in->r.got[i];
	size_t n = got & ~PROBE_GOT_CUT;
	const char *ret;
	bool is_cut;
	struct buf b;

	if (in->r.value[i] == 0 || got == PROBE_GOT_NONE)
		return number_words(in->arena, v, in->r.value[i]);
	if (n > v->max || n > in->left)
		return NULL;
	is_cut = v->type == 's' ? (got & PROBE_GOT_CUT) != 0 :
	    n < buffer_len(in, i);
	buf_init(&b, 0);
	buf_putc(&b, '"');
	str_escape(&b, in->data, n, '"');
	buf_puts(&b, is_cut ? "\"" ELLIPSIS : "\"");
	in->data += n;
	in->left -= n;
	ret = arena_strdup(in->arena, b.data);
	buf_release(&b);
	return ret;
}

static bool
has_bytes(const struct probesig_value *v)
{
	return v->type == 's' || v->type == 'b' || v->type == 'o';
}

/* In the order of the report: what is read, then what the call filled. */
static int
read_args(struct reading *in, struct probe_call *ret)
{
	const struct probesig *s = in->sig;

	for (int filled = 0; filled < 2; filled++)
		for (size_t i = 0; i < s->nargs; i++) {
			const struct probesig_value *v = &s->arg[i];

			if ((v->type == 'o') != (filled != 0))
				continue;
			ret->arg[i] = has_bytes(v) ? bytes_words(in, v, i) :
			    number_words(in->arena, v, in->r.value[i]);
			if (ret->arg[i] == NULL)
				return -1;
		}
	ret->nargs = s->nargs;
	return 0;
}

/*
 * errno says something where a call failed: a negative integer, and a null
 * pointer of a function that changed it.  getenv() leaves it as it was.
 */
static bool
has_failed(const struct reading *in)
{
	const struct probesig_value *v = &in->sig->result;
	uint64_t value = in->r.value[in->sig->nargs];

	if (v->type == 'i')
		return as_signed(v, value) < 0;
	return (v->type == 'p' || v->type == 's') && value == 0 &&
	    in->r.is_new_err != 0;
}

static int
read_result(struct reading *in, struct probe_call *ret)
{
	const struct probesig_value *v = &in->sig->result;
	size_t at = in->sig->nargs;

	if (v->type == 'v')
		return 0;
	ret->result = has_bytes(v) ? bytes_words(in, v, at) :
	    number_words(in->arena, v, in->r.value[at]);
	if (ret->result == NULL)
		return -1;
	if (has_failed(in) && in->r.err > 0 && in->r.err < 4096)
		ret->err = in->r.err;
	return 0;
}

/* The header of a datagram; false: it is none of ours. */
static bool
read_header(const void *datagram, size_t len, struct probe_report *ret)
{
	if (len < PROBE_HEADER_BYTES)
		return false;
	memcpy(ret, datagram, PROBE_HEADER_BYTES);
	return ret->magic == WIRE_MAGIC && ret->call == WIRE_PROBE;
}

bool
probe_call_is(const void *datagram, size_t len)
{
	struct probe_report r;

	return read_header(datagram, len, &r);
}

uint32_t
probe_call_dropped(const void *datagram, size_t len)
{
	struct probe_report r;

	return read_header(datagram, len, &r) ? r.dropped : 0;
}

int
probe_call_read(struct arena *a, const struct probesig *v, size_t n,
    const void *datagram, size_t len, struct probe_call *ret)
{
	struct reading in = { .arena = a };

	*ret = (struct probe_call){ .function = NULL };
	if (!read_header(datagram, len, &in.r))
		return -1;
	in.data = (const char *)datagram + PROBE_HEADER_BYTES;
	in.left = len - PROBE_HEADER_BYTES;
	if (in.r.data_len != in.left || in.r.probe >= n)
		return -1;
	in.sig = &v[in.r.probe];
	ret->function = in.sig->name;
	if (read_args(&in, ret) != 0 || read_result(&in, ret) != 0 ||
	    in.left != 0)
		return -1;
	ret->dropped = in.r.dropped;
	memcpy(ret->comm, in.r.comm, sizeof in.r.comm);
	return 0;
}
