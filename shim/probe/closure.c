/*
 * Closures: the only file that knows libffi.
 *
 * Whatever the signature says, a closure passes on all six registers of
 * integers and all eight of floating numbers, and both registers of a result
 * that is not one: a signature that leaves out arguments still calls the
 * function as its caller did.  Nothing is kept from one call to the next, so
 * a call may be left by longjmp() or an exception, and be made in a signal
 * handler or a vfork() child.
 */
#include "shim/probe/probe.h"

#include <errno.h>
#include <ffi.h>
#include <string.h>

enum { SITES_MAX = 256, INTS = 6, FLOATS = 8 };

/* One function behind a closure. */
struct site {
	uint32_t	 probe;
	void		*target;
	void		*code;		/* of the closure */
	ffi_cif		 cif;
};

static struct site sites[SITES_MAX];
static unsigned nsites;

/* Integers, of which there are at least INTS, then FLOATS. */
static ffi_type *types[PROBE_ARGS_MAX - INTS + 1][PROBE_ARGS_MAX + FLOATS];
static ffi_type *pair_members[] = { &ffi_type_uint64, &ffi_type_uint64,
	NULL };
static ffi_type pair_type = { .type = FFI_TYPE_STRUCT,
	.elements = pair_members };

static bool
is_float(const struct probe_value *v)
{
	return v->type == 'd' || v->type == 'f';
}

static unsigned
count_ints(const struct probe_sig *s)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < s->nargs; i++)
		n += !is_float(&s->arg[i]);
	return n > INTS ? n : INTS;
}

/* As the signature orders them, 64 bits each. */
static void
sort_args(const struct probe_sig *s, void **args, uint64_t *ret)
{
	unsigned at_int = 0, at_float = count_ints(s);

	for (uint32_t i = 0; i < s->nargs; i++)
		memcpy(&ret[i], args[is_float(&s->arg[i]) ? at_float++ :
		    at_int++], sizeof *ret);
}

/* Nothing is to be learnt from its return, and it need not return. */
static bool
is_told_before(const struct probe_sig *s)
{
	for (uint32_t i = 0; i < s->nargs; i++)
		if (s->arg[i].type == 'o')
			return false;
	return s->result.type == 'v';
}

/* Its buffer is off the stack again when the call was not to be reported. */
static __attribute__((noinline)) void
call_and_tell(struct site *site, const struct probe_sig *s, void *ret,
    void **args)
{
	uint64_t values[PROBE_ARGS_MAX], result = 0;
	struct capture c = { .sig = s, .probe = site->probe };

	c.r = __builtin_alloca(PROBE_HEADER_BYTES + capture_room(s));
	sort_args(s, args, values);
	capture_begin(&c, values, errno);
	if (is_told_before(s)) {
		capture_send(&c);
		ffi_call(&site->cif, FFI_FN(site->target), ret, args);
		return;
	}
	ffi_call(&site->cif, FFI_FN(site->target), ret, args);
	memcpy(&result, ret, s->result.type == 'f' ? sizeof(float) :
	    sizeof result);
	capture_end(&c, result, errno);
	capture_send(&c);
}

static void
on_call(ffi_cif *cif, void *ret, void **args, void *arg)
{
	struct site *site = arg;

	if (capture_may(site->probe))
		call_and_tell(site, &probe_set.v[site->probe], ret, args);
	else
		ffi_call(cif, FFI_FN(site->target), ret, args);
}

static bool
prepare(struct site *site, const struct probe_sig *s)
{
	unsigned ints = count_ints(s);
	ffi_type **t = types[ints - INTS];
	ffi_type *result = s->result.type == 'd' ? &ffi_type_double :
	    s->result.type == 'f' ? &ffi_type_float : &pair_type;

	for (unsigned i = 0; i < ints + FLOATS; i++)
		t[i] = i < ints ? &ffi_type_uint64 : &ffi_type_double;
	return ffi_prep_cif(&site->cif, FFI_DEFAULT_ABI, ints + FLOATS,
	    result, t) == FFI_OK;
}

void *
closure_get(uint32_t probe, void *target)
{
	struct site *site = &sites[nsites];
	ffi_closure *closure;

	for (unsigned i = 0; i < nsites; i++)
		if (sites[i].probe == probe && sites[i].target == target)
			return sites[i].code;
	if (nsites == SITES_MAX || !prepare(site, &probe_set.v[probe]))
		return NULL;
	site->probe = probe;
	site->target = target;
	closure = ffi_closure_alloc(sizeof *closure, &site->code);
	if (closure == NULL)
		return NULL;
	if (ffi_prep_closure_loc(closure, &site->cif, on_call, site,
	    site->code) != FFI_OK) {
		ffi_closure_free(closure);
		return NULL;
	}
	nsites++;
	return site->code;
}

bool
closure_is(const void *address)
{
	for (unsigned i = 0; i < nsites; i++)
		if (sites[i].code == address)
			return true;
	return false;
}
