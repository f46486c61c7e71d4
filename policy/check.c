#include "policy/check.h"

#include <stdbool.h>
#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/str.h"
#include "policy/cmdrule.h"
#include "policy/pattern.h"
#include "policy/probesig.h"
#include "policy/proxyurl.h"

static const char letters[] = "_abcdefghijklmnopqrstuvwxyz"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

int
check_domain(struct policy *p, const struct policy_env *env,
    struct entry *entry, struct err *e)
{
	(void)env;
	return pattern_domain(p->arena, entry->text, &entry->pattern, e);
}

int
check_private(struct policy *p, const struct policy_env *env,
    struct entry *entry, struct err *e)
{
	(void)env;
	if (pattern_domain(p->arena, entry->text, &entry->pattern, e) != 0)
		return -1;
	if (entry->pattern->port == 0)
		return 0;
	err_set(e, ERR_POLICY, "'%.100s' has a port", entry->text);
	err_hint(e, "ports belong to network.allowedDomains");
	return -1;
}

int
check_path(struct policy *p, const struct policy_env *env,
    struct entry *entry, struct err *e)
{
	return pattern_path(p->arena, entry->text, env, &entry->pattern, e);
}

int
check_denied_path(struct policy *p, const struct policy_env *env,
    struct entry *entry, struct err *e)
{
	return pattern_denial(p->arena, entry->text, env, &entry->pattern, e);
}

int
check_device(struct policy *p, const struct policy_env *env,
    struct entry *entry, struct err *e)
{
	if (check_path(p, env, entry, e) != 0)
		return -1;
	if (strncmp(entry->text, "/dev", 4) == 0 &&
	    strcmp(entry->pattern->text, "/dev") == 0) {
		err_set(e, ERR_POLICY, "'/dev' as a whole is too broad");
		err_hint(e, "name the nodes: '/dev/kvm', '/dev/nvidia*'");
		return -1;
	}
	if (strncmp(entry->text, "/dev/", 5) == 0 &&
	    strncmp(entry->pattern->text, "/dev/", 5) == 0)
		return 0;
	err_set(e, ERR_POLICY, "'%.100s' is not below /dev", entry->text);
	err_hint(e, "'/dev/kvm' is");
	return -1;
}

int
check_mach(struct policy *p, const struct policy_env *env,
    struct entry *entry, struct err *e)
{
	const char *star = strchr(entry->text, '*');

	(void)p, (void)env;
	if (entry->text[0] != '\0' && (star == NULL || star[1] == '\0'))
		return 0;
	err_set(e, ERR_POLICY, "'%.100s' is not a service name", entry->text);
	err_hint(e, "'com.example.service', 'com.example.*' and '*' are");
	return -1;
}

int
check_command(struct policy *p, const struct policy_env *env,
    struct entry *entry, struct err *e)
{
	const struct cmdrule *rule;

	(void)env;
	if (entry->text[strspn(entry->text, " \t")] != '\0')
		return cmdrule_new(p->arena, entry->text, &rule, e);
	err_set(e, ERR_POLICY, "an empty string is not a command");
	err_hint(e, "a command is its first words: 'git push'");
	return -1;
}

int
check_ssh_host(struct policy *p, const struct policy_env *env,
    struct entry *entry, struct err *e)
{
	const char *t = entry->text, *colon = strchr(t, ':');
	const char *why = NULL;

	(void)p, (void)env;
	if (t[0] == '\0')
		why = "is not a host pattern";
	else if (strstr(t, "://") != NULL)
		why = "has a protocol";
	else if (strchr(t, '/') != NULL)
		why = "has a path";
	else if (strchr(t, '@') != NULL)
		why = "has a user";
	else if (colon != NULL && strchr(colon + 1, ':') == NULL)
		why = "has a port";
	if (why == NULL)
		return 0;
	err_set(e, ERR_POLICY, "'%.100s' %s", t, why);
	err_hint(e, "write the host alone: 'example.com', 'prod-*', "
	    "'192.168.1.*'");
	return -1;
}

static bool
is_env_name(const char *s, size_t len)
{
	return len > 0 && strspn(s, letters) == len &&
	    !(s[0] >= '0' && s[0] <= '9');
}

int
check_env_name(struct policy *p, const struct policy_env *env,
    struct entry *entry, struct err *e)
{
	size_t len = strlen(entry->text);

