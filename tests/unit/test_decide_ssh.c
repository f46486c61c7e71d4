/* policy/decide_ssh, sshline, sshconf: hosts, and commands over there. */
#include "exec_rows.h"

#define HOSTS	"ssh.allowedHosts"
#define COMMANDS "ssh.allowedCommands"

static void
host_rows(void **state)
{
	static const struct exec_row rows[] = {
		{ "ssh server1.example.com", NULL },
		{ "ssh api.example.com", NULL }, { "ssh prod-web-01", NULL },
		{ "ls -la", NULL }, { "curl https://example.com", NULL },
		{ "ssh prod-db.example.com", "prod-db.example.com" },
		{ "ssh other.domain.com", HOSTS },
		{ "ssh dev-server", HOSTS },
		{ "ssh user@server1.example.com", NULL },
		{ "ssh user@other.com", HOSTS },
		{ "ssh API.Example.COM", NULL },
		{ "ssh PROD-DB.example.com", "prod-db.example.com" },
		{ "ssh prod-db.example.com.", "prod-db.example.com" },
		{ "ssh -p 2222 a.example.com", NULL },
		{ "ssh -p2222 other.com", HOSTS },
		{ "ssh -i ~/.ssh/key other.com", HOSTS },
		{ "ssh -v -t other.com", HOSTS },
		{ "ssh -o StrictHostKeyChecking=no other.com", HOSTS },
		{ "/usr/bin/ssh other.com", HOSTS },
		{ "sshpass -p password ssh other.com", HOSTS },
		{ "echo ssh other.com", NULL },
		{ "ssh -B eth0 other.com", HOSTS },
		{ "ssh ssh://u@other.com:22/", HOSTS },
		{ "ssh ssh://u@a.example.com:22", NULL },
		{ "ssh -l a.example.com other.com", HOSTS },
		{ "ssh a.example.com -p 22", NULL },
		/* On the way, and behind. */
		{ "ssh -J other.com a.example.com", HOSTS },
		{ "ssh -J b.example.com,u@other.com:22 a.example.com",
		  HOSTS },
		{ "ssh -Jb.example.com a.example.com", NULL },
		{ "ssh -o ProxyJump=other.com a.example.com", HOSTS },
		{ "ssh -oProxyJump=none a.example.com", NULL },
		{ "ssh -W other.com:22 a.example.com", HOSTS },
		{ "ssh -W b.example.com:22 a.example.com", NULL },
		{ "ssh -o HostName=other.com a.example.com", HOSTS },
		{ "ssh -o 'hostname other.com' a.example.com", HOSTS },
		{ "ssh a.example.com -o HostName=other.com", HOSTS },
		{ "ssh -o HostName=b.example.com a", NULL },
		{ "ssh -o HostName=prod-db.example.com a.example.com",
		  "prod-db.example.com" },
		{ "ssh -o HostName=%h.example.com b", NULL },
		/* Kin */
		{ "scp f other.com:x", HOSTS }, { "scp f u@other.com:", HOSTS },
		{ "scp a.example.com:x other.com:y", HOSTS },
		{ "scp f a.example.com:x", NULL }, { "scp a b", NULL },
		{ "scp ./a:b c", NULL }, { "scp -P 22 f other.com:x", HOSTS },
		{ "scp scp://other.com/x y", HOSTS },
		{ "scp -J other.com f a.example.com:x", HOSTS },
		{ "scp -o ProxyJump=other.com f a.example.com:x", HOSTS },
		{ "sftp other.com", HOSTS }, { "sftp u@other.com:/x", HOSTS },
		{ "sftp sftp://other.com/x", HOSTS },
		{ "sftp a.example.com", NULL },
		{ "rsync -a x other.com:y", HOSTS },
		{ "rsync -av --exclude a:b x a.example.com:y", NULL },
		{ "rsync -e ssh x u@other.com:y", HOSTS },
		{ "rsync -e 'ssh -J other.com' x a.example.com:y", HOSTS },
		{ "rsync --rsh='ssh -o HostName=other.com z' x "
		  "a.example.com:y", HOSTS },
		{ "rsync x rsync://other.com/y", NULL },
		{ "rsync x y", NULL },
		{ "git clone git@other.com:r.git", HOSTS },
		{ "git clone ssh://git@other.com/r.git", HOSTS },
		{ "git clone git+ssh://other.com/r", HOSTS },
		{ "git clone https://other.com/r.git", NULL },
		{ "git clone -b x git@a.example.com:r.git d", NULL },
		{ "git clone --depth 1 other.com:r.git", HOSTS },
		{ "git push git@other.com:r.git main:main", HOSTS },
		{ "git push origin main:main", NULL },
		{ "git fetch ssh://other.com/r", HOSTS },
		{ "git ls-remote other.com:r", HOSTS },
		{ "git remote add x git@other.com:r", NULL },
		{ "git submodule add git@other.com:r", HOSTS },
		{ "git log a:b", NULL },
		{ "git -c core.sshCommand='ssh -J other.com' fetch", HOSTS },
		{ "GIT_SSH_COMMAND='ssh -J other.com' git fetch", HOSTS },
		{ "RSYNC_RSH='ssh -J other.com' rsync x y", HOSTS },
		{ "sshfs u@other.com:/x /mnt", HOSTS },
		{ "sshfs a.example.com: /mnt -o ProxyJump=other.com", HOSTS },
		{ "mosh other.com", HOSTS }, { "mosh u@a.example.com", NULL },
		{ "mosh --ssh='ssh -J other.com' a.example.com", HOSTS },
		{ "autossh -M 0 -f other.com", HOSTS },
		{ "autossh -M 0 a.example.com", NULL },
		{ "ssh-copy-id -i k u@other.com", HOSTS },
		{ "ssh a.example.com", NULL },
		{ "env ssh other.com", HOSTS },
		{ "ls && (ssh other.com)", HOSTS },
		{ "hg clone ssh://other.com/r", HOSTS },
		/* Addresses */
		{ "ssh ::1", HOSTS }, { "ssh u@[2001:db8::1]", NULL },
		{ "scp f '[2001:db8::1]:x'", NULL },
		{ "scp f 'u@[2001:db8::2]:x'", HOSTS },
		{ "ssh ssh://[2001:db8:0::1]:22", NULL },
		{ "ssh 10.0.0.7", NULL }, { "ssh 0xa000007", NULL },
		{ "ssh 10.0.1.7", HOSTS },
	};

	(void)state;
	exec_check_rows("{\"ssh\":{\"allowedHosts\":[\"*.example.com\","
	    "\"prod-*\",\"2001:db8::1\",\"10.0.0.*\"],\"deniedHosts\":"
	    "[\"prod-db.example.com\"],\"allowAllCommands\":true}}", NULL,
	    rows, N_OF(rows));
}

