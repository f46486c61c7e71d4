#include "launcher/plan/missing.h"

#include <ctype.h>
#include <string.h>

#include "platform/base/path.h"

/* ".json" and its like: letters behind the last dot, but for ".d". */
static bool
has_suffix(const char *name)
{
	const char *dot = strrchr(name, '.');

	if (dot == NULL || dot == name || dot[1] == '\0' ||
	    strcmp(dot, ".d") == 0)
		return false;
	for (const char *p = dot + 1; *p != '\0'; p++)
		if (!isalpha((unsigned char)*p))
			return false;
	return true;
}

bool
missing_is_directory(const char *path)
{
	static const char *const files[] = { "rc", "history", "profile",
	    "lock", "-cache", "config", "file", "netrc", "cookies" };
	static const char *const others[] = { "/Library/", "/System/",
	    "/private/", "/Applications/" };
	const char *name = path_name(path);
	size_t n = strlen(name);

	if (has_suffix(name))
		return false;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		size_t k = strlen(files[i]);

		if (n > k && strcmp(name + n - k, files[i]) == 0 &&
		    strcmp(name, ".config") != 0)
			return false;
	}
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strstr(path, others[i]) != NULL)
			return false;
	return true;
}
