/* Lines of /proc/net/unix, and the sockets of this very test. */
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/linux/unixlist.h"

#define HEAD "Num       RefCount Protocol Flags    Type St Inode Path\n"
#define LINE "0000000000000000: 00000002 00000000 00010000 0001 01 23456"
#define LINE2 "ffff8881042f6800: 00000003 00000000 00000000 0002 03   123"

static void
join(const struct unixlist_entry *e, void *arg)
{
	char *text = arg;
	size_t n = strlen(text);

	snprintf(text + n, 256 - n, "<%s>", e->path);
}

static void
test_lines(void **state)
{
	static const struct {
		const char	*text, *found;
	} rows[] = {
		{ "", "" },
		{ HEAD, "" },
		{ HEAD LINE " /run/a\n", "</run/a>" },
		{ HEAD LINE " /run/a\n" LINE2 " /b\n", "</run/a></b>" },
		{ HEAD LINE " /run/a\n" LINE " /run/a\n",
		  "</run/a></run/a>" },
		/* blanks belong to the path, wherever they are */
		{ HEAD LINE " /a b/ c  d\n", "</a b/ c  d>" },
		{ HEAD LINE " /a \n", "</a >" },
		{ HEAD LINE " /a\tb\xff\n", "</a\tb\xff>" },
		{ HEAD LINE "  /a\n", "< /a>" },
		/* no path, abstract, relative */
		{ HEAD LINE "\n" LINE2 " /b\n", "</b>" },
		{ HEAD LINE " \n" LINE2 " /b\n", "</b>" },
		{ HEAD LINE " @\n", "" },
		{ HEAD LINE " @/tmp/.X11-unix/X0\n", "" },
		{ HEAD LINE " sock\n" LINE " ./sock\n",
		  "<sock><./sock>" },
		/* cut at the end */
		{ HEAD LINE " /a\n" LINE " /bc", "</a>" },
		{ HEAD LINE " /a\n000000", "</a>" },
		/* a newline in a path: neither half is one */
		{ HEAD LINE " /a\nb\n" LINE " /c\n", "</c>" },
		{ HEAD LINE " /a\n/b\n", "" },
		{ HEAD LINE " /a\n\n" LINE " /c\n", "</c>" },
		/* columns that are none */
		{ LINE " /a\n", "</a>" },
		{ "0: 1 1 1 1 1 1 /a\n", "</a>" },
		{ "0 1 1 1 1 1 1 /a\n", "" },
		{ "0: 1 1 1 1 1 /a\n", "" },
		{ "0: 1 1 1 1 1 1/a\n", "" },
		{ "0: x 1 1 1 1 1 /a\n", "" },
		{ "0:1 1 1 1 1 1 /a\n", "" },
		{ ": 1 1 1 1 1 1 /a\n", "" },
		{ "0:\n", "" },
		{ "0\n", "" },
		{ "\n\n", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		size_t len = strlen(rows[i].text);
		char *text = malloc(len + 1), found[256] = "";

		/* At the end of its memory: no byte behind may be read. */
		memcpy(text + 1, rows[i].text, len);
		unixlist_parse(text + 1, len, join, found);
		assert_string_equal(found, rows[i].found);
		free(text);
	}
}

/* A NUL can come from no kernel; it makes no path shorter. */
static void
test_nul(void **state)
{
	char text[] = LINE " /a\0b\n" LINE " /c\n", found[256] = "";

	(void)state;
	unixlist_parse(text, sizeof text - 1, join, found);
	assert_string_equal(found, "</c>");
}

enum { NSOCKETS = 300 };

struct search {
	char		dir[32];
	unsigned	found[NSOCKETS], nfiles;
};

static void
tick(const struct unixlist_entry *e, void *arg)
{
	struct search *s = arg;
	size_t n = strlen(s->dir);
	struct stat st;

	if (strncmp(e->path, s->dir, n) != 0)
		return;
	s->found[atoi(e->path + n + 1)]++;
	if (e->has_file) {
		assert_int_equal(lstat(e->path, &st), 0);
		assert_int_equal(e->file_ino, (uint32_t)st.st_ino);
		s->nfiles++;
	}
	assert_true(e->socket > 0);
}

static void
test_read(void **state)
{
	struct search s = { .dir = "/var/tmp/fence-unix-XXXXXX" };
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fds[NSOCKETS];

	(void)state;
	assert_non_null(mkdtemp(s.dir));
	for (int i = 0; i < NSOCKETS; i++) {
		fds[i] = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		snprintf(sa.sun_path, sizeof sa.sun_path, "%s/%d a b", s.dir,
		    i);
		assert_int_equal(bind(fds[i], (void *)&sa, sizeof sa), 0);
	}
	assert_int_equal(unixlist_read(tick, &s), 0);
	/* Refused here, perhaps; but never in part. */
	assert_true(s.nfiles == 0 || s.nfiles >= NSOCKETS);
	for (int i = 0; i < NSOCKETS; i++) {
		assert_true(s.found[i] > 0);
		snprintf(sa.sun_path, sizeof sa.sun_path, "%s/%d a b", s.dir,
		    i);
		assert_int_equal(unlink(sa.sun_path), 0);
		close(fds[i]);
	}
	assert_int_equal(rmdir(s.dir), 0);
	memset(s.found, 0, sizeof s.found);
	assert_int_equal(unixlist_read(tick, &s), 0);
	assert_int_equal(s.found[0], 0);
}

/* An answer of the kernel's as it lies in memory, and pieces of it. */
static void
test_diag(void **state)
{
	struct {
		struct nlmsghdr		h;
		struct unix_diag_msg	m;
		struct nlattr		name;
		char			text[8];
		struct nlattr		vfs;
		struct unix_diag_vfs	file;
		struct nlmsghdr		done;
	} d = {
		.h = { .nlmsg_len = offsetof(typeof(d), done),
		    .nlmsg_type = SOCK_DIAG_BY_FAMILY },
		.m = { .udiag_type = SOCK_STREAM, .udiag_state = 10 },
		.name = { .nla_len = NLA_HDRLEN + 6,
		    .nla_type = UNIX_DIAG_NAME },
		.text = "a\nb/c",
		.vfs = { .nla_len = NLA_HDRLEN + sizeof d.file,
		    .nla_type = UNIX_DIAG_VFS },
		.file = { 7, 8 },
		.done = { .nlmsg_len = sizeof d.done,
		    .nlmsg_type = NLMSG_DONE },
	};
	char found[256] = "";

	(void)state;
	assert_int_equal(unixdiag_parse((void *)&d, sizeof d, join, found), 1);
	assert_string_equal(found, "<a\nb/c>");
	for (size_t len = 0; len < sizeof d; len++) {
		char *piece = malloc(len + 1);

		memcpy(piece + 1, &d, len);
		assert_int_not_equal(unixdiag_parse(piece + 1, len, join,
		    (char[256]){ "" }), 1);
		free(piece);
	}
	found[0] = '\0';
	d.text[0] = '\0';		/* abstract */
	assert_int_equal(unixdiag_parse((void *)&d, sizeof d, join, found), 1);
	d.text[0] = 'a';
	d.m.udiag_state = 1;		/* one end of a connection */
	assert_int_equal(unixdiag_parse((void *)&d, sizeof d, join, found), 1);
	assert_string_equal(found, "");
	d.m.udiag_type = SOCK_DGRAM;	/* which hears others all the same */
	assert_int_equal(unixdiag_parse((void *)&d, sizeof d, join, found), 1);
	assert_string_equal(found, "<a\nb/c>");
	d.h.nlmsg_type = NLMSG_ERROR;
	assert_int_equal(unixdiag_parse((void *)&d, sizeof d, join, found),
	    -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_diag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
