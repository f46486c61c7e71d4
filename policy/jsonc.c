#include "policy/jsonc.h"

#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/json.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "policy/keys.h"

enum { NAME_BYTES = 96 };	/* of a dotted name; longer ones are unknown */

/* A key or section that was read, as the table spells it. */
struct seen {
	char		name[NAME_BYTES];
	struct origin	at;
};

struct reader {
	struct policy			*policy;
	const struct policy_env		*env;
	struct json_reader		 json;
	struct json_token		 tok;
	struct { struct seen *v; size_t n, cap; } seen;
	struct { struct entry *v; size_t n, cap; } entries;
	struct { const char **v; size_t n, cap; } warnings;
};

static struct origin
here(const struct reader *r)
{
	return (struct origin){ r->policy->name, r->tok.line, r->tok.col };
}

/* Adds place and key to an error that is set. */
static int
fail_at(struct origin at, const char *key, struct err *e)
{
	err_where(e, at.file, at.line, at.col);
	err_key(e, "%s", key);
	return -1;
}

/* A syntax error inside of a key says which. */
static int
next(struct reader *r, const char *key, struct err *e)
{
	if (json_next(&r->json, &r->tok, e) == 0)
		return 0;
	err_key(e, "%s", key);
	return -1;
}

static int
wrong_type(struct reader *r, const char *key, const char *wanted,
    struct err *e)
{
	err_set(e, ERR_POLICY, "expected %s, found %s", wanted,
	    json_kind_name(r->tok.kind));
	return fail_at(here(r), key, e);
}

static const struct seen *
find_seen(const struct reader *r, const char *name)
{
	for (size_t i = 0; i < r->seen.n; i++)
		if (strcmp(r->seen.v[i].name, name) == 0)
			return &r->seen.v[i];
	return NULL;
}

static int
refuse_twice(struct origin at, const struct seen *before, struct err *e)
{
	err_set(e, ERR_POLICY, "written twice");
	err_hint(e, "the first is in line %d, column %d", before->at.line,
	    before->at.col);
	return fail_at(at, before->name, e);
}

/* One string of a list, or -1. */
static int
read_entry(struct reader *r, const struct key *key, struct err *e)
{
	struct entry entry = { .at = here(r) };
	char name[NAME_BYTES + 24];

	snprintf(name, sizeof name, "%s[%zu]", key->name, r->entries.n);
	if (r->tok.kind != JSON_STRING)
		return wrong_type(r, name, "a string", e);
	entry.text = arena_strndup(r->policy->arena, r->tok.text, r->tok.len);
	if (key->check(r->policy, r->env, &entry, e) != 0)
		return fail_at(entry.at, name, e);
	*vec_push(&r->entries) = entry;
	return 0;
}

static int
read_strlist(struct reader *r, const struct key *key, struct err *e)
{
	struct strlist *list = keys_strlist(key, r->policy);
	size_t bytes;

	if (r->tok.kind != JSON_ARRAY)
		return wrong_type(r, key->name, "a list of strings", e);
	list->at = here(r);
	list->is_set = true;
	r->entries.n = 0;
	for (;;) {
		if (next(r, key->name, e) != 0)
			return -1;
		if (r->tok.kind == JSON_ARRAY_END)
			break;
		if (read_entry(r, key, e) != 0)
			return -1;
	}
	bytes = r->entries.n * sizeof *list->v;
	list->v = arena_alloc(r->policy->arena, bytes);
	list->n = r->entries.n;
	if (bytes != 0)
		memcpy(list->v, r->entries.v, bytes);
	return 0;
}

static int
read_value(struct reader *r, const struct key *key, struct err *e)
{
	switch (key->type) {
	case KEY_STRLIST:
		return read_strlist(r, key, e);
	case KEY_IGNORED:
		break;
	}
	if (r->tok.kind != JSON_STRING)
		return wrong_type(r, key->name, "a string", e);
	return 0;
}

static int	 read_section(struct reader *, const char *, struct err *);

