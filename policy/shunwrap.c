#include "policy/shunwrap.h"

#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/vec.h"
#include "policy/cmdrule.h"

#define COUNT(a)	(sizeof(a) / sizeof *(a))

static struct unwrapped *
push(struct unwrap *u, enum unwrap_kind kind)
{
	struct unwrapped *w;

	if (u->n >= UNWRAP_MAX) {
		u->v[UNWRAP_MAX - 1] = (struct unwrapped){
		    .kind = UNWRAP_UNSEEN, .why = EXEC_UNSEEN_MANY };
		return NULL;
	}
	w = &u->v[u->n++];
	*w = (struct unwrapped){ .kind = kind };
	return w;
}

void
unwrap_argv(struct unwrap *u, const struct sh_word *words, size_t n)
{
	struct unwrapped *w = n > 0 ? push(u, UNWRAP_ARGV) : NULL;

	if (w == NULL)
		return;
	w->words = words;
	w->nwords = n;
}

void
unwrap_line(struct unwrap *u, struct sh_word text, bool is_posix)
{
	struct unwrapped *w = push(u, UNWRAP_LINE);

	if (w == NULL)
		return;
	w->text = text;
	w->is_posix = is_posix;
	if (!text.is_whole)
		unwrap_unseen(u, EXEC_UNSEEN_TEXT);
}

static void
guess(struct unwrap *u, struct sh_word text)
{
	struct unwrapped *w = push(u, UNWRAP_GUESS);

	if (w != NULL)
		w->text = text;
	unwrap_unseen(u, EXEC_UNSEEN_LANGUAGE);
}

void
unwrap_unseen(struct unwrap *u, enum exec_unseen why)
{
	struct unwrapped *w = push(u, UNWRAP_UNSEEN);

	if (w != NULL)
		w->why = why;
}

struct sh_word
unwrap_behind(const struct sh_word *w, size_t n)
{
	struct sh_word ret = *w;

	ret.text += n;
	ret.len -= n;
	ret.head = ret.head > n ? ret.head - n : 0;
	if (ret.tail > ret.len)
		ret.tail = ret.len;
	return ret;
}

/* ---- options ---- */

enum {
	W_ENV = 1,		/* NAME=VALUE before the command */
	W_JOIN = 2,		/* the command is a line, joined with blanks */
	W_APPEND = 4,		/* further words are added (xargs) */
	W_SCAN = 8,		/* options may follow other words */
	W_ONLY_TEXT = 16,	/* no command but in a text option */
	W_ONE_DASH = 32,	/* long options begin with one dash */
	W_NEED = 64,		/* only behind the option `need` */
	W_SUBCOMMAND = 128,	/* its name is the row's second word */
	W_ANY_PLACE = 256,	/* the sub-command may stand behind options */
	W_TEMPLATE = 512,	/* the command is no plain one (parallel) */
};

/*
 * Where the command begins: behind the options, and behind `skip` other
 * words.  values: short options with a value; longs: long ones, a blank before
 * and behind each.  text, long_text: options whose value is a shell line.
 */
struct wrapper {
	const char	*name;
	const char	*values, *longs;
	unsigned	 skip, how;
	const char	*text, *long_text;
	const char	*need;		/* the option, or the sub-command */
};

#define NPM_LONGS	" --package --workspace --prefix --filter --dir " \
			"--registry --userconfig --cache --cwd "

