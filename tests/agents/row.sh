# agents/row.sh: one row of agents-table.t: an agent, a way, a home.
# Sourced after lib.sh, agents/table.sh and tty.sh.
#
#	install_agents NAME…	fetches them; $INSTALLED are those that are there
#	make_lived		a home of $agent's user, made by its own first
#				run outside of any jail; kept for the rows
#	row WAY HOME VARS	way: once or tui, home: fresh or lived, proxy
#				variables: on or off
#	print_table		what came of all rows
# shellcheck shell=bash disable=SC2034,SC2154

: "${AGENTS_DIR:=/var/tmp/fence-npm-$(id -u)/table}"
export AGENTS_DIR
curl='curl -sS -m 20 http://denied.test/'
task="Please <run>echo made >made.txt; $curl</run>"

# Each has a tree of its own: they would share dependencies otherwise.
install_agent() (	# install_agent NAME
	into=$AGENTS_DIR/${PACKAGE[$1]//\//-}
	mkdir -p "$into" && cd "$into" || exit
	exec 9>>lock
	flock 9
	[ ! -e done ] || exit 0
	echo '{ "private": true }' >package.json
	npm install --no-audit --no-fund "${PACKAGE[$1]}" >log 2>&1 || exit
	touch done
)

install_agents() {
	local a
	INSTALLED=
	for a; do
		if install_agent "$a"; then
			INSTALLED+=" $a"
		else
			skip "npm: $(installer_says "$a")" "$a"
		fi
	done
}

installer_says() {
	sed -n 's/^npm error Error: *//p' \
	    "$AGENTS_DIR/${PACKAGE[$1]//\//-}/log" | head -n 1 | cut -c1-100
}

# The look at a home sees what it is there for, and nothing else.
scan_notices() {
	local h=$T/scanned scan=$TESTS/agents/homescan

	mkdir -p "$h/.codex" "$h/.claude/projects" "$h/.pi/agent/extensions"
	echo 'model = "one"' >"$h/.codex/config.toml"
	mine "$h/mine"
	"$scan" "$h" >"$T/before"
	is "$("$scan" "$h" "$T/before")" "" "the scan: nothing is new at first"
	echo 'model = "two"' >"$h/.codex/config.toml"
	echo '{}' >"$h/.claude/projects/session.jsonl"
	is "$("$scan" "$h" "$T/before")" "" "the scan: nor is state"
	echo 'notify = [ "x" ]' >>"$h/.codex/config.toml"
	echo 'x' >"$h/.pi/agent/extensions/x.ts"
	echo 'exit 1' >>"$h/mine"
	mine "$h/.claude/projects/x"
	ln -s /bin/sh "$h/.claude/projects/y"
	is "$("$scan" "$h" "$T/before" | cut -d: -f1 | paste -sd' ')" \
	    ".claude/projects/x .claude/projects/y .codex/config.toml \
.pi/agent/extensions/x.ts mine" "the scan: programs, links, hooks, additions"
}

# A program of the user's own, that the agent starts.
mine() {	# mine PATH
	printf '#!/bin/sh\nexit 0\n' >"$1"
	chmod 755 "$1"
}

begin_home() {
	W=$T/$agent/work H=$T/$agent/home
	rm -rf "$T/$agent/work" "$T/$agent/home"
	mkdir -p "$W" "$H"
}

# Without a jail.
outside() {	# outside CMD…
	(cd "$W" && alone timeout -k 5 90 "$@") >"$T/outside.log" 2>&1 \
	    </dev/null
}

# The processes of a run outside end with it, daemons as well.
alone() {
	if [ "$(id -u)" -eq 0 ]; then
		unshare --pid --fork --kill-child --mount-proc "$@"
	else
		unshare --user --map-current-user --pid --fork --kill-child \
		    --mount-proc "$@"
	fi
}

make_lived() {
	kind=lived
	begin_home
	(
		agent_env
		"${agent}_lived"
		"${agent}_once"
		if [ "$(type -t "${agent}_tui")" = function ]; then
			"${agent}_tui"
			drive_program alone "${tui[@]}" &&
			    rm "$W/made.txt" &&
			    drive_program alone "${tui[@]}"
			# Some ask the same at each start, outside as well.
			echo "$questions" >"$T/$agent/asks"
		else
			outside "${once[@]}"
			cp "$T/outside.log" "$T/$agent/screen"
			why="its task is not done outside of a jail"
		fi
		[ -e "$W/made.txt" ] && exit
		out=$(cat "$T/$agent/screen")
		say_row outside lived on "$why"
		exit 1
	) || return
	rm -f "$W/made.txt"
	rm -rf "$T/$agent/lived"
	cp -a "$T/$agent/home" "$T/$agent/lived"
}

agent_env() {
	PATH=$PATH:$AGENTS_DIR/${PACKAGE[$agent]//\//-}/node_modules/.bin
	# With CI set, some take no terminal for one.
	unset CI XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME XDG_CACHE_HOME
	export HOME=$H TERM=xterm-256color COLORTERM=truecolor
	"${agent}_env"
	[ "$kind" != fresh ] || "${agent}_fresh"
}

row() {	# row WAY HOME VARS
	[[ "$agent $1 $2 $3 $who" =~ ${FENCE_ROWS:-} ]] || return 0
	rm -rf "$T/$agent/before"
	kind=$2
	begin_home
	if [ "$2" = lived ]; then
		rmdir "$H"
		cp -a "$T/$agent/lived" "$H"
	fi
	(
		agent_env
		write_policy "$3"
		"$TESTS/agents/homescan" "$H" >"$T/$agent/before"
		bad=()
		asked_before=$(model_count) begun=$SECONDS
		: >"$T/$agent/trace"
		"run_$1"
		look_after "$2"
		say_row "$1" "$2" "$3" "$(join_words "${bad[@]}")"
	)
}

write_policy() {	# write_policy VARS
	P=$T/$agent/policy.json trace=$T/$agent/trace
	cat >"$P" <<-EOF
	{ "extends": "code",
	  "network": { "allowedDomains": [ "model.test" ],
	    "proxyVariables": "$1" } }
	EOF
	jail=("$FENCE_RUN" -s "$P" --trace-file "$trace" --)
}

run_once() {
	"${agent}_once"
	capture "$who" timeout -k 5 100 "${jail[@]}" "${once[@]}" </dev/null
	[ "$status" = 0 ] || bad+=("ends with $status")
	[[ $out == *"The task is done"* ]] || bad+=("no last word")
	[ "$(cat "$W/made.txt" 2>&1)" = made ] || bad+=("nothing written")
}

run_tui() {
	"${agent}_tui"
	drive_program "${jail[@]}" "${tui[@]}" || bad+=("$why")
	out=$(cat "$T/$agent/screen") err=
	usual=$(cat "$T/$agent/asks")
	if [ "$kind" = lived ] && [ "$questions" -gt "$usual" ]; then
		bad+=("asks $questions first-run questions again")
	fi
	# What it was told at the first start, it remembers.
	if [ "${#bad[@]}" = 0 ] && [ "$kind" = fresh ]; then
		rm -f "$W/made.txt"
		drive_program "${jail[@]}" "${tui[@]}" ||
		    bad+=("second start: $why")
		[ "$questions" -le "$usual" ] ||
		    bad+=("second start: asks $questions questions again")
	fi
}

look_after() {	# look_after HOME
	local found
	found=$("$TESTS/agents/homescan" "$H" "$T/$agent/before")
	[ -z "$found" ] || bad+=("left: $(head -n 4 <<<"$found" | cut -c1-80 |
	    paste -sd' ') ($(wc -l <<<"$found"))")
	[ "$1" = lived ] || return 0
	has_login || bad+=("its login is lost")
	tail -n "+$((${asked_before:-0} + 1))" "$FENCE_WORLD/model.log.keys" |
	    grep -qF "$KEY" || bad+=("its login was not used")
}

# Some write other members of that file at each start.
has_login() {
	[ -z "${LOGIN[$agent]}" ] || grep -qF "$KEY" "$H/${LOGIN[$agent]}"
}

model_count() {
	wc -l 2>/dev/null <"$FENCE_WORLD/model.log" || echo 0
}

join_words() {
	local IFS=';'
	printf '%s' "$*"
}

say_row() {	# say_row WAY HOME VARS WHY
	printf '%s|%s|%s|%s|%s|%s\n' "$agent" "$1" "$2" "$3" "$who" "$4" \
	    >>"$ROWS"
	[ -z "$4" ]
	ok $? "$who: $agent: $1, $2 home, proxy variables $3" && {
		note "$((SECONDS - ${begun:-0})) s"
		return
	}
	note "$4"
	note "$(tail -n 15 <<<"${out-}")"
	note "$(tail -n 8 <<<"${err-}")"
	note "$(denials "${trace:-/dev/null}" "" "" message 2>/dev/null |
	    sed 's/^\(\[[^]]*\]\) *[0-9:]* /\1 /; s/  *| rule/ | rule/' |
	    sort | uniq -c | cut -c1-230 | head -n 25)"
	return 0
}

print_table() {
	local line a w h v u why
	note "$(printf '%-9s %-7s %-6s %-4s %-5s %s\n' agent way home vars \
	    user result)"
	while IFS='|' read -r a w h v u why; do
		note "$(printf '%-9s %-7s %-6s %-4s %-5s %s\n' "$a" "$w" "$h" \
		    "$v" "$u" "${why:-pass}")"
	done <"$ROWS"
}

# ---- a terminal program, typed at ----

tm() {
	tmux -f /dev/null -S "$T/$agent/tmux" "$@" 2>/dev/null
}

# drive_program CMD…: starts it in a terminal, answers what it asks, types the
# task, waits for the answer, leaves.  $questions: how many it asked; $why.
drive_program() {
	local rv=0 words

	questions=0 why=
	printf -v words '%q ' "$@"
	if [ "$(type -t "$1")" = function ]; then
		words="$(declare -f "$1"); $words"
	fi
	printf '%s\n' "$words" >"$T/$agent/program"
	(cd "$W" && tm new-session -d -s t -x 110 -y 40 \
	    "exec $BASH $T/$agent/program" \; set remain-on-exit on)
	drive || rv=1
	screen | sed '/^ *$/d' >"$T/$agent/screen"
	leave || { rv=1; why="${why:+$why; }does not end"; }
	tm kill-server
	return "$rv"
}

is_over() {
	[ "$(tm display-message -p -t t '#{pane_dead}')" != 0 ]
}

pause() {
	read -rt 0.2 <> <(:) || :
}

# What the screen asks, as the keys that answer; fails where it asks nothing.
keys_for() {	# keys_for TEXT
	local regex keys
	while IFS= read -r line; do
		regex=${line%|*} keys=${line##*|}
		if [ -n "$regex" ] && grep -Eq "$regex" <<<"$1"; then
			echo "$keys"
			return 0
		fi
	done <<<"${DIALOGS[$agent]}"
	return 1
}

drive() {
	local end=$((SECONDS + 150)) now last='' keys typed='' again=0

	while [ "$SECONDS" -lt "$end" ]; do
		now=$(screen)
		if [ -e "$W/made.txt" ] && [[ $now == *"The task is done"* ]]
		then
			return 0
		elif is_over; then
			why="ends at once"
			return 1
		elif [ -n "$typed" ]; then
			# A line that came too fast counts as pasted.
			if [ "$SECONDS" -ge "$again" ] &&
			    [ ! -e "$W/made.txt" ]; then
				press Enter
				again=$((SECONDS + 3))
			fi
		elif keys=$(keys_for "$now"); then
			# A key that came before it listened is lost.
			if [ "$now" != "$last" ] ||
			    [ "$SECONDS" -ge "$again" ]; then
				[ "$now" = "$last" ] ||
				    questions=$((questions + 1))
				last=$now again=$((SECONDS + 4))
				# shellcheck disable=SC2086 # keys
				press $keys
			fi
		elif grep -Eq "${READY[$agent]}" <<<"$now"; then
			tm send-keys -t t -l "${task%; curl*}</run>"
			wait_for 10 on_screen 'made.txt' && typed=1
			again=$((SECONDS + 1))
		fi
		pause
	done
	why="the task is not done in time"
	return 1
}

on_screen() {
	screen | grep -qF -e "$1"
}

# Two keys at once are one to some, two that are a second apart no pair to
# others.
leave() {
	local end=$((SECONDS + 40))

	until is_over; do
		[ "$SECONDS" -lt "$end" ] || return 1
		press "${LEAVE[$agent]}"
		pause
		pause
	done
}
