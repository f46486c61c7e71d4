/* origin: file, line and column of a value, for errors and for rules. */
#ifndef FENCE_POLICY_ORIGIN_H
#define FENCE_POLICY_ORIGIN_H

struct origin {
	const char	*file;	/* as shown: a path, "<built-in NAME>" */
	int		 line;	/* from 1; 0: the file as a whole */
	int		 col;	/* from 1, in bytes */
};

#endif
