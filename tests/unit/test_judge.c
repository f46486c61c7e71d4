/* judge: what a report means, and an offer that a policy takes as it is told. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sched.h>
#include <cmocka.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "launcher/record/judge.h"
#include "platform/calls.h"
#include "tests/unit/tree_text.h"
#include "tests/unit/verdict_words.h"

static const char tree[] = "proj/a proj/ro/x proj/one proj/secret/key "
    "proj/.git/hooks/post home/f home/sub/f out/f out/sub/f out/deep/sub/f "
    "out/shut/f out/none out/link>@/proj/a "
    "out/other/.keep";

static const char policy[] = "{ \"filesystem\": {\n"
    "  \"allowWrite\": [\".\", \"../out/one\"],\n"
    "  \"denyWrite\": [\"./ro\", \"./one\"], \"denyRead\": [\"./secret\"] },\n"
    "  \"network\": { \"allowedDomains\": [\"192.0.2.1\"] } }";

struct scene {
	struct room	*r;
	struct policy	*policy;
	struct arena	*a;
	struct judge	 j;
	char		 cwd[128], home[128];
};

static struct policy *
parse(const struct scene *s, const char *text)
{
	const struct policy_env env = { .workspace = s->cwd, .home = s->home };
	struct policy *p;
	struct err e = { 0 };

	if (policy_parse(text, strlen(text), "p.json", &env, &p, &e) != 0)
		fail_msg("%s: %s", text, e.msg);
	return p;
}

static void
scene_open(struct scene *s, struct room *r)
{
	FILE *fp;

	s->r = r;
	s->a = arena_new();
	(void)tree_make(r, tree);
	fp = fopen(room_path(r, "out/db"), "we");
	assert_non_null(fp);
	assert_int_equal(fwrite("SQLite format 3", 16, 1, fp), 1);
	assert_int_equal(fclose(fp), 0);
	snprintf(s->cwd, sizeof s->cwd, "%s", room_path(r, "proj"));
	snprintf(s->home, sizeof s->home, "%s", room_path(r, "home"));
	s->policy = parse(s, policy);
	s->j = (struct judge){ .policy = s->policy, .net = s->policy };
}

static void
scene_close(struct scene *s)
{
	policy_free(s->policy);
	arena_free(s->a);
}

/* "KEY VALUE", "exists" or "none". */
static char *
offer_words(const struct scene *s, const struct verdict *v)
{
	struct buf b;
	char *ret;

	buf_init(&b, 0);
	if (v->remedy.kind == REMEDY_MUST_EXIST)
		buf_puts(&b, "exists");
	else if (v->remedy.kind == REMEDY_NONE)
		buf_puts(&b, "none");
	else
		remedy_put(&b, &v->remedy);
	ret = room_shorten(s->r, b.data);
	buf_release(&b);
	return ret;
}

/* An entry that is offered is one that a policy may have, and opens it. */
static void
follow_offer(const struct scene *s, const struct event *e)
{
	const struct remedy *r = &e->verdict.remedy;
	char text[8192];
	struct policy *p;

	if (r->kind != REMEDY_ADD || r->key != KEY_OF(fs.allow_write))
		return;
	snprintf(text, sizeof text, "{ \"filesystem\": { \"allowWrite\": "
	    "[\"%s\"] } }", r->value);
	p = parse(s, text);
	decide_fs(p, FS_WRITE, e->path, &(struct verdict){ 0 });
	policy_free(p);
}

#define CREATES	(O_WRONLY | O_CREAT)
#define W	"filesystem.allowWrite"
#define ADD(x)	W " += \"" x "\""

