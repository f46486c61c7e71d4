#include "policy/probesig.h"

#include <stdbool.h>
#include <string.h>

#include "platform/base/str.h"

#define EXAMPLES	"'getenv(s):s' and 'SSL_write(p,b,i):i' are; " \
			"fence-policy(5), PROBES, has the letters"

static const char letters[] = "_abcdefghijklmnopqrstuvwxyz"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/*
 * Functions that would not do the same where another function calls them: they
 * return twice, or look at their caller, or take arguments without end.
 */
static const struct {
	const char	*why;
	const char	*names[28];
} unfit[] = {
	{ "it returns twice, which a call in between does not survive",
	    { "vfork", "setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp",
	    "getcontext", "swapcontext", "setcontext" } },
	{ "it looks at who calls it",
	    { "dlopen", "dlmopen", "dlsym", "dlvsym", "__gmon_start__",
	    "__tls_get_addr", "mcount", "_mcount", "__fentry__" } },
	{ "it takes any number of arguments, and a signature has a fixed one",
	    { "printf", "fprintf", "dprintf", "sprintf", "snprintf",
	    "asprintf", "__printf_chk", "__fprintf_chk", "__dprintf_chk",
	    "__sprintf_chk", "__snprintf_chk", "__asprintf_chk", "scanf",
	    "fscanf", "sscanf", "__isoc99_scanf", "__isoc99_fscanf",
	    "__isoc99_sscanf", "syslog", "__syslog_chk", "execl", "execlp",
	    "execle", "err", "errx", "warn", "warnx" } },
};

static const char *
why_unfit(const char *name)
{
	for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++)
		for (size_t k = 0; unfit[i].names[k] != NULL; k++)
			if (strcmp(unfit[i].names[k], name) == 0)
				return unfit[i].why;
	return NULL;
}

static const char *
skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

static int
bad(struct err *e, const char *text, const char *why)
{
	err_set(e, ERR_POLICY, "'%.100s' is not a signature: %s", text, why);
	err_hint(e, "%s", EXAMPLES);
	return -1;
}

/* The digits behind a letter; fallback where there are none. */
static int
take_number(const char **p, uint64_t max, uint64_t fallback, uint64_t *ret)
{
	size_t n = strspn(*p, "0123456789");

	*ret = fallback;
	if (n > 0 && str_to_u64((struct str){ *p, n }, max, ret) != 0)
		return -1;
	*p += n;
	return 0;
}

/* One argument or the result; NULL, or what is wrong. */
static const char *
take_value(const char **p, struct probesig_value *ret)
{
	uint64_t n;

	*ret = (struct probesig_value){ .type = **p };
	if (**p == '\0' || strchr("viudfpsbo", **p) == NULL)
		return "an argument or a result is one of i, u, p, s, b, o, "
		    "f, d; a result may be v";
	(*p)++;
	switch (ret->type) {
	case 'i':
	case 'u':
		if (take_number(p, 64, 32, &n) != 0 || (n != 8 && n != 16 &&
		    n != 32 && n != 64))
			return "integers have 8, 16, 32 or 64 bits";
		ret->size = (uint8_t)(n / 8);
		return NULL;
	case 's':
	case 'b':
	case 'o':
		if (take_number(p, PROBESIG_BYTES_MAX, PROBESIG_BYTES, &n)
		    != 0)
			return "at most 1024 bytes of a text or a buffer are "
			    "told";
		ret->max = (uint16_t)n;
		return NULL;
	}
	return NULL;
}

static const char *
take_args(const char **p, struct probesig *ret)
{
	const char *why;

	*p = skip_blanks(*p);
	while (**p != ')' || ret->nargs > 0) {
		if (ret->nargs == PROBESIG_ARGS_MAX)
			return "at most 12 arguments are told";
		why = take_value(p, &ret->arg[ret->nargs++]);
		if (why != NULL)
			return why;
		*p = skip_blanks(*p);
		if (**p == ')')
			break;
		if (**p != ',')
			return "arguments are parted by commas and end with "
			    "')'";
		*p = skip_blanks(*p + 1);
	}
	(*p)++;
	return NULL;
}

static bool
is_integer(const struct probesig_value *v)
{
	return v->type == 'i' || v->type == 'u';
}

/* What each value by itself does not show. */
static const char *
check_whole(const struct probesig *s)
{
	size_t floats = 0, data = s->result.max;

	if (s->result.type == 'b' || s->result.type == 'o')
		return "a result has no length: 'p' or 's'";
	for (size_t i = 0; i < s->nargs; i++) {
		const struct probesig_value *v = &s->arg[i];

		if (v->type == 'v')
			return "'v' is for a result; no arguments are '()'";
		if ((v->type == 'b' || v->type == 'o') && (i + 1 == s->nargs
		    || !is_integer(&s->arg[i + 1])))
			return "'b' and 'o' have their length behind them, an "
			    "integer";
		floats += v->type == 'f' || v->type == 'd';
		data += v->max;
	}
	if (floats > PROBESIG_FLOATS_MAX)
		return "at most 8 arguments are 'f' or 'd'";
	return data > PROBESIG_DATA_MAX ?
	    "at most 3072 bytes of a call are told" : NULL;
}

int
probesig_parse(const char *text, struct probesig *ret, struct err *e)
{
	const char *p = text, *why;
	size_t len = strspn(text, letters);

	memset(ret, 0, sizeof *ret);
	if (len == 0 || (text[0] >= '0' && text[0] <= '9') ||
	    len > PROBESIG_NAME_MAX)
		return bad(e, text, "it begins with a function's name");
	memcpy(ret->name, text, len);
	p = skip_blanks(text + len);
	if (*p++ != '(')
		return bad(e, text, "arguments are in parentheses");
	why = take_args(&p, ret);
	if (why != NULL)
		return bad(e, text, why);
	p = skip_blanks(p);
	if (*p++ != ':')
		return bad(e, text, "':' and the result are missing");
	p = skip_blanks(p);
	why = take_value(&p, &ret->result);
	if (why == NULL && *skip_blanks(p) != '\0')
		why = "something is behind the result";
	if (why == NULL)
		why = check_whole(ret);
	if (why != NULL)
		return bad(e, text, why);
	why = why_unfit(ret->name);
	if (why == NULL)
		return 0;
	err_set(e, ERR_POLICY, "calls of %s() cannot be told: %s", ret->name,
	    why);
	err_hint(e, "leave it out of trace.calls");
	return -1;
}
