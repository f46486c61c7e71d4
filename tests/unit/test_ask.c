#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include <sys/socket.h>

#include "proxy/ask.h"

static const struct ask_msg good = { .magic = ASK_MAGIC, .id = 7,
    .kind = ASK_DIAL, .via = ASK_VIA_HTTP, .port = 443,
    .source = { .family = AF_INET, .port = 1 },
    .name_len = 6, .name = "a.test", .method = "CONNECT" };

/* Each row changes one thing of a good message. */
static void
test_msg(void **state)
{
	static const struct {
		const char	*what;
		size_t		 at, size;
		uint16_t	 value;
		int		 rv;
	} t[] = {
#define SET(field, value, rv) { #field " = " #value, \
	offsetof(struct ask_msg, field), 2, value, rv }
		SET(via, ASK_VIA_SOCKS, 0),
		SET(via, 0, -1),
		SET(via, ASK_VIA_DNS, -1),
		SET(via, ASK_VIA_LOCAL, 0),
		SET(via, ASK_VIA_INSIDE, 0),
		SET(via, ASK_VIA_INSIDE + 1, -1),
		SET(via, 99, -1),
		SET(kind, 0, -1),
		SET(kind, ASK_PORT, -1),	/* by no way of its own */
		SET(kind, ASK_SHAKE, -1),	/* another struct's */
		SET(kind, ASK_WHY, 0),
		SET(kind, ASK_WHY + 1, -1),
		SET(kind, ASK_LOOKUP, 0),
		SET(kind, ASK_PTR, 0),
		SET(kind, ASK_SNI, -1),		/* to nobody */
		SET(kind, ASK_LISTEN, 0),
		SET(kind, ASK_RECENT, 0),
		SET(kind, ASK_RESTART, 0),
		SET(kind, ASK_NOTE, -1),
		SET(port, 0, -1),
		SET(nth, 65535, 0),		/* the reader's list ends */
		SET(qtype, 65535, 0),
		SET(wstatus, 65535, 0),
		SET(is_udp, 1, 0),
		SET(is_udp, 2, -1),
		SET(source.family, AF_INET6, 0),
		SET(source.family, 0, 0),
		SET(source.family, AF_UNIX, -1),
		SET(name_len, 0, -1),
		SET(name_len, 7, -1),		/* a NUL inside */
		SET(name_len, 256, -1),
		SET(name_len, 65535, -1),
		SET(magic, 0, -1),
	};
	struct ask_msg m, ret;

	(void)state;
	assert_int_equal(ask_check_msg(&good, sizeof good, &ret), 0);
	assert_memory_equal(&ret, &good, sizeof good);
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		m = good;
		memcpy((char *)&m + t[i].at, &t[i].value, t[i].size);
		if (ask_check_msg(&m, sizeof m, &ret) != t[i].rv)
			fail_msg("%s", t[i].what);
	}
	assert_int_equal(ask_check_msg(&good, sizeof good - 1, &ret), -1);
	assert_int_equal(ask_check_msg(&good, 0, &ret), -1);
}

