/*
 * The jail's filter, three ways: run by a small interpreter against what the
 * table says, against numbers written down here by hand, and by the kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/linux/seccomp.h"

#define HIGH	UINT64_C(0xdeadbeef00000000)
#define ERROR(n)	(SECCOMP_RET_ERRNO | (n))

static struct buf filter;

static uint32_t
load(const struct seccomp_data *d, uint32_t at)
{
	uint32_t v;

	assert_true(at % 4 == 0 && at <= sizeof *d - sizeof v);
	memcpy(&v, (const char *)d + at, sizeof v);
	return v;
}

/* The part of BPF that filters are made of; anything else fails. */
static uint32_t
run(const struct seccomp_data *d)
{
	const struct sock_filter *f = (const void *)filter.data;
	size_t n = filter.len / sizeof *f;
	uint32_t a = 0;

	for (size_t pc = 0; pc < n; pc++) {
		uint32_t k = f[pc].k;
		bool yes;

		switch (f[pc].code) {
		case BPF_LD | BPF_W | BPF_ABS:
			a = load(d, k);
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= k;
			continue;
		case BPF_RET | BPF_K:
			return k;
		case BPF_JMP | BPF_JA:
			pc += k;
			continue;
		case BPF_JMP | BPF_JEQ | BPF_K:
			yes = a == k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			yes = a > k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			yes = a >= k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			yes = (a & k) != 0;
			break;
		default:
			fail_msg("instruction %#x at %zu", f[pc].code, pc);
			return 0;
		}
		pc += yes ? f[pc].jt : f[pc].jf;
	}
	fail_msg("the program has no end");
	return 0;
}

static const struct entry {
	uint32_t token, audit, end;
} entries[] = {
#if defined(__x86_64__)
	{ SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64, 0x40000000 },
	{ SCMP_ARCH_X86, AUDIT_ARCH_I386, UINT32_MAX },
#elif defined(__aarch64__)
	{ SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64, UINT32_MAX },
	{ SCMP_ARCH_ARM, AUDIT_ARCH_ARM, 0x0f0000 },
#endif
};

enum { NENTRIES = sizeof entries / sizeof entries[0], MAX_ROWS = 256 };

static int numbers[NENTRIES][MAX_ROWS];

static bool
row_matches(const struct seccomp_row *row, const struct seccomp_data *d)
{
	for (unsigned i = 0; i < SECCOMP_ROW_TESTS; i++) {
		const struct seccomp_test *t = &row->test[i];

		if (t->mask != 0 &&
		    ((uint32_t)d->args[t->arg] & t->mask) != t->value)
			return false;
	}
	return true;
}

/* What the table means. */
static uint32_t
meant(unsigned e, const struct seccomp_data *d)
{
	uint32_t nr = d->nr;

	if ((nr > SECCOMP_LAST_CALL && nr < entries[e].end) ||
	    nr == SECCOMP_FCHMODAT2)
		return ERROR(ENOSYS);
	if (entries[e].audit == AUDIT_ARCH_X86_64 && nr >= 0x40000000 &&
	    nr != UINT32_MAX)
		return SECCOMP_RET_KILL_PROCESS;
	if (entries[e].audit == AUDIT_ARCH_I386 && nr == 102 &&
	    d->args[0] == 1)	/* socketcall(SYS_SOCKET, ...) */
		return ERROR(EPERM);
	for (size_t i = 0; i < seccomp_nrows; i++)
		if (numbers[e][i] == d->nr && row_matches(&seccomp_rows[i], d))
			return ERROR(seccomp_rows[i].error);
	return SECCOMP_RET_ALLOW;
}

static void
compare(unsigned e, struct seccomp_data *d)
{
	uint32_t want, got;

	d->arch = entries[e].audit;
	want = meant(e, d);
	got = run(d);
	if (got != want)
		fail_msg("entry %u, call %d(%#llx, %#llx, %#llx): %#x, not %#x",
		    e, d->nr, (unsigned long long)d->args[0],
		    (unsigned long long)d->args[1],
		    (unsigned long long)d->args[2], got, want);
}

