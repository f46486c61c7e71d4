/*
 * callnames: the names of the system calls that a record may name.  The table
 * is that of the machine it is compiled for; aarch64 has no open().
 */
#include "platform/calls.h"

#include <stddef.h>
#include <sys/syscall.h>

static const char *const names[] = {
#ifdef SYS_accept
	[SYS_accept] = "accept",
#endif
#ifdef SYS_accept4
	[SYS_accept4] = "accept4",
#endif
#ifdef SYS_access
	[SYS_access] = "access",
#endif
#ifdef SYS_acct
	[SYS_acct] = "acct",
#endif
#ifdef SYS_add_key
	[SYS_add_key] = "add_key",
#endif
#ifdef SYS_adjtimex
	[SYS_adjtimex] = "adjtimex",
#endif
#ifdef SYS_bind
	[SYS_bind] = "bind",
#endif
#ifdef SYS_bpf
	[SYS_bpf] = "bpf",
#endif
#ifdef SYS_capset
	[SYS_capset] = "capset",
#endif
#ifdef SYS_chdir
	[SYS_chdir] = "chdir",
#endif
#ifdef SYS_chmod
	[SYS_chmod] = "chmod",
#endif
#ifdef SYS_chown
	[SYS_chown] = "chown",
#endif
#ifdef SYS_chroot
	[SYS_chroot] = "chroot",
#endif
#ifdef SYS_clock_settime
	[SYS_clock_settime] = "clock_settime",
#endif
#ifdef SYS_clone
	[SYS_clone] = "clone",
#endif
#ifdef SYS_clone3
	[SYS_clone3] = "clone3",
#endif
#ifdef SYS_connect
	[SYS_connect] = "connect",
#endif
#ifdef SYS_creat
	[SYS_creat] = "creat",
#endif
#ifdef SYS_delete_module
	[SYS_delete_module] = "delete_module",
#endif
#ifdef SYS_execve
	[SYS_execve] = "execve",
#endif
#ifdef SYS_execveat
	[SYS_execveat] = "execveat",
#endif
#ifdef SYS_faccessat
	[SYS_faccessat] = "faccessat",
#endif
#ifdef SYS_faccessat2
	[SYS_faccessat2] = "faccessat2",
#endif
#ifdef SYS_fanotify_init
	[SYS_fanotify_init] = "fanotify_init",
#endif
#ifdef SYS_fchmod
	[SYS_fchmod] = "fchmod",
#endif
#ifdef SYS_fchmodat
	[SYS_fchmodat] = "fchmodat",
#endif
#ifdef SYS_fchmodat2
	[SYS_fchmodat2] = "fchmodat2",
#endif
#ifdef SYS_fchown
	[SYS_fchown] = "fchown",
#endif
#ifdef SYS_fchownat
	[SYS_fchownat] = "fchownat",
#endif
#ifdef SYS_finit_module
	[SYS_finit_module] = "finit_module",
#endif
#ifdef SYS_fremovexattr
	[SYS_fremovexattr] = "fremovexattr",
#endif
#ifdef SYS_fsconfig
	[SYS_fsconfig] = "fsconfig",
#endif
#ifdef SYS_fsetxattr
	[SYS_fsetxattr] = "fsetxattr",
#endif
#ifdef SYS_fsmount
	[SYS_fsmount] = "fsmount",
#endif
#ifdef SYS_fsopen
	[SYS_fsopen] = "fsopen",
#endif
#ifdef SYS_fspick
	[SYS_fspick] = "fspick",
#endif
#ifdef SYS_ftruncate
	[SYS_ftruncate] = "ftruncate",
#endif
#ifdef SYS_futimesat
	[SYS_futimesat] = "futimesat",
#endif
#ifdef SYS_getxattr
	[SYS_getxattr] = "getxattr",
#endif
#ifdef SYS_init_module
	[SYS_init_module] = "init_module",
#endif
#ifdef SYS_inotify_add_watch
	[SYS_inotify_add_watch] = "inotify_add_watch",
#endif
#ifdef SYS_io_uring_enter
	[SYS_io_uring_enter] = "io_uring_enter",
#endif
#ifdef SYS_io_uring_register
	[SYS_io_uring_register] = "io_uring_register",
#endif
#ifdef SYS_io_uring_setup
	[SYS_io_uring_setup] = "io_uring_setup",
#endif
#ifdef SYS_ioctl
	[SYS_ioctl] = "ioctl",
#endif
#ifdef SYS_ioperm
	[SYS_ioperm] = "ioperm",
#endif
#ifdef SYS_iopl
	[SYS_iopl] = "iopl",
#endif
#ifdef SYS_kcmp
	[SYS_kcmp] = "kcmp",
#endif
#ifdef SYS_kexec_load
	[SYS_kexec_load] = "kexec_load",
#endif
#ifdef SYS_keyctl
	[SYS_keyctl] = "keyctl",
#endif
#ifdef SYS_kill
	[SYS_kill] = "kill",
#endif
#ifdef SYS_landlock_create_ruleset
	[SYS_landlock_create_ruleset] = "landlock_create_ruleset",
#endif
#ifdef SYS_lchown
	[SYS_lchown] = "lchown",
#endif
#ifdef SYS_lgetxattr
	[SYS_lgetxattr] = "lgetxattr",
#endif
#ifdef SYS_link
	[SYS_link] = "link",
#endif
#ifdef SYS_linkat
	[SYS_linkat] = "linkat",
#endif
#ifdef SYS_listen
	[SYS_listen] = "listen",
#endif
#ifdef SYS_listxattr
	[SYS_listxattr] = "listxattr",
#endif
#ifdef SYS_llistxattr
	[SYS_llistxattr] = "llistxattr",
#endif
#ifdef SYS_lookup_dcookie
	[SYS_lookup_dcookie] = "lookup_dcookie",
#endif
#ifdef SYS_lremovexattr
	[SYS_lremovexattr] = "lremovexattr",
#endif
#ifdef SYS_lsetxattr
	[SYS_lsetxattr] = "lsetxattr",
#endif
#ifdef SYS_lstat
	[SYS_lstat] = "lstat",
#endif
#ifdef SYS_mbind
	[SYS_mbind] = "mbind",
#endif
#ifdef SYS_migrate_pages
	[SYS_migrate_pages] = "migrate_pages",
#endif
#ifdef SYS_mkdir
	[SYS_mkdir] = "mkdir",
#endif
#ifdef SYS_mkdirat
	[SYS_mkdirat] = "mkdirat",
#endif
#ifdef SYS_mknod
	[SYS_mknod] = "mknod",
#endif
#ifdef SYS_mknodat
	[SYS_mknodat] = "mknodat",
#endif
#ifdef SYS_modify_ldt
	[SYS_modify_ldt] = "modify_ldt",
#endif
#ifdef SYS_mount
	[SYS_mount] = "mount",
#endif
#ifdef SYS_mount_setattr
	[SYS_mount_setattr] = "mount_setattr",
#endif
#ifdef SYS_move_mount
	[SYS_move_mount] = "move_mount",
#endif
#ifdef SYS_move_pages
	[SYS_move_pages] = "move_pages",
#endif
#ifdef SYS_mq_open
	[SYS_mq_open] = "mq_open",
#endif
#ifdef SYS_mq_unlink
	[SYS_mq_unlink] = "mq_unlink",
#endif
#ifdef SYS_msgget
	[SYS_msgget] = "msgget",
#endif
#ifdef SYS_name_to_handle_at
	[SYS_name_to_handle_at] = "name_to_handle_at",
#endif
#ifdef SYS_newfstatat
	[SYS_newfstatat] = "newfstatat",
#endif
#ifdef SYS_nfsservctl
	[SYS_nfsservctl] = "nfsservctl",
#endif
#ifdef SYS_open
	[SYS_open] = "open",
#endif
#ifdef SYS_open_by_handle_at
	[SYS_open_by_handle_at] = "open_by_handle_at",
#endif
#ifdef SYS_open_tree
	[SYS_open_tree] = "open_tree",
#endif
#ifdef SYS_openat
	[SYS_openat] = "openat",
#endif
#ifdef SYS_openat2
	[SYS_openat2] = "openat2",
#endif
#ifdef SYS_perf_event_open
	[SYS_perf_event_open] = "perf_event_open",
#endif
#ifdef SYS_personality
	[SYS_personality] = "personality",
#endif
#ifdef SYS_pidfd_getfd
	[SYS_pidfd_getfd] = "pidfd_getfd",
#endif
#ifdef SYS_pidfd_open
	[SYS_pidfd_open] = "pidfd_open",
#endif
#ifdef SYS_pidfd_send_signal
	[SYS_pidfd_send_signal] = "pidfd_send_signal",
#endif
#ifdef SYS_pivot_root
	[SYS_pivot_root] = "pivot_root",
#endif
#ifdef SYS_prctl
	[SYS_prctl] = "prctl",
#endif
#ifdef SYS_prlimit64
	[SYS_prlimit64] = "prlimit64",
#endif
#ifdef SYS_process_madvise
	[SYS_process_madvise] = "process_madvise",
#endif
#ifdef SYS_process_vm_readv
	[SYS_process_vm_readv] = "process_vm_readv",
#endif
#ifdef SYS_process_vm_writev
	[SYS_process_vm_writev] = "process_vm_writev",
#endif
#ifdef SYS_ptrace
	[SYS_ptrace] = "ptrace",
#endif
#ifdef SYS_quotactl
	[SYS_quotactl] = "quotactl",
#endif
#ifdef SYS_quotactl_fd
	[SYS_quotactl_fd] = "quotactl_fd",
#endif
#ifdef SYS_readlink
	[SYS_readlink] = "readlink",
#endif
#ifdef SYS_readlinkat
	[SYS_readlinkat] = "readlinkat",
#endif
#ifdef SYS_reboot
	[SYS_reboot] = "reboot",
#endif
#ifdef SYS_removexattr
	[SYS_removexattr] = "removexattr",
#endif
#ifdef SYS_rename
	[SYS_rename] = "rename",
#endif
#ifdef SYS_renameat
	[SYS_renameat] = "renameat",
#endif
#ifdef SYS_renameat2
	[SYS_renameat2] = "renameat2",
#endif
#ifdef SYS_request_key
	[SYS_request_key] = "request_key",
#endif
#ifdef SYS_rmdir
	[SYS_rmdir] = "rmdir",
#endif
#ifdef SYS_rt_sigqueueinfo
	[SYS_rt_sigqueueinfo] = "rt_sigqueueinfo",
#endif
#ifdef SYS_rt_tgsigqueueinfo
	[SYS_rt_tgsigqueueinfo] = "rt_tgsigqueueinfo",
#endif
#ifdef SYS_sched_setaffinity
	[SYS_sched_setaffinity] = "sched_setaffinity",
#endif
#ifdef SYS_sched_setattr
	[SYS_sched_setattr] = "sched_setattr",
#endif
#ifdef SYS_sched_setparam
	[SYS_sched_setparam] = "sched_setparam",
#endif
#ifdef SYS_sched_setscheduler
	[SYS_sched_setscheduler] = "sched_setscheduler",
#endif
#ifdef SYS_seccomp
	[SYS_seccomp] = "seccomp",
#endif
#ifdef SYS_semget
	[SYS_semget] = "semget",
#endif
#ifdef SYS_sendmmsg
	[SYS_sendmmsg] = "sendmmsg",
#endif
#ifdef SYS_sendmsg
	[SYS_sendmsg] = "sendmsg",
#endif
#ifdef SYS_sendto
	[SYS_sendto] = "sendto",
#endif
#ifdef SYS_set_mempolicy
	[SYS_set_mempolicy] = "set_mempolicy",
#endif
#ifdef SYS_setdomainname
	[SYS_setdomainname] = "setdomainname",
#endif
#ifdef SYS_sethostname
	[SYS_sethostname] = "sethostname",
#endif
#ifdef SYS_setns
	[SYS_setns] = "setns",
#endif
#ifdef SYS_setpriority
	[SYS_setpriority] = "setpriority",
#endif
#ifdef SYS_setrlimit
	[SYS_setrlimit] = "setrlimit",
#endif
#ifdef SYS_setsockopt
	[SYS_setsockopt] = "setsockopt",
#endif
#ifdef SYS_settimeofday
	[SYS_settimeofday] = "settimeofday",
#endif
#ifdef SYS_setxattr
	[SYS_setxattr] = "setxattr",
#endif
#ifdef SYS_shmget
	[SYS_shmget] = "shmget",
#endif
#ifdef SYS_socket
	[SYS_socket] = "socket",
#endif
#ifdef SYS_socketpair
	[SYS_socketpair] = "socketpair",
#endif
#ifdef SYS_stat
	[SYS_stat] = "stat",
#endif
#ifdef SYS_statfs
	[SYS_statfs] = "statfs",
#endif
#ifdef SYS_statx
	[SYS_statx] = "statx",
#endif
#ifdef SYS_swapoff
	[SYS_swapoff] = "swapoff",
#endif
#ifdef SYS_swapon
	[SYS_swapon] = "swapon",
#endif
#ifdef SYS_symlink
	[SYS_symlink] = "symlink",
#endif
#ifdef SYS_symlinkat
	[SYS_symlinkat] = "symlinkat",
#endif
#ifdef SYS_syslog
	[SYS_syslog] = "syslog",
#endif
#ifdef SYS_tgkill
	[SYS_tgkill] = "tgkill",
#endif
#ifdef SYS_tkill
	[SYS_tkill] = "tkill",
#endif
#ifdef SYS_truncate
	[SYS_truncate] = "truncate",
#endif
#ifdef SYS_umount2
	[SYS_umount2] = "umount2",
#endif
#ifdef SYS_unlink
	[SYS_unlink] = "unlink",
#endif
#ifdef SYS_unlinkat
	[SYS_unlinkat] = "unlinkat",
#endif
#ifdef SYS_unshare
	[SYS_unshare] = "unshare",
#endif
#ifdef SYS_uselib
	[SYS_uselib] = "uselib",
#endif
#ifdef SYS_userfaultfd
	[SYS_userfaultfd] = "userfaultfd",
#endif
#ifdef SYS_ustat
	[SYS_ustat] = "ustat",
#endif
#ifdef SYS_utime
	[SYS_utime] = "utime",
#endif
#ifdef SYS_utimensat
	[SYS_utimensat] = "utimensat",
#endif
#ifdef SYS_utimes
	[SYS_utimes] = "utimes",
#endif
#ifdef SYS_vhangup
	[SYS_vhangup] = "vhangup",
#endif
};

const char *
calls_name(unsigned nr)
{
	return nr < sizeof names / sizeof *names ? names[nr] : NULL;
}
