#include "launcher/plan/proxyvars.h"

#include <string.h>
#include <strings.h>

#include "launcher/plan/ports.h"
#include "platform/base/str.h"

/* At the end of a value they stand for the port of a proxy. */
#define HTTP_PORT	"\1"
#define SOCKS_PORT	"\2"
#define HTTP	"http://127.0.0.1:" HTTP_PORT
#define SOCKS	"socks5h://127.0.0.1:" SOCKS_PORT
#define NONE	"localhost,127.0.0.1,::1"	/* agents talk to themselves */

/*
 * First those of "auto", which help and break nothing we know of; behind them
 * those of "on" alone.  ALL_PROXY: Python's httpx, and the SDKs that stand on
 * it, do not start where it names SOCKS and socksio is not installed.
 * FTP_PROXY: wget refuses SOCKS there.  NODE_USE_ENV_PROXY: Node 24 warns on
 * stderr that this is an experiment.  Java has no quiet variable
 * (JAVA_TOOL_OPTIONS and JDK_JAVA_OPTIONS print a line each time), so it gets
 * none; nor do npm, pip, Gradle and Maven, which need none.
 */
static const char *const vars[] = {
	"HTTP_PROXY=" HTTP, "http_proxy=" HTTP,
	"HTTPS_PROXY=" HTTP, "https_proxy=" HTTP,
	"NO_PROXY=" NONE, "no_proxy=" NONE,
#define NAUTO 6
	"ALL_PROXY=" SOCKS, "all_proxy=" SOCKS,
	"FTP_PROXY=" SOCKS, "ftp_proxy=" SOCKS,
	"WS_PROXY=" HTTP, "ws_proxy=" HTTP,
	"WSS_PROXY=" HTTP, "wss_proxy=" HTTP,
	"GRPC_PROXY=" HTTP, "grpc_proxy=" HTTP,
	"NO_GRPC_PROXY=" NONE, "no_grpc_proxy=" NONE,
	"RSYNC_PROXY=127.0.0.1:" HTTP_PORT,
	"NODE_USE_ENV_PROXY=1",
	"YARN_HTTP_PROXY=" HTTP, "YARN_HTTPS_PROXY=" HTTP,
	"CARGO_HTTP_PROXY=" HTTP,
	"DOCKER_HTTP_PROXY=" HTTP, "DOCKER_HTTPS_PROXY=" HTTP,
	"CLOUDSDK_PROXY_TYPE=http",
	"CLOUDSDK_PROXY_ADDRESS=127.0.0.1", "CLOUDSDK_PROXY_PORT=" HTTP_PORT,
};

enum { NVARS = sizeof vars / sizeof vars[0] };

char *
proxyvars_nth(struct arena *a, const struct policy *p, size_t n)
{
	size_t limit = p->net.proxy_variables.value == NET_PROXYVARS_OFF ? 0 :
	    p->net.proxy_variables.value == NET_PROXYVARS_ON ? NVARS : NAUTO;

	size_t len;

	if (n >= limit)
		return NULL;
	len = strlen(vars[n]) - 1;
	if (vars[n][len] != HTTP_PORT[0] && vars[n][len] != SOCKS_PORT[0])
		return arena_strdup(a, vars[n]);
	return arena_printf(a, "%.*s%u", (int)len, vars[n], (unsigned)
	    (vars[n][len] == HTTP_PORT[0] ? ports_http(p) : ports_socks(p)));
}

size_t
proxyvars_count(void)
{
	return NVARS;
}

/* HTTP_PROXY, Ftp_Proxy, npm_config_proxy, npm_config_noproxy, PIP_PROXY … */
bool
proxyvars_is(const char *var)
{
	static const char cloud[] = "CLOUDSDK_PROXY_";
	size_t n = strcspn(var, "=");

	return (n >= 6 && strncasecmp(var + n - 6, "_proxy", 6) == 0) ||
	    (n >= 8 && strncasecmp(var + n - 8, "_noproxy", 8) == 0) ||
	    strncmp(var, cloud, sizeof cloud - 1) == 0;
}

/* ---- Java ---- */

static bool
is_java(const char *var)
{
	static const char *const names[] = { "JAVA_TOOL_OPTIONS",
	    "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JAVA_OPTS", "GRADLE_OPTS",
	    "MAVEN_OPTS", "SBT_OPTS" };
	struct str name = { var, strcspn(var, "=") };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (str_eq(name, names[i]))
			return true;
	return false;
}

static bool
is_proxy_option(const char *word)
{
	static const char *const starts[] = { "-Dhttp.proxy", "-Dhttps.proxy",
	    "-Dftp.proxy", "-DsocksProxy", "-Dhttp.nonProxyHosts",
	    "-Dftp.nonProxyHosts", "-Djava.net.useSystemProxies" };

	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
		if (strncmp(word, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

char *
proxyvars_scrub(struct arena *a, char *var)
{
	char *copy, *out, *word, *rest;
	size_t n = strcspn(var, "=");
	bool is_first = true;

	if (!is_java(var) || strstr(var, "rox") == NULL)
		return var;
	copy = arena_strdup(a, var);
	out = arena_strdup(a, var);
	rest = copy + n + (copy[n] == '=');
	out[rest - copy] = '\0';
	while ((word = strsep(&rest, " \t\n")) != NULL) {
		if (word[0] == '\0' || is_proxy_option(word))
			continue;
		if (!is_first)
			strcat(out, " ");
		strcat(out, word);
		is_first = false;
	}
	return out;
}
