/* policy/decide_exec: which command lines pass, and what lets others pass. */
#include "exec_rows.h"

static const char push_rm[] = "{\"command\":{\"deny\":[\"git push\","
    "\"rm -rf\"],\"useDefaults\":false}}";

static void
reference_rows(void **state)
{
	static const char G[] = "git push", R[] = "rm -rf";
	static const struct exec_row rows[] = {
		{ "git push", G }, { "rm -rf", R }, { "rm -rf /", R },
		{ "git push origin main", G }, { "rm -rf .", R },
		{ "git status", NULL }, { "git pull", NULL },
		{ "rm file.txt", NULL }, { "rm -r dir", NULL },
		{ "echo git push", NULL }, { "", NULL }, { "   ", NULL },
		{ "rm", NULL }, { "rm -r", NULL }, { "rm -f", NULL },
		{ "rmdir", NULL }, { "shutdown", NULL },
		/* chains */
		{ "ls && git push", G }, { "git push && ls", G },
		{ "ls && echo hello && git push origin main", G },
		{ "ls || git push", G }, { "git status || git push", G },
		{ "ls; git push", G }, { "git push; ls", G },
		{ "echo hello | git push", G },
		{ "ls && echo hi || git push", G },
		{ "ls; pwd; git push origin main", G },
		{ "git status | grep something", NULL },
		{ "ls && pwd", NULL }, { "git status | grep branch", NULL },
		/* nested shells */
		{ "bash -c \"git push\"", G },
		{ "bash -c 'git push origin main'", G },
		{ "sh -c \"git push\"", G }, { "zsh -c \"git push\"", G },
		{ "bash -c \"ls && git push\"", G },
		{ "sh -c 'git status; git push'", G },
		{ "bash -lc \"git push\"", G },
		{ "/bin/bash -c \"git push\"", G },
		{ "/usr/bin/zsh -c 'git push origin main'", G },
		{ "bash -c \"git status\"", NULL },
		{ "bash -c 'ls && pwd'", NULL },
		/* paths and quotes */
		{ "/usr/bin/git push", G },
		{ "/usr/local/bin/git push origin main", G },
		{ "./git push", G }, { "../bin/git push", G },
		{ "git push \"origin\" \"main\"", G },
		{ "git push 'origin' 'main'", G },
		{ "echo \"git push\"", NULL },
		{ "grep \"git push\" log.txt", NULL },
	};

	(void)state;
	exec_check_rows(push_rm, NULL, rows, N_OF(rows));
}

static void
allow_over_deny(void **state)
{
	static const struct exec_row rows[] = {
		{ "git push origin docs", NULL },
		{ "git push origin docs --force", NULL },
		{ "git push origin main", "git push" },
		{ "git push", "git push" },
		{ "git push origin docs && git push", "git push" },
		{ "g\\it push origin 'docs'", NULL },
		{ "git push origin \"$branch\"", "git push" },
	};

	(void)state;
	exec_check_rows("{\"command\":{\"deny\":[\"git push\"],\"allow\":"
	    "[\"git push origin docs\"]}}", NULL, rows, N_OF(rows));
}

