/* gitdir: which git directory is a work tree's, and which is not believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "launcher/plan/gitdir.h"
#include "tests/unit/tree_text.h"

#define REPO(dir)	dir "/HEAD " dir "/objects/ " dir "/refs/ "
#define CONFIG(dir, tree)	dir "/config:[core]worktree=" tree " "
#define LINKED(dir, common, file) \
	dir "/HEAD " dir "/commondir:" common " " dir "/gitdir:" file " "

static const struct {
	const char	*name;
	const char	*tree;
	const char	*folder;
	const char	*want;		/* "found DIR COMMON", … */
} cases[] = {
	{ "nothing", "w/a", "w", "none" },
	{ "at the top", REPO("w/.git"), "w", "found @/w/.git @/w/.git" },
	{ "below it", REPO("w/.git") "w/a/b/", "w/a/b",
	    "found @/w/.git @/w/.git" },
	{ "by a symlink", REPO("w/.git") "w/a/ l>w/a", "l",
	    "found @/w/.git @/w/.git" },
	{ "a folder of that name", REPO("w/.git") "w/a/.git/x", "w/a",
	    "found @/w/.git @/w/.git" },
	{ "one that leads on", REPO("m/.git") REPO("w/.git")
	    "w/.git/commondir:../../m/.git", "w", "none" },
	{ "a bare one", REPO("w"), "w", "bare @/w" },
	{ "in a bare one", REPO("w/.git") REPO("w/b"), "w/b/refs",
	    "bare @/w/b" },
	{ "a symlink", REPO("m/.git") "w/.git>../m/.git", "w", "none" },
	{ "parts that are symlinks", REPO("m/.git")
	    "w/.git/HEAD w/.git/objects>../../m/.git/objects w/.git/refs/",
	    "w", "none" },

	/* Of a linked work tree. */
	{ "linked", REPO("m/.git")
	    LINKED("m/.git/worktrees/x", "../..", "@/w/.git")
	    "w/.git:gitdir:;@/m/.git/worktrees/x w/a/", "w/a",
	    "found @/m/.git/worktrees/x @/m/.git" },
	{ "linked, by relative paths", REPO("m.git")
	    LINKED("m.git/worktrees/x", "../..", "../../../w/.git")
	    "w/.git:gitdir:;../m.git/worktrees/x", "w",
	    "found @/m.git/worktrees/x @/m.git" },
	{ "linked, of a submodule", REPO("m/.git/modules/s")
	    LINKED("m/.git/modules/s/worktrees/x", "../..", "@/w/.git")
	    "w/.git:gitdir:;@/m/.git/modules/s/worktrees/x", "w",
	    "found @/m/.git/modules/s/worktrees/x @/m/.git/modules/s" },
	{ "one of another work tree", REPO("m/.git")
	    LINKED("m/.git/worktrees/x", "../..", "@/v/.git")
	    "w/.git:gitdir:;@/m/.git/worktrees/x", "w",
	    "strange @/m/.git/worktrees/x" },
	{ "named by way of a symlink", REPO("m/.git")
	    LINKED("m/.git/worktrees/x", "../..", "@/l/.git")
	    "l>w w/.git:gitdir:;@/m/.git/worktrees/x", "w",
	    "strange @/m/.git/worktrees/x" },
	{ "named by no word", REPO("m/.git")
	    LINKED("m/.git/worktrees/x", "../..", "")
	    "w/.git:gitdir:;@/m/.git/worktrees/x", "w",
	    "strange @/m/.git/worktrees/x" },
	{ "named by a symlink", REPO("m/.git")
	    "m/.git/worktrees/x/HEAD m/.git/worktrees/x/commondir:../.. "
	    "m/.git/worktrees/x/gitdir>../../../b b:@/w/.git "
	    "w/.git:gitdir:;@/m/.git/worktrees/x", "w",
	    "strange @/m/.git/worktrees/x" },
	{ "a commondir elsewhere", REPO("m/.git") REPO("v/.git")
	    LINKED("m/.git/worktrees/x", "@/v/.git", "@/w/.git")
	    "w/.git:gitdir:;@/m/.git/worktrees/x", "w", "none" },
	{ "a commondir from elsewhere", REPO("v/.git")
	    LINKED("w/g", "@/v/.git", "@/w/.git") "w/.git:gitdir:;g", "w",
	    "none" },
	{ "a commondir that is none", "m/x/worktrees/x/HEAD "
	    LINKED("m/x/worktrees/x", "../..", "@/w/.git")
	    "w/.git:gitdir:;@/m/x/worktrees/x", "w", "none" },

	/* Of a submodule, or set apart. */
	{ "a submodule", REPO("m/.git/modules/s")
	    CONFIG("m/.git/modules/s", "../../../s")
	    "m/s/.git:gitdir:;../.git/modules/s", "m/s",
	    "found @/m/.git/modules/s @/m/.git/modules/s" },
	{ "another's submodule", REPO("m/.git/modules/s")
	    CONFIG("m/.git/modules/s", "../../../s")
	    "w/.git:gitdir:;../m/.git/modules/s", "w",
	    "strange @/m/.git/modules/s" },
	{ "set apart", REPO("g") CONFIG("g", "@/w") "w/.git:gitdir:;@/g",
	    "w", "found @/g @/g" },
	{ "of the work tree alone", REPO("g") "g/config:[core]bare=false "
	    "g/config.worktree:[core]worktree=@/w w/.git:gitdir:;@/g", "w",
	    "found @/g @/g" },
	{ "names nothing", REPO("g") "w/.git:gitdir:;@/g", "w",
	    "unnamed @/g" },
	{ "somebody's repository", REPO("m/.git")
	    "w/.git:gitdir:;@/m/.git", "w", "strange @/m/.git" },
	{ "that of a work tree around", REPO("m/.git")
	    "m/w/.git:gitdir:;../.git", "m/w", "strange @/m/.git" },

	/* Nothing that git would take. */
	{ "no repository", "home/.ssh/id w/.git:gitdir:;../home/.ssh", "w",
	    "none" },
	{ "nowhere", "w/.git:gitdir:;../x", "w", "none" },
	{ "no such words", REPO("g") CONFIG("g", "@/w") "w/.git:@/g", "w",
	    "none" },
	{ "a file, though one is above", REPO("w/.git") "w/a/.git:x", "w/a",
	    "none" },
};

