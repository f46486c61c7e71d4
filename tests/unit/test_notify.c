/* Which calls are held, what address they name, and where routes lead. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "launcher/gate/held_calls.h"
#include "launcher/gate/held_files.h"
#include "platform/linux/notify.h"
#include "platform/linux/seccomp.h"
#include "tests/unit/bpf.h"

#define N_OF(a)	(sizeof (a) / sizeof (a)[0])

static const struct seccomp_entry *
entry_of(unsigned i)
{
	return &seccomp_entries[SECCOMP_HERE][i];
}

static uint32_t
run_filter(const struct buf *f, uint32_t audit, int nr, unsigned arg,
    uint64_t value)
{
	struct seccomp_data d = { .nr = nr, .arch = audit };
	size_t steps = 0;

	d.args[arg] = value;
	return bpf_run(f, &d, &steps);
}

static uint32_t
run_sendto(const struct buf *f, uint64_t len)
{
	struct seccomp_data d = { .nr = SYS_sendto,
	    .arch = entry_of(0)->audit, .args = { [4] = 8, [5] = len } };
	size_t steps = 0;

	return bpf_run(f, &d, &steps);
}

static void
test_filter(void **state)
{
	static const struct {
		const char	*name;
		unsigned	 arg;
		uint64_t	 value;
		bool		 is_held;
	} rows[] = {
		{ "connect", 0, 0, true }, { "connect", 1, 0, true },
		{ "sendto", 4, 0, false }, { "sendto", 4, 1, true },
		{ "sendto", 4, UINT64_C(1) << 32, true },
		{ "sendto", 3, MSG_DONTWAIT, false },
		{ "sendto", 5, 16, false },
		{ "sendmsg", 1, 1, true }, { "sendmmsg", 1, 1, true },
		{ "sendmsg", 3, 0, true }, { "sendmmsg", 4, 0, true },
		{ "recvmsg", 1, 1, false }, { "recvmmsg", 1, 1, false },
		{ "bind", 1, 1, false }, { "read", 1, 1, false },
		{ "execve", 0, 1, false }, { "openat", 1, 1, false },
	};
	struct buf f;

	(void)state;
	buf_init(&f, 0);
	notify_filter(NOTIFY_CALLS, &f);
	assert_false(f.failed);
	for (unsigned i = 0; i < SECCOMP_NENTRIES; i++)
		for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
			int nr = seccomp_number(entry_of(i), rows[k].name);

			if (nr < 0)
				continue;
			assert_int_equal(run_filter(&f, entry_of(i)->audit,
			    nr, rows[k].arg, rows[k].value), rows[k].is_held ?
			    SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW);
		}
	/* What bears the mark, where it is looked for, passes. */
	assert_int_equal(run_filter(&f, entry_of(0)->audit, SYS_connect, 3,
	    HELD_CALL_MARK), SECCOMP_RET_ALLOW);
	assert_int_equal(run_filter(&f, entry_of(0)->audit, SYS_connect, 2,
	    HELD_CALL_MARK), SECCOMP_RET_USER_NOTIF);
	assert_int_equal(run_filter(&f, entry_of(0)->audit, SYS_sendmsg, 3,
	    HELD_CALL_MARK), SECCOMP_RET_ALLOW);
	assert_int_equal(run_filter(&f, entry_of(0)->audit, SYS_sendmsg, 2,
	    HELD_CALL_MARK), SECCOMP_RET_USER_NOTIF);
	assert_int_equal(run_filter(&f, entry_of(0)->audit, SYS_sendmmsg, 4,
	    HELD_CALL_MARK), SECCOMP_RET_ALLOW);
	assert_int_equal(run_filter(&f, entry_of(0)->audit, SYS_sendmmsg, 3,
	    HELD_CALL_MARK), SECCOMP_RET_USER_NOTIF);
	assert_int_equal(run_sendto(&f, (uint64_t)HELD_CALL_MARK << 32 | 16),
	    SECCOMP_RET_ALLOW);
	assert_int_equal(run_sendto(&f, HELD_CALL_MARK), SECCOMP_RET_USER_NOTIF);
	/* No other number, and no other entry, is anybody's business. */
	for (int nr = 0; nr < 1024; nr++) {
		if (nr != SYS_connect && nr != SYS_sendto &&
		    nr != SYS_sendmsg && nr != SYS_sendmmsg)
			assert_int_equal(run_filter(&f, entry_of(0)->audit, nr,
			    4, 1), SECCOMP_RET_ALLOW);
		assert_int_equal(run_filter(&f, AUDIT_ARCH_PPC64, nr, 4, 1),
		    SECCOMP_RET_ALLOW);
	}
	buf_release(&f);
}