static const struct {
	enum wire_call	 call;
	uint32_t	 flags;
	const char	*path;
	int		 err;
	const char	*rule;		/* NULL: not fence's */
	const char	*offer;
	unsigned	 nr;
} reports[] = {
	/* What exists is granted itself; what is made, by its folder. */
	{ WIRE_OPEN, CREATES, "@/out/f", EROFS, W, ADD("@/out/f"), 0 },
	{ WIRE_OPEN, CREATES, "@/out/new", EROFS, W, ADD("@/out"), 0 },
	{ WIRE_OPEN, CREATES | O_EXCL, "@/out/new", EROFS, W, ADD("@/out"),
	  0 },
	{ WIRE_OPEN, O_RDWR | O_CREAT, "@/out/db", EROFS, W, ADD("@/out"),
	  0 },
	{ WIRE_OPEN, O_RDWR, "@/out/db", EROFS, W, ADD("@/out/db"), 0 },
	{ WIRE_MAKE, 0, "@/out/new", EROFS, W, ADD("@/out"), 0 },
	{ WIRE_MAKE, 0, "@/out/f", EROFS, W, ADD("@/out"), 0 },
	{ WIRE_REMOVE, 0, "@/out/f", EROFS, W, ADD("@/out"), 0 },
	{ WIRE_REMOVE, 0, "@/out/sub", EROFS, W, ADD("@/out"), 0 },
	{ WIRE_CHANGE, 0, "@/out/f", EROFS, W, ADD("@/out/f"), 0 },
	{ WIRE_MAKE, 0, "@/home/sub/new", EROFS, W, ADD("~/sub"), 0 },
	/* The name of a link is what goes, not what it leads to. */
	{ WIRE_REMOVE, 0, "@/out/link", EROFS, W, ADD("@/out"), 0 },
	{ WIRE_OPEN, O_WRONLY, "@/out/link", EROFS, W, ADD("@/out/link"), 0 },
	/* A file that is granted alone cannot be removed or replaced. */
	{ WIRE_REMOVE, 0, "@/out/one", EBUSY, W, ADD("@/out"), 0 },
	/* Nobody grants the whole home for one file. */
	{ WIRE_OPEN, CREATES, "@/home/new", EROFS, W, "exists", 0 },
	{ WIRE_OPEN, CREATES | O_EXCL, "@/home/new", EROFS, W, "none", 0 },
	{ WIRE_OPEN, CREATES, "@/home/f", EROFS, W, ADD("~/f"), 0 },
	{ WIRE_MAKE, 0, "@/home/new", EROFS, W, "none", 0 },
	{ WIRE_REMOVE, 0, "@/home/f", EROFS, W, "none", 0 },
	/* Below a denial; at its own length the entry has to go. */
	{ WIRE_OPEN, O_WRONLY, "ro/x", EROFS, "filesystem.denyWrite[0]",
	  ADD("@/proj/ro/x"), 0 },
	{ WIRE_REMOVE, 0, "ro/x", EROFS, "filesystem.denyWrite[0]",
	  "filesystem.denyWrite (remove \"./ro\")", 0 },
	{ WIRE_REMOVE, 0, "one", EROFS, "filesystem.denyWrite[1]",
	  "filesystem.denyWrite (remove \"./one\")", 0 },
	/* Guarded names. */
	{ WIRE_OPEN, CREATES, ".bashrc", EACCES, "built-in",
	  ADD("@/proj/.bashrc"), 0 },
	{ WIRE_REMOVE, 0, ".git/hooks/post", EROFS, "built-in",
	  ADD("@/proj/.git/hooks"), 0 },
	{ WIRE_OPEN, CREATES, "@/out/.bashrc", EROFS, W, "none", 0 },
	/* What the kernel makes up. */
	{ WIRE_OPEN, CREATES, "/proc/self/coredump_filter", EROFS, W, "none",
	  0 },
	{ WIRE_MAKE, 0, "/dev/mqueue/x", EROFS, W, "none", 0 },
	/* Reading: what exists, and no more. */
	{ WIRE_OPEN, O_RDONLY, "secret/key", EACCES,
	  "filesystem.denyRead[0]",
	  "filesystem.allowRead += \"@/proj/secret/key\"", 0 },
	{ WIRE_OPEN, O_RDONLY, "secret/none", EACCES,
	  "filesystem.denyRead[0]", "none", 0 },
	{ WIRE_LOOK, 0, "secret/key", EACCES, "filesystem.denyRead[0]",
	  "filesystem.allowRead += \"@/proj/secret/key\"", 0 },
	/* Of the host, with fence or without. */
	{ WIRE_OPEN, O_RDONLY, "a", EACCES, NULL, NULL, 0 },
	{ WIRE_CHANGE, 0, "a", EPERM, NULL, NULL, 0 },
	{ WIRE_REMOVE, 0, "a", EACCES, NULL, NULL, 0 },
	{ WIRE_REMOVE, 0, "a", EXDEV, NULL, NULL, 0 },
};

