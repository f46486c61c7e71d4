#!/usr/bin/env bash
# What needs a registry, under the filter of `profile: strict` alone: npm, go,
# cargo, and an agent that paints its first screen.
# tags: long
# limit: 900
. "$(dirname "$0")/../lib.sh"
. "$TESTS/builds/lib.sh"

PATH=$PATH:/usr/local/go/bin:/root/.cargo/bin
export GOFLAGS=-modcacherw GOTOOLCHAIN=local

under() {	# under WHO CMD…: strict; fills $status, $out, $err
	local who=$1
	shift
	bare "$who" "$PROBES/filtered" "$who-strict" "$@"
}

npm_builds() {	# npm_builds WHO
	fresh "$1"
	bare "$1" cp -R "$TESTS/builds/npm/." .
	bare "$1" npm install --no-audit --no-fund --package-lock-only
	if [ "$status" != 0 ]; then
		skip "no registry: $(tail -n1 <<<"$err")" "$1: npm"
		return
	fi
	under "$1" sh -ec 'npm ci --no-audit --no-fund && npm ls && npm test'
	works "$1" "npm ci, npm ls and npm test"
}

go_builds() {	# go_builds WHO
	fresh "$1"
	bare "$1" cp -R "$TESTS/builds/go/." .
	bare "$1" go mod download
	if [ "$status" != 0 ]; then
		skip "no proxy: $(tail -n1 <<<"$err")" "$1: go"
		return
	fi
	under "$1" sh -ec 'go build -o m . && ./m && go vet . && go test .'
	works "$1" "go build, vet and test"
}

cargo_builds() {	# cargo_builds WHO
	fresh "$1"
	bare "$1" cp -R "$TESTS/builds/cargo/." .
	bare "$1" cargo fetch
	if [ "$status" != 0 ]; then
		skip "no cargo, or no registry: $(tail -n1 <<<"$err")" \
		    "$1: cargo"
		return
	fi
	under "$1" sh -ec 'cargo build && cargo test'
	works "$1" "cargo build and test"
}

# Its screen under the filter and without it, read from a terminal.
screen() {	# screen WHO CMD…
	local who=$1 t=(tmux -S "$W/tty" -f /dev/null)
	shift
	(cd "$W" && as "$who" env HOME="$H" "${t[@]}" new -d -x 100 -y 30 "$@")
	wait_for 40 painted "$who" "${t[@]}"
	as "$who" "${t[@]}" capture-pane -p | tr -s ' \n' | tail -n 6
	as "$who" "${t[@]}" kill-server
}

# shellcheck disable=SC2317 # wait_for calls it
painted() {	# painted WHO TMUX…
	local who=$1
	shift
	[ "$(as "$who" "$@" capture-pane -p | grep -c '[^ ]')" -ge 8 ]
}

# Installed once, by the first of them; the other reads it.
cli=
agent() {	# agent WHO
	local free
	fresh "$1"
	if [ -z "$cli" ]; then
		# --prefix would also move the place of npm's own settings.
		bare "$1" npm init -y
		bare "$1" npm install --no-audit --no-fund @google/gemini-cli
		if [ "$status" != 0 ]; then
			skip "no registry: $(grep -m1 "npm error" <<<"$err")" \
			    "$1: an agent"
			return
		fi
		cli=$W/node_modules/.bin/gemini
		fresh "$1"
	fi
	bare "$1" "$cli" --version
	free=$out
	under "$1" "$cli" --version
	is "$status$out" "0$free" "$1: an agent tells its version"
	free=$(screen "$1" "$cli")
	like "$free" "Trust folder" "$1: an agent's first screen, without a filter"
	is "$(screen "$1" "$PROBES/filtered" "$1-strict" "$cli")" "$free" \
	    "$1: and with it"
}

for who in $WHOS; do
	npm_builds "$who"
	go_builds "$who"
	cargo_builds "$who"
	agent "$who"
done
finish
