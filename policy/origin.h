/* origin: file, line and column of a value, for errors and for rules. */
#ifndef FENCE_POLICY_ORIGIN_H
#define FENCE_POLICY_ORIGIN_H

enum origin_kind {
	ORIGIN_FILE,		/* a file of the user's, or of a project */
	ORIGIN_BUILT_IN,	/* a template, or the program itself */
	ORIGIN_COMMAND_LINE,	/* an option of this run */
};

struct origin {
	const char	*file;	/* as shown: a path, "<built-in NAME>" */
	int		 line;	/* from 1; 0: the file as a whole */
	int		 col;	/* from 1, in bytes */
	enum origin_kind kind;
};

#endif
