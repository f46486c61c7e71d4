/* facts: a tree and a policy in; mounts, guarded names and notices out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>

#include "launcher/plan/facts.h"
#include "launcher/plan/plan_judge.h"
#include "platform/base/vec.h"
#include "tests/unit/tree_text.h"

/* proj is a linked work tree of main, and other another one. */
#define LINKED								\
	"main/.git/HEAD main/.git/objects/ main/.git/refs/ "		\
	"main/.git/config main/.git/worktrees/x/HEAD "			\
	"main/.git/worktrees/x/commondir:../.. "			\
	"main/.git/worktrees/x/gitdir:@/proj/.git "			\
	"main/.git/worktrees/o/HEAD main/.git/worktrees/o/commondir:../.. " \
	"main/.git/worktrees/o/gitdir:@/other/.git "			\
	"proj/.git:gitdir:;@/main/.git/worktrees/x"
#define LINKED_MOUNTS							\
	"rw @/main/.git\nro @/main/.git/config\n"			\
	"rw @/main/.git/worktrees pin\nro @/main/.git/worktrees/o\n"	\
	"rw @/main/.git/worktrees/x pin\n"				\
	"ro @/main/.git/worktrees/x/commondir\n"			\
	"ro @/main/.git/worktrees/x/gitdir\nrw @/proj\nro @/proj/.git\n"
#define LINKED_GUARDS							\
	"ro @/main/.git/config\nro @/main/.git/worktrees/o\n"		\
	"ro @/main/.git/worktrees/x/commondir\n"			\
	"ro @/main/.git/worktrees/x/gitdir\nro @/proj/.git\n"
#define CLOSED_MOUNTS	"rw @/proj\nro @/proj/.git\n"
#define CLOSED_GUARDS	"ro @/proj/.git\n"

