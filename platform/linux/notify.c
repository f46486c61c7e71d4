#include "platform/linux/notify.h"

#include <errno.h>
#include <fcntl.h>
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

#include "platform/base/ip.h"
#include "platform/fd.h"
#include "platform/jail.h"
#include "platform/linux/filecalls.h"
#include "platform/linux/seccomp.h"
#include "platform/linux/seccomp_code.h"

#ifndef SECCOMP_USER_NOTIF_FLAG_CONTINUE
#define SECCOMP_USER_NOTIF_FLAG_CONTINUE	(1UL << 0)
#endif

enum { MAX_ARGS = 6 };

/* The calls that name an address, and how. */
enum call { CALL_CONNECT, CALL_SENDTO, CALL_SENDMSG, CALL_SENDMMSG, CALLS };

static const struct shape {
	unsigned	socketcall;	/* its number there */
	unsigned	addr;		/* the argument, its length behind it */
	bool		is_header;	/* ... or a header with both in front */
	unsigned	mark, mark_half;/* the argument, and which half of it */
} shapes[CALLS] = {
	[CALL_CONNECT] = { 3, 1, false, 3, 0 },
	[CALL_SENDTO] = { 11, 4, false, 5, 1 },
	[CALL_SENDMSG] = { 16, 1, true, 3, 0 },
	/* The first of them: it fails when that does. */
	[CALL_SENDMMSG] = { 20, 1, true, 4, 0 },
};

/*
 * One way into the kernel, the native one first.  socketcall() has its
 * arguments in memory, 32 bits each; 0: there is none.
 */
struct entry {
	uint32_t	audit;
	uint32_t	nr[CALLS];
	uint32_t	socketcall;
	uint32_t	execve, execveat, seccomp;
};

static const struct entry entries[] = {
#if defined __x86_64__
	{ AUDIT_ARCH_X86_64, { 42, 44, 46, 307 }, 0,
	    59, 322, 317 },
	{ AUDIT_ARCH_I386, { 362, 369, 370, 345 }, 102,
	    11, 358, 354 },
#elif defined __aarch64__
	{ AUDIT_ARCH_AARCH64, { 203, 206, 211, 269 }, 0,
	    221, 281, 277 },
	{ AUDIT_ARCH_ARM, { 283, 290, 296, 374 }, 0,
	    11, 387, 383 },
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

/* Held, unless it names no address or bears the mark. */
static size_t
call_place(struct code *c, const struct entry *x, enum call call, size_t pass,
    size_t hold)
{
	const struct shape *s = &shapes[call];
	size_t place = hold;

	if (x == &entries[0])
		place = code_load(c, arg_at(s->mark, s->mark_half),
		    code_if(c, BPF_JEQ, HELD_CALL_MARK, pass, hold));
	if (call == CALL_SENDTO) {
		size_t low = code_load(c, arg_at(s->addr, 0),
		    code_if(c, BPF_JEQ, 0, pass, place));

		place = code_load(c, arg_at(s->addr, 1),
		    code_if(c, BPF_JEQ, 0, low, place));
	}
	return place;
}

/* A second listener: the kernel refuses it, and the record should say why. */
static size_t
listener_place(struct code *c, size_t pass, size_t hold)
{
	size_t place = code_and(c, SECCOMP_FILTER_FLAG_NEW_LISTENER,
	    code_if(c, BPF_JEQ, 0, pass, hold));

	return code_load(c, arg_at(0, 0), code_if(c, BPF_JEQ,
	    SECCOMP_SET_MODE_FILTER, code_load(c, arg_at(1, 0), place), pass));
}

/* Execution, from the load of the call's number on. */
static size_t
exec_place(struct code *c, const struct entry *x, size_t place, size_t hold)
{
	return code_if(c, BPF_JEQ, x->execve, hold,
	    code_if(c, BPF_JEQ, x->execveat, hold, place));
}

/* The first n calls with an address, from the load of the call's number on. */
static size_t
calls_place(struct code *c, const struct entry *x, int n, size_t place,
    size_t pass, size_t hold)
{
	size_t which = pass;

	if (x->socketcall != 0) {
		for (int i = 0; i < n; i++)
			which = code_if(c, BPF_JEQ, shapes[i].socketcall, hold,
			    which);
		place = code_if(c, BPF_JEQ, x->socketcall,
		    code_load(c, arg_at(0, 0), which), place);
	}
	for (int i = 0; i < n; i++)
		place = code_if(c, BPF_JEQ, x->nr[i],
		    call_place(c, x, i, pass, hold), place);
	return place;
}

/* Where addresses are not held, connect() is: its name may be a file's. */
static size_t
files_place(struct code *c, const struct entry *x, unsigned what,
    size_t place, size_t pass, size_t hold)
{
	if ((what & NOTIFY_CALLS) == 0)
		place = calls_place(c, x, CALL_CONNECT + 1, place, pass, hold);
	return filecalls_place(c, x == &entries[0] ? 0 : 1, place, pass,
	    hold);
}

static size_t
entry_place(struct code *c, const struct entry *x, unsigned what, size_t pass,
    size_t hold)
{
	size_t place = code_if(c, BPF_JEQ, x->seccomp,
	    listener_place(c, pass, hold), pass);

	if ((what & NOTIFY_EXEC) != 0)
		place = exec_place(c, x, place, hold);
	if ((what & NOTIFY_CALLS) != 0)
		place = calls_place(c, x, CALLS, place, pass, hold);
	if ((what & NOTIFY_FILES) != 0)
		place = files_place(c, x, what, place, pass, hold);
	return code_load(c, offsetof(struct seccomp_data, nr), place);
}

void
notify_filter(unsigned what, struct buf *out)
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
		    entry_place(c, &entries[i], what, pass, hold), place);
	place = code_load(c, offsetof(struct seccomp_data, arch), place);
	if (code_export(c, place, out) != 0)
		out->failed = true;
	free(c);
}

