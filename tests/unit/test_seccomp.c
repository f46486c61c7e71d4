/*
 * The jail's filters, run by a small interpreter: every machine, every
 * variant, every number and row against what the tables say, and against
 * numbers written down here by hand.  The kernel's own word is in
 * test_seccomp_kernel.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/audit.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "platform/linux/seccomp.h"
#include "tests/unit/bpf.h"

#define HIGH		UINT64_C(0xdeadbeef00000000)
#define ERROR(n)	(SECCOMP_RET_ERRNO | (n))
#define OK		SECCOMP_RET_ALLOW
#define KILL		SECCOMP_RET_KILL_PROCESS
#define COUNT(a)	(sizeof (a) / sizeof (a)[0])

/*
 * The longest way through any filter, in instructions: what a call costs
 * where the kernel keeps no map of the calls that are always permitted.
 */
enum { LONGEST_WAY = 40, MAX_ROWS = 192 };

static struct buf filters[SECCOMP_NMACHINES][SECCOMP_NWHO];
static int numbers[SECCOMP_NMACHINES][SECCOMP_NENTRIES][MAX_ROWS];
static bool is_listed[SECCOMP_NMACHINES][SECCOMP_LAST_CALL + 1];
static size_t longest;

static uint32_t
run(const struct buf *filter, const struct seccomp_data *d)
{
	return bpf_run(filter, d, &longest);
}

static bool
is_strict(unsigned who)
{
	return who == SECCOMP_USER_STRICT || who == SECCOMP_ROOT_STRICT;
}

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

/* What the tables mean. */
static uint32_t
meant(unsigned m, unsigned who, unsigned e, const struct seccomp_data *d)
{
	const struct seccomp_entry *x = &seccomp_entries[m][e];
	uint32_t nr = d->nr, unnamed = OK;

	if (is_strict(who) && e > 0)
		return ERROR(ENOSYS);
	if (nr == UINT32_MAX)
		return OK;
	if (nr >= x->end)
		return x->is_end_killed ? KILL : OK;
	if (nr > SECCOMP_LAST_CALL || !seccomp_is_known(x, nr) ||
	    (is_strict(who) && !is_listed[m][nr]))
		unnamed = ERROR(ENOSYS);
	for (size_t i = 0; i < seccomp_nrows; i++) {
		const struct seccomp_row *row = &seccomp_rows[i];

		if (numbers[m][e][i] == (int)nr &&
		    (row->in & SECCOMP_IN(who)) != 0 && row_matches(row, d))
			return row->error == 0 ? unnamed : ERROR(row->error);
	}
	return unnamed;
}

static void
compare(unsigned m, unsigned who, unsigned e, struct seccomp_data *d)
{
	uint32_t want, got;

	d->arch = seccomp_entries[m][e].audit;
	want = meant(m, who, e, d);
	got = run(&filters[m][who], d);
	if (got != want)
		fail_msg("machine %u, filter %u, entry %u, call %d(%#llx, "
		    "%#llx, %#llx): %#x, not %#x", m, who, e, d->nr,
		    (unsigned long long)d->args[0],
		    (unsigned long long)d->args[1],
		    (unsigned long long)d->args[2], got, want);
}

/* Calls f for every machine, filter and kind of entry. */
static void
everywhere(void (*f)(unsigned m, unsigned who, unsigned e))
{
	for (unsigned m = 0; m < SECCOMP_NMACHINES; m++)
		for (unsigned who = 0; who < SECCOMP_NWHO; who++)
			for (unsigned e = 0; e < SECCOMP_NENTRIES; e++)
				f(m, who, e);
}

