#include "policy/verdict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "platform/base/str.h"
#include "policy/keys.h"

/* Field by field: the struct is large and answers are wanted fast. */
static void
verdict_begin(struct verdict *v, enum action action, struct rule rule)
{
	v->action = action;
	v->via_upstream = false;
	v->rule = rule;
	v->reason[0] = '\0';
	v->remedy.kind = REMEDY_NONE;
	v->remedy.has_flag = false;
	v->remedy.key = 0;
	v->remedy.number = 0;
	v->remedy.value[0] = '\0';
}

void
verdict_entry(struct verdict *v, enum action action, size_t key,
    const struct strlist *list, size_t i)
{
	verdict_begin(v, action, (struct rule){ .id = RULE_ENTRY, .key = key,
	    .index = i, .text = list->v[i].text, .at = list->v[i].at });
}

void
verdict_default(struct verdict *v, enum action action, size_t key,
    const struct strlist *list)
{
	verdict_begin(v, action, (struct rule){ .id = RULE_NO_ENTRY,
	    .key = key, .at = list->at });
	verdict_reason(v, "no entry of %s matches", keys_name(key));
}

void
verdict_key(struct verdict *v, enum action action, size_t key,
    struct origin at)
{
	verdict_begin(v, action, (struct rule){ .id = RULE_KEY, .key = key,
	    .at = at });
}

void
verdict_rule(struct verdict *v, enum action action, enum rule_id id,
    const char *text, struct origin at)
{
	verdict_begin(v, action, (struct rule){ .id = id, .text = text,
	    .at = at });
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
verdict_remedy(struct verdict *v, enum remedy_kind kind, size_t key,
    const char *value)
{
	size_t len = value != NULL ? strlen(value) : 0;

	if (len >= sizeof v->remedy.value)
		return;
	if (len > 0)
		memcpy(v->remedy.value, value, len);
	v->remedy.value[len] = '\0';
	v->remedy.kind = kind;
	v->remedy.key = key;
}

void
verdict_remedy_path(struct verdict *v, size_t key, const char *home,
    const char *path)
{
	static const char special[] = "\\*?[${";
	size_t n = home != NULL ? strlen(home) : 0;
	char *to = v->remedy.value, *end = to + sizeof v->remedy.value - 1;

	/* By hand: a start asks about some hundred names. */
	if (n > 1 && str_path_below(path, home)) {
		*to++ = '~';
		path += n;
	}
	while (*path != '\0') {
		n = strcspn(path, special);
		if (n + 2 > (size_t)(end - to)) {
			v->remedy.value[0] = '\0';
			return;
		}
		memcpy(to, path, n);
		to += n;
		path += n;
		if (*path != '\0') {
			*to++ = '\\';
			*to++ = *path++;
		}
	}
	*to = '\0';
	v->remedy.kind = REMEDY_ADD;
	v->remedy.key = key;
}

void
verdict_remedy_number(struct verdict *v, enum remedy_kind kind, size_t key,
    unsigned number)
{
	verdict_remedy(v, kind, key, NULL);
	v->remedy.number = number;
}

void
verdict_flag(struct verdict *v)
{
	v->remedy.has_flag = v->remedy.kind != REMEDY_NONE;
}
