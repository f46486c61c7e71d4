#include "policy/merge.h"

#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "policy/keys.h"
#include "policy/pattern.h"

struct merger {
	struct arena	*arena;
	/* Places of one file share its name: the last one copied. */
	const char	*file_from, *file;
};

static struct origin
copy_origin(struct merger *m, struct origin at)
{
	if (at.file == NULL)
		return at;
	if (at.file != m->file_from) {
		m->file_from = at.file;
		m->file = arena_strdup(m->arena, at.file);
	}
	at.file = m->file;
	return at;
}

static struct entry
copy_entry(struct merger *m, const struct entry *e)
{
	return (struct entry){
		.text = arena_strdup(m->arena, e->text),
		.at = copy_origin(m, e->at),
		.pattern = pattern_copy(m->arena, e->pattern),
		.name = e->name != NULL ? arena_strdup(m->arena, e->name) :
		    NULL,
		.number = e->number,
		.because = e->because,
	};
}

/* One meaning, whatever the spelling. */
static bool
is_same(const struct entry *a, const struct entry *b)
{
	if (a->name != NULL)
		return strcmp(a->name, b->name) == 0;
	return a->pattern != NULL ? pattern_equal(a->pattern, b->pattern) :
	    strcmp(a->text, b->text) == 0;
}

static const char *
text_of(const struct entry *e)
{
	return e->name != NULL ? e->name : e->text;
}

static size_t
hash_text(size_t hash, const char *text)
{
	for (; *text != '\0'; text++)
		hash = str_hash_add((uint32_t)hash, (unsigned char)*text);
	return hash;
}

static size_t
hash_pattern(size_t hash, const struct pattern *p)
{
	hash = hash_text(hash ^ p->port, p->text);
	for (size_t i = 0; i < p->nalts; i++)
		hash = hash_pattern(hash, p->alts[i]);
	return hash;
}

/* Entries by what they mean: files may be long, and not friendly. */
struct set {
	const struct entry	**slots;
	size_t			  mask;
};

static void
set_init(struct set *s, size_t n)
{
	for (s->mask = 8; s->mask < n * 2;)
		s->mask *= 2;
	s->slots = xcalloc(s->mask, sizeof *s->slots);
	s->mask--;
}

/* Its slot, or the free one where it would be. */
static const struct entry **
set_find(const struct set *s, const struct entry *e)
{
	size_t hash = 2166136261u;

	hash = e->name == NULL && e->pattern != NULL ?
	    hash_pattern(hash, e->pattern) : hash_text(hash, text_of(e));
	hash ^= hash >> 15;
	while (s->slots[hash & s->mask] != NULL &&
	    !is_same(s->slots[hash & s->mask], e))
		hash++;
	return &s->slots[hash & s->mask];
}

static void
set_add(struct set *s, const struct entry *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct entry **slot = set_find(s, &v[i]);

		if (*slot == NULL)
			*slot = &v[i];
	}
}

struct entries { struct entry *v; size_t n, cap; };

static void
add_new(struct merger *m, const struct entry *e, struct entries *out,
    struct set *seen)
{
	const struct entry **slot = set_find(seen, e);

	if (*slot != NULL)
		return;
	*slot = e;
	*vec_push(out) = copy_entry(m, e);
}

/* Of the base: what the child does not take out, or replace in a map. */
static void
add_base(struct merger *m, const struct strlist *base,
    const struct strlist *child, struct entries *out, struct set *seen)
{
	bool is_map = base->n != 0 && base->v[0].name != NULL;
	struct set gone;

	set_init(&gone, child->nwithout + (is_map ? child->n : 0));
	set_add(&gone, child->without, child->nwithout);
	if (is_map)
		set_add(&gone, child->v, child->n);
	for (size_t i = 0; i < base->n; i++)
		if (*set_find(&gone, &base->v[i]) == NULL)
			add_new(m, &base->v[i], out, seen);
	free(gone.slots);
}

