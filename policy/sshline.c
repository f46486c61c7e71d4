#include "policy/sshline.h"

#include <string.h>
#include <strings.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "policy/host.h"
#include "policy/sshconf.h"

#define COUNT(a)	(sizeof(a) / sizeof *(a))

struct reading {
	const struct sshline_ask	*ask;
	struct sshline			*out;
	const struct sh_word		*w;
	size_t				 n, i;
	/* Settings, of the command line and of files; the first wins. */
	const char	*hostname;
	bool		 hostname_is_given;	/* not the user's own config */
	bool		 has_jump, has_proxy, has_local, may_local, has_remote;
	bool		 is_given;		/* what is read now */
	const char	*config;		/* -F, or NULL */
	bool		 no_config;
};

/* ---- what is found ---- */

static const char *
canonical(struct arena *a, const char *s, size_t len)
{
	struct host h;
	char *copy;

	if (len > 2 && s[0] == '[' && s[len - 1] == ']') {
		s++;
		len -= 2;
	}
	if (len < sizeof h.text && host_canon(s, len, &h) == 0)
		return arena_strdup(a, h.text);
	copy = arena_strndup(a, s, len);
	for (char *c = copy; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c + 32);
	return copy;
}

static struct sshhost *
add_host(struct reading *r, const char *s, size_t len)
{
	struct sshline *out = r->out;

	if (len == 0)
		return NULL;
	if (out->nhosts >= SSHLINE_MAX) {
		out->is_cut = true;
		return NULL;
	}
	out->hosts[out->nhosts] = (struct sshhost){
	    .name = canonical(r->ask->arena, s, len) };
	return &out->hosts[out->nhosts++];
}

static void
add_text(struct reading *r, struct sh_word *list, size_t *n,
    struct sh_word text)
{
	if (text.len == 0)
		return;
	if (*n >= SSHLINE_MAX)
		r->out->is_cut = true;
	else
		list[(*n)++] = text;
}

static void
add_local(struct reading *r, struct sh_word text)
{
	if (text.is_whole && strcasecmp(text.text, "none") == 0)
		return;
	add_text(r, r->out->local, &r->out->nlocal, text);
}

static void
add_remote(struct reading *r, struct sh_word text)
{
	if (text.is_whole && strcasecmp(text.text, "none") == 0)
		return;
	add_text(r, r->out->remote, &r->out->nremote, text);
}

static struct sh_word
behind(const struct sh_word *w, size_t n)
{
	struct sh_word ret = *w;

	ret.text += n;
	ret.len -= n;
	ret.head = ret.head > n ? ret.head - n : 0;
	if (ret.tail > ret.len)
		ret.tail = ret.len;
	return ret;
}

/* ---- destinations ---- */

/* Passes by "user@", which ends at the last '@'. */
static void
skip_user(const char **s, size_t *len)
{
	const char *at = memrchr(*s, '@', *len);

	if (at == NULL)
		return;
	*len -= (size_t)(at + 1 - *s);
	*s = at + 1;
}

/* The host of "user@host:port" and "[v6]:port"; a lone ":" ends it. */
static void
host_part(const char *s, size_t len, const char **ret, size_t *ret_len)
{
	const char *colon, *end;

	skip_user(&s, &len);
	if (len > 0 && s[0] == '[' &&
	    (end = memchr(s, ']', len)) != NULL) {
		*ret = s + 1;
		*ret_len = (size_t)(end - s) - 1;
		return;
	}
	colon = memchr(s, ':', len);
	if (colon != NULL &&
	    memchr(colon + 1, ':', len - (size_t)(colon - s) - 1) == NULL)
		len = (size_t)(colon - s);
	*ret = s;
	*ret_len = len;
}

/* A word in which an expansion may reach into the first len bytes. */
static bool
hides(struct reading *r, const struct sh_word *w, size_t from, size_t len)
{
	if (w->is_whole || from + len <= w->head)
		return false;
	r->out->is_unsure = true;
	return true;
}