static void
test_files(void **state)
{
	struct scene s;

	scene_open(&s, *state);
	for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
		char *path = room_expand(s.r, reports[i].path), *offer;
		struct wire_report r = { .call = (uint16_t)reports[i].call,
		    .flags = reports[i].flags, .err = reports[i].err,
		    .nr = (uint16_t)reports[i].nr };
		struct event e = { .sys = r.err, .nprocess = 1 };
		enum judged said;

		snprintf(e.process[0].cwd, sizeof e.process[0].cwd, "%s",
		    s.cwd);
		said = judge_report(&s.j, s.a, &r, path, &e);
		if ((said == JUDGED_FENCE) != (reports[i].rule != NULL))
			fail_msg("row %zu, %s: judged %d", i,
			    reports[i].path, said);
		free(path);
		if (said != JUDGED_FENCE)
			continue;
		assert_string_equal(rule_words(&e.verdict), reports[i].rule);
		offer = offer_words(&s, &e.verdict);
		if (strcmp(offer, reports[i].offer) != 0)
			fail_msg("row %zu, %s: offered %s", i,
			    reports[i].path, offer);
		free(offer);
		follow_offer(&s, &e);
	}
	scene_close(&s);
}

/* `rm -r` removes the folder that it names last of all. */
static void
test_trees(void **state)
{
	static const struct { const char *comm, *line, *offer; } t[] = {
		{ "rm", "rm -r @/out/deep", ADD("@/out") },
		{ "rm", "rm -rf -- ../out/deep", ADD("@/out") },
		{ "rm", "rm -r @/out/deep/sub", ADD("@/out/deep") },
		{ "rm", "rm @/out/deep/sub/f", ADD("@/out/deep/sub") },
		{ "rm", "rm -r @/out/other", ADD("@/out/deep/sub") },
		{ "find", "find @/out/deep -delete", ADD("@/out/deep/sub") },
		{ "rm", "rm", ADD("@/out/deep/sub") },
	};
	struct scene s;

	scene_open(&s, *state);
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		char *line = room_expand(s.r, t[i].line), *offer;
		char *path = room_expand(s.r, "@/out/deep/sub/f");
		struct wire_report r = { .call = WIRE_REMOVE, .err = EROFS };
		struct event e = { .sys = EROFS, .nprocess = 1 };

		snprintf(e.process[0].cwd, sizeof e.process[0].cwd, "%s",
		    s.cwd);
		snprintf(e.process[0].comm, sizeof e.process[0].comm, "%s",
		    t[i].comm);
		snprintf(e.process[0].cmdline, sizeof e.process[0].cmdline,
		    "%s", line);
		assert_int_equal(judge_report(&s.j, s.a, &r, path, &e),
		    JUDGED_FENCE);
		offer = offer_words(&s, &e.verdict);
		assert_string_equal(offer, t[i].offer);
		free(offer);
		free(path);
		free(line);
	}
	scene_close(&s);
}

