/*
 * selfpath: which page of http://fence.internal/ a request wants.
 *
 *	/, /refusals		what was refused lately
 *	/why?host=HOST&port=N	may the command talk to it?  The port is 443
 *				where none is said
 *
 * and `format=json` or `format=text` with each, which goes before the Accept
 * field.  Pure; the bytes are those of any program inside, so whatever is not
 * exactly this is refused.
 */
#ifndef FENCE_PROXY_SELFPATH_H
#define FENCE_PROXY_SELFPATH_H

#include <stdint.h>

#include "platform/base/str.h"

enum selfpath_page { SELFPATH_REFUSALS, SELFPATH_WHY };

struct selfpath {
	enum selfpath_page	 page;
	char			 host[256];	/* WHY: as sent */
	uint16_t		 port;
	enum { SELFPATH_AS_ASKED, SELFPATH_TEXT, SELFPATH_JSON } format;
};

/*
 * path: "" or "/why"; query: "" or with its '?'.  0, or the code of an answer
 * (404, 400), and *ret_why says what is wrong.
 */
int	 selfpath_parse(struct str path, struct str query,
	    struct selfpath *ret, const char **ret_why);

#endif
