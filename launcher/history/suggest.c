#include "launcher/history/suggest.h"

#include <string.h>

#include "platform/base/json.h"
#include "platform/base/jsonedit.h"
#include "platform/base/vec.h"
#include "policy/keys.h"

enum { NAMES = 4 };		/* parts of a key's name */

/* A value in parentheses is an instruction, and no entry. */
static bool
is_entry(const struct record *r, const struct key **ret)
{
	static const char broken[] = "\xef\xbf\xbd";	/* was no UTF-8 */
	char spelling[96];

	return r->kind == RECORD_REFUSAL && r->value[0] != '\0' &&
	    r->value[0] != '(' && strstr(r->value, broken) == NULL &&
	    keys_find(r->key, ret, spelling, sizeof spelling) == KEY_FOUND &&
	    ((*ret)->type == KEY_STRLIST || ((*ret)->type == KEY_INTLIST &&
	    strspn(r->value, "0123456789") == strlen(r->value)));
}

static struct suggest_entry *
find(const struct suggest *s, const char *key, const char *value)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i].key, key) == 0 &&
		    strcmp(s->v[i].value, value) == 0)
			return &s->v[i];
	return NULL;
}

void
suggest_find(const struct history *h, struct suggest *s)
{
	*s = (struct suggest){ 0 };
	for (size_t i = 0; i < h->n; i++) {
		const struct record *r = &h->v[i];
		struct suggest_entry *entry;
		const struct key *key;

		if (!is_entry(r, &key)) {
			s->without += r->kind == RECORD_REFUSAL ? r->count : 0;
			continue;
		}
		entry = find(s, key->name, r->value);
		if (entry == NULL && s->n == SUGGEST_ENTRIES) {
			s->left_out += r->count;
			continue;
		}
		if (entry == NULL) {
			entry = vec_push(s);
			*entry = (struct suggest_entry){ .key = key->name,
			    .value = r->value, .is_claim = true,
			    .is_number = key->type == KEY_INTLIST };
		}
		entry->count += r->count;
		entry->is_claim = entry->is_claim && r->is_claim;
	}
}

/* "network.allowedDomains" as { "network", "allowedDomains", NULL }. */
static void
split(struct arena *a, const char *key, const char *names[NAMES + 1])
{
	size_t n = 0;

	while (n < NAMES && *key != '\0') {
		size_t len = strcspn(key, ".");

		names[n++] = arena_strndup(a, key, len);
		key += len + (key[len] == '.');
	}
	names[n] = NULL;
}

static bool
has_entry(const struct jnode *root, const char *const names[],
    const struct suggest_entry *s)
{
	const struct jnode *n = root;

	for (size_t i = 0; names[i] != NULL; i++)
		n = jsontree_get(n, names[i]);
	if (n == NULL || n->kind != JSON_ARRAY)
		return false;
	for (n = n->child; n != NULL; n = n->next)
		if ((n->kind == JSON_STRING || n->kind == JSON_NUMBER) &&
		    strcmp(n->text, s->value) == 0)
			return true;
	return false;
}

int
suggest_apply(struct arena *a, const struct suggest *s, const char *shown,
    const char *text, size_t len, struct buf *ret, struct err *e)
{
	struct jsonedit j;
	struct buf value;
	int rc = jsonedit_init(&j, a, shown, text, len, e);

	buf_init(&value, 0);
	for (size_t i = 0; rc == 0 && i < s->n; i++) {
		const char *names[NAMES + 1];

		split(a, s->v[i].key, names);
		if (has_entry(j.root, names, &s->v[i]))
			continue;
		buf_clear(&value);
		if (s->v[i].is_number)
			buf_puts(&value, s->v[i].value);
		else
			json_put_string(&value, s->v[i].value,
			    strlen(s->v[i].value));
		rc = jsonedit_append(&j, names, arena_strdup(a, value.data),
		    e);
	}
	buf_release(&value);
	if (rc == 0)
		buf_add(ret, j.text, j.len);
	return rc;
}

void
suggest_put_claims(struct buf *b, const struct suggest *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (!s->v[i].is_claim)
			continue;
		buf_printf(b, "# only a process inside said that it was "
		    "refused: %s += ", s->v[i].key);
		json_put_string(b, s->v[i].value, strlen(s->v[i].value));
		buf_putc(b, '\n');
	}
}

void
history_put_policy(struct buf *b, const struct history *h)
{
	struct arena *a = arena_new();
	struct err ignored = { 0 };
	struct suggest s;
	struct buf text;
	uint64_t claims = 0;

	buf_init(&text, 0);
	suggest_find(h, &s);
	for (size_t i = 0; i < s.n; i++)
		claims += s.v[i].is_claim;
	if (s.n > 0 && suggest_apply(a, &s, "", "{}\n", 3, &text,
	    &ignored) == 0) {
		buf_puts(b, "// lines that would allow it; keep what you "
		    "want\n");
		if (claims > 0)
			buf_printf(b, "// %llu of %zu rest on what processes "
			    "inside said of themselves\n",
			    (unsigned long long)claims, s.n);
		if (s.without > 0)
			buf_printf(b, "// no line can be added for %llu "
			    "refusals: --by time says what helps\n",
			    (unsigned long long)s.without);
		buf_puts(b, text.data);
	}
	vec_release(&s);
	buf_release(&text);
	arena_free(a);
}