static void
numbers_of(unsigned m, unsigned who, unsigned e)
{
	static const uint32_t far[] = { 1000, 0xefffe, 0xeffff, 0xf0000,
		0xf0005, 0x3fffffff, 0x40000000, 0x40000001, 0x400000a5,
		0x7fffffff, 0x80000000, 0x800000a5, 0xfffffffe, 0xffffffff };
	struct seccomp_data d;

	for (uint32_t i = 0; i < 600 + COUNT(far); i++) {
		memset(&d, 0, sizeof d);
		d.nr = i < 600 ? i : far[i - 600];
		compare(m, who, e, &d);
		memset(d.args, 0xff, sizeof d.args);
		compare(m, who, e, &d);
	}
}

/* Every number, with arguments of 0 and of all ones. */
static void
test_every_number(void **state)
{
	(void)state;
	everywhere(numbers_of);
	print_message("the longest way: %zu instructions\n", longest);
	assert_true(longest > 5 && longest <= LONGEST_WAY);
}

/* Sets arguments so that row applies, if they contradict no earlier row. */
static void
fit(struct seccomp_data *d, const struct seccomp_row *row)
{
	for (unsigned t = 0; t < SECCOMP_ROW_TESTS; t++)
		d->args[row->test[t].arg] |= row->test[t].value;
}

static void
rows_of(unsigned m, unsigned who, unsigned e)
{
	struct seccomp_data d;

	for (size_t i = 0; i < seccomp_nrows; i++) {
		memset(&d, 0, sizeof d);
		d.nr = numbers[m][e][i];
		if (d.nr < 0)
			continue;	/* not on this system */
		fit(&d, &seccomp_rows[i]);
		compare(m, who, e, &d);
		for (unsigned a = 0; a < 4; a++)
			for (unsigned bit = 0; bit < 32; bit++) {
				d.args[a] ^= UINT64_C(1) << bit;
				compare(m, who, e, &d);
				/* 32-bit entry has no high halves. */
				d.args[a] |= e == 0 ? HIGH : 0;
				compare(m, who, e, &d);
				d.args[a] &= ~HIGH;
				d.args[a] ^= UINT64_C(1) << bit;
			}
	}
}

/* Every row: its own arguments, each bit beside them, high bits set. */
static void
test_every_row(void **state)
{
	(void)state;
	everywhere(rows_of);
}

/* A refusal without tests is one, unless an earlier row lets it be. */
static void
plain_of(unsigned m, unsigned who, unsigned e)
{
	struct seccomp_data d;

	if (is_strict(who) && e > 0)
		return;
	for (size_t i = 0; i < seccomp_nrows; i++) {
		const struct seccomp_row *row = &seccomp_rows[i];

		if (numbers[m][e][i] < 0 ||
		    (row->in & SECCOMP_IN(who)) == 0 || row->error == 0)
			continue;
		memset(&d, 0, sizeof d);
		d.nr = numbers[m][e][i];
		d.arch = seccomp_entries[m][e].audit;
		fit(&d, row);
		if (row->test[0].mask == 0)
			memset(d.args, 0x2a, sizeof d.args);
		for (unsigned a = 0; e == 0 && a < 6; a++)
			d.args[a] |= HIGH;
		if (run(&filters[m][who], &d) != ERROR(row->error))
			fail_msg("machine %u, filter %u, entry %u: %s is not "
			    "refused", m, who, e, row->name);
	}
}

static void
test_every_refusal(void **state)
{
	(void)state;
	everywhere(plain_of);
}

static uint32_t
ask(unsigned who, int nr, uint64_t a, uint64_t b, uint64_t c)
{
	struct seccomp_data d = { .nr = nr, .arch = AUDIT_ARCH_X86_64,
		.args = { a, b, c } };

	return run(&filters[SECCOMP_X86_64][who], &d);
}

static bool
is_socket_fine(unsigned family, unsigned type, unsigned proto)
{
	bool is_odd = type == SOCK_SEQPACKET || type == SOCK_DCCP ||
	    proto == 132 || proto == 33 || proto == 115;

	return family == AF_UNIX || (!is_odd && (family == AF_INET ||
	    family == AF_INET6 || (family == AF_NETLINK && proto == 0)));
}

