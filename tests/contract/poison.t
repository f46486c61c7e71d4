#!/usr/bin/env bash
# What a later run outside the jail would believe or execute stays as it was:
# policies, the trust store, agents' programs and settings.  Stand-ins for the
# agents: scripts that run what lies in their folders.
# tags: serial
. "$(dirname "$0")/../lib.sh"

STATIC=$PROBES/probe-static

# An agent as it is found in a home: it executes its packages.
agent() {	# agent NAME FOLDER
	as "$who" mkdir -p "$H/$2" "$H/real-bin"
	as "$who" sh -c "
	    printf '#!/bin/sh\necho genuine %s\n' $1 >'$H/$2/run'
	    chmod 755 '$H/$2/run'
	    printf '#!/bin/sh\nexec \"\$HOME/%s/run\"\n' $2 >'$H/real-bin/$1'
	    chmod 755 '$H/real-bin/$1'"
}

# Ways to get something of one's own under a name.  Each is tried; none may
# matter.
attack() {	# attack FOLDER: prints a script
	cat <<-END
	d=\$HOME/$1
	echo 'echo evil' >\$d/run
	echo 'echo evil' >>\$d/run
	rm -f \$d/run; rm -rf \$d; mkdir -p \$d
	printf '#!/bin/sh\necho evil\n' >\$d/run; chmod 755 \$d/run
	mv \$d \$d.old; mkdir -p \$d
	printf '#!/bin/sh\necho evil\n' >\$d/run; chmod 755 \$d/run
	p=\${d%/*}; mv \$p \$p.old; mkdir -p \$d
	printf '#!/bin/sh\necho evil\n' >\$d/run; chmod 755 \$d/run
	printf '#!/bin/sh\necho evil\n' >/tmp/evil; chmod 755 /tmp/evil
	mv /tmp/evil \$d/run; cp /tmp/evil \$d/run; ln -sf /tmp/evil \$d/run
	mkdir x; printf '#!/bin/sh\necho evil\n' >x/run; chmod 755 x/run
	mv x \$d; mv -T x \$d; ln -s \$PWD/x \$d
	"$STATIC" write \$d/run 'echo evil' 2>&1
	"$STATIC" rename x \$d 2>&1
	true
	END
}

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	H=$base/home
	as "$who" mkdir -p "$W" "$H/.config/fence" "$H/.local/state/fence"
	as "$who" sh -c "echo '{}' >'$H/.config/fence/fence.json'
	    echo trusted >'$H/.local/state/fence/trust'"
	agent codex .codex/packages
	agent copilot .cache/copilot/pkg
	agent claude .claude/plugins
	as "$who" sh -c "echo '{\"hooks\":{}}' >'$H/.claude/settings.json'"

	for way in shim noshim; do
		pretend=$([ "$way" = noshim ] && echo FENCE_PRETEND=noshim)
		for f in .codex/packages .cache/copilot/pkg .claude/plugins; do
			attack "$f" >"$T/attack"
			capture "$who" env HOME="$H" $pretend "$FENCE_RUN" \
			    -t code -- sh -c "$(cat "$T/attack")"
			is "$status" 0 "$who, $way: the attack on $f ran"
			like "$out$err" 'Read-only|busy|denied|EROFS' \
			    "$who, $way: and was refused"
			as "$who" rm -rf "$W/x"
		done
		for a in codex copilot claude; do
			capture "$who" env HOME="$H" "$H/real-bin/$a"
			is "$out" "genuine $a" \
			    "$who, $way: $a executes what it did before"
		done
		capture "$who" env HOME="$H" $pretend "$FENCE_RUN" -t code -- \
		    sh -c 'echo evil >~/.claude/settings.json
		    echo {} >~/.claude/s.tmp && mv ~/.claude/s.tmp ~/.claude/settings.json
		    echo evil >~/.config/fence/fence.json
		    echo evil >~/.local/state/fence/trust
		    mv ~/.config/fence ~/.config/f2; mv ~/.config ~/.c2
		    echo state >~/.claude/state && echo kept'
		is "$out" kept "$who, $way: an agent's state is writable"
		is "$(cat "$H/.claude/settings.json")" '{"hooks":{}}' \
		    "$who, $way: its settings are not"
		is "$(cat "$H/.config/fence/fence.json")" '{}' \
		    "$who, $way: nor the user's policy"
		is "$(cat "$H/.local/state/fence/trust")" trusted \
		    "$who, $way: nor the trust store"
	done

	# Nothing there yet: what a run makes is gone when it ends.
	H=$base/fresh
	as "$who" mkdir "$H"
	for way in shim noshim; do
		pretend=$([ "$way" = noshim ] && echo FENCE_PRETEND=noshim)
		for f in .codex/packages .cache/copilot/pkg .claude/hooks; do
			attack "$f" >"$T/attack"
			capture "$who" env HOME="$H" $pretend "$FENCE_RUN" \
			    -t code -- sh -c "$(cat "$T/attack")"
			[ ! -e "$H/$f" ] && [ ! -L "$H/$f" ]
			ok $? "$who, $way: nothing is left as $f"
			as "$who" rm -rf "$W/x"
		done
	done
	like "$err" 'hooks changed inside .kept in the shadow' \
	    "$who: and it was told"
	capture "$who" env HOME="$H" "$FENCE_RUN" -t code -- \
	    sh -c 'mkdir -p ~/.codex/sessions && echo 1 >~/.codex/sessions/a'
	is "$(cat "$H/.codex/sessions/a")" 1 "$who: state of a first start stays"
done
finish
