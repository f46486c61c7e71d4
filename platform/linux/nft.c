#include "platform/linux/nft.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/linux/mint.h"
#include "platform/linux/netlink.h"
#include "platform/pause.h"

enum {
	HOOK_PREROUTING = 0,	/* NF_INET_PRE_ROUTING */
	PRIORITY = -150,	/* "mangle": where tproxy belongs */
	DADDR4 = 16, DADDR6 = 24,	/* offsets in the IP headers */
	DPORT = 2,			/* offset in the TCP header */
};

static const char table_name[] = "fence";
static const char chain_name[] = "gate";

static size_t
begin(struct nl_buf *b, unsigned type, unsigned flags, int step, int family)
{
	struct nfgenmsg m = {
		.nfgen_family = family, .version = NFNETLINK_V0,
	};

	return nl_begin(b, NFNL_SUBSYS_NFTABLES << 8 | type,
	    flags | NLM_F_ACK, step, &m, sizeof m);
}

static void
batch_mark(struct nl_buf *b, uint16_t type)
{
	struct nfgenmsg m = {
		.nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0,
		.res_id = htons(NFNL_SUBSYS_NFTABLES),
	};

	nl_end(b, nl_begin(b, type, 0, NFT_BATCH, &m, sizeof m));
}

static void
build_table(struct nl_buf *b, int step, int family)
{
	size_t msg = begin(b, NFT_MSG_NEWTABLE, NLM_F_CREATE, step, family);

	nl_attr_str(b, NFTA_TABLE_NAME, table_name);
	nl_attr_be32(b, NFTA_TABLE_FLAGS, 0);
	nl_end(b, msg);
}

static void
build_chain(struct nl_buf *b, int step, int family)
{
	size_t msg = begin(b, NFT_MSG_NEWCHAIN, NLM_F_CREATE, step, family);
	size_t hook;

	nl_attr_str(b, NFTA_CHAIN_TABLE, table_name);
	nl_attr_str(b, NFTA_CHAIN_NAME, chain_name);
	hook = nl_nest(b, NFTA_CHAIN_HOOK);
	nl_attr_be32(b, NFTA_HOOK_HOOKNUM, HOOK_PREROUTING);
	nl_attr_be32(b, NFTA_HOOK_PRIORITY, (uint32_t)PRIORITY);
	nl_nest_end(b, hook);
	nl_attr_be32(b, NFTA_CHAIN_POLICY, NF_ACCEPT);
	nl_attr_str(b, NFTA_CHAIN_TYPE, "filter");
	nl_end(b, msg);
}

/* An expression is a nest in a nest; both are open until expr_end(). */
struct expr {
	size_t	elem;
	size_t	data;
};

static struct expr
expr(struct nl_buf *b, const char *name)
{
	struct expr x;

	x.elem = nl_nest(b, NFTA_LIST_ELEM);
	nl_attr_str(b, NFTA_EXPR_NAME, name);
	x.data = nl_nest(b, NFTA_EXPR_DATA);
	return x;
}

static void
expr_end(struct nl_buf *b, struct expr x)
{
	nl_nest_end(b, x.data);
	nl_nest_end(b, x.elem);
}

static void
expr_cmp(struct nl_buf *b, unsigned op, const void *value, size_t len)
{
	struct expr x = expr(b, "cmp");
	size_t data;

	nl_attr_be32(b, NFTA_CMP_SREG, NFT_REG_1);
	nl_attr_be32(b, NFTA_CMP_OP, op);
	data = nl_nest(b, NFTA_CMP_DATA);
	nl_attr(b, NFTA_DATA_VALUE, value, len);
	nl_nest_end(b, data);
	expr_end(b, x);
}

/* "header bytes at offset != value"; a prefix is its first whole bytes. */
static void
expr_payload_neq(struct nl_buf *b, unsigned base, unsigned offset,
    const void *value, size_t len)
{
	struct expr x = expr(b, "payload");

	nl_attr_be32(b, NFTA_PAYLOAD_DREG, NFT_REG_1);
	nl_attr_be32(b, NFTA_PAYLOAD_BASE, base);
	nl_attr_be32(b, NFTA_PAYLOAD_OFFSET, offset);
	nl_attr_be32(b, NFTA_PAYLOAD_LEN, len);
	expr_end(b, x);
	expr_cmp(b, NFT_CMP_NEQ, value, len);
}

static void
expr_is_tcp(struct nl_buf *b)
{
	static const uint8_t tcp = IPPROTO_TCP;
	struct expr x = expr(b, "meta");

	nl_attr_be32(b, NFTA_META_DREG, NFT_REG_1);
	nl_attr_be32(b, NFTA_META_KEY, NFT_META_L4PROTO);
	expr_end(b, x);
	expr_cmp(b, NFT_CMP_EQ, &tcp, sizeof tcp);
}

static void
expr_load(struct nl_buf *b, unsigned reg, const void *value, size_t len)
{
	struct expr x = expr(b, "immediate");
	size_t data;

	nl_attr_be32(b, NFTA_IMMEDIATE_DREG, reg);
	data = nl_nest(b, NFTA_IMMEDIATE_DATA);
	nl_attr(b, NFTA_DATA_VALUE, value, len);
	nl_nest_end(b, data);
	expr_end(b, x);
}

