#include "policy/keys.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "platform/base/buf.h"
#include "platform/base/str.h"
#include "policy/pattern.h"

/* A row whose type and field disagree does not compile. */
#define TYPE_OF_FIELD(member)						\
	_Generic(((struct policy *)0)->member, struct strlist: KEY_STRLIST)
#define FIELD(t, member)						\
	.type = (t), .offset = offsetof(struct policy, member) +	\
	    0 * sizeof(char[(t) == TYPE_OF_FIELD(member) ? 1 : -1])

static key_check_fn check_domain, check_path;

const struct key policy_keys[] = {
	{ .name = "$schema", .type = KEY_IGNORED,
	  .help = "For editors; ignored." },
	{ .name = "network.allowedDomains",
	  FIELD(KEY_STRLIST, net.allowed_domains), .check = check_domain,
	  .help = "Domains the command may reach. "
		  "\"*.example.com\" matches every subdomain, \"*\" every "
		  "host." },
	{ .name = "network.deniedDomains",
	  FIELD(KEY_STRLIST, net.denied_domains), .check = check_domain,
	  .help = "Domains the command may not reach, whatever "
		  "network.allowedDomains says." },
	{ .name = "filesystem.allowWrite",
	  FIELD(KEY_STRLIST, fs.allow_write), .check = check_path,
	  .help = "Paths the command may write to, with all that is below "
		  "them. Relative ones belong to the workspace." },
	{ .name = "filesystem.denyWrite",
	  FIELD(KEY_STRLIST, fs.deny_write), .check = check_path,
	  .help = "Paths inside filesystem.allowWrite that stay "
		  "read-only. The longest match decides." },
	{ .name = "filesystem.denyRead",
	  FIELD(KEY_STRLIST, fs.deny_read), .check = check_path,
	  .help = "Paths the command may neither read nor write. A longer "
		  "match of filesystem.allowWrite opens them again." },
};
const size_t policy_nkeys = sizeof policy_keys / sizeof *policy_keys;

/*
 * Known names without a row.  Ignoring one could drop a restriction, so each
 * is an error of its own; a name moves up when its row is written.
 */
static const char *const not_built[] = {
	"extends", "allowPty", "forceNewSession", "profile",
	"network.allowUnixSockets", "network.allowAllUnixSockets",
	"network.allowLocalBinding", "network.allowLocalOutbound",
	"network.allowLocalOutboundPorts", "network.httpProxyPort",
	"network.socksProxyPort", "network.upstreamProxy",
	"network.defaultAction", "network.allowPrivate", "network.mode",
	"network.sni", "network.via",
	"filesystem.defaultDenyRead", "filesystem.strictDenyRead",
	"filesystem.wslInterop", "filesystem.allowRead",
	"filesystem.allowExecute", "filesystem.allowGitConfig",
	"filesystem.guard",
	"devices.mode", "devices.allow",
	"macos.mach.lookup", "macos.mach.register",
	"command.deny", "command.allow", "command.useDefaults",
	"command.acceptSharedBinaryCannotRuntimeDeny",
	"command.runtimeExecPolicy",
	"ssh.allowedHosts", "ssh.deniedHosts", "ssh.allowedCommands",
	"ssh.deniedCommands", "ssh.allowAllCommands", "ssh.inheritDeny",
	"env.loader", "trace.calls",
};
enum { NNOT_BUILT = sizeof not_built / sizeof *not_built };

static int
check_domain(struct policy *p, const struct policy_env *env,
    struct entry *entry, struct err *e)
{
	(void)env;
	return pattern_domain(p->arena, entry->text, &entry->pattern, e);
}

static int
check_path(struct policy *p, const struct policy_env *env,
    struct entry *entry, struct err *e)
{
	return pattern_path(p->arena, entry->text, env, &entry->pattern, e);
}

struct strlist *
keys_strlist(const struct key *key, struct policy *p)
{
	assert(key->type == KEY_STRLIST);
	return (struct strlist *)((char *)p + key->offset);
}

