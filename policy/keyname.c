/* Names of keys: finding them, and finding what was meant instead. */
#include <limits.h>
#include <string.h>

#include "platform/base/buf.h"
#include "platform/base/str.h"
#include "policy/keys.h"

/*
 * A section is found by any key inside of it.  A map's own names are not
 * keys: "env.set" is a row, and what is below it is its reader's.
 */
enum key_status
keys_find(const char *name, const struct key **ret_key, char *spelling,
    size_t spelling_size)
{
	struct str want = str_of(name);

	for (size_t i = 0; i < policy_nkeys; i++) {
		const char *known = policy_keys[i].name;
		struct str head = { known, want.len };

		if (strlen(known) < want.len || !str_caseeq(head, name) ||
		    (known[want.len] != '\0' && known[want.len] != '.'))
			continue;
		snprintf(spelling, spelling_size, "%.*s", (int)want.len,
		    known);
		if (known[want.len] == '.')
			return KEY_SECTION;
		*ret_key = &policy_keys[i];
		return KEY_FOUND;
	}
	return KEY_UNKNOWN;
}

static const char *
last_name(const char *dotted)
{
	const char *dot = strrchr(dotted, '.');

	return dot != NULL ? dot + 1 : dotted;
}

/* How unlike are they?  UINT_MAX: too much to be a slip of the hand. */
static unsigned
unlikeness(const char *name, const char *known)
{
	const char *last = last_name(known);
	size_t section = (size_t)(last - known);
	size_t most = strlen(last) < 6 ? 1 : 2;
	unsigned d = str_distance(last_name(name), last);

	/* The right name in the wrong section is near, too. */
	if ((size_t)(last_name(name) - name) != section ||
	    strncmp(known, name, section) != 0)
		d++;
	return d <= most ? d : UINT_MAX;
}

/* The key or section that looks most like it; false if none comes near. */
static bool
nearest(const char *name, char *ret, size_t size)
{
	unsigned least = UINT_MAX, d;
	char part[96];

	for (size_t i = 0; i < policy_nkeys; i++) {
		const char *known = policy_keys[i].name;

		for (size_t n = 0; n == 0 || known[n - 1] != '\0'; n++) {
			if (known[n] != '.' && known[n] != '\0')
				continue;
			snprintf(part, sizeof part, "%.*s", (int)n, known);
			d = unlikeness(name, part);
			if (d < least) {
				least = d;
				snprintf(ret, size, "%s", part);
			}
		}
	}
	return least != UINT_MAX;
}

static bool
is_first_of_section(size_t row, size_t section)
{
	const char *name = policy_keys[row].name;
	size_t n = section + strcspn(name + section, ".");

	for (size_t i = 0; i < row; i++)
		if (strncmp(policy_keys[i].name, name, n) == 0 &&
		    (policy_keys[i].name[n] == '.' ||
		    policy_keys[i].name[n] == '\0'))
			return false;
	return true;
}

/* "network, filesystem" for "x"; "allowWrite, ..." for "filesystem.x". */
static void
list_keys(const char *name, struct buf *b)
{
	size_t section = (size_t)(last_name(name) - name);

	for (size_t i = 0; i < policy_nkeys; i++) {
		const char *known = policy_keys[i].name;

		if (strncmp(known, name, section) != 0 ||
		    !is_first_of_section(i, section))
			continue;
		buf_printf(b, "%s%.*s", b->len != 0 ? ", " : "",
		    (int)strcspn(known + section, "."), known + section);
	}
}

void
keys_hint(const char *name, struct err *e)
{
	char near[96];
	struct buf b;

	if (nearest(name, near, sizeof near)) {
		err_hint(e, "did you mean '%s'?", near);
		return;
	}
	buf_init(&b, 0);
	list_keys(name, &b);
	if (b.len < sizeof e->hint - 16)
		err_hint(e, "keys here: %s", b.data);
	else
		err_hint(e, "keys here: %.120s ... (fence-policy(5))",
		    b.data);
	buf_release(&b);
}

void
keys_word_hint(const struct key *key, const char *word, struct err *e)
{
	struct buf b;

	buf_init(&b, 0);
	for (const char *const *w = key->words; *w != NULL; w++) {
		if (str_distance(word, *w) <= 2 && strlen(*w) > 3) {
			err_hint(e, "did you mean '%s'?", *w);
			buf_release(&b);
			return;
		}
		buf_printf(&b, "%s'%s'", b.len == 0 ? "" :
		    w[1] == NULL ? " or " : ", ", *w);
	}
	err_hint(e, "it is %s", b.data);
	buf_release(&b);
}
