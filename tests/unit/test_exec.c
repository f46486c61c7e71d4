/*
 * Executions: what is read of a held one, what the policy says of it, how
 * often it was refused.  The caller of held_exec_read() is this very process.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "launcher/exec/exec_judge.h"
#include "launcher/exec/exec_repeats.h"
#include "platform/base/arena.h"
#include "platform/calls.h"
#include "policy/policy.h"

#define N_OF(a)	(sizeof (a) / sizeof (a)[0])

static struct arena *arena;
static int root_fd;
static char dir[] = "/tmp/test_exec.XXXXXX";

static void
put_file(const char *name, const char *text)
{
	char path[256];
	FILE *fp;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	fp = fopen(path, "w");
	assert_non_null(fp);
	fputs(text, fp);
	fclose(fp);
	assert_int_equal(chmod(path, 0755), 0);
}

static int
setup(void **state)
{
	(void)state;
	arena = arena_new();
	if (mkdtemp(dir) == NULL || chdir(dir) != 0)
		return -1;
	root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	put_file("prog", "\x7f" "ELF");
	put_file("script", "#!./prog  -x y \nrest\n");
	put_file("twice", "#! script\n");
	put_file("loop", "#!./loop\n");
	put_file("no-line", "#!");
	return symlink("prog", "link") == 0 && symlink("script", "slink") == 0 ?
	    0 : -1;
}

static int
teardown(void **state)
{
	static const char *const names[] = { "prog", "script", "twice",
	    "loop", "no-line", "link", "slink" };

	(void)state;
	for (size_t i = 0; i < N_OF(names); i++)
		(void)unlink(names[i]);
	(void)rmdir(dir);
	arena_free(arena);
	return close(root_fd);
}

static struct held_call
call_of(const char *path, const char *const *argv)
{
	return (struct held_call){ .tid = getpid(), .kind = HELD_EXEC,
	    .exec = { .path = (uintptr_t)path, .argv = (uintptr_t)argv,
	    .dir_fd = AT_FDCWD } };
}

/* ---- reading ---- */

static void
test_steps(void **state)
{
	static const struct {
		const char	*path;
		unsigned	 nsteps;
		const char	*exe;		/* below dir; NULL: unknown */
		const char	*cmdline;	/* its words, joined by | */
		bool		 is_missing;
	} rows[] = {
		{ "./prog", 1, "prog", "zero|one|", false },
		{ "prog", 1, "prog", "zero|one|", false },
		{ "./link", 1, "prog", "zero|one|", false },
		{ ".././../tmp/x/../nothing", 1, NULL, NULL, true },
		{ "./script", 2, "prog", "./prog|-x y|./script|one|", false },
		{ "slink", 2, "prog", "./prog|-x y|slink|one|", false },
		{ "./twice", 3, "prog", "./prog|-x y|script|./twice|one|",
		  false },
		{ "./loop", EXEC_STEPS, NULL, NULL, false },
		{ "./no-line", 1, NULL, NULL, false },
		{ "./nothing", 1, NULL, NULL, true },
		{ "./prog/below", 1, NULL, NULL, true },
	};
	static const char *const argv[] = { "zero", "one", NULL };

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct held_call c = call_of(rows[i].path, argv);
		struct held_exec x;
		char want[256];

		assert_int_equal(held_exec_read(root_fd, &c, false, arena, &x),
		    0);
		if (x.nsteps != rows[i].nsteps)
			fail_msg("%s: %u steps", rows[i].path, x.nsteps);
		assert_int_equal(x.step[0].is_missing, rows[i].is_missing);
		assert_int_equal(x.exe != NULL, rows[i].exe != NULL);
		if (x.exe == NULL)
			continue;
		snprintf(want, sizeof want, "%s/%s", dir, rows[i].exe);
		assert_string_equal(x.exe, want);
		assert_int_equal(x.cmdline_len, strlen(rows[i].cmdline));
		for (size_t k = 0; k < x.cmdline_len; k++)
			assert_int_equal(x.cmdline[k] == '\0' ? '|' :
			    x.cmdline[k], rows[i].cmdline[k]);
	}
}

/* What was no script is remembered, as long as it is that file. */
static void
test_becomes_script(void **state)
{
	static const char *const texts[] = { "\x7f" "ELF", "#!./prog\n",
	    "\x7f" "ELF", "#!./prog x\n" };
	static const char *const argv[] = { "zero", NULL };
	struct held_call c = call_of("./prog2", argv);
	struct held_exec x;

	(void)state;
	for (size_t i = 0; i < N_OF(texts); i++) {
		put_file("prog2", texts[i]);
		for (int k = 0; k < 3; k++) {
			assert_int_equal(held_exec_read(root_fd, &c, false,
			    arena, &x), 0);
			assert_int_equal(x.nsteps, i % 2 + 1);
		}
	}
	(void)unlink("prog2");
}