static void
builtin_list(void **state)
{
	static const char ROOT[] = "docker run -v /:/";
	static const char PRIVILEGED[] = "docker run --privileged";
	static const struct exec_row rows[] = {
		{ "shutdown", "shutdown" }, { "shutdown -h now", "shutdown" },
		{ "reboot", "reboot" }, { "halt", "halt" },
		{ "/sbin/poweroff", "poweroff" },
		{ "insmod malicious.ko", "insmod" },
		{ "rmmod module", "rmmod" }, { "modprobe x", "modprobe" },
		{ "kexec -e", "kexec" }, { "mkfs.ext4 /dev/sda1", "mkfs" },
		{ "mkfs /dev/sda1", "mkfs" }, { "mkfs.f2fs /dev/x", "mkfs" },
		{ "init 0", "init 0" }, { "init 6", "init 6" },
		{ "init 3", NULL }, { "fdisk -l", "fdisk" },
		{ "parted /dev/sda", "parted" },
		{ "systemctl reboot", "systemctl reboot" },
		{ "systemctl --no-wall reboot", "systemctl reboot" },
		{ "systemctl status x", NULL },
		{ "dd if=/dev/zero of=x", "dd if=" },
		{ "dd of=x if=/dev/zero", "dd if=" }, { "dd of=x", NULL },
		{ "chroot /x ls", "chroot" }, { "unshare -r ls", "unshare" },
		{ "nsenter -t 1 -a sh", "nsenter" },
		{ "sudo -E reboot", "reboot" },
		{ "ls", NULL }, { "git status", NULL },
		{ "npm install", NULL }, { "echo reboot", NULL },
		{ "docker run -v /:/host alpine", ROOT },
		{ "docker run -v /:/ alpine", ROOT },
		{ "docker run --rm -it -v /:/host:ro alpine", ROOT },
		{ "docker run -v/:/x alpine", ROOT },
		{ "docker run -itv /:/x alpine", ROOT },
		{ "docker run --volume=/:/x alpine", ROOT },
		{ "docker run --volume /:/x alpine", ROOT },
		{ "docker run -v //:/x alpine", ROOT },
		{ "docker run -v /../:/x alpine", ROOT },
		{ "docker run --mount type=bind,src=/,dst=/x alpine", ROOT },
		{ "docker run --mount=type=bind,source=/,target=/x a", ROOT },
		{ "docker container run -v /:/x alpine", ROOT },
		{ "podman create -v /:/x alpine", ROOT },
		{ "docker run --privileged alpine", PRIVILEGED },
		{ "docker run --name x --privileged alpine", PRIVILEGED },
		{ "docker run --privileged=true alpine", PRIVILEGED },
		{ "docker --context prod run -d --privileged a", PRIVILEGED },
		{ "docker exec --privileged c sh", PRIVILEGED },
		{ "docker run --privileged=false alpine", NULL },
		{ "docker run -v /srv:/srv alpine", NULL },
		{ "docker run -v \"$PWD\":/src alpine", NULL },
		{ "docker run alpine ls -v /:/x --privileged", NULL },
		{ "docker ps -v /:/x", NULL },
	};

	(void)state;
	exec_check_rows("{}", NULL, rows, N_OF(rows));
}

/* Rules and commands of the reference's table, with nothing else. */
static void
matcher_rows(void **state)
{
	static const struct { const char *line, *rule; bool is_match; }
	    rows[] = {
		{ "git push", "git push", true },
		{ "git push origin main", "git push", true },
		{ "dd if=/dev/zero", "dd if=", true },
		{ "dd of=/tmp/f", "dd of=", true },
		{ "dd if=/dev/zero of=/tmp/f", "dd if=", true },
		{ "dd of=/tmp/f if=/dev/zero", "dd if=", true },
		{ "dd of=/tmp/f if=/dev/zero", "dd of=", true },
		{ "dd if=", "dd if=", true },
		{ "git push --force", "git push", true },
		{ "docker --debug run --privileged",
		  "docker run --privileged", true },
		{ "docker --context=prod run --privileged",
		  "docker run --privileged", true },
		{ "docker --context prod run --privileged",
		  "docker run --privileged", true },
		{ "git -C /tmp push", "git push", true },
		{ "git -c color.ui=always push", "git push", true },
		{ "git -p push", "git push", true },
		{ "/usr/bin/git push", "/usr/bin/git push", true },
		{ "git push", "/usr/bin/git push", true },
		{ "git commit -m \"hello world\"",
		  "git commit -m 'hello world'", true },
		{ "git pushall", "git push", false },
		{ "git status", "git push", false },
		{ "gitpush", "git push", false },
		{ "docker run --name test --privileged",
		  "docker run --privileged", false },
		{ "docker foo run --privileged",
		  "docker run --privileged", false },
		{ "git /tmp push", "git push", false },
		{ "dd if /dev/zero", "dd if=", false },
		{ "ddx=/path", "dd=", false },
		{ "dd iflag=direct", "dd if=", false },
		{ "dd oflag=sync", "dd of=", false },
		{ "git log push", "git push", false },
		{ "git --no-pager log push", "git push", false },
		{ "git --no-pager push", "git push", true },
		{ "git --git-dir x push", "git push", true },
		{ "git -- push", "git push", false },
		{ "Git push", "git push", false },
		{ "git --no-pager push", "git --no-pager", true },
		{ "git push --no-pager", "git --no-pager", false },
		/* regular expressions */
		{ "git push --force", "re:^git push .*--force", true },
		{ "git push origin --force-with-lease",
		  "re:--force(?!-with)", false },
		{ "git push origin -f", "re:^git push .*(--force|-f)( |$)",
		  true },
		{ "/opt/git push x", "re:^git push", true },
		{ "echo git push", "re:^git push", false },
		{ "npm run deploy:prod", "re:deploy", true },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct exec_verdict v;
		struct policy *p;
		struct buf b;

		buf_init(&b, 0);
		buf_puts(&b, "{\"command\":{\"useDefaults\":false,"
		    "\"deny\":[");
		json_put_string(&b, rows[i].rule, strlen(rows[i].rule));
		buf_puts(&b, "]}}");
		p = exec_policy_of(b.data);
		exec_ask(p, rows[i].line, NULL, &v);
		if ((v.v.action == ACTION_DENY) != rows[i].is_match)
			fail_msg("'%s' against '%s'", rows[i].line,
			    rows[i].rule);
		if (rows[i].is_match)
			exec_check_remedy(b.data, rows[i].line, NULL, &v);
		policy_free(p);
		buf_release(&b);
	}
}

