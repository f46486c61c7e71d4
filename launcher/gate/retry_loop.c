#include "launcher/gate/retry_loop.h"

#include <stdio.h>
#include <string.h>

static bool
is_same(const struct retry_loop_entry *e, pid_t pid, const char *host,
    uint16_t port)
{
	return e->count > 0 && e->pid == pid && e->port == port &&
	    strncmp(e->host, host, sizeof e->host - 1) == 0;
}

/* Its entry, or the one to take: free, or quiet for longest. */
static struct retry_loop_entry *
find(struct retry_loop *r, pid_t pid, const char *host, uint16_t port)
{
	struct retry_loop_entry *best = &r->entry[0];

	for (unsigned i = 0; i < RETRY_LOOP_ENTRIES; i++) {
		struct retry_loop_entry *e = &r->entry[i];

		if (is_same(e, pid, host, port))
			return e;
		if (best->count > 0 && (e->count == 0 ||
		    e->last_ms < best->last_ms))
			best = e;
	}
	return best;
}

bool
retry_loop_refused(struct retry_loop *r, pid_t pid, const char *host,
    uint16_t port, int64_t now_ms)
{
	struct retry_loop_entry *e = find(r, pid, host, port);

	if (!is_same(e, pid, host, port) ||
	    now_ms - e->last_ms > RETRY_LOOP_QUIET_MS) {
		*e = (struct retry_loop_entry){ .pid = pid, .port = port };
		(void)snprintf(e->host, sizeof e->host, "%s", host);
	}
	e->last_ms = now_ms;
	return e->count++ >= RETRY_LOOP_MAX;
}
