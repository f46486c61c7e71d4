#include "platform/linux/netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void
nl_init(struct nl_buf *b, unsigned char *data, size_t max)
{
	*b = (struct nl_buf){ .data = data, .max = max };
}

/* Room for len bytes and their padding, zeroed; the offset of the bytes. */
static size_t
nl_room(struct nl_buf *b, size_t len)
{
	size_t at = b->len, padded = NLMSG_ALIGN(len);

	if (b->failed || padded < len || padded > b->max - b->len) {
		b->failed = true;
		return 0;
	}
	memset(b->data + at, 0, padded);
	b->len += padded;
	return at;
}

size_t
nl_begin(struct nl_buf *b, uint16_t type, uint16_t flags, uint32_t seq,
    const void *head, size_t len)
{
	struct nlmsghdr h = {
		.nlmsg_type = type,
		.nlmsg_flags = NLM_F_REQUEST | flags,
		.nlmsg_seq = seq,
	};
	size_t at = nl_room(b, sizeof h), body = nl_room(b, len);

	if (b->failed)
		return 0;
	memcpy(b->data + at, &h, sizeof h);
	memcpy(b->data + body, head, len);
	if (flags & NLM_F_ACK)
		b->nacks++;
	return at;
}

void
nl_end(struct nl_buf *b, size_t message)
{
	uint32_t len = b->len - message;

	if (!b->failed)
		memcpy(b->data + message +
		    offsetof(struct nlmsghdr, nlmsg_len), &len, sizeof len);
}

void
nl_attr(struct nl_buf *b, uint16_t type, const void *data, size_t len)
{
	struct nlattr a = { .nla_len = NLA_HDRLEN + len, .nla_type = type };
	size_t at = nl_room(b, NLA_HDRLEN + len);

	if (b->failed)
		return;
	memcpy(b->data + at, &a, sizeof a);
	memcpy(b->data + at + NLA_HDRLEN, data, len);
}

void
nl_attr_u32(struct nl_buf *b, uint16_t type, uint32_t value)
{
	nl_attr(b, type, &value, sizeof value);
}

void
nl_attr_be32(struct nl_buf *b, uint16_t type, uint32_t value)
{
	nl_attr_u32(b, type, htonl(value));
}

void
nl_attr_str(struct nl_buf *b, uint16_t type, const char *s)
{
	nl_attr(b, type, s, strlen(s) + 1);
}

size_t
nl_nest(struct nl_buf *b, uint16_t type)
{
	size_t at = b->len;

	nl_attr(b, type | NLA_F_NESTED, "", 0);
	return at;
}

void
nl_nest_end(struct nl_buf *b, size_t nest)
{
	uint16_t len = b->len - nest;

	if (!b->failed)
		memcpy(b->data + nest + offsetof(struct nlattr, nla_len),
		    &len, sizeof len);
}

int
nl_open(int protocol)
{
	int one = 1;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);

	/* Short answers: an error does not repeat the request. */
	if (fd >= 0)
		(void)setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one,
		    sizeof one);
	return fd;
}

/*
 * One datagram of answers.  The number of answers in it, or -1.  What is
 * neither ours nor an answer is passed over.
 */
static int
nl_answers(const unsigned char *data, size_t len, nl_pardon_fn *pardon,
    const void *arg, uint32_t *ret_seq)
{
	struct nlmsghdr h;
	struct nlmsgerr e;
	int n = 0;

	for (size_t at = 0; len - at >= sizeof h; ) {
		memcpy(&h, data + at, sizeof h);
		if (h.nlmsg_len < sizeof h || h.nlmsg_len > len - at)
			break;
		if (h.nlmsg_type == NLMSG_ERROR &&
		    h.nlmsg_len >= NLMSG_LENGTH(sizeof e)) {
			memcpy(&e, data + at + NLMSG_HDRLEN, sizeof e);
			if (e.error != 0 && (pardon == NULL ||
			    !pardon(h.nlmsg_seq, -e.error, arg))) {
				*ret_seq = h.nlmsg_seq;
				errno = -e.error;
				return -1;
			}
			n++;
		}
		at += NLMSG_ALIGN(h.nlmsg_len);
		if (at > len)
			break;
	}
	return n;
}

int
nl_talk(int fd, const struct nl_buf *b, nl_pardon_fn *pardon,
    const void *arg, uint32_t *ret_seq)
{
	unsigned char in[4096];
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	unsigned seen = 0;
	ssize_t n;
	int rv;

	*ret_seq = 0;
	if (b->failed) {
		errno = EMSGSIZE;
		return -1;
	}
	if (sendto(fd, b->data, b->len, 0, (struct sockaddr *)&kernel,
	    sizeof kernel) < 0)
		return -1;
	/*
	 * rtnetlink and nfnetlink answer within the send, so an empty queue
	 * means that no answer will come; nothing here can wait for ever.
	 */
	while (seen < b->nacks) {
		n = recv(fd, in, sizeof in, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (n == 0 || errno == EAGAIN)
				errno = EPROTO;
			return -1;
		}
		rv = nl_answers(in, n, pardon, arg, ret_seq);
		if (rv < 0)
			return -1;
		seen += rv;
	}
	return 0;
}