/* Every way round the splitter of the Go program (its 12.3, 12). */
static void
shell_ways(void **state)
{
	static const char G[] = "git push";
	static const struct exec_row rows[] = {
		{ "ls\ngit push", G }, { "ls & git push", G },
		{ "ls |& git push", G }, { "(git push)", G },
		{ "( (git push) )", G }, { "((1)); git push", G },
		{ "{ git push; }", G }, { "! git push", G },
		{ "echo $(git push)", G }, { "echo `git push`", G },
		{ "echo \"$(git push)\"", G }, { "echo \"`git push`\"", G },
		{ "echo $((1 + $(git push)))", G },
		{ "echo ${x:-$(git push)}", G },
		{ "cat <(git push)", G }, { "tee >(git push)", G },
		{ "x=$(git push)", G }, { "x=(1 $(git push))", G },
		{ "x[$(git push)]=1", G },
		{ "echo > $(git push)", G },
		{ "cat <<E\n$(git push)\nE\n", G },
		{ "cat <<'E'\n$(git push)\nE\n", NULL },
		{ "cat <<-E\n\tx\n\tE\ngit push", G },
		{ "cat <<A <<B\na\nA\nb\nB\ngit push", G },
		{ "cat <<E\ngit push\nE\n", NULL },
		{ "cat <<< \"$(git push)\"", G },
		{ "FOO=1 git push", G }, { "FOO=1 BAR='x y' git push", G },
		{ "g\\it push", G }, { "g'i't pu\"sh\"", G },
		{ "\"git\" 'push'", G }, { "git\\\n push", G },
		{ "gi\\\nt push", G }, { "$'git' push", G },
		{ "$'\\x67it' push", G }, { "git $'\\160ush'", G },
		{ "git $\"push\"", G }, { ">x git push", G },
		{ "git 2>/dev/null push >&2", G }, { "git push&", G },
		{ "if git push; then :; fi", G },
		{ "if :; then git push; fi", G },
		{ "if :; then :; elif git push; then :; fi", G },
		{ "if :; then :; else git push; fi", G },
		{ "while git push; do :; done", G },
		{ "until :; do git push; done", G },
		{ "for x in a; do git push; done", G },
		{ "for x in $(git push); do :; done", G },
		{ "for ((i=0; i<1; i++)); do git push; done", G },
		{ "select x in a; do git push; done", G },
		{ "case x in x) git push;; esac", G },
		{ "case x in (a|b) :;; *) git push; esac", G },
		{ "case $(git push) in x) :;; esac", G },
		{ "f() { git push; }; f", G },
		{ "function f { git push; }", G },
		{ "f() ( git push )", G }, { "coproc git push", G },
		{ "coproc X { git push; }", G },
		{ "[[ -n $(git push) ]]", G },
		{ "[[ x =~ $(git push) ]]", G },
		{ "(( $(git push) ))", G }, { "time git push", G },
		{ "time -p git push", G },
		{ "echo a # git push", NULL }, { "echo a#; git push", G },
		{ "echo 'a' \\# ; git push", G },
		{ "echo \"a \\\" ; git push \\\" \"", NULL },
		{ "echo 'it'\\''s' ; git push", G },
		{ "a && { b || (c; git push); }", G },
		/* Read by dash in another way than by bash. */
		{ "echo &>/dev/null git push", G },
		{ "echo $'\\' ; git push #'", G },
		{ "[[ a || git push ]]", "F:1:21" },
		{ "$empty git push", G }, { "git $empty push", G },
		{ "git -C \"$d\" push", G }, { "$HOME/bin/git push", G },
		{ "\"$HOME\"/bin/git push", G }, { "~/git push", G },
		{ "git pu{sh,ll}", NULL }, { "git $verb", NULL },
		{ "git commit -m 'git push'", NULL },
		{ "git commit -m \"$(cat <<'E'\nfix; git push\nE\n)\"", NULL },
	};
	size_t n = N_OF(rows);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		struct exec_row row = rows[i];

		/* bash cannot read it, dash would run it. */
		if (row.rule != NULL && strcmp(row.rule, "F:1:21") == 0)
			row.rule = G;
		exec_check_rows("{\"command\":{\"deny\":[\"git push\"]}}",
		    NULL, &row, 1);
	}
}

