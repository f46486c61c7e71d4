/* mounts: facts in, ordered mounts out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "launcher/mounts.h"
#include "platform/base/buf.h"
#include "platform/base/vec.h"

#define D(k, p)	{ k, { p, p, TREE_DIR, 0, 0 }, NULL }
#define F(k, p)	{ k, { p, p, TREE_FILE, 0, 0 }, NULL }
#define GONE(k, p) { k, { p, NULL, TREE_MISSING, 0, 0 }, NULL }

static const struct {
	const char		*name;
	struct mount_fact	 facts[8];
	const char		*mounts;	/* after the four of every jail */
	const char		*roots;
} cases[] = {
	{ "nothing", { { 0 } }, "", "" },
	{ "a writable tree", { D(FACT_ALLOW_WRITE, "/ws") },
	    "rw /ws\n", "/ws\n" },
	{ "longest match, in any order",
	    { D(FACT_ALLOW_WRITE, "/a/b/c"), D(FACT_DENY_WRITE, "/a/b"),
	      D(FACT_ALLOW_WRITE, "/a") },
	    "rw /a\nro /a/b\nrw /a/b/c\n", "/a\n/a/b/c\n" },
	{ "the denial speaks at the same path",
	    { D(FACT_DENY_WRITE, "/a"), D(FACT_ALLOW_WRITE, "/a") },
	    "", "" },
	{ "a hidden file beside a writable tree",
	    { F(FACT_DENY_READ, "/ws/.env"), D(FACT_ALLOW_WRITE, "/ws") },
	    "rw /ws\nmaskfile /ws/.env\n", "/ws\n" },
	{ "names that share a beginning are not below one another",
	    { D(FACT_ALLOW_WRITE, "/ws"), D(FACT_DENY_WRITE, "/wsx"),
	      D(FACT_DENY_READ, "/ws-y") },
	    "rw /ws\nmaskdir /ws-y\n", "/ws\n" },
	{ "a grant inside a hidden tree",
	    { D(FACT_DENY_READ, "/home/u"), D(FACT_ALLOW_WRITE, "/home/u/ws"),
	      F(FACT_DENY_READ, "/home/u/.netrc") },
	    "around /home/u\nrw /home/u/ws\n", "/home/u/ws\n" },
	{ "reading granted inside a hidden tree, and nowhere else a change",
	    { D(FACT_DENY_READ, "/home/u"), D(FACT_ALLOW_READ, "/home/u/doc"),
	      D(FACT_ALLOW_WRITE, "/ws"), D(FACT_ALLOW_READ, "/ws/sub"),
	      D(FACT_ALLOW_READ, "/usr"), F(FACT_DENY_READ, "/home/u/doc/x") },
	    "around /home/u\nro /home/u/doc\nmaskfile /home/u/doc/x\nrw /ws\n",
	    "/ws\n" },
	{ "denyWrite inside a hidden tree shows nothing of it",
	    { D(FACT_DENY_READ, "/s"), D(FACT_DENY_WRITE, "/s/x") },
	    "maskdir /s\n", "" },
	{ "what is missing is passed over",
	    { GONE(FACT_ALLOW_WRITE, "/no"), GONE(FACT_DENY_READ, "/nor") },
	    "", "" },
	{ "a workspace below /tmp comes back, its policy read-only",
	    { D(FACT_SEE, "/tmp/ws"), D(FACT_ALLOW_WRITE, "/tmp/ws"),
	      F(FACT_DENY_WRITE, "/tmp/ws/fence.json"),
	      F(FACT_DENY_READ, "/tmp/other") },
	    "rw /tmp/ws\nro /tmp/ws/fence.json\n", "/tmp/ws\n" },
	{ "a working directory below /tmp is seen without a grant",
	    { D(FACT_SEE, "/tmp/ws") }, "ro /tmp/ws\n", "" },
	{ "below /run it is kept",
	    { D(FACT_SEE, "/run/ws"), D(FACT_ALLOW_WRITE, "/run/ws"),
	      D(FACT_DENY_READ, "/run/docker") },
	    "rw /run/ws\n", "/run/ws\n" },
	{ "below /dev/shm too",
	    { D(FACT_SEE, "/dev/shm/ws"), D(FACT_ALLOW_WRITE, "/dev/shm/ws") },
	    "rw /dev/shm/ws\n", "/dev/shm/ws\n" },
	{ "ancestors of a denial in a writable tree are pinned, once",
	    { D(FACT_ALLOW_WRITE, "/ws"), F(FACT_DENY_READ, "/ws/a/b/x"),
	      F(FACT_DENY_WRITE, "/ws/a/b/y"), D(FACT_DENY_WRITE, "/ws/a/c"),
	      F(FACT_DENY_READ, "/ws/a/c/d/z") },
	    "rw /ws\nrw /ws/a\nrw /ws/a/b\nmaskfile /ws/a/b/x\n"
	    "ro /ws/a/b/y\nro /ws/a/c\nmaskfile /ws/a/c/d/z\n", "/ws\n" },
	{ "/tmp itself stays private", { D(FACT_ALLOW_WRITE, "/tmp") },
	    "", "" },
	{ "/dev and /proc are the jail's own",
	    { F(FACT_ALLOW_WRITE, "/dev/kvm"), D(FACT_DENY_READ, "/proc/1") },
	    "", "" },
	{ "deeper sorts after shallower although '-' sorts before '/'",
	    { D(FACT_ALLOW_WRITE, "/a-b"), D(FACT_DENY_WRITE, "/a/c"),
	      D(FACT_ALLOW_WRITE, "/a") },
	    "rw /a\nro /a/c\nrw /a-b\n", "/a\n/a-b\n" },
};

static const char *const kinds[] = { "ro", "rw", "tmpfs", "maskdir",
    "maskfile", "around", "dev", "proc" };

static void
test_plan(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct mount_list mounts = { 0 };
		struct path_list roots = { 0 };
		struct buf got, got_roots;
		size_t n = 0;

		while (n < 8 && cases[i].facts[n].node.path != NULL)
			n++;
		mounts_plan(a, cases[i].facts, n, &mounts, &roots);
		buf_init(&got, 0);
		buf_init(&got_roots, 0);
		for (size_t k = 4; k < mounts.n; k++)
			buf_printf(&got, "%s %s\n", kinds[mounts.v[k].kind],
			    mounts.v[k].path);
		for (size_t k = 0; k < roots.n; k++)
			buf_printf(&got_roots, "%s\n", roots.v[k]);
		if (strcmp(got.data, cases[i].mounts) != 0 ||
		    strcmp(got_roots.data, cases[i].roots) != 0)
			fail_msg("%s: mounts:\n%sroots:\n%s", cases[i].name,
			    got.data, got_roots.data);
		buf_release(&got);
		buf_release(&got_roots);
		vec_release(&mounts);
		vec_release(&roots);
	}
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_plan) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
