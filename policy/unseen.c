#include "policy/unseen.h"

const char *
unseen_words(enum exec_unseen unseen)
{
	switch (unseen) {
	case EXEC_SEEN:
		return "";
	case EXEC_UNSEEN_SYNTAX:
		return "the line cannot be parsed from here";
	case EXEC_UNSEEN_DEEP:
		return "commands nested too deep";
	case EXEC_UNSEEN_MANY:
		return "too long, or too many commands";
	case EXEC_UNSEEN_PROGRAM:
		return "an expansion makes the name of the program";
	case EXEC_UNSEEN_WORDS:
		return "an expansion makes words that a rule is about";
	case EXEC_UNSEEN_TEXT:
		return "an expansion makes the commands";
	case EXEC_UNSEEN_INPUT:
		return "a shell reads its commands from standard input";
	case EXEC_UNSEEN_LANGUAGE:
		return "commands in a language of its own";
	}
	return "";
}