/* "ssh://user@host:port/path" behind its "://". */
static struct sshhost *
add_authority(struct reading *r, const struct sh_word *w, size_t from)
{
	const char *s = w->text + from, *host;
	size_t len = strcspn(s, "/"), n;

	if (hides(r, w, from, len))
		return NULL;
	host_part(s, len, &host, &n);
	return add_host(r, host, n);
}

/* Behind a scheme of ssh's, or 0. */
static size_t
ssh_scheme(const char *s)
{
	static const char *const schemes[] = { "ssh://", "git+ssh://",
	    "ssh+git://", "scp://", "sftp://", "svn+ssh://", "bzr+ssh://",
	    "ssh-ng://" };

	for (size_t i = 0; i < COUNT(schemes); i++)
		if (strncasecmp(s, schemes[i], strlen(schemes[i])) == 0)
			return strlen(schemes[i]);
	return 0;
}

/* Host of "user@host:path", or NULL: a local path, or a URL of others'. */
static struct sshhost *
add_remote_path(struct reading *r, const struct sh_word *w)
{
	const char *s = w->text, *host, *colon;
	size_t n, len;

	if ((n = ssh_scheme(s)) > 0)
		return add_authority(r, w, n);
	host = s;
	if (*host == '[')
		colon = strchr(host, ']') != NULL ?
		    strchr(strchr(host, ']'), ':') : NULL;
	else
		colon = strchr(host, ':');
	if (strchr(host, '@') != NULL && strchr(host, '[') != NULL &&
	    strchr(host, ']') != NULL)
		colon = strchr(strchr(host, ']'), ':');
	if (colon == NULL) {
		/* "$host:path" is one; "$file" may be. */
		if (!w->is_whole && w->head == 0 && w->tail == 0)
			r->out->is_unsure = true;
		return NULL;
	}
	len = (size_t)(colon - s);
	if (memchr(s, '/', len) != NULL || colon[1] == ':' || len == 0 ||
	    strncmp(colon, "://", 3) == 0)
		return NULL;
	if (hides(r, w, 0, len))
		return NULL;
	skip_user(&s, &len);
	return add_host(r, s, len);
}

/* ssh's own destination: "user@host", or a URL. */
static struct sshhost *
add_destination(struct reading *r, const struct sh_word *w)
{
	size_t n = ssh_scheme(w->text), len = w->len;
	const char *s = w->text;

	if (n > 0)
		return add_authority(r, w, n);
	if (!w->is_whole) {
		/* "$user@host" is fine. */
		const char *at = strrchr(w->text, '@');

		if (at == NULL || (size_t)(w->text + w->len - at - 1) >
		    w->tail) {
			r->out->is_unsure = true;
			return NULL;
		}
	}
	skip_user(&s, &len);
	return add_host(r, s, len);
}

/* "a,user@b:22,ssh://c": every host on the way. */
static void
add_jumps(struct reading *r, const char *s)
{
	if (strcasecmp(s, "none") == 0)
		return;
	while (*s != '\0') {
		size_t n = strcspn(s, ","), skip = ssh_scheme(s), len;
		const char *host;

		if (skip > n)
			skip = 0;
		host_part(s + skip, n - skip, &host, &len);
		while (len > 0 && host[len - 1] == '/')
			len--;
		add_host(r, host, len);
		s += n + (s[n] == ',');
	}
}

/* ---- settings ---- */

static void
set_hostname(struct reading *r, const char *value)
{
	if (r->hostname != NULL)
		return;
	r->hostname = value;
	r->hostname_is_given = r->is_given;
}

/* key: lower case.  The value lives as long as the arena. */
static void
set(struct reading *r, const char *key, struct sh_word value, bool is_sure)
{
	if (strcmp(key, "hostname") == 0) {
		if (value.is_whole)
			set_hostname(r, value.text);
		else
			r->out->is_unsure = true;
	} else if (strcmp(key, "proxyjump") == 0) {
		if (!value.is_whole)
			r->out->is_unsure = true;
		else if (!r->has_proxy && !r->has_jump)
			add_jumps(r, value.text);
		r->has_jump |= is_sure;
	} else if (strcmp(key, "proxycommand") == 0) {
		if (!r->has_proxy && !r->has_jump)
			add_local(r, value);
		r->has_proxy |= is_sure;
	} else if (strcmp(key, "permitlocalcommand") == 0) {
		r->may_local |= strcasecmp(value.text, "yes") == 0 ||
		    strcasecmp(value.text, "true") == 0 || !value.is_whole;
	} else if (strcmp(key, "localcommand") == 0 ||
	    strcmp(key, "knownhostscommand") == 0 ||
	    strcmp(key, "xauthlocation") == 0 ||
	    strcmp(key, "match exec") == 0) {
		add_local(r, value);
	} else if (strcmp(key, "remotecommand") == 0) {
		add_remote(r, value);
	}
}

