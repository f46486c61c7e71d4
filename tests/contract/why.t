#!/usr/bin/env bash
# fence why: verdict, rule with its place, enforcer, the line to change it.
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}

why() {	# why WHO ARGS…
	local who=$1
	shift
	capture "$who" env HOME="$H" XDG_CONFIG_HOME= "$FENCE" why "$@"
}

answers() {	# answers NAME STATUS REGEX ARGS…
	local name=$1 want=$2 regex=$3
	shift 3
	why "$who" "$@"
	is "$status" "$want" "$who: $name: exit $want"
	like "$out$err" "$regex" "$who: $name"
}

for who in $WHOS; do
	W=$(workspace "$who")
	H=$W/home
	as "$who" mkdir -p "$H/.ssh" "$W/ws/.git/hooks"
	as "$who" ln -s "$H/.ssh" "$W/ws/link"
	cat >"$T/p.jsonc" <<-'END'
	{
	  "network": {
	    "allowedDomains": ["allowed.test", "*.wild.test", "10.0.0.5", "127.0.0.1"],
	    "deniedDomains": ["bad.wild.test"],
	    "allowLocalOutbound": true,
	    "allowLocalOutboundPorts": [5432]
	  },
	  "filesystem": {
	    "allowWrite": ["."],
	    "denyWrite": ["*.key"],
	    "denyRead": ["~/.ssh"]
	  }
	}
	END
	chmod 644 "$T/p.jsonc"
	P="$T/p.jsonc"
	W=$W/ws

	answers 'an allowed name' 0 'allowed: connect allowed.test:443' \
	    -s "$P" connect allowed.test
	like "$out" 'network.allowedDomains\[0\] "allowed.test"  .*p.jsonc:3:24' \
	    "$who: the rule and its place"
	answers 'spelt otherwise' 0 'connect allowed.test:8443' \
	    -s "$P" connect ALLOWED.test.:8443
	answers 'a name denied' 1 'deniedDomains\[0\] "bad.wild.test"' \
	    -s "$P" connect bad.wild.test
	answers 'a name not listed' 1 'NXDOMAIN' -s "$P" connect other.test:80
	like "$out" 'network.allowedDomains \+= "other.test"' \
	    "$who: the line that would change it"
	like "$out" 'fence-run -a other.test' "$who: or for once"
	answers 'once' 0 '<command line>' -s "$P" -a other.test \
	    connect other.test:80
	answers 'an address not listed' 1 'route: ' -s "$P" connect 8.8.8.8
	answers 'a private address by its literal' 0 '10.0.0.5:443' \
	    -s "$P" connect 10.0.0.5
	for home in 127.0.0.1 localhost '[::1]'; do
		answers "$home, a port that leads out" 0 \
		    'allowLocalOutboundPorts\[0\] "5432".*p.jsonc:6:' \
		    -s "$P" connect "$home:5432"
	done
	answers 'localhost, another port' 1 \
	    'to allow  network.hostPorts \+= 5433, or once: fence-run --host-port 5433' \
	    -s "$P" connect localhost:5433
	like "$out" "localhost inside is the command's own" \
	    "$who: whose localhost it is"
	answers 'localhost, where nothing leads out' 1 \
	    'network.hostPorts \+= 5432, or once: fence-run --host-port 5432' \
	    connect localhost:5432
	answers 'localhost, for who asks a proxy' 0 'by the proxy alone' \
	    -s "$P" connect 127.0.0.1:5433
	answers 'an address of the sixth kind' 1 'connect \[2001:db8::1\]:22' \
	    -s "$P" connect '[2001:DB8:0::1]:22'
	answers 'a denied name and its last dot' 1 'deniedDomains\[0\]' \
	    -s "$P" connect BAD.wild.test.:443
	answers 'a look-alike of a name' 1 'no entry' \
	    -s "$P" connect allowed.test.evil.test
	answers 'the apex of a wildcard' 1 'no entry' -s "$P" connect wild.test
	answers 'an address in hexadecimal' 0 'connect 10.0.0.5:80' \
	    -s "$P" connect 0xa000005:80
	answers 'an address in octal' 0 'connect 10.0.0.5:80' \
	    -s "$P" connect 012.0.5:80
	answers 'a mapped address' 0 'connect 10.0.0.5:80' \
	    -s "$P" connect '[::ffff:10.0.0.5]:80'
	answers 'metadata under any host' 1 'a cloud metadata address' \
	    -s "$P" -a '*' connect 0xa9fea9fe
	answers 'an empty label' 2 'is not a host' -s "$P" connect a..test
	answers 'two last dots' 2 'is not a host' -s "$P" connect a.test..
	answers 'no host' 2 'is not a host' -s "$P" connect https://x/
	answers 'no port' 2 'is not a port' -s "$P" connect x.test:99999

	answers 'writing the workspace' 0 'mount: writable' -s "$P" write x
	answers 'writing beside it' 1 'read-only \(EROFS\)' -s "$P" write ../x
	answers 'out and in again' 0 'mount: writable' -s "$P" write ../ws/x
	answers 'a glob one level deeper' 0 'mount: writable' \
	    -s "$P" write d/a.key
	answers 'a look-alike' 1 'not in|no entry' -s "$P" write "${W}x/y"
	answers 'a denied glob' 1 'denyWrite\[0\] "\*.key"' -s "$P" write a.key
	like "$out" 'later matches are told, not walled' \
	    "$who: that is not there yet"
	answers 'a guarded name' 1 'denied: write .*/\.git/hooks/x' \
	    -s "$P" write .git/hooks/x
	like "$out" 'a guarded name' "$who: and why"
	answers 'a repository that is not there' 0 'allowed: write' \
	    -s "$P" write new/.git/hooks/x
	answers 'a guarded name that is missing' 1 'quarantine' \
	    -s "$P" write .vscode/tasks.json
	answers 'and one that is named' 0 'allowed: write' \
	    -s "$P" -w .vscode write .vscode/tasks.json
	answers 'the policy itself' 1 'denied' -s "$P" write "$P"
	answers 'hidden' 1 'denyRead\[0\] "~/.ssh"' -s "$P" read "$H/.ssh/id"
	like "$out" 'EACCES' "$who: is refused"
	answers 'hidden, for writing' 1 'denyRead' -s "$P" write "$H/.ssh/id"
	answers 'through a link' 1 "denyRead.*" -s "$P" read link/id
	answers 'once readable' 0 allowed -s "$P" -r "$H/.ssh/pub" \
	    read "$H/.ssh/pub"
	answers 'the system' 0 allowed -s "$P" exec /bin/sh
	answers 'the closed one' 1 'allowRead' -t default-deny read "$H/x"
	answers 'no question' 2 'connect HOST' -s "$P" open x
	answers 'too few words' 2 'wants a question' -s "$P" read
	answers 'a bad policy' 2 'missing' -s "$T/missing.json" read x
	answers 'both sources' 2 'exclude each other' -s "$P" -t code read x

	answers 'a missing file' 1 'note .*a file has to be made before the run' \
	    write "$H/x.txt"
	as "$who" sh -c 'mkdir "$0/some" && echo 1 >"$0/some/there"' "$H"
	answers 'a file that is there' 1 'or once' write "$H/some/there"
	unlike "$out" 'note' "$who: and that needs no word"
	answers 'one that is missing' 1 'allowWrite \+= "~/some", or once' \
	    write "$H/some/new"
	if [ "$who" = user ]; then
		answers "a file of another's" 1 "file's permissions refuse" \
		    write /etc/passwd
		unlike "$out" 'to allow' "$who: which no line opens"
	fi

	# A denial of a symlink means what it leads to; the link is seen.
	as "$who" sh -c 'mkdir "$0/d"; echo o >"$0/d/open"; echo s >"$0/d/shut"
	    ln -s d "$0/denied"' "$H"
	echo '{"filesystem":{"denyRead":["~/denied"],
	    "allowRead":["~/d/open"],"allowWrite":["."]}}' >"$T/link.json"
	chmod 644 "$T/link.json"
	answers 'what a denied link leads to' 1 'denyRead' \
	    -s "$T/link.json" read "$H/denied/shut"
	answers 'and what is granted there' 0 'allowRead' \
	    -s "$T/link.json" read "$H/denied/open"
	capture "$who" env HOME="$H" "$FENCE_RUN" -s "$T/link.json" -- \
	    sh -c 'cat ~/denied/open; cat ~/denied/shut'
	is "$status:$out" 1:o "$who: as a run does"

	# Programs without their names.
	as "$who" mkdir -p "$H/tools/in"
	as "$who" cp /bin/true "$H/tools/in/t"
	echo '{"filesystem":{"defaultDenyRead":true,"allowWrite":["."],
	    "allowExecute":["~/tools"]}}' >"$T/tools.json"
	chmod 644 "$T/tools.json"
	answers 'a program by allowExecute' 0 'allowExecute' \
	    -s "$T/tools.json" read "$H/tools/in/t"
	answers 'its folder' 1 'no right to list it' \
	    -s "$T/tools.json" read "$H/tools/in"
	like "$out" "allowRead \\+= \"~/tools/in\", or once: fence-run -r" \
	    "$who: and what would allow that"
	list='echo ~/tools/*; ls ~/tools/in 2>&1; ~/tools/in/t && echo ran'
	for engine in bwrap native; do
		capture "$who" env HOME="$H" "$FENCE_RUN" --engine $engine \
		    -s "$T/tools.json" -- sh -c "$list"
		like "$out" "/tools/\*.*denied.ran$" \
		    "$who: $engine: as a run does"
	done
	capture "$who" env HOME="$H" "$FENCE_RUN" -r '~/tools' \
	    -s "$T/tools.json" -- sh -c "$list"
	like "$out" '/tools/in.t.ran$' "$who: with -r it is listed"
	capture "$who" env HOME="$H" FENCE_PRETEND=landlock "$FENCE_RUN" \
	    -s "$T/tools.json" -- sh -c "$list"
	like "$out:$err" '/tools/in.t.ran:.*allowExecute: without Landlock' \
	    "$who: without Landlock, too, which is told"
	capture "$who" env HOME="$H" FENCE_PRETEND=landlock "$FENCE" why \
	    --json -s "$T/tools.json" read "$H/tools/in"
	like "$out" 'denied.*"walled":false' "$who: and why knows it"

	# What is suggested can be pasted, whatever the name is.
	for name in '$(touch pasted);x' "a'b" 'a b`touch pasted`'; do
		why "$who" write "$H/$name"
		line=$(sed -n "s/.*or once: fence-run //p" <<<"$out")
		as_words "$who"
		is "$(cd "$W" && export HOME="$H" && as "$who" sh -c "mkdir -p \
		    ws2 && cd ws2 && printf '[%s]' $line")" \
		    "[-w][~/${name/\$/\\\$}]" \
		    "$who: the line for $name is one word"
	done
	[ -z "$(find "$W" -name pasted)" ]
	ok $? "$who: and nothing is executed"

	why "$who" --json -s "$P" connect other.test
	is "$status" 1 "$who: --json: exit 1"
	is "$(printf '%s' "$out" | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["verdict"], d["rule"], d["line"], d["remedy"]["key"],
    d["remedy"]["value"], d["remedy"]["flag"])')" \
	    'denied network.allowedDomains 3 network.allowedDomains other.test -a' \
	    "$who: --json is one object"
done
finish
