# swapper.sh: what swapper.t and swapper-long.t share: starts beside a process
# that exchanges a folder of the workspace with a symlink that leads out of it.
# shellcheck shell=bash disable=SC2154

# Through each way that a mount may have been led, again and again: writes,
# and reads what the policy hides.
# shellcheck disable=SC2016 # the inner shell expands
through='
for n in 1 2 3 4; do
	for d in p/.ssh q/.ssh p/.ssh/.git q/.ssh/.git ../.ssh "$HOME/.ssh"; do
		echo x >"$d/hit"
		read -r key <"$d/key" && echo "$key"
	done
done 2>/dev/null
echo x >mark'

# Everything of the home but the workspace and what fence itself keeps there.
home_picture() {	# home_picture HOME
	find "$1" \( -path "$1/proj" -o -path "$1/.local" \) -prune -o \
	    -type d -printf '%p %m %T@\n' -o -printf '%p %m %T@ %s\n' |
	    grep "^$1/" | sort
}

make_scene() {	# make_scene WHO: $home and $W
	home=$(workspace "$1")
	W=$home/proj
	as "$1" mkdir -p "$home/.ssh" "$home/.local" "$W"
	as "$1" sh -c "echo the-secret >'$home/.ssh/key'"
}

# One start, of the N-th kind: both engines, on the host's root and apart.
start_nth() {	# start_nth WHO N
	local engine=native args=()

	[ $(($2 % 2)) = 0 ] || engine=bwrap
	[ $(($2 % 4)) -lt 2 ] || args=(-s "$T/closed.json")
	capture "$1" env -u XDG_STATE_HOME -u XDG_CONFIG_HOME \
	    -u XDG_CACHE_HOME HOME="$home" "$FENCE_RUN" --engine $engine \
	    "${args[@]}" -- sh -c "$through"
}

starts_beside() {	# starts_beside WHO N
	local who=$1 n told=0 other=0 seen=0 made=0 before swaps

	echo '{"filesystem":{"defaultDenyRead":true,"allowWrite":["."]}}' \
	    >"$T/closed.json"
	chmod 644 "$T/closed.json"
	make_scene "$who"
	before=$(home_picture "$home")
	start "$who" "$PROBES/swapper" "$W" >"$T/swapping.$who"
	wait_for 10 grep -q swapping "$T/swapping.$who"
	ok $? "$who: names are being exchanged"
	for n in $(seq "$2"); do
		start_nth "$who" "$n"
		if [ "$status" = 125 ] && [[ $err == *"something else lies at"* ]]
		then
			told=$((told + 1))
		elif [ "$status" != 0 ]; then
			other=$((other + 1))
			note "start $n: $status: $err"
		elif [ -e "$W/mark" ]; then
			made=$((made + 1))
		fi
		[[ $out != *the-secret* ]] || seen=$((seen + 1))
		rm -f "$W/mark"
	done
	kill "$pid"
	wait "$pid" 2>/dev/null
	note "$who: $made of $2 started, $told were told why not"
	is "$(home_picture "$home")" "$before" \
	    "$who: $2 starts beside it, and nothing was written outside"
	is "$seen" 0 "$who: nor was what is hidden read"
	is "$other" 0 "$who: no start failed for another reason"
	is "$((made + told))" "$2" "$who: and each was one or the other"
	[ $((told * 100)) -lt "$2" ]
	ok $? "$who: fewer than one in a hundred failed ($told)"
	swaps=$(tail -n 1 "$T/swapping.$who")
	[ "$swaps" -gt $(($2 * 10)) ]
	ok $? "$who: it was at work all the time ($swaps exchanges)"
}