/* Every family, type and protocol; what lies above 32 bits is nothing. */
static void
test_every_socket(void **state)
{
	static const uint64_t far[] = { 0x100, 0x10001, 0x80000001,
		UINT32_MAX };

	(void)state;
	for (unsigned who = 0; who < SECCOMP_NWHO; who++) {
		for (unsigned i = 0; i < 128 * 8 * 140; i++) {
			unsigned family = i % 128, type = i / 128 % 8;
			unsigned proto = i / 1024;
			uint32_t want = is_socket_fine(family, type, proto) ?
			    OK : ERROR(EPERM);

			assert_int_equal(ask(who, 41, family,
			    type | SOCK_CLOEXEC, proto), want);
			assert_int_equal(ask(who, 41, HIGH | family,
			    HIGH | type | SOCK_NONBLOCK, HIGH | proto), want);
		}
		for (size_t i = 0; i < COUNT(far); i++)
			assert_int_equal(ask(who, 41, far[i], SOCK_STREAM, 0),
			    ERROR(EPERM));
		for (unsigned family = 0; family < 64; family++)
			assert_int_equal(ask(who, 53, HIGH | family, 1, 0),
			    family == AF_UNIX ? OK : ERROR(EPERM));
	}
}

/* Each flag alone, in the low half of the register and in the high one. */
static void
test_every_clone_flag(void **state)
{
	const uint64_t news = 0x7e020000;	/* all but CLONE_NEWTIME */

	(void)state;
	for (unsigned who = 0; who < SECCOMP_NWHO; who++) {
		bool may = who == SECCOMP_USER_NESTED ||
		    who == SECCOMP_ROOT_NESTED;
		uint32_t no = may ? OK : ERROR(EPERM);
		/* unshare is not on strict's list. */
		uint32_t own = is_strict(who) ? ERROR(ENOSYS) : OK;

		for (unsigned bit = 0; bit < 64; bit++) {
			uint64_t flag = UINT64_C(1) << bit;
			bool is_new = (flag & news) != 0;
			bool is_time = flag == 0x80;

			assert_int_equal(ask(who, 56, flag | 17, 0, 0),
			    is_new ? no : OK);
			assert_int_equal(ask(who, 56, flag | HIGH, 0, 0),
			    is_new ? no : OK);
			assert_int_equal(ask(who, 272, flag, 0, 0),
			    is_new || is_time ? may ? OK : ERROR(EPERM) : own);
		}
	}
}