#ifdef __x86_64__
static void
test_socketcall(void **state)
{
	struct buf f;

	(void)state;
	buf_init(&f, 0);
	notify_filter(NOTIFY_CALLS, &f);
	/* libseccomp's own numbers of these mean socketcall, too. */
	assert_int_equal(run_filter(&f, AUDIT_ARCH_I386, 362, 3, HELD_CALL_MARK),
	    SECCOMP_RET_USER_NOTIF);
	assert_int_equal(run_filter(&f, AUDIT_ARCH_I386, 369, 4, 8),
	    SECCOMP_RET_USER_NOTIF);
	assert_int_equal(run_filter(&f, AUDIT_ARCH_I386, 369, 5, 8),
	    SECCOMP_RET_ALLOW);
	assert_int_equal(run_filter(&f, AUDIT_ARCH_I386, 370, 3, HELD_CALL_MARK),
	    SECCOMP_RET_USER_NOTIF);
	assert_int_equal(run_filter(&f, AUDIT_ARCH_I386, 345, 4, HELD_CALL_MARK),
	    SECCOMP_RET_USER_NOTIF);
	for (uint64_t call = 0; call < 32; call++)
		assert_int_equal(run_filter(&f, AUDIT_ARCH_I386, 102, 0, call),
		    call == 3 || call == 11 || call == 16 || call == 20 ?
		    SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW);
	buf_release(&f);
}
#endif

/* Executions are held where they are asked for, by every entry; a second
 * listener always is. */
static void
test_exec_filter(void **state)
{
	static const struct {
		const char	*name;
		uint64_t	 args[2];
		unsigned	 held;		/* by which kinds of filter */
	} rows[] = {
		{ "execve", { 0, 0 }, NOTIFY_EXEC },
		{ "execveat", { 0, 0 }, NOTIFY_EXEC },
		{ "connect", { 0, 0 }, NOTIFY_CALLS },
		{ "seccomp", { 1, 8 }, NOTIFY_CALLS | NOTIFY_EXEC },
		{ "seccomp", { 1, 0x28 }, NOTIFY_CALLS | NOTIFY_EXEC },
		{ "seccomp", { 1, 0 }, 0 }, { "seccomp", { 1, 0x20 }, 0 },
		{ "seccomp", { 2, 8 }, 0 }, { "seccomp", { 0, 8 }, 0 },
		{ "openat", { 1, 1 }, 0 },
	};
	struct buf f;

	(void)state;
	buf_init(&f, 0);
	for (unsigned what = 1; what <= (NOTIFY_CALLS | NOTIFY_EXEC); what++) {
		buf_clear(&f);
		notify_filter(what, &f);
		assert_false(f.failed);
		for (unsigned i = 0; i < 2 * N_OF(rows); i++) {
			const struct seccomp_entry *x = entry_of(i & 1);
			struct seccomp_data d = { .arch = x->audit };
			size_t k = i / 2, steps = 0;

			d.nr = seccomp_number(x, rows[k].name);
			if (d.nr < 0 || (strcmp(rows[k].name, "connect") == 0 &&
			    x != entry_of(0)))
				continue;
			d.args[0] = rows[k].args[0];
			d.args[1] = rows[k].args[1];
			if (bpf_run(&f, &d, &steps) != ((rows[k].held & what) ?
			    SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW))
				fail_msg("%s row %zu filter %u",
				    rows[k].name, k, what);
		}
	}
	buf_release(&f);
}

