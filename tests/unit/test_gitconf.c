/*
 * git's configuration files: the reader beside git itself, the table of keys
 * that execute, and what is left when they are gone.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/guard/gitconf.h"

#define NELEM(a)	(sizeof (a) / sizeof (a)[0])

static void
put_entry(const struct gitconf_entry *e, void *arg)
{
	struct buf *b = arg;

	buf_puts(b, e->name);
	if (e->value != NULL)
		buf_printf(b, "=%s", e->value);
	buf_putc(b, '|');
}

/* "a.b=c|d.e|", and "!" where it cannot be read further. */
static void
list(const char *text, size_t len, struct buf *b)
{
	if (gitconf_each(text, len, put_entry, b) != 0)
		buf_putc(b, '!');
}

/* ---- what is written how ---- */

static const struct {
	const char	*text, *want;
} syntax[] = {
	{ "", "" },
	{ "[a]", "" },
	{ "[a]\nb=c", "a.b=c|" },
	{ "[a]\nb=c\n", "a.b=c|" },
	{ "[a]b=c", "a.b=c|" },
	{ "[a] b = c d ", "a.b=c d|" },
	{ "[A]\n\tBc-D = eF\n", "a.bc-d=eF|" },
	{ "[a \"X y\"]\nb\n", "a.X y.b|" },
	{ "[a \"x\\\"\\\\\\y\"]b", "a.x\"\\y.b|" },
	{ "[a.Xy]b=1", "a.xy.b=1|" },
	{ "[a.b \"c\"]d=1", "a.b.c.d=1|" },
	{ "[a \"\"]b", "a..b|" },
	{ "[a\t \"x\"]b", "a.x.b|" },
	{ "[a]\nb", "a.b|" },
	{ "[a]\nb =\n", "a.b=|" },
	{ "[a]\nb = \"\"\n", "a.b=|" },
	{ "[a]\nb = \" x \" \n", "a.b= x |" },
	{ "[a]\nb = x\" y \"z\n", "a.b=x y z|" },
	{ "[a]\nb = \"x;y#z\" ;c\n", "a.b=x;y#z|" },
	{ "[a]\nb = x;y\n", "a.b=x|" },
	{ "[a]\nb = x # y \\\nc = d\n", "a.b=x|a.c=d|" },
	{ "[a]\nb = x\\\n  y\n", "a.b=x  y|" },
	{ "[a]\nb = x\\\r\ny\r\n", "a.b=xy|" },
	{ "[a]\nb = x \\\n\n", "a.b=x |" },
	{ "[a]\nb = \"x\\\ny\"\n", "a.b=xy|" },
	{ "[a]\nb = \\t\\n\\b\\\"\\\\\n", "a.b=\t\n\b\"\\|" },
	{ "[a]\r\nb = c\r\n", "a.b=c|" },
	{ "\xef\xbb\xbf[a]\nb\n", "a.b|" },
	{ "# x\n; y\n[a] # z\nb ; = c\n", "!" },
	{ "[a] ; z\n b\n", "a.b|" },
	{ "b = c\n", "b=c|" },
	{ "[a]\nb = c\\", "a.b=c|" },
	/* No files any more. */
	{ "[a", "!" }, { "[a \"b]\n", "!" }, { "[a \"b\" ]c", "!" },
	{ "[a b]c", "!" }, { "[a\n]b", "!" }, { "[a_b]c", "!" },
	{ "[a \"b\nc\"]d", "!" }, { "[a \"b\\\n\"]d", "!" },
	{ "[a]\n1b = c\n", "!" }, { "[a]\nb_c = d\n", "!" },
	{ "[a]\nb = \"c\n", "!" }, { "[a]\nb = \\q\n", "!" },
	{ "[a]\nb c\n", "!" }, { "[a]\n= c\n", "!" }, { "]", "!" },
	{ "[]", "!" }, { "[]b=c", "!" },
	{ "[a]\nb\v= c\n", "!" },
	{ "[a]\nb=c\nd=\"\ne=f\n", "a.b=c|!" },
};

static void
test_syntax(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	for (size_t i = 0; i < NELEM(syntax); i++) {
		buf_clear(&b);
		list(syntax[i].text, strlen(syntax[i].text), &b);
		if (strcmp(b.data, syntax[i].want) != 0)
			fail_msg("%s: %s, not %s", syntax[i].text, b.data,
			    syntax[i].want);
	}
	buf_release(&b);
}

