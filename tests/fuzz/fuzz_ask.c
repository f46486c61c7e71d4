/* What passes the check keeps its promises. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/ask.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct ask_msg m, again;
	struct ask_answer a;
	struct ask_shake s;

	if (ask_check_msg(data, len, &m) == 0) {
		if (strlen(m.name) != m.name_len ||
		    strnlen(m.host, sizeof m.host) == sizeof m.host ||
		    strnlen(m.method, sizeof m.method) == sizeof m.method)
			abort();
		if (ask_check_msg(&m, sizeof m, &again) != 0 ||
		    memcmp(&m, &again, sizeof m) != 0)
			abort();
	}
	if (ask_check_shake(data, len, &s) == 0 &&
	    (s.port == 0 || s.host[0] == '\0' ||
	    strnlen(s.host, sizeof s.host) == sizeof s.host ||
	    strnlen(s.user, sizeof s.user) == sizeof s.user ||
	    strnlen(s.password, sizeof s.password) == sizeof s.password))
		abort();
	if (ask_check_answer(data, len, &a) == 0 &&
	    (a.naddrs > ASK_MAX_ADDRS ||
	    strnlen(a.name, sizeof a.name) == sizeof a.name ||
	    strnlen(a.rule, sizeof a.rule) == sizeof a.rule ||
	    strnlen(a.remedy, sizeof a.remedy) == sizeof a.remedy))
		abort();
	return 0;
}
