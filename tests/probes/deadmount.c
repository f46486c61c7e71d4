/*
 * deadmount DIR: mounts a FUSE file system there that takes every question and
 * answers none, as the mount of a server that has died.  Prints "ready" and
 * goes on until it is killed; then the kernel answers instead (ENOTCONN).
 * Raw /dev/fuse: no library, and nothing that could answer by itself.
 */
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

static char request[1 << 17];

static int
answer_init(int fd)
{
	struct {
		struct fuse_out_header	head;
		struct fuse_init_out	init;
	} out = { .head.len = sizeof out };
	const struct fuse_in_header *in = (const void *)request;

	if (read(fd, request, sizeof request) < (ssize_t)sizeof *in ||
	    in->opcode != FUSE_INIT)
		return -1;
	out.head.unique = in->unique;
	out.init.major = FUSE_KERNEL_VERSION;
	out.init.minor = FUSE_KERNEL_MINOR_VERSION;
	out.init.max_write = 4096;
	return write(fd, &out, sizeof out) == sizeof out ? 0 : -1;
}

int
main(int argc, char **argv)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];

	if (argc != 2 || fd < 0)
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(options, sizeof options,
	    "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd);
	if (mount("dead", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) != 0 ||
	    answer_init(fd) != 0) {
		perror(argv[1]);
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (read(fd, request, sizeof request) > 0)
		continue;
	return 0;
}
