#include "policy/load.h"

#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "policy/check.h"
#include "policy/proxyurl.h"

/* A key or section that was read, as the table spells it. */
struct load_seen {
	char		name[LOAD_NAME_BYTES];
	struct origin	at;
};

/* A list while it grows. */
struct load_list {
	struct { struct entry *v; size_t n, cap; } entries, without;
};

void
load_init(struct load *l, struct policy *p, const struct policy_env *env,
    struct errlist *errs)
{
	*l = (struct load){ .policy = p, .env = env, .errs = errs };
	l->lists = xcalloc(policy_nkeys, sizeof *l->lists);
	load_place(l, "", (struct origin){ p->name, 1, 1, p->kind });
}

static void *
keep(struct arena *a, const void *v, size_t bytes)
{
	void *p = arena_alloc(a, bytes);

	if (bytes != 0)
		memcpy(p, v, bytes);
	return p;
}

static void
finish_list(struct load *l, size_t row)
{
	struct strlist *list = keys_strlist(&policy_keys[row], l->policy);
	struct load_list *ll = &l->lists[row];
	struct arena *a = l->policy->arena;

	if (list != NULL) {
		list->n = ll->entries.n;
		list->v = keep(a, ll->entries.v, list->n * sizeof *list->v);
		list->nwithout = ll->without.n;
		list->without = keep(a, ll->without.v,
		    list->nwithout * sizeof *list->without);
	}
	vec_release(&ll->entries);
	vec_release(&ll->without);
}

int
load_finish(struct load *l)
{
	struct policy *p = l->policy;

	for (size_t i = 0; i < policy_nkeys; i++)
		finish_list(l, i);
	free(l->lists);
	p->nwarnings = l->warnings.n;
	p->warnings = keep(p->arena, l->warnings.v,
	    p->nwarnings * sizeof *p->warnings);
	vec_release(&l->seen);
	vec_release(&l->warnings);
	return l->errs->n == 0 ? 0 : -1;
}

void
load_report(struct load *l, struct origin at, const char *key, struct err *e)
{
	err_where(e, at.file, at.line, at.col);
	err_key(e, "%s", key);
	if (l->errs->n < sizeof l->errs->v / sizeof *l->errs->v)
		l->errs->v[l->errs->n++] = *e;
	else
		l->errs->unlisted++;
}

void
load_place(struct load *l, const char *section, struct origin at)
{
	size_t n = strlen(section);

	for (size_t i = 0; i < policy_nkeys; i++) {
		const struct key *key = &policy_keys[i];
		struct strlist *list = keys_strlist(key, l->policy);

		if (list != NULL && !list->is_set &&
		    strncmp(key->name, section, n) == 0 &&
		    (n == 0 || key->name[n] == '.'))
			list->at = at;
	}
}

/* ---- names ---- */

static struct load_seen *
find_seen(struct load *l, const char *name)
{
	for (size_t i = 0; i < l->seen.n; i++)
		if (strcmp(l->seen.v[i].name, name) == 0)
			return &l->seen.v[i];
	return NULL;
}

static void
report_unknown(struct load *l, struct origin at, const char *name)
{
	struct err e;

	if (l->env->ignore_unknown) {
		*vec_push(&l->warnings) = arena_printf(l->policy->arena,
		    "%s:%d:%d: unknown key '%s' is ignored", at.file, at.line,
		    at.col, name);
		return;
	}
	err_set(&e, ERR_POLICY, "unknown key");
	if (l->errs->n < sizeof l->errs->v / sizeof *l->errs->v)
		keys_hint(name, &e);	/* costs most of the time */
	load_report(l, at, name, &e);
}

static void
report_twice(struct load *l, struct origin at, const struct load_seen *before)
{
	struct err e;

	err_set(&e, ERR_POLICY, "written twice");
	err_hint(&e, "the first is in line %d, column %d", before->at.line,
	    before->at.col);
	load_report(l, at, before->name, &e);
}

/* A full name; *ret_key as keys_find(). */
static enum key_status
see(struct load *l, const char *full, struct origin at, bool is_again_fine,
    const struct key **ret_key, char spelling[LOAD_NAME_BYTES])
{
	enum key_status status = keys_find(full, ret_key, spelling,
	    LOAD_NAME_BYTES);
	struct load_seen *seen;

	if (status == KEY_UNKNOWN) {
		report_unknown(l, at, full);
		return status;
	}
	seen = find_seen(l, spelling);
	if (seen != NULL && !is_again_fine) {
		report_twice(l, at, seen);
		return KEY_UNKNOWN;
	}
	if (seen == NULL) {
		if (strcmp(full, spelling) != 0)
			*vec_push(&l->warnings) = arena_printf(
			    l->policy->arena,
			    "%s:%d:%d: '%s' is taken as '%s'", at.file,
			    at.line, at.col, full, spelling);
		seen = vec_push(&l->seen);
		memcpy(seen->name, spelling, sizeof seen->name);
		seen->at = at;
	}
	return status;
}

