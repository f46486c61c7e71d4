#!/usr/bin/env bash
# profile: strict: the template of that name as a layer, the measured calls,
# and a guarded name that appears ends the run.
. "$(dirname "$0")/../lib.sh"

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	as "$who" mkdir "$W"
	as "$who" sh -c "echo secret >'$base/outside'"
	echo '{"profile":"strict","filesystem":{"allowWrite":["."]}}' \
	    >"$T/policy.json"
	chmod 644 "$T/policy.json"
	fence "$who" -s "$T/policy.json" -- sh -c '
	    git init -q r && cd r && echo "int main(void){return 0;}" >m.c &&
	    cc -o m m.c && ./m && git add . &&
	    git -c user.name=a -c user.email=a@b commit -qm 1 &&
	    python3 -c "import subprocess; subprocess.run([\"true\"])" &&
	    node -e "require(\"fs\").writeFileSync(\"n\", \"1\")" && echo done'
	is "$out" 'done' "$who: git, cc, python and node"
	as "$who" cp "$PROBES/callprobe" "$W/"
	fence "$who" -s "$T/policy.json" -- ./callprobe
	like "$out" 'i386-getpid ENOSYS' "$who: 32-bit entry does not exist"
	fence "$who" -s "$T/policy.json" -- cat "$base/outside"
	is "$out" '' "$who: reading has to be granted"

	capture "$who" env FENCE_PRETEND=noshim "$FENCE_RUN" \
	    -s "$T/policy.json" -- sh -c 'mkdir .vscode; sleep 10; touch late'
	is "$status" 1 "$who: a guarded name that appears ends the run"
	like "$err" 'a guarded name appeared' "$who: which is said"
	[ ! -e "$W/late" ] && [ ! -e "$W/.vscode" ]
	ok $? "$who: and nothing of it stays"
	fence "$who" -s "$T/policy.json" -- sh -c 'mkdir .vscode; echo on'
	is "$out" on "$who: one that the shim refused does not"
done
finish