static void
test_bytes(void **state)
{
	static char big[GITCONF_MAX + 1];
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	list("[a]\nb=c\0d\n", 11, &b);
	assert_string_equal(b.data, "!");
	buf_clear(&b);
	list("[a]\nb\n\0\n", 8, &b);
	assert_string_equal(b.data, "a.b|!");
	buf_clear(&b);
	list("[a \"b\0c\"]\nd\n", 12, &b);
	assert_string_equal(b.data, "!");
	/* As long as a file may be, and one byte longer. */
	memset(big, 'x', sizeof big);
	memcpy(big, "[a]b=", 5);
	buf_clear(&b);
	list(big, GITCONF_MAX, &b);
	assert_int_equal(b.len, GITCONF_MAX - 5 + 5);
	buf_clear(&b);
	list(big, sizeof big, &b);
	assert_string_equal(b.data, "!");
	buf_release(&b);
}

/* ---- what executes ---- */

/* "-": without a value. */
static const struct {
	const char		*name, *value;
	enum gitconf_kind	 kind;
} kinds[] = {
#define P	GITCONF_PLAIN
#define X	GITCONF_EXECUTES
	{ "core.fsmonitor", "./x", X }, { "core.fsmonitor", "true", P },
	{ "core.fsmonitor", "-", P }, { "core.fsmonitor", "0", P },
	{ "core.fsmonitor", "FALSE", P }, { "core.fsmonitor", "1x", X },
	{ "core.hookspath", ".husky", X }, { "core.hookspath", "", X },
	{ "core.sshcommand", "x", X }, { "core.pager", "x", X },
	{ "core.editor", "x", X }, { "core.askpass", "x", X },
	{ "core.gitproxy", "x", X }, { "core.alternaterefscommand", "x", X },
	{ "core.worktree", "..", GITCONF_WORKTREE },
	{ "core.bare", "false", P }, { "core.repositoryformatversion", "1", P },
	{ "core.filemode", "true", P }, { "core.excludesfile", "x", P },
	{ "sequence.editor", "x", X }, { "pager.log", "x", X },
	{ "pager.log", "false", P }, { "diff.external", "x", X },
	{ "diff.x.command", "y", X }, { "diff.x.y.textconv", "y", X },
	{ "diff.x.binary", "true", P }, { "diff.algorithm", "patience", P },
	{ "diff.tool", "vimdiff", P }, { "diff.tool", "../x", X },
	{ "merge.tool", "/x", X }, { "filter.lfs.clean", "x", X },
	{ "filter.lfs.smudge", "x", X }, { "filter.lfs.process", "x", X },
	{ "filter.lfs.required", "true", P }, { "merge.x.driver", "y", X },
	{ "merge.x.name", "y", P }, { "mergetool.x.cmd", "y", X },
	{ "difftool.x.path", "y", X }, { "alias.x", "!y", X },
	{ "alias.x", "log -p", P }, { "alias.x", " -c core.pager=y log", X },
	{ "alias.x", "log --oneline", P }, { "alias.x", "log --output=y", X },
	{ "alias.x", "rebase -x y", X }, { "alias.x", "submodule foreach y",
	    X }, { "alias.x.command", "!y", X },
	{ "credential.helper", "x", X }, { "credential.helper", "", P },
	{ "credential.https://a.b/.helper", "x", X },
	{ "credential.https://a.b/.username", "x", P },
	{ "gpg.program", "x", X }, { "gpg.ssh.program", "x", X },
	{ "gpg.ssh.defaultkeycommand", "x", X }, { "gpg.format", "ssh", P },
	{ "interactive.difffilter", "x", X }, { "init.templatedir", "x", X },
	{ "init.defaultbranch", "x", P },
	{ "uploadpack.packobjectshook", "x", X },
	{ "remote.o.uploadpack", "x", X }, { "remote.o.receivepack", "x", X },
	{ "remote.o.vcs", "x", X }, { "remote.o.url", "https://a/b", P },
	{ "remote.o.url", "ext::sh -c x", X },
	{ "branch.m.remote", "ext::x", X }, { "url.ext::x.insteadof", "y", X },
	{ "remote.o.fetch", "+refs/heads/*:refs/remotes/o/*", P },
	{ "branch.m.merge", "refs/heads/m", P },
	{ "protocol.ext.allow", "always", X }, { "protocol.allow", "x", X },
	{ "protocol.ext.allow", "never", P },
	{ "protocol.file.allow", "always", P },
	{ "include.path", "x", X }, { "include.path", "-", X },
	{ "includeif.gitdir:/x.y/.path", "z", X },
	{ "submodule.x.update", "!y", X }, { "submodule.x.update", "merge",
	    P }, { "submodule.x.url", "../y", P },
	{ "browser.x.cmd", "y", X }, { "man.x.cmd", "y", X },
	{ "sendemail.smtpserver", "/x", X },
	{ "sendemail.smtpserver", "mail.test", P },
	{ "sendemail.x.sendmailcmd", "y", X }, { "sendemail.tocmd", "x", X },
	{ "guitool.x.cmd", "y", X }, { "trailer.x.cmd", "y", X },
	{ "trailer.x.command", "y", X }, { "trailer.x.key", "y", P },
	{ "tar.x.command", "y", X }, { "tar.umask", "0022", P },
	{ "gc.recentobjectshook", "x", X }, { "hook.x.command", "y", X },
	{ "imap.tunnel", "x", X }, { "instaweb.httpd", "x", X },
	{ "lfs.customtransfer.x.path", "y", X }, { "lfs.url", "x", P },
	{ "lfs.extension.x.clean", "y", X }, { "svn.authorsprog", "x", X },
	{ "annex.freezecontent-command", "x", X },
	{ "user.name", "x", P }, { "user.signingkey", "x", P },
	{ "http.savecookies", "-", X }, { "http.https://a.b/.savecookies",
	    "true", X }, { "http.cookiefile", "x", P },
	{ "format.outputdirectory", "../x", X },
	{ "format.outputdirectory", "x", P },
	{ "http.sslcert", "x", P }, { "http.proxy", "http://a/", P },
	{ "extensions.worktreeconfig", "true", P },
	{ "fsmonitor", "x", P },
#undef P
#undef X
};

