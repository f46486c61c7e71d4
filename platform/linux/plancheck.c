#include "platform/linux/plancheck.h"

#include <linux/filter.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "platform/linux/initplan.h"

static bool
table_fits(const struct init_plan *p, uint32_t at, uint32_t n, size_t each,
    size_t align)
{
	return at % align == 0 && at <= p->size &&
	    n <= (p->size - at) / each;
}

static bool
string_fits(const struct init_plan *p, uint32_t at)
{
	return at < p->size &&
	    memchr((const char *)p + at, '\0', p->size - at) != NULL;
}

static bool
strings_fit(const struct init_plan *p, uint32_t at, uint32_t n)
{
	const uint32_t *v = (const void *)((const char *)p + at);

	if (!table_fits(p, at, n, sizeof *v, alignof(uint32_t)))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!string_fits(p, v[i]))
			return false;
	return true;
}

static bool
rules_fit(const struct init_plan *p)
{
	const struct init_rule *v =
	    (const void *)((const char *)p + p->rules);

	if (!table_fits(p, p->rules, p->nrules, sizeof *v,
	    alignof(struct init_rule)))
		return false;
	for (uint32_t i = 0; i < p->nrules; i++)
		if (!string_fits(p, v[i].path))
			return false;
	return true;
}

static bool
keep_fits(const struct init_plan *p)
{
	const int32_t *v = (const void *)((const char *)p + p->keep);

	if (!table_fits(p, p->keep, p->nkeep, sizeof *v, alignof(int32_t)))
		return false;
	for (uint32_t i = 0; i < p->nkeep; i++)
		if (v[i] < 3)
			return false;
	return true;
}

static bool
filter_fits(const struct init_plan *p, uint32_t at, uint32_t n)
{
	return n <= BPF_MAXINSNS && table_fits(p, at, n,
	    sizeof(struct sock_filter), alignof(struct sock_filter));
}

bool
plan_is_sound(const void *base, size_t size)
{
	const struct init_plan *p = base;

	if (size < sizeof *p || size > UINT32_MAX ||
	    (uintptr_t)base % alignof(struct init_plan) != 0)
		return false;
	if (p->magic != INIT_PLAN_MAGIC || p->size != size)
		return false;
	return string_fits(p, p->program) && string_fits(p, p->cwd) &&
	    (p->proc == 0 || string_fits(p, p->proc)) &&
	    p->argc >= 1 && p->session <= INIT_SESSION_TTY &&
	    strings_fit(p, p->argv, p->argc) &&
	    strings_fit(p, p->envp, p->envc) &&
	    rules_fit(p) && keep_fits(p) && p->nfilter > 0 &&
	    filter_fits(p, p->filter, p->nfilter) &&
	    filter_fits(p, p->notify, p->nnotify);
}
