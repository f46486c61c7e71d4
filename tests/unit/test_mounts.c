/* mounts: facts in, ordered mounts out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "launcher/plan/mounts.h"
#include "platform/base/buf.h"
#include "platform/base/vec.h"

#define D(k, p)	{ .kind = k, .node = { p, p, TREE_DIR, 0, 0, false } }
#define F(k, p)	{ .kind = k, .node = { p, p, TREE_FILE, 0, 0, false } }
#define GONE(k, p) { .kind = k, .node = { p, NULL, TREE_MISSING, 0, 0, false } }
#define L(p, t)	{ .kind = FACT_LINK, .node = { p, p, TREE_FILE, 0, 0, false }, \
    .text = t }
#define O(p, s)	{ .kind = FACT_OTHER, .node = { p, p, TREE_DIR, 0, 0, false }, \
    .text = s }
#define X(k, p)	{ .kind = k, .node = { p, p, TREE_DIR, 0, 0, false }, \
    .is_exposed = true }

static const struct {
	const char		*name;
	struct mount_fact	 facts[8];
	const char		*mounts;	/* after those of every jail */
	const char		*roots;
	const char		*base;		/* NULL: as usual */
	bool			 is_closed;
} cases[] = {
	{ .name = "nothing", { { 0 } }, "", "" },
	{ .name = "a writable tree", { D(FACT_ALLOW_WRITE, "/ws") },
	    "rw /ws\n", "/ws\n" },
	{ .name = "everything: what is named in it stays in its place",
	    { D(FACT_ALLOW_WRITE, "/"), D(FACT_DENY_WRITE, "/sys"),
	      F(FACT_DENY_WRITE, "/home/u/.bashrc"),
	      D(FACT_ALLOW_WRITE, "/home/u"), D(FACT_ALLOW_READ, "/opt"),
	      D(FACT_DENY_READ, "/s"), D(FACT_ALLOW_WRITE, "/run/w") },
	    "rw /home\nrw /home/u\nro /home/u/.bashrc\nrw /run/w\n"
	    "maskdir /s\nro /sys\n", "/\n/home/u\n/run/w\n",
	    "rw / etc /etc dev /dev proc /proc tmpfs /tmp " },
	{ .name = "a folder that is read and not listed, but for a part of it",
	    { D(FACT_ALLOW_EXECUTE, "/x"), D(FACT_ALLOW_READ, "/x/seen"),
	      D(FACT_ALLOW_READ, "/y"), D(FACT_ALLOW_EXECUTE, "/y/z"),
	      D(FACT_ALLOW_EXECUTE, "/both"), D(FACT_ALLOW_READ, "/both") },
	    "ro /both\nexec /x\nro /x/seen\nro /y\n", "",
	    "apart closed / ownetc /etc dev /dev proc /proc tmpfs /tmp ",
	    true },
	{ .name = "longest match, in any order",
	    { D(FACT_ALLOW_WRITE, "/a/b/c"), D(FACT_DENY_WRITE, "/a/b"),
	      D(FACT_ALLOW_WRITE, "/a") },
	    "rw /a\nro /a/b\nrw /a/b/c\n", "/a\n/a/b/c\n" },
	{ .name = "the denial speaks at the same path",
	    { D(FACT_DENY_WRITE, "/a"), D(FACT_ALLOW_WRITE, "/a") },
	    "", "" },
	{ .name = "a hidden file beside a writable tree",
	    { F(FACT_DENY_READ, "/ws/.env"), D(FACT_ALLOW_WRITE, "/ws") },
	    "rw /ws\nmaskfile /ws/.env\n", "/ws\n" },
	{ .name = "names that share a beginning are not below one another",
	    { D(FACT_ALLOW_WRITE, "/ws"), D(FACT_DENY_WRITE, "/wsx"),
	      D(FACT_DENY_READ, "/ws-y") },
	    "rw /ws\nmaskdir /ws-y\n", "/ws\n" },
	{ .name = "a grant inside a hidden tree",
	    { D(FACT_DENY_READ, "/home/u"), D(FACT_ALLOW_WRITE, "/home/u/ws"),
	      F(FACT_DENY_READ, "/home/u/.netrc") },
	    "around /home/u\nrw /home/u/ws\n", "/home/u/ws\n" },
	{ .name = "reading granted inside a hidden tree, and nowhere else a change",
	    { D(FACT_DENY_READ, "/home/u"), D(FACT_ALLOW_READ, "/home/u/doc"),
	      D(FACT_ALLOW_WRITE, "/ws"), D(FACT_ALLOW_READ, "/ws/sub"),
	      D(FACT_ALLOW_READ, "/usr"), F(FACT_DENY_READ, "/home/u/doc/x") },
	    "around /home/u\nro /home/u/doc\nmaskfile /home/u/doc/x\nrw /ws\n",
	    "/ws\n" },
	{ .name = "denyWrite inside a hidden tree shows nothing of it",
	    { D(FACT_DENY_READ, "/s"), D(FACT_DENY_WRITE, "/s/x") },
	    "maskdir /s\n", "" },
	{ .name = "what is missing is passed over",
	    { GONE(FACT_ALLOW_WRITE, "/no"), GONE(FACT_DENY_READ, "/nor") },
	    "", "" },
	{ .name = "a workspace below /tmp comes back, its policy read-only",
	    { D(FACT_SEE, "/tmp/ws"), D(FACT_ALLOW_WRITE, "/tmp/ws"),
	      F(FACT_DENY_WRITE, "/tmp/ws/fence.json"),
	      F(FACT_DENY_READ, "/tmp/other") },
	    "rw /tmp/ws\nro /tmp/ws/fence.json\n", "/tmp/ws\n" },
	{ .name = "a working directory below /tmp is seen without a grant",
	    { D(FACT_SEE, "/tmp/ws") }, "ro /tmp/ws\n", "" },
	{ .name = "below /run it is kept",
	    { D(FACT_SEE, "/run/ws"), D(FACT_ALLOW_WRITE, "/run/ws"),
	      D(FACT_DENY_READ, "/run/docker") },
	    "rw /run/ws\n", "/run/ws\n" },
	{ .name = "below /dev/shm too",
	    { D(FACT_SEE, "/dev/shm/ws"), D(FACT_ALLOW_WRITE, "/dev/shm/ws") },
	    "rw /dev/shm/ws\n", "/dev/shm/ws\n" },
	{ .name = "ancestors of a denial in a writable tree are pinned, once",
	    { D(FACT_ALLOW_WRITE, "/ws"), F(FACT_DENY_READ, "/ws/a/b/x"),
	      F(FACT_DENY_WRITE, "/ws/a/b/y"), D(FACT_DENY_WRITE, "/ws/a/c"),
	      F(FACT_DENY_READ, "/ws/a/c/d/z") },
	    "rw /ws\nrw /ws/a\nrw /ws/a/b\nmaskfile /ws/a/b/x\n"
	    "ro /ws/a/b/y\nro /ws/a/c\nmaskfile /ws/a/c/d/z\n", "/ws\n" },
	{ .name = "a socket of the host's is hidden, unless it is out of sight",
	    { F(FACT_SOCKET, "/home/u/.s"), F(FACT_SOCKET, "/run/docker.sock"),
	      F(FACT_SOCKET, "/tmp/x.sock"), D(FACT_ALLOW_WRITE, "/tmp/ws"),
	      F(FACT_SOCKET, "/tmp/ws/s"), F(FACT_SEE, "/run/agent") },
	    "maskfile /home/u/.s\nro /run/agent\nrw /tmp/ws\n"
	    "maskfile /tmp/ws/s\n", "/tmp/ws\n" },
	{ .name = "a working directory inside a workspace below /tmp stays writable",
	    { D(FACT_ALLOW_WRITE, "/tmp/ws"), D(FACT_SEE, "/tmp/ws/sub") },
	    "rw /tmp/ws\n", "/tmp/ws\n" },
	{ .name = "what may be read below /tmp is bound back",
	    { D(FACT_ALLOW_READ, "/tmp/data") }, "ro /tmp/data\n", "" },
	{ .name = "the host's /tmp, when it is exposed",
	    { X(FACT_ALLOW_WRITE, "/tmp"), F(FACT_DENY_READ, "/tmp/key") },
	    "rw /tmp\nmaskfile /tmp/key\n", "/tmp\n" },
	{ .name = "a folder of the command's own, and a socket granted in it",
	    { D(FACT_OWN, "/run/user/1"), F(FACT_SEE, "/run/user/1/bus"),
	      F(FACT_SOCKET, "/run/user/1/s"),
	      F(FACT_DENY_WRITE, "/run/user/1/x") },
	    "own /run/user/1\nro /run/user/1/bus\n", "" },
	{ .name = "not where the host's is shown",
	    { D(FACT_OWN, "/run/user/1"), D(FACT_SEE, "/run/user/1"),
	      F(FACT_SOCKET, "/run/user/1/s") },
	    "ro /run/user/1\nmaskfile /run/user/1/s\n", "" },
	{ .name = "nor where all around it is, nor where it is denied",
	    { D(FACT_OWN, "/run/user/1"), X(FACT_ALLOW_WRITE, "/run/user"),
	      D(FACT_OWN, "/run/user2"), D(FACT_DENY_READ, "/run/user2") },
	    "rw /run/user\n", "/run/user\n" },
	{ .name = "a device by name", { F(FACT_DEVICE, "/dev/kvm") },
	    "device /dev/kvm\n", "" },
	{ .name = "hiding what the builder stands on: built apart",
	    { D(FACT_DENY_READ, "/usr/lib") }, "maskdir /usr/lib\n", "",
	    "apart ro / etc /etc dev /dev proc /proc tmpfs /tmp " },
	{ .name = "an /etc that is hidden is ours alone",
	    { D(FACT_DENY_READ, "/etc"), F(FACT_DENY_READ, "/etc/shadow"),
	      D(FACT_ALLOW_READ, "/etc/ssl"),
	      F(FACT_ALLOW_READ, "/etc/resolv.conf") },
	    "ro /etc/ssl\n", "",
	    "apart ro / ownetc /etc dev /dev proc /proc tmpfs /tmp " },
	{ .name = "closed: what is granted, and the way there",
	    { D(FACT_ALLOW_READ, "/usr"), L("/bin", "usr/bin"),
	      D(FACT_ALLOW_READ, "/etc"), D(FACT_ALLOW_WRITE, "/home/u/ws"),
	      D(FACT_PLACE, "/home/u"), F(FACT_DENY_WRITE, "/home/u/.rc"),
	      F(FACT_DENY_READ, "/home/u/ws/.env"),
	      L("/home/u/ws/in", "x") },
	    "link /bin\nplace /home/u\nrw /home/u/ws\n"
	    "maskfile /home/u/ws/.env\nro /usr\n", "/home/u/ws\n",
	    "apart closed / etc /etc dev /dev proc /proc tmpfs /tmp ", true },
	{ .name = "closed: but all is granted",
	    { D(FACT_ALLOW_READ, "/"), D(FACT_DENY_READ, "/s"),
	      D(FACT_ALLOW_EXECUTE, "/s/x"), D(FACT_ALLOW_READ, "/usr") },
	    "around /s\nexec /s/x\n", "",
	    "ro / etc /etc dev /dev proc /proc tmpfs /tmp ", true },
	{ .name = "closed: but all is granted, and nothing listed",
	    { D(FACT_ALLOW_EXECUTE, "/"), D(FACT_ALLOW_READ, "/usr"),
	      D(FACT_DENY_WRITE, "/usr/x") },
	    "ro /usr\n", "",
	    "exec / exec /etc dev /dev proc /proc tmpfs /tmp ", true },
	{ .name = "closed: readable and not writable, by two facts of one path",
	    { F(FACT_DENY_WRITE, "/home/u/.rc"),
	      F(FACT_ALLOW_READ, "/home/u/.rc") },
	    "ro /home/u/.rc\n", "",
	    "apart closed / ownetc /etc dev /dev proc /proc tmpfs /tmp ",
	    true },
	{ .name = "closed: denied and allowed at the same path is denied",
	    { F(FACT_DENY_READ, "/home/u/.rc"),
	      F(FACT_ALLOW_READ, "/home/u/.rc") },
	    "", "",
	    "apart closed / ownetc /etc dev /dev proc /proc tmpfs /tmp ",
	    true },
	{ .name = "a denial of / closes", { D(FACT_DENY_READ, "/"),
	      D(FACT_ALLOW_READ, "/ws") }, "ro /ws\n", "",
	    "apart closed / ownetc /etc dev /dev proc /proc tmpfs /tmp " },
	{ .name = "writable and denied at one path, in a writable tree: read-only",
	    { D(FACT_ALLOW_WRITE, "/ws"), D(FACT_ALLOW_WRITE, "/ws/a/b"),
	      D(FACT_DENY_WRITE, "/ws/a/b") },
	    "rw /ws\nrw /ws/a\nro /ws/a/b\n", "/ws\n" },
	{ .name = "/tmp itself stays private", { D(FACT_ALLOW_WRITE, "/tmp") },
	    "", "" },
	{ .name = "/dev and /proc are the jail's own",
	    { F(FACT_ALLOW_WRITE, "/dev/kvm"), D(FACT_DENY_READ, "/proc/1") },
	    "", "" },
	{ .name = "a folder of the jail's own, with the host's mounted in it",
	    { D(FACT_ALLOW_WRITE, "/h/.a"), O("/h/.a", "/s/a"),
	      D(FACT_ALLOW_WRITE, "/h/.a/state"),
	      F(FACT_DENY_WRITE, "/h/.a/held"), F(FACT_DENY_READ, "/h/.a/no"),
	      F(FACT_SOCKET, "/h/.a/ctl"), F(FACT_SOCKET, "/h/.a/state/ctl"),
	      F(FACT_SEE, "/h/.a/x") },
	    "other /h/.a from /s/a\nro /h/.a/held\nmaskfile /h/.a/no\n"
	    "rw /h/.a/state\nmaskfile /h/.a/state/ctl\n", "/h/.a\n" },
	{ .name = "in a writable tree its folders are pinned",
	    { D(FACT_ALLOW_WRITE, "/h"), O("/h/.c/a", "/s/a") },
	    "rw /h\nrw /h/.c\nother /h/.c/a from /s/a\n", "/h\n/h/.c/a\n" },
	{ .name = "deeper sorts after shallower although '-' sorts before '/'",
	    { D(FACT_ALLOW_WRITE, "/a-b"), D(FACT_DENY_WRITE, "/a/c"),
	      D(FACT_ALLOW_WRITE, "/a") },
	    "rw /a\nro /a/c\nrw /a-b\n", "/a\n/a-b\n" },
};