static void
test_msg_text(void **state)
{
	struct ask_msg m = good, ret;

	(void)state;
	memset(m.method, 'M', sizeof m.method);
	assert_int_equal(ask_check_msg(&m, sizeof m, &ret), -1);
	m = good;
	m.name[7] = 'x';
	strcpy(m.method, "GET");
	m.method[5] = 'x';
	assert_int_equal(ask_check_msg(&m, sizeof m, &ret), 0);
	assert_int_equal(ret.name[7], 0);
	assert_int_equal(ret.method[5], 0);
	m.kind = ASK_NOTE;
	m.note = ASK_NOTE_LIMIT;
	assert_int_equal(ask_check_msg(&m, sizeof m, &ret), 0);
	m.note = ASK_NOTES;
	assert_int_equal(ask_check_msg(&m, sizeof m, &ret), -1);
	m = good;
	m.kind = ASK_PORT;
	m.via = ASK_VIA_LOCAL;
	m.name_len = 0;
	assert_int_equal(ask_check_msg(&m, sizeof m, &ret), 0);
	m.via = ASK_VIA_INSIDE;
	assert_int_equal(ask_check_msg(&m, sizeof m, &ret), 0);
	m.port = 0;
	assert_int_equal(ask_check_msg(&m, sizeof m, &ret), -1);
	m = good;
	m.kind = ASK_SNI;
	strcpy(m.granted, "b.test");
	m.granted[9] = 'x';
	assert_int_equal(ask_check_msg(&m, sizeof m, &ret), 0);
	assert_int_equal(ret.granted[9], 0);
	m.name_len = 0;
	assert_int_equal(ask_check_msg(&m, sizeof m, &ret), 0);
	m.via = ASK_VIA_LOCAL;		/* no TLS name is judged there */
	assert_int_equal(ask_check_msg(&m, sizeof m, &ret), -1);
	m.via = ASK_VIA_HTTP;
	memset(m.granted, 'x', sizeof m.granted);
	assert_int_equal(ask_check_msg(&m, sizeof m, &ret), -1);
	m = good;
	strcpy(m.url_path, "/path");
	m.url_path[7] = 'x';
	assert_int_equal(ask_check_msg(&m, sizeof m, &ret), 0);
	assert_int_equal(ret.url_path[7], 0);
	memset(m.url_path, 'x', sizeof m.url_path);
	assert_int_equal(ask_check_msg(&m, sizeof m, &ret), -1);
}

static void
test_answer(void **state)
{
	struct ask_answer a = { .magic = ASK_MAGIC, .status = ASK_OK,
	    .naddrs = 1, .addrs[0].family = AF_INET }, bad, ret;

	(void)state;
	assert_int_equal(ask_check_answer(&a, sizeof a, &ret), 0);
	assert_int_equal(ask_check_answer(&a, sizeof a - 1, &ret), -1);
#define BAD(change) do {						\
	bad = a;							\
	change;								\
	if (ask_check_answer(&bad, sizeof bad, &ret) != -1)		\
		fail_msg("%s", #change);				\
} while (0)
	BAD(bad.magic++);
	BAD(bad.status = 0);
	BAD(bad.status = ASK_PROXY_FAILED + 1);
	BAD(bad.naddrs = ASK_MAX_ADDRS + 1);
	BAD(bad.naddrs = 2);
	BAD(bad.addrs[0].family = AF_UNIX);
	BAD(memset(bad.name, 'x', sizeof bad.name));
	BAD(memset(bad.tls_name, 'x', sizeof bad.tls_name));
	BAD(memset(bad.what, 'x', sizeof bad.what));
	BAD(memset(bad.reason, 'x', sizeof bad.reason));
	BAD(memset(bad.rule, 'x', sizeof bad.rule));
	BAD(memset(bad.remedy, 'x', sizeof bad.remedy));
}

static void
test_shake(void **state)
{
	struct ask_shake s = { .magic = ASK_MAGIC, .kind = ASK_SHAKE,
	    .port = 443, .host = "a.test", .has_login = 1, .user = "u",
	    .password = "p" }, bad, ret;

	(void)state;
	assert_int_equal(ask_check_shake(&s, sizeof s, &ret), 0);
	assert_memory_equal(&s, &ret, sizeof s);
	assert_int_equal(ask_check_shake(&s, sizeof s - 1, &ret), -1);
	assert_int_equal(ask_check_shake(&good, sizeof good, &ret), -1);
#undef BAD
#define BAD(change) do {						\
	bad = s;							\
	change;								\
	if (ask_check_shake(&bad, sizeof bad, &ret) != -1)		\
		fail_msg("%s", #change);				\
} while (0)
	BAD(bad.magic++);
	BAD(bad.kind = ASK_RESOLVE);
	BAD(bad.proxy = 2);
	BAD(bad.port = 0);
	BAD(bad.has_login = 2);
	BAD(bad.host[0] = '\0');
	BAD(memset(bad.host, 'x', sizeof bad.host));
	BAD(memset(bad.user, 'x', sizeof bad.user));
	BAD(memset(bad.password, 'x', sizeof bad.password));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_msg),
		cmocka_unit_test(test_msg_text),
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_shake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