/* Not from the tables: what must hold whatever they say. */
static const struct {
	uint32_t arch;
	int nr;
	uint64_t arg[4];
	uint32_t user, root, nested, strict;
} by_hand[] = {
#define X64	AUDIT_ARCH_X86_64
#define I386	AUDIT_ARCH_I386
#define A64	AUDIT_ARCH_AARCH64
#define ARM	AUDIT_ARCH_ARM
#define NO	ERROR(EPERM)
#define NONE	ERROR(ENOSYS)
#define ONE(v)	v, v, v, v
#define BUT_NESTED(v)	NO, NO, v, NO
	{ X64, 165, { 0 }, BUT_NESTED(OK) },		/* mount */
	{ X64, 166, { 0 }, BUT_NESTED(OK) },		/* umount2 */
	{ X64, 155, { 0 }, BUT_NESTED(OK) },		/* pivot_root */
	{ X64, 161, { 0 }, BUT_NESTED(OK) },		/* chroot */
	{ X64, 308, { 0 }, BUT_NESTED(OK) },		/* setns */
	{ X64, 428, { 0 }, BUT_NESTED(NONE) },		/* open_tree */
	{ X64, 429, { 0 }, BUT_NESTED(NONE) },
	{ X64, 430, { 0 }, BUT_NESTED(NONE) },		/* fsopen */
	{ X64, 431, { 0 }, BUT_NESTED(NONE) },
	{ X64, 432, { 0 }, BUT_NESTED(NONE) },
	{ X64, 433, { 0 }, BUT_NESTED(NONE) },
	{ X64, 442, { 0 }, BUT_NESTED(NONE) },		/* mount_setattr */
	{ X64, 467, { 0 }, ONE(NONE) },			/* open_tree_attr */
	{ X64, 400, { 0 }, ONE(NONE) },			/* a hole */
	{ X64, 435, { 0 }, ONE(NONE) },			/* clone3 */
	{ X64, 425, { 0 }, ONE(NO) },			/* io_uring */
	{ X64, 426, { 0 }, ONE(NO) },
	{ X64, 427, { 0 }, ONE(NO) },
	{ X64, 250, { 0 }, ONE(NO) },			/* keyctl */
	{ X64, 248, { 0 }, ONE(NO) },
	{ X64, 249, { 0 }, ONE(NO) },
	{ X64, 321, { 0 }, ONE(NO) },			/* bpf */
	{ X64, 298, { 0 }, ONE(NO) },			/* perf_event_open */
	{ X64, 323, { 0 }, ONE(NO) },			/* userfaultfd */
	{ X64, 304, { 0 }, ONE(NO) },			/* open_by_handle_at */
	{ X64, 246, { 0 }, ONE(NO) },			/* kexec_load */
	{ X64, 320, { 0 }, ONE(NO) },
	{ X64, 175, { 0 }, ONE(NO) },			/* init_module */
	{ X64, 313, { 0 }, ONE(NO) },
	{ X64, 169, { 0 }, ONE(NO) },			/* reboot */
	{ X64, 103, { 0 }, ONE(NO) },			/* syslog */
	{ X64, 163, { 0 }, ONE(NO) },			/* acct */
	{ X64, 167, { 0 }, ONE(NO) },			/* swapon */
	{ X64, 168, { 0 }, ONE(NO) },
	{ X64, 172, { 0 }, ONE(NO) },			/* iopl */
	{ X64, 173, { 0 }, ONE(NO) },
	{ X64, 170, { 0 }, BUT_NESTED(OK) },		/* sethostname */
	{ X64, 16, { 0, 0x5412 }, ONE(NO) },		/* TIOCSTI */
	{ X64, 16, { 0, HIGH | 0x5412 }, ONE(NO) },
	{ X64, 16, { 0, 0x541c }, ONE(NO) },		/* TIOCLINUX */
	{ X64, 16, { 0, HIGH | 0x541c }, ONE(NO) },
	{ X64, 16, { 0, 0x5423 }, ONE(NO) },		/* TIOCSETD */
	{ X64, 16, { 0, 0x15412 }, ONE(OK) },
	{ X64, 16, { 0, 0x5413 }, ONE(OK) },		/* TIOCGWINSZ */
	{ X64, 101, { 0 }, OK, OK, OK, NONE },		/* ptrace */
	{ X64, 310, { 0 }, OK, OK, OK, NONE },		/* process_vm_readv */
	{ X64, 135, { 0xffffffff }, OK, OK, OK, NONE },	/* personality */
	{ X64, 135, { 0x0040000 }, OK, OK, OK, NONE },
	{ X64, 135, { HIGH | 0x0040000 }, OK, OK, OK, NONE },
	{ X64, 135, { 8 }, OK, OK, OK, NONE },		/* PER_LINUX32 */
	{ X64, 135, { 0x0400000 }, ONE(NO) },		/* READ_IMPLIES_EXEC */
	{ X64, 135, { 0x0440000 }, ONE(NO) },
	{ X64, 135, { 0x0100000 }, ONE(NO) },		/* MMAP_PAGE_ZERO */
	{ X64, 302, { 1 }, ONE(NO) },			/* prlimit64 */
	{ X64, 302, { HIGH | 1, 7, 0 }, ONE(NO) },
	{ X64, 302, { 0, 7 }, ONE(OK) },
	{ X64, 302, { 2, 7 }, ONE(OK) },
	{ X64, 141, { 0, 1 }, ONE(NO) },		/* setpriority */
	{ X64, 141, { 0, 0 }, ONE(OK) },
	{ X64, 251, { 1, 1 }, ONE(NO) },		/* ioprio_set */
	{ X64, 251, { 1, 0 }, ONE(OK) },
	{ X64, 203, { 1 }, ONE(NO) },		/* sched_setaffinity */
	{ X64, 203, { 0 }, ONE(OK) },
	{ X64, 314, { 1 }, ONE(NO) },			/* sched_setattr */
	{ X64, 142, { 1 }, ONE(NO) },			/* sched_setparam */
	{ X64, 144, { 1 }, ONE(NO) },		/* sched_setscheduler */
	{ X64, 144, { 0 }, ONE(OK) },
	{ X64, 59, { 0 }, ONE(OK) },			/* execve */
	{ X64, 60, { 0 }, ONE(OK) },			/* exit */
	{ X64, 231, { 0 }, ONE(OK) },			/* exit_group */
	{ X64, 15, { 0 }, ONE(OK) },			/* rt_sigreturn */
	{ X64, 219, { 0 }, ONE(OK) },			/* restart_syscall */
	{ X64, 335, { 0 }, ONE(OK) },			/* uretprobe */
	{ X64, 0xffffffff, { 0 }, ONE(OK) },
	{ X64, 90, { 0, 04755 }, OK, NO, OK, OK },	/* chmod */
	{ X64, 90, { 0, HIGH | 04755 }, OK, NO, OK, OK },
	{ X64, 90, { 0, 02755 }, OK, NO, OK, OK },
	{ X64, 90, { 0, HIGH | 02755 }, OK, NO, OK, OK },
	{ X64, 90, { 0, 02644 }, OK, NO, OK, OK },
	{ X64, 90, { 0, 01755 }, ONE(OK) },
	{ X64, 90, { 0, HIGH | 0755 }, ONE(OK) },
	{ X64, 452, { 0, 0, 04755, 0 }, OK, NO, OK, OK }, /* fchmodat2 */
	{ X64, 452, { 0, 0, 0755, 0 }, ONE(OK) },
	{ X64, 257, { 0, 0, 0102, 04755 }, OK, NO, OK, OK }, /* openat */
	{ X64, 257, { 0, 0, HIGH | 0102, HIGH | 04755 }, OK, NO, OK, OK },
	{ X64, 257, { 0, 0, 020200002, 04755 }, OK, NO, OK, OK },
	{ X64, 257, { 0, 0, 0102, 02755 }, OK, NO, OK, OK },
	{ X64, 257, { 0, 0, 020200002, 02755 }, OK, NO, OK, OK },
	{ X64, 133, { 0, 0102755 }, OK, NO, OK, OK },	/* mknod */
	{ X64, 83, { 0, 02755 }, ONE(OK) },	/* mkdir: the bit is lost */
	{ X64, 257, { 0, 0, 0, 04755 }, ONE(OK) },
	{ X64, 257, { 0, 0, 0102, 0755 }, ONE(OK) },
	{ X64, 437, { 0 }, OK, NONE, OK, OK },		/* openat2 */
	{ X64, 0x40000000 | 165, { 0 }, ONE(KILL) },	/* x32 */
	{ X64, 0x40000000, { 0 }, ONE(KILL) },
	{ X64, 0x40000000 | 39, { 0 }, ONE(KILL) },
	{ X64, 0x40000000 | 520, { 0 }, ONE(KILL) },
	{ X64, 0xc0000000, { 0 }, ONE(KILL) },
	{ X64, 0x3fffffff, { 0 }, ONE(NONE) },
	{ I386, 21, { 0 }, NO, NO, OK, NONE },		/* mount */
	{ I386, 22, { 0 }, NO, NO, OK, NONE },		/* umount */
	{ I386, 52, { 0 }, NO, NO, OK, NONE },		/* umount2 */
	{ I386, 165, { 0 }, OK, OK, OK, NONE },
	{ I386, 20, { 0 }, OK, OK, OK, NONE },		/* getpid */
	{ I386, 102, { 1 }, NO, NO, NO, NONE },		/* socketcall */
	{ I386, 102, { 3 }, OK, OK, OK, NONE },
	{ I386, 359, { 40 }, NO, NO, NO, NONE },
	{ I386, 359, { 1 }, OK, OK, OK, NONE },
	{ I386, 360, { 40 }, NO, NO, NO, NONE },
	{ I386, 120, { 0x10000000 }, NO, NO, OK, NONE },
	{ I386, 120, { 0x1200011 }, OK, OK, OK, NONE },
	{ I386, 310, { 0x80 }, NO, NO, OK, NONE },	/* unshare NEWTIME */
	{ I386, 54, { 0, 0x5412 }, NO, NO, NO, NONE },	/* ioctl */
	{ I386, 26, { 0 }, OK, OK, OK, NONE },		/* ptrace */
	{ I386, 357, { 0 }, NO, NO, NO, NONE },		/* bpf */
	{ I386, 404, { 0 }, NO, NO, NO, NONE },		/* clock_settime64 */
	{ I386, 166, { 0 }, NO, NO, NO, NONE },		/* vm86 */
	{ I386, 428, { 0 }, NO, NO, NONE, NONE },
	{ I386, 435, { 0 }, ONE(NONE) },
	{ I386, 470, { 0 }, ONE(NONE) },
	{ I386, 0x400000a5, { 0 }, ONE(NONE) },
	{ I386, 15, { 0, 04755 }, OK, NO, OK, NONE },	/* chmod */
	{ A64, 40, { 0 }, BUT_NESTED(OK) },		/* mount */
	{ A64, 39, { 0 }, BUT_NESTED(OK) },		/* umount2 */
	{ A64, 220, { 0x10000011 }, BUT_NESTED(OK) },	/* clone */
	{ A64, 220, { 17 }, ONE(OK) },
	{ A64, 435, { 0 }, ONE(NONE) },
	{ A64, 425, { 0 }, ONE(NO) },
	{ A64, 219, { 0 }, ONE(NO) },			/* keyctl */
	{ A64, 280, { 0 }, ONE(NO) },			/* bpf */
	{ A64, 241, { 0 }, ONE(NO) },			/* perf_event_open */
	{ A64, 198, { 40 }, ONE(NO) },			/* socket */
	{ A64, 198, { 2, 1 }, ONE(OK) },
	{ A64, 198, { 16, 3, 12 }, ONE(NO) },
	{ A64, 29, { 0, HIGH | 0x5412 }, ONE(NO) },	/* ioctl */
	{ A64, 265, { 0 }, ONE(NO) },			/* open_by_handle_at */
	{ A64, 53, { 0, 0, 04755 }, OK, NO, OK, OK },	/* fchmodat */
	{ A64, 56, { 0, 0, 0100, 04755 }, OK, NO, OK, OK }, /* openat */
	{ A64, 221, { 0 }, ONE(OK) },			/* execve */
	{ A64, 94, { 0 }, ONE(OK) },			/* exit_group */
	{ A64, 250, { 0 }, ONE(NONE) },			/* a hole */
	{ A64, 467, { 0 }, ONE(NONE) },
	{ A64, 0x40000001, { 0 }, ONE(NONE) },
	{ ARM, 21, { 0 }, NO, NO, OK, NONE },		/* mount */
	{ ARM, 281, { 40 }, NO, NO, NO, NONE },		/* socket */
	{ ARM, 0xf0002, { 0 }, OK, OK, OK, NONE },	/* cacheflush */
	{ ARM, 467, { 0 }, ONE(NONE) },
};

