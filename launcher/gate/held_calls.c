#include "launcher/gate/held_calls.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "launcher/plan/ranges.h"
#include "platform/calls.h"
#include "platform/fd.h"
#include "shim/wire.h"

_Static_assert((int)HELD_CALL_MARK == (int)WIRE_MARK &&
    (int)HELD_CALL_MADE == (int)WIRE_CALLED, "whom the filter passes");

struct taker {
	held_call_fn	*fn;
	void		*arg;
};

struct held_calls {
	struct taker		 takers[HELD_KINDS];
	struct watch		*watch;
	int			 fd;
	const struct calls_wall	*wall;
	const struct jail_spec	*spec;
	struct witness		*witness;
};

bool
held_calls_is_routed(const struct jail_range *ranges, size_t n,
    const struct jail_range *address, uint16_t port)
{
	/* Of every jail (platform/linux/route.h); no address is this host. */
	static const struct jail_range own[] = {
		{ AF_INET, { 127 }, 8 },
		{ AF_INET, { 0 }, 32 },
		{ AF_INET, { 198, 18 }, 15 },
		{ AF_INET6, { [15] = 1 }, 128 },
		{ AF_INET6, { 0 }, 128 },
	};

	return port == JAIL_DNS_PORT ||
	    ranges_cover(own, sizeof own / sizeof own[0], address) ||
	    ranges_cover(ranges, n, address);
}

bool
held_calls_is_gate(const struct jail_spec *spec,
    const struct jail_range *address, uint16_t port)
{
	static const struct jail_range home[] = {
		{ AF_INET, { 127 }, 8 },
		{ AF_INET, { 0 }, 32 },
		{ AF_INET6, { [15] = 1 }, 128 },
		{ AF_INET6, { 0 }, 128 },
	};

	if (port == JAIL_DNS_PORT || port == spec->http_port ||
	    port == spec->socks_port)
		return true;
	for (size_t i = 0; i < spec->nlocal_ports; i++)
		if (port == spec->local_ports[i])
			return true;
	return !ranges_cover(home, sizeof home / sizeof home[0], address);
}

static void
look_at(struct held_calls *c, const struct held_call *call)
{
	struct jail_range a = { .family = call->family,
	    .bits = call->family == AF_INET ? 32 : 128 };
	struct witness_call told = { .pid = call->tid, .port = call->port,
	    .from = call->from };

	memcpy(a.addr, call->addr, sizeof a.addr);
	told.addr_len = a.bits / 8;
	memcpy(told.addr, call->addr, told.addr_len);
	if (!held_calls_is_routed(c->spec->ranges, c->spec->nranges, &a,
	    call->port)) {
		told.is_datagram = held_call_sock_type(call) == SOCK_DGRAM;
		if (!call->was_made)
			witness_call(c->witness, &told);
	} else if (held_calls_is_gate(c->spec, &a, call->port))
		witness_gate_call(c->witness, &told);
}

static void
take_address(int calls_fd, const struct held_call *call, void *arg)
{
	const struct held_calls *c = arg;
	const struct taker *files = &c->takers[HELD_FILE];

	if (call->has_file && files->fn != NULL) {
		files->fn(calls_fd, call, files->arg);
		return;
	}
	if (call->family != 0)
		look_at(arg, call);
	held_call_go(calls_fd, call);
}

void
held_calls_give(struct held_calls *c, const struct held_call *call)
{
	const struct taker *t = &c->takers[call->kind];

	if (t->fn != NULL)
		t->fn(c->fd, call, t->arg);
	else
		held_call_go(c->fd, call);
}

/*
 * One a turn: whether another waits only the loop can say, and to ask for one
 * that is not there is to wait for it.  At the end nobody is left to wait.
 */
static void
call_waits(struct watch *w, int what, void *arg)
{
	struct held_calls *c = arg;
	struct held_call call;
	int rc = (what & LOOP_HUP) != 0 ? -1 : held_call_next(c->fd, c->wall,
	    &call);

	(void)w;
	if (rc < 0) {
		/* Whoever still calls is refused (ENOSYS), and waits not. */
		watch_free(c->watch);
		c->watch = NULL;
		fd_close(&c->fd);
	} else if (rc > 0) {
		held_calls_give(c, &call);
	}
}

void
held_calls_resume(struct held_calls *c)
{
	if (c->watch != NULL)
		(void)watch_events(c->watch, LOOP_READ);
}

int
held_calls_fd(const struct held_calls *c)
{
	return c->fd;
}

void
held_calls_go(struct held_calls *c, const struct held_call *call)
{
	held_call_go(c->fd, call);
}

int
held_calls_share(struct held_calls *c)
{
	(void)watch_events(c->watch, LOOP_HUP);
	return c->fd;
}

void
held_calls_take(struct held_calls *c, enum held_kind kind, held_call_fn *fn,
    void *arg)
{
	c->takers[kind] = (struct taker){ fn, arg };
}

struct held_calls *
held_calls_new(struct loop *loop, int *listener_fd,
    const struct calls_wall *wall, const struct jail_spec *spec,
    struct witness *witness)
{
	struct held_calls *c = calloc(1, sizeof *c);

	if (c == NULL)
		return NULL;
	*c = (struct held_calls){ .fd = fd_take(listener_fd), .wall = wall,
	    .spec = spec, .witness = witness };
	held_calls_take(c, HELD_ADDRESS, take_address, c);
	c->watch = loop_fd(loop, c->fd, LOOP_READ, call_waits, c);
	if (c->watch == NULL) {
		held_calls_free(c);
		return NULL;
	}
	return c;
}

void
held_calls_free(struct held_calls *c)
{
	if (c == NULL)
		return;
	watch_free(c->watch);
	fd_close(&c->fd);
	free(c);
}
