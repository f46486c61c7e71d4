#!/usr/bin/env bash
# fence on the command line as users of the Go program type it: the rows S1 to
# S19 of FENCE-REFERENCE.md 10.1, I1 to I13 of 10.2, templates, ports, exit
# codes.
# limit: 240
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}

each_world "$@"
H=$T/home
P=$T/p.json
mkdir "$H"

go() {	# go ARGS…: fence, with $H for a home and no policy of the user's
	capture "$who" env -u XDG_CONFIG_HOME HOME="$H" "$FENCE" "$@" </dev/null
}

policy() {	# policy JSON: $P has it, with @W@ for the workspace
	printf '%s\n' "${1//@W@/$W}" >"$P"
}

passes() {	# passes ROW [REGEX] -- ARGS…
	local row=$1 want=
	shift
	[ "$1" = -- ] || { want=$1; shift; }
	shift
	go "$@"
	is "$status" 0 "$who: $row: $*" || note "$err"
	[ -z "$want" ] || like "$out" "$want" "$who: $row: says $want"
}

blocked() {	# blocked ROW -- ARGS…: before anything is started
	local row=$1
	shift 2
	go "$@"
	is "$status" 1 "$who: $row: $* is exit 1"
	like "$err" 'blocked|denied|refused' "$who: $row: and says why"
	is "$out" '' "$who: $row: nothing of it ran"
}

smoke() {
	echo 'hello world' >"$W/test.txt"
	passes S1 -- --version
	passes S2 '^hello$' -- -c 'echo hello'
	passes S3 test.txt -- -- ls
	passes S4 "^$W\$" -- -- pwd
	passes S5 'hello world' -- -c "cat $W/test.txt"
	policy '{"filesystem": {"allowWrite": ["@W@"]}}'
	go -s "$P" -c "touch /var/tmp/outside-$$.txt"
	[ "$status" != 0 ] && [ ! -e "/var/tmp/outside-$$.txt" ]
	ok $? "$who: S6: nothing outside of the workspace"
	passes S7 -- -s "$P" -c "touch $W/new-file.txt"
	[ -e "$W/new-file.txt" ]
	ok $? "$who: S7: the file is there"
	policy '{"filesystem": {"allowWrite": ["@W@"]},
	    "command": {"deny": ["rm -rf", "dangerous-command"]}}'
	blocked S8 -- -s "$P" -c 'rm -rf /tmp/test'
	passes S9 '^safe command$' -- -s "$P" -c 'echo safe command'
	blocked S10 -- -s "$P" -c 'ls && rm -rf /tmp/test'
	blocked S11 -- -s "$P" -c 'bash -c "rm -rf /tmp/test"'
	policy '{"network": {"allowedDomains": []},
	    "filesystem": {"allowWrite": ["@W@"]}}'
	go -s "$P" -c 'curl -s --connect-timeout 2 --max-time 3 http://denied.test'
	like "$out" '^$|blocked|refused|denied' "$who: S12: the network is closed"
	is "$("$TESTS/world/world-count" of denied.test)" 0 \
	    "$who: S12: no packet of it"
	passes S14 '^2$' -- -c "python3 -c 'print(1+1)'"
	if command -v node >/dev/null; then
		passes S15 '^2$' -- -c "node -e 'console.log(1+1)'"
	else
		skip 'node is not installed' "$who: S15"
	fi
	passes S16 '^git version' -- -- git --version
	if command -v rg >/dev/null; then
		passes S17 '^ripgrep' -- -- rg --version
	fi
	passes S18 -- -c 'test "$FENCE_SANDBOX" = "1"'
	policy '{"network": {"allowedDomains": ["example.com"]},
	    "filesystem": {"allowWrite": ["@W@"]}}'
	passes S19 -- -s "$P" -c 'test -n "$HTTP_PROXY"'
}

served() {	# S13: a server of the host's loopback, through the proxy
	cat >"$T/origin.py" <<'PY'
import http.server
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"status": "ok"}')

    def log_message(self, *args):
        pass


server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
with open(sys.argv[1], 'a') as f:
    f.write(f'{server.server_address[1]} ready\n')
