#include "platform/linux/seccomp.h"

#include <endian.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>

#include "platform/linux/seccomp_code.h"

#if __BYTE_ORDER != __LITTLE_ENDIAN
#error "an argument's low half is taken for its first"
#endif

const struct seccomp_entry
seccomp_entries[SECCOMP_NMACHINES][SECCOMP_NENTRIES] = {
	[SECCOMP_X86_64] = {
		/* From this bit on it is x32. */
		{ SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64, 0x40000000, true },
		{ SCMP_ARCH_X86, AUDIT_ARCH_I386, UINT32_MAX, false },
	},
	[SECCOMP_AARCH64] = {
		{ SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64, UINT32_MAX, false },
		/* From here on arm's private calls (cacheflush, set_tls). */
		{ SCMP_ARCH_ARM, AUDIT_ARCH_ARM, 0x0f0000, false },
	},
};

/*
 * What libseccomp 2.5.0 may not have heard of: from 424 on all systems count
 * alike.  A typo in a table is found because everything else must be known
 * to libseccomp.
 */
enum { FIRST_COMMON = 424 };

static const char *const common[SECCOMP_LAST_CALL - FIRST_COMMON + 1] = {
	"pidfd_send_signal", "io_uring_setup", "io_uring_enter",
	"io_uring_register", "open_tree", "move_mount", "fsopen", "fsconfig",
	"fsmount", "fspick", "pidfd_open", "clone3", "close_range", "openat2",
	"pidfd_getfd", "faccessat2", "process_madvise", "epoll_pwait2",
	"mount_setattr", "quotactl_fd", "landlock_create_ruleset",
	"landlock_add_rule", "landlock_restrict_self", "memfd_secret",
	"process_mrelease", "futex_waitv", "set_mempolicy_home_node",
	"cachestat", "fchmodat2", "map_shadow_stack", "futex_wake",
	"futex_wait", "futex_requeue", "statmount", "listmount",
	"lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "mseal",
	"setxattrat", "getxattrat", "listxattrat", "removexattrat",
};

/* Numbers that libseccomp has otherwise, or not at all. */
static const struct {
	uint32_t	 token;
	const char	*name;
	int		 number;
} odd[] = {
	/* Its own for i386 mean socketcall, too. */
	{ SCMP_ARCH_X86, "socket", 359 },
	{ SCMP_ARCH_X86, "socketpair", 360 },
	/* The kernel's own, from the host's probes in a program. */
	{ SCMP_ARCH_X86_64, "uretprobe", 335 },
	{ SCMP_ARCH_X86_64, "uprobe", 336 },
};

enum { NODD = sizeof odd / sizeof odd[0] };

int
seccomp_number(const struct seccomp_entry *x, const char *name)
{
	bool is_odd = false;
	int nr;

	for (int i = FIRST_COMMON; i <= SECCOMP_LAST_CALL; i++)
		if (strcmp(common[i - FIRST_COMMON], name) == 0)
			return i;
	for (size_t i = 0; i < NODD; i++)
		if (strcmp(odd[i].name, name) == 0) {
			is_odd = true;
			if (odd[i].token == x->token)
				return odd[i].number;
		}
	nr = seccomp_syscall_resolve_name_arch(x->token, name);
	if (nr == __NR_SCMP_ERROR && !is_odd)
		return -2;
	return nr < 0 ? -1 : nr;
}

bool
seccomp_is_known(const struct seccomp_entry *x, uint32_t number)
{
	char *name;

	if (number >= FIRST_COMMON)
		return number <= SECCOMP_LAST_CALL;
	for (size_t i = 0; i < NODD; i++)
		if (odd[i].token == x->token &&
		    (uint32_t)odd[i].number == number)
			return true;
	name = seccomp_syscall_resolve_num_arch(x->token, number);
	free(name);
	return name != NULL;
}

/* From a number up to the next span's, all calls go on at one place. */
struct span {
	uint32_t	first;
	size_t		place;
};

struct maker {
	struct code			 code;
	enum seccomp_who		 who;
	const struct seccomp_entry	*entry;
	struct span			 span[SECCOMP_LAST_CALL + 8];
	size_t				 nspans;
	/* Of rows and of the strict list, for this entry. */
	int				*row_number;
	bool				 is_listed[SECCOMP_LAST_CALL + 1];
};

static bool
is_strict(const struct maker *m)
{
	return (SECCOMP_IN(m->who) & SECCOMP_IN_STRICT) != 0;
}

static uint32_t
verdict(int error)
{
	return error == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO |
	    (uint32_t)error;
}

/* The tests of one row: when one fails, on to no. */
static size_t
row_place(struct maker *m, const struct seccomp_row *row, int unnamed,
    size_t no)
{
	size_t place = code_return(&m->code,
	    verdict(row->error == 0 ? unnamed : row->error));

	for (unsigned i = SECCOMP_ROW_TESTS; i-- > 0;) {
		const struct seccomp_test *t = &row->test[i];

		if (t->mask == 0)
			continue;
		place = code_if(&m->code, BPF_JEQ, t->value, place, no);
		if (t->mask != UINT32_MAX)
			place = code_and(&m->code, t->mask, place);
		place = code_load(&m->code, offsetof(struct seccomp_data,
		    args) + t->arg * sizeof(uint64_t), place);
	}
	return place;
}

