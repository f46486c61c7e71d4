#!/usr/bin/env bash
# The arguments arrive as they were given, and no shell looks at them.
. "$(dirname "$0")/../lib.sh"

show='printf "%s\n" $#; for a; do printf "<%s>\n" "$a"; done'
# shellcheck disable=SC1003 # a lone backslash is what is meant
odd=('a b' '' '$HOME' '`id`' ';' '*' '{"a": [1, 2]}' $'two\nlines' '--' -m
    "it's" '"' '\' $'\xff\x01')

for who in $WHOS; do
	W=$(workspace "$who")
	want=$(sh -c "$show" sh "${odd[@]}")
	fence "$who" -- sh -c "$show" sh "${odd[@]}"
	is "$out" "$want" "$who: odd arguments"
	fence "$who" sh -c "$show" sh "${odd[@]}"
	is "$out" "$want" "$who: without --"
	fence "$who" echo --settings x --dry-run --
	is "$out" '--settings x --dry-run --' \
	    "$who: options after the command are the command's"
	fence "$who" -- 'echo hi'
	is "$status" 127 "$who: one word with a blank is one program"
	fence "$who" -- sh -c 'echo "$0"'
	is "$out" sh "$who: argv[0]"
	# A script sees the path by which it was found.
	for s in '#!/bin/sh' ''; do
		printf '%s\necho "$0"\n' "$s" | as "$who" tee "$W/script" >/dev/null
		as "$who" chmod 755 "$W/script"
		for way in ./script ../"${W##*/}"/script "$W/script"; do
			fence "$who" -- "$way"
			is "$out" "$way" "$who: \$0 of $way ($s)"
		done
		for path in . "$W" ''; do
			capture "$who" env PATH="$path:$PATH" "$FENCE_RUN" \
			    --chdir . -- script
			is "$out" "${path:-.}/script" "$who: \$0 by PATH=$path ($s)"
		done
	done
	as "$who" rm "$W/script"
	many=$(seq 5000)
	# shellcheck disable=SC2086 # a list of words
	fence "$who" -- sh -c 'echo $#' sh $many
	is "$out" 5000 "$who: five thousand arguments"
	fence "$who" -- pwd
	is "$out" "$W" "$who: the working directory"
done
finish
