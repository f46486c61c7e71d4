/*
 * The keys by which git, or a program that reads its configuration, executes
 * something, is led to a file of hooks or drivers, or writes elsewhere.  From
 * git-config(1) and the sources of git up to 2.51.
 *
 * An "x" that the user alone can set (uploadpack.packObjectsHook) is in the
 * table all the same: the entry does nothing else.
 */
#include "launcher/guard/gitconf.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum when {
	ALWAYS,		/* whatever it says */
	IF_SAID,	/* unless it is empty or a key alone */
	IF_WORDS,	/* unless it is a boolean */
	IF_PATH,	/* if there is a '/' in it, or "~" before it */
	IF_SHELL,	/* if it begins with '!' */
	IF_ALIAS,	/* unless it is one of the commands below */
	IF_ALLOWED,	/* unless it is "never" or "user" */
	IF_OUTSIDE,
};

/* sub: ANY with a part between or without, NULL without, else that part. */
#define ANY	"*"

static const struct row {
	const char	*section, *sub, *key;
	enum when	 when;
} rows[] = {
	/* What git runs in the course of ordinary commands. */
	{ "core", NULL, "fsmonitor", IF_WORDS },
	{ "core", NULL, "hookspath", ALWAYS },
	{ "core", NULL, "sshcommand", ALWAYS },
	{ "core", NULL, "pager", IF_SAID },
	{ "core", NULL, "editor", IF_SAID },
	{ "core", NULL, "askpass", IF_SAID },
	{ "core", NULL, "gitproxy", IF_SAID },
	{ "core", NULL, "alternaterefscommand", IF_SAID },
	{ "core", NULL, "virtualfilesystem", IF_WORDS },
	{ "core", NULL, "worktree", IF_OUTSIDE },
	{ "sequence", NULL, "editor", IF_SAID },
	{ "pager", ANY, ANY, IF_WORDS },
	{ "alias", ANY, ANY, IF_ALIAS },
	{ "hook", ANY, "command", ALWAYS },
	{ "interactive", NULL, "difffilter", IF_SAID },
	{ "gc", NULL, "recentobjectshook", IF_SAID },
	{ "init", NULL, "templatedir", IF_SAID },
	{ "uploadpack", NULL, "packobjectshook", IF_SAID },
	{ "trailer", ANY, "command", IF_SAID },
	{ "trailer", ANY, "cmd", IF_SAID },
	{ "tar", ANY, "command", IF_SAID },

	/* Drivers, which attributes of the work tree name. */
	{ "diff", NULL, "external", IF_SAID },
	{ "diff", ANY, "command", IF_SAID },
	{ "diff", ANY, "textconv", IF_SAID },
	{ "filter", ANY, "clean", IF_SAID },
	{ "filter", ANY, "smudge", IF_SAID },
	{ "filter", ANY, "process", IF_SAID },
	{ "merge", ANY, "driver", IF_SAID },

	/* Tools; a name with a '/' is a file that the shell reads. */
	{ "diff", NULL, "tool", IF_PATH },
	{ "diff", NULL, "guitool", IF_PATH },
	{ "merge", NULL, "tool", IF_PATH },
	{ "merge", NULL, "guitool", IF_PATH },
	{ "difftool", ANY, "cmd", IF_SAID },
	{ "difftool", ANY, "path", IF_SAID },
	{ "mergetool", ANY, "cmd", IF_SAID },
	{ "mergetool", ANY, "path", IF_SAID },
	{ "browser", ANY, "cmd", IF_SAID },
	{ "browser", ANY, "path", IF_SAID },
	{ "man", ANY, "cmd", IF_SAID },
	{ "man", ANY, "path", IF_SAID },
	{ "guitool", ANY, "cmd", IF_SAID },
	{ "instaweb", NULL, "httpd", IF_SAID },
	{ "instaweb", NULL, "browser", IF_PATH },
	{ "instaweb", NULL, "modulepath", IF_SAID },

	/* Other people's machines, and who one is to them. */
	{ "credential", ANY, "helper", IF_SAID },
	{ "gpg", NULL, "program", IF_SAID },
	{ "gpg", ANY, "program", IF_SAID },
	{ "gpg", ANY, "defaultkeycommand", IF_SAID },
	{ "remote", ANY, "uploadpack", IF_SAID },
	{ "remote", ANY, "receivepack", IF_SAID },
	{ "remote", ANY, "vcs", IF_SAID },
	{ "protocol", NULL, "allow", IF_ALLOWED },
	{ "protocol", "ext", "allow", IF_ALLOWED },
	{ "protocol", "fd", "allow", IF_ALLOWED },
	{ "submodule", ANY, "update", IF_SHELL },
	{ "imap", NULL, "tunnel", IF_SAID },
	{ "sendemail", ANY, "smtpserver", IF_PATH },
	{ "sendemail", ANY, "sendmailcmd", IF_SAID },
	{ "sendemail", ANY, "tocmd", IF_SAID },
	{ "sendemail", ANY, "cccmd", IF_SAID },
	{ "sendemail", ANY, "headercmd", IF_SAID },

	/* Files that it writes. */
	{ "http", ANY, "savecookies", ALWAYS },
	{ "format", NULL, "outputdirectory", IF_PATH },

	/* Further files. */
	{ "include", NULL, "path", ALWAYS },
	{ "includeif", ANY, "path", ALWAYS },

	/* Other programs that read this file. */
	{ "lfs", ANY, "path", IF_SAID },	/* lfs.customtransfer.X */
	{ "lfs", ANY, "clean", IF_SAID },	/* lfs.extension.X */
	{ "lfs", ANY, "smudge", IF_SAID },
	{ "svn", NULL, "authorsprog", IF_SAID },
	{ "svn", NULL, "configdir", IF_SAID },
	{ "svn-remote", ANY, "config-dir", IF_SAID },
	{ "gitflow", ANY, "hooks", IF_SAID },
	{ "tig", ANY, ANY, IF_SHELL },
	{ "jump", NULL, "grepcmd", IF_SAID },
};