	(void)p, (void)env;
	if (len > 0 && entry->text[len - 1] == '*' && (len == 1 ||
	    is_env_name(entry->text, len - 1)))
		return 0;
	if (strspn(entry->text, letters) == len &&
	    is_env_name(entry->text, len))
		return 0;
	err_set(e, ERR_POLICY, "'%.100s' is not a variable's name",
	    entry->text);
	err_hint(e, "'EDITOR', 'AWS_*' and '*' are");
	return -1;
}

int
check_env_set(struct policy *p, const struct policy_env *env,
    struct entry *entry, struct err *e)
{
	size_t len = strlen(entry->name);

	(void)p, (void)env;
	if (strspn(entry->name, letters) == len &&
	    is_env_name(entry->name, len))
		return 0;
	err_set(e, ERR_POLICY, "'%.100s' is not a variable's name",
	    entry->name);
	err_hint(e, "letters, digits and '_', no digit first");
	return -1;
}

int
check_proxy_url(struct policy *p, const struct policy_env *env,
    struct entry *entry, struct err *e)
{
	struct proxyurl url;
	const char *why = proxyurl_parse(entry->text, true, &url);

	(void)env;
	if (why == NULL)
		return 0;
	err_set(e, ERR_POLICY, "'%.100s' %s",
	    proxyurl_shown(p->arena, entry->text), why);
	err_hint(e, "'http://proxy.example:8080' or "
	    "'socks5://user:password@127.0.0.1:1080'");
	return -1;
}

int
check_via(struct policy *p, const struct policy_env *env,
    struct entry *entry, struct err *e)
{
	if (strcmp(entry->text, "auto") == 0 ||
	    strcmp(entry->text, "direct") == 0)
		return 0;
	if (check_proxy_url(p, env, entry, e) == 0)
		return 0;
	err_hint(e, "'auto' (the proxy of the host's variables), 'direct', "
	    "or 'http://proxy.example:8080'");
	return -1;
}

int
check_extends(struct policy *p, const struct policy_env *env,
    struct entry *entry, struct err *e)
{
	(void)p, (void)env;
	if (entry->text[0] != '\0')
		return 0;
	err_set(e, ERR_POLICY, "an empty string is no policy");
	err_hint(e, "a template ('code'), a file ('./base.json'), '@base'");
	return -1;
}

int
check_probe(struct policy *p, const struct policy_env *env,
    struct entry *entry, struct err *e)
{
	struct probesig sig;

	(void)p, (void)env;
	return probesig_parse(entry->text, &sig, e);
}

struct unit {
	const char	*name;
	uint64_t	 factor;
};

/* One to six digits and a unit: nothing overflows. */
static int
with_unit(const char *text, const struct unit *units, size_t nunits,
    uint64_t *ret)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t n;

	if (text[0] == '0' || digits > 6 ||
	    str_to_u64((struct str){ text, digits }, 999999, &n) != 0)
		return -1;
	for (size_t i = 0; i < nunits; i++)
		if (strcmp(text + digits, units[i].name) == 0) {
			*ret = n * units[i].factor;
			return 0;
		}
	return -1;
}

int
check_size(const char *text, uint64_t *ret, struct err *e)
{
	static const struct unit units[] = {
		{ "K", 1ULL << 10 }, { "M", 1ULL << 20 },
		{ "G", 1ULL << 30 }, { "T", 1ULL << 40 },
	};

	if (with_unit(text, units, sizeof units / sizeof *units, ret) == 0)
		return 0;
	if (text[0] != '0' &&
	    str_to_u64(str_of(text), 999999999999999, ret) == 0)
		return 0;
	err_set(e, ERR_POLICY, "'%.60s' is not a size", text);
	err_hint(e, "'512M' and '2G' are; units are K, M, G and T");
	return -1;
}

int
check_duration(const char *text, uint64_t *ret, struct err *e)
{
	static const struct unit units[] = {
		{ "ms", 1 }, { "s", 1000 }, { "m", 60 * 1000 },
		{ "h", 3600 * 1000 }, { "d", 24 * 3600 * 1000 },
	};

	if (with_unit(text, units, sizeof units / sizeof *units, ret) == 0)
		return 0;
	err_set(e, ERR_POLICY, "'%.60s' is not a duration", text);
	err_hint(e, "'90s' and '30m' are; units are ms, s, m, h and d");
	return -1;
}