/* A string that ends where the mapping does, and one that does not. */
static void
test_edges(void **state)
{
	size_t page = 4096;
	char *p = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *end = p + 3 * page;
	const char *argv[] = { end - 3, end - page - 2, NULL };
	struct held_call c = call_of("./prog", argv);
	struct held_exec x;

	(void)state;
	assert_true(p != MAP_FAILED);
	assert_int_equal(munmap(end, page), 0);
	memset(p, 'a', 3 * page);
	end[-1] = '\0';
	assert_int_equal(held_exec_read(root_fd, &c, false, arena, &x), 0);
	assert_int_equal(x.step[0].argc, 2);
	assert_string_equal(x.step[0].argv[0], "aa");
	assert_int_equal(strlen(x.step[0].argv[1]), page + 1);
	end[-1] = 'a';
	assert_int_equal(held_exec_read(root_fd, &c, false, arena, &x), -1);
	argv[0] = NULL;
	assert_int_equal(held_exec_read(root_fd, &c, false, arena, &x), 0);
	assert_int_equal(x.step[0].argc, 0);
	assert_null(x.exe);
	c.exec.argv = 8;
	assert_int_equal(held_exec_read(root_fd, &c, false, arena, &x), -1);
	c.exec.argv = 0;
	assert_int_equal(held_exec_read(root_fd, &c, false, arena, &x), 0);
	c.exec.path = 0;
	assert_int_equal(held_exec_read(root_fd, &c, false, arena, &x), -1);
	(void)munmap(p, 3 * page);
}

#ifdef MAP_32BIT
static void
test_narrow(void **state)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	uint32_t argv[3] = { 0 };
	struct held_call c = call_of("./prog", NULL);
	struct held_exec x;

	(void)state;
	assert_true(low != MAP_FAILED);
	strcpy(low, "narrow");
	argv[0] = argv[1] = (uint32_t)(uintptr_t)low;
	memcpy(low + 64, argv, sizeof argv);
	c.exec.argv = (uintptr_t)(low + 64);
	c.exec.is_narrow = true;
	assert_int_equal(held_exec_read(root_fd, &c, false, arena, &x), 0);
	assert_int_equal(x.step[0].argc, 2);
	assert_string_equal(x.step[0].argv[1], "narrow");
	(void)munmap(low, 4096);
}
#endif

/* More than the kernel takes is not read to its end. */
static void
test_too_long(void **state)
{
	enum { EACH = 100 * 1024, MANY = 80 };
	char *text = malloc(EACH + 1);
	const char *argv[MANY + 1] = { NULL };
	struct held_call c = call_of("./prog", argv);
	struct held_exec x;

	(void)state;
	memset(text, 'b', EACH);
	text[EACH] = '\0';
	for (size_t i = 0; i < MANY; i++)
		argv[i] = text;
	assert_int_equal(held_exec_read(root_fd, &c, false, arena, &x), 0);
	assert_true(x.is_too_long);
	argv[20] = NULL;
	assert_int_equal(held_exec_read(root_fd, &c, false, arena, &x), 0);
	assert_false(x.is_too_long);
	assert_int_equal(x.step[0].argc, 20);
	free(text);
}

static void
test_image(void **state)
{
	struct held_exec x;

	(void)state;
	assert_int_equal(exec_image_read(getpid(), true, arena, &x), 0);
	assert_non_null(strstr(x.step[0].real, "test_exec"));
	assert_true(x.step[0].argc >= 1);
	assert_int_equal(exec_image_read(0x7ffffff0, true, arena, &x), -1);
}

/* ---- judging ---- */

static struct policy *
parse(const char *text)
{
	static const struct policy_env env = { .workspace = "/w",
	    .home = "/home/u" };
	struct policy *p;
	struct err e = { 0 };

	if (policy_parse(text, strlen(text), "F", &env, &p, &e) != 0)
		fail_msg("%s", e.msg);
	return p;
}

static void
test_judge(void **state)
{
	static const char *const wget[] = { "wget", "x", NULL };
	static const char *const other[] = { "other", "x", NULL };
	static const char *const push[] = { "git", "push", NULL };
	static const char *const status[] = { "git", "status", NULL };
	static const struct {
		const char		*program, *real;
		const char *const	*argv;
		bool			 is_denied;
	} rows[] = {
		{ "/usr/bin/wget", "/usr/bin/wget", wget, true },
		{ "/usr/bin/other", "/usr/bin/other", other, false },
		{ "/usr/bin/other", "/usr/bin/other", wget, true },
		{ "./link", "/usr/bin/wget", other, true },
		{ "/bin/busybox", "/bin/busybox", wget, true },
		{ "git", "/usr/bin/git", push, true },
		{ "git", "/usr/bin/git", status, false },
		{ "", "/usr/bin/wget", other, true },
	};
	struct policy *p = parse("{\"command\":{\"deny\":[\"wget\","
	    "\"git push\"]}}");
	struct exec_judge j = { .policy = p, .has_rules = true };

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct held_exec x = { .nsteps = 1 };
		struct exec_judged judged;

		x.step[0] = (struct exec_step){ .program = rows[i].program,
		    .real = rows[i].real,
		    .argv = (const char **)(uintptr_t)rows[i].argv,
		    .argc = 2 };
		if (exec_judge(&j, &x, &judged) != rows[i].is_denied)
			fail_msg("row %zu", i);
		j.has_rules = false;
		assert_false(exec_judge(&j, &x, &judged));
		j.has_rules = true;
	}
	policy_free(p);
}

