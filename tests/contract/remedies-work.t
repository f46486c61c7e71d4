#!/usr/bin/env bash
# Each refusal's remedy is followed, as an option and as a line of the policy,
# and the command run again: it works then, or nothing was offered.
. "$(dirname "$0")/../lib.sh"
# limit: 300

# records.py POLICY TRACE: options, then a NUL, then the policy with the lines
cat >"$T/follow.py" <<'PY'
import json
import sys
policy = json.load(open(sys.argv[1], encoding='utf8'))
options, offered, told = [], 0, 0
for line in open(sys.argv[2], encoding='utf8'):
    event = json.loads(line)
    if event.get('action_id') != 2:
        continue
    told += 1
    remedy = event['unmapped']['fence'].get('remedy')
    if remedy is None:
        continue
    section, _, key = remedy['key'].partition('.')
    value = remedy['value']
    if value.startswith('(remove '):
        entry = json.loads(value[len('(remove '):-1])
        lst = policy[section][key]
        if entry in lst:
            lst.remove(entry)
    elif value.startswith('('):
        print('what', value, file=sys.stderr)
        continue
    else:
        lst = policy.setdefault(section, {}).setdefault(key, [])
        if value not in lst:
            lst.append(value)
    offered += 1
    if remedy['flag'] and [remedy['flag'], value] not in options:
        options.append([remedy['flag'], value])
    elif not remedy['flag']:
        options.append(None)
json.dump(policy, open(sys.argv[3], 'w', encoding='utf8'))
print(told, offered)
if None not in options:
    for pair in options:
        print(*pair, sep='\n')
PY

cat >"$T/policy.json" <<'POLICY'
{"filesystem":{"allowWrite":["."],
 "denyRead":["~/closed","~/shut/file","**/*.pem"]},
 "command":{"deny":["mkfs"]}}
POLICY
chmod 644 "$T/policy.json" "$T/follow.py"