/* "Key=Value" or "Key Value" of -o. */
static void
option_o(struct reading *r, struct sh_word w)
{
	size_t skip = strspn(w.text, " \t"), n, at;
	char key[32];

	w = behind(&w, skip);
	n = strcspn(w.text, " \t=");
	if (n == 0 || n >= sizeof key || n > w.head) {
		r->out->is_unsure |= !w.is_whole;
		return;
	}
	for (size_t i = 0; i < n; i++)
		key[i] = (char)(w.text[i] >= 'A' && w.text[i] <= 'Z' ?
		    w.text[i] + 32 : w.text[i]);
	key[n] = '\0';
	at = n + strspn(w.text + n, " \t");
	if (w.text[at] == '=')
		at += 1 + strspn(w.text + at + 1, " \t");
	w = behind(&w, at);
	if (w.len > 1 && w.text[0] == '"' && w.text[w.len - 1] == '"' &&
	    w.is_whole)
		w = shwords_literal(arena_strndup(r->ask->arena, w.text + 1,
		    w.len - 2));
	set(r, key, w, true);
}

static void
from_file(void *arg, const char *key, const char *value, bool is_sure)
{
	struct reading *r = arg;

	set(r, key, shwords_literal(arena_strdup(r->ask->arena, value)),
	    is_sure);
}

static const char *
hostname_so_far(void *arg)
{
	const struct reading *r = arg;

	return r->hostname;
}

static void
read_config(struct reading *r, const char *host)
{
	const struct sshline_ask *ask = r->ask;
	struct sshconf_ask conf = { .arena = ask->arena, .host = host,
	    .file = ask->config, .file_arg = ask->arg,
	    .setting = from_file, .hostname = hostname_so_far,
	    .setting_arg = r };
	const char *text;
	size_t len;

	if (ask->config == NULL || r->no_config)
		return;
	text = ask->config(ask->arg, r->config, &len);
	if (text == NULL)
		return;
	r->is_given = r->config != NULL;
	sshconf_read(&conf, arena_strndup(ask->arena, text, len), len);
}

/* "%h" of HostName is the host as typed. */
static const char *
expand_hostname(struct reading *r, const char *typed)
{
	const char *s, *ret;
	struct buf b;

	buf_init(&b, 1024);
	for (s = r->hostname; *s != '\0'; s++)
		if (s[0] == '%' && s[1] == 'h') {
			buf_puts(&b, typed);
			s++;
		} else {
			buf_putc(&b, *s);
		}
	ret = canonical(r->ask->arena, b.data, b.len);
	buf_release(&b);
	return ret;
}

/* All that the user's files say of the hosts found so far. */
static void
finish(struct reading *r)
{
	size_t n = r->out->nhosts;

	for (size_t i = 0; i < n; i++) {
		struct sshhost *h = &r->out->hosts[i];
		const char *given = r->hostname;
		bool was_given = r->hostname_is_given;

		read_config(r, h->name);
		if (i > 0 && given != NULL) {
			r->hostname = given;
			r->hostname_is_given = was_given;
		}
		if (r->hostname != NULL) {
			h->real_name = expand_hostname(r, h->name);
			h->is_renamed = r->hostname_is_given;
		}
		if (given == NULL)
			r->hostname = NULL;
	}
}

/* ---- ssh and its kin ---- */

/* How a program's options go: short ones with a value. */
struct program {
	const char	*name;
	const char	*values;
	const char	*jump, *config, *option, *local;
	enum { DEST_SSH, DEST_PATHS, DEST_ONE } dest;
};

