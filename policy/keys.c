#include "policy/keys.h"

#include <string.h>

#include "policy/check.h"
#include "policy/covers.h"
#include "policy/rule.h"
#include "policy/settle.h"

/* A row whose type and field disagree does not compile. */
#define TYPE_FITS(t, member)						\
	_Generic(((struct policy *)0)->member,				\
	    struct strlist: (t) == KEY_STRLIST,				\
	    struct intlist: (t) == KEY_INTLIST,				\
	    struct strmap: (t) == KEY_STRMAP,				\
	    struct flag: (t) == KEY_BOOL,				\
	    struct tristate: (t) == KEY_TRISTATE,			\
	    struct number: (t) == KEY_INT,				\
	    struct size: (t) == KEY_SIZE,				\
	    struct duration: (t) == KEY_DURATION,			\
	    struct choice: (t) == KEY_ENUM,				\
	    struct string: (t) == KEY_STRING)
#define FIELD(t, member)						\
	.type = (t), .offset = offsetof(struct policy, member) +	\
	    0 * sizeof(char[TYPE_FITS(t, member) ? 1 : -1])
#define WORDS(...)	(const char *const []){ __VA_ARGS__, NULL }
#define RANK(...)	(const uint8_t []){ __VA_ARGS__ }

/* How a key behaves between layers.  Most rows say one of these. */
#define NEITHER		.way = WAY_NEITHER, .settle = settle_first
#define GRANTS		.way = WAY_GRANTS, .settle = settle_strictest
#define RESTRICTS	.way = WAY_RESTRICTS, .settle = settle_strictest
/* A decider asks each layer. */
#define GRANTS_ASKED	.way = WAY_GRANTS, .settle = settle_asked
#define RESTRICTS_ASKED	.way = WAY_RESTRICTS, .settle = settle_asked
/* The outer fence's policy can hold it, an inner one cannot. */
#define OUTER_ONLY	.nested = LOST_ALL

/*
 * The checks as regular expressions, for editors: never stricter than the
 * reader on what people write, and as strict as an expression can be.
 */
#define RE_LABEL	"[^\\x00-,./:-@\\[-\\^`{-\\x7f]+"
#define RE_NOT_NUMBER	"(?!(?:[^:/]*\\.)?[0-9]+(?::[0-9]+)?$)"
#define RE_NAME		RE_NOT_NUMBER RE_LABEL "(?:\\." RE_LABEL ")*"
#define RE_WILD		"\\*\\." RE_LABEL "(?:\\." RE_LABEL ")+"
#define RE_BYTE		"(?:[1-9]?[0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])"
#define RE_V4		RE_BYTE "(?:\\." RE_BYTE "){3}" \
			"(?:/(?:[12]?[0-9]|3[0-2]))?"
#define RE_V6		"[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*" \
			"(?:/(?:[1-9]?[0-9]|1[01][0-9]|12[0-8]))?"
#define RE_PORT		"(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}" \
			"|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
#define RE_DOMAIN	"^!?(?:(?:\\*|" RE_WILD "|" RE_NAME "|" RE_V4 \
			"|\\[" RE_V6 "\\])" RE_PORT "|" RE_V6 ")$"
#define RE_RANGE	"^!?(?:\\*|" RE_WILD "|" RE_NAME "|" RE_V4 "|" RE_V6 \
			"|\\[" RE_V6 "\\])$"
#define RE_PATH		"^!?(?!!)(?!~[^/])[\\s\\S]"
#define RE_DEVICE	"^!?/dev/."
#define RE_MACH		"^!?(?!!)(?:\\*|[^*]+\\*?)$"
#define RE_COMMAND	"^!?(?!!)[\\s\\S]*[^ \\t!]"
#define RE_SSH_HOST	"^!?(?!!)(?!.*[@/])(?!^!?[^:]*:[^:]*$).+$"
#define RE_ENV		"^!?(?:\\*|[A-Za-z_][A-Za-z0-9_]*\\*?)$"
#define RE_ENV_SET	"^!?[A-Za-z_][A-Za-z0-9_]*$"
#define RE_VALUE	"(?:[iu](?:8|16|32|64)?|[pfd]|[sbo][0-9]{0,4})"
#define RE_PROBE	"^!?[A-Za-z_][A-Za-z0-9_]*[ \\t]*\\([ \\t]*(?:" RE_VALUE \
			"[ \\t]*(?:,[ \\t]*" RE_VALUE "[ \\t]*)*)?\\)" \
			"[ \\t]*:[ \\t]*(?:v|" RE_VALUE ")[ \\t]*$"