static void
wrappers(void **state)
{
	static const char *const denied[] = {
		"env git push", "env -i A=1 git push", "env -u X git push",
		"env -C /x git push", "env -S 'git push'",
		"env -S'A=1 git push'", "env --split-string='git push' x",
		"env A=1 sudo git push", "sudo git push",
		"sudo -u root -E git push", "sudo -- git push",
		"sudo A=1 git push", "sudo -s git push", "doas -u x git push",
		"nice git push", "nice -n 5 git push", "nice -5 git push",
		"ionice -c2 -n 0 git push", "timeout 5 git push",
		"timeout -k 1 -s KILL 5s git push",
		"timeout --signal=TERM 5 git push", "nohup git push &",
		"stdbuf -oL git push", "setsid -w git push",
		"chrt -f 10 git push", "taskset 3 git push",
		"taskset -c 0 git push", "xargs git push",
		"echo x | xargs -n 1 -I{} git push {}",
		"find . -name x -exec git push \\;",
		"find . -exec true \\; -exec git push {} +",
		"find . -execdir git push \\;", "find . -ok git push ';'",
		"fd x -x git push", "sh -c 'git push'", "sh -ec 'git push'",
		"bash -o pipefail -c 'git push'",
		"bash -eo pipefail -c 'git push'",
		"bash --norc -c 'git push'", "bash -c -- 'git push'",
		"bash -c 'git push' x y", "dash -c 'git push'",
		"ksh -c 'git push'", "ash -c 'git push'",
		"fish -c 'git push'", "bash +x -c 'git push'",
		"eval git push", "eval 'git' \"push\"", "eval 'ls; git push'",
		"command git push", "command -p git push", "exec git push",
		"exec -a x git push", "builtin eval git push",
		"/usr/bin/time -f %e git push", "watch -n 1 git push",
		"watch 'ls; git push'", "script -c 'git push' /dev/null",
		"script -qec 'git push'", "script /dev/null -c 'git push'",
		"su -c 'git push'", "su root -c 'git push'",
		"su - root --command='git push'", "runuser -u x -- git push",
		"runuser x -c 'git push'", "sg group 'git push'",
		"sg group -c 'git push'", "flock /l git push",
		"flock -n /l -c 'git push'", "unshare -r git push",
		"nsenter -t 1 -m git push", "chroot /x git push",
		"systemd-run --user -p X=1 git push",
		"strace -f -o x git push", "ltrace git push",
		"gdb -batch -ex run --args git push", "busybox git push",
		"toybox git push", "coreutils --coreutils-prog=git push",
		"/lib64/ld-linux-x86-64.so.2 /usr/bin/git push",
		"/lib/x86_64-linux-gnu/ld-2.31.so /usr/bin/git push",
		"/lib/ld-musl-x86_64.so.1 --library-path x git push",
		"npx git push", "npx -c 'git push'", "npm exec -- git push",
		"npm exec -c 'git push'", "pnpm exec git push",
		"pnpm dlx git push", "yarn exec git push", "bunx git push",
		"bun x git push", "uv run git push", "poetry run git push",
		"bundle exec git push", "caffeinate -i git push",
		"unbuffer git push", "rlwrap git push", "fakeroot git push",
		"setpriv --reuid 0 git push", "prlimit --nofile=1 git push",
		"numactl -N 0 git push", "chpst -u x git push",
		"tini -- git push", "dumb-init git push",
		"fence-run git push", "fence-run -t code -- git push",
		"fence-run -c 'git push'", "fence -t code git push",
		"trap 'git push' EXIT", "alias p='git push'",
		"tmux new-session -d 'git push'", "hyperfine 'git push'",
		"parallel git push", "setarch x86_64 git push",
		"dbus-run-session -- git push", "entr git push",
		"bash <<E\ngit push\nE\n", "bash <<'E'\ngit push\nE\n",
		"bash -s <<E\ngit push\nE\n", "bash <<< 'git push'",
		"echo git push | sh", "echo 'git push' | sudo bash",
		"printf 'git push' | sh", "printf '%s\\n' 'git push' | bash",
		"printf 'git\\x20push' | sh", "echo -e 'ls\\ngit push' | sh",
		"cat <<E | sh\ngit push\nE\n", "(bash) <<E\ngit push\nE\n",
		"echo git push | { sh; }", "echo git push | (bash)",
		"env bash -c 'sudo sh -c \"timeout 5 git push\"'",
		"nice nohup setsid env A=1 xargs -0 sh -c 'git push'",
		"git -c alias.x='!git push' x", "git -c alias.x=push x",
		"git -c alias.x='push origin' x main",
		"git -c core.pager='git push' log",
		"git -c core.sshCommand='git push' fetch",
		"git -c core.fsmonitor='git push' status",
		"git -c credential.helper='!git push' fetch",
		"git -c diff.x.textconv='git push' diff",
		"git clone -c core.fsmonitor='git push' x",
		"git rebase -x 'git push' main", "git rebase --exec='git push'",
		"git bisect run git push",
		"git submodule foreach --recursive 'git push'",
		"git submodule--helper foreach -- git push",
		"git for-each-repo --config=x push",
		"git for-each-repo --config x push",
		"git remote-ext x 'git push'",
		"git filter-branch --tree-filter 'git push' x",
		"git difftool -x 'git push'", "git fetch ext::'git push'",
		"GIT_SSH_COMMAND='git push' git fetch",
		"export GIT_SSH_COMMAND='git push'; git fetch",
		"env GIT_PAGER='git push' git log", "PAGER='git push' man x",
		"GIT_CONFIG_VALUE_0='git push' git log",
		"BASH_ENV='$(git push)' bash x", "noglob git push",
		"repeat 3 git push", ">x ! git push", "=git push",
	};
	static const char *const allowed[] = {
		"command -v git push", "sudo -l", "echo sh -c 'git push'",
		"bash script.sh git push", "env", "xargs", "find . -name x",
		"git -c user.name='git push' log", "su -", "timeout 5",
		"git -c alias.x=status x push", "man git push",
		"git commit -m \"sh -c 'git push'\"", "trap - EXIT",
		"flock -u 9", "bash -c 'echo git push'", "type git push",
	};

	(void)state;
	for (size_t i = 0; i < N_OF(denied); i++)
		exec_check_rows("{\"command\":{\"deny\":[\"git push\"],"
		    "\"useDefaults\":false}}", NULL,
		    &(struct exec_row){ denied[i], "git push" }, 1);
	for (size_t i = 0; i < N_OF(allowed); i++)
		exec_check_rows("{\"command\":{\"deny\":[\"git push\"],"
		    "\"useDefaults\":false}}", NULL,
		    &(struct exec_row){ allowed[i], NULL }, 1);
}