static const struct program programs[] = {
	{ "ssh", "BbcDEeFIiJLlmOoPpQRSWw", "J", "F", "o", "", DEST_SSH },
	{ "slogin", "BbcDEeFIiJLlmOoPpQRSWw", "J", "F", "o", "", DEST_SSH },
	{ "autossh", "BbcDEeFIiJLlmMOoPpQRSWw", "J", "F", "o", "", DEST_SSH },
	{ "scp", "cDFiJloPSX", "J", "F", "o", "SD", DEST_PATHS },
	{ "sftp", "BbcDFiJloPRSsX", "J", "F", "o", "SD", DEST_ONE },
	{ "sshfs", "oFpD", "", "F", "", "", DEST_PATHS },
	{ "ssh-copy-id", "iopFtJ", "J", "F", "o", "", DEST_ONE },
	{ "ssh-keyscan", "fpTtO", "", "", "", "", DEST_SSH },
};

/* -W host:port: what is behind the host. */
static void
option_w(struct reading *r, const struct sh_word *w)
{
	const char *host;
	size_t n;

	if (hides(r, w, 0, w->len))
		return;
	host_part(w->text, w->len, &host, &n);
	add_host(r, host, n);
}

/* -o of sshfs: a list with commas. */
static void
options_sshfs(struct reading *r, const struct sh_word *w)
{
	static const char key[] = "ssh_command=";
	char *copy = arena_strndup(r->ask->arena, w->text, w->len);

	r->out->is_unsure |= !w->is_whole;
	for (char *s = copy, *next; s != NULL; s = next) {
		next = strchr(s, ',');
		if (next != NULL)
			*next++ = '\0';
		if (strncmp(s, key, sizeof key - 1) == 0)
			add_local(r, shwords_literal(s + sizeof key - 1));
		else
			option_o(r, shwords_literal(s));
	}
}

static void
value_of(struct reading *r, const struct program *p, char c,
    const struct sh_word *w)
{
	if (strchr(p->jump, c) != NULL && w->is_whole) {
		add_jumps(r, w->text);
		r->has_jump = true;
	} else if (strchr(p->jump, c) != NULL) {
		r->out->is_unsure = true;
	} else if (strchr(p->config, c) != NULL && w->is_whole) {
		r->config = w->text;
		r->no_config = strcasecmp(w->text, "none") == 0;
	} else if (strchr(p->option, c) != NULL) {
		option_o(r, *w);
	} else if (strchr(p->local, c) != NULL) {
		add_local(r, *w);
	} else if (c == 'W' && p->dest == DEST_SSH) {
		option_w(r, w);
	} else if (c == 'o') {
		options_sshfs(r, w);
	}
}

/* One word of options at r->i, with the value behind it. */
static void
options(struct reading *r, const struct program *p)
{
	const struct sh_word *w = &r->w[r->i++];

	r->is_given = true;
	for (size_t k = 1; k < w->len; k++) {
		char c = w->text[k];
		struct sh_word value;

		if (k >= w->head && !w->is_whole) {
			r->out->is_unsure = true;
			return;
		}
		if (strchr(p->values, c) == NULL)
			continue;
		if (k + 1 < w->len) {
			value = behind(w, k + 1);
			value_of(r, p, c, &value);
		} else if (r->i < r->n) {
			value_of(r, p, c, &r->w[r->i++]);
		}
		return;
	}
}

static bool
is_option(const struct sh_word *w)
{
	return w->head > 0 && w->text[0] == '-' && w->len > 1;
}

static bool
is_dashes(const struct sh_word *w)
{
	return w->is_whole && strcmp(w->text, "--") == 0;
}

/* ssh: options, host, options again, then the remote command. */
static void
read_ssh(struct reading *r, const struct program *p)
{
	bool has_host = false, is_scan = strcmp(p->name, "ssh-keyscan") == 0;

	while (r->i < r->n) {
		const struct sh_word *w = &r->w[r->i];

		if (is_dashes(w)) {
			r->i++;
			if (has_host)
				break;
		} else if (is_option(w)) {
			options(r, p);
		} else if (!has_host || is_scan) {
			if (!w->is_whole && w->may_split && w->head == 0)
				r->out->is_unsure = true;
			add_destination(r, w);
			has_host = true;
			r->i++;
		} else {
			break;
		}
	}
	if (r->i < r->n)
		add_remote(r, shwords_join(r->ask->arena, r->w + r->i,
		    r->n - r->i));
}

