/*
 * policy: what the command may touch.  Owned by its arena and unchanging
 * once loaded; every value remembers where it was written.  A key is one
 * field here and one row of policy/keys.c.
 */
#ifndef FENCE_POLICY_POLICY_H
#define FENCE_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/base/err.h"
#include "policy/origin.h"

struct arena;
struct buf;
struct pattern;
struct guard_places;
struct net_index;
struct fs_index;
struct cmd_index;

/* One entry of a list: the text as written and what it was compiled to. */
struct entry {
	const char		*text;
	struct origin		 at;
	const struct pattern	*pattern;	/* policy/pattern.h */
	const char		*name;		/* of a map's, or NULL */
	size_t			 because;	/* KEY_OF() it stands for, or 0 */
	uint64_t		 number;	/* of a list of numbers */
};

struct strlist {
	struct entry	*v;
	size_t		 n;
	struct origin	 at;	/* of the list; of the section or the file
				 * where the key is not written */
	bool		 is_set;
	/*
	 * "!x": what is taken out of an inherited list, text without the
	 * '!'.  Only merging looks at these; a resolved policy has none.
	 */
	struct entry	*without;
	size_t		 nwithout;
};

/* The same list of another kind, so that rows and fields must agree. */
struct intlist { struct strlist list; };	/* entry.number */
struct strmap { struct strlist list; };		/* entry.name -> .text */

/* Single values.  Where is_set is false they hold the key's fallback. */
struct flag {
	bool		 value;
	bool		 is_set;
	struct origin	 at;
};

enum tri { TRI_AUTO, TRI_FALSE, TRI_TRUE };

struct tristate {
	enum tri	 value;
	bool		 is_set;
	struct origin	 at;
};

struct number {			/* a count, bytes or milliseconds */
	uint64_t	 value;	/* 0: no such limit */
	const char	*text;	/* as written: "2G" */
	bool		 is_set;
	struct origin	 at;
};
struct size { struct number num; };		/* bytes */
struct duration { struct number num; };		/* milliseconds */

struct choice {
	int		 value;	/* index into the row's words: an enum below */
	bool		 is_set;
	struct origin	 at;
};

struct string {
	const char	*text;	/* "" where it is not set */
	const char	*shown;	/* the same without a password */
	bool		 is_set;
	struct origin	 at;
};

enum { PROFILE_STANDARD, PROFILE_STRICT };
enum { NET_MODE_GATE, NET_MODE_DIRECT };
enum { NET_ACTION_DENY, NET_ACTION_PROXY };
enum { NET_SNI_ENFORCE, NET_SNI_OFF };
enum { NET_PROXYVARS_AUTO, NET_PROXYVARS_ON, NET_PROXYVARS_OFF };
enum { GUARD_WATCH, GUARD_BROKER };
enum { DEVICES_AUTO, DEVICES_MINIMAL, DEVICES_HOST };
enum { EXEC_POLICY_AUTO, EXEC_POLICY_PATH, EXEC_POLICY_ARGV,
    EXEC_POLICY_OFF };
enum { UNSEEN_ALLOW, UNSEEN_DENY };
enum { ENV_LOADER_ALLOW, ENV_LOADER_REFUSE };

/* Where relative paths, "~" and "$VAR" of a policy lead. */
struct policy_env {
	const char	*workspace;	/* absolute, resolved */
	const char	*home;		/* absolute, or NULL */
	/*
	 * The home of the user database where $HOME leads elsewhere, or NULL:
	 * denials with "~" mean both, grants mean home.
	 */
	const char	*other_home;
	char *const	*environ;	/* for $VAR; NULL for none */
	bool		 ignore_unknown;	/* unknown keys are warnings */
	enum origin_kind kind;		/* of what is read with it */
};