static void
merge_list(struct merger *m, const struct strlist *base,
    const struct strlist *child, struct strlist *ret)
{
	const struct strlist *place = child->is_set || base == NULL ||
	    !base->is_set ? child : base;
	struct entries out = { 0 };
	struct set seen;

	set_init(&seen, child->n + (base != NULL ? base->n : 0));
	if (base != NULL)
		add_base(m, base, child, &out, &seen);
	for (size_t i = 0; i < child->n; i++)
		add_new(m, &child->v[i], &out, &seen);
	*ret = (struct strlist){ .n = out.n,
	    .at = copy_origin(m, place->at), .is_set = place->is_set };
	ret->v = arena_alloc(m->arena, out.n * sizeof *out.v);
	if (out.n != 0)
		memcpy(ret->v, out.v, out.n * sizeof *out.v);
	vec_release(&out);
	free(seen.slots);
}

static void
merge_flag(struct merger *m, const struct flag *base,
    const struct flag *child, struct flag *ret)
{
	*ret = base != NULL && (base->value || !child->is_set) &&
	    !child->value ? *base : *child;
	ret->at = copy_origin(m, ret->at);
}

#define MERGE_VALUE(type) do {						\
	const struct type *b_ = base, *c_ = child;			\
	struct type *r_ = ret;						\
									\
	*r_ = b_ != NULL && !c_->is_set ? *b_ : *c_;			\
	r_->at = copy_origin(m, r_->at);				\
} while (0)

static void
merge_value(struct merger *m, const struct key *key, const void *base,
    const void *child, void *ret)
{
	struct number *n = ret;
	struct string *s = ret;

	switch (key->type) {
	case KEY_TRISTATE:
		MERGE_VALUE(tristate);
		break;
	case KEY_ENUM:
		MERGE_VALUE(choice);
		break;
	case KEY_STRING:
		MERGE_VALUE(string);
		s->text = arena_strdup(m->arena, s->text);
		s->shown = arena_strdup(m->arena, s->shown);
		break;
	case KEY_INT:
	case KEY_SIZE:
	case KEY_DURATION:
		/* Of most keys 0 is the same as "not written". */
		if (base != NULL && !keys_has_zero(key) &&
		    ((const struct number *)child)->value == 0)
			child = base;
		MERGE_VALUE(number);
		if (n->text != NULL)
			n->text = arena_strdup(m->arena, n->text);
		break;
	default:
		break;
	}
}

static void
merge_key(struct merger *m, const struct key *key, const struct policy *base,
    const struct policy *child, struct policy *ret)
{
	const void *b = base != NULL ? keys_cfield(key, base) : NULL;
	const void *c = keys_cfield(key, child);
	void *r = keys_field(key, ret);

	if (key->type == KEY_IGNORED)
		return;
	if (keys_strlist(key, ret) != NULL)
		merge_list(m, b, c, r);
	else if (key->type == KEY_BOOL)
		merge_flag(m, b, c, r);
	else
		merge_value(m, key, b, c, r);
}

static void
copy_warnings(struct policy *ret, const struct policy *from)
{
	ret->warnings = arena_alloc(ret->arena,
	    from->nwarnings * sizeof *ret->warnings);
	ret->nwarnings = from->nwarnings;
	for (size_t i = 0; i < from->nwarnings; i++)
		ret->warnings[i] = arena_strdup(ret->arena, from->warnings[i]);
}

static void
copy_own(struct policy *ret, const struct policy *from)
{
	for (size_t i = 0; from != NULL && i < from->fs.own.n; i++)
		policy_own(ret, from->fs.own.v[i].pattern->text,
		    from->fs.own.v[i].text);
	for (size_t i = 0; from != NULL && i < from->fs.hidden.n; i++)
		policy_hide(ret, from->fs.hidden.v[i].pattern->text,
		    from->fs.hidden.v[i].text);
}

