/*
 * Secrets of the machine's that only root reads.  To root's own uid they are
 * open without any capability, so a run that root started has them hidden
 * whatever its policy says.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "launcher/gather.h"

/* Names are patterns of one folder; NULL: the path as a whole. */
static const struct secret {
	const char	*path;
	const char	*names;
} secrets[] = {
	/* Hashes of passwords, and what vipw and useradd leave beside them. */
	{ "/etc", "shadow*" },
	{ "/etc", "gshadow*" },
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
add_matching(struct gather *g, const struct secret *s)
{
	DIR *dp = opendir(s->path);
	struct dirent *d;

	if (dp == NULL && errno != ENOENT && errno != ENOTDIR)
		gather_lack(g, errno, s->path);
	while (dp != NULL && (errno = 0, d = readdir(dp)) != NULL)
		if (fnmatch(s->names, d->d_name, 0) == 0)
			add_secret(g, arena_printf(g->arena, "%s/%s", s->path,
			    d->d_name));
	if (dp != NULL && errno != 0)
		gather_lack(g, errno, s->path);
	if (dp != NULL)
		closedir(dp);
}

void
secret_facts(struct gather *g)
{
	for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
		if (secrets[i].names == NULL)
			add_secret(g, secrets[i].path);
		else
			add_matching(g, &secrets[i]);
}