struct policy {
	struct arena	*arena;
	const char	*name;		/* as shown: file or "<built-in X>" */
	enum origin_kind kind;		/* of its own values */
	const char	*workspace;
	const char	*home;		/* or NULL */
	const char	*other_home;	/* or NULL, see policy_env */
	/*
	 * The next layer, which must agree, too: deciders ask it when this
	 * one allows.  Not owned: policy_free() frees one layer.
	 */
	struct policy	*also;
	/*
	 * The first layer: what -r and -w grant speaks over an entry of this
	 * layer's files that is as long.
	 */
	bool		 flags_win;
	/* Of the machine's administrator: it grants what it lists. */
	bool		 is_ceiling;

	struct strlist	 extends;	/* a string, or a list of them */
	struct flag	 allow_pty;
	struct flag	 allow_nested_sandbox;
	struct tristate	 force_new_session;
	struct choice	 profile;		/* PROFILE_* */
	struct {
		struct strlist	 allowed_domains;
		struct strlist	 denied_domains;
		struct strlist	 allow_private;
		struct strlist	 allow_unix_sockets;
		struct flag	 allow_all_unix_sockets;
		struct flag	 allow_local_binding;
		struct tristate	 allow_local_outbound;
		struct intlist	 allow_local_outbound_ports;
		struct intlist	 host_ports;
		struct number	 http_proxy_port;
		struct number	 socks_proxy_port;
		struct string	 upstream_proxy;
		struct choice	 default_action;	/* NET_ACTION_* */
		struct choice	 mode;			/* NET_MODE_* */
		struct choice	 sni;			/* NET_SNI_* */
		/* "auto" (the host's variables), "direct", or a URL. */
		struct string	 via;
		struct choice	 proxy_variables;	/* NET_PROXYVARS_* */
	} net;
	struct {
		struct flag	 default_deny_read;	/* also by the next */
		struct flag	 strict_deny_read;
		struct tristate	 wsl_interop;
		struct strlist	 allow_read;
		struct strlist	 allow_execute;
		struct strlist	 deny_read;
		struct strlist	 allow_write;
		struct strlist	 deny_write;
		struct flag	 allow_git_config;
		struct choice	 guard;			/* GUARD_* */
		/* Never writable, and no line opens them: policy_own(). */
		struct strlist	 own;
		/* Nor readable: policy_hide(). */
		struct strlist	 hidden;
		/* Where entries lead through symlinks: policy_alias(). */
		struct fs_alias {
			const char	*real;
			size_t		 len;	/* of real */
			size_t		 list;	/* KEY_OF() of the entry's */
			size_t		 entry;	/* FS_ALIAS_DEFAULT: none */
		}		*aliases;
		size_t		 naliases;
		/* Writable where no entry speaks, or NULL: policy_git(). */
		const char	*git_dir;
		const char	*git_top;	/* of its work tree */
	} fs;
	struct {
		struct choice	 mode;			/* DEVICES_* */
		struct strlist	 allow;
	} devices;
	struct {
		struct strlist	 mach_lookup;
		struct strlist	 mach_register;
	} macos;
	struct {
		struct strlist	 deny;
		struct strlist	 allow;
		struct tristate	 use_defaults;
		struct strlist	 accept_shared_binary;
		struct choice	 runtime_exec_policy;	/* EXEC_POLICY_* */
		struct choice	 unseen;		/* UNSEEN_* */
	} command;
	struct {
		struct strlist	 allowed_hosts;
		struct strlist	 denied_hosts;
		struct strlist	 allowed_commands;
		struct strlist	 denied_commands;
		struct flag	 allow_all_commands;
		struct flag	 inherit_deny;
	} ssh;
	struct {
		struct strlist	 allow;		/* "NAME" or "PREFIX*" */
		struct strlist	 deny;
		struct strmap	 set;
		struct choice	 loader;		/* ENV_LOADER_* */
		struct flag	 deny_secrets;
	} env;
	struct {
		struct size	 memory;
		struct size	 process_memory;
		struct number	 processes;
		struct duration	 time;
		struct number	 files;
		struct size	 tmp;
	} limits;
	struct {
		struct strlist	 calls;
	} trace;
	struct {
		struct number	 keep;
	} record;

