/* Wrappers that are a row in a table: where the command behind them begins. */
#include <string.h>

#include "platform/base/arena.h"
#include "policy/shunwrap_parts.h"

#define COUNT(a)	(sizeof(a) / sizeof *(a))

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
	    "--expose-host-path-rw --service-execution-model "
	    "--deny-read --deny-write ", 0, 0, "c",
	    " --c ", NULL },
	{ "fence", "ctsarwep", " --settings --template --allow --read "
	    "--write --env --shell --chdir --port --keep-fd --engine "
	    "--trace-file --fence-log-file --expose-host-path "
	    "--expose-host-path-rw --service-execution-model "
	    "--deny-read --deny-write ", 0, 0, "c",
	    " --c ", NULL },
};

bool
unwrap_has_word(const char *list, const char *word, size_t n)
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

	if (unwrap_has_word(row->long_text, w->text, n)) {
		if (equals != NULL)
			unwrap_line(u, unwrap_behind(w, n + 1), true);
		else if (has_next)
			unwrap_line(u, u->words[i + 1], true);
		return i + 1 + has_next;
	}
	return i + 1 + (has_next && unwrap_has_word(row->longs, w->text, n));
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

bool
unwrap_is_dashes(const struct sh_word *w)
{
	return w->is_whole && strcmp(w->text, "--") == 0;
}

bool
unwrap_is_option(const struct sh_word *w)
{
	return w->head > 0 && w->len > 1 && w->text[0] == '-' &&
	    !unwrap_is_dashes(w);
}

static size_t
option(struct unwrap *u, const struct wrapper *row, size_t i)
{
	const struct sh_word *w = &u->words[i];

	return w->text[1] == '-' || (row->how & W_ONE_DASH) != 0 ?
	    long_option(u, row, i) : short_options(u, row, i);
}

/* The length of NAME of NAME=VALUE, or 0. */
size_t
unwrap_assignment(const struct sh_word *w)
{
	size_t n = strspn(w->text, "_abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

	return n > 0 && n < w->head && w->text[n] == '=' ? n : 0;
}

/* Options (and assignments) from word i on; the first word behind them. */
size_t
unwrap_skip_options(struct unwrap *u, const struct wrapper *row, size_t i,
    bool *ret_is_over)
{
	while (i < u->nwords) {
		const struct sh_word *w = &u->words[i];

		if (unwrap_is_dashes(w)) {
			*ret_is_over = true;
			i++;
			if ((row->how & W_ENV) == 0)
				break;
		} else if (!*ret_is_over && unwrap_is_option(w)) {
			i = option(u, row, i);
		} else if ((row->how & W_ENV) != 0 && unwrap_assignment(w) > 0) {
			struct unwrapped *a = unwrap_push(u, UNWRAP_ASSIGN);

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

bool
unwrap_has_option(const struct unwrap *u, char c)
{
	for (size_t i = 1; i < u->nwords && unwrap_is_option(&u->words[i]); i++)
		if (u->words[i].text[1] == c)
			return true;
	return false;
}

/* The command's words and one more that stands for all that is added. */
void
unwrap_appended(struct unwrap *u, size_t i)
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
	size_t before = u->n, i = unwrap_skip_options(u, row, 1, &is_over);

	if ((row->how & W_SUBCOMMAND) != 0) {
		if (i >= u->nwords || !unwrap_has_word(row->need, u->words[i].text,
		    u->words[i].len))
			return;
		i = unwrap_skip_options(u, row, i + 1, &is_over);
	}
	for (unsigned k = 0; k < row->skip && i < u->nwords; k++)
		i = unwrap_skip_options(u, row, i + 1, &is_over);
	if ((row->how & W_SCAN) != 0)
		while (i < u->nwords)
			i = unwrap_is_option(&u->words[i]) && !is_over ?
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
		unwrap_appended(u, i);
	else
		unwrap_argv(u, u->words + i, u->nwords - i);
}

/* "command -v" and "runuser -u" decide which row it is. */
static bool
fits(const struct unwrap *u, const struct wrapper *row, const char *name)
{
	if (strcmp(row->name, name) != 0)
		return false;
	if (strcmp(name, "command") == 0)
		return !unwrap_has_option(u, 'v') && !unwrap_has_option(u, 'V');
	if ((row->how & W_NEED) == 0)
		return true;
	if ((row->how & W_ONE_DASH) == 0)
		return unwrap_has_option(u, row->need[0]);
	for (size_t i = 1; i < u->nwords; i++)
		if (unwrap_has_word(row->need, u->words[i].text, u->words[i].len))
			return true;
	return false;
}

static bool
is_loader(const char *name)
{
	/* ld-linux-x86-64.so.2, ld-2.31.so, ld-musl-x86_64.so.1, ld64.so.2 */
	return strncmp(name, "ld64", 4) == 0 ||
	    (strncmp(name, "ld-", 3) == 0 && strstr(name, ".so") != NULL);
}

void
unwrap_by_row(struct unwrap *u)
{
	const char *name = is_loader(u->name) ? "ld.so" : u->name;

	for (size_t i = 0; i < COUNT(wrappers); i++)
		if (fits(u, &wrappers[i], name)) {
			apply(u, &wrappers[i]);
			return;
		}
}
