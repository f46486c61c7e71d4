#!/usr/bin/env bash
# Completion scripts: the shells take them, and they offer what there is.
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}
LIB_WHO=user
W=$(workspace user)

offers() {	# offers WORD… : what bash would complete the last word to
	# shellcheck disable=SC2016 # for the inner shell
	bash -c 'source "$1" || exit; shift
		COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
		_fence; printf "%s\n" "${COMPREPLY[@]}" | sort | xargs' \
	    bash "$T/bash" "$@"
}

for sh in bash zsh fish; do
	capture "$LIB_WHO" "$FENCE" completion "$sh"
	is "$status" 0 "$sh: exit 0"
	printf '%s\n' "$out" >"$T/$sh"
	cmp "$T/$sh" "$TESTS/golden/completion.$sh"
	ok $? "$sh: as in golden/completion.$sh"
	like "$out" 'default-deny' "$sh: knows the templates"
	like "$out" 'ignore-unknown-keys' "$sh: knows the options"
	unlike "$out" 'weaker' "$sh: not those to come"
	if command -v "$sh" >/dev/null; then
		"$sh" -n "$T/$sh"
		ok $? "$sh: takes the script"
	else
		skip "$sh is not installed" "$sh: takes the script"
	fi
done
capture "$LIB_WHO" "$FENCE" help
printf '%s\n' "$out" >"$T/help"
cmp "$T/help" "$TESTS/golden/help"
ok $? 'fence help as in golden/help'
is "$(offers fence co)" 'completion config' 'sub-commands'
is "$(offers fence config tr)" trust 'their sub-commands'
is "$(offers fence config show --or)" --origins 'their options'
is "$(offers fence-run --deny)" --deny-read 'options of fence-run'
is "$(offers fence-run -t code-)" 'code-relaxed code-strict' 'templates'
is "$(offers fence template show str)" strict 'templates by word'
is "$(offers fence why con)" connect 'questions'
is "$(offers fence config show conf)" '' 'nothing where nothing fits'
capture "$LIB_WHO" "$FENCE" completion tcsh
is "$status" 2 'another shell is exit 2'
like "$err" 'hint: bash, zsh or fish' 'and says which there are'
finish