/* All known names: the rows first. */
static const char *
name_at(size_t i)
{
	return i < policy_nkeys ? policy_keys[i].name :
	    i < policy_nkeys + NNOT_BUILT ? not_built[i - policy_nkeys] :
	    NULL;
}

enum key_status
keys_find(const char *name, const struct key **ret_key, char *spelling,
    size_t spelling_size)
{
	struct str want = str_of(name);
	const char *known;

	for (size_t i = 0; (known = name_at(i)) != NULL; i++) {
		struct str head = { known, want.len };
		bool is_long_enough = strlen(known) >= want.len;

		if (!is_long_enough || !str_caseeq(head, name) ||
		    (known[want.len] != '\0' && known[want.len] != '.'))
			continue;
		snprintf(spelling, spelling_size, "%.*s", (int)want.len,
		    known);
		if (known[want.len] == '.')
			return KEY_SECTION;
		if (i >= policy_nkeys)
			return KEY_NOT_BUILT;
		*ret_key = &policy_keys[i];
		return KEY_FOUND;
	}
	return KEY_UNKNOWN;
}

static const char *
last_name(const char *dotted)
{
	const char *dot = strrchr(dotted, '.');

	return dot != NULL ? dot + 1 : dotted;
}

/* How unlike are they?  UINT_MAX: too much to be a slip of the hand. */
static unsigned
unlikeness(const char *name, const char *known)
{
	const char *last = last_name(known);
	size_t section = (size_t)(last - known);
	size_t most = strlen(last) < 6 ? 1 : 2;
	unsigned d = str_distance(last_name(name), last);

	/* The right name in the wrong section is near, too. */
	if ((size_t)(last_name(name) - name) != section ||
	    strncmp(known, name, section) != 0)
		d++;
	return d <= most ? d : UINT_MAX;
}

/* The key or section that looks most like it; false if none comes near. */
static bool
nearest(const char *name, char *ret, size_t size)
{
	unsigned least = UINT_MAX, d;
	const char *known;
	char part[96];

	for (size_t i = 0; (known = name_at(i)) != NULL; i++)
		for (size_t n = 0; n == 0 || known[n - 1] != '\0'; n++) {
			if (known[n] != '.' && known[n] != '\0')
				continue;
			snprintf(part, sizeof part, "%.*s", (int)n, known);
			d = unlikeness(name, part);
			if (d < least) {
				least = d;
				snprintf(ret, size, "%s", part);
			}
		}
	return least != UINT_MAX;
}

static bool
is_first_of_section(size_t row, size_t section)
{
	const char *name = policy_keys[row].name;
	size_t n = section + strcspn(name + section, ".");

	for (size_t i = 0; i < row; i++)
		if (strncmp(policy_keys[i].name, name, n) == 0 &&
		    (policy_keys[i].name[n] == '.' ||
		    policy_keys[i].name[n] == '\0'))
			return false;
	return true;
}

/* "network, filesystem" for "x"; "allowWrite, ..." for "filesystem.x". */
static void
list_keys(const char *name, struct buf *b)
{
	size_t section = (size_t)(last_name(name) - name);

	for (size_t i = 0; i < policy_nkeys; i++) {
		const char *known = policy_keys[i].name;

		if (strncmp(known, name, section) != 0 ||
		    !is_first_of_section(i, section))
			continue;
		buf_printf(b, "%s%.*s", b->len != 0 ? ", " : "",
		    (int)strcspn(known + section, "."), known + section);
	}
}

void
keys_hint(const char *name, struct err *e)
{
	char near[96];
	struct buf b;

	if (nearest(name, near, sizeof near)) {
		err_hint(e, "did you mean '%s'?", near);
		return;
	}
	buf_init(&b, 140);
	list_keys(name, &b);
	if (b.len != 0)
		err_hint(e, "keys here: %s", b.data);
	else
		err_hint(e, "no key of this section is in this version");
	buf_release(&b);
}