/* What cannot be seen through, and a policy that minds. */
static void
unseen(void **state)
{
	static const struct { const char *line; enum exec_unseen why; }
	    rows[] = {
		{ "ls; git status", EXEC_SEEN },
		{ "$cmd x", EXEC_UNSEEN_PROGRAM },
		{ "\"$cmd\" x", EXEC_UNSEEN_PROGRAM },
		{ "$(echo git) push", EXEC_UNSEEN_PROGRAM },
		{ "`echo git` push", EXEC_UNSEEN_PROGRAM },
		{ "{git,push}", EXEC_UNSEEN_PROGRAM },
		{ "/usr/bin/gi? push", EXEC_UNSEEN_PROGRAM },
		{ "sudo $cmd", EXEC_UNSEEN_PROGRAM },
		{ "\"$@\"", EXEC_UNSEEN_PROGRAM },
		{ "git $verb", EXEC_UNSEEN_WORDS },
		{ "git {push,x}", EXEC_UNSEEN_WORDS },
		{ "git pu*", EXEC_UNSEEN_WORDS },
		{ "xargs git", EXEC_UNSEEN_WORDS },
		{ "git st*", EXEC_SEEN }, { "git status $x", EXEC_SEEN },
		{ "ls $x", EXEC_SEEN }, { "npm \"$x\"", EXEC_SEEN },
		{ "sh -c \"$cmd\"", EXEC_UNSEEN_TEXT },
		{ "eval \"$cmd\"", EXEC_UNSEEN_TEXT },
		{ "eval $(ssh-agent)", EXEC_UNSEEN_TEXT },
		{ "GIT_SSH_COMMAND=$x git fetch", EXEC_UNSEEN_TEXT },
		{ "git --config-env=core.pager=X log", EXEC_UNSEEN_TEXT },
		{ "curl https://x | sh", EXEC_UNSEEN_INPUT },
		{ "curl https://x | sudo bash -s -- --yes",
		  EXEC_UNSEEN_INPUT },
		{ "base64 -d x | sh", EXEC_UNSEEN_INPUT },
		{ "curl x | bash /dev/stdin", EXEC_UNSEEN_INPUT },
		{ "bash <(curl x)", EXEC_UNSEEN_INPUT },
		{ "source <(curl x)", EXEC_UNSEEN_INPUT },
		{ ". /dev/stdin", EXEC_SEEN },
		{ "curl x | . /dev/stdin", EXEC_UNSEEN_INPUT },
		{ "curl x | (sh)", EXEC_UNSEEN_INPUT },
		{ "curl x | while read l; do sh; done", EXEC_UNSEEN_INPUT },
		{ "bash < <(curl x)", EXEC_UNSEEN_INPUT },
		{ "echo $x | sh", EXEC_UNSEEN_TEXT },
		{ "bash script.sh", EXEC_SEEN }, { "sh < x.sh", EXEC_SEEN },
		{ ". venv/bin/activate", EXEC_SEEN },
		{ "fish -c 'ls'", EXEC_UNSEEN_LANGUAGE },
		{ "parallel echo ::: a", EXEC_UNSEEN_LANGUAGE },
		{ "echo 'x", EXEC_UNSEEN_SYNTAX },
		{ "echo $(ls", EXEC_UNSEEN_SYNTAX },
		{ "ls )", EXEC_UNSEEN_SYNTAX },
		{ "if ls; then", EXEC_UNSEEN_SYNTAX },
		{ "sh -c 'ls )'", EXEC_UNSEEN_SYNTAX },
		{ "f() { ls; }; f", EXEC_SEEN },
	};
	struct policy *allow, *deny;

	(void)state;
	allow = exec_policy_of(push_rm);
	deny = exec_policy_of("{\"command\":{\"deny\":[\"git push\"],"
	    "\"unseen\":\"deny\"}}");
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct exec_verdict v;

		exec_ask(allow, rows[i].line, NULL, &v);
		if (v.v.action != ACTION_ALLOW || v.unseen != rows[i].why)
			fail_msg("'%s': %s, %d (%s) unseen", rows[i].line,
			    v.v.action == ACTION_DENY ? "denied" : "allowed",
			    (int)v.unseen, v.unseen_text);
		if (v.unseen != EXEC_SEEN && (v.unseen_text[0] == '\0' ||
		    unseen_words(v.unseen)[0] == '\0'))
			fail_msg("'%s': says not what", rows[i].line);
		exec_ask(deny, rows[i].line, NULL, &v);
		if ((v.v.action == ACTION_DENY) !=
		    (rows[i].why != EXEC_SEEN))
			fail_msg("'%s' where unseen is denied", rows[i].line);
		if (v.v.action == ACTION_DENY) {
			assert_string_equal(rule_words(&v.v),
			    "command.unseen");
			exec_check_remedy("{\"command\":{\"deny\":["
			    "\"git push\"],\"unseen\":\"deny\"}}",
			    rows[i].line, NULL, &v);
		}
	}
	policy_free(allow);
	policy_free(deny);
}

