/*
 * wobbler DIR COMMAND ARGS…: mounts a file system on DIR in which a directory
 * "work" has another inode number whenever one asks, as some that FUSE serves
 * do, and runs COMMAND beside it.  For root, in a mount namespace of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOT_NODE = 1, WORK_NODE = 2 };

static int fuse_fd;
static uint64_t next_ino = 1000;

static void
answer(uint64_t unique, int error, const void *p, size_t n)
{
	struct fuse_out_header h = { .len = (uint32_t)(sizeof h + n),
	    .error = -error, .unique = unique };
	struct iovec v[] = { { &h, sizeof h }, { (void *)p, n } };

	(void)!writev(fuse_fd, v, n > 0 ? 2 : 1);
}

static struct fuse_attr
attr_of(uint64_t node)
{
	return (struct fuse_attr){ .ino = node == ROOT_NODE ? node :
	    next_ino++, .mode = S_IFDIR | 0777, .nlink = 2,
	    .blksize = 4096 };
}

static void
serve(const struct fuse_in_header *h, const void *body)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
	    .minor = FUSE_KERNEL_MINOR_VERSION, .max_write = 4096 };
	struct fuse_attr_out attr = { .attr = attr_of(h->nodeid) };
	struct fuse_entry_out entry = { .nodeid = WORK_NODE,
	    .attr = attr_of(WORK_NODE) };
	struct fuse_statfs_out fs = { .st = { .bsize = 4096,
	    .namelen = 255 } };
	struct fuse_open_out opened = { 0 };

	switch (h->opcode) {
	case FUSE_INIT:
		answer(h->unique, 0, &init, sizeof init);
		break;
	case FUSE_GETATTR:
		answer(h->unique, 0, &attr, sizeof attr);
		break;
	case FUSE_LOOKUP:
		if (h->nodeid == ROOT_NODE && strcmp(body, "work") == 0)
			answer(h->unique, 0, &entry, sizeof entry);
		else
			answer(h->unique, ENOENT, NULL, 0);
		break;
	case FUSE_OPENDIR:
		answer(h->unique, 0, &opened, sizeof opened);
		break;
	case FUSE_STATFS:
		answer(h->unique, 0, &fs, sizeof fs);
		break;
	case FUSE_READDIR:
	case FUSE_RELEASEDIR:
		answer(h->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	default:
		answer(h->unique, ENOSYS, NULL, 0);
	}
}

static void
serve_all(void)
{
	static _Alignas(8) char bytes[FUSE_MIN_READ_BUFFER + 8192];
	ssize_t n;

	while ((n = read(fuse_fd, bytes, sizeof bytes - 1)) > 0 ||
	    (n < 0 && (errno == EINTR || errno == ENOENT))) {
		if (n < (ssize_t)sizeof(struct fuse_in_header))
			continue;
		bytes[n] = '\0';
		serve((void *)bytes, bytes + sizeof(struct fuse_in_header));
	}
}

int
main(int argc, char **argv)
{
	char options[128];
	pid_t server;
	int status;

	fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,"
	    "group_id=0,allow_other", fuse_fd);
	if (argc < 3 || fuse_fd < 0 || mount("wobbler", argv[1],
	    "fuse.wobbler", MS_NOSUID | MS_NODEV, options) != 0) {
		perror("wobbler");
		return 100;
	}
	server = fork();
	if (server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve_all();
		_exit(0);
	}
	(void)close(fuse_fd);
	if (fork() == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	while (wait(&status) == server)
		continue;
	kill(server, SIGKILL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}
