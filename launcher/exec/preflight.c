#include "launcher/exec/preflight.h"

#include <string.h>

#include "launcher/exec/exec_facts.h"
#include "platform/base/buf.h"
#include "policy/keys.h"
#include "policy/rule.h"

void
preflight_ask(const struct preflight *p, struct exec_verdict *ret)
{
	struct exec_facts *facts = exec_facts_new(p->arena, p->env, p->cwd,
	    -1);
	const struct exec_world *world = exec_facts_world(facts);
	size_t n = 0;

	if (p->program != NULL)
		exec_facts_know(facts, p->argv[0], p->program);
	if (p->line != NULL) {
		decide_line(p->policy, p->line, strlen(p->line), world, ret);
		return;
	}
	while (p->argv[n] != NULL)
		n++;
	decide_argv(p->policy, NULL, (const char *const *)p->argv, n, world,
	    ret);
}

/* The words that scripts of the Go program's users look for come first. */
static const char *
words_of(const struct rule *r)
{
	return r->id == RULE_BUILTIN_COMMAND ?
	    "command blocked by default sandbox command policy" :
	    "command blocked by sandbox command policy";
}

static bool
is_ssh(const struct rule *r)
{
	return r->id != RULE_BUILTIN_COMMAND &&
	    strncmp(keys_name(r->key), "ssh.", 4) == 0;
}

int
preflight_check(const struct preflight *p, struct err *e)
{
	struct exec_verdict x;
	const struct rule *r = &x.v.rule;
	struct buf b;

	preflight_ask(p, &x);
	if (x.v.action == ACTION_ALLOW)
		return 0;
	if (is_ssh(r))
		err_set(e, ERR_POLICY, "SSH blocked: \"%s\": %s", x.command,
		    x.v.reason);
	else if (r->text != NULL)
		err_set(e, ERR_POLICY, "%s: \"%s\" matches \"%s\"",
		    words_of(r), x.command, r->text);
	else
		err_set(e, ERR_POLICY, "%s: \"%s\": %s", words_of(r),
		    x.command, x.v.reason);
	if (r->at.file != NULL)
		err_where(e, r->at.file, r->at.line, r->at.col);
	buf_init(&b, 0);
	rule_put(&b, r);
	err_key(e, "%s", b.data);
	buf_clear(&b);
	if (x.v.remedy.kind != REMEDY_NONE) {
		buf_puts(&b, "to allow it: ");
		remedy_put(&b, &x.v.remedy);
		err_hint(e, "%s", b.data);
	}
	buf_release(&b);
	return -1;
}
