/*
 * check: what a string of each kind may be; the regular expressions say the
 * same for the schema, as far as a regular expression can.
 */
#ifndef FENCE_POLICY_CHECK_H
#define FENCE_POLICY_CHECK_H

#include "policy/keys.h"

key_check_fn	check_domain;		/* "*.x.com:443", "10.0.0.0/8" */
key_check_fn	check_private;		/* the same without a port */
key_check_fn	check_path;
key_check_fn	check_denied_path;	/* "~" is both homes */
key_check_fn	check_device;		/* a path below /dev */
key_check_fn	check_mach;		/* "com.x", "com.x*", "*" */
key_check_fn	check_command;
key_check_fn	check_ssh_host;
key_check_fn	check_env_name;		/* "NAME", "PREFIX*", "*" */
key_check_fn	check_env_set;		/* entry->name */
key_check_fn	check_proxy_url;	/* "http://h:8080", "socks5://h" */
key_check_fn	check_via;		/* "auto", "direct", or a URL */
key_check_fn	check_extends;
key_check_fn	check_probe;		/* "getenv(s):s" */

/* "2G" -> bytes, "30m" -> milliseconds. */
int	 check_size(const char *text, uint64_t *ret, struct err *);
int	 check_duration(const char *text, uint64_t *ret, struct err *);


#endif