/* Calls on files, an open if it writes, by every entry. */
static void
test_file_filter(void **state)
{
	static const struct {
		const char	*name;
		unsigned	 arg;
		uint64_t	 value;
		bool		 is_held;
	} rows[] = {
		{ "open", 1, O_RDONLY, false }, { "open", 1, O_WRONLY, true },
		{ "open", 1, O_RDWR, true }, { "open", 1, O_CREAT, true },
		{ "open", 1, O_TRUNC, true }, { "open", 1, O_CLOEXEC |
		    O_DIRECTORY | O_NONBLOCK, false },
		{ "open", 2, 0777, false },
		{ "openat", 2, O_RDONLY, false }, { "openat", 2, O_WRONLY, true },
		{ "openat", 2, O_RDWR | O_APPEND, true },
		{ "openat", 2, O_CREAT | O_EXCL, true },
		{ "openat", 2, UINT64_C(1) << 32, false },
		{ "openat", 1, O_WRONLY, false },
		{ "openat2", 0, 0, true }, { "creat", 0, 0, true },
		{ "unlink", 0, 0, true }, { "unlinkat", 0, 0, true },
		{ "rmdir", 0, 0, true }, { "rename", 0, 0, true },
		{ "renameat", 0, 0, true }, { "renameat2", 0, 0, true },
		{ "mkdir", 0, 0, true }, { "mkdirat", 0, 0, true },
		{ "mknod", 0, 0, true }, { "mknodat", 0, 0, true },
		{ "link", 0, 0, true }, { "linkat", 0, 0, true },
		{ "symlink", 0, 0, true }, { "symlinkat", 0, 0, true },
		{ "truncate", 0, 0, true }, { "truncate64", 0, 0, true },
		{ "chmod", 0, 0, true }, { "fchmodat", 0, 0, true },
		{ "fchmodat2", 0, 0, true }, { "chown", 0, 0, true },
		{ "lchown", 0, 0, true }, { "chown32", 0, 0, true },
		{ "lchown32", 0, 0, true }, { "fchownat", 0, 0, true },
		{ "utime", 0, 0, true }, { "utimes", 0, 0, true },
		{ "futimesat", 0, 0, true }, { "utimensat", 0, 0, true },
		{ "utimensat_time64", 0, 0, true },
		{ "setxattr", 0, 0, true }, { "lsetxattr", 0, 0, true },
		{ "removexattr", 0, 0, true }, { "lremovexattr", 0, 0, true },
		{ "setxattrat", 0, 0, true }, { "removexattrat", 0, 0, true },
		{ "execve", 0, 0, false }, { "execveat", 0, 0, false },
		{ "connect", 0, 0, true },
		{ "sendto", 4, 1, false }, { "sendmsg", 1, 1, false },
		{ "stat", 0, 1, false }, { "newfstatat", 0, 1, false },
		{ "fchmod", 0, 1, false }, { "ftruncate", 0, 1, false },
		{ "read", 0, 1, false }, { "mmap", 2, 7, false },
		{ "getxattr", 0, 1, false }, { "readlink", 0, 1, false },
		{ "access", 0, 2, false }, { "chdir", 0, 1, false },
	};
	struct buf f;

	(void)state;
	buf_init(&f, 0);
	notify_filter(NOTIFY_FILES, &f);
	assert_false(f.failed);
	for (unsigned i = 0; i < 2 * N_OF(rows); i++) {
		const struct seccomp_entry *x = entry_of(i & 1);
		int nr = seccomp_number(x, rows[i / 2].name);

		if (nr >= 0 && run_filter(&f, x->audit, nr, rows[i / 2].arg,
		    rows[i / 2].value) != (rows[i / 2].is_held ?
		    SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW))
			fail_msg("%s, row %u, entry %u", rows[i / 2].name,
			    i / 2, i & 1);
	}
	buf_clear(&f);
	notify_filter(NOTIFY_FILES | NOTIFY_EXEC, &f);
	assert_int_equal(run_filter(&f, entry_of(0)->audit, SYS_execve, 0, 0),
	    SECCOMP_RET_USER_NOTIF);
	buf_release(&f);
}

static uint32_t
verdict_of(const struct buf *f, const struct seccomp_data *d)
{
	size_t steps = 0;

	return bpf_run(f, d, &steps);
}