struct policy *
policy_merge(const struct policy *base, const struct policy *child)
{
	struct policy_env env = { .workspace = child->workspace,
	    .home = child->home, .other_home = child->other_home };
	struct policy *ret = policy_new(child->name, &env);
	struct merger m = { .arena = ret->arena };

	for (size_t i = 0; i < policy_nkeys; i++)
		merge_key(&m, &policy_keys[i], base, child, ret);
	ret->extends.n = 0;
	ret->extends.is_set = false;
	ret->fs.default_deny_read.value |= ret->fs.strict_deny_read.value;
	copy_own(ret, base);
	copy_own(ret, child);
	copy_warnings(ret, child);
	policy_index(ret);
	return ret;
}

static int
fail_removal(const struct key *key, const struct entry *x, struct err *e)
{
	err_set(e, ERR_POLICY, "'!%.100s' takes away what is not inherited",
	    text_of(x));
	err_hint(e, "`fence config show --origins` lists what is");
	err_key(e, "%s", key->name);
	err_where(e, x->at.file, x->at.line, x->at.col);
	return -1;
}

/* The first "!x" of the list that is not in base, or NULL. */
static const struct entry *
find_idle(const struct strlist *base, const struct strlist *child)
{
	const struct entry *idle = NULL;
	struct set set;

	set_init(&set, base != NULL ? base->n : 0);
	if (base != NULL)
		set_add(&set, base->v, base->n);
	for (size_t i = 0; i < child->nwithout && idle == NULL; i++)
		if (*set_find(&set, &child->without[i]) == NULL)
			idle = &child->without[i];
	free(set.slots);
	return idle;
}

int
policy_check_removals(const struct policy *base, const struct policy *child,
    struct err *e)
{
	for (size_t i = 0; i < policy_nkeys; i++) {
		const struct key *key = &policy_keys[i];
		const struct strlist *c = keys_cstrlist(key, child);
		const struct entry *idle;

		if (c == NULL || c->nwithout == 0)
			continue;
		idle = find_idle(base != NULL ? keys_cstrlist(key, base) :
		    NULL, c);
		if (idle != NULL)
			return fail_removal(key, idle, e);
	}
	return 0;
}

static bool
is_equal_list(const struct strlist *a, const struct strlist *b)
{
	if (a->n != b->n || a->nwithout != b->nwithout)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->v[i].text, b->v[i].text) != 0 ||
		    !is_same(&a->v[i], &b->v[i]))
			return false;
	for (size_t i = 0; i < a->nwithout; i++)
		if (!is_same(&a->without[i], &b->without[i]))
			return false;
	return true;
}

static bool
is_equal_key(const struct key *key, const void *a, const void *b)
{
	const struct flag *fa = a, *fb = b;
	const struct tristate *ta = a, *tb = b;
	const struct number *na = a, *nb = b;
	const struct choice *ca = a, *cb = b;
	const struct string *sa = a, *sb = b;

	switch (key->type) {
	case KEY_IGNORED:
		return true;
	case KEY_STRLIST:
	case KEY_INTLIST:
	case KEY_STRMAP:
		return is_equal_list(a, b);
	case KEY_BOOL:
		return fa->value == fb->value;
	case KEY_TRISTATE:
		return ta->value == tb->value;
	case KEY_INT:
	case KEY_SIZE:
	case KEY_DURATION:
		return na->value == nb->value && (na->is_set == nb->is_set ||
		    !keys_has_zero(key));
	case KEY_ENUM:
		return ca->value == cb->value && ca->is_set == cb->is_set;
	case KEY_STRING:
		return strcmp(sa->text, sb->text) == 0;
	}
	return false;
}

bool
policy_equal(const struct policy *a, const struct policy *b)
{
	for (size_t i = 0; i < policy_nkeys; i++)
		if (!is_equal_key(&policy_keys[i],
		    keys_cfield(&policy_keys[i], a),
		    keys_cfield(&policy_keys[i], b)))
			return false;
	return true;
}
