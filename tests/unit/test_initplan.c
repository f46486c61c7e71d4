#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>

#include "platform/linux/initplan.h"
#include "platform/linux/plancheck.h"

/* A sound plan; each case below breaks one thing. */
struct memory {
	struct init_plan	plan;
	struct init_rule	rule[2];
	struct sock_filter	filter[3];
	uint32_t		argv[2], envp[2];
	int32_t			keep[2];
	char			text[16];
};

#define AT(field)	offsetof(struct memory, field)

static void
fill(struct memory *m)
{
	memset(m, 0, sizeof *m);
	m->plan = (struct init_plan){
		.magic = INIT_PLAN_MAGIC, .size = sizeof *m,
		.program = AT(text), .cwd = AT(text), .proc = AT(text),
		.argv = AT(argv), .argc = 2, .envp = AT(envp), .envc = 2,
		.rules = AT(rule), .nrules = 2,
		.filter = AT(filter), .nfilter = 3,
		.keep = AT(keep), .nkeep = 2,
	};
	for (int i = 0; i < 2; i++) {
		m->rule[i].path = AT(text);
		m->argv[i] = m->envp[i] = AT(text) + i;
		m->keep[i] = 3 + i;
	}
	strcpy(m->text, "/bin/true");
}

static const struct {
	size_t		at;
	uint32_t	value;
} breaks[] = {
	{ AT(plan.magic), 0 },
	{ AT(plan.proc), UINT32_MAX },
	{ AT(plan.size), sizeof(struct memory) - 1 },
	{ AT(plan.size), sizeof(struct memory) + 1 },
	{ AT(plan.size), UINT32_MAX },
	{ AT(plan.program), sizeof(struct memory) },
	{ AT(plan.program), UINT32_MAX },
	{ AT(plan.cwd), sizeof(struct memory) },
	{ AT(plan.argc), 0 },
	{ AT(plan.argc), UINT32_MAX },
	{ AT(plan.argc), 0x40000001 },		/* times 4 it is 4 */
	{ AT(plan.argv), sizeof(struct memory) - 4 },
	{ AT(plan.argv), AT(argv) + 1 },
	{ AT(plan.argv), UINT32_MAX - 3 },
	{ AT(argv[1]), sizeof(struct memory) },
	{ AT(plan.envp), sizeof(struct memory) },
	{ AT(envp[0]), UINT32_MAX },
	{ AT(plan.rules), AT(rule) + 4 },
	{ AT(plan.nrules), 1000 },
	{ AT(rule[1].path), sizeof(struct memory) },
	{ AT(plan.nfilter), 0 },
	{ AT(plan.nfilter), BPF_MAXINSNS + 1 },
	{ AT(plan.filter), sizeof(struct memory) - 8 },
	{ AT(plan.filter), AT(filter) + 2 },
	{ AT(plan.keep), sizeof(struct memory) - 4 },
	{ AT(keep[0]), 2 },
	{ AT(keep[1]), UINT32_MAX },
};

static void
test_breaks(void **state)
{
	struct memory *m = malloc(sizeof *m);

	(void)state;
	assert_non_null(m);
	fill(m);
	assert_true(plan_is_sound(m, sizeof *m));
	for (size_t i = 0; i < sizeof breaks / sizeof breaks[0]; i++) {
		fill(m);
		memcpy((char *)m + breaks[i].at, &breaks[i].value,
		    sizeof breaks[i].value);
		if (plan_is_sound(m, sizeof *m))
			fail_msg("break %zu went unnoticed", i);
	}
	free(m);
}

static void
test_unended_string(void **state)
{
	struct memory m;

	(void)state;
	fill(&m);
	memset(m.text, 'x', sizeof m.text);
	assert_false(plan_is_sound(&m, sizeof m));
	fill(&m);
	for (size_t size = 0; size < sizeof m; size++)
		assert_false(plan_is_sound(&m, size));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_breaks),
		cmocka_unit_test(test_unended_string),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