/* Every number, with arguments of 0 and of all ones. */
static void
test_every_number(void **state)
{
	static const uint32_t far[] = { 1000, 0xefffe, 0xeffff, 0xf0000,
		0xf0005, 0x3fffffff, 0x40000000, 0x40000001, 0x400000a5,
		0x7fffffff, 0x80000000, 0xfffffffe };
	struct seccomp_data d;

	(void)state;
	for (unsigned e = 0; e < NENTRIES; e++)
		for (uint32_t i = 0; i < 600; i++) {
			memset(&d, 0, sizeof d);
			d.nr = i;
			compare(e, &d);
			if (i < sizeof far / sizeof far[0]) {
				d.nr = far[i];
				compare(e, &d);
			}
		}
}

/* Every row: its own arguments, each bit beside them, high bits set. */
static void
test_every_row(void **state)
{
	struct seccomp_data d;

	(void)state;
	for (unsigned e = 0; e < NENTRIES; e++)
		for (size_t i = 0; i < seccomp_nrows; i++) {
			const struct seccomp_row *row = &seccomp_rows[i];

			memset(&d, 0, sizeof d);
			d.nr = numbers[e][i];
			if (d.nr < 0)
				continue;	/* not on this system */
			for (unsigned t = 0; t < SECCOMP_ROW_TESTS; t++)
				d.args[row->test[t].arg] |= row->test[t].value;
			d.arch = entries[e].audit;
			assert_int_equal(run(&d), ERROR(row->error));
			for (unsigned a = 0; a < 3; a++)
				for (unsigned bit = 0; bit < 32; bit++) {
					d.args[a] ^= UINT64_C(1) << bit;
					compare(e, &d);
					d.args[a] ^= UINT64_C(1) << bit;
				}
			/* 32-bit entry has no high halves. */
			for (unsigned a = 0; e == 0 && a < 6; a++)
				d.args[a] |= HIGH;
			compare(e, &d);
			assert_int_equal(run(&d), ERROR(row->error));
		}
}

static void
test_every_family(void **state)
{
	struct seccomp_data d;

	(void)state;
	for (unsigned family = 0; family < 64; family++)
		for (unsigned proto = 0; proto < 32; proto++) {
			bool ok = family == AF_UNIX || family == AF_INET ||
			    family == AF_INET6 ||
			    (family == AF_NETLINK && proto == 0);

			d = (struct seccomp_data){ .nr = SYS_socket,
			    .arch = entries[0].audit,
			    .args = { family, SOCK_RAW, proto } };
			assert_int_equal(run(&d), ok ? SECCOMP_RET_ALLOW
			    : ERROR(EPERM));
			d.args[0] |= HIGH;
			d.args[2] |= HIGH;
			assert_int_equal(run(&d), ok ? SECCOMP_RET_ALLOW
			    : ERROR(EPERM));
		}
}

