#!/usr/bin/env bash
# The simple commands of shell text, against what shells make of it: scripts
# of this machine in the normal form of bash, and random lines that run.
. "$(dirname "$0")/../lib.sh"

SPLIT=$PROBES/shsplit
shopt -s nullglob
files=(/var/lib/dpkg/info/*.{preinst,postinst,prerm,postrm}
	/etc/init.d/* /usr/lib/git-core/git-*.sh /usr/lib/git-core/git-sh-*
	/usr/share/bash-completion/completions/* "$TESTS"/contract/*.t
	"$TESTS"/../configure /usr/share/nodejs/{*,*/node_modules/*}/package.json
	/usr/{lib,local/lib}/node_modules/{*,*/node_modules/*}/package.json)
readable=()
for f in "${files[@]}"; do
	[ -f "$f" ] && [ -r "$f" ] && readable+=("$f")
done

for how in accept normal; do
	"$TESTS/shell-lines" "$how" "$SPLIT" "${readable[@]}"
	ok $? "$how: scripts of this machine"
done
for seed in 4 13; do
	TMPDIR=$T "$TESTS/shell-lines" run "$SPLIT" "$seed" 300
	ok $? "run: bash and dash run nothing that is not in the list"
done
finish
