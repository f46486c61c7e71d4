#include "platform/base/err.h"

#include <stdarg.h>
#include <string.h>

#include "platform/base/buf.h"
#include "platform/base/str.h"

static void
err_begin(struct err *e, enum err_code code, int sys)
{
	memset(e, 0, sizeof *e);
	e->code = code;
	e->sys = sys;
}

int
err_vset(struct err *e, enum err_code code, const char *fmt, va_list ap)
{
	if (e == NULL)
		return -1;
	err_begin(e, code, 0);
	vsnprintf(e->msg, sizeof e->msg, fmt, ap);
	return -1;
}

int
err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vset(e, code, fmt, ap);
	va_end(ap);
	return -1;
}

int
err_usage(struct err *e, const char *msg, const char *hint)
{
	err_set(e, ERR_USAGE, "%s", msg);
	err_hint(e, "%s", hint);
	return -1;
}

int
err_sys(struct err *e, int sys, const char *fmt, ...)
{
	va_list ap;

	if (e == NULL)
		return -1;
	err_begin(e, ERR_JAIL, sys);
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof e->msg, fmt, ap);
	va_end(ap);
	return -1;
}

void
err_where(struct err *e, const char *file, int line, int col)
{
	if (e == NULL)
		return;
	if (line > 0)
		snprintf(e->where, sizeof e->where, "%s:%d:%d", file, line,
		    col);
	else
		snprintf(e->where, sizeof e->where, "%s", file);
}

void
err_key(struct err *e, const char *fmt, ...)
{
	va_list ap;

	if (e == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(e->key, sizeof e->key, fmt, ap);
	va_end(ap);
}

void
err_hint(struct err *e, const char *fmt, ...)
{
	va_list ap;

	if (e == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(e->hint, sizeof e->hint, fmt, ap);
	va_end(ap);
}

static void
put_escaped(struct buf *b, const char *s)
{
	str_escape(b, s, strlen(s), 0);
}

void
err_put(const struct err *e, struct buf *b)
{
	buf_puts(b, "fence: ");
	if (e->where[0] != '\0') {
		put_escaped(b, e->where);
		buf_puts(b, ": ");
	}
	if (e->key[0] != '\0') {
		put_escaped(b, e->key);
		buf_puts(b, ": ");
	}
	put_escaped(b, e->msg);
	if (e->sys != 0)
		buf_printf(b, ": %s", strerror(e->sys));
	buf_puts(b, "\n");
	if (e->hint[0] != '\0') {
		buf_puts(b, "fence: hint: ");
		put_escaped(b, e->hint);
		buf_puts(b, "\n");
	}
}

void
err_print(const struct err *e, FILE *fp)
{
	struct buf b;

	buf_init(&b, 4096);
	err_put(e, &b);
	fwrite(b.data, 1, b.len, fp);
	buf_release(&b);
}