#define RE_CODED	"%[0-9A-Fa-f]{2}"
#define RE_LOGIN	"(?:[^:/%]|" RE_CODED ")+(?::(?:[^%]|" RE_CODED ")*)?@"
#define RE_URL		"(?:http|socks5h?)://(?:" RE_LOGIN ")?(?:" RE_LABEL "(?:\\." \
			RE_LABEL ")*\\.?|\\[" RE_V6 "\\])" RE_PORT "/?"

const struct key policy_keys[] = {
	{ .name = "$schema", .type = KEY_IGNORED,
	  NEITHER,
	  .example = "\"https://example.com/fence.schema.json\"",
	  .help = "For editors; passed over." },
	{ .name = "extends", FIELD(KEY_STRLIST, extends),
	  NEITHER,
	  .check = check_extends, .may_be_lone = true,
	  .schema = "[\\s\\S]", .fallback = "[]",
	  .example = "\"code\"",
	  .help = "Policies that this one builds on: the name of a template, "
		  "a file (with a slash, or beginning with a dot), or "
		  "\"@base\", the user's own policy. A list is merged from "
		  "left to right." },
	{ .name = "allowPty", FIELD(KEY_BOOL, allow_pty),
	  GRANTS, .is_macos = true,
	  .fallback = "false", .example = "true",
	  .help = "Whether the command may open terminals of its own (macOS). "
		  "On Linux it always may, and they are the jail's." },
	{ .name = "allowNestedSandbox",
	  FIELD(KEY_BOOL, allow_nested_sandbox),
	  GRANTS,
	  .fallback = "false", .example = "true",
	  .help = "Whether programs inside may make namespaces and mounts of "
		  "their own, as agents that bring a sandbox (bwrap) do. "
		  "Files are then held by mounts alone, without Landlock. "
		  "Refused when root starts the run, and beside "
		  "limits.memory." },
	{ .name = "forceNewSession",
	  FIELD(KEY_TRISTATE, force_new_session),
	  RESTRICTS,
	  .fallback = "null", .example = "false",
	  .help = "Whether the command runs in a session of its own, on a "
		  "terminal with a terminal of its own. null: only where "
		  "the kernel cannot keep signals inside otherwise (before "
		  "Linux 6.12)." },
	{ .name = "profile", FIELD(KEY_ENUM, profile),
	  RESTRICTS, .nested = LOST_WORD + PROFILE_STRICT,
	  .words = WORDS("standard", "strict"),
	  .fallback = "\"standard\"", .example = "\"strict\"",
	  .help = "\"strict\" lays the template strict over this policy, lets "
		  "through only a measured list of system calls, and ends "
		  "the run when a guarded name appears." },

	{ .name = "network.allowedDomains",
	  FIELD(KEY_STRLIST, net.allowed_domains),
	  GRANTS_ASKED, .covers = covers_domain, .live = LIVE_NOW,
	  .direct = LOST_NARROW, .nested = LOST_NARROW,
	  .direct_hint = "\"*\" is what this mode gives: add it knowingly",
	  .nested_hint = "\"*\" leaves the hosts to the outer fence-run, [] "
			 "closes the network",
	  .check = check_domain,
	  .schema = RE_DOMAIN, .fallback = "[]",
	  .example = "[\"example.com\", \"*.example.org:443\", "
		     "\"10.0.0.0/8\"]",
	  .help = "Hosts the command may reach. \"*.example.com\" matches "
		  "every subdomain, \"*\" every host. An address or a range "
		  "in CIDR notation is a host, too; a port behind a colon "
		  "limits the entry to it." },
	{ .name = "network.deniedDomains",
	  FIELD(KEY_STRLIST, net.denied_domains),
	  RESTRICTS_ASKED, .live = LIVE_NOW,
	  .direct = LOST_ALL, .nested = LOST_ALL,
	  .direct_hint = "take the entries out (\"!x\" for inherited ones), "
			 "or keep network.mode \"gate\"",
	  .nested_hint = "the outer fence-run decides which hosts are "
			 "reached: put it into its policy",
	  .check = check_domain,
	  .schema = RE_DOMAIN, .fallback = "[]",
	  .example = "[\"telemetry.example.com\", \"192.0.2.0/24\"]",
	  .help = "Hosts the command may not reach, whatever "
		  "network.allowedDomains says. Addresses and ranges also "
		  "hold for names that resolve to them." },
	{ .name = "network.allowPrivate",
	  FIELD(KEY_STRLIST, net.allow_private),
	  GRANTS_ASKED, .live = LIVE_NOW, .direct = LOST_ALL,
	  .check = check_private,
	  .schema = RE_RANGE, .fallback = "[]",
	  .example = "[\"10.1.0.0/16\", \"*.corp.example.com\"]",
	  .help = "Private addresses that allowed names may lead to: ranges, "
		  "or the names that may resolve to any private address. "
		  "Grants nothing by itself." },
	{ .name = "network.mode", FIELD(KEY_ENUM, net.mode),
	  GRANTS, .live = LIVE_FIXED,
	  .words = WORDS("gate", "direct"),
	  .fallback = "\"gate\"", .example = "\"direct\"",
	  .help = "\"gate\" decides about every connection. \"direct\" gives "
		  "the command the host's network as it is, and says so; other "
		  "network keys that could not be held then are errors." },
	{ .name = "network.defaultAction",
	  FIELD(KEY_ENUM, net.default_action),
	  GRANTS, .live = LIVE_FIXED,
	  .words = WORDS("deny", "proxy"),
	  .fallback = "\"deny\"",
	  .example = "\"proxy\"",
	  .help = "What becomes of hosts that no list names: refused, or "
		  "handed to network.upstreamProxy, also where that is "
		  "written and this is not." },
	{ .name = "network.upstreamProxy",
	  FIELD(KEY_STRING, net.upstream_proxy),
	  .way = WAY_GRANTS, .settle = settle_first,
	  .live = LIVE_FIXED, .direct = LOST_URL,
	  .check = check_proxy_url,
	  .schema = "^" RE_URL "$", .fallback = "\"\"",
	  .example = "\"http://proxy.example.com:8080\"",
	  .help = "The proxy that decides about hosts that no list names: "
		  "http, socks5 or socks5h, with USER:PASSWORD@ before its "
		  "host if it wants them." },
	{ .name = "network.via", FIELD(KEY_STRING, net.via),
	  .way = WAY_GRANTS, .settle = settle_first,
	  .live = LIVE_FIXED, .direct = LOST_URL,
	  .check = check_via, .schema = "^(?:auto|direct|" RE_URL ")$",
	  .fallback = "\"auto\"", .example = "\"direct\"",
	  .help = "How allowed traffic leaves this host: through the proxy "
		  "of the host's own variables (\"auto\"), without one "
		  "(\"direct\"), or through the proxy named here, written "
		  "as in network.upstreamProxy. See LEAVING THE HOST." },
	{ .name = "network.sni", FIELD(KEY_ENUM, net.sni),
	  GRANTS, .live = LIVE_NOW, .direct = LOST_WORD + NET_SNI_ENFORCE,
	  .words = WORDS("enforce", "off"),
	  .fallback = "\"enforce\"", .example = "\"off\"",
	  .help = "Whether a TLS connection must name the host that it was "
		  "allowed for." },
	{ .name = "network.proxyVariables",
	  FIELD(KEY_ENUM, net.proxy_variables),
	  NEITHER, .direct = LOST_WORD + NET_PROXYVARS_ON,
	  .words = WORDS("auto", "on", "off"),
	  .fallback = "\"auto\"", .example = "\"off\"",
	  .help = "Which variables lead programs to the proxies inside. "
		  "\"auto\": HTTP_PROXY, HTTPS_PROXY and NO_PROXY in both "
		  "cases. \"on\": also ALL_PROXY (SOCKS), FTP_PROXY, "
		  "WS_PROXY, WSS_PROXY, GRPC_PROXY, RSYNC_PROXY, "
		  "NODE_USE_ENV_PROXY and those of Yarn, Cargo, Docker and "
		  "gcloud. \"off\": none. The caller's are removed always; "
		  "the gate takes the connections of programs that know none, "
		  "too." },
	{ .name = "network.allowUnixSockets",
	  FIELD(KEY_STRLIST, net.allow_unix_sockets),
	  GRANTS,
	  .check = check_path,
	  .schema = RE_PATH, .fallback = "[]",
	  .example = "[\"/run/docker.sock\"]",
	  .help = "Sockets of the host, by path, that the command may "
		  "connect to." },
	{ .name = "network.allowAllUnixSockets",
	  FIELD(KEY_BOOL, net.allow_all_unix_sockets),
	  GRANTS,
	  .fallback = "false", .example = "true",
	  .help = "Every socket of the host that the command can see." },
	{ .name = "network.hostPorts",
	  FIELD(KEY_INTLIST, net.host_ports),
	  GRANTS_ASKED, .live = LIVE_LESS, .direct = LOST_ALL,
	  .min = 1, .max = 65535, .fallback = "[]",
	  .example = "[5432, 6379]",
	  .help = "Ports of the host's localhost that the command reaches "
		  "at the same ports of its own localhost." },
	{ .name = "network.allowLocalOutbound",
	  FIELD(KEY_TRISTATE, net.allow_local_outbound),
	  GRANTS_ASKED, .direct = LOST_ALL,
	  .fallback = "null", .example = "true",
	  .help = "Whether the command may reach services on the host's "
		  "localhost; on Linux those of "
		  "network.allowLocalOutboundPorts. null: as "
		  "network.allowLocalBinding." },
	{ .name = "network.allowLocalBinding",
	  FIELD(KEY_BOOL, net.allow_local_binding),
	  GRANTS, .is_macos = true, .direct = LOST_ALL,
	  .fallback = "false", .example = "true",
	  .help = "Whether the command may listen on localhost where it "
		  "shares the host's (macOS). On Linux its localhost is its "
		  "own." },
	{ .name = "network.allowLocalOutboundPorts",
	  FIELD(KEY_INTLIST, net.allow_local_outbound_ports),
	  GRANTS_ASKED, .live = LIVE_LESS, .direct = LOST_ALL,
	  .min = 1, .max = 65535, .fallback = "[]",
	  .example = "[5432, 6379]",
	  .help = "As network.hostPorts, but only where "
		  "network.allowLocalOutbound holds." },
	{ .name = "network.httpProxyPort",
	  FIELD(KEY_INT, net.http_proxy_port),
	  NEITHER, .direct = LOST_ALL,
	  .min = 0, .max = 65535,
	  .fallback = "0", .example = "8080",
	  .help = "Port of the HTTP proxy on the command's localhost. 0: "
		  "3128." },
	{ .name = "network.socksProxyPort",
	  FIELD(KEY_INT, net.socks_proxy_port),
	  NEITHER, .direct = LOST_ALL,
	  .min = 0, .max = 65535,
	  .fallback = "0", .example = "1081",
	  .help = "Port of the SOCKS proxy on the command's localhost. 0: "
		  "1080." },

	{ .name = "filesystem.defaultDenyRead",
	  FIELD(KEY_BOOL, fs.default_deny_read),
	  RESTRICTS_ASKED,
	  .fallback = "false", .example = "true",
	  .help = "Only the system's own folders, the user's tool chains and "
		  "what the lists below grant can be read." },
	{ .name = "filesystem.strictDenyRead",
	  FIELD(KEY_BOOL, fs.strict_deny_read),
	  RESTRICTS_ASKED,
	  .fallback = "false", .example = "true",
	  .help = "Only what the lists below grant can be read, not even the "
		  "system's own folders. Implies "
		  "filesystem.defaultDenyRead." },
	{ .name = "filesystem.allowRead",
	  FIELD(KEY_STRLIST, fs.allow_read),
	  GRANTS_ASKED, .covers = covers_read, .is_mounted = true,
	  .check = check_path,
	  .schema = RE_PATH, .fallback = "[]",
	  .example = "[\".\", \"~/.ssh/known_hosts\"]",
	  .help = "Paths the command may read although a shorter entry of "
		  "filesystem.denyRead, or the mode, denies it." },
	{ .name = "filesystem.allowExecute",
	  FIELD(KEY_STRLIST, fs.allow_execute),
	  GRANTS_ASKED, .covers = covers_exec, .is_mounted = true,
	  .check = check_path,
	  .schema = RE_PATH, .fallback = "[]",
	  .example = "[\"/opt/tools/bin\"]",
	  .help = "Paths the command may read and execute, as if they were in "
		  "filesystem.allowRead; where reading has to be granted, "
		  "folders of this list are not listed." },
	{ .name = "filesystem.denyRead",
	  FIELD(KEY_STRLIST, fs.deny_read),
	  RESTRICTS_ASKED, .is_mounted = true,
	  .check = check_denied_path,
	  .schema = RE_PATH, .fallback = "[]",
	  .example = "[\"~/.ssh\", \"**/.env\"]",
	  .help = "Paths the command may neither read nor write. A longer "
		  "match of an allowing list opens them again." },
	{ .name = "filesystem.allowWrite",
	  FIELD(KEY_STRLIST, fs.allow_write),
	  GRANTS_ASKED, .covers = covers_write, .is_mounted = true,
	  .check = check_path,
	  .schema = RE_PATH, .fallback = "[]",
	  .example = "[\".\", \"~/.cache\"]",
	  .help = "Paths the command may write to, with all that is below "
		  "them. Relative ones belong to the workspace." },
	{ .name = "filesystem.denyWrite",
	  FIELD(KEY_STRLIST, fs.deny_write),
	  RESTRICTS_ASKED, .is_mounted = true,
	  .check = check_denied_path,
	  .schema = RE_PATH, .fallback = "[]",
	  .example = "[\".git\", \"**/*.{key,pem}\"]",
	  .help = "Paths inside filesystem.allowWrite that stay "
		  "read-only. The longest match decides." },
	{ .name = "filesystem.allowGitConfig",
	  FIELD(KEY_BOOL, fs.allow_git_config),
	  GRANTS,
	  .fallback = "false", .example = "true",
	  .help = "Whether .git/config, a guarded name, may be written." },
	{ .name = "filesystem.guard", FIELD(KEY_ENUM, fs.guard),
	  RESTRICTS, .built = LOST_WORD + GUARD_BROKER,
	  .words = WORDS("watch", "broker"),
	  .fallback = "\"watch\"", .example = "\"watch\"",
	  .help = "How guarded names that do not exist yet are kept from "
		  "outliving the run." },
	{ .name = "filesystem.wslInterop",
	  FIELD(KEY_TRISTATE, fs.wsl_interop),
	  GRANTS,
	  .fallback = "null", .example = "false",
	  .help = "Whether programs of Windows may be started under WSL. "
		  "null: where it is WSL." },

	{ .name = "devices.mode", FIELD(KEY_ENUM, devices.mode),
	  GRANTS, .rank = RANK(1, 0, 2),
	  .words = WORDS("auto", "minimal", "host"),
	  .fallback = "\"auto\"", .example = "\"minimal\"",
	  .help = "The command's /dev: a private one with the harmless nodes "
		  "(\"minimal\"), or the host's." },
	{ .name = "devices.allow", FIELD(KEY_STRLIST, devices.allow),
	  GRANTS,
	  .check = check_device, .schema = RE_DEVICE, .fallback = "[]",
	  .example = "[\"/dev/kvm\"]",
	  .help = "Nodes that a private /dev has in addition." },

	{ .name = "macos.mach.lookup", FIELD(KEY_STRLIST, macos.mach_lookup),
	  GRANTS, .is_macos = true,
	  .check = check_mach, .schema = RE_MACH, .fallback = "[]",
	  .example = "[\"com.apple.pasteboard.*\"]",
	  .help = "Mach services the command may look up. Silent on other "
		  "systems." },
	{ .name = "macos.mach.register",
	  FIELD(KEY_STRLIST, macos.mach_register),
	  GRANTS, .is_macos = true,
	  .check = check_mach, .schema = RE_MACH, .fallback = "[]",
	  .example = "[\"org.chromium.*\"]",
	  .help = "Mach services the command may register. Silent on other "
		  "systems." },

	{ .name = "command.deny", FIELD(KEY_STRLIST, command.deny),
	  RESTRICTS_ASKED, OUTER_ONLY,
	  .check = check_command, .schema = RE_COMMAND, .fallback = "[]",
	  .example = "[\"git push\", \"npm publish\"]",
	  .help = "Commands that are refused, by their first words. "
		  "Guidance for the semi-trusted, not a wall." },
	{ .name = "command.allow", FIELD(KEY_STRLIST, command.allow),
	  GRANTS_ASKED,
	  .check = check_command, .schema = RE_COMMAND, .fallback = "[]",
	  .example = "[\"git push origin docs\"]",
	  .help = "Commands that are let through whatever is denied." },
	{ .name = "command.useDefaults",
	  FIELD(KEY_TRISTATE, command.use_defaults),
	  RESTRICTS_ASKED,
	  .fallback = "true", .example = "false",
	  .help = "Whether the built-in list of dangerous commands "
		  "holds, too." },
	{ .name = "command.acceptSharedBinaryCannotRuntimeDeny",
	  FIELD(KEY_STRLIST, command.accept_shared_binary),
	  GRANTS,
	  .check = check_command, .schema = RE_COMMAND, .fallback = "[]",
	  .example = "[\"dd\"]",
	  .help = "Commands that need not be masked while the run lasts, "
		  "because their file is also another program." },
	{ .name = "command.runtimeExecPolicy",
	  FIELD(KEY_ENUM, command.runtime_exec_policy),
	  RESTRICTS, .rank = RANK(2, 1, 3, 0),
	  .words = WORDS("auto", "path", "argv", "off"),
	  .fallback = "\"auto\"", .example = "\"argv\"",
	  .help = "Whether commands are also refused while the run lasts: by "
		  "their file (\"path\": files of denials of a single word "
		  "are masked), by their arguments, too (\"argv\": each "
		  "execution is looked at, about 0.1 ms each), or not "
		  "(\"off\"). \"auto\": what the rules need, \"argv\" also "
		  "where a file answers to other names. The built-in list "
		  "acts before the run only." },
	{ .name = "command.unseen", FIELD(KEY_ENUM, command.unseen),
	  RESTRICTS_ASKED,
	  .words = WORDS("allow", "deny"),
	  .fallback = "\"allow\"", .example = "\"deny\"",
	  .help = "What becomes of a line with a part that cannot be looked "
		  "into before it runs, as in 'curl ... | sh'. See "
		  "COMMANDS." },

	{ .name = "ssh.allowedHosts", FIELD(KEY_STRLIST, ssh.allowed_hosts),
	  GRANTS_ASKED, OUTER_ONLY,
	  .check = check_ssh_host, .schema = RE_SSH_HOST, .fallback = "[]",
	  .example = "[\"prod-*.example.com\"]",
	  .help = "Hosts that ssh and its kin may be pointed at." },
	{ .name = "ssh.deniedHosts", FIELD(KEY_STRLIST, ssh.denied_hosts),
	  RESTRICTS_ASKED, OUTER_ONLY,
	  .check = check_ssh_host, .schema = RE_SSH_HOST, .fallback = "[]",
	  .example = "[\"db.example.com\"]",
	  .help = "Hosts that ssh may not be pointed at." },
	{ .name = "ssh.allowedCommands",
	  FIELD(KEY_STRLIST, ssh.allowed_commands),
	  GRANTS_ASKED, OUTER_ONLY,
	  .check = check_command, .schema = RE_COMMAND, .fallback = "[]",
	  .example = "[\"uptime\"]",
	  .help = "Commands that may be run on those hosts." },
	{ .name = "ssh.deniedCommands",
	  FIELD(KEY_STRLIST, ssh.denied_commands),
	  RESTRICTS_ASKED, OUTER_ONLY,
	  .check = check_command, .schema = RE_COMMAND, .fallback = "[]",
	  .example = "[\"shutdown\"]",
	  .help = "Commands that may not be run on those hosts." },
	{ .name = "ssh.allowAllCommands",
	  FIELD(KEY_BOOL, ssh.allow_all_commands),
	  GRANTS_ASKED,
	  .fallback = "false", .example = "true",
	  .help = "Every command that is not denied may be run there." },
	{ .name = "ssh.inheritDeny", FIELD(KEY_BOOL, ssh.inherit_deny),
	  RESTRICTS_ASKED,
	  .fallback = "false", .example = "true",
	  .help = "command.deny holds for commands run there, too." },

	{ .name = "env.allow", FIELD(KEY_STRLIST, env.allow),
	  GRANTS_ASKED, .covers = covers_variable,
	  .check = check_env_name, .schema = RE_ENV, .fallback = "[]",
	  .example = "[\"GITHUB_TOKEN\", \"CARGO_*\"]",
	  .help = "Variables the command gets although env.deny or "
		  "env.denySecrets of the same layer would take them "
		  "away." },
	{ .name = "env.deny", FIELD(KEY_STRLIST, env.deny),
	  RESTRICTS_ASKED,
	  .check = check_env_name, .schema = RE_ENV, .fallback = "[]",
	  .example = "[\"AWS_*\"]",
	  .help = "Variables the command does not get." },
	{ .name = "env.set", FIELD(KEY_STRMAP, env.set),
	  .way = WAY_GRANTS, .settle = settle_first,
	  .check = check_env_set, .schema = RE_ENV_SET, .fallback = "{}",
	  .example = "{ \"CI\": \"1\" }",
	  .help = "Variables the command gets with the value written here." },
	{ .name = "env.loader", FIELD(KEY_ENUM, env.loader),
	  RESTRICTS,
	  .words = WORDS("allow", "refuse"),
	  .fallback = "\"allow\"", .example = "\"refuse\"",
	  .help = "Whether a program inside may hand its children a variable "
		  "by which the loader takes up code: LD_PRELOAD, "
		  "LD_LIBRARY_PATH, LD_AUDIT, LD_ORIGIN_PATH, GCONV_PATH. "
		  "\"refuse\" looks at each execution; what the command "
		  "itself was started with passes." },
	{ .name = "env.denySecrets", FIELD(KEY_BOOL, env.deny_secrets),
	  RESTRICTS_ASKED,
	  .fallback = "false", .example = "true",
	  .help = "Takes away every variable whose name says that it is a "
		  "token, a key or a password." },

	{ .name = "limits.memory", FIELD(KEY_SIZE, limits.memory),
	  RESTRICTS, OUTER_ONLY,
	  .example = "\"2G\"",
	  .help = "Memory of all processes of the run together. Only a cgroup "
		  "can hold it: an error where none is delegated to you." },
	{ .name = "limits.processMemory",
	  FIELD(KEY_SIZE, limits.process_memory),
	  RESTRICTS,
	  .example = "\"1G\"",
	  .help = "Memory of one process: what it allocates and maps for "
		  "itself alone, not what it shares." },
	{ .name = "limits.processes", FIELD(KEY_INT, limits.processes),
	  RESTRICTS, OUTER_ONLY,
	  .min = 1, .max = 4194304, .example = "512",
	  .help = "Processes and threads at one time. Started by root, only "
		  "a cgroup can hold it." },
	{ .name = "limits.time", FIELD(KEY_DURATION, limits.time),
	  RESTRICTS, OUTER_ONLY,
	  .example = "\"30m\"",
	  .help = "How long the command may run; then it gets SIGTERM, 5 "
		  "seconds later the whole jail SIGKILL, and the exit "
		  "status is 124." },
	{ .name = "limits.files", FIELD(KEY_INT, limits.files),
	  RESTRICTS,
	  .min = 16, .max = 1048576, .example = "1024",
	  .help = "Open files of one process." },
	{ .name = "limits.tmp", FIELD(KEY_SIZE, limits.tmp),
	  .way = WAY_RESTRICTS, .settle = settle_room, OUTER_ONLY,
	  .example = "\"512M\"",
	  .help = "Room in the command's own /tmp." },

	{ .name = "trace.calls", FIELD(KEY_STRLIST, trace.calls),
	  NEITHER, OUTER_ONLY,
	  .check = check_probe, .schema = RE_PROBE, .fallback = "[]",
	  .example = "[\"getenv(s):s\", \"SSL_write(p,b,i):i\"]",
	  .help = "Functions of libraries whose calls are told with arguments "
		  "and result; PROBES has the signatures." },

	{ .name = "record.keep", FIELD(KEY_INT, record.keep),
	  NEITHER,
	  .min = 0, .max = 1000,
	  .fallback = "20", .example = "50",
	  .help = "How many runs with refusals are remembered for fence "
		  "trace, 16 MiB in all. 0: this run leaves no record." },
};
const size_t policy_nkeys = sizeof policy_keys / sizeof *policy_keys;