int
notify_join(const struct buf *jail_filter, unsigned what, struct buf *out)
{
	const struct sock_filter *f = (const void *)jail_filter->data;
	size_t n = jail_filter->len / sizeof *f, start = out->len;

	for (size_t i = 0; i < n; i++) {
		struct sock_filter ins = f[i];

		if (ins.code == (BPF_RET | BPF_K) &&
		    ins.k == (SECCOMP_RET_ERRNO | EPERM))
			ins.k = SECCOMP_RET_USER_NOTIF;
		else if (ins.code == (BPF_RET | BPF_K) &&
		    ins.k == SECCOMP_RET_ALLOW)
			ins = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA,
			    (uint32_t)(n - i - 1));
		buf_add(out, &ins, sizeof ins);
	}
	notify_filter(what, out);
	return !out->failed &&
	    (out->len - start) / sizeof *f <= BPF_MAXINSNS ? 0 : -1;
}

/* ---- the jail's own filter ---- */

struct calls_wall {
	struct buf	filter;
};

static uint32_t
load(const struct seccomp_data *d, uint32_t at)
{
	uint32_t v = 0;

	if (at <= sizeof *d - sizeof v)
		memcpy(&v, (const char *)d + at, sizeof v);
	return v;
}

/* What is not understood is refused. */
uint32_t
notify_run(const struct buf *filter, const struct seccomp_data *d)
{
	const struct sock_filter *f = (const void *)filter->data;
	size_t n = filter->len / sizeof *f;
	uint32_t a = 0;

	for (size_t pc = 0; pc < n; pc++) {
		uint32_t k = f[pc].k;

		switch (f[pc].code) {
		case BPF_LD | BPF_W | BPF_ABS:
			a = load(d, k);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= k;
			break;
		case BPF_JMP | BPF_JA:
			pc += k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == k ? f[pc].jt : f[pc].jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= k ? f[pc].jt : f[pc].jf;
			break;
		case BPF_RET | BPF_K:
			return k;
		default:
			return SECCOMP_RET_ERRNO | EPERM;
		}
	}
	return SECCOMP_RET_ERRNO | EPERM;
}

struct calls_wall *
calls_wall_new(const struct jail_spec *spec)
{
	struct calls_wall *w = calloc(1, sizeof *w);
	struct err e;

	if (w == NULL)
		return NULL;
	buf_init(&w->filter, 0);
	if (seccomp_jail_filter(seccomp_choose(spec->uid == 0,
	    spec->is_strict, spec->may_nest), &w->filter, &e) == 0)
		return w;
	calls_wall_free(w);
	return NULL;
}

void
calls_wall_free(struct calls_wall *w)
{
	if (w == NULL)
		return;
	buf_release(&w->filter);
	free(w);
}

/* ---- the listener ---- */

void
notify_address(const void *data, size_t len, struct held_call *ret)
{
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
		ret->port = ntohs(in6.sin6_port);
		memcpy(ret->addr, &in6.sin6_addr, 16);
		ret->family = ip_unmap(ret->addr) ? AF_INET : AF_INET6;
	}
}

int
notify_read(pid_t tid, uint64_t at, void *ret, size_t len)
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