static void
expr_tproxy(struct nl_buf *b, int family, const void *addr, size_t len,
    uint16_t port)
{
	uint16_t port_be = htons(port);
	struct expr x;

	expr_load(b, NFT_REG_1, addr, len);
	expr_load(b, NFT_REG_2, &port_be, sizeof port_be);
	x = expr(b, "tproxy");
	nl_attr_be32(b, NFTA_TPROXY_FAMILY, family);
	nl_attr_be32(b, NFTA_TPROXY_REG_ADDR, NFT_REG_1);
	nl_attr_be32(b, NFTA_TPROXY_REG_PORT, NFT_REG_2);
	expr_end(b, x);
}

static void
expr_accept(struct nl_buf *b)
{
	struct expr x = expr(b, "immediate");
	size_t data, verdict;

	nl_attr_be32(b, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	data = nl_nest(b, NFTA_IMMEDIATE_DATA);
	verdict = nl_nest(b, NFTA_DATA_VERDICT);
	nl_attr_be32(b, NFTA_VERDICT_CODE, NF_ACCEPT);
	nl_nest_end(b, verdict);
	nl_nest_end(b, data);
	expr_end(b, x);
}

static void
build_rule(struct nl_buf *b, int step, int family, uint16_t port)
{
	static const uint8_t home4[4] = { 127, 0, 0, 1 };
	static const uint8_t own_range[3] = { 198, 18, 0 };
	static const uint8_t home6[16] = { [15] = 1 };
	static const uint8_t dns[2] = { 0, 53 };
	size_t msg = begin(b, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND,
	    step, family);
	size_t list;

	nl_attr_str(b, NFTA_RULE_TABLE, table_name);
	nl_attr_str(b, NFTA_RULE_CHAIN, chain_name);
	list = nl_nest(b, NFTA_RULE_EXPRESSIONS);
	expr_is_tcp(b);
	if (family == NFPROTO_IPV4) {
		expr_payload_neq(b, NFT_PAYLOAD_NETWORK_HEADER, DADDR4,
		    home4, 1);
		expr_payload_neq(b, NFT_PAYLOAD_NETWORK_HEADER, DADDR4,
		    own_range, sizeof own_range);
	} else
		expr_payload_neq(b, NFT_PAYLOAD_NETWORK_HEADER, DADDR6,
		    home6, sizeof home6);
	expr_payload_neq(b, NFT_PAYLOAD_TRANSPORT_HEADER, DPORT, dns,
	    sizeof dns);
	if (family == NFPROTO_IPV4)
		expr_tproxy(b, family, home4, sizeof home4, port);
	else
		expr_tproxy(b, family, home6, sizeof home6, port);
	expr_accept(b);
	nl_nest_end(b, list);
	nl_end(b, msg);
}

static void
build_batch(struct nl_buf *b, struct nft_plan plan)
{
	batch_mark(b, NFNL_MSG_BATCH_BEGIN);
	build_table(b, NFT_TABLE4, NFPROTO_IPV4);
	build_chain(b, NFT_CHAIN4, NFPROTO_IPV4);
	build_rule(b, NFT_RULE4, NFPROTO_IPV4, plan.port4);
	if (plan.port6 != 0) {
		build_table(b, NFT_TABLE6, NFPROTO_IPV6);
		build_chain(b, NFT_CHAIN6, NFPROTO_IPV6);
		build_rule(b, NFT_RULE6, NFPROTO_IPV6, plan.port6);
	}
	batch_mark(b, NFNL_MSG_BATCH_END);
}

size_t
nft_build(struct nft_plan plan, unsigned char *out, size_t max)
{
	struct nl_buf b;

	nl_init(&b, out, max);
	build_batch(&b, plan);
	return b.failed ? 0 : b.len;
}

int
nft_apply(int listen4_fd, int listen6_fd, int *ret_step)
{
	struct nft_plan plan = {
		.port4 = mint_port(listen4_fd), .port6 = mint_port(listen6_fd),
	};
	unsigned char data[NFT_BATCH_MAX];
	struct nl_buf b;
	uint32_t seq = 0;
	int fd, rv, saved;

	*ret_step = NFT_RULE4;
	if (pretend_lacks("nonft")) {
		errno = ENOENT;
		return -1;
	}
	*ret_step = NFT_SOCKET;
	if (plan.port4 == 0 || (listen6_fd >= 0 && plan.port6 == 0)) {
		errno = EBADF;
		return -1;
	}
	fd = nl_open(NETLINK_NETFILTER);
	if (fd < 0)
		return -1;
	nl_init(&b, data, sizeof data);
	build_batch(&b, plan);
	rv = nl_talk(fd, &b, NULL, NULL, &seq);
	*ret_step = seq;
	saved = errno;
	(void)close(fd);
	errno = saved;
	return rv;
}

const char *
nft_step_text(int step)
{
	static const char *const text[] = {
		[NFT_SOCKET] = "talk to nf_tables",
		[NFT_BATCH] = "change nf_tables",
		[NFT_TABLE4] = "make the nf_tables table (IPv4)",
		[NFT_CHAIN4] = "make the nf_tables chain (IPv4)",
		[NFT_RULE4] = "make the tproxy rule (IPv4)",
		[NFT_TABLE6] = "make the nf_tables table (IPv6)",
		[NFT_CHAIN6] = "make the nf_tables chain (IPv6)",
		[NFT_RULE6] = "make the tproxy rule (IPv6)",
	};

	if (step < 0 || step > NFT_RULE6)
		step = NFT_BATCH;
	return text[step];
}