static void
read_paths(struct reading *r, const struct program *p)
{
	bool is_over = false;

	while (r->i < r->n) {
		const struct sh_word *w = &r->w[r->i];

		if (!is_over && is_dashes(w)) {
			is_over = true;
			r->i++;
		} else if (!is_over && is_option(w)) {
			options(r, p);
		} else {
			if (p->dest == DEST_ONE &&
			    strchr(w->text, ':') == NULL)
				add_destination(r, w);
			else
				add_remote_path(r, w);
			r->i++;
		}
	}
}

/* A long option with its value, attached or behind it. */
static bool
long_value(struct reading *r, const char *name, struct sh_word *ret)
{
	const struct sh_word *w = &r->w[r->i];
	size_t n = strlen(name);

	if (w->head < n || memcmp(w->text, name, n) != 0)
		return false;
	if (w->text[n] == '=') {
		*ret = behind(w, n + 1);
		return true;
	}
	if (w->text[n] != '\0' || r->i + 1 >= r->n)
		return false;
	*ret = r->w[++r->i];
	return true;
}

static bool
is_one_of(const char *list, const char *word)
{
	const char *at = strstr(list, word);

	return *word != '\0' && at != NULL && at[-1] == ' ' &&
	    at[strlen(word)] == ' ';
}

static void
read_rsync(struct reading *r)
{
	static const char values[] = " --exclude --include --filter "
	    "--files-from --exclude-from --include-from --temp-dir "
	    "--compare-dest --copy-dest --link-dest --backup-dir --suffix "
	    "--log-file --port --chmod --chown --timeout --bwlimit "
	    "--out-format --partial-dir --password-file --info --debug "
	    "--max-size --min-size --block-size --usermap --groupmap -f -T "
	    "-B -M ";
	struct sh_word value;
	bool is_over = false;

	for (; r->i < r->n; r->i++) {
		const struct sh_word *w = &r->w[r->i];
		const char *e;

		if (is_over || !is_option(w)) {
			add_remote_path(r, w);
		} else if (is_dashes(w)) {
			is_over = true;
		} else if (long_value(r, "--rsh", &value)) {
			add_local(r, value);
		} else if (long_value(r, "--rsync-path", &value)) {
			add_remote(r, value);
		} else if (is_one_of(values, w->text)) {
			r->i++;
		} else if (w->text[1] != '-' &&
		    (e = strpbrk(w->text, "efTBM")) != NULL && *e == 'e') {
			if (e[1] != '\0')
				add_local(r, behind(w,
				    (size_t)(e - w->text) + 1));
			else if (r->i + 1 < r->n)
				add_local(r, r->w[++r->i]);
		}
	}
}

static void
read_mosh(struct reading *r)
{
	struct sh_word value;
	bool has_host = false;

	for (; r->i < r->n; r->i++) {
		const struct sh_word *w = &r->w[r->i];

		if (is_dashes(w)) {
			r->i += 1;
			if (has_host || r->i >= r->n)
				break;
			add_destination(r, &r->w[r->i++]);
			if (r->i < r->n && is_dashes(&r->w[r->i]))
				r->i++;
			break;
		}
		if (!is_option(w)) {
			if (has_host)
				break;
			add_destination(r, w);
			has_host = true;
		} else if (long_value(r, "--ssh", &value) ||
		    long_value(r, "--client", &value)) {
			add_local(r, value);
		} else if (long_value(r, "--server", &value)) {
			add_remote(r, value);
		} else if (strcmp(w->text, "-p") == 0 ||
		    strcmp(w->text, "--port") == 0) {
			r->i++;
		}
	}
	if (r->i < r->n)
		add_remote(r, shwords_join(r->ask->arena, r->w + r->i,
		    r->n - r->i));
}

