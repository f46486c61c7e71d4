#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "platform/linux/mint.h"
#include "platform/linux/nft.h"
#include "platform/linux/route.h"
#include "tests/unit/netns.h"

static char *
golden(void)
{
	static char text[4 * NFT_BATCH_MAX];
	const char *dir = getenv("srcdir");
	char path[4096];
	FILE *f;
	size_t n;

	snprintf(path, sizeof path, "%s/tests/golden/nft.hex",
	    dir != NULL ? dir : ".");
	f = fopen(path, "re");
	assert_non_null(f);
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

/* One message a line, each beginning with its length. */
static char *
hex(const unsigned char *p, size_t len)
{
	static char text[4 * NFT_BATCH_MAX];
	size_t at = 0, end = 0;

	for (size_t i = 0; i < len; i++) {
		if (i == end)
			end += p[i] | p[i + 1] << 8;
		at += snprintf(text + at, sizeof text - at, "%02x%s", p[i],
		    i + 1 == end ? "\n" : "");
	}
	return text;
}

static void
test_golden(void **state)
{
	unsigned char out[NFT_BATCH_MAX];
	size_t len;

	(void)state;
	if (*(const uint8_t *)&(const uint16_t){ 1 } != 1)
		skip();		/* the file holds little-endian headers */
	len = nft_build((struct nft_plan){ 0x1234, 0x5678 }, out, sizeof out);
	assert_true(len > 0);
	assert_string_equal(hex(out, len), golden());
}

static void
test_sizes(void **state)
{
	struct nft_plan both = { 1, 2 }, four = { 1, 0 };
	unsigned char out[NFT_BATCH_MAX];
	size_t len, shorter;

	(void)state;
	len = nft_build(both, out, sizeof out);
	shorter = nft_build(four, out, sizeof out);
	assert_true(shorter > 0 && shorter < len);
	for (size_t max = 0; max < len; max++)
		assert_int_equal(nft_build(both, out, max), 0);
	assert_int_equal(nft_build(both, out, len), len);
}

static void
expect_line(const char *ruleset, const char *fmt, unsigned port)
{
	char line[256];

	snprintf(line, sizeof line, fmt, port);
	if (strstr(ruleset, line) == NULL)
		fail_msg("no '%s' in:\n%s", line, ruleset);
}

/* What the kernel understood, read back by nft(8) itself. */
static void
test_ruleset(void **state)
{
	char text[4096];
	const struct jail_spec spec = { .http_port = 3128,
	    .socks_port = 1080 };
	int listen_fd[JAIL_NLISTENERS], step;
	FILE *f;
	size_t n;

	(void)state;
	if (netns_enter() < 0) {
		print_message("SKIP: no user namespace: %s\n",
		    strerror(errno));
		if (getenv("FENCE_MUST_WORK") != NULL)
			fail_msg("no user namespace");
		skip();
	}
	assert_int_equal(nft_apply(-1, -1, &step), -1);
	assert_int_equal(route_setup(NULL, 0, &step), 0);
	assert_int_equal(mint_listeners(&spec, false, listen_fd, NULL,
	    &step), 0);
	if (nft_apply(listen_fd[JAIL_LISTEN_TRANSPARENT4],
	    listen_fd[JAIL_LISTEN_TRANSPARENT6], &step) < 0)
		fail_msg("%s: %s", nft_step_text(step), strerror(errno));
	f = popen("PATH=$PATH:/usr/sbin:/sbin; command -v nft >/dev/null && "
	    "nft list ruleset", "re");
	assert_non_null(f);
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	if (pclose(f) != 0) {
		print_message("SKIP: no nft(8) to read the rules back\n");
		skip();
	}
	expect_line(text, "ip daddr != 127.0.0.0/8 ip daddr != 198.18.0.0/24 "
	    "tcp dport != 53 tproxy to 127.0.0.1:%u accept",
	    mint_port(listen_fd[JAIL_LISTEN_TRANSPARENT4]));
	if (listen_fd[JAIL_LISTEN_TRANSPARENT6] >= 0)
		expect_line(text, "ip6 daddr != ::1 tcp dport != 53 "
		    "tproxy to [::1]:%u accept",
		    mint_port(listen_fd[JAIL_LISTEN_TRANSPARENT6]));
	expect_line(text, "type filter hook prerouting priority mangle; "
	    "policy accept;", 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_ruleset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