static const struct wrapper wrappers[] = {
	{ "env", "uCSa", " --unset --chdir --split-string --argv0 ", 0,
	    W_ENV, NULL, NULL, NULL },
	{ "sudo", "CDghpRTUurt", " --close-from --chdir --group --host "
	    "--prompt --chroot --other-user --user --role --type "
	    "--command-timeout ", 0, W_ENV, NULL, NULL, NULL },
	{ "doas", "Cu", "", 0, W_ENV, NULL, NULL, NULL },
	{ "pkexec", "", " --user ", 0, 0, NULL, NULL, NULL },
	{ "gosu", "", "", 1, 0, NULL, NULL, NULL },
	{ "su-exec", "", "", 1, 0, NULL, NULL, NULL },
	{ "nice", "n", " --adjustment ", 0, 0, NULL, NULL, NULL },
	{ "ionice", "cnpPu", " --class --classdata --pid --pgid --uid ", 0,
	    0, NULL, NULL, NULL },
	{ "timeout", "ks", " --kill-after --signal ", 1, 0, NULL, NULL,
	    NULL },
	{ "gtimeout", "ks", " --kill-after --signal ", 1, 0, NULL, NULL,
	    NULL },
	{ "nohup", "", "", 0, 0, NULL, NULL, NULL },
	{ "stdbuf", "ioe", " --input --output --error ", 0, 0, NULL, NULL,
	    NULL },
	{ "setsid", "", "", 0, 0, NULL, NULL, NULL },
	{ "chrt", "TPDp", " --sched-runtime --sched-period --sched-deadline ",
	    1, 0, NULL, NULL, NULL },
	{ "taskset", "", "", 1, 0, NULL, NULL, NULL },
	{ "xargs", "adEILnPs", " --arg-file --delimiter --max-args "
	    "--max-chars --max-procs --process-slot-var ", 0, W_APPEND,
	    NULL, NULL, NULL },
	{ "command", "", "", 0, 0, NULL, NULL, NULL },
	{ "builtin", "", "", 0, 0, NULL, NULL, NULL },
	{ "exec", "a", "", 0, 0, NULL, NULL, NULL },
	/* Behind a redirection these are no reserved words, until bash has
	 * printed and read again what is in a substitution (5.2). */
	{ "!", "", "", 0, 0, NULL, NULL, NULL },
	{ "coproc", "", "", 0, 0, NULL, NULL, NULL },
	{ "noglob", "", "", 0, 0, NULL, NULL, NULL },
	{ "nocorrect", "", "", 0, 0, NULL, NULL, NULL },
	{ "-", "", "", 0, 0, NULL, NULL, NULL },
	{ "repeat", "", "", 1, 0, NULL, NULL, NULL },
	{ "eval", "", "", 0, W_JOIN, NULL, NULL, NULL },
	{ "trap", "", "", 0, W_ONLY_TEXT, NULL, NULL, NULL },
	{ "time", "fo", " --format --output ", 0, 0, NULL, NULL, NULL },
	{ "gtime", "fo", " --format --output ", 0, 0, NULL, NULL, NULL },
	{ "watch", "nq", " --interval --equexit ", 0, W_JOIN, NULL, NULL,
	    NULL },
	{ "parallel", "jSaIPnNLsMmX", " --jobs --sshlogin --arg-file "
	    "--colsep --results --joblog --delay --timeout --retries "
	    "--tmpdir --max-args --workdir ", 0, W_APPEND | W_TEMPLATE,
	    NULL, NULL, NULL },
	{ "script", "cmoIOBTE", " --log-in --log-out --log-io --log-timing "
	    "--logging-format --echo --output-limit ", 0,
	    W_SCAN | W_ONLY_TEXT, "c", " --command ", NULL },
	{ "scriptlive", "cITB", "", 0, W_SCAN | W_ONLY_TEXT, "c",
	    " --command ", NULL },
	{ "su", "cgGsw", " --group --supp-group --shell "
	    "--whitelist-environment ", 0, W_SCAN | W_ONLY_TEXT, "c",
	    " --command --session-command ", NULL },
	{ "runuser", "cugGsw", " --user --group --supp-group --shell "
	    "--whitelist-environment ", 0, W_NEED, "c",
	    " --command --session-command ", "u" },
	{ "runuser", "cugGsw", " --user --group --supp-group --shell "
	    "--whitelist-environment ", 0, W_SCAN | W_ONLY_TEXT, "c",
	    " --command --session-command ", NULL },
	{ "sg", "c", "", 1, W_JOIN, "c", "", NULL },
	{ "flock", "wEc", " --timeout --wait --conflict-exit-code ", 1, 0,
	    "c", " --command ", NULL },
	{ "ld.so", "", " --library-path --inhibit-rpath --audit --preload "
	    "--argv0 --glibc-hwcaps-prepend --glibc-hwcaps-mask ", 0, 0,
	    NULL, NULL, NULL },
	{ "unshare", "RwSGlm", " --root --wd --setuid --setgid --propagation "
	    "--setgroups --map-user --map-group --map-users --map-groups "
	    "--boottime --monotonic --load-interp ", 0, 0, NULL, NULL,
	    NULL },
	{ "nsenter", "tSGW", " --target --setuid --setgid --wdns ", 0, 0,
	    NULL, NULL, NULL },
	{ "chroot", "", "", 1, 0, NULL, NULL, NULL },
	{ "systemd-run", "pHMutECP", " --property --unit --description "
	    "--slice --uid --gid --nice --working-directory --setenv "
	    "--machine --host --service-type --on-active --on-boot "
	    "--on-calendar --timer-property --path-property "
	    "--socket-property ", 0, 0, NULL, NULL, NULL },
	{ "systemd-inhibit", "", " --what --who --why --mode ", 0, 0, NULL,
	    NULL, NULL },
	{ "strace", "abeEIoOpPsSuUX", " --attach --output --trace --user "
	    "--env --string-limit --columns --trace-path --signal "
	    "--status --inject --fault ", 0, 0, NULL, NULL, NULL },
	{ "ltrace", "aADeFlnopsuwx", " --output --align --indent --library "
	    "--config --where ", 0, 0, NULL, NULL, NULL },
	{ "valgrind", "", "", 0, 0, NULL, NULL, NULL },
	{ "gdb", "xdbplD", " -ex -iex -x -ix -cd -d -p -s -e -se -c "
	    "--command --directory --eval-command --init-eval-command ", 0,
	    W_NEED | W_ONE_DASH, NULL, NULL, " -args --args " },
	{ "rr", "", "", 1, 0, NULL, NULL, NULL },
	{ "perf", "eopCctugGjFN", " --event --output --pid --cpu ", 1, 0,
	    NULL, NULL, NULL },
	{ "caffeinate", "tw", "", 0, 0, NULL, NULL, NULL },
	{ "unbuffer", "", "", 0, 0, NULL, NULL, NULL },
	{ "rlwrap", "abCDfgHlmMOpPqsStwz", " --file --history-filename "
	    "--command-name --break-chars --logfile --pre-given ", 0, 0,
	    NULL, NULL, NULL },
	{ "fakeroot", "lsibd", " --lib --faked --fd-base ", 0, 0, NULL,
	    NULL, NULL },
	{ "fakechroot", "ecdl", " --environment --config-dir --elfloader "
	    "--lib ", 0, 0, NULL, NULL, NULL },
	{ "setpriv", "", " --reuid --regid --ruid --euid --rgid --egid "
	    "--groups --inh-caps --ambient-caps --bounding-set "
	    "--securebits --selinux-label --apparmor-profile --pdeathsig "
	    "--landlock-access --landlock-rule --ptracer ", 0, 0, NULL,
	    NULL, NULL },
	{ "setarch", "", "", 1, 0, NULL, NULL, NULL },
	{ "linux32", "", "", 0, 0, NULL, NULL, NULL },
	{ "linux64", "", "", 0, 0, NULL, NULL, NULL },
	{ "i386", "", "", 0, 0, NULL, NULL, NULL },
	{ "x86_64", "", "", 0, 0, NULL, NULL, NULL },
	{ "uname26", "", "", 0, 0, NULL, NULL, NULL },
	{ "prlimit", "op", " --output --pid ", 0, 0, NULL, NULL, NULL },
	{ "choom", "np", " --adjust --pid ", 0, 0, NULL, NULL, NULL },
	{ "numactl", "iNCmlpP", " --interleave --cpunodebind --physcpubind "
	    "--membind --preferred --weighted-interleave ", 0, 0, NULL,
	    NULL, NULL },
	{ "chpst", "uUbem/nlLdopfcrtPC", "", 0, 0, NULL, NULL, NULL },
	{ "setuidgid", "", "", 1, 0, NULL, NULL, NULL },
	{ "envdir", "", "", 1, 0, NULL, NULL, NULL },
	{ "softlimit", "adfclmoprst", "", 0, 0, NULL, NULL, NULL },
	{ "start-stop-daemon", "xpnucsRgNkPOI", "", 0, W_SCAN | W_ONLY_TEXT,
	    NULL, NULL, NULL },
	{ "tini", "pe", "", 0, 0, NULL, NULL, NULL },
	{ "dumb-init", "r", " --rewrite ", 0, 0, NULL, NULL, NULL },
	{ "catatonit", "", "", 0, 0, NULL, NULL, NULL },
	{ "cgexec", "g", "", 0, 0, NULL, NULL, NULL },
	{ "cpulimit", "elpc", " --exe --limit --pid --cpu ", 0, 0, NULL,
	    NULL, NULL },
	{ "eatmydata", "", "", 0, 0, NULL, NULL, NULL },
	{ "torsocks", "aPpui", "", 0, 0, NULL, NULL, NULL },
	{ "torify", "", "", 0, 0, NULL, NULL, NULL },
	{ "proxychains", "f", "", 0, 0, NULL, NULL, NULL },
	{ "proxychains4", "f", "", 0, 0, NULL, NULL, NULL },
	{ "dbus-run-session", "", " --config-file --dbus-daemon ", 0, 0,
	    NULL, NULL, NULL },
	{ "dbus-launch", "", " --config-file ", 0, 0, NULL, NULL, NULL },
	{ "xvfb-run", "efnspw", " --error-file --auth-file --server-num "
	    "--xauth-protocol --server-args --wait ", 0, 0, NULL, NULL,
	    NULL },
	{ "firejail", "", "", 0, 0, NULL, NULL, NULL },
	{ "proot", "rbqwviR0S", " --rootfs --bind --qemu --cwd --verbose ",
	    0, 0, NULL, NULL, NULL },
	{ "sshpass", "fdp", "", 0, 0, NULL, NULL, NULL },
	{ "ssh-agent", "aEtPO", "", 0, 0, NULL, NULL, NULL },
	{ "entr", "", "", 0, 0, NULL, NULL, NULL },
	{ "chronic", "", "", 0, 0, NULL, NULL, NULL },
	{ "ts", "", "", 0, 0, NULL, NULL, NULL },
	{ "lockf", "t", "", 1, 0, NULL, NULL, NULL },
	{ "ccache", "", "", 0, 0, NULL, NULL, NULL },
	{ "distcc", "", "", 0, 0, NULL, NULL, NULL },
	{ "sccache", "", "", 0, 0, NULL, NULL, NULL },
	{ "hyperfine", "wmrpcsSLPDnui", " --warmup --min-runs --max-runs "
	    "--runs --export-json --shell ", 0, W_JOIN, NULL, " --prepare "
	    "--setup --cleanup --conclude ", NULL },
	{ "busybox", "", "", 0, 0, NULL, NULL, NULL },
	{ "toybox", "", "", 0, 0, NULL, NULL, NULL },
	{ "npx", "pw", NPM_LONGS, 0, 0, "c", " --call ", NULL },
	{ "pnpx", "pw", NPM_LONGS, 0, 0, "c", " --call ", NULL },
	{ "bunx", "p", NPM_LONGS, 0, 0, NULL, NULL, NULL },
	{ "uvx", "pw", " --from --with --python --index-url ", 0, 0, NULL,
	    NULL, NULL },
	{ "npm", "pwC", NPM_LONGS, 0, W_SUBCOMMAND, "c", " --call ",
	    " exec x " },
	{ "pnpm", "pwCFr", NPM_LONGS, 0, W_SUBCOMMAND, "c", "",
	    " exec dlx " },
	{ "yarn", "p", NPM_LONGS, 0, W_SUBCOMMAND, NULL, NULL,
	    " exec dlx run " },
	{ "bun", "p", NPM_LONGS, 0, W_SUBCOMMAND, NULL, NULL, " x exec " },
	{ "uv", "pw", " --from --with --python --directory --project "
	    "--extra --group --package --env-file ", 0, W_SUBCOMMAND, NULL,
	    NULL, " run " },
	{ "poetry", "CP", " --directory --project ", 0, W_SUBCOMMAND, NULL,
	    NULL, " run " },
	{ "pipenv", "", " --python ", 0, W_SUBCOMMAND, NULL, NULL, " run " },
	{ "pipx", "", " --spec --python --index-url ", 0, W_SUBCOMMAND, NULL,
	    NULL, " run " },
	{ "hatch", "ep", " --env --project ", 0, W_SUBCOMMAND, NULL, NULL,
	    " run " },
	{ "pdm", "p", " --project ", 0, W_SUBCOMMAND, NULL, NULL, " run " },
	{ "rye", "", "", 0, W_SUBCOMMAND, NULL, NULL, " run " },
	{ "bundle", "", " --gemfile ", 0, W_SUBCOMMAND, NULL, NULL,
	    " exec " },
	{ "mise", "CE", " --cd --env ", 0, W_SUBCOMMAND, NULL, NULL,
	    " exec x " },
	{ "direnv", "", "", 1, W_SUBCOMMAND, NULL, NULL, " exec " },
	{ "dotenv", "ef", " --file ", 0, 0, NULL, NULL, NULL },
	{ "conda", "np", " --name --prefix --cwd ", 0, W_SUBCOMMAND, NULL,
	    NULL, " run " },
	{ "opam", "", " --switch ", 0, W_SUBCOMMAND, NULL, NULL, " exec " },
	{ "rustup", "", "", 1, W_SUBCOMMAND, NULL, NULL, " run " },
	{ "stack", "", "", 0, W_SUBCOMMAND, NULL, NULL, " exec " },
	{ "cabal", "", "", 0, W_SUBCOMMAND, NULL, NULL, " exec " },
	{ "nix-shell", "pAIE", " --attr --expr --arg --argstr ", 0,
	    W_SCAN | W_ONLY_TEXT, NULL, " --run --command ", NULL },
	{ "fence-run", "ctsarwep", " --settings --template --allow --read "
	    "--write --env --shell --chdir --port --keep-fd --engine "
	    "--trace-file --fence-log-file --expose-host-path "
	    "--expose-host-path-rw --service-execution-model ", 0, 0, "c",
	    " --c ", NULL },
	{ "fence", "ctsarwep", " --settings --template --allow --read "
	    "--write --env --shell --chdir --port --keep-fd --engine "
	    "--trace-file --fence-log-file --expose-host-path "
	    "--expose-host-path-rw --service-execution-model ", 0, 0, "c",
	    " --c ", NULL },
};