/* The place and the words of the command that spoke. */
static void
where_and_what(void **state)
{
	struct policy *p = exec_policy_of(push_rm);
	struct exec_verdict v;

	(void)state;
	exec_ask(p, "ls -l && git  -C 'a b' push", NULL, &v);
	assert_int_equal(v.offset, 9);
	assert_string_equal(v.command, "git -C 'a b' push");
	assert_string_equal(rule_words(&v.v), "command.deny[0]");
	assert_int_equal(v.v.rule.at.line, 1);
	assert_int_equal(v.v.rule.at.col, 21);
	assert_string_equal(remedy_key_words(&v.v), "command.allow");
	assert_string_equal(remedy_value_words(&v.v), "git -C 'a b' push");
	/* The first denial speaks, in the order of the text. */
	exec_ask(p, "x $(rm -rf a) | git push", NULL, &v);
	assert_string_equal(v.command, "rm -rf a");
	assert_int_equal(v.offset, 4);
	/* What is inside of a command has the command's place. */
	exec_ask(p, "ls; sh -c 'ls; git push'", NULL, &v);
	assert_int_equal(v.offset, 4);
	assert_string_equal(v.command, "git push");
	exec_ask(p, "ls", NULL, &v);
	assert_int_equal(v.v.action, ACTION_ALLOW);
	assert_string_equal(v.command, "");
	policy_free(p);
}