static const struct {
	const char	*name;
	const char	*tree;
	const char	*policy;	/* of "filesystem" */
	const char	*ceiling;	/* same, or NULL */
	const char	*mounts;	/* below the room; or the error */
	const char	*guards;	/* but GUARD_ABSENT */
	const char	*absent;	/* some of these */
	const char	*open;		/* not among them */
	const char	*notices;
	bool		 is_users;	/* root may look everywhere */
} cases[] = {
	{ .name = "nothing granted", .tree = "proj/a",
	    .policy = "", .mounts = "", .guards = "" },
	{ .name = "the workspace", .tree = "proj/a",
	    .policy = "\"allowWrite\": [\".\"]",
	    .mounts = "rw @/proj\n", .guards = "",
	    .absent = "proj/.bashrc proj/.envrc proj/.vscode "
	    "proj/.github/workflows proj/.claude/hooks proj/fence.jsonc",
	    .open = "proj/a proj/.claude proj/.git home/.bashrc" },
	{ .name = "guarded names that are there", .tree =
	    "proj/.bashrc proj/.vscode/tasks.json proj/.github/workflows/ci "
	    "proj/.claude/settings.json proj/.claude/state proj/fence.json",
	    .policy = "\"allowWrite\": [\".\"]",
	    .mounts =
	    "rw @/proj\nro @/proj/.bashrc\nrw @/proj/.claude pin\n"
	    "ro @/proj/.claude/settings.json\nrw @/proj/.github pin\n"
	    "ro @/proj/.github/workflows\nro @/proj/.vscode\n"
	    "ro @/proj/fence.json\n",
	    .guards =
	    "ro @/proj/.bashrc\nro @/proj/.claude/settings.json\n"
	    "ro @/proj/.github/workflows\nro @/proj/.vscode\n"
	    "ro @/proj/fence.json\n" },
	{ .name = "a guarded name that is written out", .tree =
	    "proj/.bashrc proj/.vscode/",
	    .policy = "\"allowWrite\": [\".\", \"./.bashrc\", \"./.vscode\"]",
	    .mounts = "rw @/proj\n", .guards = "" },
	{ .name = "a glob opens none", .tree = "proj/.bashrc proj/b",
	    .policy = "\"allowWrite\": [\"./*\"]",
	    .mounts = "rw @/proj/b\nrw @/proj/sub\n",
	    .guards = "rw @/proj/b\n" },
	{ .name = "a repository", .tree = "proj/.git/HEAD proj/.git/config "
	    "proj/.git/hooks/pre-commit proj/.git/objects/",
	    .policy = "\"allowWrite\": [\".\"]",
	    .mounts =
	    "rw @/proj\nrw @/proj/.git pin\nro @/proj/.git/config\n"
	    "ro @/proj/.git/hooks\n",
	    .guards = "ro @/proj/.git/config\nro @/proj/.git/hooks\n",
	    .absent = "proj/.git/info/attributes proj/.git/commondir" },
	{ .name = "repositories below, and too deep", .tree =
	    "proj/sub/.git/hooks/ proj/a/b/c/.git/hooks/ "
	    "proj/a/b/c/d/.git/hooks/ proj/node_modules/x/.git/hooks/",
	    .policy = "\"allowWrite\": [\".\"]",
	    .mounts =
	    "rw @/proj\nrw @/proj/a pin\nrw @/proj/a/b pin\n"
	    "rw @/proj/a/b/c pin\nrw @/proj/a/b/c/.git pin\n"
	    "ro @/proj/a/b/c/.git/hooks\nrw @/proj/sub pin\n"
	    "rw @/proj/sub/.git pin\nro @/proj/sub/.git/hooks\n",
	    .guards =
	    "ro @/proj/a/b/c/.git/hooks\nro @/proj/sub/.git/hooks\n" },
	{ .name = "git directories of worktrees and submodules", .tree =
	    "proj/.git/config proj/.git/hooks/ "
	    "proj/.git/worktrees/wt/config.worktree "
	    "proj/.git/worktrees/wt/commondir:../.. "
	    "proj/.git/worktrees/wt/gitdir:@/proj/wt/.git "
	    "proj/wt/.git:gitdir:;@/proj/.git/worktrees/wt "
	    "proj/.git/modules/m/hooks/ proj/.git/modules/m/config",
	    .policy = "\"allowWrite\": [\".\"]",
	    .mounts =
	    "rw @/proj\nrw @/proj/.git pin\nro @/proj/.git/config\n"
	    "ro @/proj/.git/hooks\nrw @/proj/.git/modules pin\n"
	    "rw @/proj/.git/modules/m pin\n"
	    "ro @/proj/.git/modules/m/config\n"
	    "ro @/proj/.git/modules/m/hooks\n"
	    "rw @/proj/.git/worktrees pin\n"
	    "rw @/proj/.git/worktrees/wt pin\n"
	    "ro @/proj/.git/worktrees/wt/commondir\n"
	    "ro @/proj/.git/worktrees/wt/config.worktree\n"
	    "ro @/proj/.git/worktrees/wt/gitdir\n"
	    "rw @/proj/wt pin\nro @/proj/wt/.git\n",
	    .guards =
	    "ro @/proj/.git/config\nro @/proj/.git/hooks\n"
	    "ro @/proj/.git/modules/m/config\n"
	    "ro @/proj/.git/modules/m/hooks\n"
	    "ro @/proj/.git/worktrees/wt/commondir\n"
	    "ro @/proj/.git/worktrees/wt/config.worktree\n"
	    "ro @/proj/.git/worktrees/wt/gitdir\n"
	    "ro @/proj/wt/.git\n",
	    .absent = "proj/.git/modules/m/config.worktree" },
	{ .name = "a linked work tree", .tree = LINKED,
	    .policy = "\"allowWrite\": [\".\"]", .mounts = LINKED_MOUNTS,
	    .guards = LINKED_GUARDS,
	    .absent = "main/.git/hooks main/.git/objects/info/alternates "
	    "main/.git/worktrees/x/config.worktree",
	    .open = "main/.git/.bashrc" },
	{ .name = "under a ceiling that does not list it", .tree = LINKED,
	    .policy = "\"allowWrite\": [\".\"]",
	    .ceiling = "\"allowWrite\": [\".\"]", .mounts = CLOSED_MOUNTS,
	    .guards = CLOSED_GUARDS },
	{ .name = "under one that does", .tree = LINKED,
	    .policy = "\"allowWrite\": [\".\"]",
	    .ceiling = "\"allowWrite\": [\".\", \"@/main\"]",
	    .mounts = LINKED_MOUNTS, .guards = LINKED_GUARDS },
	{ .name = "what is denied is not granted", .tree = LINKED,
	    .policy = "\"allowWrite\": [\".\"], \"denyWrite\": "
	    "[\"@/main\"]", .mounts = CLOSED_MOUNTS,
	    .guards = CLOSED_GUARDS },
	{ .name = "nor where .git is", .tree = LINKED,
	    .policy = "\"allowWrite\": [\".\"], \"denyWrite\": "
	    "[\".git\"]", .mounts = CLOSED_MOUNTS,
	    .guards = CLOSED_GUARDS },
	{ .name = "nor in a workspace that is only read", .tree = LINKED,
	    .policy = "\"allowWrite\": [\"./sub\"]",
	    .mounts = "rw @/proj/sub\n", .guards = "" },
	{ .name = "a work tree in a writable folder is ours", .tree = LINKED
	    " other/x", .policy = "\"allowWrite\": [\".\", \"@/other\"]",
	    .mounts =
	    "rw @/main/.git\nro @/main/.git/config\n"
	    "rw @/main/.git/worktrees pin\nrw @/main/.git/worktrees/o pin\n"
	    "ro @/main/.git/worktrees/o/commondir\n"
	    "ro @/main/.git/worktrees/o/gitdir\n"
	    "rw @/main/.git/worktrees/x pin\n"
	    "ro @/main/.git/worktrees/x/commondir\n"
	    "ro @/main/.git/worktrees/x/gitdir\nrw @/other\nrw @/proj\n"
	    "ro @/proj/.git\n",
	    .guards =
	    "ro @/main/.git/config\nro @/main/.git/worktrees/o/commondir\n"
	    "ro @/main/.git/worktrees/o/gitdir\n"
	    "ro @/main/.git/worktrees/x/commondir\n"
	    "ro @/main/.git/worktrees/x/gitdir\nro @/proj/.git\n" },
	{ .name = "a repository around the home", .tree =
	    ".git/HEAD .git/objects/ .git/refs/",
	    .policy = "\"allowWrite\": [\".\"]", .mounts = "rw @/proj\n",
	    .guards = "" },
	{ .name = "a git directory set apart, with a name", .tree =
	    "g/HEAD g/objects/ g/refs/ proj/.git:gitdir:;../g "
	    "g/config:[core]worktree=../proj",
	    .policy = "\"allowWrite\": [\".\"]",
	    .mounts = "rw @/g\nro @/g/config\n" CLOSED_MOUNTS,
	    .guards = "ro @/g/config\n" CLOSED_GUARDS },
	{ .name = "and without", .tree =
	    "g/HEAD g/objects/ g/refs/ proj/.git:gitdir:;../g",
	    .policy = "\"allowWrite\": [\".\"]",
	    .mounts = CLOSED_MOUNTS, .guards = CLOSED_GUARDS,
	    .notices = "'@/proj/.git' leads to '@/g', which does not name "
	    "this work tree: git cannot write there; if it is yours, name it "
	    "once: git -C '@/proj' config core.worktree '@/proj'\n" },
	{ .name = "of somebody's", .tree =
	    "m/.git/HEAD m/.git/objects/ m/.git/refs/ "
	    "proj/.git:gitdir:;../m/.git",
	    .policy = "\"allowWrite\": [\".\"]",
	    .mounts = CLOSED_MOUNTS, .guards = CLOSED_GUARDS,
	    .notices = "'@/proj/.git' leads to '@/m/.git', which does not "
	    "name this work tree: git cannot write there\n" },
	{ .name = "a git directory behind a link", .tree =
	    "proj/.git>inner proj/inner/hooks/ proj/inner/config",
	    .policy = "\"allowWrite\": [\".\"]",
	    .mounts =
	    "rw @/proj\nrw @/proj/inner pin\nro @/proj/inner/config\n"
	    "ro @/proj/inner/hooks\n",
	    .guards =
	    "link @/proj/.git\nro @/proj/inner/config\n"
	    "ro @/proj/inner/hooks\n" },
	{ .name = "a git directory out of the grant", .tree =
	    "proj/.git>../repo.git repo.git/hooks/ repo.git/config",
	    .policy = "\"allowWrite\": [\".\"]",
	    .mounts = "rw @/proj\n",
	    .guards = "link @/proj/.git\n" },
	{ .name = "grants and denials, nested", .tree =
	    "proj/a/b/c/d proj/a/b/e proj/secret/key proj/secret/pub",
	    .policy = "\"allowWrite\": [\".\", \"./a/b/c\"], "
	    "\"denyWrite\": [\"./a/b\"], \"denyRead\": [\"./secret\"], "
	    "\"allowRead\": [\"./secret/pub\"]",
	    .mounts =
	    "rw @/proj\nrw @/proj/a pin\nro @/proj/a/b\nrw @/proj/a/b/c\n"
	    "around @/proj/secret\nro @/proj/secret/pub\n",
	    .guards = "ro @/proj/a/b\nro @/proj/secret/pub\n" },
	{ .name = "denials that are missing", .tree = "proj/d/",
	    .policy = "\"allowWrite\": [\".\"], "
	    "\"denyWrite\": [\"./d/no\"], \"denyRead\": [\"./d/nor\", "
	    "\"./x/y\"]",
	    .mounts = "rw @/proj\n",
	    .guards =
	    "hidden @/proj/d/nor missing\nhidden @/proj/x/y missing\n",
	    .absent = "proj/d/no" },
	{ .name = "globs: what matches at the start", .tree =
	    "proj/a.key proj/d/b.key proj/d/c.txt proj/.env proj/d/.env.local",
	    .policy = "\"allowWrite\": [\".\"], "
	    "\"denyRead\": [\"./**/*.key\"], "
	    "\"denyWrite\": [\"./**/.env*\"]",
	    .mounts =
	    "rw @/proj\nro @/proj/.env\nmaskfile @/proj/a.key\n"
	    "rw @/proj/d pin\nro @/proj/d/.env.local\n"
	    "maskfile @/proj/d/b.key\n",
	    .guards =
	    "hidden @/proj/a.key\nhidden @/proj/d/b.key\nro @/proj/.env\n"
	    "ro @/proj/d/.env.local\n" },
	{ .name = "a glob of grants", .tree =
	    "proj/out-1/ proj/out-2/x proj/src/",
	    .policy = "\"allowWrite\": [\"./out-*\"]",
	    .mounts = "rw @/proj/out-1\nrw @/proj/out-2\n", .guards = "" },
	{ .name = "missing grants", .tree = "proj/",
	    .policy = "\"allowWrite\": [\"@/away/x.json\", \"@/away/dir\", "
	    "\"./made\"]",
	    .mounts = "rw @/away/dir\nrw @/proj/made\n", .guards = "",
	    .notices =
	    "filesystem.allowWrite[0] \"@/away/x.json\" p.json:1:34 does not "
	    "exist and stays unwritable\n" },
	{ .name = "a grant through a link of the user's", .tree =
	    "home/cache>../disk/cache disk/cache/",
	    .policy = "\"allowWrite\": [\"~/cache\"]",
	    .mounts = "rw @/disk/cache\n",
	    .guards = "" },
	{ .name = "a link out of the workspace", .tree =
	    "proj/out>../outside outside/x",
	    .policy = "\"allowWrite\": [\".\", \"./out\"]",
	    .mounts =
	    "error: '@/proj/out' leads through the symlink '@/proj/out' to "
	    "'@/outside'",
	    .guards = "" },
	{ .name = "a link out, whose end is granted by name", .tree =
	    "proj/out>../outside outside/x",
	    .policy = "\"allowWrite\": [\".\", \"./out\", \"@/outside\"]",
	    .mounts = "rw @/outside\nrw @/proj\n", .guards = "" },
	{ .name = "a denial through a link", .tree =
	    "proj/secret>hidden/key proj/hidden/key",
	    .policy = "\"allowWrite\": [\".\"], \"denyRead\": [\"./secret\"]",
	    .mounts =
	    "rw @/proj\nrw @/proj/hidden pin\n"
	    "maskfile @/proj/hidden/key\n",
	    .guards = "hidden @/proj/hidden/key\nlink @/proj/secret\n" },
	{ .name = "a link into a denied place", .tree =
	    "home/.ssh/id proj/way>../home/.ssh",
	    .policy = "\"allowWrite\": [\".\"], \"denyRead\": [\"~/.ssh\"], "
	    "\"allowRead\": [\"./way\"]",
	    .mounts =
	    "error: '@/proj/way' leads through the symlink '@/proj/way' to "
	    "'@/home/.ssh'", .guards = "" },
	{ .name = "links in a circle", .tree = "proj/a>b proj/b>a",
	    .policy = "\"allowWrite\": [\".\", \"./a\"], "
	    "\"denyRead\": [\"./b\"]",
	    .mounts = "rw @/proj\n",
	    .guards =
	    "hidden @/proj/b missing\nlink @/proj/a\nlink @/proj/b\n" },
	{ .name = "a home whose state is granted", .tree =
	    "home/.claude/settings.json home/.claude/projects/ home/.bashrc",
	    .policy = "\"allowWrite\": [\"~/.claude\"]",
	    .mounts =
	    "rw @/home/.claude\nro @/home/.claude/settings.json\n",
	    .guards = "ro @/home/.claude/settings.json\n",
	    .absent = "home/.claude/hooks" },
	{ .name = "one file", .tree = "home/.tool.json",
	    .policy = "\"allowWrite\": [\"~/.tool.json\"]",
	    .mounts = "rw @/home/.tool.json\n",
	    .guards = "rw @/home/.tool.json\n" },
	{ .name = "a socket of the host's", .tree = "proj/ctl= proj/x",
	    .policy = "\"allowWrite\": [\".\"]",
	    .mounts = "rw @/proj\nmaskfile @/proj/ctl\n",
	    .guards = "hidden @/proj/ctl\n" },
	{ .name = "closed: what is granted alone", .tree =
	    "proj/a home/.x home/doc/y",
	    .policy = "\"defaultDenyRead\": true, \"allowWrite\": [\".\"], "
	    "\"allowRead\": [\"~/doc\"]",
	    .mounts = "place @/home\nro @/home/doc\nrw @/proj\n",
	    .guards = "ro @/home/doc\n" },
	{ .name = "a folder nobody may enter, with a denial inside", .tree =
	    "proj/shut!", .policy = "\"allowWrite\": [\".\"], "
	    "\"denyRead\": [\"./**/key\"]",
	    .mounts = "rw @/proj\nmaskdir @/proj/shut\n",
	    .guards = "hidden @/proj/shut\n",
	    .notices = "'@/proj/shut' cannot be looked at, so it is hidden: "
	    "chmod u+rwx it to see it inside\n", .is_users = true },
	{ .name = "a file as a write root's parent", .tree = "proj/f",
	    .policy = "\"allowWrite\": [\".\", \"./f/sub\"]",
	    .mounts = "rw @/proj\n",
	    .guards = "" },
};