/* Which call it is, or CALLS; socketcall()'s arguments become its own. */
static enum call
find_call(const struct entry *x, pid_t tid, uint32_t nr,
    uint64_t args[MAX_ARGS])
{
	bool is_socketcall = x->socketcall != 0 && nr == x->socketcall;
	uint32_t packed[MAX_ARGS] = { 0 };
	size_t nargs;

	for (int i = 0; i < CALLS; i++) {
		if (is_socketcall ? (uint32_t)args[0] != shapes[i].socketcall :
		    nr != x->nr[i])
			continue;
		nargs = shapes[i].addr + (shapes[i].is_header ? 1 : 2);
		if (is_socketcall && notify_read(tid, (uint32_t)args[1],
		    packed, nargs * sizeof *packed) != 0)
			return CALLS;
		for (size_t k = 0; is_socketcall && k < nargs; k++)
			args[k] = packed[k];
		return i;
	}
	return CALLS;
}

/* A struct msghdr begins with the two; the kernel cuts its length. */
static int
read_header(const struct entry *x, pid_t tid, uint64_t at,
    uint64_t *ret_addr, size_t *ret_len)
{
	struct { uint64_t name; uint32_t len; } h;
	struct { uint32_t name, len; } h32;

	if (x != &entries[0]) {
		if (notify_read(tid, (uint32_t)at, &h32, sizeof h32) != 0)
			return -1;
		h.name = h32.name;
		h.len = h32.len;
	} else if (notify_read(tid, at, &h, offsetof(__typeof__(h), len) +
	    sizeof h.len) != 0)
		return -1;
	if (h.len > INT32_MAX)				/* EINVAL */
		return -1;
	*ret_addr = h.name;
	*ret_len = h.len < sizeof(struct sockaddr_storage) ? h.len :
	    sizeof(struct sockaddr_storage);
	return 0;
}

/* Where the address lies in the process's memory; 0: nowhere. */
static uint64_t
address_of(pid_t tid, const struct seccomp_data *d, size_t *ret_len,
    bool *ret_is_datagram, int *ret_fd)
{
	const struct entry *x = find_entry(d->arch);
	const struct shape *s;
	uint64_t args[MAX_ARGS], at;
	enum call call;

	memcpy(args, d->args, sizeof args);
	if (x == NULL ||
	    (call = find_call(x, tid, (uint32_t)d->nr, args)) == CALLS)
		return 0;
	s = &shapes[call];
	*ret_fd = (int)args[0];
	*ret_is_datagram = call != CALL_CONNECT;
	if (s->is_header)
		return read_header(x, tid, args[s->addr], &at, ret_len) == 0 ?
		    at : 0;
	*ret_len = (uint32_t)args[s->addr + 1];
	return args[s->addr];
}

/* A unix socket's name is a file's. */
static void
read_unix(const struct seccomp_notif *n, uint64_t at, size_t len,
    struct held_call *ret)
{
	const struct entry *x = find_entry(n->data.arch);

	ret->has_file = true;
	ret->file = (struct held_file_at){ .file = FILE_CONNECT,
	    .nr = x == &entries[0] ? (unsigned)n->data.nr :
	    entries[0].nr[CALL_CONNECT],
	    .name[0] = { .path = at, .dir_fd = AT_FDCWD }, .flags = len,
	    .is_narrow = x != &entries[0] };
}

static void
read_address(const struct seccomp_notif *n, struct held_call *ret)
{
	unsigned char bytes[sizeof(struct sockaddr_in6)];
	static const sa_family_t family = AF_INET, unspec = AF_UNSPEC,
	    local = AF_UNIX;
	size_t len = 0, full;
	bool is_datagram = false;
	uint64_t at = address_of((pid_t)n->pid, &n->data, &len, &is_datagram,
	    &ret->sock_fd);

	ret->family = 0;
	if (len > sizeof(struct sockaddr_storage))	/* EINVAL */
		return;
	full = len;
	if (len > sizeof bytes)
		len = sizeof bytes;
	if (at == 0 || len < sizeof family ||
	    notify_read((pid_t)n->pid, at, bytes, len) != 0)
		return;
	if (memcmp(bytes, &local, sizeof local) == 0)
		read_unix(n, at, full, ret);
	/* Of connect() it ends a connection; a datagram of no family is
	 * sent to the IPv4 address behind it. */
	if (is_datagram && memcmp(bytes, &unspec, sizeof unspec) == 0)
		memcpy(bytes, &family, sizeof family);
	notify_address(bytes, len, ret);
}

/* Marks are looked for at the native entry alone. */
static void
read_claim(const struct seccomp_data *d, struct held_call *ret)
{
	const struct shape *s = &shapes[CALL_CONNECT];

	ret->was_made = d->arch == entries[0].audit &&
	    (uint32_t)d->nr == entries[0].nr[CALL_CONNECT] &&
	    (uint32_t)d->args[s->mark] == HELD_CALL_MADE;
	ret->from = ret->was_made ? (uint16_t)d->args[s->mark + 1] : 0;
}

