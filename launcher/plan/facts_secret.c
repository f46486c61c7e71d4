/*
 * Secrets of the machine's that only root reads.  To root's own uid they are
 * open without any capability, so a run that root started has them hidden
 * whatever its policy says.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "launcher/plan/facts_parts.h"

/* Hashes of passwords in /etc, and what vipw and useradd leave beside them. */
static const char *const hashes[] = { "shadow*", "gshadow*" };

/* Names are patterns of one folder; NULL: the path as a whole. */
static const struct secret {
	const char	*path;
	const char	*names;
} secrets[] = {
	{ "/var/backups", "*shadow*" },
	{ "/etc/security/opasswd", NULL },
	/* Keys by which other machines know this one. */
	{ "/etc/ssh", "ssh_host_*_key" },
	{ "/etc/krb5.keytab", NULL },
	{ "/etc/ssl/private", NULL },
	{ "/etc/pki/tls/private", NULL },
	{ "/etc/letsencrypt/accounts", NULL },
	{ "/etc/letsencrypt/archive", NULL },
	{ "/etc/letsencrypt/keys", NULL },
	{ "/etc/ipsec.secrets", NULL },
	{ "/etc/ipsec.d/private", NULL },
	{ "/etc/swanctl/private", NULL },
	/* Keys of networks that it belongs to. */
	{ "/etc/wireguard", NULL },
	{ "/etc/openvpn", "*.key" },
	{ "/etc/openvpn/server", "*.key" },
	{ "/etc/openvpn/client", "*.key" },
	{ "/etc/netplan", "*.yaml" },
	{ "/etc/iwd", NULL },
	{ "/etc/ppp", "*-secrets" },
	{ "/etc/NetworkManager/system-connections", NULL },
	{ "/etc/wpa_supplicant", NULL },
	/* Passwords of its databases, of its mail and of what it mounts. */
	{ "/etc/mysql/debian.cnf", NULL },
	{ "/etc/apt/auth.conf", NULL },
	{ "/etc/apt/auth.conf.d", NULL },
	{ "/etc/sssd/sssd.conf", NULL },
	{ "/etc/samba", "*credentials*" },
	{ "/etc/exim4/passwd.client", NULL },
	{ "/etc/dovecot/private", NULL },
	{ "/etc/nginx/ssl", NULL },
	{ "/etc/apache2/ssl", NULL },
	/* Keys to clusters and registries. */
	{ "/etc/kubernetes", "*.conf" },
	{ "/etc/kubernetes/pki", NULL },
	{ "/etc/rancher", NULL },
	{ "/etc/docker/key.json", NULL },
	{ "/etc/postfix/sasl_passwd", NULL },
	{ "/etc/credstore", NULL },
	{ "/etc/credstore.encrypted", NULL },
	{ "/var/lib/systemd/credential.secret", NULL },
	/* Keys of encrypted disks that open without a question. */
	{ "/etc/cryptsetup-keys.d", NULL },
};

enum { NSECRETS = sizeof secrets / sizeof secrets[0] };

static const char etc[] = "/etc/";

static void
add_secret(struct gather *g, const char *path)
{
	static const char words[] = "always hidden";
	struct tree_node node;

	gather_look(g, path, &node);
	if (node.kind == TREE_MISSING)
		return;
	gather_fact(g, FACT_DENY_READ, &node, gather_words(g, words));
	policy_hide(g->rq->policy, node.real, words);
}

static void
each_name(struct gather *g, const char *folder,
    void (*fn)(struct gather *, const char *name, void *), void *arg)
{
	DIR *dp = opendir(folder);
	struct dirent *d;

	if (dp == NULL && errno != ENOENT && errno != ENOTDIR)
		gather_lack(g, errno, folder);
	if (dp != NULL)
		gather_know(g, folder);
	while (dp != NULL && (errno = 0, d = readdir(dp)) != NULL)
		fn(g, d->d_name, arg);
	if (dp != NULL && errno != 0)
		gather_lack(g, errno, folder);
	if (dp != NULL)
		closedir(dp);
}

static void
take_matching(struct gather *g, const char *name, void *arg)
{
	const struct secret *s = arg;

	if (fnmatch(s->names, name, 0) == 0)
		add_secret(g, arena_join(g->arena, s->path, name));
}

/* names: of the folder, for what else is looked for in it. */
static void
take_etc(struct gather *g, const char *name, void *arg)
{
	struct name_filter *names = arg;

	name_filter_add(names, name);
	for (size_t i = 0; i < sizeof hashes / sizeof hashes[0]; i++)
		if (name[0] == hashes[i][0] && fnmatch(hashes[i], name, 0) == 0)
			add_secret(g, arena_printf(g->arena, "%s%s", etc,
			    name));
}

/* One listing of /etc says of most of them that they are not there. */
void
secret_facts(struct gather *g)
{
	struct name_filter in_etc = { .is_whole = false };

	each_name(g, "/etc", take_etc, &in_etc);
	in_etc.is_whole = true;
	for (size_t i = 0; i < NSECRETS; i++) {
		struct secret s = secrets[i];

		if (strncmp(s.path, etc, strlen(etc)) == 0 &&
		    name_filter_lacks(&in_etc, s.path + strlen(etc)))
			continue;
		if (s.names == NULL)
			add_secret(g, s.path);
		else
			each_name(g, s.path, take_matching, &s);
	}
}