static void
check_by_hand(size_t i)
{
	struct seccomp_data d = { .nr = by_hand[i].nr,
		.arch = by_hand[i].arch };
	unsigned m = d.arch == A64 || d.arch == ARM ? SECCOMP_AARCH64 :
	    SECCOMP_X86_64;
	const uint32_t want[] = {
		[SECCOMP_USER] = by_hand[i].user,
		[SECCOMP_ROOT] = by_hand[i].root,
		[SECCOMP_USER_NESTED] = by_hand[i].nested,
		[SECCOMP_USER_STRICT] = by_hand[i].strict,
	};

	memcpy(d.args, by_hand[i].arg, sizeof by_hand[i].arg);
	for (unsigned who = 0; who < COUNT(want); who++) {
		uint32_t got = run(&filters[m][who], &d);

		if (who != SECCOMP_ROOT_NESTED && got != want[who])
			fail_msg("case %zu, call %d, filter %u: %#x, not %#x",
			    i, d.nr, who, got, want[who]);
		/* On another machine it is no entry at all. */
		if (run(&filters[1 - m][who], &d) != KILL)
			fail_msg("case %zu: a stranger lives", i);
	}
}

static void
test_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(by_hand); i++)
		check_by_hand(i);
}

static void
test_every_x32_number(void **state)
{
	(void)state;
	for (unsigned who = 0; who < SECCOMP_NWHO; who++)
		for (int i = 0; i < 600; i++)
			assert_int_equal(ask(who, 0x40000000 | i, 0, 0, 0),
			    KILL);
}

