#include <sys/socket.h>

#include <netinet/in.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/probes/probe.h"

#define LEN(a)	(sizeof(a) / sizeof((a)[0]))

struct name {
	const char	*text;
	long		 value;
};

#define N(x) { #x, x }

static const struct name errnos[] = {
	N(EPERM), N(ENOENT), N(ESRCH), N(EINTR), N(EIO), N(ENXIO), N(E2BIG),
	N(ENOEXEC), N(EBADF), N(ECHILD), N(EAGAIN), N(ENOMEM), N(EACCES),
	N(EFAULT), N(ENOTBLK), N(EBUSY), N(EEXIST), N(EXDEV), N(ENODEV),
	N(ENOTDIR), N(EISDIR), N(EINVAL), N(ENFILE), N(EMFILE), N(ENOTTY),
	N(ETXTBSY), N(EFBIG), N(ENOSPC), N(ESPIPE), N(EROFS), N(EMLINK),
	N(EPIPE), N(EDOM), N(ERANGE), N(EDEADLK), N(ENAMETOOLONG),
	N(ENOSYS), N(ENOTEMPTY), N(ELOOP), N(ENODATA), N(EPROTO),
	N(EOVERFLOW), N(EUSERS), N(ENOTSOCK), N(EDESTADDRREQ), N(EMSGSIZE),
	N(EPROTOTYPE), N(ENOPROTOOPT), N(EPROTONOSUPPORT),
	N(ESOCKTNOSUPPORT), N(EOPNOTSUPP), N(EAFNOSUPPORT), N(EADDRINUSE),
	N(EADDRNOTAVAIL), N(ENETDOWN), N(ENETUNREACH), N(ECONNABORTED),
	N(ECONNRESET), N(ENOBUFS), N(EISCONN), N(ENOTCONN), N(ETIMEDOUT),
	N(ECONNREFUSED), N(EHOSTDOWN), N(EHOSTUNREACH), N(EALREADY),
	N(EINPROGRESS), N(ESTALE), N(EDQUOT), N(ECANCELED), N(EKEYREJECTED),
};

static const struct name numbers[] = {
	N(O_RDONLY), N(O_WRONLY), N(O_RDWR), N(O_TRUNC), N(O_APPEND),
	N(O_EXCL), N(O_DIRECTORY), N(O_NOFOLLOW), N(O_PATH), N(O_TMPFILE),
	{ "O_CREAT", O_CREAT | O_WRONLY },
	N(AF_UNIX), N(AF_INET), N(AF_INET6), N(AF_NETLINK), N(AF_PACKET),
	N(AF_VSOCK), N(AF_ALG), N(AF_BLUETOOTH),
	N(SOCK_STREAM), N(SOCK_DGRAM), N(SOCK_RAW), N(SOCK_SEQPACKET),
	N(IPPROTO_ICMP), N(IPPROTO_TCP), N(IPPROTO_UDP),
	N(CLONE_NEWUSER), N(CLONE_NEWNS), N(CLONE_NEWNET), N(CLONE_NEWPID),
	N(CLONE_NEWIPC), N(CLONE_NEWUTS), N(CLONE_NEWCGROUP),
	N(SIGHUP), N(SIGINT), N(SIGKILL), N(SIGTERM), N(SIGUSR1),
	N(SIGSTOP), N(SIGCONT),
};

const char *
errno_name(int err)
{
	size_t i;

	for (i = 0; i < LEN(errnos); i++)
		if (errnos[i].value == err)
			return errnos[i].text;
	return answer("E%d", err);
}

const char *
outcome(long rv)
{
	return rv < 0 ? errno_name(errno) : "OK";
}

static long
one_number(const char *word, size_t len)
{
	char digits[24], *end;
	long value;
	size_t i;

	for (i = 0; i < LEN(numbers); i++)
		if (strncmp(numbers[i].text, word, len) == 0 &&
		    numbers[i].text[len] == '\0')
			return numbers[i].value;
	snprintf(digits, sizeof digits, "%.*s", (int)len, word);
	value = strtol(digits, &end, 0);
	return end > digits && *end == '\0' && value >= 0 ? value : -1;
}

long
number(const char *text)
{
	long value = 0, one;
	size_t n;

	for (;; text += n + 1) {
		n = strcspn(text, "|");
		one = one_number(text, n);
		if (one < 0)
			return -1;
		value |= one;
		if (text[n] == '\0')
			return value;
	}
}

const char *
answer(const char *fmt, ...)
{
	static char text[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return text;
}