enum key_status
load_name(struct load *l, const char *section, const char *name,
    struct origin at, bool is_again_fine, const struct key **ret_key,
    char spelling[LOAD_NAME_BYTES])
{
	char full[LOAD_NAME_BYTES];

	/* A dot inside of a key is no way into a section. */
	if (snprintf(full, sizeof full, "%s%s%s", section,
	    *section != '\0' ? "." : "", name) >= LOAD_NAME_BYTES ||
	    strchr(name, '.') != NULL) {
		report_unknown(l, at, full);
		return KEY_UNKNOWN;
	}
	return see(l, full, at, is_again_fine, ret_key, spelling);
}

enum key_status
load_section(struct load *l, const char *name, struct origin at,
    const struct key **ret_key, char spelling[LOAD_NAME_BYTES])
{
	enum key_status status = see(l, name, at, false, ret_key, spelling);

	if (status == KEY_SECTION)
		load_place(l, spelling, at);
	return status;
}

/* ---- values ---- */

static struct load_list *
list_of(struct load *l, const struct key *key)
{
	return &l->lists[key - policy_keys];
}

void
load_list_begin(struct load *l, const struct key *key, struct origin at)
{
	struct strlist *list = keys_strlist(key, l->policy);

	list->at = at;
	list->is_set = true;
}

void
load_wrong_type(struct load *l, const struct key *key, struct origin at,
    const char *found)
{
	static const char *const wanted[] = {
		[KEY_IGNORED] = "a string",
		[KEY_STRLIST] = "a list of strings",
		[KEY_INTLIST] = "a list of numbers",
		[KEY_STRMAP] = "an object of strings",
		[KEY_BOOL] = "true or false",
		[KEY_TRISTATE] = "true, false or null",
		[KEY_INT] = "a number", [KEY_SIZE] = "a size such as \"2G\"",
		[KEY_DURATION] = "a duration such as \"30m\"",
		[KEY_ENUM] = "a string", [KEY_STRING] = "a string",
	};
	struct err e;

	err_set(&e, ERR_POLICY, "expected %s, found %s", key->may_be_lone ?
	    "a string or a list of strings" : wanted[key->type], found);
	load_report(l, at, key->name, &e);
}

static int
parse_number(const struct key *key, const char *text, uint64_t *ret,
    struct err *e)
{
	if (str_to_u64(str_of(text), key->max, ret) == 0 &&
	    *ret >= key->min)
		return 0;
	err_set(e, ERR_POLICY, "'%.40s' is not a number from %llu to %llu",
	    text, (unsigned long long)key->min, (unsigned long long)key->max);
	return -1;
}

/* "!x" without its '!'; false: an entry like others. */
static bool
is_removal(const struct key *key, struct entry *entry)
{
	const char **text = key->type == KEY_STRMAP ? &entry->name :
	    &entry->text;

	if (key->may_be_lone || **text != '!')
		return false;
	++*text;
	return true;
}

static int
check_entry(struct load *l, const struct key *key, struct entry *entry,
    bool is_number, bool is_without, struct err *e)
{
	const char *text = key->type == KEY_STRMAP ? entry->name :
	    entry->text;

	if (is_without && (text[0] == '\0' || text[0] == '!')) {
		err_set(e, ERR_POLICY, "'!' with nothing to take away");
		err_hint(e, "'!x' takes x out of an inherited list");
		return -1;
	}
	if (is_without && key->type == KEY_STRMAP && entry->text[0] != '\0')
		return err_set(e, ERR_POLICY, "'!%.60s' takes a variable "
		    "away and has no value", entry->name);
	if (key->type != KEY_INTLIST)
		return key->check(l->policy, l->env, entry, e);
	if (!is_number && !is_without) {
		err_set(e, ERR_POLICY, "expected a number, found a string");
		return -1;
	}
	return parse_number(key, entry->text, &entry->number, e);
}

