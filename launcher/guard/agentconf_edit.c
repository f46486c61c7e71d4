/* A text becomes one that says something else: as few changes as it takes. */
#include <stdlib.h>
#include <string.h>

#include "launcher/guard/agentconf_parts.h"
#include "platform/base/jsonedit.h"

static struct conf_edit
edit(int what, const struct jnode *is, const struct jnode *want)
{
	return (struct conf_edit){ .what = what, .is = is, .want = want };
}

/* Both are objects. */
struct conf_edit
conf_next_edit(struct arena *a, const struct jnode *is,
    const struct jnode *want)
{
	struct members mine = members_of(a, is), other = members_of(a, want);
	struct conf_edit e;

	for (const struct jnode *c = is->child; c != NULL; c = c->next) {
		const struct jnode *w = members_get(&other, c->key);

		if (w == NULL)
			return edit(CONF_CUT, c, NULL);
		if (conf_same(a, c, w))
			continue;
		if (c->kind != JSON_OBJECT || w->kind != JSON_OBJECT)
			return edit(CONF_REPLACE, c, w);
		e = conf_next_edit(a, c, w);
		if (e.what != CONF_DONE)
			return e;
	}
	for (const struct jnode *c = want->child; c != NULL; c = c->next)
		if (members_get(&mine, c->key) == NULL)
			return edit(CONF_INSERT, is, c);
	return edit(CONF_DONE, NULL, NULL);
}

static int
json_apply(struct arena *a, const char *text, size_t len,
    const struct conf_edit *c, const char **ret, size_t *ret_len)
{
	struct jsonedit j = { .arena = a, .shown = "", .text = text,
	    .len = len };
	struct err e = { 0 };
	struct buf value;
	int rc;

	/* The tree that the edit speaks of is of this very text. */
	for (j.root = (struct jnode *)c->is; j.root->parent != NULL; )
		j.root = j.root->parent;
	buf_init(&value, AGENTCONF_MAX);
	if (c->want != NULL)
		jsontree_put(&value, c->want, NULL, "", "");
	rc = value.failed ? -1 :
	    c->what == CONF_CUT ? jsonedit_cut(&j, c->is, &e) :
	    c->what == CONF_REPLACE ? jsonedit_replace(&j, c->is, value.data,
	    &e) : jsonedit_add_to(&j, c->is, c->want->key, value.data, &e);
	buf_release(&value);
	*ret = j.text;
	*ret_len = j.len;
	return rc;
}

static int
says(struct arena *a, const struct agentconf_file *f, const char *text,
    size_t len, const struct jnode *want)
{
	struct jnode *root;
	struct err e;

	return conf_parse(a, f, text, len, &root, &e) == 0 &&
	    conf_same(a, root, want) ? 0 : -1;
}

/* 1: the text says it; 0: it is one change nearer; -1: it will not. */
static int
edit_once(struct arena *a, const struct agentconf_file *f,
    const struct jnode *want, const char **text, size_t *len)
{
	struct conf_edit c;
	struct jnode *root;
	struct err e;

	if (conf_parse(a, f, *text, *len, &root, &e) != 0)
		return -1;
	c = conf_next_edit(a, root, want);
	if (c.what == CONF_DONE)
		return conf_same(a, root, want) ? 1 : -1;
	return f->format == AGENTCONF_TOML ?
	    conf_toml_apply(a, *text, *len, &c, want, text, len) :
	    json_apply(a, *text, *len, &c, text, len);
}

/* One change after the other; each reads the text anew, in its own memory. */
static int
edit_text(struct arena *a, const struct agentconf_file *f, const char *text,
    size_t len, const struct jnode *want, const char **ret, size_t *ret_len)
{
	size_t left = AGENTCONF_MAX / (len + 1);
	int rc = 0;

	left = left > AGENTCONF_EDITS ? AGENTCONF_EDITS : left;
	/* With a zero byte behind it, for jsonedit. */
	*ret = arena_strndup(a, text, len);
	*ret_len = len;
	for (; rc == 0 && left > 0; left--) {
		struct arena *mine = arena_new();

		rc = edit_once(mine, f, want, ret, ret_len);
		*ret = arena_strndup(a, *ret, *ret_len);
		arena_free(mine);
	}
	return rc == 1 ? 0 : -1;
}

static int
write_anew(struct arena *a, const struct agentconf_file *f,
    const struct jnode *want, const char **ret, size_t *ret_len)
{
	struct buf b;

	buf_init(&b, AGENTCONF_MAX);
	if (f->format == AGENTCONF_TOML)
		conf_toml_put(&b, want);
	else
		jsontree_put(&b, want, "  ", "\n", "");
	if (f->format != AGENTCONF_TOML)
		buf_putc(&b, '\n');
	*ret = arena_strndup(a, b.data, b.len);
	*ret_len = b.len;
	if (b.failed)
		*ret_len = 0;
	buf_release(&b);
	return says(a, f, *ret, *ret_len, want);
}

int
conf_write(struct arena *a, const struct agentconf_file *f, const char *text,
    size_t len, const struct jnode *want, const char **ret, size_t *ret_len)
{
	return edit_text(a, f, text, len, want, ret, ret_len) == 0 ? 0 :
	    write_anew(a, f, want, ret, ret_len);
}
