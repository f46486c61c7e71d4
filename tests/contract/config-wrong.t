#!/usr/bin/env bash
# Wrong files: each is answered with its place, its key, what is wrong and
# what would be right, in a second of computing and bounded memory.
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}
W=$(workspace user)
n=0

check() {	# check FILE: within the limits
	# shellcheck disable=SC2016 # for the inner shell
	capture user bash -c 'ulimit -t 1 -v 262144; exec "$@"' bash \
	    "$FENCE" config check "$1"
}

judge() {	# judge FILE REGEX NAME
	n=$((n + 1))
	chmod a+r "$1" 2>/dev/null
	check "$1"
	is "$status" 1 "$3: exit 1"
	like "$err" "$2" "$3: told"
}

json() {	# json NAME REGEX TEXT: at FILE:LINE:COL
	printf '%s' "$3" >"$W/f.json"
	judge "$W/f.json" "f\.json:[0-9]+:[0-9]+: $2" "$1"
}

ini() {	# ini NAME REGEX TEXT
	printf '%b' "$3" >"$W/f.ini"
	judge "$W/f.ini" "f\.ini:[0-9]+:[0-9]+: $2" "$1"
}

net() { json "$1" "$2" '{"network": {'"$3"'}}'; }
fs() { json "$1" "$2" '{"filesystem": {'"$3"'}}'; }
hint=$'.*\nhint: .'

# Every rule of the reference that still holds.
net 'a URL for a domain' "network.allowedDomains\[0\]: $hint" \
    '"allowedDomains": ["https://example.com"]'
net 'a path in a domain' 'network.allowedDomains\[0\]: ' \
    '"allowedDomains": ["example.com/path"]'
net 'too broad a wildcard' "network.allowedDomains\[0\]: $hint" \
    '"allowedDomains": ["*.com"]'
net 'a wildcard of nothing' 'network.deniedDomains\[1\]: ' \
    '"deniedDomains": ["a.test", "*."]'
net 'a wildcard in the middle' 'network.allowedDomains\[0\]: ' \
    '"allowedDomains": ["example.*.com"]'
net 'a wildcard at the end' 'network.allowedDomains\[0\]: ' \
    '"allowedDomains": ["example.com.*"]'
net 'a dot in front' 'network.allowedDomains\[0\]: ' \
    '"allowedDomains": [".example.com"]'
net 'an empty label' 'network.allowedDomains\[0\]: ' \
    '"allowedDomains": ["a..example.com"]'
net 'an empty domain' 'network.allowedDomains\[0\]: ' '"allowedDomains": [""]'
net 'a proxy without scheme' "network.upstreamProxy: $hint" \
    '"upstreamProxy": "proxy.test:3128"'
net 'a proxy of no scheme of ours' 'network.upstreamProxy: ' \
    '"upstreamProxy": "ftp://proxy.test"'
net 'a proxy without host' 'network.upstreamProxy: ' \
    '"upstreamProxy": "http://"'
net 'an unknown action' "network.defaultAction: $hint" \
    '"defaultAction": "allow"'
net 'a proxy by TLS' 'network.upstreamProxy: ' \
    '"upstreamProxy": "https://proxy.test"'
net 'another proxy without one' 'network.defaultAction: ' \
    '"defaultAction": "proxy"'
json 'an inherited proxy that is none' 'network.defaultAction: ' \
    '{"extends": "code", "network": {"defaultAction": "proxy"}}'
net 'port 0' 'network.allowLocalOutboundPorts\[0\]: ' \
    '"allowLocalOutboundPorts": [0]'
net 'port 70000' 'network.allowLocalOutboundPorts\[1\]: ' \
    '"allowLocalOutboundPorts": [1, 70000]'
json 'a mach name with a star inside' 'macos.mach.lookup\[0\]: ' \
    '{"macos": {"mach": {"lookup": ["com.*.service"]}}}'
fs 'an empty path' "filesystem.allowRead\[0\]: $hint" '"allowRead": [""]'
json 'an unknown mode' "devices.mode: $hint" '{"devices": {"mode": "most"}}'
json 'a device that is none' "devices.allow\[0\]: $hint" \
    '{"devices": {"allow": ["/tmp/x"]}}'
