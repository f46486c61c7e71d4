#include "policy/jsonc.h"

#include <string.h>

#include "platform/base/json.h"

struct reader {
	struct load		*load;
	struct json_reader	 json;
	struct json_token	 tok;
};

static struct origin
here(const struct reader *r)
{
	return (struct origin){ r->load->policy->name, r->tok.line,
	    r->tok.col, r->load->policy->kind };
}

/* A syntax error inside of a key says which; nothing follows it. */
static int
next(struct reader *r, const char *key)
{
	struct err e;

	if (json_next(&r->json, &r->tok, &e) == 0)
		return 0;
	err_key(&e, "%s", key);
	if (r->load->errs->n < sizeof r->load->errs->v / sizeof e)
		r->load->errs->v[r->load->errs->n++] = e;
	else
		r->load->errs->unlisted++;
	return -1;
}

static void
wrong_type(struct reader *r, const char *key, const char *wanted)
{
	struct err e;

	err_set(&e, ERR_POLICY, "expected %s, found %s", wanted,
	    json_kind_name(r->tok.kind));
	load_report(r->load, here(r), key, &e);
}

/* The token begins a value; steps over the rest of it. */
static int
skip_value(struct reader *r, const char *key)
{
	unsigned depth = 0;

	for (;;) {
		depth += r->tok.kind == JSON_OBJECT ||
		    r->tok.kind == JSON_ARRAY;
		depth -= r->tok.kind == JSON_OBJECT_END ||
		    r->tok.kind == JSON_ARRAY_END;
		if (depth == 0)
			return 0;
		if (next(r, key) != 0)
			return -1;
	}
}

static int
read_item(struct reader *r, const struct key *key, size_t i)
{
	bool is_number = key->type == KEY_INTLIST &&
	    r->tok.kind == JSON_NUMBER;
	char name[LOAD_NAME_BYTES + 24];

	if (r->tok.kind == JSON_STRING || is_number) {
		load_entry(r->load, key, NULL, r->tok.text, is_number,
		    here(r));
		return 0;
	}
	snprintf(name, sizeof name, "%s[%zu]", key->name, i);
	wrong_type(r, name, key->type == KEY_INTLIST ? "a number" :
	    "a string");
	return skip_value(r, key->name);
}

static int
read_list(struct reader *r, const struct key *key)
{
	load_list_begin(r->load, key, here(r));
	if (r->tok.kind == JSON_STRING) {	/* a lone one */
		load_entry(r->load, key, NULL, r->tok.text, false, here(r));
		return 0;
	}
	for (size_t i = 0;; i++) {
		if (next(r, key->name) != 0)
			return -1;
		if (r->tok.kind == JSON_ARRAY_END)
			return 0;
		if (read_item(r, key, i) != 0)
			return -1;
	}
}

/* The token is the name. */
static bool
check_map_name(struct reader *r, const struct key *key, size_t n)
{
	struct err e;

	if (n >= LOAD_MAP_MAX)
		err_set(&e, ERR_POLICY, "has more than %d names",
		    LOAD_MAP_MAX);
	else if (r->tok.len >= LOAD_NAME_BYTES)
		err_set(&e, ERR_POLICY, "name is longer than %d bytes",
		    LOAD_NAME_BYTES - 1);
	else if (load_has_name(r->load, key, r->tok.text))
		err_set(&e, ERR_POLICY, "'%.60s' is written twice",
		    r->tok.text);
	else
		return true;
	load_report(r->load, here(r), key->name, &e);
	return false;
}

static int
read_map(struct reader *r, const struct key *key)
{
	char name[LOAD_NAME_BYTES];
	struct origin at;
	bool is_fine;

	load_list_begin(r->load, key, here(r));
	for (size_t n = 0;; n++) {
		if (next(r, key->name) != 0)
			return -1;
		if (r->tok.kind == JSON_OBJECT_END)
			return 0;
		is_fine = check_map_name(r, key, n);
		at = here(r);
		snprintf(name, sizeof name, "%s", r->tok.text);
		if (next(r, key->name) != 0)
			return -1;
		if (r->tok.kind == JSON_STRING && is_fine)
			load_entry(r->load, key, name, r->tok.text, false, at);
		else if (r->tok.kind != JSON_STRING)
			wrong_type(r, key->name, "a string");
		if (skip_value(r, key->name) != 0)
			return -1;
	}
}

static int
read_value(struct reader *r, const struct key *key)
{
	bool is_list = key->type == KEY_STRLIST || key->type == KEY_INTLIST;
	enum json_kind kind = r->tok.kind;

	if (is_list && (kind == JSON_ARRAY ||
	    (kind == JSON_STRING && key->may_be_lone)))
		return read_list(r, key);
	if (key->type == KEY_STRMAP && kind == JSON_OBJECT)
		return read_map(r, key);
	if (is_list || key->type == KEY_STRMAP || kind == JSON_ARRAY ||
	    kind == JSON_OBJECT ||
	    (key->type == KEY_IGNORED && kind != JSON_STRING)) {
		load_wrong_type(r->load, key, here(r), json_kind_name(kind));
		return skip_value(r, key->name);
	}
	if (kind == JSON_STRING)
		load_string(r->load, key, r->tok.text, here(r));
	else if (kind == JSON_NUMBER)
		load_number(r->load, key, r->tok.text, here(r));
	else if (kind == JSON_NULL)
		load_null(r->load, key, here(r));
	else
		load_bool(r->load, key, kind == JSON_TRUE, here(r));
	return 0;
}

static int	 read_section(struct reader *, const char *);

/* The token is a key of `section`; reads it with its value. */
static int
read_member(struct reader *r, const char *section)
{
	char spelling[LOAD_NAME_BYTES];
	const struct key *key = NULL;
	enum key_status status = load_name(r->load, section, r->tok.text,
	    here(r), false, &key, spelling);

	if (next(r, status == KEY_UNKNOWN ? section : spelling) != 0)
		return -1;
	if (status == KEY_UNKNOWN)
		return skip_value(r, section);
	return key != NULL ? read_value(r, key) : read_section(r, spelling);
}

/* The token is the value; sections nest no deeper than the table's names. */
static int
read_section(struct reader *r, const char *section)
{
	if (r->tok.kind != JSON_OBJECT) {
		wrong_type(r, section, "an object");
		return skip_value(r, section);
	}
	if (section[0] != '\0')
		load_place(r->load, section, here(r));
	for (;;) {
		if (next(r, section) != 0)
			return -1;
		if (r->tok.kind == JSON_OBJECT_END)
			return 0;
		if (read_member(r, section) != 0)
			return -1;
	}
}

static void
read_file(struct reader *r)
{
	struct err e;

	if (next(r, "") != 0)
		return;
	if (r->tok.kind == JSON_END) {
		err_set(&e, ERR_POLICY, "the file says nothing");
		err_hint(&e, "'{}' is a policy: nothing may be written, no "
		    "host reached");
		load_report(r->load, here(r), "", &e);
		return;
	}
	if (read_section(r, "") == 0)
		next(r, "");	/* nothing may follow */
}

void
jsonc_read(struct load *l, const char *text, size_t len)
{
	struct reader r = { .load = l, .tok = { .line = 1, .col = 1 } };

	json_init(&r.json, l->policy->name, text, len, POLICY_MAX_BYTES);
	read_file(&r);
	json_release(&r.json);
}