# Everything anew: what one try changed the next must not find.
lay_out() {	# lay_out WHO
	rm -rf "$W" "$H" "$O"
	as "$1" mkdir -p "$W" "$H/closed" "$H/shut" "$H/sub" "$O/tree/deep" \
	    "$O/empty"
	as "$1" sh -c 'cd "$0" && echo old >f && echo a >tree/deep/a &&
		echo old >save && echo x=1 >conf &&
		printf "#!/bin/sh\necho ran\n" >tool && chmod 755 tool &&
		python3 -c "import sqlite3
c = sqlite3.connect(\"db\")
c.execute(\"create table t (a)\")
c.commit()"' "$O"
	as "$1" sh -c 'echo mine >"$0/mine"; tar -C "$0" -cf "$0/x.tar" mine
		echo key >"$0/k.pem"
		echo key >"$1/closed/key"; echo key >"$1/shut/file"
		cp "$2/tool" "$1/closed/tool"' "$W" "$H" "$O"
	as "$1" git -C "$O" init -q repo
	as "$1" git -C "$O/repo" config user.email a@b.test
	as "$1" git -C "$O/repo" config user.name a
}

attempt() {	# attempt WHO OPTION…: runs $line
	local who=$1
	shift
	rm -f "$base/trace"
	capture "$who" env HOME="$H" O="$O" "$FENCE_RUN" \
	    --trace-file "$base/trace" "$@" -- sh -c "$line"
}

# works WHO NAME LINE: refused, then allowed by what was offered.
works() {
	local who=$1 name=$2 answer options
	line=$3
	lay_out "$who"
	attempt "$who" -s "$T/policy.json"
	[ "$status" -ne 0 ]
	ok $? "$who: $name: is refused"
	answer=$(python3 "$T/follow.py" "$T/policy.json" "$base/trace" \
	    "$base/more.json")
	chmod 644 "$base/more.json"
	mapfile -t options < <(tail -n +2 <<<"$answer")
	like "$answer" '^[1-9][0-9]* [1-9]' "$who: $name: is told, with an offer" ||
	    return
	lay_out "$who"
	attempt "$who" -s "$base/more.json"
	is "$status" 0 "$who: $name: works with the lines" ||
	    note "$(cat "$base/more.json")"
	[ "${#options[@]}" -gt 0 ] || return
	lay_out "$who"
	attempt "$who" -s "$T/policy.json" "${options[@]}"
	is "$status" 0 "$who: $name: works with the options" ||
	    note "${options[*]}"
}

# none WHO NAME LINE: refused and told, and nothing is offered.
none() {
	line=$3
	lay_out "$1"
	attempt "$1" -s "$T/policy.json"
	[ "$status" -ne 0 ]
	ok $? "$1: $2: is refused"
	like "$(python3 "$T/follow.py" "$T/policy.json" "$base/trace" \
	    "$base/more.json" 2>&1)" '(^|
)[0-9]+ 0$' "$1: $2: and nothing is offered"
}

py() {	# py PROGRAM: a command line
	printf "python3 -c '%s'" "$1"
}

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	H=$base/home
	O=$base/out
	works "$who" 'a new file' 'echo hi >$O/new'
	works "$who" 'a file that is there' 'echo hi >$O/f'
	works "$who" rm 'rm $O/f'
	works "$who" 'rm -r' 'rm -r $O/tree'
	works "$who" 'mv in' 'mv mine $O/'
	works "$who" 'mv out' 'mv $O/f .'
	works "$who" 'mv there' 'mv $O/f $O/g'
	works "$who" ln 'ln $O/f $O/g'
	works "$who" 'ln -s' 'ln -s f $O/g'
	works "$who" mkdir 'mkdir $O/d'
	works "$who" 'mkdir -p' 'mkdir -p $O/a/b/c'
	works "$who" rmdir 'rmdir $O/empty'
	works "$who" mkfifo 'mkfifo $O/p'
	works "$who" 'a unix socket' "$(py 'import os, socket
socket.socket(socket.AF_UNIX).bind(os.environ["O"] + "/s")')"
	works "$who" sqlite "$(py 'import os, sqlite3
c = sqlite3.connect(os.environ["O"] + "/db")
c.execute("insert into t values (1)")
c.commit()')"
	works "$who" 'a save by rename' "$(py 'import os
p = os.environ["O"] + "/save"
open(p + ".tmp", "w").write("new")
os.rename(p + ".tmp", p)')"
	works "$who" 'sed -i' 'sed -i s/1/2/ $O/conf'
	works "$who" mktemp 'mktemp $O/XXXXXX'
	works "$who" chmod 'chmod 600 $O/f'
	works "$who" chown 'chown $(id -u):$(id -g) $O/f'
	works "$who" touch 'touch $O/f'
	works "$who" 'touch -d' 'touch -d yesterday $O/f'
	works "$who" truncate 'truncate -s 0 $O/f'
	works "$who" 'cp -a' 'cp -a mine $O/copy'
	works "$who" tar 'tar -C $O -xf x.tar'
	works "$who" 'git commit' \
	    'git -C $O/repo commit -q --allow-empty -m x'
	works "$who" 'a read below a closed folder' 'cat ~/closed/key'
	works "$who" 'a read of a closed file' 'cat ~/shut/file'
	works "$who" 'a read that a glob denies' 'cat k.pem'
	works "$who" 'a listing' 'ls ~/closed'
	works "$who" 'a program in a closed folder' '~/closed/tool'

	none "$who" 'a file in the home' 'echo 1 >~/new'
	none "$who" 'a folder in the home' 'mkdir ~/new'
	none "$who" 'what is missing in a closed folder' 'cat ~/closed/none'
	none "$who" 'a file of the kernel' 'echo 1 >/proc/self/coredump_filter'
	none "$who" 'a guarded name in a new folder' 'echo 1 >$O/.bashrc'
	none "$who" 'a datagram' "$(py 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"x", ("192.0.2.1", 9))')"
	none "$who" mount 'mount -t tmpfs none /mnt'
done

if [ "$IS_ROOT" = 1 ]; then
	# Root's jail has no power over files of others.
	who=root
	base=$(workspace root)
	W=$base/w
	H=$base/home
	O=$base/out
	lay_out root
	chown "$TEST_USER" "$O/f"
	line='echo 1 >$O/f'
	attempt root -s "$T/policy.json"
	is "$(python3 "$T/follow.py" "$T/policy.json" "$base/trace" \
	    "$base/more.json")" "1 0" \
	    "root: a file of another's is told, and nothing offered"
fi

# What the host refuses to the user without fence is none of ours.
who=user
base=$(workspace user)
W=$base/w
H=$base/home
O=$base/out
lay_out user
as user sh -c 'echo 1 >"$0/zero"; chmod 0 "$0/zero"' "$O"
for line in 'echo 1 >/etc/fence-new' 'rm /etc/passwd' 'chmod 666 /etc/passwd' \
    'mkdir /usr/fence-new' 'cat /etc/shadow' 'touch /etc/passwd' \
    'echo 1 >$O/zero' 'apt-get update'; do
	attempt user -s "$T/policy.json"
	is "$(grep -c '"action_id":2.*"class_uid":1001' "$base/trace" |
	    tr -d '\n')$(grep -c '"class_uid":1001.*"action_id":2' \
	    "$base/trace")" 00 "user: $line: is not fence's" ||
	    note "$(grep -o '"message":"[^"]*' "$base/trace" | head -3)"
	attempt user -d -s "$T/policy.json"
	like "$err" 'file permissions, not fence|Permission denied|Read-only' \
	    "user: $line: and -d says whose it is"
done
finish