static bool
has_word(const char *list, const char *word, size_t n)
{
	char padded[80];

	if (list == NULL || n == 0 || n + 3 > sizeof padded ||
	    memchr(word, ' ', n) != NULL)
		return false;
	padded[0] = ' ';
	memcpy(padded + 1, word, n);
	memcpy(padded + 1 + n, " ", 2);
	return strstr(list, padded) != NULL;
}

/* A long option, or one with a single dash where those are long. */
static size_t
long_option(struct unwrap *u, const struct wrapper *row, size_t i)
{
	const struct sh_word *w = &u->words[i];
	const char *equals = memchr(w->text, '=', w->len);
	size_t n = equals != NULL ? (size_t)(equals - w->text) : w->len;
	bool has_next = equals == NULL && i + 1 < u->nwords;

	if (has_word(row->long_text, w->text, n)) {
		if (equals != NULL)
			unwrap_line(u, unwrap_behind(w, n + 1), true);
		else if (has_next)
			unwrap_line(u, u->words[i + 1], true);
		return i + 1 + has_next;
	}
	return i + 1 + (has_next && has_word(row->longs, w->text, n));
}

/* "-abc": the first with a value ends it. */
static size_t
short_options(struct unwrap *u, const struct wrapper *row, size_t i)
{
	const struct sh_word *w = &u->words[i];
	bool has_next = i + 1 < u->nwords;

	for (size_t k = 1; k < w->len; k++) {
		char c = w->text[k];
		bool is_text = row->text != NULL &&
		    strchr(row->text, c) != NULL;

		if (!is_text && strchr(row->values, c) == NULL)
			continue;
		if (k + 1 < w->len)
			has_next = false;
		if (is_text && k + 1 < w->len)
			unwrap_line(u, unwrap_behind(w, k + 1), true);
		else if (is_text && has_next)
			unwrap_line(u, u->words[i + 1], true);
		return i + 1 + has_next;
	}
	return i + 1;
}