/* Where a call of this number goes on: its rows, the last one first. */
static size_t
call_place(struct maker *m, uint32_t number)
{
	int unnamed = 0;
	size_t place;

	if (!seccomp_is_known(m->entry, number) ||
	    (is_strict(m) && !m->is_listed[number]))
		unnamed = ENOSYS;
	place = code_return(&m->code, verdict(unnamed));
	for (size_t i = seccomp_nrows; i-- > 0;)
		if (m->row_number[i] == (int)number &&
		    (seccomp_rows[i].in & SECCOMP_IN(m->who)) != 0)
			place = row_place(m, &seccomp_rows[i], unnamed,
			    place);
	return place;
}

/*
 * Returns are written anew when the old ones are out of reach, so two places
 * with the same verdict are the same.
 */
static bool
is_same(const struct maker *m, size_t a, size_t b)
{
	const struct sock_filter *x = &m->code.ins[a], *y = &m->code.ins[b];

	return a == b || (x->code == (BPF_RET | BPF_K) && x->code == y->code &&
	    x->k == y->k);
}

static void
add_span(struct maker *m, uint32_t first, size_t place)
{
	if (m->nspans > 0 &&
	    is_same(m, m->span[m->nspans - 1].place, place))
		return;
	m->span[m->nspans++] = (struct span){ first, place };
}

/* A binary search with the number in the accumulator. */
static size_t
search(struct maker *m, size_t from, size_t n)
{
	const struct span *s = &m->span[from];
	size_t low, high;

	if (n == 1)
		return s[0].place;
	/* One number amid others: one question instead of two. */
	if (n == 3 && s[2].first == s[1].first + 1 &&
	    is_same(m, s[0].place, s[2].place))
		return code_if(&m->code, BPF_JEQ, s[1].first, s[1].place,
		    s[0].place);
	low = search(m, from, n / 2);
	high = search(m, from + n / 2, n - n / 2);
	return code_if(&m->code, BPF_JGE, s[n / 2].first, high, low);
}

/* One kind of entry, from the load of the number on. */
static size_t
entry_place(struct maker *m)
{
	const struct seccomp_entry *x = m->entry;
	size_t other;

	m->nspans = 0;
	for (uint32_t i = 0; i <= SECCOMP_LAST_CALL; i++)
		add_span(m, i, call_place(m, i));
	add_span(m, SECCOMP_LAST_CALL + 1,
	    code_return(&m->code, verdict(ENOSYS)));
	other = code_return(&m->code, x->is_end_killed ?
	    SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW);
	add_span(m, x->end, other);
	/* A tracer's way to skip a call; the kernel has no such number. */
	add_span(m, UINT32_MAX, code_return(&m->code, SECCOMP_RET_ALLOW));
	return code_load(&m->code, offsetof(struct seccomp_data, nr),
	    search(m, 0, m->nspans));
}

static int
resolve(struct maker *m, struct err *e)
{
	for (size_t i = 0; i < seccomp_nrows; i++) {
		m->row_number[i] = seccomp_number(m->entry,
		    seccomp_rows[i].name);
		if (m->row_number[i] == -2)
			return err_set(e, ERR_JAIL, "no system call is named "
			    "'%s'", seccomp_rows[i].name);
	}
	memset(m->is_listed, 0, sizeof m->is_listed);
	for (size_t i = 0; i < seccomp_nstrict; i++) {
		int nr = seccomp_number(m->entry, seccomp_strict[i].name);

		if (nr == -2)
			return err_set(e, ERR_JAIL, "no system call is named "
			    "'%s'", seccomp_strict[i].name);
		if (nr >= 0 && nr <= SECCOMP_LAST_CALL)
			m->is_listed[nr] = true;
	}
	return 0;
}

static int
make(struct maker *m, enum seccomp_machine machine, struct buf *out,
    struct err *e)
{
	size_t place = code_return(&m->code, SECCOMP_RET_KILL_PROCESS);

	/* The last question first: the native entry's is asked first. */
	for (unsigned i = SECCOMP_NENTRIES; i-- > 0;) {
		size_t yes;

		m->entry = &seccomp_entries[machine][i];
		if (resolve(m, e) != 0)
			return -1;
		yes = i > 0 && is_strict(m) ?
		    code_return(&m->code, verdict(ENOSYS)) : entry_place(m);
		place = code_if(&m->code, BPF_JEQ, m->entry->audit, yes,
		    place);
	}
	place = code_load(&m->code, offsetof(struct seccomp_data, arch),
	    place);
	if (code_export(&m->code, place, out) != 0)
		return err_set(e, ERR_JAIL, "the seccomp filter grew too long");
	return out->failed ? err_set(e, ERR_JAIL, "out of memory") : 0;
}

int
seccomp_make_filter(enum seccomp_machine machine, enum seccomp_who who,
    struct buf *out, struct err *e)
{
	struct maker *m = calloc(1, sizeof *m);
	int rc = -1;

	if (m != NULL)
		m->row_number = calloc(seccomp_nrows, sizeof(int));
	if (m == NULL || m->row_number == NULL) {
		err_set(e, ERR_JAIL, "out of memory");
	} else {
		m->who = who;
		rc = make(m, machine, out, e);
	}
	if (m != NULL)
		free(m->row_number);
	free(m);
	return rc;
}