void *
keys_field(const struct key *key, struct policy *p)
{
	return (char *)p + key->offset;
}

const void *
keys_cfield(const struct key *key, const struct policy *p)
{
	return (const char *)p + key->offset;
}

/* The list is the first member of its kin. */
_Static_assert(offsetof(struct intlist, list) == 0, "struct intlist");
_Static_assert(offsetof(struct strmap, list) == 0, "struct strmap");

const struct key *
keys_at(size_t offset)
{
	for (size_t i = 0; i < policy_nkeys; i++)
		if (policy_keys[i].offset == offset &&
		    policy_keys[i].type != KEY_IGNORED)
			return &policy_keys[i];
	return NULL;
}

bool
keys_has_zero(const struct key *key)
{
	return key->type == KEY_INT && key->fallback != NULL &&
	    strcmp(key->fallback, "0") != 0;
}

const char *
keys_name(size_t offset)
{
	const struct key *k = keys_at(offset);

	return k != NULL ? k->name : "";
}

unsigned
keys_rank(const struct key *k, int word)
{
	return k->rank != NULL ? k->rank[word] : (unsigned)word;
}

bool
keys_is_limit(const struct key *k)
{
	return k->way == WAY_RESTRICTS && (k->type == KEY_INT ||
	    k->type == KEY_SIZE || k->type == KEY_DURATION);
}

