#include "platform/linux/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/fd.h"

#define ALL	UINT32_MAX
#define DENY(name, why)		{ name, EPERM, why, { { 0 } }, false }
#define MISSING(name, why)	{ name, ENOSYS, why, { { 0 } }, false }
#define WITH(name, arg, mask, value, why) \
	{ name, EPERM, why, { { arg, mask, value } }, false }
#define SETUID_BIT(name, arg) \
	{ name, EPERM, SETUID, { { arg, S_ISUID, S_ISUID } }, true }
#define SETUID_MADE(name, flags_arg, flag, arg) \
	{ name, EPERM, SETUID, { { flags_arg, flag, flag }, \
	  { arg, S_ISUID, S_ISUID } }, true }
#define FLAG(name, arg, flag, why)	WITH(name, arg, flag, flag, why)
/* A block of address families: 2^n of them, from a multiple of 2^n on. */
#define FAMILIES(first, count) \
	WITH("socket", 0, ~(uint32_t)((count) - 1), first, \
	    "only unix, IPv4, IPv6 and route sockets")
/* Netlink protocols are below 32, so one of these bits is in each but 0. */
#define NETLINK(bit) \
	{ "socket", EPERM, "of netlink only NETLINK_ROUTE", \
	  { { 0, ALL, AF_NETLINK }, { 2, bit, bit } }, false }

#define MOUNTS		"mounts are made before the jail starts"
#define NAMESPACES	"a namespace of its own brings capabilities back"
#define KERNEL		"administers the host"
#define CLOCK		"sets the host's clock"
#define KEYS		"keyrings are shared with the host"
#define RING		"io_uring calls pass no filter"
#define SETUID		"a setuid file of root's would outlive the jail"
#define TMPFILE		(O_TMPFILE & ~O_DIRECTORY)

