#!/usr/bin/env bash
# A command renames what lies in an agent's folder as fast as it can, while its
# login is carried to the host, and while other runs begin and end beside it:
# nothing outside the folder is read or written, and no start fails.
# limit: 240
. "$(dirname "$0")/../lib.sh"

# Each name is a file, a symlink that leads out, a folder with such links, and a
# file of two names, in turn; until "stop" is there.
renames='
import itertools, os, sys
os.chdir(os.path.expanduser("~/.claude"))
W = sys.argv[1]
home = os.path.expanduser("~")
def file(p):
    with open(p, "w") as f:
        f.write("{\"t\":\"jail\"}")
def link(p):
    os.symlink(home + "/.keys/k", p)
def folder(p):
    os.mkdir(p)
    os.symlink(home + "/.keys", p + "/d")
    os.symlink("../../.keys/k", p + "/k")
    file(p + "/f")
def two(p):
    file(p)
    os.link(p, p + ".two")
def away(p):
    if os.path.isdir(p) and not os.path.islink(p):
        for n in os.listdir(p):
            away(p + "/" + n)
        os.rmdir(p)
    elif os.path.lexists(p):
        os.unlink(p)
names = [".credentials.json", "history.jsonl", "plugins", "settings.json",
    "made", "new"]
kinds = [file, link, folder, two]
n = 0
for name, kind in itertools.cycle(itertools.product(names, kinds)):
    if n % 100 == 0 and os.path.exists(W + "/stop"):
        break
    n += 1
    if n == 100:
        open(W + "/began", "w").close()
    try:
        away("t"); away("t.two"); kind("t")
        if os.path.isdir(name) and not os.path.islink(name):
            away(name)
        os.rename("t", name)
    except OSError:
        pass
print("renamed" if n > 100 else n)
'

# All of the home but the agent's folder and what fence keeps.
picture() {
	(cd "$H" && find . \( -path ./.claude -o -path ./.local \) -prune -o \
	    -printf '%p %m %s %l\n' | sort; cat .keys/k)
}

for who in $WHOS; do
	base=$(workspace "$who")
	H=$base/home
	W=$base/w
	C=$H/.claude
	as "$who" mkdir -p "$W" "$C/plugins" "$C/projects" "$H/.keys"
	as "$who" sh -ec 'echo secret >"$0/.keys/k"; cd "$0/.claude"
	    echo "{\"t\":\"host\"}" >.credentials.json; echo 1 >history.jsonl
	    echo host >settings.json; echo host >plugins/p' "$H"
	echo '{"filesystem":{"denyRead":["~/.keys"],
	    "allowWrite":[".","~/.claude"]}}' >"$base/p.json"
	chmod 644 "$base/p.json"
	before=$(picture)
	start "$who" env HOME="$H" "$FENCE_RUN" -s "$base/p.json" -- \
	    /usr/bin/python3 -c "$renames" "$W" >"$base/out" 2>"$base/err"
	first=$pid
	wait_for 30 test -e "$W/began"
	ok $? "$who: names are being renamed"

	failed=0 seen=0
	for n in $(seq 25); do
		capture "$who" env HOME="$H" "$FENCE_RUN" -s "$base/p.json" -- \
		    sh -c 'cat ~/.claude/.cred* ~/.claude/*/k ~/.claude/new \
		    ~/.claude/plugins/* 2>/dev/null; echo end'
		case $out in
		*secret*)	seen=$((seen + 1)) ;;
		*end)		;;
		*)	failed=$((failed + 1))
			note "start $n: $status: $err" ;;
		esac
	done
	is "$seen $failed" '0 0' "$who: 25 starts beside it"
	as "$who" sh -c ': >"$0"' "$W/stop"
	wait "$first"
	like "$(cat "$base/out")" 'renamed' "$who: it renamed to the end"
	is "$(picture)" "$before" "$who: nothing beside the folder has changed"
	is "$(grep -rl secret "$C" "$H/.local" 2>/dev/null)" '' \
	    "$who: nor is a copy of anything anywhere"
	is "$(find "$C" -type l; find "$C" -type f -links +1)" '' \
	    "$who: neither symlinks nor files of two names came to the host"
	is "$(cat "$C/settings.json" "$C/plugins/p")" $'host\nhost' \
	    "$who: what is guarded is the host's"
	like "$(cat "$C/.credentials.json")" '^\{"t":"(host|jail)"\}$' \
	    "$who: and the login is one"
	is "$(find "$H/.local/state/fence/shadow/runs" -type f; find "$C" \
	    -name '.fence-*')" '' "$who: nothing of it is left"
	capture "$who" env HOME="$H" "$FENCE_RUN" -s "$base/p.json" -- \
	    sh -c 'cd ~/.claude && rm -rf settings.json &&
	    echo fine >settings.json && cat settings.json'
	is "$status $out" '0 fine' "$who: the next run starts, and saves"
done
finish
