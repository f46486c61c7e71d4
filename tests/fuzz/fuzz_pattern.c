/*
 * A path pattern in the first line, a path in the second: the match is an
 * ancestor of the path, alternatives lie where the walk begins, and the
 * index agrees with a scan.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/json.h"
#include "platform/base/str.h"
#include "policy/decide.h"
#include "policy/glob.h"
#include "policy/pattern.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static char *const vars[] = { "X=/x", NULL };
static const struct policy_env env = { .workspace = "/ws",
    .home = "/home/u", .environ = vars };

static bool
is_utf8(const char *s)
{
	uint32_t cp;

	for (size_t n, len = strlen(s); len > 0; s += n, len -= n)
		if ((n = str_utf8(s, len, &cp)) == 0)
			return false;
	return true;
}

static void
check_match(const struct pattern *p, const char *path)
{
	size_t len = pattern_match_path(p, path);

	if (len > strlen(path) ||
	    (len > 1 && path[len] != '/' && path[len] != '\0'))
		abort();
	if (len != 0 && p->nalts != 0 && strcmp(p->text, "/**") != 0 &&
	    glob_match(p->text, path) == 0)
		abort();
}

static void
check_index(const char *text, const struct pattern *pat, const char *path)
{
	struct policy *p = NULL;
	struct verdict v;
	struct buf b;

	if (text[0] == '!' || !is_utf8(text))
		return;
	buf_init(&b, 0);
	buf_puts(&b, "{\"filesystem\":{\"denyRead\":[");
	json_put_string(&b, text, strlen(text));
	buf_puts(&b, "]}}");
	if (policy_parse(b.data, b.len, "F", &env, &p, NULL) != 0)
		abort();
	decide_fs(p, FS_READ, path, &v);
	if ((v.action == ACTION_DENY) != (pattern_match_path(pat, path) != 0))
		abort();
	policy_free(p);
	buf_release(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct pattern *p;
	const char *path;
	struct err e = { 0 };
	struct arena *a;
	char *text, *newline;

	if (len > 8192)
		return 0;
	a = arena_new();
	text = arena_strndup(a, (const char *)data, len);
	newline = strchr(text, '\n');
	if (newline != NULL)
		*newline = '\0';
	path = pattern_clean_path(a, "/ws", newline != NULL ? newline + 1 :
	    "x");
	if (pattern_path(a, text, &env, &p, &e) != 0) {
		if (e.msg[0] == '\0')
			abort();
	} else if (path != NULL) {
		check_match(p, path);
		check_index(text, p, path);
	}
	arena_free(a);
	return 0;
}