struct scene {
	struct room	*r;
	struct arena	*a;
	struct policy	*policy;
	struct facts	 facts;
	struct mounts	 mounts;
	struct buf	 notices;
	struct err	 e;
	int		 rc;
};

static void
on_notice(const char *text, void *arg)
{
	struct scene *s = arg;

	if (!is_of_machine(text))
		buf_printf(&s->notices, "%s\n", text);
}

static struct policy *
scene_policy(struct scene *s, const struct policy_env *env, const char *keys)
{
	struct policy *p = NULL;
	char text[2048], *k = room_expand(s->r, keys);

	snprintf(text, sizeof text, "{ \"filesystem\": { %s } }", k);
	free(k);
	if (policy_parse(text, strlen(text), "p.json", env, &p, &s->e) != 0)
		fail_msg("%s: %s", text, s->e.msg);
	return p;
}

static void
scene_plan(struct scene *s, const char *keys, const char *ceiling)
{
	char home[160], proj[160];
	struct policy_env env = { .workspace = proj, .home = home };
	struct facts_request rq = { .arena = s->a, .cwd = proj,
	    .notice = on_notice, .arg = s, .as_if_made = true };
	struct mounts_mode mode = { .bwrap = "/usr/bin/bwrap" };

	snprintf(home, sizeof home, "%s/home", s->r->dir);
	snprintf(proj, sizeof proj, "%s/proj", s->r->dir);
	s->policy = scene_policy(s, &env, keys);
	if (ceiling != NULL) {
		s->policy->also = scene_policy(s, &env, ceiling);
		s->policy->also->is_ceiling = true;
	}
	rq.policy = s->policy;
	mode.is_closed = s->policy->fs.default_deny_read.value;
	s->rc = facts_gather(&rq, &s->facts, &s->e);
	if (s->rc == 0)
		mounts_plan(s->a, &mode, s->facts.v, s->facts.n, &s->mounts);
	if (s->rc == 0)
		s->rc = facts_check_roots(&s->mounts.roots, &s->e);
	if (s->rc == 0)
		s->rc = plan_judge(s->policy, &s->facts, &s->mounts, &s->e);
	if (s->rc == 0)
		facts_guard_mounts(&s->facts, &s->mounts);
}