static void
read_exec(const struct seccomp_data *d, struct held_call *ret)
{
	const struct entry *x = find_entry(d->arch);
	unsigned at = (uint32_t)d->nr == x->execveat ? 1 : 0;
	bool is_narrow = x != &entries[0];

	ret->exec = (struct held_exec_at){ .path = d->args[at],
	    .argv = d->args[at + 1], .envp = d->args[at + 2],
	    .is_narrow = is_narrow, .dir_fd = AT_FDCWD };
	if (at == 1) {
		ret->exec.dir_fd = (int)d->args[0];
		ret->exec.is_by_fd = (d->args[4] & AT_EMPTY_PATH) != 0;
	}
	if (is_narrow) {
		ret->exec.path = (uint32_t)ret->exec.path;
		ret->exec.argv = (uint32_t)ret->exec.argv;
		ret->exec.envp = (uint32_t)ret->exec.envp;
	}
}

/*
 * We answer, not the kernel: of two listeners it would ask the younger one, and
 * that could let go what the jail's filter refuses.  Programs that ask what the
 * kernel can do bring no filter.
 */
static int
listener_refusal(const struct seccomp_data *d)
{
	return d->args[2] == 0 ? EFAULT : EBUSY;
}

/* Addresses come last: socketcall() says in memory what it is. */
static void
read_kind(const struct seccomp_data *d, const struct calls_wall *wall,
    struct held_call *ret)
{
	const struct entry *x = find_entry(d->arch);
	uint32_t nr = (uint32_t)d->nr, verdict = SECCOMP_RET_ALLOW;

	if (wall != NULL)
		verdict = notify_run(&wall->filter, d);
	ret->kind = HELD_ADDRESS;
	if (verdict != SECCOMP_RET_ALLOW) {
		ret->kind = HELD_REFUSED;
		ret->sys = (verdict & SECCOMP_RET_DATA) != 0 ?
		    (int)(verdict & SECCOMP_RET_DATA) : EPERM;
		ret->nr = x == &entries[0] ? nr : 0;
		ret->first = (uint32_t)d->args[nr == SYS_ioctl ? 1 : 0];
	} else if (x != NULL && nr == x->seccomp) {
		ret->kind = HELD_LISTENER;
		ret->sys = listener_refusal(d);
	} else if (x != NULL && (nr == x->execve || nr == x->execveat)) {
		ret->kind = HELD_EXEC;
	} else if (x != NULL && filecalls_read(d, x == &entries[0] ? 0 : 1,
	    &ret->file)) {
		ret->kind = HELD_FILE;
		ret->has_file = true;
	}
}

int
held_call_next(int fd, const struct calls_wall *wall, struct held_call *ret)
{
	union {
		struct seccomp_notif	n;
		/* A later kernel's may be longer; it wants zeros. */
		unsigned char		room[512];
	} u;
	struct held_call c;

	memset(&u, 0, sizeof u);
	if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &u) != 0)
		return errno == ENOENT || errno == EINTR ||
		    errno == EAGAIN ? 0 : -1;
	/* Whole, before memory is read that may keep us waiting (looker.c). */
	c = (struct held_call){ .id = u.n.id, .tid = (pid_t)u.n.pid };
	read_kind(&u.n.data, wall, &c);
	*ret = c;
	if (ret->kind == HELD_EXEC)
		read_exec(&u.n.data, ret);
	if (ret->kind != HELD_ADDRESS)
		return 1;
	read_address(&u.n, ret);
	read_claim(&u.n.data, ret);
	/* It may be another's memory, if it died meanwhile. */
	if ((ret->family != 0 || ret->has_file) &&
	    ioctl(fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &u.n.id) != 0)
		return 0;
	return 1;
}

int
held_call_sock_type(const struct held_call *c)
{
	auto_fd process = (int)syscall(SYS_pidfd_open, c->tid, 0), fd = -1;
	socklen_t len = sizeof(int);
	int type = 0;

	/* Of a thread Linux before 6.9 has no such descriptor. */
	if (process >= 0)
		fd = (int)syscall(SYS_pidfd_getfd, process, c->sock_fd, 0);
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) != 0)
		return 0;
	return type;
}

void
notify_answer(int fd, uint64_t id, int sys)
{
	union {
		struct seccomp_notif_resp	r;
		unsigned char			room[512];
	} u;

	memset(&u, 0, sizeof u);
	u.r.id = id;
	u.r.flags = sys == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
	u.r.error = -sys;
	(void)ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &u);
}

void
held_call_go(int fd, const struct held_call *c)
{
	notify_answer(fd, c->id, c->kind == HELD_REFUSED ||
	    c->kind == HELD_LISTENER ? c->sys : 0);
}

void
held_call_refuse(int fd, const struct held_call *c, int sys)
{
	notify_answer(fd, c->id, sys);
}
