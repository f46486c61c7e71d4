/* What of an agent's file may reach the host: launcher/guard/agentconf.h. */
#include <string.h>

#include "launcher/guard/agentconf.h"
#include "launcher/shadow/shadow.h"
#include "platform/base/str.h"

int
shadow_sift_agent(const char *path, const char *host, size_t host_len,
    const char *jail, size_t jail_len, struct buf *ret, bool *ret_is_held,
    void *home)
{
	size_t n = home != NULL ? strlen(home) : 0;
	const struct agentconf_file *row = n < 2 ||
	    !str_path_below(path, home) || path[n] != '/' ? NULL :
	    agentconf_find(path + n + 1);
	struct agentconf_answer answer;
	struct arena *a;

	if (row == NULL)
		return -1;	/* nobody knows what in it executes */
	a = arena_new();
	agentconf_sift(a, row, host, host_len, jail, jail_len, &answer);
	if (answer.verdict != AGENTCONF_UNREADABLE && answer.text != NULL)
		buf_add(ret, answer.text, answer.len);
	*ret_is_held = answer.verdict == AGENTCONF_SIFTED &&
	    answer.nkeys > 0;
	arena_free(a);
	return answer.verdict == AGENTCONF_UNREADABLE ? -1 : 0;
}
