/* exec_rows: policies and lines for the tests of command rules. */
#ifndef FENCE_TESTS_EXEC_ROWS_H
#define FENCE_TESTS_EXEC_ROWS_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "platform/base/buf.h"
#include "platform/base/json.h"
#include "policy/decide_exec.h"
#include "policy/keys.h"
#include "policy/layers.h"
#include "verdict_words.h"

#define N_OF(a)		(sizeof (a) / sizeof *(a))

static const struct policy_env exec_env = { .workspace = "/ws",
    .home = "/home/u" };

static inline struct policy *
exec_policy_of(const char *text)
{
	struct policy *p = NULL;
	struct err e = { 0 };

	if (policy_parse(text, strlen(text), "F", &exec_env, &p, &e) != 0)
		fail_msg("%s: %s: %s", text, e.key, e.msg);
	return p;
}

static inline void
exec_ask(const struct policy *p, const char *line,
    const struct exec_world *world, struct exec_verdict *v)
{
	decide_line(p, line, strlen(line), world, v);
}

/* The text of a policy with one entry more, or one value set. */
static inline char *
exec_with_remedy(const char *text, const struct remedy *r)
{
	const char *key = keys_name(r->key), *dot = strrchr(key, '.') + 1;
	struct policy *p = exec_policy_of(text);
	const struct strlist *l = (const void *)((const char *)p + r->key);
	char section[64];
	struct buf b;

	snprintf(section, sizeof section, "%.*s", (int)(dot - key - 1), key);
	buf_init(&b, 0);
	/* A later key of the same name would be an error: merge by hand. */
	buf_printf(&b, "{\"extends\":[],\"%s\":{", section);
	for (size_t i = 0; i < policy_nkeys; i++) {
		const struct key *k = &policy_keys[i];
		size_t n = strlen(section);
		const struct strlist *list = keys_cstrlist(k, p);
		const char *field = (const char *)p + k->offset;

		if (strncmp(k->name, section, n) != 0 || k->name[n] != '.')
			continue;
		if (k->offset == r->key && r->kind == REMEDY_SET) {
			buf_printf(&b, "\"%s\":%s,", k->name + n + 1,
			    r->value);
		} else if (list != NULL) {
			buf_printf(&b, "\"%s\":[", k->name + n + 1);
			for (size_t e = 0; e < list->n; e++) {
				if (list == l && r->kind == REMEDY_REMOVE &&
				    strcmp(list->v[e].text, r->value) == 0)
					continue;
				json_put_string(&b, list->v[e].text,
				    strlen(list->v[e].text));
				buf_putc(&b, ',');
			}
			if (list == l && r->kind == REMEDY_ADD)
				json_put_string(&b, r->value,
				    strlen(r->value));
			buf_puts(&b, "],");
		} else if (k->type == KEY_BOOL) {
			buf_printf(&b, "\"%s\":%s,", k->name + n + 1,
			    ((const struct flag *)field)->value ? "true" :
			    "false");
		} else if (k->type == KEY_TRISTATE &&
		    ((const struct tristate *)field)->is_set) {
			buf_printf(&b, "\"%s\":%s,", k->name + n + 1,
			    ((const struct tristate *)field)->value ==
			    TRI_FALSE ? "false" : "true");
		} else if (k->type == KEY_ENUM) {
			const struct choice *c = (const void *)field;

			buf_printf(&b, "\"%s\":\"%s\",", k->name + n + 1,
			    k->words[c->value]);
		}
	}
	buf_puts(&b, "}");
	/* The other of the two sections stays as it is. */
	for (const char *other = strcmp(section, "ssh") == 0 ? "\"command\"" :
	    "\"ssh\"", *at = strstr(text, other); at != NULL; at = NULL) {
		size_t depth = 0, n = strcspn(at, "{");

		do {
			depth += at[n] == '{' ? 1 : at[n] == '}' ?
			    (size_t)-1 : 0;
			n++;
		} while (depth > 0);
		buf_putc(&b, ',');
		buf_add(&b, at, n);
	}
	buf_puts(&b, "}");
	policy_free(p);
	return b.data;
}

/*
 * What was refused is permitted once the remedy is followed; a line that two
 * rules refuse has a remedy for each in turn.
 */
static inline void
exec_check_remedy(const char *policy, const char *line,
    const struct exec_world *world, const struct exec_verdict *refusal)
{
	struct exec_verdict v = *refusal;
	char *text = strdup(policy), *next;

	for (int i = 0; i < 3 && v.v.action == ACTION_DENY; i++) {
		struct policy *p;

		if (v.v.remedy.kind == REMEDY_NONE)
			fail_msg("%s: no remedy", line);
		next = exec_with_remedy(text, &v.v.remedy);
		free(text);
		text = next;
		p = exec_policy_of(text);
		exec_ask(p, line, world, &v);
		policy_free(p);
	}
	if (v.v.action != ACTION_ALLOW)
		fail_msg("%s: still refused with %s", line, text);
	free(text);
}

struct exec_row {
	const char	*line;
	const char	*rule;		/* text of the rule that denies, or NULL */
};

/* Each line against the policy; and the remedy of each refusal. */
static inline void
exec_check_rows(const char *policy, const struct exec_world *world,
    const struct exec_row *rows, size_t n)
{
	struct policy *p = exec_policy_of(policy);

	for (size_t i = 0; i < n; i++) {
		struct exec_verdict v;
		const char *text;

		exec_ask(p, rows[i].line, world, &v);
		text = v.v.rule.text != NULL ? v.v.rule.text :
		    rule_words(&v.v);
		if (v.v.action != (rows[i].rule != NULL ? ACTION_DENY :
		    ACTION_ALLOW))
			fail_msg("'%s': %s by %s (%s), %s wanted", rows[i].line,
			    v.v.action == ACTION_DENY ? "denied" : "allowed",
			    text, v.command, rows[i].rule != NULL ?
			    rows[i].rule : "allowed");
		if (rows[i].rule == NULL)
			continue;
		if (strcmp(text, rows[i].rule) != 0)
			fail_msg("'%s': '%s' spoke, not '%s'", rows[i].line,
			    text, rows[i].rule);
		exec_check_remedy(policy, rows[i].line, world, &v);
	}
	policy_free(p);
}

#endif