/* The remote programs that git is told to run. */
static bool
git_remote_program(struct reading *r, const char *command)
{
	static const char *const names[] = { "--upload-pack",
	    "--receive-pack", "--exec" };
	struct sh_word value;

	for (size_t i = 0; i < COUNT(names); i++)
		if (long_value(r, names[i], &value)) {
			add_remote(r, value);
			return true;
		}
	if (strcmp(command, "clone") == 0 && r->i + 1 < r->n &&
	    strcmp(r->w[r->i].text, "-u") == 0) {
		add_remote(r, r->w[++r->i]);
		return true;
	}
	return false;
}

static void
read_git(struct reading *r)
{
	static const char commands[] = " clone fetch pull push ls-remote "
	    "submodule archive fetch-pack send-pack ";
	static const char values[] = " -C -c --git-dir --work-tree "
	    "--namespace --config-env --config -b --branch -o --origin "
	    "--depth --reference --template -j --jobs --filter "
	    "--separate-git-dir --shallow-since --shallow-exclude "
	    "--push-option --server-option --recurse-submodules --prefix "
	    "--format --name --reference-if-able ";
	const char *command = NULL;
	struct sh_word value;
	bool has_repository = false;

	for (; r->i < r->n; r->i++) {
		const struct sh_word *w = &r->w[r->i];

		if (command != NULL && git_remote_program(r, command))
			continue;
		if (command != NULL && (long_value(r, "--repo", &value) ||
		    long_value(r, "--remote", &value))) {
			add_remote_path(r, &value);
		} else if (is_option(w)) {
			if (is_one_of(values, w->text))
				r->i++;
		} else if (command == NULL) {
			if (!w->is_whole || !is_one_of(commands, w->text))
				return;
			command = w->text;
		} else if (ssh_scheme(w->text) > 0) {
			add_remote_path(r, w);
			has_repository = true;
		} else if (!has_repository) {
			if (strcmp(command, "submodule") != 0 ||
			    strchr(w->text, ':') != NULL)
				has_repository = true;
			if (strncmp(w->text, "ext::", 5) != 0 &&
			    strchr(w->text, ':') != NULL)
				add_remote_path(r, w);
		}
	}
}

/* Programs that reach hosts by URLs of ssh's. */
static void
read_urls(struct reading *r)
{
	for (; r->i < r->n; r->i++) {
		const struct sh_word *w = &r->w[r->i];
		size_t skip = 0;

		if (w->text[0] == '-')
			skip = strcspn(w->text, "=") + 1;
		if (skip < w->len && ssh_scheme(w->text + skip) > 0) {
			struct sh_word url = behind(w, skip);

			add_authority(r, &url, ssh_scheme(url.text));
		}
	}
}

static const struct { const char *name; void (*read)(struct reading *); }
    others[] = {
	{ "rsync", read_rsync }, { "mosh", read_mosh }, { "git", read_git },
	{ "hg", read_urls }, { "svn", read_urls }, { "jj", read_urls },
	{ "bzr", read_urls }, { "brz", read_urls }, { "docker", read_urls },
	{ "podman", read_urls }, { "nix", read_urls }, { "curl", read_urls },
	{ "nix-copy-closure", read_urls }, { "wget", read_urls },
};

static bool
read_words(struct reading *r)
{
	for (size_t i = 0; i < COUNT(programs); i++) {
		if (strcmp(programs[i].name, r->ask->name) != 0)
			continue;
		if (programs[i].dest == DEST_SSH)
			read_ssh(r, &programs[i]);
		else
			read_paths(r, &programs[i]);
		return true;
	}
	for (size_t i = 0; i < COUNT(others); i++)
		if (strcmp(others[i].name, r->ask->name) == 0) {
			others[i].read(r);
			return true;
		}
	return false;
}

bool
sshline_parse(const struct sshline_ask *ask, struct sshline *ret)
{
	struct reading r = { .ask = ask, .out = ret, .w = ask->words,
	    .n = ask->nwords, .i = 1, .is_given = true };

	*ret = (struct sshline){ .nhosts = 0 };
	if (!read_words(&r))
		return false;
	finish(&r);
	return true;
}