/* The ends of keys that later versions and other programs bring along. */
static const char *const ends[] = { "command", "cmd", "program", "editor",
    "pager", "hook", "hookspath", "hooksdir", "helper", "textconv" };

/*
 * An alias is harmless if it is one of these with words behind it; options of
 * git itself (-c) and commands that take commands (submodule foreach, bisect
 * run, rebase -x, fetch --upload-pack) are not among them, nor what writes to
 * a file of its choice.
 */
static const char *const commands[] = { "add", "blame", "branch", "checkout",
    "cherry-pick", "commit", "describe", "diff", "log", "ls-files", "merge",
    "reset", "restore", "rev-parse", "shortlog", "show", "stash", "status",
    "switch", "tag" };

#define NELEM(a)	(sizeof (a) / sizeof (a)[0])

static bool
is_boolean(const char *v)
{
	static const char *const words[] = { "", "true", "yes", "on",
	    "false", "no", "off" };
	size_t digits = strspn(v, "0123456789");

	for (size_t i = 0; i < NELEM(words); i++)
		if (strcasecmp(v, words[i]) == 0)
			return true;
	return digits > 0 && digits < 9 && v[digits] == '\0';
}

static bool
is_harmless_alias(const char *v)
{
	size_t n;

	if (strstr(v, "--out") != NULL)		/* --output=FILE */
		return false;
	v += strspn(v, " \t\n");
	n = strcspn(v, " \t\n");
	for (size_t i = 0; i < NELEM(commands); i++)
		if (strlen(commands[i]) == n &&
		    strncmp(v, commands[i], n) == 0)
			return true;
	return n == 0;
}

/* v NULL: a key alone. */
static bool
is_so(enum when when, const char *v)
{
	switch (when) {
	case ALWAYS:
		return true;
	case IF_SAID:
		return v != NULL && v[0] != '\0';
	case IF_WORDS:
		return v != NULL && !is_boolean(v);
	case IF_PATH:
		return v != NULL && (strchr(v, '/') != NULL || v[0] == '~');
	case IF_SHELL:
		return v != NULL && strchr(v, '!') != NULL;
	case IF_ALIAS:
		return v != NULL && !is_harmless_alias(v);
	case IF_ALLOWED:
		return v == NULL || (strcmp(v, "never") != 0 &&
		    strcmp(v, "user") != 0);
	case IF_OUTSIDE:
		return true;
	}
	return true;
}

/* The name in its parts; sub_len SIZE_MAX: there is none between. */
struct parts {
	const char	*section, *sub, *key;
	size_t		 section_len, sub_len;
};

static bool
take_apart(const char *name, struct parts *ret)
{
	const char *first = strchr(name, '.'), *last = strrchr(name, '.');

	if (first == NULL)
		return false;
	*ret = (struct parts){ .section = name, .key = last + 1,
	    .section_len = (size_t)(first - name) };
	if (last > first) {
		ret->sub = first + 1;
		ret->sub_len = (size_t)(last - first - 1);
	}
	return true;
}

static bool
is_row(const struct row *r, const struct parts *p)
{
	if (strlen(r->section) != p->section_len ||
	    strncmp(r->section, p->section, p->section_len) != 0 ||
	    (strcmp(r->key, ANY) != 0 && strcmp(r->key, p->key) != 0))
		return false;
	if (r->sub == NULL || p->sub == NULL)
		return r->sub == p->sub || (r->sub != NULL &&
		    strcmp(r->sub, ANY) == 0);
	return strcmp(r->sub, ANY) == 0 || (strlen(r->sub) == p->sub_len &&
	    strncmp(r->sub, p->sub, p->sub_len) == 0);
}

static bool
has_end(const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < NELEM(ends); i++) {
		size_t k = strlen(ends[i]);

		if (n >= k && strcmp(key + n - k, ends[i]) == 0)
			return true;
	}
	return false;
}

/* "ext::sh -c …" is a command wherever a URL may stand, also as the base of
 * url.BASE.insteadOf. */
static bool
is_ext(const struct parts *p, const char *v)
{
	return (v != NULL && strstr(v, "ext::") != NULL) ||
	    (p->sub != NULL && p->sub_len >= strlen("ext::") &&
	    memmem(p->sub, p->sub_len, "ext::", strlen("ext::")) != NULL);
}

enum gitconf_kind
gitconf_kind(const struct gitconf_entry *e)
{
	struct parts p;

	if (!take_apart(e->name, &p))
		return GITCONF_PLAIN;	/* no section: git looks at none */
	for (size_t i = 0; i < NELEM(rows); i++)
		if (is_row(&rows[i], &p)) {
			if (rows[i].when == IF_OUTSIDE)
				return GITCONF_WORKTREE;
			return is_so(rows[i].when, e->value) ?
			    GITCONF_EXECUTES : GITCONF_PLAIN;
		}
	return is_ext(&p, e->value) || (has_end(p.key) &&
	    is_so(IF_WORDS, e->value)) ? GITCONF_EXECUTES : GITCONF_PLAIN;
}