static void
scene_free(struct scene *s)
{
	if (s->policy->also != NULL)
		policy_free(s->policy->also);
	policy_free(s->policy);
	facts_release(&s->facts);
	vec_release(&s->mounts.list);
	vec_release(&s->mounts.roots);
	buf_release(&s->notices);
	arena_free(s->a);
}

/* "rw @/proj", a line each; "error: ..." */
static char *
mounts_text(const struct scene *s)
{
	static const char *const kinds[] = {
		[MOUNT_RO] = "ro", [MOUNT_RW] = "rw",
		[MOUNT_MASK_DIR] = "maskdir", [MOUNT_MASK_FILE] = "maskfile",
		[MOUNT_MASK_AROUND] = "around", [MOUNT_LINK] = "link",
		[MOUNT_PLACE] = "place",
	};
	struct buf b;
	char *ret;

	buf_init(&b, 0);
	if (s->rc != 0)
		buf_printf(&b, "error: %s", s->e.msg);
	for (size_t i = 0; s->rc == 0 && i < s->mounts.list.n; i++) {
		const struct jail_mount *m = &s->mounts.list.v[i];

		if (strncmp(m->path, s->r->dir, strlen(s->r->dir)) == 0)
			buf_printf(&b, "%s %s%s\n", kinds[m->kind], m->path,
			    m->is_pin ? " pin" : "");
	}
	ret = room_shorten(s->r, b.data);
	buf_release(&b);
	return ret;
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Lines, each once and in order: a path may be guarded twice. */
static char *
sorted(char *text)
{
	char *v[64], *save = NULL;
	struct buf b;
	size_t n = 0;

	buf_init(&b, 0);
	for (char *l = strtok_r(text, "\n", &save); l != NULL && n < 64;
	    l = strtok_r(NULL, "\n", &save))
		v[n++] = l;
	if (n > 0)
		qsort(v, n, sizeof *v, by_text);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || strcmp(v[i], v[i - 1]) != 0)
			buf_printf(&b, "%s\n", v[i]);
	strcpy(text, b.data);		/* no longer than it was */
	buf_release(&b);
	return text;
}