	/*
	 * Where guarded names are on this disk (policy/guard.h), for a run or
	 * a question about one.  NULL: nobody looked; the lists alone say.
	 */
	const struct guard_places	*places;
	/* Symlinks that a run shows, also where all around them is hidden. */
	const char			**links;
	size_t				 nlinks;

	/* Made from the lists by policy_index(), for the deciders. */
	const struct net_index	*net_allowed_index, *net_denied_index;
	const struct fs_index	*fs_index;
	const struct cmd_index	*cmd_index;

	/* Whole sentences with their place, for the log. */
	const char	**warnings;
	size_t		 nwarnings;
};

enum { POLICY_MAX_BYTES = 1024 * 1024 };	/* of one file */

enum policy_format { POLICY_JSONC, POLICY_INI };

/* All that is wrong with one file, in the order of the text. */
struct errlist {
	struct err	v[64];
	size_t		n;
	size_t		unlisted;	/* those that did not fit */
};

/* Empty; the caller frees it.  The errors in it are not zeroed: 50 KiB. */
struct errlist	*errlist_new(void);

/* ".ini" and ".conf" are INI; every other name is JSONC. */
enum policy_format	 policy_format_of(const char *path);

/*
 * The text of a policy file.  A pipe is welcome where the user named the file
 * himself: the shell's <(...) is one.  Elsewhere it could make us wait for
 * ever.
 */
int	 policy_read(const char *path, bool may_be_pipe, struct buf *,
	    bool *ret_is_file, struct err *);
/* Reads FILE (--settings).  All errors carry file:line:column and key. */
int	 policy_load_file_all(const char *path, const struct policy_env *,
	    struct policy **ret, struct errlist *);
/* A policy compiled into the program: "workspace-write". */
int	 policy_load_builtin(const char *name, const struct policy_env *,
	    struct policy **ret, struct err *);
/* The i-th policy compiled in, or NULL past the last; its text if wanted. */
const char	*policy_builtin_name(size_t i, const char **ret_text);
/* The name that looks most like it, for "did you mean"; or NULL. */
const char	*policy_builtin_near(const char *name);

/* Pure: text that is already in memory. `shown` is copied.  JSONC. */
int	 policy_parse(const char *text, size_t len, const char *shown,
	    const struct policy_env *, struct policy **ret, struct err *);
/* The same with every error of the text; at least one when it is -1. */
int	 policy_parse_all(const char *text, size_t len, const char *shown,
	    enum policy_format, const struct policy_env *,
	    struct policy **ret, struct errlist *);
/*
 * What no file can know alone: for the policy that all files together made.
 * Files without `extends` are looked at when they are loaded.
 */
int	 policy_cross_check(const struct policy *, struct err *);
/*
 * An empty policy, every list placed at the file as a whole: for lists that
 * come from elsewhere than a file (the command line).
 */
struct policy	*policy_new(const char *shown, const struct policy_env *);
/*
 * A file of fence's own (the policy in force, the record of the run), by its
 * real path: read-only inside, whatever the lists say.  what: for the record.
 */
void	 policy_own(struct policy *, const char *path, const char *what);
/* A path, and all below it, that no line opens for reading, either. */
void	 policy_hide(struct policy *, const char *path, const char *what);
/*
 * An entry of a list of paths (its key, its number) leads through a symlink to
 * real.  There a denial counts as an entry of its own would; a grant counts
 * where no entry of the policy speaks.
 */
#define FS_ALIAS_DEFAULT	SIZE_MAX	/* readable by default */
void	 policy_alias(struct policy *, size_t key, size_t entry,
	    const char *real);
/*
 * The git directory of the workspace, where it lies elsewhere
 * (launcher/plan/gitdir.h), by its real path: it may be read and written,
 * guarded names apart, where no entry of the policy speaks.  top: of the work
 * tree, in which git replaces files by others of their name.
 */
void	 policy_git(struct policy *, const char *path, const char *top);
/* Once more after a change of the lists; loading and merging call it. */
void	 policy_index(struct policy *);
void	 policy_free(struct policy *);

#endif
