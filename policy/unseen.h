/*
 * unseen: why a part of a command line could not be looked into.  Command
 * rules are about programs and their words; where the text of the line does
 * not tell them, the answer says so instead of passing it over.
 */
#ifndef FENCE_POLICY_UNSEEN_H
#define FENCE_POLICY_UNSEEN_H

enum exec_unseen {
	EXEC_SEEN,
	EXEC_UNSEEN_SYNTAX,	/* not a line that bash would read */
	EXEC_UNSEEN_DEEP,	/* nested deeper than we follow */
	EXEC_UNSEEN_MANY,	/* more bytes or commands than we read */
	EXEC_UNSEEN_PROGRAM,	/* an expansion makes the program's name */
	EXEC_UNSEEN_WORDS,	/* an expansion makes words that a rule needs */
	EXEC_UNSEEN_TEXT,	/* an expansion makes commands (sh -c "$x") */
	EXEC_UNSEEN_INPUT,	/* a shell reads commands from its input */
	EXEC_UNSEEN_LANGUAGE,	/* commands in a language we do not parse */
};

/* "an expansion in place of the program"; "" for EXEC_SEEN. */
const char	*unseen_words(enum exec_unseen);

#endif