static char *
guards_text(const struct scene *s)
{
	static const char *const kinds[] = { [GUARD_READONLY] = "ro",
	    [GUARD_HIDDEN] = "hidden", [GUARD_WRITABLE] = "rw",
	    [GUARD_LINK] = "link" };
	struct buf b;
	char *ret;

	buf_init(&b, 0);
	for (size_t i = 0; i < s->facts.guards.n; i++) {
		const struct guard_path *g = &s->facts.guards.v[i];

		if (g->kind != GUARD_ABSENT &&
		    strncmp(g->path, s->r->dir, strlen(s->r->dir)) == 0)
			buf_printf(&b, "%s %s%s\n", kinds[g->kind], g->path,
			    g->ino == 0 && g->kind != GUARD_LINK ?
			    " missing" : "");
	}
	ret = sorted(room_shorten(s->r, b.data));
	buf_release(&b);
	return ret;
}

static void
same(size_t i, const char *what, const char *got, const char *want)
{
	if (want == NULL)
		want = "";
	if (strcmp(got, want) != 0)
		fail_msg("%s: %s are\n%s", cases[i].name, what, got);
}

static bool
is_absent(const struct scene *s, const char *path)
{
	for (size_t i = 0; i < s->facts.guards.n; i++)
		if (s->facts.guards.v[i].kind == GUARD_ABSENT &&
		    strcmp(s->facts.guards.v[i].path, path) == 0)
			return true;
	return false;
}