#if defined(__x86_64__)
/* Not from the table: what must hold whatever it says. */
static void
test_by_hand(void **state)
{
	static const struct {
		uint32_t arch;
		int nr;
		uint64_t arg[3];
		uint32_t want;
	} cases[] = {
		{ AUDIT_ARCH_X86_64, 165, { 0 }, ERROR(EPERM) },  /* mount */
		{ AUDIT_ARCH_X86_64, 428, { 0 }, ERROR(EPERM) },
		{ AUDIT_ARCH_X86_64, 442, { 0 }, ERROR(EPERM) },
		{ AUDIT_ARCH_X86_64, 467, { 0 }, ERROR(ENOSYS) },
		{ AUDIT_ARCH_X86_64, 435, { 0 }, ERROR(ENOSYS) }, /* clone3 */
		{ AUDIT_ARCH_X86_64, 425, { 0 }, ERROR(EPERM) },  /* io_uring */
		{ AUDIT_ARCH_X86_64, 41, { 40, 1, 0 }, ERROR(EPERM) },
		{ AUDIT_ARCH_X86_64, 41, { 2, 1, 0 }, SECCOMP_RET_ALLOW },
		{ AUDIT_ARCH_X86_64, 53, { 1, 1, 0 }, SECCOMP_RET_ALLOW },
		{ AUDIT_ARCH_X86_64, 56, { 0x10000011 }, ERROR(EPERM) },
		{ AUDIT_ARCH_X86_64, 56, { 0x3d0f00 }, SECCOMP_RET_ALLOW },
		{ AUDIT_ARCH_X86_64, 56, { 17 }, SECCOMP_RET_ALLOW },
		{ AUDIT_ARCH_X86_64, 272, { 0x400 }, SECCOMP_RET_ALLOW },
		{ AUDIT_ARCH_X86_64, 16, { 0, 0x5412 }, ERROR(EPERM) },
		{ AUDIT_ARCH_X86_64, 16, { 0, 0x15412 }, SECCOMP_RET_ALLOW },
		{ AUDIT_ARCH_X86_64, 16, { 0, 0x5413 }, SECCOMP_RET_ALLOW },
		{ AUDIT_ARCH_X86_64, 101, { 0 }, SECCOMP_RET_ALLOW },
		{ AUDIT_ARCH_X86_64, 59, { 0 }, SECCOMP_RET_ALLOW },
		{ AUDIT_ARCH_X86_64, 0x40000000 | 165, { 0 },
		  SECCOMP_RET_KILL_PROCESS },
		{ AUDIT_ARCH_X86_64, 0x40000000, { 0 },
		  SECCOMP_RET_KILL_PROCESS },
		{ AUDIT_ARCH_I386, 21, { 0 }, ERROR(EPERM) },	/* mount */
		{ AUDIT_ARCH_I386, 22, { 0 }, ERROR(EPERM) },	/* umount */
		{ AUDIT_ARCH_I386, 165, { 0 }, SECCOMP_RET_ALLOW },
		{ AUDIT_ARCH_I386, 102, { 1 }, ERROR(EPERM) },
		{ AUDIT_ARCH_I386, 102, { 3 }, SECCOMP_RET_ALLOW },
		{ AUDIT_ARCH_I386, 359, { 40 }, ERROR(EPERM) },
		{ AUDIT_ARCH_I386, 359, { 1 }, SECCOMP_RET_ALLOW },
		{ AUDIT_ARCH_I386, 120, { 0x10000000 }, ERROR(EPERM) },
		{ AUDIT_ARCH_I386, 428, { 0 }, ERROR(EPERM) },
		{ AUDIT_ARCH_I386, 470, { 0 }, ERROR(ENOSYS) },
		{ AUDIT_ARCH_ARM, 1, { 0 }, SECCOMP_RET_KILL_PROCESS },
		{ AUDIT_ARCH_AARCH64, 500, { 0 }, SECCOMP_RET_KILL_PROCESS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct seccomp_data d = { .nr = cases[i].nr,
			.arch = cases[i].arch };
		uint32_t got;

		memcpy(d.args, cases[i].arg, sizeof cases[i].arg);
		got = run(&d);
		if (got != cases[i].want)
			fail_msg("case %zu, call %d: %#x, not %#x", i,
			    cases[i].nr, got, cases[i].want);
	}
}

static long
int80(long nr, long a)
{
	long rv;

	__asm__ volatile("int $0x80" : "=a"(rv) : "a"(nr), "b"(a), "c"(0L),
	    "d"(0L), "S"(0L), "D"(0L) : "memory", "r8", "r9", "r10", "r11");
	return rv;
}
#endif

static void
install(void)
{
	struct sock_fprog prog = {
		.len = filter.len / sizeof(struct sock_filter),
		.filter = (void *)filter.data,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
		_exit(99);
}

static bool
says(long rv, int error)
{
	return rv == -1 && errno == error;
}

/* The number of the first thing that is wrong, or 0. */
static int
look_around(void)
{
	int status;
	pid_t pid;

	install();
	if (!says(unshare(CLONE_NEWUSER), EPERM))
		return 1;
	if (!says(socket(AF_VSOCK, SOCK_STREAM, 0), EPERM))
		return 2;
	if (socket(AF_INET, SOCK_STREAM, 0) < 0 ||
	    socket(AF_NETLINK, SOCK_RAW, 0) < 0)
		return 3;
	if (!says(socket(AF_NETLINK, SOCK_RAW, 12), EPERM))
		return 4;
	if (!says(syscall(SYS_ioctl, 0, HIGH | TIOCSTI, 0), EPERM))
		return 5;
	if (!says(syscall(435, 0, 0), ENOSYS) ||
	    !says(syscall(467, 0, 0), ENOSYS) ||
	    !says(syscall(4000, 0, 0), ENOSYS))
		return 6;
	pid = fork();
	if (pid == 0)
		_exit(3);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 3 << 8)
		return 7;
#if defined(__x86_64__)
	if (int80(20, 0) == getpid() &&		/* i386 entry exists here */
	    (int80(21, 0) != -EPERM || int80(102, 1) != -EPERM))
		return 8;
	pid = fork();
	if (pid == 0) {
		syscall(0x40000000 | 39);	/* x32 getpid */
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) ||
	    WTERMSIG(status) != SIGSYS)
		return 9;
#endif
	return 0;
}

