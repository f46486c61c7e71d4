/*
 * probe: the operations that a batch is made of.  Each takes its arguments,
 * NULL behind the last, and answers "OK" or the name of what went wrong, in
 * storage that outlives it.  Each runs in a child of its own, so it may leave
 * things behind, wait for ever, or be killed.
 */
#ifndef FENCE_TESTS_PROBES_PROBE_H
#define FENCE_TESTS_PROBES_PROBE_H

typedef const char *probe_fn(char **);

/* Files and processes: probe_sys.c */
probe_fn op_open, op_read, op_list, op_stat, op_write, op_append, op_mkdir,
	 op_rmdir, op_unlink, op_rename, op_link, op_symlink, op_chmod,
	 op_truncate, op_mknod, op_exec, op_ptrace, op_mount, op_unshare,
	 op_setns, op_kill, op_env, op_uid, op_setuid, op_syscall, op_tiocsti;

/* Sockets: probe_net.c */
probe_fn op_resolve, op_connect, op_connect4, op_connect6, op_udp, op_unix,
	 op_proxy, op_raw;

/* Ways in that the ordinary calls do not show: probe_attack.c */
probe_fn op_exchange, op_tmpfile, op_linkfd, op_reopen, op_handle, op_bind,
	 op_opentree, op_chroot, op_chown, op_utime, op_touchfd, op_setxattr,
	 op_execfd, op_fill, op_fdpass, op_race, op_raceswap;

/* Unix sockets: probe_unix.c */
probe_fn op_unix_dgram, op_unix_serve;

/* probe_names.c */
const char	*errno_name(int);
const char	*outcome(long rv);	/* OK, or errno's name if negative */
/* "O_WRONLY|O_CREAT", "SIGKILL", "7"; -1 if a word is unknown. */
long		 number(const char *);
/* A formatted answer, in static storage. */
const char	*answer(const char *fmt, ...)
		     __attribute__((format(printf, 1, 2)));

#endif
