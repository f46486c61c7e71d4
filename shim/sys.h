/*
 * sys: system calls by number, past libc.  Its wrappers are points of
 * cancellation and set errno, and some of them are hooks of ours, syscall(2)
 * among them.  SYS(openat, AT_FDCWD, path, flags) answers as the kernel does:
 * what went wrong is a small negative number, and errno is left alone.
 */
#ifndef FENCE_SHIM_SYS_H
#define FENCE_SHIM_SYS_H

#include <sys/syscall.h>

#include <errno.h>
#include <stdbool.h>

#define SYS(...)	SYS_LONGS(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define SYS_LONGS(nr, a, b, c, d, e, f, ...)				\
	sys_call(SYS_##nr, (long)(a), (long)(b), (long)(c), (long)(d),	\
	    (long)(e), (long)(f))

#if defined(__x86_64__) && defined(__LP64__)
#define SYS_DIRECT	1

static inline long
sys_call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long rv;

	__asm__ volatile("syscall" : "=a"(rv)
	    : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	    : "rcx", "r11", "memory");
	return rv;
}

#elif defined(__aarch64__)
#define SYS_DIRECT	1

static inline long
sys_call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0)
	    : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
	    : "memory");
	return x0;
}

#else
#define SYS_DIRECT	0		/* and syscall(2) is not hooked */

#include <unistd.h>

static inline long
sys_call(long nr, long a, long b, long c, long d, long e, long f)
{
	int saved = errno;
	long rv = syscall(nr, a, b, c, d, e, f);

	if (rv == -1)
		rv = -errno;
	errno = saved;
	return rv;
}

#endif

static inline bool
sys_failed(long rv)
{
	return (unsigned long)rv > -4096UL;
}

/* As libc answers: -1 and errno. */
static inline long
sys_errno(long rv)
{
	if (!sys_failed(rv))
		return rv;
	errno = -rv;
	return -1;
}

#endif