/* The user's own permissions come before any rule of ours. */
static void
test_permissions(void **state)
{
	struct wire_report r = { .call = WIRE_OPEN, .err = EACCES,
	    .flags = O_WRONLY };
	struct event e = { .sys = EACCES };
	struct scene s;
	char path[256];

	scene_open(&s, *state);
	snprintf(path, sizeof path, "%s", room_path(s.r, "out/none"));
	assert_int_equal(chmod(path, 0), 0);
	/* Root may without fence, and inside has no power over it. */
	if (geteuid() == 0) {
		assert_int_equal(judge_report(&s.j, s.a, &r, path, &e),
		    JUDGED_FENCE);
		assert_int_equal(e.verdict.remedy.kind, REMEDY_NONE);
	} else {
		assert_int_equal(judge_report(&s.j, s.a, &r, path, &e),
		    JUDGED_HOST);
		assert_int_equal(judge_report(&s.j, s.a, &r,
		    "/etc/fence-none", &e), JUDGED_HOST);
		r.call = WIRE_REMOVE;
		assert_int_equal(judge_report(&s.j, s.a, &r,
		    "/etc/passwd", &e), JUDGED_HOST);
		r.call = WIRE_CHANGE;
		assert_int_equal(judge_report(&s.j, s.a, &r,
		    "/etc/passwd", &e), JUDGED_HOST);
	}
	scene_close(&s);
}

static void
test_datagrams(void **state)
{
	static const struct {
		uint8_t addr[4]; int type; bool is_told, is_offered;
	} t[] = {
		{ { 198, 51, 100, 7 }, SOCK_STREAM, true, true },
		{ { 198, 51, 100, 7 }, SOCK_DGRAM, true, false },
		{ { 192, 0, 2, 1 }, SOCK_STREAM, false, false },
		{ { 192, 0, 2, 1 }, SOCK_DGRAM, true, false },
	};
	struct scene s;

	scene_open(&s, *state);
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct wire_report r = { .call = WIRE_CONNECT, .port = 53,
		    .family = AF_INET, .err = ENETUNREACH,
		    .sock_type = (uint16_t)t[i].type };
		struct event e = { .sys = r.err };

		memcpy(r.addr, t[i].addr, 4);
		assert_int_equal(judge_report(&s.j, s.a, &r, "", &e) ==
		    JUDGED_FENCE, t[i].is_told);
		if (!t[i].is_told)
			continue;
		assert_int_equal(e.is_datagram, t[i].type == SOCK_DGRAM);
		assert_int_equal(e.verdict.remedy.kind != REMEDY_NONE,
		    t[i].is_offered);
		assert_int_equal(strstr(e.verdict.reason, "UDP") != NULL,
		    e.is_datagram);
	}
	scene_close(&s);
}

static void
test_calls(void **state)
{
	static const struct {
		unsigned nr; uint32_t flags; const char *why; bool nests;
	} t[] = {
		{ SYS_mount, 0, "mounts are made before", false },
		{ SYS_unshare, CLONE_NEWUSER, "namespace", true },
		{ SYS_unshare, CLONE_NEWNET, "namespace", false },
		{ SYS_ptrace, 0, "debuggers reach", false },
		{ SYS_kill, 1, "signals reach", false },
		{ SYS_ioctl, 0x5412, "types into the terminal", false },
		{ SYS_socket, AF_PACKET, "only unix, IPv4", false },
		{ SYS_getpid, 0, "no jail permits it", false },
	};
	struct scene s;

	scene_open(&s, *state);
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct wire_report r = { .call = WIRE_SYSTEM, .err = EPERM,
		    .nr = (uint16_t)t[i].nr, .flags = t[i].flags };
		struct event e = { .sys = r.err };

		if (calls_name(t[i].nr) == NULL)
			continue;
		assert_int_equal(judge_report(&s.j, s.a, &r, "", &e),
		    JUDGED_FENCE);
		if (strstr(e.verdict.rule.text, t[i].why) == NULL)
			fail_msg("row %zu: %s", i, e.verdict.rule.text);
		assert_int_equal(e.verdict.remedy.kind == REMEDY_SET,
		    t[i].nests && geteuid() != 0);
		e.has_own_filter = true;
		(void)judge_report(&s.j, s.a, &r, "", &e);
		assert_non_null(strstr(e.verdict.rule.text, "sandbox inside"));
	}
	scene_close(&s);
}

int
main(void)
{
#define IN_ROOM(f) cmocka_unit_test_setup_teardown(f, room_enter, room_leave)
	const struct CMUnitTest tests[] = {
		IN_ROOM(test_files), IN_ROOM(test_trees),
		IN_ROOM(test_permissions), IN_ROOM(test_datagrams),
		IN_ROOM(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
