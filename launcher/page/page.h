/*
 * page: a trace as one HTML file that needs nothing else: no network, no other
 * file, no server.  `fence trace --html` calls it.
 *
 * The page is a head with style and script (page.css, page.js, admitted by
 * their SHA-256 in a Content-Security-Policy and by nothing else), the body
 * (page.html), and the records.  A record is data in a script element that no
 * byte of the record can end: everything but printable ASCII, and each of
 * < > &, is written as \uXXXX.  Nothing here knows what a record means, so a
 * new member of event.schema.json needs no change here.
 */
#ifndef FENCE_LAUNCHER_PAGE_H
#define FENCE_LAUNCHER_PAGE_H

#include "platform/base/err.h"

enum {
	PAGE_LINE_BYTES = 256 * 1024,	/* the longest that a sink writes */
	PAGE_MEMBERS = 64,		/* of an object in a record */
	PAGE_RECORDS = 250000,		/* more than a browser likes to hold */
};

/*
 * Reads JSON lines from in_fd to its end, writes the page to out_fd.  Memory
 * is bounded by the longest line.  A line that is no record, and a last line
 * that was cut, are left out and counted; the page says so.  Of more than
 * PAGE_RECORDS only those about the run itself are kept, and the page says
 * how many are missing.  -1: a read or a write failed; what was written until
 * then is no whole page.
 */
int	 page_write(int in_fd, int out_fd, struct err *);

#endif