const struct seccomp_row seccomp_rows[] = {
	DENY("mount", MOUNTS),
	DENY("umount", MOUNTS),
	DENY("umount2", MOUNTS),
	DENY("pivot_root", MOUNTS),
	DENY("chroot", MOUNTS),
	DENY("open_tree", MOUNTS),
	DENY("move_mount", MOUNTS),
	DENY("fsopen", MOUNTS),
	DENY("fsconfig", MOUNTS),
	DENY("fsmount", MOUNTS),
	DENY("fspick", MOUNTS),
	DENY("mount_setattr", MOUNTS),

	/* Its flags lie in memory, out of a filter's sight; libcs fall back. */
	MISSING("clone3", "libcs use clone instead"),
	DENY("setns", NAMESPACES),
	FLAG("clone", 0, CLONE_NEWNS, NAMESPACES),
	FLAG("clone", 0, CLONE_NEWCGROUP, NAMESPACES),
	FLAG("clone", 0, CLONE_NEWUTS, NAMESPACES),
	FLAG("clone", 0, CLONE_NEWIPC, NAMESPACES),
	FLAG("clone", 0, CLONE_NEWUSER, NAMESPACES),
	FLAG("clone", 0, CLONE_NEWPID, NAMESPACES),
	FLAG("clone", 0, CLONE_NEWNET, NAMESPACES),
	FLAG("unshare", 0, CLONE_NEWTIME, NAMESPACES),
	FLAG("unshare", 0, CLONE_NEWNS, NAMESPACES),
	FLAG("unshare", 0, CLONE_NEWCGROUP, NAMESPACES),
	FLAG("unshare", 0, CLONE_NEWUTS, NAMESPACES),
	FLAG("unshare", 0, CLONE_NEWIPC, NAMESPACES),
	FLAG("unshare", 0, CLONE_NEWUSER, NAMESPACES),
	FLAG("unshare", 0, CLONE_NEWPID, NAMESPACES),
	FLAG("unshare", 0, CLONE_NEWNET, NAMESPACES),

	/*
	 * All families but AF_UNIX 1, AF_INET 2, AF_INET6 10 and AF_NETLINK
	 * 16, as the blocks between them; AF_VSOCK (40) talks to the
	 * hypervisor whatever the network namespace.  The kernel itself
	 * refuses 46 and above.  libseccomp turns these into a refusal of
	 * i386's socketcall(SYS_SOCKET) too, whose arguments lie in memory.
	 */
	FAMILIES(0, 1), FAMILIES(3, 1), FAMILIES(4, 4), FAMILIES(8, 2),
	FAMILIES(11, 1), FAMILIES(12, 4), FAMILIES(17, 1), FAMILIES(18, 2),
	FAMILIES(20, 4), FAMILIES(24, 8), FAMILIES(32, 32),
	NETLINK(1), NETLINK(2), NETLINK(4), NETLINK(8), NETLINK(16),

	WITH("ioctl", 1, ALL, TIOCSTI, "types into the terminal"),
	WITH("ioctl", 1, ALL, TIOCLINUX, "types into the console"),

	DENY("io_uring_setup", RING),
	DENY("io_uring_enter", RING),
	DENY("io_uring_register", RING),
	DENY("open_by_handle_at", "opens files past every mount"),
	DENY("userfaultfd", "stops the kernel at a moment of one's choice"),
	DENY("keyctl", KEYS),
	DENY("add_key", KEYS),
	DENY("request_key", KEYS),
	DENY("bpf", KERNEL),
	DENY("perf_event_open", "observes the host"),
	DENY("lookup_dcookie", "observes the host"),
	DENY("syslog", "reads the kernel's log"),
	DENY("kexec_load", KERNEL),
	DENY("kexec_file_load", KERNEL),
	DENY("init_module", KERNEL),
	DENY("finit_module", KERNEL),
	DENY("delete_module", KERNEL),
	DENY("create_module", KERNEL),
	DENY("reboot", KERNEL),
	DENY("swapon", KERNEL),
	DENY("swapoff", KERNEL),
	DENY("acct", KERNEL),
	DENY("quotactl", KERNEL),
	DENY("quotactl_fd", KERNEL),
	DENY("nfsservctl", KERNEL),
	DENY("iopl", KERNEL),
	DENY("ioperm", KERNEL),
	DENY("vm86", KERNEL),
	DENY("vm86old", KERNEL),
	DENY("vhangup", KERNEL),
	DENY("sethostname", KERNEL),
	DENY("setdomainname", KERNEL),
	DENY("settimeofday", CLOCK),
	DENY("stime", CLOCK),
	DENY("clock_settime", CLOCK),
	DENY("clock_settime64", CLOCK),

	SETUID_BIT("chmod", 1),
	SETUID_BIT("fchmod", 1),
	SETUID_BIT("fchmodat", 2),
	SETUID_BIT("creat", 1),
	SETUID_BIT("mknod", 1),
	SETUID_BIT("mknodat", 2),
	SETUID_MADE("open", 1, O_CREAT, 2),
	SETUID_MADE("open", 1, TMPFILE, 2),
	SETUID_MADE("openat", 2, O_CREAT, 3),
	SETUID_MADE("openat", 2, TMPFILE, 3),
	/* Its mode lies in memory. */
	{ "openat2", ENOSYS, SETUID, { { 0 } }, true },
};

const size_t seccomp_nrows = sizeof seccomp_rows / sizeof seccomp_rows[0];

/* The kinds of entry a filter takes; the native one comes first. */
static const struct entry {
	uint32_t	token;		/* libseccomp's */
	uint32_t	audit;		/* seccomp_data.arch */
	uint32_t	end;		/* from here on another kind */
} entries[] = {
#if defined(__x86_64__)
	/* From this bit on it is x32, which libseccomp kills. */
	{ SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64, 0x40000000 },
	{ SCMP_ARCH_X86, AUDIT_ARCH_I386, UINT32_MAX },
#elif defined(__aarch64__)
	{ SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64, UINT32_MAX },
	/* From here on arm's private calls (cacheflush, set_tls). */
	{ SCMP_ARCH_ARM, AUDIT_ARCH_ARM, 0x0f0000 },
#else
#error "no seccomp filter for this processor"
#endif
};

