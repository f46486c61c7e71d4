#include "policy/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "platform/base/arena.h"

enum {
	MATCH_LIMIT = 200000,	/* steps: some milliseconds */
	DEPTH_LIMIT = 2000,
	HEAP_LIMIT = 2048,	/* KiB */
};

struct regex {
	pcre2_code		*code;
};

static void *
from_arena(size_t size, void *arena)
{
	return arena_alloc(arena, size);
}

static void
keep(void *p, void *arena)
{
	(void)p, (void)arena;
}

int
regex_new(struct arena *a, const char *pattern, struct regex **ret,
    struct err *e)
{
	pcre2_general_context *general = pcre2_general_context_create(
	    from_arena, keep, a);
	pcre2_compile_context *context = pcre2_compile_context_create(general);
	struct regex *r = arena_alloc(a, sizeof *r);
	PCRE2_UCHAR text[128];
	PCRE2_SIZE at;
	int error;

	r->code = pcre2_compile((PCRE2_SPTR)pattern, strlen(pattern),
	    PCRE2_NEVER_UTF | PCRE2_NEVER_UCP | PCRE2_DOTALL |
	    PCRE2_DOLLAR_ENDONLY, &error, &at, context);
	if (r->code == NULL) {
		if (pcre2_get_error_message(error, text, sizeof text) < 0)
			text[0] = '\0';
		err_set(e, ERR_POLICY, "'%.80s' is not a regular expression: "
		    "%s at character %zu", pattern, (const char *)text,
		    at + 1);
		err_hint(e, "after 're:' comes a Perl regular expression: "
		    "'re:^git push .*--force'");
		return -1;
	}
	*ret = r;
	return 0;
}

static enum regex_answer
answer_of(int n)
{
	return n >= 0 ? REGEX_YES : n == PCRE2_ERROR_NOMATCH ? REGEX_NO :
	    n == PCRE2_ERROR_PARTIAL ? REGEX_PARTLY : REGEX_LIMIT;
}

enum regex_answer
regex_match(const struct regex *r, const char *subject, size_t len,
    bool is_cut)
{
	pcre2_general_context *general = pcre2_general_context_create(NULL,
	    NULL, NULL);
	pcre2_match_context *context = pcre2_match_context_create(general);
	pcre2_match_data *data = pcre2_match_data_create(1, general);
	int n = PCRE2_ERROR_NOMEMORY;

	if (context != NULL && data != NULL) {
		pcre2_set_match_limit(context, MATCH_LIMIT);
		pcre2_set_depth_limit(context, DEPTH_LIMIT);
		pcre2_set_heap_limit(context, HEAP_LIMIT);
		n = pcre2_match(r->code, (PCRE2_SPTR)subject, len, 0,
		    is_cut ? PCRE2_PARTIAL_HARD | PCRE2_NOTEOL : 0, data,
		    context);
	}
	pcre2_match_data_free(data);
	pcre2_match_context_free(context);
	pcre2_general_context_free(general);
	return answer_of(n);
}
