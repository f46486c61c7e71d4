#include "policy/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Field by field: the struct is large and answers are wanted fast. */
static void
verdict_begin(struct verdict *v, enum action action, struct origin at)
{
	v->action = action;
	v->at = at;
	v->rule_text = NULL;
	v->rule[0] = '\0';
	v->reason[0] = '\0';
	v->remedy_key[0] = '\0';
	v->remedy_value[0] = '\0';
	v->remedy_flag[0] = '\0';
	v->via_upstream = false;
}

/* "key[i]", by hand: printf would be half of a decision's time. */
static void
put_rule(struct verdict *v, const char *key, size_t i)
{
	char digits[24], *p = digits + sizeof digits;
	size_t len = strlen(key);

	*--p = '\0';
	*--p = ']';
	do {
		*--p = (char)('0' + i % 10);
		i /= 10;
	} while (i != 0);
	*--p = '[';
	if (len + (size_t)(digits + sizeof digits - p) > sizeof v->rule)
		return;
	memcpy(v->rule, key, len);
	memcpy(v->rule + len, p, (size_t)(digits + sizeof digits - p));
}

void
verdict_entry(struct verdict *v, enum action action, const char *key,
    const struct strlist *list, size_t i)
{
	verdict_begin(v, action, list->v[i].at);
	put_rule(v, key, i);
	v->rule_text = list->v[i].text;
}

void
verdict_default(struct verdict *v, enum action action, const char *key,
    const struct strlist *list)
{
	verdict_rule(v, action, key, list->at);
	verdict_reason(v, "no entry of %s matches", key);
}

void
verdict_rule(struct verdict *v, enum action action, const char *rule,
    struct origin at)
{
	verdict_begin(v, action, at);
	snprintf(v->rule, sizeof v->rule, "%s", rule);
}

void
verdict_reason(struct verdict *v, const char *fmt, ...)
{
	size_t len = strlen(fmt);
	va_list ap;

	/* As above: those that permit are plain words. */
	if (len < sizeof v->reason && memchr(fmt, '%', len) == NULL) {
		memcpy(v->reason, fmt, len + 1);
		return;
	}
	va_start(ap, fmt);
	vsnprintf(v->reason, sizeof v->reason, fmt, ap);
	va_end(ap);
}

void
verdict_remedy(struct verdict *v, const char *key, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(v->remedy_value, sizeof v->remedy_value, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof v->remedy_value) {
		v->remedy_value[0] = '\0';
		return;
	}
	snprintf(v->remedy_key, sizeof v->remedy_key, "%s", key);
}

void
verdict_flag(struct verdict *v, const char *flag)
{
	if (v->remedy_key[0] != '\0')
		snprintf(v->remedy_flag, sizeof v->remedy_flag, "%s", flag);
}
