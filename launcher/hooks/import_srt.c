/* sandbox-runtime's settings: nearly our own keys. */
#include "launcher/hooks/import_parts.h"

#include <string.h>

static const char *
srt_path(struct import *m, const char *text)
{
	size_t n = strlen(text);

	if (n > 3 && strcmp(text + n - 3, "/**") == 0)
		text = arena_strndup(m->arena, text, n - 3);
	return import_escape(m, text);
}

static const struct import_row network[] = {
	{ .name = "allowedDomains", .key = KEY_OF(net.allowed_domains) },
	{ .name = "deniedDomains", .key = KEY_OF(net.denied_domains) },
	{ .name = "allowUnixSockets", .key = KEY_OF(net.allow_unix_sockets),
	  .fn = srt_path },
	{ .name = "allowAllUnixSockets",
	  .key = KEY_OF(net.allow_all_unix_sockets) },
	{ .name = "allowLocalBinding", .key = KEY_OF(net.allow_local_binding) },
	{ .name = "httpProxyPort", .why = "fence brings its own proxy" },
	{ .name = "socksProxyPort", .why = "fence brings its own proxy" },
	{ .name = "mitmProxy", .why = "fence does not open TLS; "
	  "network.upstreamProxy is for hosts that no list names" },
	{ .name = "parentProxy", .why = "network.via says how allowed traffic "
	  "leaves this host" },
	{ .name = NULL },
};

static const struct import_row files[] = {
	{ .name = "allowWrite", .key = KEY_OF(fs.allow_write),
	  .fn = srt_path },
	{ .name = "denyWrite", .key = KEY_OF(fs.deny_write),
	  .fn = srt_path },
	{ .name = "allowRead", .key = KEY_OF(fs.allow_read),
	  .fn = srt_path },
	{ .name = "denyRead", .key = KEY_OF(fs.deny_read),
	  .fn = srt_path },
	{ .name = "allowGitConfig", .key = KEY_OF(fs.allow_git_config) },
	{ .name = NULL },
};

static const struct import_row top[] = {
	{ .name = "allowPty", .key = KEY_OF(allow_pty) },
	{ .name = "ignoreViolations", .why = "fence tells every refusal" },
	{ .name = "enableWeakerNestedSandbox", .why = "fence has no weaker "
	  "jail for that" },
	{ .name = "enableWeakerNetworkIsolation", .why = "fence has no weaker "
	  "gate for that" },
	{ .name = "mandatoryDenySearchDepth", .why = "guarded names are "
	  "looked for as fence-policy(5) says" },
	{ .name = "ripgrep", .why = "fence looks for itself" },
	{ .name = "seccomp", .why = "fence brings its own filter" },
	{ .name = NULL },
};

void
import_srt(struct import *m, const struct jnode *root)
{
	for (const struct jnode *n = root->child; n != NULL; n = n->next) {
		if (strcmp(n->key, "network") == 0)
			import_rows(m, n, network);
		else if (strcmp(n->key, "filesystem") == 0)
			import_rows(m, n, files);
		else if (strcmp(n->key, "$schema") != 0)
			import_member(m, n, top);
	}
}
