/*
 * tlshello: the ClientHello at the beginning of a stream.  Pure: bytes in,
 * facts out, no sockets, nothing consumed.  A name that a server could read
 * and we could not would pass unjudged, so everything that begins like TLS
 * and is not one plain hello is BAD: other records before it or between its
 * pieces (Go 1.26 takes a hello behind a warning alert), empty records
 * (OpenSSL 3.0 takes them), a hello in the form of SSLv2.
 * What the client says later in the connection is not seen here.
 */
#ifndef FENCE_PROXY_TLSHELLO_H
#define FENCE_PROXY_TLSHELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tlshello_status {
	TLSHELLO_MORE, TLSHELLO_NOT_TLS, TLSHELLO_DONE, TLSHELLO_BAD
};

/* The hello and the headers of its records; MORE is never said to so many. */
enum { TLSHELLO_MAX_BYTES = 64 * 1024 };

struct tlshello {
	/* After TLSHELLO_DONE. */
	size_t		 hello_len;	/* on the wire, with record headers */
	bool		 has_sni;
	/*
	 * Copied, because records may cut it; NUL-terminated.  As sent, with
	 * no control byte inside.
	 */
	uint8_t		 sni_len;
	char		 sni[256];
	bool		 has_ech;	/* real or GREASE: they look the same */
	bool		 has_alpn, has_h2, has_http11;
	/* After TLSHELLO_BAD. */
	const char	*why;

	/* The parser's own. */
	enum tlshello_status	 status;
	size_t		 record_at;	/* the record that is not complete */
	size_t		 have;		/* bytes of the hello before it */
};

void	 tlshello_init(struct tlshello *);
/*
 * data: everything received since the start, len growing from call to call;
 * a hello is parsed once, when all of it is there.  Every answer but MORE is
 * final.  The answer is the same whether the bytes come one at a time or all
 * at once.
 */
enum tlshello_status tlshello_feed(struct tlshello *, const void *data,
	    size_t len);

#endif
