#!/usr/bin/env bash
# A single granted file survives save-by-rename; where it cannot, it is told.
# And hidden files are told where reading has to be granted.
. "$(dirname "$0")/../lib.sh"

listing() {	# names and modes of the home, but for F and records of runs
	(cd "$H" && find . ! -name .agent.json ! -path './.local*' \
	    -printf '%p %m %y\n' | sort)
}

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	H=$base/home
	as "$who" mkdir "$W" "$H"
	F=$H/.agent.json
	as "$who" sh -c "echo old >'$F'; chmod 600 '$F'; echo x >'$H/other'"
	echo '{"filesystem":{"allowWrite":[".","~/.agent.json"]}}' \
	    >"$T/policy.json"
	chmod 644 "$T/policy.json"
	before=$(listing)
	save() {	# save NAME COMMAND…: F becomes NAME
		local name=$1
		shift
		capture "$who" env HOME="$H" "$FENCE_RUN" \
		    --trace-file "$W/trace" -s "$T/policy.json" -- "$@"
		is "$(cat "$F")" "$name" "$who: $name saves"
		is "$(listing)" "$before" "$who: $name leaves nothing else"
		is "$(stat -c %a "$F")" 600 "$who: $name keeps the mode"
		is "$(denials "$W/trace")" 0 "$who: $name: no refusal"
	}
	save inplace sh -c 'echo inplace >~/.agent.json'
	save sh sh -c 'echo sh >~/.agent.json.tmp.$$ &&
	    mv ~/.agent.json.tmp.$$ ~/.agent.json'
	save python python3 -c '
import os, tempfile
f = os.path.expanduser("~/.agent.json")
fd, tmp = tempfile.mkstemp(prefix=".agent.json.", dir=os.path.dirname(f))
os.write(fd, b"python\n"); os.fsync(fd); os.close(fd)
os.chmod(tmp, 0o600); os.replace(tmp, f)'
	save node node -e '
const fs = require("fs"), f = process.env.HOME + "/.agent.json";
fs.mkdirSync(f + ".lock");
fs.writeFileSync(f + ".tmp." + process.pid, "node\n");
fs.statSync(f + ".tmp." + process.pid);
fs.renameSync(f + ".tmp." + process.pid, f);
fs.rmdirSync(f + ".lock");'

	# Without the shim the call fails, and the file is whole.
	capture "$who" env HOME="$H" FENCE_PRETEND=noshim "$FENCE_RUN" \
	    -s "$T/policy.json" -- sh -c 'echo lost >~/.agent.json.tmp &&
	    mv ~/.agent.json.tmp ~/.agent.json'
	like "$err" 'Read-only' "$who: without the shim it is refused"
	is "$(cat "$F")" node "$who: and the file is whole"
	is "$(listing)" "$before" "$who: with nothing beside it"

	# A name that has nothing to do with the file: refused, and told.
	capture "$who" env HOME="$H" "$FENCE_RUN" --trace-file "$W/trace" \
	    -s "$T/policy.json" -- sh -c 'echo x >~/tmpabc'
	is "$(denials "$W/trace" "$H/tmpabc" filesystem.allowWrite)" 1 \
	    "$who: other names are told"

	# What a glob would match later has no mount: refused, and told.
	echo '{"filesystem":{"allowWrite":[".","~/.late*"]}}' \
	    >"$T/policy.json"
	capture "$who" env HOME="$H" "$FENCE_RUN" --trace-file "$W/trace" \
	    -s "$T/policy.json" -- sh -c 'echo x >~/.late.json'
	is "$(denials "$W/trace" "$H/.late.json" 'filesystem.allowWrite[1]')" \
	    1 "$who: what was missing when the run began is told"
	is "$(denials "$W/trace" "$H/.late.json" "" status_detail)" \
	    "it was not there when the run began" "$who: with the reason"

	# Where reading has to be granted, what exists outside is told.
	echo '{"filesystem":{"defaultDenyRead":true,"allowWrite":["."]}}' \
	    >"$T/policy.json"
	capture "$who" env HOME="$H" "$FENCE_RUN" --trace-file "$W/trace" \
	    -s "$T/policy.json" -- sh -c 'cat ~/other; cat ~/nothing'
	is "$(denials "$W/trace" "$H/other" filesystem.defaultDenyRead)" 1 \
	    "$who: a hidden file is told once"
	is "$(denials "$W/trace" "$H/nothing")" 0 \
	    "$who: a missing one is not"
done
finish
