/*
 * What a call's values are, and the report of it.
 */
#include "shim/probe/probe.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <string.h>
#include <time.h>

#include "shim/sys.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK	18
#endif

enum { PAGE = 4096, CALLS_PER_SECOND = 1000 };

/* Of one probe, in this process. */
struct gauge {
	uint32_t	told;		/* since `second` began */
	uint32_t	dropped;	/* and not reported yet */
	int64_t		second;
};

static struct gauge *gauges;

bool
capture_init(void)
{
	long mem = SYS(mmap, NULL, PROBE_SIGS_MAX * sizeof *gauges,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (sys_failed(mem))
		return false;
	/* A forked child does not report again what its parent dropped. */
	SYS(madvise, mem, PROBE_SIGS_MAX * sizeof *gauges, MADV_WIPEONFORK);
	__atomic_store_n(&gauges, (struct gauge *)mem, __ATOMIC_RELEASE);
	return true;
}

bool
capture_may(uint32_t probe)
{
	struct gauge *g = &gauges[probe];
	struct timespec now = { 0 };
	int64_t second;

	if (__atomic_fetch_add(&g->told, 1, __ATOMIC_RELAXED) <
	    CALLS_PER_SECOND)
		return true;
	SYS(clock_gettime, CLOCK_MONOTONIC_COARSE, &now);
	second = __atomic_load_n(&g->second, __ATOMIC_RELAXED);
	if (second != now.tv_sec && __atomic_compare_exchange_n(&g->second,
	    &second, now.tv_sec, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
		__atomic_store_n(&g->told, 1, __ATOMIC_RELAXED);
		return true;
	}
	__atomic_add_fetch(&g->dropped, 1, __ATOMIC_RELAXED);
	return false;
}

size_t
capture_room(const struct probe_sig *s)
{
	size_t room = s->result.max;

	for (uint32_t i = 0; i < s->nargs; i++)
		room += s->arg[i].max;
	return room;
}

/*
 * A wrong pointer is the function's to answer, not ours to crash on.  The
 * kernel reads a signal mask before it looks at what to do with it, and there
 * is no -1 to do.
 */
static bool
can_read(uintptr_t at)
{
	return at >= PAGE &&
	    SYS(rt_sigprocmask, -1, at & ~7UL, NULL, 8) == -EINVAL;
}

/* Up to n bytes, which may end at a page that cannot be read. */
static size_t
copy(uint8_t *to, uintptr_t from, size_t n)
{
	size_t done = 0, piece;

	while (done < n && can_read(from + done)) {
		piece = PAGE - (from + done) % PAGE;
		if (piece > n - done)
			piece = n - done;
		memcpy(to + done, (const void *)(from + done), piece);
		done += piece;
	}
	return done;
}

static uint16_t
copy_bytes(uint8_t *to, uintptr_t from, size_t n)
{
	size_t done = copy(to, from, n);

	return n > 0 && done == 0 ? PROBE_GOT_NONE : done;
}

/* A text of up to max bytes; page by page, for it may end before the next. */
static uint16_t
copy_text(uint8_t *to, uintptr_t from, size_t max)
{
	const char *end;
	size_t n = 0, piece;

	for (; n <= max; n += piece) {
		if (!can_read(from + n))
			return n == 0 ? PROBE_GOT_NONE : n | PROBE_GOT_CUT;
		piece = PAGE - (from + n) % PAGE;
		if (piece > max + 1 - n)
			piece = max + 1 - n;
		end = memchr((const void *)(from + n), '\0', piece);
		if (end != NULL) {
			piece = end - (const char *)(from + n);
			memcpy(to + n, (const void *)(from + n), piece);
			return n + piece;
		}
		/* The last byte is looked at only. */
		memcpy(to + n, (const void *)(from + n),
		    n + piece > max ? piece - 1 : piece);
	}
	return max | PROBE_GOT_CUT;
}

/* 'i' and 'u' as they are declared; what is above is not theirs. */
static int64_t
as_integer(const struct probe_value *v, uint64_t value)
{
	switch (v->type == 'i' ? v->size : v->size << 4) {
	case 1:
		return (int8_t)value;
	case 2:
		return (int16_t)value;
	case 4:
		return (int32_t)value;
	case 1 << 4:
		return (uint8_t)value;
	case 2 << 4:
		return (uint16_t)value;
	case 4 << 4:
		return (uint32_t)value;
	}
	return (int64_t)value;
}

/* How long the buffer is that argument i points to: the argument behind it. */
static size_t
buffer_len(const struct capture *c, uint32_t i)
{
	int64_t len = as_integer(&c->sig->arg[i + 1], c->r->value[i + 1]);
	size_t max = c->sig->arg[i].max;

	if (len < 0)		/* a large size_t is no buffer either */
		return 0;
	return (uint64_t)len < max ? (size_t)len : max;
}

/* Where the next bytes of a report go. */
static uint8_t *
room(struct probe_report *r)
{
	return (uint8_t *)r + PROBE_HEADER_BYTES + r->data_len;
}

static void
add(struct capture *c, uint32_t i, uint16_t got)
{
	c->r->got[i] = got;
	if (got != PROBE_GOT_NONE)
		c->r->data_len += got & ~PROBE_GOT_CUT;
}

void
capture_begin(struct capture *c, const uint64_t *args, int err)
{
	struct probe_report *r = c->r;
	const struct probe_value *v;

	memset(r, 0, PROBE_HEADER_BYTES);
	r->magic = WIRE_MAGIC;
	r->call = WIRE_PROBE;
	r->probe = c->probe;
	r->err = err;
	SYS(prctl, PR_GET_NAME, r->comm);
	for (uint32_t i = 0; i < c->sig->nargs; i++)
		r->value[i] = args[i];
	for (uint32_t i = 0; i < c->sig->nargs; i++) {
		v = &c->sig->arg[i];
		if (v->type == 's' && args[i] != 0)
			add(c, i, copy_text(room(r), args[i], v->max));
		else if (v->type == 'b' && args[i] != 0)
			add(c, i, copy_bytes(room(r), args[i],
			    buffer_len(c, i)));
	}
}

/* What the function wrote: no more than it says by its result. */
static size_t
filled_len(const struct capture *c, uint32_t i, uint64_t result)
{
	const struct probe_value *v = &c->sig->result;
	size_t len = buffer_len(c, i);
	int64_t n;

	if (v->type != 'i' && v->type != 'u')
		return len;
	n = as_integer(v, result);
	if (n < 0)
		return 0;
	return (uint64_t)n < len ? (size_t)n : len;
}

void
capture_end(struct capture *c, uint64_t result, int err)
{
	struct probe_report *r = c->r;
	uint32_t n = c->sig->nargs;

	r->is_new_err = r->err != err;
	r->err = err;
	r->value[n] = result;
	for (uint32_t i = 0; i < n; i++)
		if (c->sig->arg[i].type == 'o' && r->value[i] != 0)
			add(c, i, copy_bytes(room(r), r->value[i],
			    filled_len(c, i, result)));
	if (c->sig->result.type == 's' && result != 0)
		add(c, n, copy_text(room(r), result, c->sig->result.max));
}

/* 0, or a small negative number. */
static long
send_report(const void *report, size_t len)
{
	static const struct sockaddr_un to = {
		.sun_family = AF_UNIX,
		.sun_path = WIRE_SOCKET,
	};
	long fd = SYS(socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	long rv;

	if (fd < 0)
		return fd;
	rv = SYS(sendto, fd, report, len, MSG_DONTWAIT | MSG_NOSIGNAL, &to,
	    WIRE_MARKED(sizeof to));
	SYS(close, fd);
	return rv < 0 ? rv : 0;
}

void
capture_send(struct capture *c)
{
	struct gauge *g = &gauges[c->probe];
	struct probe_report *r = c->r;

	r->dropped = __atomic_exchange_n(&g->dropped, 0, __ATOMIC_RELAXED);
	if (send_report(r, PROBE_HEADER_BYTES + r->data_len) < 0)
		__atomic_add_fetch(&g->dropped, r->dropped + 1,
		    __ATOMIC_RELAXED);
}

void
capture_finish(void)
{
	struct wire_report r;
	uint32_t lost = 0;

	for (uint32_t i = 0; i < probe_set.n; i++)
		lost += __atomic_exchange_n(&gauges[i].dropped, 0,
		    __ATOMIC_RELAXED);
	if (lost == 0)
		return;
	memset(&r, 0, WIRE_HEADER_BYTES);
	r.magic = WIRE_MAGIC;
	r.call = WIRE_LOST;
	r.err = EAGAIN;
	r.flags = lost;
	SYS(prctl, PR_GET_NAME, r.comm);
	(void)send_report(&r, WIRE_HEADER_BYTES);
}
