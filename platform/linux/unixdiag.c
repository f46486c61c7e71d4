/*
 * The sockets as the kernel's sock_diag tells them: with the file, so that one
 * bound by a relative name can be found, and with names of any bytes.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "platform/base/xalloc.h"
#include "platform/fd.h"
#include "platform/linux/netlink.h"
#include "platform/linux/unixlist.h"

/* From Linux 5.3 on; before it they mean nothing. */
enum { SHOW_UID = 0x40, DIAG_UID = 7 };

enum { ANSWER_BYTES = 64 * 1024, ESTABLISHED = 1 };

/* Bytes of a name as a string; false: it has none, or an abstract one. */
static bool
copy_name(const void *data, size_t len, char ret[UNIXLIST_NAME_MAX])
{
	len = strnlen(data, len);
	if (len == 0 || len >= UNIXLIST_NAME_MAX)
		return false;
	memcpy(ret, data, len);
	ret[len] = '\0';
	return true;
}

static void
tell(const struct unix_diag_msg *m, const char *attrs, size_t len,
    unixlist_fn *fn, void *arg)
{
	struct unixlist_entry e = { .socket = m->udiag_ino };
	char name[UNIXLIST_NAME_MAX];
	struct unix_diag_vfs vfs;
	struct nlattr a;

	/* Nobody can connect to one end of a connection. */
	if (m->udiag_type != SOCK_DGRAM && m->udiag_state == ESTABLISHED)
		return;
	for (size_t at = 0, size; len - at >= sizeof a; at += size) {
		memcpy(&a, attrs + at, sizeof a);
		if (a.nla_len < sizeof a || a.nla_len > len - at)
			break;
		if (a.nla_type == UNIX_DIAG_NAME && copy_name(attrs + at +
		    NLA_HDRLEN, a.nla_len - NLA_HDRLEN, name))
			e.path = name;
		if (a.nla_type == UNIX_DIAG_VFS &&
		    a.nla_len >= NLA_HDRLEN + sizeof vfs) {
			memcpy(&vfs, attrs + at + NLA_HDRLEN, sizeof vfs);
			e.has_file = true;
			e.file_dev = vfs.udiag_vfs_dev;
			e.file_ino = vfs.udiag_vfs_ino;
		}
		if (a.nla_type == DIAG_UID &&
		    a.nla_len >= NLA_HDRLEN + sizeof e.uid) {
			memcpy(&e.uid, attrs + at + NLA_HDRLEN, sizeof e.uid);
			e.has_uid = true;
		}
		size = NLA_ALIGN(a.nla_len);
		if (size > len - at)
			break;
	}
	if (e.path != NULL)
		fn(&e, arg);
}

int
unixdiag_parse(const char *data, size_t len, unixlist_fn *fn, void *arg)
{
	struct unix_diag_msg m;
	struct nlmsghdr h;

	for (size_t at = 0, size; len - at >= sizeof h; at += size) {
		memcpy(&h, data + at, sizeof h);
		if (h.nlmsg_len < sizeof h || h.nlmsg_len > len - at ||
		    h.nlmsg_type == NLMSG_ERROR)
			return -1;
		if (h.nlmsg_type == NLMSG_DONE)
			return 1;
		if (h.nlmsg_type == SOCK_DIAG_BY_FAMILY &&
		    h.nlmsg_len >= NLMSG_LENGTH(sizeof m)) {
			memcpy(&m, data + at + NLMSG_HDRLEN, sizeof m);
			tell(&m, data + at + NLMSG_LENGTH(NLMSG_ALIGN(
			    sizeof m)), h.nlmsg_len - NLMSG_LENGTH(sizeof m),
			    fn, arg);
		}
		size = NLMSG_ALIGN(h.nlmsg_len);
		if (size > len - at)
			break;
	}
	return 0;
}

static int
ask(int fd)
{
	static const struct unix_diag_req want = { .sdiag_family = AF_UNIX,
	    .udiag_states = UINT32_MAX,
	    .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_VFS |
	    SHOW_UID };
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	unsigned char data[NLMSG_LENGTH(sizeof want)];
	struct nl_buf b;

	nl_init(&b, data, sizeof data);
	nl_end(&b, nl_begin(&b, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, 1, &want,
	    sizeof want));
	return !b.failed && sendto(fd, b.data, b.len, 0, (void *)&kernel,
	    sizeof kernel) == (ssize_t)b.len ? 0 : -1;
}

/* The kernel has the next part ready whenever the one before was read. */
int
unixdiag_read(unixlist_fn *fn, void *arg)
{
	auto_fd fd = nl_open(NETLINK_SOCK_DIAG);
	char *in;
	ssize_t n;
	int rc = 0;

	if (fd < 0 || ask(fd) != 0)
		return -1;
	in = xrealloc(NULL, ANSWER_BYTES, 1);
	while (rc == 0) {
		n = recv(fd, in, ANSWER_BYTES, MSG_DONTWAIT | MSG_TRUNC);
		if (n < 0 && errno == EINTR)
			continue;
		rc = n <= 0 || n > ANSWER_BYTES ? -1 :
		    unixdiag_parse(in, (size_t)n, fn, arg);
	}
	free(in);
	return rc < 0 ? -1 : 0;
}