static void
test_in_the_kernel(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (pid == 0)
		_exit(look_around());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* libseccomp's own number for i386's socket() stands for socketcall too. */
static int
number_of(const struct entry *e, const char *name)
{
	if (e->audit == AUDIT_ARCH_I386 && strcmp(name, "socket") == 0)
		return 359;
	return seccomp_syscall_resolve_name_arch(e->token, name);
}

static int
setup(void **state)
{
	struct err e = { 0 };

	(void)state;
	buf_init(&filter, 0);
	if (seccomp_jail_filter(SECCOMP_ROOT, &filter, &e) < 0) {
		err_print(&e, stderr);
		return -1;
	}
	for (unsigned a = 0; a < NENTRIES; a++)
		for (size_t i = 0; i < seccomp_nrows && i < MAX_ROWS; i++)
			numbers[a][i] = number_of(&entries[a],
			    seccomp_rows[i].name);
	return seccomp_nrows < MAX_ROWS ? 0 : -1;
}

static int
teardown(void **state)
{
	(void)state;
	buf_release(&filter);
	return 0;
}

/* An ordinary user may make setuid files; they are that user's own. */
static void
test_users_rows(void **state)
{
	struct buf roots = filter;
	struct seccomp_data d;
	struct err e;

	(void)state;
	buf_init(&filter, 0);
	assert_int_equal(seccomp_jail_filter(SECCOMP_USER, &filter, &e), 0);
	for (size_t i = 0; i < seccomp_nrows; i++) {
		const struct seccomp_row *row = &seccomp_rows[i];

		if (!row->is_roots)
			continue;
		memset(&d, 0, sizeof d);
		d.nr = numbers[0][i];
		d.arch = entries[0].audit;
		for (unsigned t = 0; t < SECCOMP_ROW_TESTS; t++)
			d.args[row->test[t].arg] |= row->test[t].value;
		assert_int_equal(run(&d), SECCOMP_RET_ALLOW);
	}
	buf_release(&filter);
	filter = roots;
}

/* The bytes made when fence was built are those of the table. */
static void
test_shipped(void **state)
{
	struct buf made, shipped;
	struct err e;

	(void)state;
	for (enum seccomp_who who = 0; who < SECCOMP_NWHO; who++) {
		buf_init(&made, 0);
		buf_init(&shipped, 0);
		assert_int_equal(seccomp_make_filter(who, &made, &e), 0);
		assert_int_equal(seccomp_jail_filter(who, &shipped, &e), 0);
		assert_int_equal(made.len, shipped.len);
		assert_memory_equal(made.data, shipped.data, made.len);
		buf_release(&made);
		buf_release(&shipped);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_number),
		cmocka_unit_test(test_every_row),
		cmocka_unit_test(test_every_family),
#if defined(__x86_64__)
		cmocka_unit_test(test_by_hand),
#endif
		cmocka_unit_test(test_in_the_kernel),
		cmocka_unit_test(test_users_rows),
		cmocka_unit_test(test_shipped),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