json 'all of /dev' 'devices.allow\[0\]: ' '{"devices": {"allow": ["/dev"]}}'
json 'an empty command' 'command.deny\[0\]: ' '{"command": {"deny": [""]}}'
json 'an unknown exec policy' 'command.runtimeExecPolicy: ' \
    '{"command": {"runtimeExecPolicy": "all"}}'
json 'an ssh host with a port' 'ssh.allowedHosts\[0\]: ' \
    '{"ssh": {"allowedHosts": ["example.com:22"]}}'
json 'an ssh host with a user' 'ssh.deniedHosts\[0\]: ' \
    '{"ssh": {"deniedHosts": ["user@example.com"]}}'

# Types, names, notation.
fs 'a string for a list' 'filesystem.allowWrite: ' '"allowWrite": "."'
fs 'a number in a list' 'filesystem.allowWrite\[0\]: ' '"allowWrite": [7]'
json 'a string for a boolean' 'allowPty: ' '{"allowPty": "yes"}'
json 'a list for a section' 'network: ' '{"network": []}'
json 'a unit that is none' "limits.memory: " '{"limits": {"memory": "2X"}}'
json 'an unknown key' "netwrk: $hint" '{"netwrk": {}}'
fs 'an unknown key in a section' "filesystem.allowWrites: $hint" \
    '"allowWrites": []'
json 'a key twice' '.*network' '{"network": {}, "network": {}}'
json 'a key twice, in another case' '.*' '{"network": {}, "Network": {}}'
json 'only a comment' '' '// nothing else'
json 'single quotes' '' "{'network': {}}"
json 'a hash for a comment' '' $'{} # so\n'
json 'a comment without end' '' '{ /* and so on'
json 'more after the end' '' '{} {}'
json 'cut off' '' '{"network": {"allowedDomains": ["a.test"'
json 'removes what is not there' "network.allowedDomains" \
    '{"network": {"allowedDomains": ["!a.test"]}}'
json 'extends nothing that is' "extends: $hint" '{"extends": "nonesuch"}'
printf '\xef\xbb\xbf{}' >"$W/f.json"
judge "$W/f.json" 'f\.json:1:1: ' 'a byte order mark'
printf '{"a\0": 1}' >"$W/f.json"
judge "$W/f.json" 'f\.json:1:[0-9]+: ' 'a NUL byte'
printf '{"\xff": 1}' >"$W/f.json"
judge "$W/f.json" 'f\.json:1:[0-9]+: ' 'bytes that are no text'
printf '' >"$W/f.json"
judge "$W/f.json" 'f\.json' 'an empty file'
head -c 10485760 /dev/zero | tr '\0' ' ' >"$W/f.json"
judge "$W/f.json" 'f\.json: .*MiB' '10 MiB'
{ printf '%*s' 100000 '' | tr ' ' '['; } >"$W/f.json"
judge "$W/f.json" 'f\.json:1:[0-9]+: ' '100,000 deep'
printf '{"extends": "./f.json"}' >"$W/f.json"
judge "$W/f.json" 'f\.json:1:13: extends: .*itself' 'a cycle'
mkdir "$W/d.json"
judge "$W/d.json" 'd\.json: .*directory' 'a directory'
judge "$W/none.json" 'none\.json: .*No such file' 'no file'
printf '{}' >"$W/secret.json"
chmod 000 "$W/secret.json"
if [ "$IS_ROOT" = 1 ]; then
	n=$((n + 1))
	check "$W/secret.json"
	is "$status" 1 'unreadable: exit 1'
	like "$err" 'secret\.json: .*Permission denied' 'unreadable: told'
else
	judge /etc/shadow 'Permission denied' 'unreadable'
fi

# INI.
ini 'a section that is none' "netwrk: " '[netwrk]\nallowedDomains = a.test\n'
ini 'a key that is none' 'network.alowedDomains: ' \
    '[network]\nalowedDomains = a.test\n'
ini 'no value' '' '[network]\nallowedDomains\n'
ini 'an open section' '' '[network\nallowedDomains = a.test\n'
ini 'a pattern that is none' 'network.allowedDomains\[1\]: ' \
    '[network]\nallowedDomains = a.test\nallowedDomains = *.\n'
ini 'a word for a boolean' 'allowPty: ' 'allowPty = perhaps\n'
ini 'a NUL byte in INI' '' 'allowPty = \0true\n'

[ "$n" -ge 40 ]
ok $? "there are at least 40 ($n)"
finish
