/*
 * initplan: what the launcher tells fence-init, and what it tells back.
 *
 * fence-init is pid 1 of the jail; it holds one end of a SOCK_SEQPACKET
 * pair, the control socket, whose number is its argv[1].  It waits there for
 * one message INIT_GO that carries a memfd; the memfd holds a struct
 * init_plan followed by its tables.  It gets filter bytes and rules, never a
 * policy.  Offsets are from the start of the memfd; strings are
 * NUL-terminated.  The plan is the launcher's, hence trusted, but offsets
 * are checked all the same.
 */
#ifndef FENCE_LINUX_INITPLAN_H
#define FENCE_LINUX_INITPLAN_H

#include <signal.h>
#include <stdint.h>

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
	uint32_t	keep, nkeep;	/* int32 descriptor numbers */
	uint32_t	proc;		/* string: where /proc goes, or 0 */
	uint32_t	pad;
	uint64_t	handled_fs;	/* Landlock; 0: no Landlock at all */
	uint64_t	scoped;
	uint64_t	sigmask;	/* the command's, bit n-1 for signal n */
	/* Rights for reopening inherited stdin/out/err (LINUX-FACTS-2 1.7). */
	uint64_t	stdio_read, stdio_write;
};

/* One Landlock path rule; a path that does not exist is skipped. */
struct init_rule {
	uint32_t	path;		/* string */
	uint32_t	pad;
	uint64_t	rights;
};

enum init_msg_kind {
	INIT_GO = 1,	/* launcher -> init, with the memfd */
	INIT_READY,	/* init -> launcher, first, with a pidfd of its own */
	INIT_STARTED,	/* init -> launcher, with a pidfd of the command */
	INIT_STOPPED,	/* value: the signal */
	INIT_CONTINUED,
	INIT_EXITED,	/* value: the wait status of the command */
	INIT_FAILED,	/* step and errno; fence-init exits 125 */
	INIT_NOEXEC,	/* execve of the program failed: value is errno */
};

enum init_step {
	INIT_STEP_PLAN = 1, INIT_STEP_CHDIR, INIT_STEP_FDS, INIT_STEP_CAPS,
	INIT_STEP_LANDLOCK, INIT_STEP_SECCOMP, INIT_STEP_FORK,
	INIT_STEP_KEYRING, INIT_STEP_PROC,
};

struct init_msg {
	uint32_t	kind;
	uint32_t	step;
	int32_t		value;
};

#endif