static void
check_absent(const struct scene *s, size_t i, const char *names, bool want)
{
	char text[512], *save = NULL;

	snprintf(text, sizeof text, "%s", names != NULL ? names : "");
	for (char *w = strtok_r(text, " ", &save); w != NULL;
	    w = strtok_r(NULL, " ", &save))
		if (is_absent(s, room_path(s->r, w)) != want)
			fail_msg("%s: %s is %sguarded while missing",
			    cases[i].name, w, want ? "not " : "");
}

static void
check_case(size_t i)
{
	struct scene s = { .a = arena_new() };
	void *room = NULL;
	char *mounts, *guards, *notices;
	int fd;

	assert_int_equal(room_enter(&room), 0);
	s.r = room;
	buf_init(&s.notices, 0);
	fd = tree_make(s.r, cases[i].tree);
	scene_plan(&s, cases[i].policy, cases[i].ceiling);
	mounts = mounts_text(&s);
	guards = guards_text(&s);
	notices = room_shorten(s.r, s.notices.data);
	same(i, "the mounts", mounts, cases[i].mounts);
	same(i, "the guards", guards, cases[i].guards);
	same(i, "the notices", notices, cases[i].notices);
	check_absent(&s, i, cases[i].absent, true);
	check_absent(&s, i, cases[i].open, false);
	free(mounts);
	free(guards);
	free(notices);
	scene_free(&s);
	if (fd >= 0)
		close(fd);
	(void)chmod(room_path(room, "proj/shut"), 0700);
	room_leave(&room);
}

static void
test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (!cases[i].is_users || getuid() != 0)
			check_case(i);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