static void
warn_case(struct reader *r, struct origin at, const char *name,
    const char *spelling)
{
	if (strcmp(name, spelling) != 0)
		*vec_push(&r->warnings) = arena_printf(r->policy->arena,
		    "%s:%d:%d: '%s' is taken as '%s'", at.file, at.line,
		    at.col, name, spelling);
}

/* The token is a key of `section`; reads it with its value. */
static int
read_member(struct reader *r, const char *section, struct err *e)
{
	char name[NAME_BYTES], spelling[NAME_BYTES];
	struct origin at = here(r);
	const struct key *key = NULL;
	enum key_status status;
	const struct seen *before;
	struct seen *seen;

	/* A dot inside of a key is no way into a section. */
	status = snprintf(name, sizeof name, "%s%s%s", section,
	    *section != '\0' ? "." : "", r->tok.text) >= NAME_BYTES ||
	    strchr(r->tok.text, '.') != NULL ? KEY_UNKNOWN :
	    keys_find(name, &key, spelling, sizeof spelling);
	if (status == KEY_UNKNOWN) {
		err_set(e, ERR_POLICY, "unknown key");
		keys_hint(name, e);
		return fail_at(at, name, e);
	}
	if (status == KEY_NOT_BUILT) {
		err_set(e, ERR_POLICY, "not in this version");
		return fail_at(at, spelling, e);
	}
	warn_case(r, at, name, spelling);
	if ((before = find_seen(r, spelling)) != NULL)
		return refuse_twice(at, before, e);
	if (next(r, spelling, e) != 0)
		return -1;
	seen = vec_push(&r->seen);
	memcpy(seen->name, spelling, sizeof seen->name);
	seen->at = at;
	return key != NULL ? read_value(r, key, e) :
	    read_section(r, spelling, e);
}

/* Lists that are not written point at what would hold them. */
static void
place_lists(struct reader *r, const char *section)
{
	size_t n = strlen(section);

	for (size_t i = 0; i < policy_nkeys; i++) {
		const struct key *key = &policy_keys[i];

		if (key->type == KEY_STRLIST &&
		    strncmp(key->name, section, n) == 0 &&
		    (n == 0 || key->name[n] == '.'))
			keys_strlist(key, r->policy)->at = here(r);
	}
}

/* The token is the value; sections nest no deeper than the table's names. */
static int
read_section(struct reader *r, const char *section, struct err *e)
{
	if (r->tok.kind != JSON_OBJECT)
		return wrong_type(r, section, "an object", e);
	if (section[0] != '\0')
		place_lists(r, section);
	for (;;) {
		if (next(r, section, e) != 0)
			return -1;
		if (r->tok.kind == JSON_OBJECT_END)
			return 0;
		if (read_member(r, section, e) != 0)
			return -1;
	}
}

static int
read_file(struct reader *r, struct err *e)
{
	if (next(r, "", e) != 0)
		return -1;
	if (r->tok.kind == JSON_END) {
		err_set(e, ERR_POLICY, "the file says nothing");
		err_hint(e, "'{}' is a policy: nothing may be written, no "
		    "host reached");
		return fail_at(here(r), "", e);
	}
	if (read_section(r, "", e) != 0)
		return -1;
	return next(r, "", e);	/* nothing may follow */
}

static void
keep_warnings(struct reader *r)
{
	struct policy *p = r->policy;
	size_t bytes = r->warnings.n * sizeof *p->warnings;

	p->nwarnings = r->warnings.n;
	p->warnings = arena_alloc(p->arena, bytes);
	if (bytes != 0)
		memcpy(p->warnings, r->warnings.v, bytes);
}

int
jsonc_read(struct policy *p, const char *text, size_t len,
    const struct policy_env *env, struct err *e)
{
	struct reader r = { .policy = p, .env = env,
	    .tok = { .line = 1, .col = 1 } };
	int rv;

	json_init(&r.json, p->name, text, len, POLICY_MAX_BYTES);
	place_lists(&r, "");
	rv = read_file(&r, e);
	if (rv == 0)
		keep_warnings(&r);
	json_release(&r.json);
	vec_release(&r.seen);
	vec_release(&r.entries);
	vec_release(&r.warnings);
	return rv;
}
