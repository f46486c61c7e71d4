/* A system without a jail: it says so, and never runs a command bare. */
#include "platform/jail.h"

int
jail_probe(const struct jail_spec *spec, struct err *e)
{
	(void)spec;
	return err_set(e, ERR_JAIL, "no jail is built for this system");
}

void
jail_describe(const struct jail_spec *spec, struct buf *b)
{
	(void)spec;
	buf_puts(b, "no jail is built for this system\n");
}

int
jail_start(const struct jail_spec *spec, struct jail *ret, struct err *e)
{
	(void)ret;
	return jail_probe(spec, e);
}

int
jail_go(const struct jail_spec *spec, struct jail *j, struct err *e)
{
	(void)j;
	return jail_probe(spec, e);
}

void
jail_release(struct jail *j)
{
	(void)j;
}