void
load_entry(struct load *l, const struct key *key, const char *name,
    const char *text, bool is_number, struct origin at)
{
	struct load_list *ll = list_of(l, key);
	struct arena *a = l->policy->arena;
	struct entry entry = { .text = arena_strdup(a, text), .at = at,
	    .name = name != NULL ? arena_strdup(a, name) : NULL };
	bool is_without = is_removal(key, &entry);
	char shown[LOAD_NAME_BYTES + 24];
	struct err e;

	if (check_entry(l, key, &entry, is_number, is_without, &e) == 0) {
		if (is_without)
			*vec_push(&ll->without) = entry;
		else
			*vec_push(&ll->entries) = entry;
		return;
	}
	if (name != NULL)
		snprintf(shown, sizeof shown, "%s.%.24s", key->name, name);
	else
		snprintf(shown, sizeof shown, "%s[%zu]", key->name,
		    ll->entries.n + ll->without.n);
	load_report(l, at, shown, &e);
}

bool
load_has_name(const struct load *l, const struct key *key, const char *name)
{
	const struct load_list *ll = &l->lists[key - policy_keys];
	bool is_without = name[0] == '!';
	const struct entry *v = is_without ? ll->without.v : ll->entries.v;
	size_t n = is_without ? ll->without.n : ll->entries.n;

	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].name, name + is_without) == 0)
			return true;
	return false;
}

void
load_bool(struct load *l, const struct key *key, bool value, struct origin at)
{
	void *field = keys_field(key, l->policy);

	if (key->type == KEY_BOOL)
		*(struct flag *)field = (struct flag){ value, true, at };
	else if (key->type == KEY_TRISTATE)
		*(struct tristate *)field = (struct tristate){
		    value ? TRI_TRUE : TRI_FALSE, true, at };
	else
		load_wrong_type(l, key, at, value ? "true" : "false");
}

void
load_null(struct load *l, const struct key *key, struct origin at)
{
	if (key->type == KEY_TRISTATE)
		*(struct tristate *)keys_field(key, l->policy) =
		    (struct tristate){ TRI_AUTO, true, at };
	else
		load_wrong_type(l, key, at, "null");
}

void
load_number(struct load *l, const struct key *key, const char *text,
    struct origin at)
{
	struct number *n = keys_field(key, l->policy);
	uint64_t value;
	struct err e;

	if (key->type != KEY_INT) {
		load_wrong_type(l, key, at, "a number");
	} else if (parse_number(key, text, &value, &e) != 0) {
		load_report(l, at, key->name, &e);
	} else {
		*n = (struct number){ value,
		    arena_strdup(l->policy->arena, text), true, at };
	}
}

static int
store_word(struct load *l, const struct key *key, const char *text,
    struct origin at, struct err *e)
{
	for (int i = 0; key->words[i] != NULL; i++)
		if (strcmp(key->words[i], text) == 0) {
			*(struct choice *)keys_field(key, l->policy) =
			    (struct choice){ i, true, at };
			return 0;
		}
	err_set(e, ERR_POLICY, "'%.60s' is not a value of this key", text);
	keys_word_hint(key, text, e);
	return -1;
}

static int
store_amount(struct load *l, const struct key *key, const char *text,
    struct origin at, struct err *e)
{
	struct number *n = keys_field(key, l->policy);
	uint64_t value;

	if ((key->type == KEY_SIZE ? check_size(text, &value, e) :
	    check_duration(text, &value, e)) != 0)
		return -1;
	*n = (struct number){ value, arena_strdup(l->policy->arena, text),
	    true, at };
	return 0;
}

static int
store_string(struct load *l, const struct key *key, const char *text,
    struct origin at, struct err *e)
{
	struct entry entry = { .text = text, .at = at };
	struct arena *a = l->policy->arena;

	if (key->check(l->policy, l->env, &entry, e) != 0)
		return -1;
	text = arena_strdup(a, text);
	*(struct string *)keys_field(key, l->policy) = (struct string){
	    text, proxyurl_shown(a, text), true, at };
	return 0;
}

void
load_string(struct load *l, const struct key *key, const char *text,
    struct origin at)
{
	struct err e;
	int rv = 0;

	switch (key->type) {
	case KEY_IGNORED:
		break;
	case KEY_ENUM:
		rv = store_word(l, key, text, at, &e);
		break;
	case KEY_SIZE:
	case KEY_DURATION:
		rv = store_amount(l, key, text, at, &e);
		break;
	case KEY_STRING:
		rv = store_string(l, key, text, at, &e);
		break;
	default:
		load_wrong_type(l, key, at, "a string");
		break;
	}
	if (rv != 0)
		load_report(l, at, key->name, &e);
}