static void
command_rows(void **state)
{
	static const struct exec_row rows[] = {
		{ "ssh server.example.com ls", NULL },
		{ "ssh server.example.com ls -la /var/log", NULL },
		{ "ssh server.example.com cat /etc/hosts", NULL },
		{ "ssh server.example.com grep error /var/log/app.log", NULL },
		{ "ssh server.example.com tail -f /var/log/app.log", NULL },
		{ "ssh server.example.com", NULL },
		{ "ssh server.example.com rm -rf /tmp/cache", COMMANDS },
		{ "ssh server.example.com chmod 777 /tmp", COMMANDS },
		{ "ssh server.example.com shutdown now", COMMANDS },
		{ "ssh server.example.com tail /var/log/app.log", COMMANDS },
		{ "ssh other.com ls", HOSTS },
		{ "ssh a.example.com \"ls && rm -rf /\"", COMMANDS },
		{ "ssh a.example.com 'cat file; shutdown'", COMMANDS },
		{ "ssh a.example.com 'ls | xargs rm'", COMMANDS },
		{ "ssh a.example.com 'ls || rm -rf /'", COMMANDS },
		{ "ssh a.example.com 'ls && cat file'", NULL },
		{ "ssh a.example.com 'ls; cat file'", NULL },
		{ "ssh a.example.com 'ls | cat'", NULL },
		{ "ssh a.example.com 'ls $(rm x)'", COMMANDS },
		{ "ssh a.example.com ls '$(rm x)'", COMMANDS },
		{ "ssh a.example.com '$x'", COMMANDS },
		{ "ssh a.example.com \"$x\"", COMMANDS },
		{ "ssh a.example.com 'ls )'", COMMANDS },
		{ "ssh a.example.com -- ls", NULL },
		{ "ssh a.example.com -p 22 rm x", COMMANDS },
		{ "ssh -t a.example.com sudo ls", COMMANDS },
		{ "ssh -o RemoteCommand='rm x' a.example.com", COMMANDS },
		{ "ssh a.example.com ssh other.com", COMMANDS },
		{ "rsync --rsync-path='rm x' y a.example.com:z", COMMANDS },
		{ "rsync y a.example.com:z", NULL },
		{ "git clone -u 'rm x' a.example.com:r", COMMANDS },
		{ "mosh a.example.com -- rm x", COMMANDS },
		{ "mosh a.example.com ls", NULL },
	};

	(void)state;
	exec_check_rows("{\"ssh\":{\"allowedHosts\":[\"*.example.com\"],"
	    "\"allowedCommands\":[\"ls\",\"cat\",\"grep\",\"tail -f\"]}}",
	    NULL, rows, N_OF(rows));
}

