#include "platform/linux/notify.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "platform/linux/seccomp_code.h"

#ifndef SECCOMP_USER_NOTIF_FLAG_CONTINUE
#define SECCOMP_USER_NOTIF_FLAG_CONTINUE	(1UL << 0)
#endif

/* Of socketcall(), whose arguments lie in memory, 32 bits each. */
enum { CALL_CONNECT = 3, CALL_SENDTO = 11 };

/* Where both keep their address: the second argument, or the fifth. */
enum { CONNECT_ADDR = 1, SENDTO_ADDR = 4, SENDTO_ARGS = 6 };

/* ... and the mark; of the latter in its upper half. */
enum { CONNECT_MARK = 3, SENDTO_MARK = 5 };

/* One way into the kernel; socketcall 0: it has none. */
struct entry {
	uint32_t	audit;
	uint32_t	connect, sendto, socketcall;
};

static const struct entry entries[] = {
#if defined __x86_64__
	{ AUDIT_ARCH_X86_64, 42, 44, 0 },
	{ AUDIT_ARCH_I386, 362, 369, 102 },
#elif defined __aarch64__
	{ AUDIT_ARCH_AARCH64, 203, 206, 0 },
	{ AUDIT_ARCH_ARM, 283, 290, 0 },
#else
#error "notify.c knows the system calls of x86-64 and aarch64"
#endif
};

enum { NENTRIES = sizeof entries / sizeof entries[0] };

/* ---- the filter ---- */

static size_t
arg_at(unsigned arg, unsigned half)
{
	return offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t) +
	    half * sizeof(uint32_t);
}

/* From the load of the call's number on. */
static size_t
entry_place(struct code *c, const struct entry *x, size_t pass, size_t hold)
{
	size_t place = pass, has_addr, connect = hold, sendto = hold;

	if (x == &entries[0]) {		/* the native one */
		size_t is_marked = code_if(c, BPF_JEQ, NOTIFY_MARK, pass,
		    hold);

		connect = code_load(c, arg_at(CONNECT_MARK, 0), is_marked);
		sendto = code_load(c, arg_at(SENDTO_MARK, 1), is_marked);
	}
	has_addr = code_if(c, BPF_JEQ, 0, pass, sendto);
	has_addr = code_load(c, arg_at(SENDTO_ADDR, 1), has_addr);
	has_addr = code_if(c, BPF_JEQ, 0, has_addr, sendto);
	has_addr = code_load(c, arg_at(SENDTO_ADDR, 0), has_addr);
	if (x->socketcall != 0) {
		size_t which = code_if(c, BPF_JEQ, CALL_SENDTO, hold, pass);

		which = code_if(c, BPF_JEQ, CALL_CONNECT, hold, which);
		place = code_if(c, BPF_JEQ, x->socketcall,
		    code_load(c, arg_at(0, 0), which), place);
	}
	place = code_if(c, BPF_JEQ, x->sendto, has_addr, place);
	place = code_if(c, BPF_JEQ, x->connect, connect, place);
	return code_load(c, offsetof(struct seccomp_data, nr), place);
}

void
notify_filter(struct buf *out)
{
	struct code *c = calloc(1, sizeof *c);
	size_t pass, hold, place;

	if (c == NULL) {
		out->failed = true;
		return;
	}
	place = pass = code_return(c, SECCOMP_RET_ALLOW);
	hold = code_return(c, SECCOMP_RET_USER_NOTIF);
	for (size_t i = NENTRIES; i-- > 0;)
		place = code_if(c, BPF_JEQ, entries[i].audit,
		    entry_place(c, &entries[i], pass, hold), place);
	place = code_load(c, offsetof(struct seccomp_data, arch), place);
	if (code_export(c, place, out) != 0)
		out->failed = true;
	free(c);
}

/* ---- the listener ---- */