static void
test_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < NELEM(kinds); i++) {
		struct gitconf_entry e = { kinds[i].name, kinds[i].value };

		if (strcmp(e.value, "-") == 0)
			e.value = NULL;
		if (gitconf_kind(&e) != kinds[i].kind)
			fail_msg("%s = %s", e.name, kinds[i].value);
	}
}

/* ---- what is left ---- */

static bool
is_up(const char *worktree, void *arg)
{
	(void)arg;
	return strncmp(worktree, "../..", 5) == 0;
}

static void
clean(const char *text, struct buf *out, struct buf *keys, bool want)
{
	struct gitconf_request rq = { .text = text, .len = strlen(text),
	    .is_outside = is_up };

	buf_init(out, 0);
	buf_init(keys, 0);
	assert_int_equal(gitconf_clean(&rq, out, keys), want);
}

static void
test_clean(void **state)
{
	struct buf out, keys;

	(void)state;
	clean("[core]\n\tbare = false\n\tfsmonitor = true\n"
	    "\tworktree = ../sub\n", &out, &keys, false);
	buf_release(&out);
	buf_release(&keys);
	clean("[core]\n\tbare = false # x\n\tfsmonitor = ./x\n\tbig\n"
	    "[user]name=\" a;b\\\\ \"\n[core]\n\tpager=x\n"
	    "\tworktree = ../../x\n"
	    "[remote \"o \\\"p\"]url = u v\n", &out, &keys, true);
	assert_string_equal(out.data, "[core]\n\tbare = false\n\tbig\n"
	    "[user]\n\tname = \" a;b\\\\ \"\n"
	    "[remote \"o \\\"p\"]\n\turl = u v\n");
	assert_string_equal(keys.data,
	    "core.fsmonitor, core.pager, core.worktree");
	buf_release(&out);
	buf_release(&keys);
	/* What comes behind is not believed. */
	clean("[core]\n\trepositoryformatversion = 1\n[x\n[user]\nname=a\n",
	    &out, &keys, true);
	assert_string_equal(out.data,
	    "[core]\n\trepositoryformatversion = 1\n");
	assert_string_equal(keys.data, "what cannot be read");
	buf_release(&out);
	buf_release(&keys);
	clean("[alias]\na=!1\nb=!1\nc=!1\nd=!1\ne=!1\nf=!1\ng=!1\nh=!1\n",
	    &out, &keys, true);
	assert_string_equal(out.data, "");
	assert_string_equal(keys.data, "alias.a, alias.b, alias.c, alias.d, "
	    "alias.e, alias.f, and others");
	buf_release(&out);
	buf_release(&keys);
}

/* ---- beside git ---- */

static char folder[] = "/var/tmp/fence-gitconf-XXXXXX";

/* As list() does, by git; false: git does not read it. */
static bool
list_by_git(const char *text, size_t len, struct buf *b)
{
	char path[64], line[160], data[64 << 10];
	size_t n;
	FILE *f;

	snprintf(path, sizeof path, "%s/config", folder);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	fclose(f);
	snprintf(line, sizeof line, "cd %s && HOME=/ git config -z --list "
	    "--no-includes -f config 2>/dev/null", folder);
	f = popen(line, "re");
	assert_non_null(f);
	n = fread(data, 1, sizeof data - 1, f);
	data[n] = '\0';
	for (const char *p = data; p < data + n; p += strlen(p) + 1) {
		const char *value = strchr(p, '\n');

		buf_add(b, p, value != NULL ? (size_t)(value - p) :
		    strlen(p));
		if (value != NULL)
			buf_printf(b, "=%s", value + 1);
		buf_putc(b, '|');
	}
	return pclose(f) == 0;
}