static void
denylist_rows(void **state)
{
	static const struct exec_row rows[] = {
		{ "ssh a.example.com ls -la", NULL },
		{ "ssh a.example.com cat /etc/hosts", NULL },
		{ "ssh a.example.com rm file.txt", NULL },
		{ "ssh a.example.com apt-get update", NULL },
		{ "ssh a.example.com rm -rf /tmp/cache", "rm -rf" },
		{ "ssh a.example.com shutdown now", "shutdown" },
		{ "ssh a.example.com chmod 777 /tmp", "chmod" },
		{ "ssh a.example.com 'ls && rm -rf /'", "rm -rf" },
		{ "ssh a.example.com 'cat file; shutdown'", "shutdown" },
		{ "ssh a.example.com 'ls && cat && grep foo'", NULL },
		{ "ssh a.example.com sudo rm -rf /", "rm -rf" },
		{ "ssh a.example.com sh -c '\"rm -rf /\"'", "rm -rf" },
		{ "ssh a.example.com ssh other.com", HOSTS },
		{ "ssh a.example.com ssh b.example.com rm -rf x", "rm -rf" },
	};
	static const struct exec_row inherited[] = {
		{ "ssh a.example.com git push origin main", "git push" },
		{ "ssh a.example.com npm publish", "npm publish" },
		{ "ssh a.example.com shutdown now", "shutdown" },
		{ "ssh a.example.com reboot", "reboot" },
		{ "ssh a.example.com ls -la", NULL },
		{ "ssh a.example.com git status", NULL },
	};
	static const struct exec_row none[] = {
		{ "ssh server.example.com rm -rf /", NULL },
		{ "ssh any-host.com shutdown", NULL },
	};
	static const struct exec_row closed[] = {
		{ "ssh a.example.com", NULL },
		{ "ssh a.example.com ls", COMMANDS },
	};
	static const struct exec_row lone[] = {
		{ "ssh any.com ls", NULL }, { "ssh any.com reboot", "reboot" },
	};

	(void)state;
	exec_check_rows("{\"ssh\":{\"allowedHosts\":[\"*.example.com\"],"
	    "\"allowAllCommands\":true,\"deniedCommands\":[\"rm -rf\","
	    "\"shutdown\",\"chmod\"]}}", NULL, rows, N_OF(rows));
	exec_check_rows("{\"command\":{\"deny\":[\"git push\","
	    "\"npm publish\"]},\"ssh\":{\"allowedHosts\":"
	    "[\"*.example.com\"],\"allowAllCommands\":true,"
	    "\"inheritDeny\":true}}", NULL, inherited, N_OF(inherited));
	exec_check_rows("{\"command\":{\"useDefaults\":false}}", NULL, none,
	    N_OF(none));
	exec_check_rows("{\"ssh\":{\"allowedHosts\":[\"*.example.com\"]}}",
	    NULL, closed, N_OF(closed));
	exec_check_rows("{\"ssh\":{\"deniedCommands\":[\"reboot\"]}}", NULL,
	    lone, N_OF(lone));
}

/* ---- commands here ---- */

static const char config[] =
    "# a comment\n"
    "Host jumpy\n"
    "  ProxyJump other.com\n"
    "Host proxied\n"
    "  ProxyCommand git push %h\n"
    "Host local\n"
    "  PermitLocalCommand yes\n"
    "  LocalCommand git push\n"
    "Host remote\n"
    "  RemoteCommand rm x\n"
    "Host keys\n"
    "  KnownHostsCommand=git push\n"
    "Host prod !prod2\n"
    "  HostName other.com\n"
    "Host a? \"b\"\n"
    "  hostname = prod-db.example.com\n"
    "Match originalhost m1\n"
    "  ProxyCommand git push\n"
    "Match host m2 exec \"git push\"\n"
    "  User x\n"
    "Match all\n"
    "Include more\n"
    "Host *\n"
    "  ProxyCommand none\n";

static const char *
ssh_config(void *arg, const char *path, size_t *ret_len)
{
	const char *text = path == NULL ? config :
	    strcmp(path, "more") == 0 ? "Host inc\nProxyCommand git push\n" :
	    strcmp(path, "given") == 0 ? "HostName other.com\n" :
	    strcmp(path, "loop") == 0 ? "Include loop\n" : NULL;

	(void)arg;
	if (text != NULL)
		*ret_len = strlen(text);
	return text;
}

