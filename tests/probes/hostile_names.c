/*
 * A fence-names that was conquered: the real one, but that its loop is this
 * file's (ld --wrap=loop_run), entered behind its walls.  All it can say is an
 * address; so what it found out is said by one:
 *
 *	tN.wild.test	row N of hostile.c: the address of allowed.test if it
 *			was refused, that of denied.test if it was not
 *	aHEX.wild.test	HEX as the name's address, whatever that is
 *	forge.wild.test	first what is no answer, then allowed.test's address
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/loop.h"
#include "proxy/ask.h"
#include "tests/probes/hostile.h"

enum { ASK_FD = 3 };

int	__wrap_loop_run(struct loop *);

static bool
is_refused(const char *number)
{
	size_t i = (size_t)atoi(number);
	char text[80];

	if (i >= hostile_nrows)
		return false;
	text[hostile_try(&hostile_rows[i], text, sizeof text) - 1] = '\0';
	return strstr(text, " EPERM") != NULL ||
	    strstr(text, " EACCES") != NULL || strstr(text, " ENOSYS") != NULL;
}

static void
fill_hex(struct ask_addr *a, const char *hex)
{
	size_t n = strspn(hex, "0123456789abcdef") / 2;

	a->family = n == 4 ? AF_INET : AF_INET6;
	for (size_t i = 0; i < n && i < sizeof a->addr; i++) {
		char two[3] = { hex[2 * i], hex[2 * i + 1], '\0' };

		a->addr[i] = (uint8_t)strtoul(two, NULL, 16);
	}
}

static void
say(const void *data, size_t len)
{
	(void)!send(ASK_FD, data, len, MSG_NOSIGNAL);
}

/* Each is to be thrown away. */
static void
forge(const struct ask_answer *right)
{
	static char huge[100 * 1000];
	struct ask_answer a;

	say(huge, sizeof huge);
	say(huge, 0);
	for (size_t n = 1; n < sizeof a; n += 7)
		say(right, n);
	a = *right;
	a.magic++;
	say(&a, sizeof a);
	a = *right;
	a.naddrs = 60000;
	say(&a, sizeof a);
	a = *right;
	a.id += 1000;			/* nobody asked */
	say(&a, sizeof a);
	a = *right;
	memset(a.name, 'x', sizeof a.name);
	say(&a, sizeof a);
	a = *right;
	a.addrs[0].family = AF_UNIX;
	say(&a, sizeof a);
}

int
__wrap_loop_run(struct loop *loop)
{
	struct ask_msg m;

	(void)loop;
	while (recv(ASK_FD, &m, sizeof m, 0) == sizeof m) {
		struct ask_answer a = { .magic = ASK_MAGIC, .id = m.id,
		    .status = ASK_OK, .naddrs = 1 };

		fill_hex(&a.addrs[0], "c633640a");	/* allowed.test */
		if (m.name[0] == 't' && !is_refused(m.name + 1))
			fill_hex(&a.addrs[0], "c6336414");
		else if (m.name[0] == 'a')
			fill_hex(&a.addrs[0], m.name + 1);
		else if (m.name[0] == 'f')
			forge(&a);
		say(&a, sizeof a);
	}
	return 0;
}
