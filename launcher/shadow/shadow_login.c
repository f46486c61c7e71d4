/*
 * A login that was lost inside is still one outside: what an agent in the jail
 * emptied or wrote half does not take the place of the host's.
 */
#include <errno.h>
#include <string.h>

#include "launcher/shadow/shadow_parts.h"
#include "platform/base/json.h"

/* Nothing but a word, or an object or list with nothing in it: empty. */
static enum login
look_at_json(const char *text, size_t len)
{
	struct json_reader reader;
	struct json_token token;
	size_t ntokens = 0;
	struct err e;
	int rc;

	json_init(&reader, "", text, len, SHADOW_SMALL_BYTES);
	while ((rc = json_next(&reader, &token, &e)) == 0 &&
	    token.kind != JSON_END)
		ntokens++;
	json_release(&reader);
	if (rc != 0)
		return LOGIN_BROKEN;
	return ntokens < 3 ? LOGIN_EMPTY : LOGIN_WHOLE;
}

/* A file that was cut off and written on is full of zeros. */
static bool
is_blank(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && memchr(" \t\r\n", text[i], 5) != NULL)
		i++;
	return i == len;
}

enum login
shadow_login(const char *name, const char *text, size_t len)
{
	size_t n = strlen(name);

	if (is_blank(text, len))
		return LOGIN_EMPTY;
	return n > 5 && strcmp(name + n - 5, ".json") == 0 ?
	    look_at_json(text, len) : LOGIN_WHOLE;
}

int
carry_is_no_login(const struct carry *c, const char *name)
{
	struct buf host, jail;
	enum login is = LOGIN_WHOLE;

	buf_init(&host, SHADOW_SMALL_BYTES);
	buf_init(&jail, SHADOW_SMALL_BYTES);
	if (carry_read(c->host_fd, name, &host) == 0 &&
	    shadow_login(name, host.data, host.len) == LOGIN_WHOLE &&
	    carry_read(c->f->jail_fd, name, &jail) == 0)
		is = shadow_login(name, jail.data, jail.len);
	buf_release(&host);
	buf_release(&jail);
	return is == LOGIN_WHOLE ? 0 : is == LOGIN_EMPTY ? ENODATA : EBADMSG;
}