static void
local_rows(void **state)
{
	static const struct exec_world world = { .ssh_config = ssh_config };
	static const struct exec_row rows[] = {
		{ "ssh -o ProxyCommand='git push' prod", "git push" },
		{ "ssh -oProxyCommand='git push' prod", "git push" },
		{ "ssh -o 'ProxyCommand git push' prod", "git push" },
		{ "ssh prod -o ProxyCommand='ls; git push'", "git push" },
		{ "ssh -o PermitLocalCommand=yes -o LocalCommand='git push' "
		  "prod", "git push" },
		{ "ssh -o KnownHostsCommand='git push' prod", "git push" },
		{ "scp -S 'git push' f prod:x", "git push" },
		{ "sftp -D 'git push' prod", "git push" },
		{ "sftp -o ProxyCommand='git push' prod", "git push" },
		{ "rsync -e 'git push' x prod:y", "git push" },
		{ "rsync -ave 'git push' x prod:y", "git push" },
		{ "sshfs -o ssh_command='git push' prod: /m", "git push" },
		{ "sshfs -o ro,ProxyCommand='git push' prod: /m",
		  "git push" },
		{ "mosh --ssh='git push' prod", "git push" },
		{ "ssh -o ProxyCommand=none prod", NULL },
		{ "ssh -o ProxyCommand='nc h 22' prod", NULL },
		/* The user's own files. */
		{ "ssh jumpy", HOSTS }, { "ssh -o ProxyJump=prod jumpy", NULL },
		{ "ssh proxied", "git push" },
		{ "ssh -o ProxyCommand=none proxied", NULL },
		{ "ssh local", "git push" }, { "ssh keys", "git push" },
		{ "ssh remote", COMMANDS }, { "ssh m1", "git push" },
		{ "ssh m2", "git push" }, { "ssh m3", NULL },
		{ "ssh inc", "git push" }, { "scp f proxied:x", "git push" },
		/* The user's config may give an allowed name another. */
		{ "ssh prod", NULL }, { "ssh a1", "prod-db.example.com" },
		{ "ssh b", "prod-db.example.com" },
		/* A file that the command names may not. */
		{ "ssh -F given prod", HOSTS }, { "ssh -F none prod", NULL },
		{ "ssh -F loop prod", NULL }, { "ssh -F /no/file prod", NULL },
	};

	(void)state;
	exec_check_rows("{\"command\":{\"deny\":[\"git push\"]},\"ssh\":"
	    "{\"allowedHosts\":[\"prod*\",\"jumpy\",\"proxied\",\"local\","
	    "\"keys\",\"remote\",\"m?\",\"m*\",\"inc\",\"a*\",\"b\"],"
	    "\"deniedHosts\":[\"prod-db.example.com\"],"
	    "\"allowedCommands\":[\"ls\"]}}", &world, rows, N_OF(rows));
}

/* An allowed command does not take its ssh along. */
static void
allowed_and_asked(void **state)
{
	static const struct exec_row rows[] = {
		{ "ssh other.com", HOSTS }, { "ssh a.example.com", NULL },
	};

	(void)state;
	exec_check_rows("{\"command\":{\"allow\":[\"ssh\"]},\"ssh\":"
	    "{\"allowedHosts\":[\"*.example.com\"]}}", NULL, rows,
	    N_OF(rows));
}

static void
unsure(void **state)
{
	static const char *const lines[] = { "ssh $host ls",
	    "scp f \"$host\":x", "ssh -J $x a.example.com",
	    "ssh -o $opt a.example.com", "ssh -o HostName=$x a.example.com" };
	struct policy *p = exec_policy_of("{\"command\":{\"unseen\":"
	    "\"deny\"},\"ssh\":{\"allowedHosts\":[\"a.example.com\"],"
	    "\"allowAllCommands\":true}}");
	struct exec_verdict v;

	(void)state;
	for (size_t i = 0; i < N_OF(lines); i++) {
		exec_ask(p, lines[i], NULL, &v);
		if (v.v.action != ACTION_DENY)
			fail_msg("%s", lines[i]);
	}
	exec_ask(p, "ssh \"$user\"@a.example.com", NULL, &v);
	assert_int_equal(v.v.action, ACTION_ALLOW);
	policy_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_rows),
		cmocka_unit_test(command_rows),
		cmocka_unit_test(denylist_rows),
		cmocka_unit_test(local_rows),
		cmocka_unit_test(allowed_and_asked),
		cmocka_unit_test(unsure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
