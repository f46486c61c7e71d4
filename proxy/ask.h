/*
 * ask: the workers' questions and the monitor's answers, as messages on a
 * SOCK_SEQPACKET socket.  A worker holds nothing but descriptors; it asks,
 * and the monitor grants exactly what the policy allows.  Every message is
 * one fixed-size struct; ask_check_*() is the only place that believes
 * bytes, is pure and fuzzed.
 */
#ifndef FENCE_PROXY_ASK_H
#define FENCE_PROXY_ASK_H

#include <stddef.h>
#include <stdint.h>

enum { ASK_MAGIC = 0x66617331 };	/* "fas1" */

/* Where the gate itself answers, from inside. */
#define ASK_SELF_NAME	"fence.internal"
enum { ASK_SELF_PORT = 80 };

enum ask_kind {
	ASK_LOOKUP = 1,	/* net -> monitor: name, qtype, source */
	ASK_DIAL,	/* net -> monitor: name, port, via, source; is_open:
			 * such a connection is open, so that the verdict is
			 * all that is wanted */
	ASK_PTR,	/* net -> monitor: name is the address text */
	ASK_SNI,	/* net -> monitor: may a connection that was granted
			 * to `granted` and port carry a TLS hello for name?
			 * No name: its hello cannot be understood */
	ASK_DONE,	/* net -> monitor: a request of HTTP that was granted
			 * has its answer: as for DIAL, code and ms; no
			 * answer comes */
	ASK_RECENT,	/* net -> monitor: refusal `nth` of the run, from the
			 * newest (0) to older ones; the answer has what,
			 * rule, remedy and count, or NOHOST: there is none */
	ASK_LISTEN,	/* monitor -> net: descriptors in the order of enum
			 * proxy_listener; a bit of `listeners` for each that
			 * came, and nports messages of ASK_PORT follow */
	ASK_NOTE,	/* net -> monitor: something worth telling (note) */
	ASK_RESTART,	/* net -> monitor: the server died, as wstatus says;
			 * answers to its questions are for nobody.  The
			 * answer to this one comes behind all of them */
	ASK_RESOLVE,	/* monitor -> names: name */
	ASK_PORT,	/* monitor -> net: the descriptor of one more listener;
			 * a DIAL with this via and port asks about each of
			 * its connections */
	ASK_SHAKE,	/* monitor -> names: a struct ask_shake, and with it
			 * a connection to a proxy */
	ASK_WHY,	/* net -> monitor: may the command talk to name and
			 * port?  No refusal, and no record; OK or DENIED with
			 * reason, rule and remedy, or NOHOST: it is none */
};

enum ask_via { ASK_VIA_HTTP = 1, ASK_VIA_TRANSPARENT, ASK_VIA_SOCKS,
	ASK_VIA_DNS,
	ASK_VIA_LOCAL,	/* out: the host's localhost, port */
	ASK_VIA_INSIDE,	/* in: the jail's localhost, port */
};

struct ask_source {			/* who asks, in the jail's namespace */
	uint16_t	family;		/* AF_INET, AF_INET6, 0 unknown */
	uint16_t	port;		/* host order */
	uint8_t		addr[16];
};

enum ask_note {
	ASK_NOTE_LIMIT = 1,
	ASK_NOTE_BAD_REQUEST,
	ASK_NOTE_COMMAND,	/* of SOCKS, and not CONNECT */
	ASK_NOTES
};

struct ask_msg {
	uint32_t		magic;
	uint32_t		id;	/* chosen by the asker, echoed */
	uint16_t		kind;
	uint16_t		via;
	uint16_t		port;
	uint16_t		qtype;		/* LOOKUP: the DNS type */
	uint16_t		listeners;	/* LISTEN */
	uint16_t		nports;		/* LISTEN */
	uint16_t		note;
	uint16_t		nth;		/* RECENT */
	uint16_t		wstatus;	/* RESTART: of waitpid() */
	uint16_t		is_udp;	/* source is a UDP socket */
	uint16_t		is_open;	/* DIAL */
	struct ask_source	source;
	uint16_t		name_len;
	char			name[256];	/* as sent; no NUL inside */
	char			method[16];	/* of HTTP, for the record */
	union {			/* ends in NUL */
		char		granted[256];	/* SNI */
		char		url_path[256];	/* DIAL, DONE: maybe cut */
	};
	uint16_t		code;		/* DONE: of the answer */
	uint32_t		ms;		/* ... and how long it took */
};

/* ASK_SHAKE: bring the proxy to open a way to host and port. */
struct ask_shake {
	uint32_t	magic;
	uint32_t	id;
	uint16_t	kind;		/* ASK_SHAKE */
	uint16_t	proxy;		/* enum upstream_kind */
	uint16_t	port;
	uint16_t	has_login;
	char		host[256];	/* these end in NUL */
	char		user[256];
	char		password[256];
};

enum ask_status {
	ASK_OK = 1,	/* LOOKUP: addr; DIAL: a connected descriptor, none
			 * if one is open */
	ASK_DENIED,	/* by the policy: reason, rule, remedy */
	ASK_NOHOST,	/* allowed, but does not resolve */
	ASK_REFUSED,	/* allowed, but the connection failed: sys */
	ASK_FULL,	/* out of fake addresses, descriptors, memory */
	ASK_SELF,	/* DIAL: the gate itself is meant, speaking HTTP */
	/* A proxy on the way says no, or does not answer as a proxy.  SHAKE:
	 * sys, or why (enum upstream_why) and code.  DIAL: reason. */
	ASK_PROXY_DENIED,
	ASK_PROXY_FAILED,
};

struct ask_addr {
	uint16_t	family;
	uint16_t	pad;
	uint8_t		addr[16];
};

enum { ASK_MAX_ADDRS = 16 };

struct ask_answer {
	uint32_t	magic;
	uint32_t	id;
	uint16_t	status;
	uint16_t	naddrs;
	int32_t		sys;		/* errno of a failed dial */
	uint32_t	count;		/* RECENT: refused so often */
	uint16_t	wants_done;	/* DIAL: ASK_DONE is wanted */
	uint16_t	is_loop;	/* DENIED: once more; conn_hold() it */
	uint16_t	why;		/* SHAKE */
	uint16_t	code;
	/* LOOKUP: one fake address.  RESOLVE: all there are. */
	struct ask_addr	addrs[ASK_MAX_ADDRS];
	union {				/* ends in NUL */
		char	name[256];	/* PTR */
		/* DIAL: a TLS hello for another host needs an ASK_SNI; "":
		 * the hello may name any host. */
		char	tls_name[256];
		char	what[256];	/* RECENT: what was refused */
		char	reason[256];	/* DENIED, PROXY_*, WHY: as words */
	};
	/* DENIED, RECENT, WHY: key and place; "allowedDomains += ...", or "". */
	char		rule[96];
	char		remedy[256];
};

/* 0 if the bytes are a well-formed message of a known kind, else -1. */
int	 ask_check_msg(const void *, size_t, struct ask_msg *ret);
int	 ask_check_shake(const void *, size_t, struct ask_shake *ret);
int	 ask_check_answer(const void *, size_t, struct ask_answer *ret);

#endif
