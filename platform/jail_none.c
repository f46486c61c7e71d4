/* A system without a jail: it says so, and never runs a command bare. */
#include "platform/jail.h"

int
jail_probe(const struct jail_spec *spec, struct err *e)
{
	(void)spec;
	return err_set(e, ERR_JAIL, "no jail is built for this system");
}

void
jail_describe(const struct jail_spec *spec,
    void (*put_reason)(struct buf *, const void *), struct buf *b)
{
	(void)spec;
	(void)put_reason;
	buf_puts(b, "no jail is built for this system\n");
}

void
jail_features(const struct jail_spec *spec, struct buf *b)
{
	(void)spec;
	buf_puts(b, "none");
}

struct jail_ahead *
jail_ahead(void)
{
	return NULL;
}

void
jail_ahead_free(struct jail_ahead *a)
{
	(void)a;
}

int
jail_start(const struct jail_spec *spec, struct jail_ahead *ahead,
    struct jail *ret, struct err *e)
{
	(void)ahead;
	(void)ret;
	return jail_probe(spec, e);
}

int
jail_plan(const struct jail_spec *spec, struct jail *j, struct err *e)
{
	(void)j;
	return jail_probe(spec, e);
}

int
jail_go(struct jail *j, struct err *e)
{
	(void)j;
	return jail_probe(NULL, e);
}

int
jail_next(struct jail *j, struct jail_event *ret)
{
	(void)j;
	(void)ret;
	return -1;
}

int
jail_ask(struct jail *j, int signo, bool wants_answer)
{
	(void)j;
	(void)signo;
	(void)wants_answer;
	return -1;
}

void
jail_release(struct jail *j)
{
	(void)j;
}

void
jail_walls(struct jail_walls *ret)
{
	*ret = (struct jail_walls){ false, false };
}

bool
jail_is_inside(void)
{
	return false;
}

int
jail_tighten(const struct jail_spec *spec, bool has_network, struct err *e)
{
	(void)has_network;
	return jail_probe(spec, e);
}
