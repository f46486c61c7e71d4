/*
 * bpf: a small interpreter for the part of classic BPF that the jail's
 * filters are made of; anything else fails the test.  Behind cmocka.h.
 */
#ifndef FENCE_TESTS_UNIT_BPF_H
#define FENCE_TESTS_UNIT_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>

#include "platform/base/buf.h"

static uint32_t
bpf_load(const struct seccomp_data *d, uint32_t at)
{
	uint32_t v;

	assert_true(at % 4 == 0 && at <= sizeof *d - sizeof v);
	memcpy(&v, (const char *)d + at, sizeof v);
	return v;
}

/* The verdict; *most is raised to the number of instructions it took. */
static uint32_t
bpf_run(const struct buf *filter, const struct seccomp_data *d, size_t *most)
{
	const struct sock_filter *f = (const void *)filter->data;
	size_t n = filter->len / sizeof *f, steps = 0;
	uint32_t a = 0;

	for (size_t pc = 0; pc < n; pc++) {
		uint32_t k = f[pc].k;
		bool yes;

		if (++steps > *most)
			*most = steps;
		switch (f[pc].code) {
		case BPF_LD | BPF_W | BPF_ABS:
			a = bpf_load(d, k);
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= k;
			continue;
		case BPF_RET | BPF_K:
			return k;
		case BPF_JMP | BPF_JA:
			pc += k;
			continue;
		case BPF_JMP | BPF_JEQ | BPF_K:
			yes = a == k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			yes = a >= k;
			break;
		default:
			fail_msg("instruction %#x at %zu", f[pc].code, pc);
			return 0;
		}
		pc += yes ? f[pc].jt : f[pc].jf;
	}
	fail_msg("the program has no end");
	return 0;
}

#endif