static bool
is_dashes(const struct sh_word *w)
{
	return w->is_whole && strcmp(w->text, "--") == 0;
}

static bool
is_option(const struct sh_word *w)
{
	return w->head > 0 && w->len > 1 && w->text[0] == '-' &&
	    !is_dashes(w);
}

static size_t
option(struct unwrap *u, const struct wrapper *row, size_t i)
{
	const struct sh_word *w = &u->words[i];

	return w->text[1] == '-' || (row->how & W_ONE_DASH) != 0 ?
	    long_option(u, row, i) : short_options(u, row, i);
}

/* The length of NAME of NAME=VALUE, or 0. */
static size_t
assignment(const struct sh_word *w)
{
	size_t n = strspn(w->text, "_abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

	return n > 0 && n < w->head && w->text[n] == '=' ? n : 0;
}

/* Options (and assignments) from word i on; the first word behind them. */
static size_t
skip_options(struct unwrap *u, const struct wrapper *row, size_t i,
    bool *ret_is_over)
{
	while (i < u->nwords) {
		const struct sh_word *w = &u->words[i];

		if (is_dashes(w)) {
			*ret_is_over = true;
			i++;
			if ((row->how & W_ENV) == 0)
				break;
		} else if (!*ret_is_over && is_option(w)) {
			i = option(u, row, i);
		} else if ((row->how & W_ENV) != 0 && assignment(w) > 0) {
			struct unwrapped *a = push(u, UNWRAP_ASSIGN);

			if (a != NULL) {
				a->words = w;
				a->nwords = 1;
			}
			i++;
		} else {
			break;
		}
	}
	return i;
}

static bool
has_option(const struct unwrap *u, char c)
{
	for (size_t i = 1; i < u->nwords && is_option(&u->words[i]); i++)
		if (u->words[i].text[1] == c)
			return true;
	return false;
}

/* The command's words and one more that stands for all that is added. */
static void
appended(struct unwrap *u, size_t i)
{
	static const char more[] = "...";
	size_t n = u->nwords - i;
	struct sh_word *copy = arena_alloc(u->arena, (n + 1) * sizeof *copy);

	memcpy(copy, u->words + i, n * sizeof *copy);
	for (size_t k = 0; k < n; k++) {
		const char *at = strstr(copy[k].text, "{}");

		if (at == NULL)
			continue;
		if (copy[k].is_whole || copy[k].head >
		    (size_t)(at - copy[k].text))
			copy[k].head = (size_t)(at - copy[k].text);
		copy[k].tail = 0;
		copy[k].is_whole = false;
	}
	copy[n] = (struct sh_word){ .text = more, .len = 3,
	    .may_split = true };
	unwrap_argv(u, copy, n + 1);
}

static void
apply(struct unwrap *u, const struct wrapper *row)
{
	bool is_over = false;
	size_t before = u->n, i = skip_options(u, row, 1, &is_over);

	if ((row->how & W_SUBCOMMAND) != 0) {
		if (i >= u->nwords || !has_word(row->need, u->words[i].text,
		    u->words[i].len))
			return;
		i = skip_options(u, row, i + 1, &is_over);
	}
	for (unsigned k = 0; k < row->skip && i < u->nwords; k++)
		i = skip_options(u, row, i + 1, &is_over);
	if ((row->how & W_SCAN) != 0)
		while (i < u->nwords)
			i = is_option(&u->words[i]) && !is_over ?
			    option(u, row, i) : i + 1;
	if ((row->how & W_TEMPLATE) != 0)
		unwrap_unseen(u, EXEC_UNSEEN_LANGUAGE);
	if (i >= u->nwords || (row->how & W_ONLY_TEXT) != 0)
		return;
	for (size_t k = before; row->text != NULL && k < u->n; k++)
		if (u->v[k].kind == UNWRAP_LINE)	/* the text is all */
			return;
	if ((row->how & W_JOIN) != 0)
		unwrap_line(u, shwords_join(u->arena, u->words + i,
		    u->nwords - i), true);
	else if ((row->how & W_APPEND) != 0)
		appended(u, i);
	else
		unwrap_argv(u, u->words + i, u->nwords - i);
}

/* ---- shells ---- */

static const struct { const char *name; bool is_ours, is_posix; } shells[] = {
	{ "sh", true, true }, { "bash", true, false }, { "dash", true, true },
	{ "ash", true, true }, { "ksh", true, true }, { "mksh", true, true },
	{ "zsh", true, true }, { "rbash", true, false },
	{ "ksh93", true, true }, { "posh", true, true },
	{ "yash", true, true }, { "oksh", true, true },
	{ "hush", true, true }, { "lksh", true, true },
	{ "fish", false, true }, { "csh", false, true },
	{ "tcsh", false, true }, { "nu", false, true },
	{ "elvish", false, true }, { "xonsh", false, true },
	{ "pwsh", false, true }, { "rc", false, true }, { "es", false, true },
};

/* Escapes of echo -e and of printf's format. */
static struct sh_word
unescape(struct arena *a, const char *s)
{
	static const char from[] = "nt\\\"'abfrv", to[] = "\nt\\\"'\a\b\f\r\v";
	struct buf b;
	struct sh_word ret;
	const char *at;

	buf_init(&b, 0);
	for (; *s != '\0'; s++) {
		unsigned n = 0, k;

		if (*s != '\\' || s[1] == '\0') {
			buf_putc(&b, *s);
		} else if ((at = strchr(from, s[1])) != NULL) {
			buf_putc(&b, s[1] == 't' ? '\t' : to[at - from]);
			s++;
		} else if (s[1] >= '0' && s[1] <= '7') {
			for (k = 0; k < 4 && s[1] >= '0' && s[1] <= '7'; k++)
				n = n * 8 + (unsigned)(*++s - '0');
			buf_putc(&b, (char)(n != 0 ? n : ' '));
		} else if (s[1] == 'x') {
			static const char hex[] = "0123456789abcdef";

			s++;
			for (k = 0; k < 2 && s[1] != '\0' &&
			    (at = strchr(hex, s[1] | 32)) != NULL; k++, s++)
				n = n * 16 + (unsigned)(at - hex);
			buf_putc(&b, (char)(n != 0 ? n : ' '));
		} else {
			buf_putc(&b, '\\');
		}
	}
	ret = shwords_literal(arena_strndup(a, b.data, b.len));
	buf_release(&b);
	return ret;
}

/* What echo writes. */
static bool
echo_output(struct unwrap *u, const struct sh_command *c, bool *ret_escapes,
    struct sh_word *ret)
{
	size_t i = 1;

	*ret_escapes = false;
	while (i < c->nwords && c->words[i].is_whole &&
	    c->words[i].text[0] == '-' && c->words[i].text[1] != '\0' &&
	    c->words[i].text[1 + strspn(c->words[i].text + 1, "neE")] == '\0')
		i++;
	*ret = shwords_join(u->arena, c->words + i, c->nwords - i);
	*ret_escapes = strchr(ret->text, '\\') != NULL;
	return true;
}

/* What printf writes, of the formats that people use for this. */
static bool
printf_output(struct unwrap *u, const struct sh_command *c,
    struct sh_word *ret)
{
	size_t i = 1;
	const char *format;

	if (i < c->nwords && is_dashes(&c->words[i]))
		i++;
	if (i >= c->nwords || !c->words[i].is_whole)
		return false;
	format = c->words[i].text;
	if (strchr(format, '%') == NULL) {
		*ret = unescape(u->arena, format);
		return true;
	}
	if (strcmp(format, "%s") != 0 && strcmp(format, "%s\\n") != 0 &&
	    strcmp(format, "%b") != 0 && strcmp(format, "%b\\n") != 0)
		return false;
	*ret = shwords_join(u->arena, c->words + i + 1, c->nwords - i - 1);
	if (format[1] == 'b')
		*ret = unescape(u->arena, ret->text);
	else if (format[2] == '\\')
		for (char *s = (char *)ret->text; ret->is_whole && *s != '\0';
		    s++)
			*s = *s == ' ' && c->nwords - i > 2 ? *s : *s;
	return true;
}

static void
input_text(struct unwrap *u, const struct sh_redirect *r, bool is_posix)
{
	const struct sh_word *text = r->op == SH_OP_HEREDOC ? &r->body :
	    &r->word;

	if (text->text != NULL)	/* else the text ends before its body */
		unwrap_line(u, *text, is_posix);
}

static void
input_command(struct unwrap *u, const struct sh_command *c, bool is_posix)
{
	const char *name = c->nwords > 0 && c->words[0].is_whole ?
	    cmdrule_last_name(c->words[0].text) : "";
	struct sh_word text;
	bool escapes;

	if (strcmp(name, "echo") == 0 && echo_output(u, c, &escapes, &text)) {
		unwrap_line(u, text, is_posix);
		if (escapes && text.is_whole)
			unwrap_line(u, unescape(u->arena, text.text),
			    is_posix);
	} else if (strcmp(name, "printf") == 0 && printf_output(u, c, &text)) {
		unwrap_line(u, text, is_posix);
	} else if (strcmp(name, "cat") == 0 && c->nwords == 1 &&
	    c->in == SH_INPUT_TEXT) {
		input_text(u, c->input, is_posix);
	} else {
		unwrap_unseen(u, EXEC_UNSEEN_INPUT);
	}
}

/* A shell without a file reads what its input says. */
static void
shell_input(struct unwrap *u, bool is_posix)
{
	const struct sh_command *c = u->command;

	if (c == NULL)
		return;
	switch (c->in) {
	case SH_INPUT_OUTER:
		break;
	case SH_INPUT_FILE:	/* a file of commands is a program; <(..)? */
		if (c->input != NULL && !c->input->word.is_whole &&
		    strstr(c->input->word.text, "<(") != NULL)
			unwrap_unseen(u, EXEC_UNSEEN_INPUT);
		break;
	case SH_INPUT_TEXT:
		input_text(u, c->input, is_posix);
		break;
	case SH_INPUT_COMMAND:
		if (u->line != NULL && c->from < u->line->n)
			input_command(u, &u->line->v[c->from], is_posix);
		else
			unwrap_unseen(u, EXEC_UNSEEN_INPUT);
		break;
	case SH_INPUT_OTHER:
		unwrap_unseen(u, EXEC_UNSEEN_INPUT);
		break;
	}
}

/* A file that is no file: standard input, or a substitution. */
static bool
is_input(const struct sh_word *w)
{
	static const char *const names[] = { "-", "/dev/stdin", "/dev/fd/0",
	    "/proc/self/fd/0", "/dev/tty" };

	for (size_t i = 0; w->is_whole && i < COUNT(names); i++)
		if (strcmp(w->text, names[i]) == 0)
			return true;
	return false;
}

static void
shell_file(struct unwrap *u, const struct sh_word *w, bool is_posix)
{
	if (is_input(w))
		shell_input(u, is_posix);
	else if (!w->is_whole && strstr(w->text, "<(") != NULL)
		unwrap_unseen(u, EXEC_UNSEEN_INPUT);
}

/* One word of options: what it says, and how many values follow it. */
struct shell_options { bool is_line, is_input, is_sure; };

static size_t
shell_option(const struct sh_word *w, struct shell_options *o)
{
	static const char *const longs[] = { "--rcfile", "--init-file",
	    "--init-command", "--features", "--debug", "--profile" };
	size_t values = 0;

	if (w->text[0] == '-' && w->text[1] == '-') {
		if (strcmp(w->text, "--command") == 0)
			o->is_line = true;
		for (size_t i = 0; i < COUNT(longs); i++)
			values |= strcmp(w->text, longs[i]) == 0;
		return values;
	}
	for (size_t i = 1; i < w->len; i++) {
		if (w->text[i] == 'c' && w->text[0] == '-')
			o->is_line = true;
		if (w->text[i] == 's' && w->text[0] == '-')
			o->is_input = true;
		values += w->text[i] == 'o' || w->text[i] == 'O';
	}
	return values;
}

static void
shell(struct unwrap *u, bool is_ours, bool is_posix)
{
	struct shell_options o = { .is_line = false };
	size_t i = 1;

	while (i < u->nwords) {
		const struct sh_word *w = &u->words[i];

		if (is_dashes(w) || (w->is_whole && strcmp(w->text, "-") == 0)) {
			i++;
			break;
		}
		if (w->head == 0 && !w->is_whole && w->may_split &&
		    i + 1 < u->nwords) {	/* sh $flags -c ... */
			i++;
			continue;
		}
		if (w->head < 2 || (w->text[0] != '-' && w->text[0] != '+'))
			break;
		i += 1 + shell_option(w, &o);
	}
	if (o.is_line && i < u->nwords) {
		if (is_ours)
			unwrap_line(u, u->words[i], is_posix);
		else
			guess(u, u->words[i]);
	} else if (i >= u->nwords || o.is_input) {
		shell_input(u, is_posix);
		if (!is_ours && u->n > 0)
			unwrap_unseen(u, EXEC_UNSEEN_LANGUAGE);
	} else {
		shell_file(u, &u->words[i], is_posix);
	}
}

/* "--command=text" of fish. */
static void
attached_lines(struct unwrap *u)
{
	static const char option_text[] = "--command=";
	size_t n = sizeof option_text - 1;

	for (size_t i = 1; i < u->nwords; i++)
		if (u->words[i].head >= n &&
		    memcmp(u->words[i].text, option_text, n) == 0)
			guess(u, unwrap_behind(&u->words[i], n));
}

/* ---- the others ---- */

/* find's and fd's commands end at ";", or at "+". */
static void
find_commands(struct unwrap *u)
{
	static const char options[] = " -exec -ok -execdir -okdir ";
	static const char fd_options[] = " -x --exec -X --exec-batch ";
	bool is_find = strcmp(u->name, "find") == 0 ||
	    strcmp(u->name, "gfind") == 0;

	for (size_t i = 1; i < u->nwords; i++) {
		struct unwrap inner = *u;
		size_t end;

		if (!has_word(is_find ? options : fd_options,
		    u->words[i].text, u->words[i].len))
			continue;
		for (end = i + 1; end < u->nwords; end++)
			if (u->words[end].is_whole &&
			    (strcmp(u->words[end].text, ";") == 0 ||
			    (is_find && strcmp(u->words[end].text, "+") == 0)))
				break;
		inner.nwords = end;
		inner.n = 0;
		if (i + 1 < end) {
			appended(&inner, i + 1);
			unwrap_argv(u, inner.v[0].words,
			    inner.v[0].nwords - is_find);
		}
		i = end;
	}
}

/* env -S: a string of words, as the first ones. */
static void
env_split(struct unwrap *u)
{
	for (size_t i = 1; i < u->nwords && is_option(&u->words[i]); i++) {
		const struct sh_word *w = &u->words[i];
		struct sh_word text, *all;
		struct sh_line line;
		size_t n = 0, rest = i + 1;

		if (strncmp(w->text, "--split-string=", 15) == 0)
			text = unwrap_behind(w, 15);
		else if (strchr(w->text, 'S') != NULL && w->text[1] != '-' &&
		    w->text[strcspn(w->text, "uCSa")] == 'S' &&
		    strchr(w->text, 'S')[1] != '\0')
			text = unwrap_behind(w,
			    (size_t)(strchr(w->text, 'S') - w->text) + 1);
		else if (i + 1 < u->nwords &&
		    (strcmp(w->text, "--split-string") == 0 ||
		    (w->text[1] != '-' && w->text[w->len - 1] == 'S')))
			text = u->words[rest++];
		else
			continue;
		shwords_parse(u->arena, SH_POSIX, text.text, text.len, &line);
		all = arena_alloc(u->arena, (1 + (line.n > 0 ?
		    line.v[0].nassigns + line.v[0].nwords : 0) +
		    u->nwords - rest) * sizeof *all);
		all[n++] = shwords_literal("env");
		for (size_t k = 0; line.n > 0 && k < line.v[0].nassigns; k++)
			all[n++] = line.v[0].assigns[k];
		for (size_t k = 0; line.n > 0 && k < line.v[0].nwords; k++)
			all[n++] = line.v[0].words[k];
		for (; rest < u->nwords; rest++)
			all[n++] = u->words[rest];
		unwrap_argv(u, all, n);
		if (!text.is_whole || line.n != 1 || line.nunseen > 0)
			unwrap_unseen(u, EXEC_UNSEEN_TEXT);
		return;
	}
}

/* coreutils --coreutils-prog=NAME, busybox NAME. */
static void
coreutils(struct unwrap *u)
{
	static const char option_text[] = "--coreutils-prog=";
	size_t n = sizeof option_text - 1;
	struct sh_word *copy;

	if (u->nwords < 2)
		return;
	copy = arena_alloc(u->arena, u->nwords * sizeof *copy);
	memcpy(copy, u->words + 1, (u->nwords - 1) * sizeof *copy);
	if (copy[0].head >= n && memcmp(copy[0].text, option_text, n) == 0)
		copy[0] = unwrap_behind(&copy[0], n);
	unwrap_argv(u, copy, u->nwords - 1);
}

/* sudo -s and -i give the words to a shell. */
static void
sudo_shell(struct unwrap *u)
{
	if (has_option(u, 's') || has_option(u, 'i'))
		for (size_t i = 0; i < u->n; i++)
			if (u->v[i].kind == UNWRAP_ARGV)
				unwrap_line(u, shwords_join(u->arena,
				    u->v[i].words, u->v[i].nwords), true);
}

/* alias NAME='line' */
static void
alias(struct unwrap *u)
{
	for (size_t i = 1; i < u->nwords; i++) {
		const char *equals = memchr(u->words[i].text, '=',
		    u->words[i].len);

		if (equals != NULL)
			unwrap_line(u, unwrap_behind(&u->words[i],
			    (size_t)(equals - u->words[i].text) + 1), true);
	}
}

static void
trap_line(struct unwrap *u)
{
	size_t i = 1;

	if (i < u->nwords && is_dashes(&u->words[i]))
		i++;
	if (i + 1 < u->nwords && !is_option(&u->words[i]))
		unwrap_line(u, u->words[i], true);
}

/* export and its kin: each NAME=VALUE is an assignment. */
static void
declaration(struct unwrap *u)
{
	for (size_t i = 1; i < u->nwords; i++) {
		struct unwrapped *a;

		if (assignment(&u->words[i]) == 0 ||
		    (a = push(u, UNWRAP_ASSIGN)) == NULL)
			continue;
		a->words = &u->words[i];
		a->nwords = 1;
	}
}

/* tmux new-session 'line', screen -dm command. */
static void
terminal(struct unwrap *u)
{
	static const char commands[] = " new new-session neww new-window "
	    "split-window splitw respawn-pane respawnp respawn-window "
	    "run-shell run if-shell pipe-pane ";
	static const struct wrapper row = { "tmux", "ctnsxyFefl", "", 0, 0,
	    NULL, NULL, NULL };
	bool is_over = false;
	size_t i;

	for (i = 1; i < u->nwords; i++)
		if (has_word(commands, u->words[i].text, u->words[i].len))
			break;
	i = i < u->nwords ? skip_options(u, &row, i + 1, &is_over) : i;
	if (i < u->nwords)
		unwrap_line(u, shwords_join(u->arena, u->words + i,
		    u->nwords - i), true);
}

static void
dot(struct unwrap *u)
{
	size_t i = 1;

	if (i < u->nwords && is_dashes(&u->words[i]))
		i++;
	if (i < u->nwords)
		shell_file(u, &u->words[i], true);
}

static const struct { const char *name; void (*fn)(struct unwrap *); }
    special[] = {
	{ "find", find_commands }, { "gfind", find_commands },
	{ "fd", find_commands }, { "fdfind", find_commands },
	{ "env", env_split }, { "coreutils", coreutils },
	{ "sudo", sudo_shell }, { "alias", alias }, { "trap", trap_line },
	{ "export", declaration }, { "declare", declaration },
	{ "typeset", declaration }, { "readonly", declaration },
	{ "local", declaration }, { "tmux", terminal }, { ".", dot },
	{ "source", dot }, { "git", unwrap_git }, { "fish", attached_lines },
};

static bool
is_loader(const char *name)
{
	return strncmp(name, "ld-linux", 8) == 0 ||
	    strncmp(name, "ld-musl", 7) == 0 || strncmp(name, "ld64", 4) == 0;
}

static bool
is_shell(struct unwrap *u)
{
	for (size_t i = 0; i < COUNT(shells); i++)
		if (strcmp(shells[i].name, u->name) == 0) {
			shell(u, shells[i].is_ours, shells[i].is_posix);
			return true;
		}
	return false;
}

/* "command -v" and "runuser -u" decide which row it is. */
static bool
fits(const struct unwrap *u, const struct wrapper *row, const char *name)
{
	if (strcmp(row->name, name) != 0)
		return false;
	if (strcmp(name, "command") == 0)
		return !has_option(u, 'v') && !has_option(u, 'V');
	if ((row->how & W_NEED) == 0)
		return true;
	if ((row->how & W_ONE_DASH) == 0)
		return has_option(u, row->need[0]);
	for (size_t i = 1; i < u->nwords; i++)
		if (has_word(row->need, u->words[i].text, u->words[i].len))
			return true;
	return false;
}

void
shunwrap(struct unwrap *u)
{
	const char *name = is_loader(u->name) ? "ld.so" : u->name;

	u->n = 0;
	if (is_shell(u)) {
		if (strcmp(name, "fish") == 0)
			attached_lines(u);
		return;
	}
	for (size_t i = 0; i < COUNT(wrappers); i++)
		if (fits(u, &wrappers[i], name)) {
			apply(u, &wrappers[i]);
			break;
		}
	for (size_t i = 0; i < COUNT(special); i++)
		if (strcmp(special[i].name, name) == 0)
			special[i].fn(u);
}

/* ---- variables ---- */

static const char *const command_variables[] = {
	"GIT_SSH_COMMAND", "GIT_SSH", "GIT_PAGER", "PAGER", "MANPAGER",
	"EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR",
	"GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS",
	"BROWSER", "LESSOPEN", "LESSCLOSE", "PROMPT_COMMAND", "RSYNC_RSH",
	"CVS_RSH", "SVN_SSH", "GIT_PROXY_COMMAND", "FCEDIT", "SYSTEMD_EDITOR",
	"SYSTEMD_PAGER", "AWS_PAGER", "GH_PAGER", "GH_EDITOR", "PSQL_PAGER",
	"PSQL_EDITOR", "HGEDITOR", "SVN_EDITOR", "KUBE_EDITOR",
};

/* Files that a shell reads first: what their names expand runs. */
static const char *const file_variables[] = { "BASH_ENV", "ENV" };

void
shunwrap_assign(struct unwrap *u, const struct sh_word *w)
{
	static const char git_value[] = "GIT_CONFIG_VALUE_";
	size_t n = assignment(w);
	struct sh_word value;

	if (n == 0)
		return;
	value = unwrap_behind(w, n + 1);
	if (value.len == 0)
		return;
	for (size_t i = 0; i < COUNT(command_variables); i++)
		if (strlen(command_variables[i]) == n &&
		    memcmp(w->text, command_variables[i], n) == 0)
			unwrap_line(u, value, true);
	for (size_t i = 0; i < COUNT(file_variables); i++)
		if (strlen(file_variables[i]) == n &&
		    memcmp(w->text, file_variables[i], n) == 0 &&
		    (strstr(value.text, "$(") != NULL ||
		    strchr(value.text, '`') != NULL))
			unwrap_line(u, value, true);
	if (n >= sizeof git_value - 1 &&
	    memcmp(w->text, git_value, sizeof git_value - 1) == 0)
		unwrap_line(u, value.text[0] == '!' ?
		    unwrap_behind(&value, 1) : value, true);
	if (n == 21 && memcmp(w->text, "GIT_CONFIG_PARAMETERS", n) == 0)
		unwrap_unseen(u, EXEC_UNSEEN_TEXT);
}