enum { NENTRIES = sizeof entries / sizeof entries[0] };

/*
 * libseccomp knows no ranges, so these instructions go in front of its
 * program: in each kind of entry, a number past the last known is ENOSYS.
 * Everything else falls through to what libseccomp made; its jumps are
 * relative and do not mind.
 */
static void
add_unknown(struct buf *out, const struct entry *x)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, x->audit, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SECCOMP_FCHMODAT2, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SECCOMP_LAST_CALL, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, x->end, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};

	buf_add(out, code, sizeof code);
}

static int
add_row(scmp_filter_ctx ctx, const struct seccomp_row *row)
{
	struct scmp_arg_cmp cmp[SECCOMP_ROW_TESTS];
	unsigned n = 0;
	int nr = seccomp_syscall_resolve_name(row->name);

	if (nr == __NR_SCMP_ERROR)
		return -ENOENT;
	for (; n < SECCOMP_ROW_TESTS && row->test[n].mask != 0; n++)
		cmp[n] = SCMP_CMP64(row->test[n].arg, SCMP_CMP_MASKED_EQ,
		    row->test[n].mask, row->test[n].value);
	return seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO(row->error), nr, n,
	    cmp);
}

static int
fill_context(scmp_filter_ctx ctx, enum seccomp_who who, const char **ret_name)
{
	int rv;

	*ret_name = "architecture";
	for (unsigned i = 1; i < NENTRIES; i++) {
		rv = seccomp_arch_add(ctx, entries[i].token);
		if (rv < 0)
			return rv;
	}
	*ret_name = "attribute";
	rv = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
	    SCMP_ACT_KILL_PROCESS);
	if (rv < 0)
		return rv;
	/* A binary tree: loading costs by path length, not by size. */
	rv = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (rv < 0)
		return rv;
	for (size_t i = 0; i < seccomp_nrows; i++) {
		*ret_name = seccomp_rows[i].name;
		if (seccomp_rows[i].is_roots && who != SECCOMP_ROOT)
			continue;
		rv = add_row(ctx, &seccomp_rows[i]);
		if (rv < 0)
			return rv;
	}
	return 0;
}

/* libseccomp 2.5 writes to a descriptor only. */
static int
export(scmp_filter_ctx ctx, struct buf *out, struct err *e)
{
	auto_fd fd = memfd_create("fence-filter", MFD_CLOEXEC);
	off_t size;
	int rv;

	if (fd < 0)
		return err_sys(e, errno, "cannot make room for the filter");
	rv = seccomp_export_bpf(ctx, fd);
	if (rv < 0)
		return err_sys(e, -rv, "cannot make the seccomp filter");
	size = lseek(fd, 0, SEEK_END);
	if (size <= 0 || size % sizeof(struct sock_filter) != 0)
		return err_set(e, ERR_JAIL, "the seccomp filter came out odd");
	if (buf_reserve(out, size) < 0)
		return err_set(e, ERR_JAIL, "out of memory");
	if (pread(fd, out->data + out->len, size, 0) != size)
		return err_sys(e, errno, "cannot read the seccomp filter");
	out->len += size;
	out->data[out->len] = '\0';
	return 0;
}

int
seccomp_make_filter(enum seccomp_who who, struct buf *out, struct err *e)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	const char *name;
	int rv;

	if (ctx == NULL)
		return err_set(e, ERR_JAIL, "libseccomp cannot start");
	for (unsigned i = 0; i < NENTRIES; i++)
		add_unknown(out, &entries[i]);
	rv = fill_context(ctx, who, &name);
	if (rv < 0)
		rv = err_sys(e, -rv, "libseccomp refuses '%s'", name);
	else
		rv = export(ctx, out, e);
	seccomp_release(ctx);
	if (rv == 0 && out->failed)
		rv = err_set(e, ERR_JAIL, "out of memory");
	return rv;
}