server.serve_forever()
PY
	start_origin
	policy '{"network": {"allowedDomains": ["127.0.0.1"]},
	    "filesystem": {"allowWrite": ["@W@"]}}'
	passes S13 '"status": "ok"' -- -s "$P" -c \
	    "NO_PROXY= no_proxy= curl -s --connect-timeout 5 --max-time 10 http://127.0.0.1:$(cut -d' ' -f1 "$T/log")/"
}

B='"filesystem": {"allowWrite": ["@W@"]}, "command": {"useDefaults": false'

integration() {
	policy "{$B}}"
	passes I1 'hello world' -- -s "$P" -c 'cat test.txt'
	passes I2 '^hello from sandbox$' -- -s "$P" -c \
	    "echo 'hello from sandbox'"
	passes I8 'hello from python' -- -s "$P" -c \
	    "python3 -c \"print('hello from python')\""
	git -C "$W" init -q
	passes I10 -- -s "$P" -c 'git status'
	passes I11 new-file.txt -- -s "$P" -c ls
	passes I12 "^$W\$" -- -s "$P" -c pwd
	passes I13 FENCE_SANDBOX=1 -- -s "$P" -c 'env | grep FENCE'
	policy "{$B, \"deny\": [\"rm -rf\"]}}"
	blocked I3 -- -s "$P" -c 'rm -rf /tmp/should-not-run'
	blocked I5 -- -s "$P" -c 'ls && rm -rf /tmp/test'
	blocked I6 -- -s "$P" -c 'bash -c "rm -rf /tmp/test"'
	policy "{$B, \"deny\": [\"git push\"], \"allow\": [\"git push origin docs\"]}}"
	blocked I4 -- -s "$P" -c 'git push origin main'
	go -s "$P" -c 'git push origin docs'
	unlike "$err" 'command\.deny' "$who: I4: the exception passes"
	policy "{$B, \"deny\": [\"python3\"], \"runtimeExecPolicy\": \"argv\"}}"
	go -s "$P" -c 'echo begun; x=python3; env "$x" --version'
	[ "$status" != 0 ] && [ "$out" = begun ]
	ok $? "$who: I7: met at run time"
}

rest() {
	go --list-templates
	like "$status$out" '^0Available templates:' "$who: --list-templates"
	like "$out" ' code +[^ ]' "$who: with what they are for"
	passes -t -- -t code -c true
	passes -t.json -- -t code.json -c true
	go -t nonesuch -c true
	is "$status" 2 "$who: an unknown template"
	go -c 'exit 42'
	is "$status" 42 "$who: the status is the command's"
	go -c 'kill -TERM $$'
	is "$status" 143 "$who: 128 and the signal"
	go -- /nonexistent-command
	is "$status" 127 "$who: not found"
	go --nonsense
	is "$status" 2 "$who: an unknown option is a usage error"
	go
	is "$status" 2 "$who: and so is nothing at all"
	printf 'broken' >"$P"
	go -s "$P" -c true
	is "$status" 1 "$who: a broken policy is exit 1"
	go -s "$P.gone" -c true
	is "$status" 1 "$who: a missing one, too"
	passes non-interspersed '^-d$' -- echo -d
	passes -- '^a b$' -- -- echo 'a b'
	passes -p -- -p 18080 -c true
	go -p 0 -c true
	is "$status" 2 "$who: a port that is none"
	go -p example.com:80 -c true
	is "$status" 2 "$who: an address that is none"
	passes --expose-host-path -- --expose-host-path /etc -c true
	passes --shell -- --shell default -c true
	passes -d -- -d -c true
	passes -m -- -m -c true
	passes --fence-log-file -- --fence-log-file "$T/log.txt" -d -c true
	[ -s "$T/log.txt" ]
	ok $? "$who: the log has the lines"
	passes --linux-features 'Capability' -- --linux-features
	go config show
	is "$status" 0 "$who: config show"
	go import
	is "$status" 2 "$who: import without a source"
	go hooks print --claude
	like "$out" PreToolUse "$who: hooks print"
	go completion bash
	is "$status" 0 "$who: completion"
}

smoke
served
integration
rest
exit 0
