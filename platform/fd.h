/*
 * fd: descriptors with an owner.  Every one is born close-on-exec; auto_fd
 * closes at the end of scope, fd_take() is how one leaves.
 */
#ifndef FENCE_PLATFORM_FD_H
#define FENCE_PLATFORM_FD_H

#include <limits.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#define auto_fd __attribute__((cleanup(fd_cleanup))) int

void	 fd_cleanup(int *);
int	 fd_take(int *);		/* the value; *fd becomes -1 */
void	 fd_close(int *);		/* keeps errno; *fd becomes -1 */
/*
 * In a forked process: nothing stays open but this descriptor, and standard
 * input, output and error lead nowhere.
 */
int	 fd_close_others(int fd);
int	 fd_nonblock(int fd, int on);
int	 fd_cloexec(int fd, int on);
/* The path by which the kernel knows a descriptor: /proc/self/fd/N. */
enum { FD_PATH_MAX = 32 };
void	 fd_path(int fd, char ret[FD_PATH_MAX]);
/*
 * Where the file lies now, without a symlink.  1: at no path (a pipe, a file
 * outside of our root).  -1: errno says why, ENAMETOOLONG for a path longer
 * than one can be.
 */
int	 fd_real_path(int fd, char ret[PATH_MAX]);
/*
 * A description of our own of a terminal, for writing, that does not block: a
 * terminal is ready as long as it takes one byte, and a write of more waits
 * for its reader.  One that is shared cannot be made so.  -1: it is no
 * terminal, or may not be opened.
 */
int	 fd_own_tty(int fd);
/* Which to write to: own (or -1), as long as fd is a terminal still. */
int	 fd_pick_tty(int fd, int own);
int	 fd_memfd(const char *name, const void *, size_t);	/* at offset 0 */
/*
 * The whole file, NUL-terminated; its length without the NUL.  One that needs
 * more than max bytes with its NUL is EFBIG; what fits is there, terminated.
 */
ssize_t	 fd_read_file(int dir_fd, const char *path, char *, size_t max);

/*
 * One message over a SEQPACKET or DGRAM socket with up to nfds descriptors.
 * fd_recv: received descriptors are close-on-exec; those that do not fit are
 * closed.  MSG_TRUNC is an error (EMSGSIZE).  0 at end of file.  Both go on
 * after EINTR and raise no SIGPIPE; nfds may be NULL when max_fds is 0.
 */
ssize_t	 fd_send(int sock, const void *, size_t, const int *fds, size_t nfds,
	    int flags);
ssize_t	 fd_recv(int sock, void *, size_t, int *fds, size_t max_fds,
	    size_t *nfds, int flags);

/* The kernel's SCM_MAX_FD: no message carries more. */
enum { FD_MAX_PASSED = 253 };

union fd_control {
	struct cmsghdr	align;
	char		bytes[CMSG_SPACE(FD_MAX_PASSED * sizeof(int))];
};

/* What fd_send() sends, for one who sends it otherwise; stays where it is. */
struct fd_message {
	struct msghdr		msg;
	struct iovec		iov;
	union fd_control	control;
};
void	 fd_message(struct fd_message *, const void *, size_t, const int *fds,
	    size_t nfds);

/*
 * One message without descriptors, not waited for; 0: there is none, -1: none
 * will come.  One that is too long or empty is no end: it has a length that
 * no check believes.
 */
ssize_t	 fd_hear(int sock, void *, size_t);
#endif
