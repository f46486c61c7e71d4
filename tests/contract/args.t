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
	many=$(seq 5000)
	# shellcheck disable=SC2086 # a list of words
	fence "$who" -- sh -c 'echo $#' sh $many
	is "$out" 5000 "$who: five thousand arguments"
	fence "$who" -- pwd
	is "$out" "$W" "$who: the working directory"
done
finish