/*
 * The joined program says of every call what the two say one after the other,
 * but that a refusal by EPERM is held; and the answer to what is held is the
 * jail's filter's own.
 */
static void
test_joined(void **state)
{
	static const uint64_t values[] = { 0, 1, 2, 16, 0x241, 0x10000000,
	    0x5412, 04755, UINT32_MAX };
	struct buf jail, files, joined;
	struct err e;

	(void)state;
	buf_init(&jail, 0);
	buf_init(&files, 0);
	buf_init(&joined, 0);
	notify_filter(NOTIFY_FILES | NOTIFY_CALLS, &files);
	for (unsigned who = 0; who < SECCOMP_NWHO; who++) {
		buf_clear(&jail);
		buf_clear(&joined);
		assert_int_equal(seccomp_jail_filter(who, &jail, &e), 0);
		assert_int_equal(notify_join(&jail, NOTIFY_FILES |
		    NOTIFY_CALLS, &joined), 0);
		for (unsigned n = 0; n < 3 * 480 * N_OF(values); n++) {
			uint64_t v = values[n / 3 % N_OF(values)];
			struct seccomp_data d = { .nr = (int)(n / 3 /
			    N_OF(values)), .arch = n % 3 < 2 ?
			    entry_of(n % 3)->audit : AUDIT_ARCH_PPC64,
			    .args = { v, v, v, v, v, v } };
			uint32_t own = verdict_of(&jail, &d), want = own;

			if (own == (SECCOMP_RET_ERRNO | EPERM))
				want = SECCOMP_RET_USER_NOTIF;
			else if (own == SECCOMP_RET_ALLOW)
				want = verdict_of(&files, &d);
			assert_int_equal(verdict_of(&joined, &d), want);
			assert_int_equal(notify_run(&jail, &d), own);
		}
	}
	buf_release(&jail);
	buf_release(&files);
	buf_release(&joined);
}

/* Byte by byte: an address is one when the kernel takes it for one. */
static void
test_address(void **state)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
	    .sin_port = htons(443), .sin_addr.s_addr = htonl(0xc6336407) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6,
	    .sin6_port = htons(80), .sin6_addr.s6_addr = { 0x20, 1, 0xd,
	    0xb8, [15] = 7 } };
	sa_family_t other = AF_UNIX;
	struct held_call c;

	(void)state;
	for (size_t n = 0; n <= sizeof in; n++) {
		notify_address(&in, n, &c);
		assert_int_equal(c.family, n < sizeof in ? 0 : AF_INET);
	}
	assert_int_equal(c.port, 443);
	assert_memory_equal(c.addr, "\xc6\x33\x64\x07\0\0\0\0\0\0\0\0\0\0\0\0",
	    16);
	for (size_t n = 0; n <= sizeof in6; n++) {
		notify_address(&in6, n, &c);
		assert_int_equal(c.family, n < 24 ? 0 : AF_INET6);
	}
	assert_int_equal(c.port, 80);
	assert_memory_equal(c.addr, &in6.sin6_addr, 16);
	memset(&in6.sin6_addr, 0, 16);
	in6.sin6_addr.s6_addr[10] = in6.sin6_addr.s6_addr[11] = 0xff;
	in6.sin6_addr.s6_addr[15] = 9;
	notify_address(&in6, sizeof in6, &c);
	assert_int_equal(c.family, AF_INET);
	assert_memory_equal(c.addr, "\0\0\0\x09\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	notify_address(&other, sizeof other, &c);
	assert_int_equal(c.family, 0);
}

