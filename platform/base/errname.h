/*
 * errname: the name of an errno, as programs and people search for it.  For
 * records, and for what `fence doctor` says.
 */
#ifndef FENCE_BASE_ERRNAME_H
#define FENCE_BASE_ERRNAME_H

enum { ERRNAME_MAX = 24 };

/* "EACCES"; "errno 200" for a stranger; ret is used for the latter. */
const char	*errname(int sys, char ret[ERRNAME_MAX]);

#endif
