/*
 * Planning: the functions whose calls are told (trace.calls), as the probe
 * library reads them.
 */
#include <string.h>
#include <unistd.h>

#include "launcher/plan/plan_work.h"
#include "platform/paths.h"
#include "policy/keys.h"
#include "policy/probesig.h"
#include "policy/rule.h"
#include "shim/probe/probe_wire.h"

_Static_assert((int)PROBESIG_NAME_MAX < (int)PROBE_NAME_MAX &&
    (int)PROBESIG_ARGS_MAX <= (int)PROBE_ARGS_MAX &&
    (int)PROBESIG_BYTES_MAX <= (int)PROBE_BYTES_MAX &&
    (int)PROBESIG_DATA_MAX <= (int)PROBE_DATA_MAX, "the library's limits");

static int
refuse(struct err *e, const struct entry *at, const char *why,
    const char *hint)
{
	err_set(e, ERR_POLICY, "'%.100s': %s", at->text, why);
	err_key(e, "%s", keys_name(KEY_OF(trace.calls)));
	err_where(e, at->at.file, at->at.line, at->at.col);
	err_hint(e, "%s", hint);
	return -1;
}

static struct probe_value
wire_value(const struct probesig_value *v)
{
	return (struct probe_value){ .type = (uint8_t)v->type,
	    .size = v->size, .max = v->max };
}

static void
wire_sig(const struct probesig *s, struct probe_sig *ret)
{
	memset(ret, 0, sizeof *ret);
	memcpy(ret->name, s->name, strlen(s->name) + 1);
	ret->nargs = (uint32_t)s->nargs;
	for (size_t i = 0; i < s->nargs; i++)
		ret->arg[i] = wire_value(&s->arg[i]);
	ret->result = wire_value(&s->result);
}

/* Each function once: a slot has one closure. */
static int
add_sig(struct probe_sig *v, size_t n, const struct entry *entry,
    struct err *e)
{
	struct probesig sig;

	if (n == PROBE_SIGS_MAX)
		return refuse(e, entry, "one function too many",
		    "64 functions are told at most");
	if (probesig_parse(entry->text, &sig, e) != 0)
		return refuse(e, entry, "no signature", e->hint);
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].name, sig.name) == 0)
			return refuse(e, entry, "the function has another "
			    "signature already", "leave one of them out, "
			    "with '!' before it if it is inherited");
	wire_sig(&sig, &v[n]);
	return 0;
}

/* Where nobody is told of a call, nothing looks for it. */
static bool
is_told(const struct run_options *ro)
{
	return ro->monitor || ro->debug || ro->trace_file != NULL;
}

int
plan_probes(struct work *w, const struct run_options *ro, struct err *e)
{
	const struct strlist *calls = &w->plan->policy->trace.calls;
	struct jail_spec *spec = &w->plan->spec;
	struct probe_sig *v;
	const char *dir;

	if (calls->n == 0)
		return 0;
	v = arena_alloc(w->arena, calls->n * sizeof *v);
	for (size_t i = 0; i < calls->n; i++)
		if (add_sig(v, i, &calls->v[i], e) != 0)
			return -1;
	if (!is_told(ro))
		return 0;
	if (paths_libexec(w->arena, &dir, e) != 0)
		return -1;
	spec->probe = arena_printf(w->arena, "%s/libfence-probe.so", dir);
	if (spec->shim == NULL || access(spec->probe, R_OK) != 0)
		return refuse(e, &calls->v[0], "nothing here could tell its "
		    "calls: there is no libfence-probe.so",
		    "fence for x86-64 has it; without trace.calls the "
		    "command runs as well");
	spec->probes = v;
	spec->probes_len = calls->n * sizeof *v;
	return 0;
}
