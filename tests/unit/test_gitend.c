/*
 * The end of a run, for git: what is found, what is taken away, what stays;
 * and the journal that the next run takes up.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launcher/guard/gitend.h"
#include "launcher/guard/gitjournal.h"
#include "launcher/guard/gitwalk.h"
#include "launcher/guard/guard_parts.h"
#include "platform/base/buf.h"

static char top[] = "/var/tmp/fence-gitend-XXXXXX";
static char root[64], keep[64], state[64], journal[80];
static const char *const roots[] = { root };
static struct buf told_text;

/* A shell line in the root; $K is quarantine. */
static int
sh(const char *line)
{
	char text[4096];
	int status;

	snprintf(text, sizeof text, "cd %s && K=%s && "
	    "one() { mkdir -p \"$1\"/objects \"$1\"/refs \"$1\"/hooks; "
	    "echo 'ref: refs/heads/m' >\"$1\"/HEAD; "
	    "printf '[core]\\n\\tbare = false\\n\\tpager = x\\n' "
	    ">\"$1\"/config; echo >\"$1\"/hooks/x.sample; }; %s", root, keep,
	    line);
	status = system(text);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
on_told(const struct guard_told *t, void *arg)
{
	static const char *const deeds[] = { [GUARD_MOVED] = "moved",
	    [GUARD_REMOVED] = "removed", [GUARD_REMASKED] = "remasked",
	    [GUARD_FAILED] = "failed", [GUARD_CLEANED] = "cleaned",
	    [GUARD_FOUND] = "found", [GUARD_CUT] = "cut" };

	(void)arg;
	assert_int_equal(t->kind, GUARD_GIT);
	assert_memory_equal(t->path, root, strlen(root));
	buf_printf(&told_text, "%s %s%s%s|", deeds[t->deed],
	    t->path + strlen(root) + 1, t->what != NULL ? " " : "",
	    t->what != NULL ? t->what : "");
}

static struct timespec newest;

static bool
is_after(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec > b->tv_sec ||
	    (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

static int
take_newest(const char *path, const struct stat *st, int kind,
    struct FTW *at)
{
	(void)path;
	(void)kind;
	(void)at;
	if (is_after(&st->st_ctim, &newest))
		newest = st->st_ctim;
	return 0;
}

/*
 * A run that starts now.  All files are older: the clock of a virtual machine
 * may have been set back by some milliseconds since they were made.
 */
static struct gitend
begin(void)
{
	struct gitend end = { .roots = roots, .nroots = 1,
	    .quarantine = keep, .told = on_told };

	newest = (struct timespec){ 0, 0 };
	assert_int_equal(nftw(root, take_newest, 16, FTW_PHYS), 0);
	do
		clock_gettime(CLOCK_REALTIME_COARSE, &end.since);
	while (!is_after(&end.since, &newest));
	buf_clear(&told_text);
	return end;
}

/* A folder of worktrees/ that names this. */
#define LINKED(file)							\
	"mkdir -p m/worktrees/x; echo x >m/worktrees/x/HEAD; "		\
	"echo ../.. >m/worktrees/x/commondir; "				\
	"echo \"" file "\" >m/worktrees/x/gitdir"
#define LINKED_MOVED	"moved m/worktrees/x/gitdir|"

static const struct {
	const char	*before, *run, *told, *after;
} cases[] = {
	{ "", "one a/.git", "cleaned a/.git/config core.pager|",
	    "grep -q bare a/.git/config && grep -q pager $K/*-config && "
	    "test -e a/.git/hooks/x.sample" },
	{ "one a", "", "", "grep -q pager a/config" },
	{ "one a; echo >a/hooks/pre-push", "echo >a/objects/new", "",
	    "test -e a/hooks/pre-push" },
	{ "one a", "echo >a/hooks/pre-push; chmod 0 a/hooks",
	    "cleaned a/config core.pager|moved a/hooks/pre-push|",
	    "test \"$(stat -c %a a/hooks)\" = 0" },
	{ "one a", "echo >>a/hooks/x.sample",
	    "cleaned a/config core.pager|", "test -e a/hooks/x.sample" },
	{ "", "one .", "cleaned config core.pager|", "" },
	{ "", "one a; rm -r a/refs", "", "grep -q pager a/config" },
	{ "", "one a; chmod 600 a/config; ln a/config other",
	    "cleaned a/config core.pager|",
	    "test \"$(stat -c %a a/config)\" = 600 && grep -q pager other" },
	{ "", "one a; mv a/config x; ln -s ../x a/config",
	    "moved a/config|", "test -L $K/*-config && ! test -e a/config" },
	{ "", "one a; rm a/config; mkfifo a/config", "moved a/config|", "" },
	{ "", "one a; rm a/config; mkdir a/config", "moved a/config|", "" },
	{ "", "one a; chmod 0 a/config", "cleaned a/config core.pager|",
	    "test \"$(stat -c %a a/config)\" = 0" },
	{ "", "one a; printf '[b]c=d\\n[' >a/config",
	    "cleaned a/config what cannot be read|",
	    "test \"$(cat a/config)\" = \"$(printf '[b]\\n\\tc = d')\"" },
	{ "", "one a; rm -r a/hooks; ln -s ../h a/hooks",
	    "cleaned a/config core.pager|moved a/hooks|", "" },
	{ "", "one a; cd a/hooks; touch 1 2 3 4 5; mkdir d",
	    "cleaned a/config core.pager|moved a/hooks|",
	    "test -e $K/*-hooks/5" },
	{ "", "mkdir fence.0; one .; mkdir fence.1",
	    "cleaned config core.pager|", "test -d fence.0 -a -d fence.1" },
	/* What leads elsewhere. */
	{ "one s; mkdir w", "echo 'gitdir: ../s' >w/.git",
	    "cleaned s/config core.pager|", "test -e w/.git" },
	{ "one s; mkdir w; echo 'gitdir: ../s' >w/.git", "touch w/x", "",
	    "" },
	{ "one s; mkdir w", "ln -s ../s w/.git",
	    "cleaned s/config core.pager|", "" },
	{ "one s; mkdir w", "echo 'gitdir: ../s' >f; ln -s ../f w/.git",
	    "cleaned s/config core.pager|", "" },
	{ "one 's\nt'; mkdir w", "printf 'gitdir: ../s\nt\r\n\n' >w/.git",
	    "cleaned s\nt/config core.pager|", "" },
	{ "one s; mkdir w", "{ printf 'gitdir: '; i=0; "
	    "while test $i -lt 2040; do printf ./; i=$((i + 1)); done; "
	    "echo ../s; } >w/.git", "cleaned s/config core.pager|", "" },
	{ "one s; rm s/HEAD", "mkdir -p w/.git; echo x >w/.git/HEAD; "
	    "echo ../../s >w/.git/f; ln -s f w/.git/commondir",
	    "cleaned s/config core.pager|moved w/.git/commondir|", "" },
	{ "one s; rm s/HEAD", "mkdir -p w/.git; echo x >w/.git/HEAD; "
	    "echo ../../s >w/.git/commondir",
	    "cleaned s/config core.pager|", "" },
	{ "", "one w/.git/objects/ab/s; echo 'gitdir: .git/objects/ab/s' "
	    ">w/x; mkdir v; echo 'gitdir: ../w/.git/objects/ab/s' >v/.git",
	    "cleaned w/.git/objects/ab/s/config core.pager|", "" },
	{ "", "echo 'gitdir: loop' >.git; ln -s .git loop; "
	    "ln -s a b; ln -s b a", "", "" },
	{ "", "one .git/modules/a/b; one .git/worktrees/x; one .git/logs/y",
	    "cleaned .git/worktrees/x/config core.pager|"
	    "cleaned .git/modules/a/b/config core.pager|", "" },
	{ "", "one a/.git; printf '[core]worktree=../b\\n' >a/.git/config; "
	    "mkdir a/b; one c/.git; printf '[core]worktree=/usr\\n' "
	    ">c/.git/config", "cleaned c/.git/config core.worktree|", "" },
	/* Which work tree a repository is granted to later. */
	{ "", LINKED("$PWD/w/.git"), "", "test -e m/worktrees/x/gitdir" },
	{ "", LINKED("../../../w/.git"), "", "test -e m/worktrees/x/gitdir" },
	{ "", LINKED("/usr/.git"), LINKED_MOVED,
	    "test -e $K/*-gitdir && ! test -e m/worktrees/x/gitdir" },
	{ "", LINKED("../../../../../../../usr/.git"), LINKED_MOVED, "" },
	{ "", LINKED("$PWD/../x/.git"), LINKED_MOVED, "" },
	{ "", LINKED("${PWD}x/.git"), LINKED_MOVED, "" },
	{ "", LINKED(""), LINKED_MOVED, "" },
	/* Of somebody who made a work tree meanwhile, out of the roots. */
	{ "", LINKED("$K/w/.git") "; mkdir -p $K/w; "
	    "echo gitdir: $PWD/m/worktrees/x >$K/w/.git", "", "" },
	{ "", LINKED("$K/w/.git") "; mkdir -p $K/w; "
	    "echo gitdir: $PWD/m/worktrees/y >$K/w/.git", LINKED_MOVED, "" },
	{ "", LINKED("$K/w/.git") "; mkdir -p $K/w; ln -s f $K/w/.git; "
	    "echo gitdir: $PWD/m/worktrees/x >$K/w/f", LINKED_MOVED, "" },
	{ "", LINKED("$K/w/.git") "; mkdir -p $K/v; ln -s v $K/w; "
	    "echo gitdir: $PWD/m/worktrees/x >$K/w/.git", LINKED_MOVED, "" },
	{ "mkdir w", "mkdir -p $K/m; echo gitdir: $K/m >w/.git; "
	    "echo $PWD/w/.git >$K/m/gitdir", "", "test -e w/.git" },
	{ "mkdir -p $K/w; echo gitdir: $PWD/m/worktrees/x >$K/w/.git; "
	    "touch z", LINKED("$K/w/.git"), LINKED_MOVED, "" },
	{ "mkdir -p w $K/m; echo $PWD/w/.git >$K/m/gitdir; touch w/z",
	    "echo gitdir: $K/m >w/.git", "moved w/.git|", "" },
	{ "mkdir w", "mkdir -p $K/m; echo gitdir: $K/m >w/.git; "
	    "echo $PWD/v/.git >$K/m/gitdir", "moved w/.git|", "" },
	{ "mkdir w", "echo gitdir: /usr/x >w/.git", "moved w/.git|",
	    "test -e $K/*-.git" },
	{ "mkdir w; echo gitdir: /usr/x >w/.git", "touch w/x", "",
	    "test -e w/.git" },
	{ "mkdir -p a/worktrees/x; cd a/worktrees/x; echo x >HEAD; "
	    "echo ../.. >commondir; echo /usr/.git >gitdir", "touch a/y", "",
	    "" },
	/* By a way that the walk does not take, and that a rename opened. */
	{ "one .git/a; mkdir w; echo 'gitdir: ../.git/b' >w/.git",
	    "mv .git/a .git/b", "cleaned .git/b/config core.pager|", "" },
	{ "mkdir .git w; one .git/modules/m; "
	    "echo 'gitdir: ../.git/modules/m' >w/.git", "", "", "" },
	{ "one c; rm c/HEAD; mkdir d; echo x >d/HEAD; echo ../e >d/commondir",
	    "mv c e", "cleaned e/config core.pager|", "" },
	/* Symlinks that git writes through. */
	{ "one a", "ln -s ../../x a/index", "moved a/index|",
	    "test -L $K/*-index && grep -q pager a/config" },
	{ "one a", "mkdir -p a/logs/x; ln -s /etc a/logs/x/y; "
	    "ln -s /etc a/objects/z", "moved a/logs/x/y|",
	    "test -L a/objects/z" },
	{ "one a; ln -s x a/index; mkdir a/logs; ln -s x a/logs/HEAD",
	    "touch a/objects/y", "", "" },
	{ "one a; mkdir -p a/x/y; ln -s /etc a/x/y/z; mkdir a/objects/info",
	    "mv a/x a/rr-cache; ln -s /etc a/objects/info/commit-graph",
	    "moved a/rr-cache/y/z|moved a/objects/info/commit-graph|", "" },
	{ "one a", "ln -s refs/heads/m a/ORIG_HEAD; "
	    "ln -s refs/../../x a/FETCH_HEAD; mkdir a/annex; "
	    "ln -s /etc a/annex/x", "moved a/FETCH_HEAD|", "" },
	{ "", "one a; ln -s x a/packed-refs; chmod 0 a/refs",
	    "cleaned a/config core.pager|moved a/packed-refs|", "" },
	{ "one a", "mkdir a/0 a/logs; cd a/0; seq 20001 | xargs touch; "
	    "ln -s x ../index; ln -s x ../logs/HEAD",
	    "moved a/index|moved a/logs/HEAD|cut a|", "" },
	/* Steps that are commands. */
	{ "one a", "mkdir a/rebase-merge; cd a/rebase-merge; "
	    "printf 'pick 1 exec x\n \tx\ttrue\n' >git-rebase-todo; "
	    "echo ort >strategy", "moved a/rebase-merge/git-rebase-todo|",
	    "test -e a/rebase-merge/strategy" },
	{ "one a", "mkdir a/rebase-merge; cd a/rebase-merge; printf "
	    "'pick 1 x\nbreak\nxy\n# exec x\nexecute\n' >git-rebase-todo; "
	    "echo a/b >strategy", "moved a/rebase-merge/strategy|", "" },
	{ "one a; mkdir a/rebase-merge; echo exec x "
	    ">a/rebase-merge/git-rebase-todo", "touch a/index", "", "" },
	{ "one a; mkdir a/x; echo exec x >a/x/git-rebase-todo",
	    "mv a/x a/rebase-merge", "moved a/rebase-merge/git-rebase-todo|",
	    "" },
	{ "one a", "mkdir a/rebase-merge; "
	    "head -c 2000000 /dev/zero >a/rebase-merge/git-rebase-todo",
	    "moved a/rebase-merge/git-rebase-todo|", "" },
	{ "one a", "mkdir a/rebase-merge; mkfifo a/rebase-merge/strategy; "
	    "echo exec >a/rebase-merge/git-rebase-todo; "
	    "chmod 0 a/rebase-merge/* a/rebase-merge",
	    "moved a/rebase-merge/git-rebase-todo|"
	    "moved a/rebase-merge/strategy|", "" },
	{ "one a", "mkdir a/sequencer; "
	    "printf '[options]\nstrategy = a/b\n' >a/sequencer/opts",
	    "moved a/sequencer/opts|", "" },
	{ "one a", "mkdir a/sequencer; "
	    "printf '[options]\nstrategy = ort\n' >a/sequencer/opts",
	    "", "" },
	/* In an older work tree. */
	{ "mkdir .git; one .git", "one v/l/.git", "cleaned v/l/.git/config "
	    "core.pager|found v/l/.git|", "" },
	{ "one .git; one o/.git", "echo >o/.git/HEAD",
	    "cleaned o/.git/config core.pager|", "" },
};

/* On a busy machine a short look may run out of time: then it is needed. */
static bool
is_left_alone(const struct gitend *end)
{
	for (int i = 0; i < 100; i++)
		if (!gitend_is_needed(end))
			return true;
	return false;
}

static void
test_cases(void **state_)
{
	(void)state_;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct gitend end;

		assert_int_equal(sh(cases[i].before), 0);
		end = begin();
		if (cases[i].told[0] == '\0' && cases[i].run[0] == '\0')
			assert_true(is_left_alone(&end));
		assert_int_equal(sh(cases[i].run), 0);
		if (cases[i].told[0] != '\0')
			assert_true(gitend_is_needed(&end));
		assert_string_equal(told_text.data, "");
		gitend_run(&end);
		if (strcmp(told_text.data, cases[i].told) != 0)
			fail_msg("%s: %s, not %s", cases[i].run,
			    told_text.data, cases[i].told);
		if (cases[i].after[0] != '\0' && sh(cases[i].after) != 0)
			fail_msg("%s: not so: %s", cases[i].run,
			    cases[i].after);
		/* Once more: all is done, but for what is announced. */
		buf_clear(&told_text);
		gitend_run(&end);
		assert_null(strstr(told_text.data, "ed "));
		assert_int_equal(sh("mkdir -p $K; chmod -R u+rwx . $K; "
		    "rm -rf $K; "
		    "find . -mindepth 1 -delete"), 0);
	}
}

static void
test_held_and_open(void **state_)
{
	char held[80];
	const char *const list[] = { held };
	struct gitend end;

	(void)state_;
	snprintf(held, sizeof held, "%s/a/.git", root);
	end = begin();
	end.held = list;
	end.nheld = 1;
	assert_int_equal(sh("one a/.git; one a/.git/modules/m"), 0);
	gitend_run(&end);
	assert_string_equal(told_text.data,
	    "cleaned a/.git/modules/m/config core.pager|");
	/* Held are the configuration and the hooks alone. */
	assert_int_equal(sh("ln -s ../x a/.git/index; echo >a/.git/hooks/h; "
	    "mkdir a/.git/rebase-merge; "
	    "echo x >a/.git/rebase-merge/git-rebase-todo"), 0);
	buf_clear(&told_text);
	assert_true(gitend_is_needed(&end));
	gitend_run(&end);
	assert_string_equal(told_text.data,
	    "moved a/.git/rebase-merge/git-rebase-todo|moved a/.git/index|");
	/* A root that is a symlink by now, or behind one. */
	assert_int_equal(sh("mkdir x; one x/d; ln -s x l"), 0);
	for (int i = 0; i < 2; i++) {
		char path[80];
		const char *const other[] = { path };

		snprintf(path, sizeof path, "%s/l%s", root, i == 0 ? "" :
		    "/d");
		buf_clear(&told_text);
		end.roots = other;
		gitend_run(&end);
		assert_string_equal(told_text.data, "");
	}
	assert_int_equal(sh("rm -rf x l"), 0);
	/* Nowhere to keep it: gone all the same. */
	end = begin();
	end.quarantine = NULL;
	assert_int_equal(sh("one b; echo >b/hooks/h"), 0);
	gitend_run(&end);
	assert_string_equal(told_text.data,
	    "removed b/config core.pager|removed b/hooks/h|");
	assert_int_equal(sh("test \"$(cat b/config)\" = "
	    "\"$(printf '[core]\\n\\tbare = false')\" && "
	    "! test -e b/hooks/h && rm -rf a b $K"), 0);
}

/* ---- the walk ---- */

static unsigned nfound;

static void
count(const char *rel, const char *name, void *arg)
{
	(void)rel;
	(void)name;
	(void)arg;
	nfound++;
}

static bool
walk(size_t entries, int64_t ms)
{
	size_t left = entries;
	struct gitwalk w = { .root = root, .left = &left, .found = count,
	    .end_ms = guard_now() + ms };
	bool is_whole;

	nfound = 0;
	clock_gettime(CLOCK_REALTIME, &w.since);
	w.root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	is_whole = gitwalk(&w);
	close(w.root_fd);
	return is_whole;
}

/* Folders in folders, further than PATH_MAX. */
static void
dig(void)
{
	char name[201];
	pid_t pid = fork();
	int status;

	memset(name, 'x', sizeof name - 1);
	memcpy(name, "deep", 4);
	name[sizeof name - 1] = '\0';
	if (pid == 0) {
		int rc = chdir(root);

		for (int i = 0; i < 22; i++)
			rc |= mkdir(name, 0700) | chdir(name);
		_exit(rc != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void
test_walk(void **state_)
{
	(void)state_;
	/* Nearest first, so that a bound cuts what is far. */
	assert_int_equal(sh("one a; mkdir -p b/c/d; touch b/c/d/.git; "
	    "cd b/c; i=0; while test $i -lt 200; do mkdir $i; touch $i/.git; "
	    "i=$((i + 1)); done"), 0);
	assert_true(walk(100000, 10000));
	assert_int_equal(nfound, 202);
	assert_false(walk(20, 10000));
	assert_in_range(nfound, 1, 10);
	assert_false(walk(100000, -1));
	assert_int_equal(sh("rm -rf a b"), 0);
	/* Beyond the length of a path: not looked at, and not in silence. */
	dig();
	assert_int_equal(sh("mkdir -p z/z/z; touch z/z/z/.git"), 0);
	assert_false(walk(100000, 10000));
	assert_int_equal(nfound, 1);
	assert_int_equal(sh("rm -rf deep* z"), 0);
}

/* ---- the journal ---- */

static void
sweep(void)
{
	buf_clear(&told_text);
	gitjournal_sweep(state, on_told, NULL);
}

static void
test_journal(void **state_)
{
	unsigned made = 0;
	struct gitend end = begin();
	struct stat st;
	int fd;

	(void)state_;
	fd = gitjournal_write(journal, &end, &made);
	assert_true(fd >= 0);
	assert_int_equal(gitjournal_write(journal, &end, &made), -1);
	assert_int_equal(sh("one a"), 0);
	sweep();
	assert_string_equal(told_text.data, "");
	assert_int_equal(stat(journal, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	close(fd);
	sweep();
	assert_string_equal(told_text.data, "cleaned a/config core.pager|");
	assert_int_not_equal(stat(journal, &st), 0);
	fd = gitjournal_write(journal, &end, &made);
	gitjournal_remove(journal, made);
	assert_int_not_equal(stat(journal, &st), 0);
	close(fd);
	gitjournal_sweep(NULL, on_told, NULL);
	assert_int_equal(sh("rm -rf a $K"), 0);
}

/* One that was cut short does not say what not to touch. */
static void
test_journal_cut(void **state_)
{
	unsigned made = 0;
	struct gitend end = begin();
	struct stat st;
	int fd = gitjournal_write(journal, &end, &made);

	(void)state_;
	assert_int_equal(sh("one a"), 0);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	for (off_t n = st.st_size - 2; n > 0; n -= 7) {
		fd = gitjournal_write(journal, &end, &made);
		if (fd >= 0)
			close(fd);
		assert_int_equal(truncate(journal, n), 0);
		sweep();
		assert_string_equal(told_text.data, "");
		assert_int_not_equal(stat(journal, &st), 0);
	}
	/* An empty one is about to be written. */
	fd = open(journal, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	sweep();
	assert_int_equal(stat(journal, &st), 0);
	assert_int_equal(futimens(fd, (struct timespec[2]){ { 1, 0 },
	    { 1, 0 } }), 0);
	close(fd);
	sweep();
	assert_int_not_equal(stat(journal, &st), 0);
	assert_int_equal(sh("rm -rf a"), 0);
}

static int
tear_down(void **state_)
{
	char line[128];

	(void)state_;
	buf_release(&told_text);
	snprintf(line, sizeof line, "rm -rf %s", top);
	return system(line);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_held_and_open),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_journal),
		cmocka_unit_test(test_journal_cut),
	};

	buf_init(&told_text, 0);
	if (mkdtemp(top) == NULL)
		return 1;
	snprintf(root, sizeof root, "%s/w", top);
	snprintf(keep, sizeof keep, "%s/quarantine", top);
	snprintf(state, sizeof state, "%s/state", top);
	snprintf(journal, sizeof journal, "%s/runs/1", state);
	if (mkdir(root, 0700) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, tear_down);
}