/* A script is what interprets it, too. */
static void
test_judge_script(void **state)
{
	static const char *argv[] = { "python3", "./script", NULL };
	struct policy *p = parse("{\"command\":{\"deny\":[\"python3\"]}}");
	struct exec_judge j = { .policy = p, .has_rules = true };
	struct held_exec x = { .nsteps = 2 };
	struct exec_judged judged;
	struct buf b;

	(void)state;
	x.step[0] = (struct exec_step){ "./script", "/w/script", argv + 1, 1,
	    false };
	x.step[1] = (struct exec_step){ "/usr/bin/python3",
	    "/usr/bin/python3.11", argv, 2, false };
	assert_true(exec_judge(&j, &x, &judged));
	assert_ptr_equal(judged.step, &x.step[1]);
	buf_init(&b, 0);
	x.step[1].program = "/usr/bin/\x1b[31mpython3";
	exec_judge_line(&judged, true, 1024, &b);
	assert_null(strchr(b.data, '\x1b'));
	assert_non_null(strstr(b.data, "command.deny[0]"));
	assert_non_null(strstr(b.data, "final"));
	assert_int_equal(b.data[b.len - 1], '\n');
	buf_clear(&b);
	exec_judge_line(&judged, true, 40, &b);
	assert_int_equal(b.len, 40);
	assert_int_equal(b.data[39], '\n');
	buf_release(&b);
	policy_free(p);
}

static void
test_loader(void **state)
{
	static const struct {
		const char	*var;
		bool		 is_denied;
	} rows[] = {
		{ "LD_PRELOAD=/x.so", true }, { "LD_LIBRARY_PATH=/x", true },
		{ "LD_AUDIT=/x.so", true }, { "GCONV_PATH=/x", true },
		{ "LD_LIBRARY_PATH=", false }, { "LD_BIND_NOW=1", false },
		{ "LD_PRELOADED=1", false }, { "XLD_PRELOAD=/x", false },
		{ "LD_PRELOAD=/own.so", false }, { "PATH=/bin", false },
	};
	static const char *argv[] = { "true", NULL };
	char own[] = "LD_PRELOAD=/own.so";
	char *envp[] = { own, NULL };
	struct policy *p = parse("{\"env\":{\"loader\":\"refuse\"}}");
	struct exec_judge j = { .policy = p, .envp = envp,
	    .has_loader = true };

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		const char *env[] = { "A=b", rows[i].var, NULL };
		struct held_exec x = { .nsteps = 1, .envp = env, .envc = 2 };
		struct exec_judged judged;

		x.step[0] = (struct exec_step){ "/bin/true", "/bin/true",
		    argv, 1, false };
		if (exec_judge(&j, &x, &judged) != rows[i].is_denied)
			fail_msg("%s", rows[i].var);
		if (rows[i].is_denied)
			assert_int_equal(judged.verdict.v.rule.key,
			    KEY_OF(env.loader));
	}
	policy_free(p);
}

static void
test_repeats(void **state)
{
	static const struct {
		struct exec_refusal	what;
		unsigned		count;
	} rows[] = {
		{ { 10, 1, 7, 100 }, 1 },
		{ { 10, 1, 7, 101 }, 0 },	/* further along PATH */
		{ { 10, 1, 7, 100 }, 2 },
		{ { 10, 1, 8, 100 }, 1 },
		{ { 11, 1, 7, 100 }, 3 },	/* a sibling's is the shell's */
		{ { 12, 2, 7, 100 }, 1 },
		{ { 12, 0, 7, 100 }, 2 },
	};
	struct exec_repeats r = { .next = 0 };

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++)
		if (exec_repeats_count(&r, &rows[i].what) != rows[i].count)
			fail_msg("row %zu", i);
	for (int i = 0; i < 1000; i++)
		(void)exec_repeats_count(&r, &(struct exec_refusal){ 100 + i,
		    0, 7, 1 });
	assert_int_equal(exec_repeats_count(&r, &rows[0].what), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_becomes_script),
		cmocka_unit_test(test_edges),
#ifdef MAP_32BIT
		cmocka_unit_test(test_narrow),
#endif
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_image), cmocka_unit_test(test_judge),
		cmocka_unit_test(test_judge_script),
		cmocka_unit_test(test_loader), cmocka_unit_test(test_repeats),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