/* ---- the world ---- */

static const char *
real_name(void *arg, const char *program)
{
	(void)arg;
	return strcmp(program, "/opt/g") == 0 || strcmp(program, "vcs") == 0 ?
	    "git" : strcmp(program, "/opt/s") == 0 ? "sudo" : NULL;
}

static const char *
git_alias(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "up") == 0 ? "push origin" :
	    strcmp(name, "out") == 0 ? "!f() { git push \"$@\"; }; f" :
	    strcmp(name, "loop") == 0 ? "loop" : NULL;
}

static void
world_is_asked(void **state)
{
	static const struct exec_world world = { .real_name = real_name,
	    .git_alias = git_alias };
	static const struct exec_row rows[] = {
		{ "/opt/g push", "git push" }, { "vcs push", "git push" },
		{ "/opt/g status", NULL }, { "/opt/s rm -rf x", "rm -rf" },
		{ "git up", "git push" }, { "git up main", "git push" },
		{ "git out", "git push" }, { "git loop", NULL },
		{ "env vcs push", "git push" },
	};

	(void)state;
	exec_check_rows(push_rm, &world, rows, N_OF(rows));
}

static void
one_exec(void **state)
{
	static const char *const push[] = { "git", "push", "x" };
	static const char *const inner[] = { "sh", "-c", "git push" };
	static const char *const box[] = { "reboot" };
	static const char *const login[] = { "-bash", "-c", "git push" };
	struct policy *p = exec_policy_of("{\"command\":{\"deny\":"
	    "[\"git push\"]}}");
	struct exec_verdict v;

	(void)state;
	decide_argv(p, NULL, push, 3, NULL, &v);
	assert_int_equal(v.v.action, ACTION_DENY);
	decide_argv(p, "/usr/bin/git", push, 3, NULL, &v);
	assert_int_equal(v.v.action, ACTION_DENY);
	assert_string_equal(v.command, "git push x");
	/* Whatever the words are called, the file counts, and so do they. */
	decide_argv(p, "/usr/bin/git", (const char *const[]){ "ls", "push" },
	    2, NULL, &v);
	assert_int_equal(v.v.action, ACTION_DENY);
	decide_argv(p, "/bin/busybox", box, 1, NULL, &v);
	assert_int_equal(v.v.action, ACTION_DENY);
	decide_argv(p, NULL, inner, 3, NULL, &v);
	assert_int_equal(v.v.action, ACTION_DENY);
	decide_argv(p, "/bin/bash", login, 3, NULL, &v);
	assert_int_equal(v.v.action, ACTION_DENY);
	decide_argv_alone(p, "/bin/sh", inner, 3, NULL, &v);
	assert_int_equal(v.v.action, ACTION_ALLOW);
	decide_argv_alone(p, "/usr/bin/git", push, 3, NULL, &v);
	assert_int_equal(v.v.action, ACTION_DENY);
	decide_argv(p, "/bin/true", NULL, 0, NULL, &v);
	assert_int_equal(v.v.action, ACTION_ALLOW);
	/* Words are words here, whatever a shell would make of them. */
	decide_argv(p, NULL, (const char *const[]){ "git", "$x", "push" }, 3,
	    NULL, &v);
	assert_int_equal(v.v.action, ACTION_ALLOW);
	assert_int_equal(v.unseen, EXEC_SEEN);
	policy_free(p);
}

static void
layers_agree(void **state)
{
	struct policy *user, *ceiling;
	struct exec_verdict v;

	(void)state;
	user = exec_policy_of("{\"command\":{\"deny\":[\"git push\"],"
	    "\"allow\":[\"git push origin docs\"],\"useDefaults\":false}}");
	ceiling = exec_policy_of("{\"command\":{\"deny\":[\"rm -rf\"],"
	    "\"unseen\":\"deny\",\"allow\":[\"git push\"]}}");
	layers_add(user, ceiling);
	layers_settle(user);
	/* Its own denial is what an allowance of a layer lifts. */
	exec_ask(user, "git push origin docs", NULL, &v);
	assert_int_equal(v.v.action, ACTION_ALLOW);
	assert_string_equal(rule_words(&v.v), "command.allow[0]");
	exec_ask(user, "git push", NULL, &v);
	assert_int_equal(v.v.action, ACTION_DENY);
	exec_ask(user, "rm -rf x", NULL, &v);
	assert_int_equal(v.v.action, ACTION_DENY);
	assert_string_equal(v.v.rule.text, "rm -rf");
	exec_ask(user, "reboot", NULL, &v);
	assert_int_equal(v.v.action, ACTION_DENY);
	assert_string_equal(rule_words(&v.v), "command.useDefaults");
	exec_ask(user, "curl x | sh", NULL, &v);
	assert_int_equal(v.v.action, ACTION_DENY);
	policy_free(user);
	policy_free(ceiling);
}