static void
test_routed(void **state)
{
	static const struct jail_range ranges[] = {
		{ AF_INET, { 192, 0, 2, 1 }, 32 },
		{ AF_INET, { 10, 8 }, 13 },
		{ AF_INET6, { 0x20, 1, 0xd, 0xb8 }, 32 },
	};
	static const struct {
		struct jail_range	a;
		uint16_t		port;
		bool			is_routed;
	} rows[] = {
		{ { AF_INET, { 127, 0, 0, 1 }, 32 }, 1, true },
		{ { AF_INET, { 127, 255, 0, 1 }, 32 }, 1, true },
		{ { AF_INET, { 0 }, 32 }, 80, true },
		{ { AF_INET, { 0, 0, 0, 1 }, 32 }, 80, false },
		{ { AF_INET, { 198, 18, 0, 1 }, 32 }, 80, true },
		{ { AF_INET, { 198, 19, 255, 255 }, 32 }, 80, true },
		{ { AF_INET, { 198, 20, 0, 0 }, 32 }, 80, false },
		{ { AF_INET, { 192, 0, 2, 1 }, 32 }, 9, true },
		{ { AF_INET, { 192, 0, 2, 2 }, 32 }, 9, false },
		{ { AF_INET, { 192, 0, 2, 2 }, 32 }, 53, true },
		{ { AF_INET, { 10, 15, 1, 1 }, 32 }, 9, true },
		{ { AF_INET, { 10, 16, 1, 1 }, 32 }, 9, false },
		{ { AF_INET6, { [15] = 1 }, 128 }, 9, true },
		{ { AF_INET6, { 0 }, 128 }, 9, true },
		{ { AF_INET6, { 0x20, 1, 0xd, 0xb8, 1 }, 128 }, 9, true },
		{ { AF_INET6, { 0x20, 1, 0xd, 0xb9 }, 128 }, 9, false },
		{ { AF_INET6, { 0xfe, 0x80 }, 128 }, 9, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(held_calls_is_routed(ranges, 3, &rows[i].a,
		    rows[i].port), rows[i].is_routed);
}

/* Of what has a route: the jail's own loopback is its own business. */
static void
test_gate(void **state)
{
	static const uint16_t local[] = { 5432, 6379 };
	static const struct jail_spec spec = { .http_port = 3128,
	    .socks_port = 1080, .local_ports = local, .nlocal_ports = 2 };
	static const struct {
		struct jail_range	a;
		uint16_t		port;
		bool			is_gate;
	} rows[] = {
		{ { AF_INET, { 198, 18, 1, 1 }, 32 }, 443, true },
		{ { AF_INET, { 192, 0, 2, 1 }, 32 }, 9, true },
		{ { AF_INET6, { 0x20, 1, 0xd, 0xb8 }, 128 }, 9, true },
		{ { AF_INET, { 127, 0, 0, 1 }, 32 }, 3128, true },
		{ { AF_INET, { 127, 0, 0, 1 }, 32 }, 1080, true },
		{ { AF_INET, { 127, 0, 0, 53 }, 32 }, 53, true },
		{ { AF_INET, { 127, 0, 0, 1 }, 32 }, 6379, true },
		{ { AF_INET6, { [15] = 1 }, 128 }, 5432, true },
		{ { AF_INET, { 127, 0, 0, 1 }, 32 }, 8080, false },
		{ { AF_INET, { 0 }, 32 }, 8080, false },
		{ { AF_INET6, { [15] = 1 }, 128 }, 8080, false },
		{ { AF_INET6, { 0 }, 128 }, 8080, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(held_calls_is_gate(&spec, &rows[i].a,
		    rows[i].port), rows[i].is_gate);
}

/* Beside a single file that may be written, the shim saves, and tells. */
static void
test_staged(void **state)
{
	static const char names[] = "D\0g 1 2 /home/u/.envrc\0"
	    "f 1 2 /home/u/.agent.json";

	(void)state;
	assert_true(held_files_is_staged(names, sizeof names, "/home/u/x"));
	assert_false(held_files_is_staged(names, sizeof names, "/home/u2/x"));
	assert_false(held_files_is_staged(names, sizeof names, "/home/u/a/x"));
	assert_false(held_files_is_staged(names, sizeof names, "/home/u"));
	assert_false(held_files_is_staged(names, 23, "/home/u/x"));
	assert_false(held_files_is_staged(NULL, 0, "/home/u/x"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filter),
#ifdef __x86_64__
		cmocka_unit_test(test_socketcall),
#endif
		cmocka_unit_test(test_exec_filter),
		cmocka_unit_test(test_file_filter),
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_address), cmocka_unit_test(test_routed),
		cmocka_unit_test(test_gate), cmocka_unit_test(test_staged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