static const char *const kinds[] = {
	[MOUNT_RO] = "ro", [MOUNT_RW] = "rw", [MOUNT_TMPFS] = "tmpfs",
	[MOUNT_OTHER] = "other",
	[MOUNT_OWN] = "own",
	[MOUNT_MASK_DIR] = "maskdir", [MOUNT_MASK_FILE] = "maskfile",
	[MOUNT_MASK_AROUND] = "around", [MOUNT_CLOSED] = "closed",
	[MOUNT_LINK] = "link", [MOUNT_PLACE] = "place", [MOUNT_ETC] = "etc",
	[MOUNT_ETC_OWN] = "ownetc", [MOUNT_DEV] = "dev",
	[MOUNT_DEV_HOST] = "hostdev", [MOUNT_DEVICE] = "device",
	[MOUNT_PROC] = "proc",
};

static void
check_case(struct arena *a, size_t i)
{
	const struct mounts_mode mode = { .is_closed = cases[i].is_closed,
	    .bwrap = "/usr/bin/bwrap" };
	const char *base = cases[i].base != NULL ? cases[i].base :
	    "ro / etc /etc dev /dev proc /proc tmpfs /tmp ";
	struct mounts m = { 0 };
	struct buf got, roots, head;
	size_t n = 0;

	while (n < 8 && cases[i].facts[n].node.path != NULL)
		n++;
	mounts_plan(a, &mode, cases[i].facts, n, &m);
	buf_init(&got, 0);
	buf_init(&roots, 0);
	buf_init(&head, 0);
	buf_puts(&head, m.is_apart ? "apart " : "");
	for (size_t k = 0; k < m.list.n; k++)
		buf_printf(k < MOUNTS_BASE ? &head : &got, "%s %s%s%s%c",
		    m.list.v[k].is_unlisted ? "exec" :
		    kinds[m.list.v[k].kind], m.list.v[k].path,
		    m.list.v[k].source != NULL ? " from " : "",
		    m.list.v[k].source != NULL ? m.list.v[k].source : "",
		    k < MOUNTS_BASE ? ' ' : '\n');
	for (size_t k = 0; k < m.roots.n; k++)
		buf_printf(&roots, "%s\n", m.roots.v[k]);
	if (strcmp(got.data, cases[i].mounts) != 0 ||
	    strcmp(roots.data, cases[i].roots) != 0 ||
	    strcmp(head.data, base) != 0)
		fail_msg("%s: %s\nmounts:\n%sroots:\n%s", cases[i].name,
		    head.data, got.data, roots.data);
	buf_release(&got);
	buf_release(&roots);
	buf_release(&head);
	vec_release(&m.list);
	vec_release(&m.roots);
}

static void
test_plan(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		check_case(a, i);
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_plan) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
