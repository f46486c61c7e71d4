#include "launcher/gate/repeat.h"

#include <stdio.h>
#include <string.h>

static bool
is_same(const struct repeat_entry *e, pid_t pid, const char *host,
    uint16_t port)
{
	return e->count > 0 && e->pid == pid && e->port == port &&
	    strncmp(e->host, host, sizeof e->host - 1) == 0;
}

/* Its entry, or the one to take: free, or quiet for longest. */
static struct repeat_entry *
find(struct repeat *r, pid_t pid, const char *host, uint16_t port)
{
	struct repeat_entry *best = &r->entry[0];

	for (unsigned i = 0; i < REPEAT_ENTRIES; i++) {
		struct repeat_entry *e = &r->entry[i];

		if (is_same(e, pid, host, port))
			return e;
		if (best->count > 0 && (e->count == 0 ||
		    e->last_ms < best->last_ms))
			best = e;
	}
	return best;
}

bool
repeat_is_loop(struct repeat *r, pid_t pid, const char *host, uint16_t port,
    int64_t now_ms)
{
	struct repeat_entry *e = find(r, pid, host, port);

	if (!is_same(e, pid, host, port) ||
	    now_ms - e->last_ms > REPEAT_QUIET_MS) {
		*e = (struct repeat_entry){ .pid = pid, .port = port };
		(void)snprintf(e->host, sizeof e->host, "%s", host);
	}
	e->last_ms = now_ms;
	return e->count++ >= REPEAT_MAX;
}