/* On arm64 only the younger of two names is there: a list needs both. */
static void
test_strict_twins(void **state)
{
	static const char *const twins[][2] = {
		{ "open", "openat" }, { "stat", "newfstatat" },
		{ "lstat", "newfstatat" }, { "access", "faccessat" },
		{ "pipe", "pipe2" }, { "dup2", "dup3" }, { "poll", "ppoll" },
		{ "select", "pselect6" }, { "epoll_wait", "epoll_pwait" },
		{ "epoll_create", "epoll_create1" }, { "fork", "clone" },
		{ "vfork", "clone" }, { "rename", "renameat" },
		{ "renameat", "renameat2" }, { "mkdir", "mkdirat" },
		{ "rmdir", "unlinkat" }, { "unlink", "unlinkat" },
		{ "link", "linkat" }, { "symlink", "symlinkat" },
		{ "readlink", "readlinkat" }, { "chmod", "fchmodat" },
		{ "fchmodat", "fchmodat2" }, { "chown", "fchownat" },
		{ "lchown", "fchownat" }, { "mknod", "mknodat" },
		{ "utime", "utimensat" }, { "utimes", "utimensat" },
		{ "futimesat", "utimensat" }, { "getdents", "getdents64" },
		{ "signalfd", "signalfd4" }, { "eventfd", "eventfd2" },
		{ "inotify_init", "inotify_init1" }, { "creat", "openat" },
		{ "accept", "accept4" }, { "faccessat", "faccessat2" },
		{ "getrlimit", "prlimit64" }, { "alarm", "setitimer" },
		{ "time", "gettimeofday" }, { "pause", "ppoll" },
		{ "getpgrp", "getpgid" }, { "preadv", "preadv2" },
		{ "pwritev", "pwritev2" }, { "openat", "openat2" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(twins); i++) {
		bool found = false;

		for (size_t k = 0; k < seccomp_nstrict; k++)
			found = found ||
			    strcmp(seccomp_strict[k].name, twins[i][1]) == 0;
		if (!found)
			fail_msg("%s is missing", twins[i][1]);
	}
}

/* With family AF_UNIX and no flags, or for a process that is not pid 1. */
static bool
is_permitted(unsigned who, int nr)
{
	return ask(who, nr, AF_UNIX, 0, 0) == OK || ask(who, nr, 2, 0, 0) == OK;
}

/* The list is sorted, says who, and is of calls that are permitted. */
static void
test_strict_list(void **state)
{
	static const struct seccomp_entry *x =
	    &seccomp_entries[SECCOMP_X86_64][0];

	(void)state;
	assert_true(seccomp_nstrict > 150);
	for (size_t i = 0; i < seccomp_nstrict; i++) {
		const struct seccomp_call *c = &seccomp_strict[i];
		int nr = seccomp_number(x, c->name);

		assert_true(c->who[0] != '\0');
		if (i > 0 && strcmp(seccomp_strict[i - 1].name, c->name) >= 0)
			fail_msg("%s is out of order", c->name);
		if (nr >= 0 && !is_permitted(SECCOMP_USER_STRICT, nr))
			fail_msg("%s is listed and refused", c->name);
		if (nr >= 0 && !is_permitted(SECCOMP_USER, nr))
			fail_msg("%s is listed and a refusal", c->name);
	}
}

static void
test_choose(void **state)
{
	(void)state;
	assert_int_equal(seccomp_choose(false, false, false), SECCOMP_USER);
	assert_int_equal(seccomp_choose(true, false, false), SECCOMP_ROOT);
	assert_int_equal(seccomp_choose(false, false, true),
	    SECCOMP_USER_NESTED);
	assert_int_equal(seccomp_choose(true, false, true),
	    SECCOMP_ROOT_NESTED);
	for (unsigned nest = 0; nest < 2; nest++) {
		assert_int_equal(seccomp_choose(false, true, nest),
		    SECCOMP_USER_STRICT);
		assert_int_equal(seccomp_choose(true, true, nest),
		    SECCOMP_ROOT_STRICT);
	}
}

/* The bytes made when fence was built are those of the tables. */
static void
test_shipped(void **state)
{
	struct buf shipped;
	struct err e;

	(void)state;
	for (unsigned who = 0; who < SECCOMP_NWHO; who++) {
		const struct buf *made = &filters[SECCOMP_HERE][who];

		buf_init(&shipped, 0);
		assert_int_equal(seccomp_jail_filter(who, &shipped, &e), 0);
		assert_int_equal(made->len, shipped.len);
		assert_memory_equal(made->data, shipped.data, made->len);
		buf_release(&shipped);
	}
}

static int
setup(void **state)
{
	struct err e = { 0 };

	(void)state;
	if (seccomp_nrows > MAX_ROWS)
		return -1;
	for (unsigned m = 0; m < SECCOMP_NMACHINES; m++) {
		for (unsigned who = 0; who < SECCOMP_NWHO; who++) {
			buf_init(&filters[m][who], 0);
			if (seccomp_make_filter(m, who, &filters[m][who],
			    &e) < 0) {
				err_print(&e, stderr);
				return -1;
			}
		}
		for (unsigned x = 0; x < SECCOMP_NENTRIES; x++)
			for (size_t i = 0; i < seccomp_nrows; i++)
				numbers[m][x][i] =
				    seccomp_number(&seccomp_entries[m][x],
				    seccomp_rows[i].name);
		for (size_t i = 0; i < seccomp_nstrict; i++) {
			int nr = seccomp_number(&seccomp_entries[m][0],
			    seccomp_strict[i].name);

			if (nr >= 0)
				is_listed[m][nr] = true;
		}
	}
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	for (unsigned m = 0; m < SECCOMP_NMACHINES; m++)
		for (unsigned who = 0; who < SECCOMP_NWHO; who++)
			buf_release(&filters[m][who]);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_number),
		cmocka_unit_test(test_every_row),
		cmocka_unit_test(test_every_refusal),
		cmocka_unit_test(test_every_socket),
		cmocka_unit_test(test_every_clone_flag),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_every_x32_number),
		cmocka_unit_test(test_strict_twins),
		cmocka_unit_test(test_strict_list),
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_shipped),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