static const char *const kinds[] = { [GITDIR_NONE] = "none",
    [GITDIR_FOUND] = "found", [GITDIR_BARE] = "bare",
    [GITDIR_STRANGE] = "strange",
    [GITDIR_UNNAMED] = "unnamed" };

static void
check(const char *name, const char *tree, const char *file, const char *text,
    const char *folder, const char *want)
{
	struct arena *a = arena_new();
	struct gitdir d;
	void *room = NULL;
	char *got;

	assert_int_equal(room_enter(&room), 0);
	(void)tree_make(room, tree);
	if (file != NULL)
		room_put(room, file, text);
	gitdir_find(a, room_path(room, folder), &d);
	got = room_shorten(room, arena_printf(a, "%s%s%s%s%s", kinds[d.kind],
	    d.kind != GITDIR_NONE ? " " : "",
	    d.kind != GITDIR_NONE ? d.dir : "",
	    d.kind == GITDIR_FOUND ? " " : "",
	    d.kind == GITDIR_FOUND ? d.common : ""));
	if (strcmp(got, want) != 0)
		fail_msg("%s: %s", name, got);
	free(got);
	room_leave(&room);
	arena_free(a);
}

static void
test_find(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check(cases[i].name, cases[i].tree, NULL, NULL,
		    cases[i].folder, cases[i].want);
}

/* Of several lines. */
static void
test_lines(void **state)
{
	static const struct {
		const char	*file, *text, *want;
	} rows[] = {
		{ "g/config", "[core]\n\tworktree = ../w\n", "found @/g @/g" },
		{ "g/config", "[core]\n\tworktree = ../w\n\tworktree = ../v\n",
		    "strange @/g" },
		{ "g/config", "[core]\n\tworktree = ../v\n\tworktree = ../w\n",
		    "found @/g @/g" },
		{ "g/config", "[core]\n\tworktree = ../w\n[x\n",
		    "strange @/g" },
		{ "g/config", "[core]\n\tworktree\n", "strange @/g" },
		{ "w/.git", "gitdir: ../g\n", "unnamed @/g" },
		{ "w/.git", "gitdir: ../g\nx\n", "none" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check(rows[i].text, REPO("g") "w/.git:gitdir:;../g",
		    rows[i].file, rows[i].text, "w", rows[i].want);
}

/* Another user's is none, however well it names the work tree. */
static void
test_owner(void **state)
{
	static const char *const names[] = { "m/.git", "m/.git/objects",
	    "m/.git/worktrees/x", "m/.git/worktrees/x/gitdir",
	    "m/.git/worktrees/x/commondir", "w/.git" };

	(void)state;
	if (getuid() != 0)
		skip();
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct arena *a = arena_new();
		struct gitdir d;
		void *room = NULL;

		assert_int_equal(room_enter(&room), 0);
		(void)tree_make(room, REPO("m/.git")
		    LINKED("m/.git/worktrees/x", "../..", "@/w/.git")
		    "w/.git:gitdir:;@/m/.git/worktrees/x");
		gitdir_find(a, room_path(room, "w"), &d);
		assert_int_equal(d.kind, GITDIR_FOUND);
		assert_int_equal(lchown(room_path(room, names[i]), 1, 1), 0);
		gitdir_find(a, room_path(room, "w"), &d);
		if (d.kind == GITDIR_FOUND)
			fail_msg("another's %s is believed", names[i]);
		room_leave(&room);
		arena_free(a);
	}
}

static void
test_text(void **state)
{
	static const struct {
		const char	*text;
		size_t		 len;
		const char	*begin, *want;
	} rows[] = {
		{ "gitdir: /a/b\n", 13, "gitdir: ", "/a/b" },
		{ "gitdir: ../x\r\n", 14, "gitdir: ", "/base/x" },
		{ "../..\n", 6, "", "/" },
		{ "/a//b/./c/../d", 14, "", "/a/b/d" },
		{ "", 0, "", NULL }, { "\n\n", 2, "", NULL },
		{ "gitdir: ", 8, "gitdir: ", NULL },
		{ "gitdir:/a", 9, "gitdir: ", NULL },
		{ "/a\0b", 4, "", NULL }, { "/a\n/b", 5, "", NULL },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *got = gitdir_text(a, rows[i].text, rows[i].len,
		    rows[i].begin, "/base/at");

		if ((got == NULL) != (rows[i].want == NULL) ||
		    (got != NULL && strcmp(got, rows[i].want) != 0))
			fail_msg("%s: %s", rows[i].text, got);
	}
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