/* Versions differ in which blank stands between the words of a value. */
static void
blank(struct buf *b)
{
	for (size_t i = 0; i < b->len; i++)
		if (b->data[i] == '\t' || b->data[i] == '\r')
			b->data[i] = ' ';
}

static const char *const pieces[] = {
	"[", "]", "[core]", "[core]\n", "[Core]", "[a \"b\"]", "[a.B]\n",
	"[alias]\n", "[diff \"x\"]", "[include]\n", "[Pager]", "\"", "\"",
	"\\", "\\\n", "\\\"", "\\t", "\\n", "\n", "\n", "\n", "\r\n", "\r",
	" ", "\t", " = ", "=", "=", "#", ";", "fsmonitor", "fsMonitor = x",
	"pager", "editor=vi\n", "x = !y\n", "path = z\n", "command=x",
	"textconv = \"a b\"", "user", "name", "bare = false\n", ".", "-",
	"1", "_", "a", "B", "!", "\xc3\xa9", "\xef\xbb\xbf", "[filter.x]",
	"clean = y", "hooksPath", "true", "\v",
};

static uint64_t
dice(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *seed >> 33;
}

static void
compose(struct buf *b, uint64_t *seed)
{
	unsigned n = (unsigned)(dice(seed) % 14) + 1;

	buf_clear(b);
	/* Half of them begin as files do: others are soon none. */
	if (dice(seed) % 2 == 0)
		buf_puts(b, "[core]\n");
	for (unsigned i = 0; i < n; i++)
		buf_puts(b, pieces[dice(seed) % NELEM(pieces)]);
	if (dice(seed) % 4 == 0)
		buf_puts(b, "\n[core]\n\tfsmonitor = ./evil\n");
}

static void
check_entry(const struct gitconf_entry *e, void *arg)
{
	if (gitconf_kind(e) != GITCONF_PLAIN)
		fail_msg("%s = %s is left of %s", e->name, e->value != NULL ?
		    e->value : "", (const char *)arg);
}

/* As git reads what we wrote. */
static void
check_cleaned(const char *text, size_t len)
{
	struct gitconf_request rq = { .text = text, .len = len };
	struct buf out, keys, ours, git;

	buf_init(&out, 0);
	buf_init(&keys, 0);
	buf_init(&ours, 0);
	buf_init(&git, 0);
	if (gitconf_clean(&rq, &out, &keys)) {
		assert_int_equal(gitconf_each(out.data, out.len, check_entry,
		    (void *)(uintptr_t)text), 0);
		list(out.data, out.len, &ours);
		assert_true(list_by_git(out.data, out.len, &git));
		assert_string_equal(ours.data, git.data);
	}
	buf_release(&out);
	buf_release(&keys);
	buf_release(&ours);
	buf_release(&git);
}

static void
test_as_git(void **state)
{
	const char *given = getenv("FENCE_GITCONF_SEED");
	uint64_t seed = given != NULL ? strtoull(given, NULL, 10) :
	    (uint64_t)getpid();
	struct buf text, ours, git;
	unsigned nread = 0;

	(void)state;
	print_message("FENCE_GITCONF_SEED=%llu\n", (unsigned long long)seed);
	buf_init(&text, 0);
	buf_init(&ours, 0);
	buf_init(&git, 0);
	for (int i = 0; i < 400; i++) {
		bool is_read;

		compose(&text, &seed);
		buf_clear(&ours);
		buf_clear(&git);
		list(text.data, text.len, &ours);
		is_read = list_by_git(text.data, text.len, &git);
		blank(&ours);
		blank(&git);
		if (is_read != (strchr(ours.data, '!') == NULL ||
		    ours.data[ours.len - 1] != '!') ||
		    (is_read && strcmp(ours.data, git.data) != 0))
			fail_msg("%s\n--- ours: %s\n--- git %d: %s",
			    text.data, ours.data, is_read, git.data);
		nread += is_read;
		check_cleaned(text.data, text.len);
	}
	assert_true(nread > 40);
	buf_release(&text);
	buf_release(&ours);
	buf_release(&git);
}

static int
remove_folder(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof path, "%s/config", folder);
	(void)unlink(path);
	return rmdir(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_syntax),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_as_git),
	};

	if (mkdtemp(folder) == NULL)
		return 1;
	return cmocka_run_group_tests(tests, NULL, remove_folder);
}
