/*
 * err: the one user-facing error.  Plain storage on the caller's stack:
 * nothing to free, and room to report being out of memory.  The one who
 * knows fills it; a caller who knows more adds where and which key;
 * launcher/main.c prints it.  Success leaves it alone.
 */
#ifndef FENCE_BASE_ERR_H
#define FENCE_BASE_ERR_H

#include <stdarg.h>
#include <stdio.h>

/* What the program does about it; the values are exit statuses. */
enum err_code {
	ERR_NONE = 0,
	ERR_POLICY = 1,		/* policy or preflight refusal */
	ERR_USAGE = 2,		/* the command line is wrong */
	ERR_JAIL = 125,		/* the jail could not be built */
	ERR_NOEXEC = 126,	/* the command is not executable */
	ERR_NOTFOUND = 127,	/* the command was not found */
};

struct err {
	enum err_code	code;
	int		sys;		/* errno, or 0 */
	char		where[256];	/* "fence.jsonc:12:5", or "" */
	char		key[96];	/* "network.allowedDomains[2]", or "" */
	char		msg[400];	/* what is wrong, lower case, no full stop */
	char		hint[320];	/* what would make it right, or "" */
};

/* Both always return -1, so that "return err_set(...)" reads well. */
int	 err_set(struct err *, enum err_code, const char *fmt, ...)
	    __attribute__((format(printf, 3, 4)));
int	 err_vset(struct err *, enum err_code, const char *fmt, va_list);
/* Code ERR_USAGE, with what would be right. */
int	 err_usage(struct err *, const char *msg, const char *hint);
/* Code ERR_JAIL; the text of errno is appended by err_print(). */
int	 err_sys(struct err *, int sys, const char *fmt, ...)
	    __attribute__((format(printf, 3, 4)));
/* These add to an error that is already set. */
void	 err_where(struct err *, const char *file, int line, int col);
void	 err_key(struct err *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
void	 err_hint(struct err *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/* "fence: where: key: msg: strerror" and "fence: hint: ..."; bytes escaped. */
struct buf;
void	 err_put(const struct err *, struct buf *);
void	 err_print(const struct err *, FILE *);

#endif