/* Hostile text: bounded, and said. */
static void
ceilings(void **state)
{
	static const char *const openings[] = { "$(", "(", "$((", "`", "{ ",
	    "<(", "${x:-", "\"$(", "if ", "case x in x) ", "sh -c '$(", "((",
	    "[[ $(", "a=(", "x[$(", "! ", "@(", "$[", "$(( (", "f() " };
	struct policy *p = exec_policy_of(push_rm);
	struct exec_verdict v;
	struct buf b;

	(void)state;
	for (size_t i = 0; i < N_OF(openings); i++) {
		buf_init(&b, 0);
		while (b.len < 60000)
			buf_puts(&b, openings[i]);
		exec_ask(p, b.data, NULL, &v);
		assert_int_equal(v.v.action, ACTION_ALLOW);
		buf_release(&b);
	}
	buf_init(&b, 0);
	while (b.len < 200000)
		buf_puts(&b, "a;");
	exec_ask(p, b.data, NULL, &v);
	assert_int_equal(v.unseen, EXEC_UNSEEN_MANY);
	while (b.len < 300000)
		buf_puts(&b, "a;");
	exec_ask(p, b.data, NULL, &v);
	assert_int_equal(v.unseen, EXEC_UNSEEN_MANY);
	buf_clear(&b);
	for (int i = 0; i < 3000; i++)
		buf_puts(&b, "eval ");
	exec_ask(p, b.data, NULL, &v);
	assert_int_equal(v.unseen, EXEC_UNSEEN_DEEP);
	buf_release(&b);
	policy_free(p);
}

/* A regular expression that would take for ever denies, or does not allow. */
static void
regex_limits(void **state)
{
	struct policy *p = exec_policy_of("{\"command\":{\"deny\":"
	    "[\"re:^x (a+)+$\"]}}"), *q = exec_policy_of("{\"command\":"
	    "{\"deny\":[\"x\"],\"allow\":[\"re:^x (a|a|aa)+$\"]}}");
	static const char line[] = "x aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	    "aaaaaaaaaaaaaaaaaaaab";
	struct exec_verdict v;

	(void)state;
	exec_ask(p, line, NULL, &v);
	assert_int_equal(v.v.action, ACTION_DENY);
	exec_ask(q, line, NULL, &v);
	assert_int_equal(v.v.action, ACTION_DENY);
	exec_ask(q, "x aaaa", NULL, &v);
	assert_int_equal(v.v.action, ACTION_ALLOW);
	policy_free(p);
	policy_free(q);
}

static void
needs_argv(void **state)
{
	static const struct { const char *policy; bool argv, rules; }
	    rows[] = {
		{ "{}", false, false },
		{ "{\"command\":{\"deny\":[\"shred\"]}}", false, true },
		{ "{\"command\":{\"deny\":[\"git push\"]}}", true, true },
		{ "{\"command\":{\"deny\":[\"re:x\"]}}", true, true },
		{ "{\"command\":{\"deny\":[\"busybox\"]}}", true, true },
		{ "{\"ssh\":{\"allowedHosts\":[\"x\"]}}", true, true },
		{ "{\"command\":{\"allow\":[\"git push\"]}}", false, false },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct policy *p = exec_policy_of(rows[i].policy);

		if (decide_exec_needs_argv(p) != rows[i].argv ||
		    decide_exec_has_rules(p) != rows[i].rules)
			fail_msg("%s", rows[i].policy);
		policy_free(p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reference_rows),
		cmocka_unit_test(allow_over_deny),
		cmocka_unit_test(builtin_list),
		cmocka_unit_test(matcher_rows),
		cmocka_unit_test(shell_ways),
		cmocka_unit_test(wrappers),
		cmocka_unit_test(unseen),
		cmocka_unit_test(where_and_what),
		cmocka_unit_test(world_is_asked),
		cmocka_unit_test(one_exec),
		cmocka_unit_test(layers_agree),
		cmocka_unit_test(ceilings),
		cmocka_unit_test(regex_limits),
		cmocka_unit_test(needs_argv),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