/* ---- values that are lost ---- */

static const struct origin *
lost_entry(enum key_lost lost, const struct strlist *l)
{
	for (size_t i = 0; lost == LOST_NARROW && i < l->n; i++)
		if (strcmp(l->v[i].text, "*") == 0)
			return NULL;
	if (l->n > 0)
		return &l->v[0].at;
	return lost == LOST_NARROW && l->is_set ? &l->at : NULL;
}

static const struct origin *
lost_string(enum key_lost lost, const struct string *s)
{
	bool is_lost = lost == LOST_URL ? strstr(s->text, "://") != NULL :
	    s->text[0] != '\0';

	return s->is_set && is_lost ? &s->at : NULL;
}

const struct origin *
keys_lost(const struct key *k, enum key_lost lost, const struct policy *p)
{
	const void *f = keys_cfield(k, p);
	const struct flag *flag = f;
	const struct tristate *tri = f;
	const struct number *n = f;
	const struct choice *c = f;
	bool asks = k->way == WAY_RESTRICTS;

	if (lost == LOST_NONE)
		return NULL;
	switch (k->type) {
	case KEY_STRLIST: case KEY_INTLIST: case KEY_STRMAP:
		return lost_entry(lost, f);
	case KEY_BOOL:
		return flag->is_set && flag->value == asks ? &flag->at : NULL;
	case KEY_TRISTATE:
		return tri->value == (asks ? TRI_TRUE : TRI_FALSE) ?
		    &tri->at : NULL;
	case KEY_INT: case KEY_SIZE: case KEY_DURATION:
		return n->value != 0 ? &n->at : NULL;
	case KEY_ENUM:
		return c->is_set && (lost == LOST_ALL ||
		    c->value == (int)lost - LOST_WORD) ? &c->at : NULL;
	case KEY_STRING:
		return lost_string(lost, f);
	case KEY_IGNORED:
		break;
	}
	return NULL;
}

/* ---- values ---- */

bool
keys_same(const struct key *k, const struct policy *a, const struct policy *b)
{
	const void *f = keys_cfield(k, a), *g = keys_cfield(k, b);

	switch (k->type) {
	case KEY_BOOL:
		return ((const struct flag *)f)->value ==
		    ((const struct flag *)g)->value;
	case KEY_TRISTATE:
		return ((const struct tristate *)f)->value ==
		    ((const struct tristate *)g)->value;
	case KEY_ENUM:
		return ((const struct choice *)f)->value ==
		    ((const struct choice *)g)->value;
	case KEY_STRING:
		return strcmp(((const struct string *)f)->text,
		    ((const struct string *)g)->text) == 0;
	default:
		return true;
	}
}

struct strlist *
keys_strlist(const struct key *key, struct policy *p)
{
	return key->type == KEY_STRLIST || key->type == KEY_INTLIST ||
	    key->type == KEY_STRMAP ? keys_field(key, p) : NULL;
}

const struct strlist *
keys_cstrlist(const struct key *key, const struct policy *p)
{
	return key->type == KEY_STRLIST || key->type == KEY_INTLIST ||
	    key->type == KEY_STRMAP ? keys_cfield(key, p) : NULL;
}