void
notify_address(const void *data, size_t len, struct notify_call *ret)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	sa_family_t family;

	ret->family = 0;
	if (len < sizeof family)
		return;
	memcpy(&family, data, sizeof family);
	memset(ret->addr, 0, sizeof ret->addr);
	if (family == AF_INET && len >= sizeof in) {
		memcpy(&in, data, sizeof in);
		ret->family = AF_INET;
		ret->port = ntohs(in.sin_port);
		memcpy(ret->addr, &in.sin_addr, 4);
	} else if (family == AF_INET6 && len >= offsetof(struct sockaddr_in6,
	    sin6_scope_id)) {
		memset(&in6, 0, sizeof in6);
		memcpy(&in6, data, len < sizeof in6 ? len : sizeof in6);
		ret->family = AF_INET6;
		ret->port = ntohs(in6.sin6_port);
		memcpy(ret->addr, &in6.sin6_addr, 16);
		if (memcmp(ret->addr, mapped, sizeof mapped) == 0) {
			ret->family = AF_INET;
			memcpy(ret->addr, ret->addr + 12, 4);
			memset(ret->addr + 4, 0, 12);
		}
	}
}

static int
read_memory(pid_t tid, uint64_t at, void *ret, size_t len)
{
	struct iovec to = { ret, len };
	struct iovec from = { (void *)(uintptr_t)at, len };

	return process_vm_readv(tid, &to, 1, &from, 1, 0) == (ssize_t)len ?
	    0 : -1;
}

static const struct entry *
find_entry(uint32_t audit)
{
	for (size_t i = 0; i < NENTRIES; i++)
		if (entries[i].audit == audit)
			return &entries[i];
	return NULL;
}

/* Where the address lies in the process's memory; 0: nowhere. */
static uint64_t
address_of(pid_t tid, const struct seccomp_data *d, size_t *ret_len,
    bool *ret_is_sendto)
{
	const struct entry *x = find_entry(d->arch);
	uint64_t args[SENDTO_ARGS];
	uint32_t packed[SENDTO_ARGS];
	unsigned at = CONNECT_ADDR, nargs = CONNECT_ADDR + 2;
	uint32_t nr = (uint32_t)d->nr;

	memcpy(args, d->args, sizeof args);
	if (x == NULL)
		return 0;
	if (nr == x->sendto || (nr == x->socketcall && x->socketcall != 0 &&
	    (uint32_t)args[0] == CALL_SENDTO)) {
		at = SENDTO_ADDR;
		nargs = SENDTO_ARGS;
	}
	if (nr == x->socketcall && x->socketcall != 0) {
		if (read_memory(tid, (uint32_t)args[1], packed,
		    nargs * sizeof *packed) != 0)
			return 0;
		for (unsigned i = 0; i < nargs; i++)
			args[i] = packed[i];
	}
	*ret_len = (uint32_t)args[at + 1];
	*ret_is_sendto = at == SENDTO_ADDR;
	return args[at];
}

static void
read_address(const struct seccomp_notif *n, struct notify_call *ret)
{
	unsigned char bytes[sizeof(struct sockaddr_in6)];
	static const sa_family_t family = AF_INET, unspec = AF_UNSPEC;
	size_t len = 0;
	bool is_sendto = false;
	uint64_t at = address_of((pid_t)n->pid, &n->data, &len, &is_sendto);

	ret->family = 0;
	if (len > sizeof(struct sockaddr_storage))	/* EINVAL */
		return;
	if (len > sizeof bytes)
		len = sizeof bytes;
	if (at == 0 || len < sizeof family ||
	    read_memory((pid_t)n->pid, at, bytes, len) != 0)
		return;
	/* Of connect() it ends a connection; a datagram of no family is
	 * sent to the IPv4 address behind it. */
	if (is_sendto && memcmp(bytes, &unspec, sizeof unspec) == 0)
		memcpy(bytes, &family, sizeof family);
	notify_address(bytes, len, ret);
}

int
notify_next(int fd, struct notify_call *ret)
{
	union {
		struct seccomp_notif	n;
		/* A later kernel's may be longer; it wants zeros. */
		unsigned char		room[512];
	} u;

	memset(&u, 0, sizeof u);
	if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &u) != 0)
		return errno == ENOENT || errno == EINTR ||
		    errno == EAGAIN ? 0 : -1;
	*ret = (struct notify_call){ .id = u.n.id, .tid = (pid_t)u.n.pid };
	read_address(&u.n, ret);
	/* It may be another's memory, if it died meanwhile. */
	if (ret->family != 0 &&
	    ioctl(fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &u.n.id) != 0)
		return 0;
	return 1;
}

void
notify_go(int fd, const struct notify_call *c)
{
	union {
		struct seccomp_notif_resp	r;
		unsigned char			room[512];
	} u;

	memset(&u, 0, sizeof u);
	u.r.id = c->id;
	u.r.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	(void)ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &u);
}
