/*
 * initplan: what the launcher tells fence-init, and what it tells back.
 *
 * fence-init is pid 1 of the jail; it holds one end of a SOCK_SEQPACKET
 * pair, the control socket, whose number is its argv[1].  It waits there for
 * one message INIT_PLAN that carries a memfd; the memfd holds a struct
 * init_plan followed by its tables.  It gets filter bytes and rules, never a
 * policy.  When all is ready it waits for INIT_GO.  Offsets are from the start of the memfd; strings are
 * NUL-terminated.  The plan is the launcher's, hence trusted, but offsets
 * are checked all the same.
 */
#ifndef FENCE_LINUX_INITPLAN_H
#define FENCE_LINUX_INITPLAN_H

#include <signal.h>
#include <stdint.h>

/* The list of what every program loads, and where the loader looks for it. */
#define INIT_PRELOAD	"/etc/.fence/preload"
#define INIT_PRELOADS	"/etc/ld.so.preload"

enum { INIT_PLAN_MAGIC = 0x66696e31 };	/* "fin1" */

struct init_plan {
	uint32_t	magic;
	uint32_t	size;		/* of the whole memfd */
	uint32_t	program;	/* string */
	uint32_t	cwd;		/* string */
	uint32_t	argv, argc;	/* u32 offsets of strings */
	uint32_t	envp, envc;	/* u32 offsets of strings */
	uint32_t	rules, nrules;	/* struct init_rule */
	uint32_t	filter, nfilter;/* struct sock_filter, seccomp */
	uint32_t	notify, nnotify;/* the same, or 0: init_listen() */
	uint32_t	keep, nkeep;	/* int32 descriptor numbers */
	uint32_t	proc;		/* string: where /proc goes, or 0 */
	/*
	 * 1: a user namespace of the command's own is made, in which it is
	 * uid and gid; those outside are 0.
	 */
	uint32_t	leaves_user;
	uint32_t	uid, gid;
	uint32_t	has_shim;	/* INIT_PRELOAD goes over INIT_PRELOADS */
	uint32_t	session;	/* enum init_session */
	uint64_t	handled_fs;	/* Landlock; 0: no Landlock at all */
	uint64_t	scoped;
	uint64_t	sigmask;	/* the command's, bit n-1 for signal n */
	/* Rights for reopening inherited stdin/out/err (LINUX-FACTS-2 1.7). */
	uint64_t	stdio_read, stdio_write;
	/* RLIMIT_DATA, RLIMIT_NPROC, RLIMIT_NOFILE; 0 leaves the user's. */
	uint64_t	limit_data, limit_nproc, limit_files;
	/* A crash must not feed a program of the host's (core_pattern). */
	uint64_t	no_core;
	/* A namespace made inside is mapped by way of /proc. */
	uint64_t	is_proc_writable;
	/* Without the listener there is no command. */
	uint64_t	must_notify;
	/* notify holds filter, too, which is not installed besides. */
	uint64_t	is_joined;
};

enum init_session {
	INIT_SESSION_SAME,
	INIT_SESSION_NEW,	/* led by fence-init: the command can stop */
	INIT_SESSION_TTY,	/* ... and stdin becomes its terminal */
};

/* One Landlock path rule; a path that does not exist is skipped. */
struct init_rule {
	uint32_t	path;		/* string */
	uint32_t	pad;
	uint64_t	rights;
};

enum init_msg_kind {
	INIT_PLAN = 1,	/* launcher -> init, with the memfd */
	INIT_GO,	/* launcher -> init: start the command */
	INIT_READY,	/* init -> launcher, first, with a pidfd of its own */
	/*
	 * init -> launcher, where a plan has notify: the listener (notify.h),
	 * or value is the errno why there is none.
	 */
	INIT_LISTENER,
	INIT_STARTED,	/* init -> launcher, with a pidfd of the command */
	INIT_STOPPED,	/* value: the signal */
	INIT_CONTINUED,
	INIT_EXITED,	/* value: the wait status of the command; every
			 * other process of the jail is gone, too */
	INIT_FAILED,	/* step and errno; fence-init exits 125 */
	INIT_NOEXEC,	/* execve of the program failed: value is errno */
	/*
	 * launcher -> init, which shares the command's group and hears what
	 * the whole group is sent: a signal (value) came to the launcher.
	 * step: INIT_ALONE is the answer if it did not come to the group; 0
	 * for none.
	 */
	INIT_ASK,
	INIT_ALONE,	/* value: that signal */
};

enum init_step {
	INIT_STEP_PLAN = 1, INIT_STEP_CHDIR, INIT_STEP_FDS, INIT_STEP_CAPS,
	INIT_STEP_LANDLOCK, INIT_STEP_SECCOMP, INIT_STEP_FORK,
	INIT_STEP_KEYRING, INIT_STEP_PROC, INIT_STEP_LIMITS,
	INIT_STEP_USER, INIT_STEP_PRELOAD, INIT_STEP_SESSION,
	INIT_STEP_LISTEN,
};

struct init_msg {
	uint32_t	kind;
	uint32_t	step;
	int32_t		value;
};

#endif
