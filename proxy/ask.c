#include "proxy/ask.h"

#include <string.h>
#include <sys/socket.h>

/* A NUL somewhere inside; what follows it is wiped in the copy. */
static int
ask_text(char *text, size_t size)
{
	size_t len = strnlen(text, size);

	if (len == size)
		return -1;
	memset(text + len, 0, size - len);
	return 0;
}

static int
ask_family(unsigned family)
{
	return family == AF_INET || family == AF_INET6 ? 0 : -1;
}

static int
ask_name(struct ask_msg *m)
{
	if (m->name_len >= sizeof m->name ||
	    memchr(m->name, '\0', m->name_len) != NULL)
		return -1;
	memset(m->name + m->name_len, 0, sizeof m->name - m->name_len);
	return 0;
}

/* What each kind cannot do without. */
static int
ask_kind_complete(const struct ask_msg *m)
{
	switch (m->kind) {
	case ASK_LOOKUP:
	case ASK_PTR:
	case ASK_RESOLVE:
		return m->name_len > 0 ? 0 : -1;
	case ASK_DIAL:
	case ASK_DONE:
		return m->name_len > 0 && m->port != 0 &&
		    m->via >= ASK_VIA_HTTP && m->via != ASK_VIA_DNS ? 0 : -1;
	case ASK_SNI:
		return m->granted[0] != '\0' && m->port != 0 &&
		    m->via >= ASK_VIA_HTTP && m->via <= ASK_VIA_SOCKS ? 0 : -1;
	case ASK_WHY:
		return m->name_len > 0 && m->port != 0 ? 0 : -1;
	case ASK_NOTE:
		return m->note >= ASK_NOTE_LIMIT &&
		    m->note < ASK_NOTES ? 0 : -1;
	case ASK_PORT:
		return m->port != 0 && m->via >= ASK_VIA_LOCAL ? 0 : -1;
	case ASK_LISTEN:
	case ASK_RECENT:
	case ASK_RESTART:
		return 0;
	case ASK_SHAKE:		/* another struct */
		break;
	}
	return -1;
}

int
ask_check_msg(const void *data, size_t len, struct ask_msg *ret)
{
	struct ask_msg m;

	if (len != sizeof m)
		return -1;
	memcpy(&m, data, sizeof m);
	if (m.magic != ASK_MAGIC || m.via > ASK_VIA_INSIDE || m.is_udp > 1 ||
	    m.is_open > 1)
		return -1;
	if (m.source.family != 0 && ask_family(m.source.family) != 0)
		return -1;
	if (ask_name(&m) != 0 || ask_text(m.method, sizeof m.method) != 0 ||
	    ask_text(m.granted, sizeof m.granted) != 0 ||
	    ask_kind_complete(&m) != 0)
		return -1;
	*ret = m;
	return 0;
}

int
ask_check_shake(const void *data, size_t len, struct ask_shake *ret)
{
	struct ask_shake s;

	if (len != sizeof s)
		return -1;
	memcpy(&s, data, sizeof s);
	if (s.magic != ASK_MAGIC || s.kind != ASK_SHAKE || s.proxy > 1 ||
	    s.port == 0 || s.has_login > 1 ||
	    ask_text(s.host, sizeof s.host) != 0 || s.host[0] == '\0' ||
	    ask_text(s.user, sizeof s.user) != 0 ||
	    ask_text(s.password, sizeof s.password) != 0)
		return -1;
	*ret = s;
	return 0;
}

int
ask_check_answer(const void *data, size_t len, struct ask_answer *ret)
{
	struct ask_answer a;

	if (len != sizeof a)
		return -1;
	memcpy(&a, data, sizeof a);
	if (a.magic != ASK_MAGIC || a.status < ASK_OK ||
	    a.status > ASK_PROXY_FAILED || a.naddrs > ASK_MAX_ADDRS ||
	    a.wants_done > 1 || a.is_loop > 1)
		return -1;
	for (unsigned i = 0; i < a.naddrs; i++)
		if (ask_family(a.addrs[i].family) != 0)
			return -1;
	if (ask_text(a.name, sizeof a.name) != 0 ||
	    ask_text(a.rule, sizeof a.rule) != 0 ||
	    ask_text(a.remedy, sizeof a.remedy) != 0)
		return -1;
	*ret = a;
	return 0;
}
