#!/usr/bin/env bash
# The shim in other people's programs: they end as they do without it, say
# nothing that they would not, and what they were refused is told once.
. "$(dirname "$0")/../lib.sh"

B=$T/bin
mkdir -p "$B" "$T/out"
chmod 755 "$B"
# Of what the host refuses as well nothing is told.
chmod 1777 "$T/out"
build() {	# build NAME CC ARGS…
	local name=$1
	shift
	"$@" -O1 -o "$B/$name" "$TESTS/hygiene/opens.c" -lpthread \
	    2>"$T/build.err" || { rm -f "$B/$name"; return 1; }
}
build plain gcc && build small gcc -DSMALL_THREAD &&
    build tls gcc -DBIG_TLS && build asan-gcc gcc -fsanitize=address &&
    build ubsan gcc -fsanitize=undefined && build setuid gcc &&
    build asan-clang clang -fsanitize=address &&
    build jemalloc-linked gcc -Wl,--no-as-needed -l:libjemalloc.so.2 &&
    build static gcc -static && build musl musl-gcc &&
    build libctor.so gcc -shared -fPIC -DCONSTRUCTOR
ok $? "the programs are built"
build m32 gcc -m32 || note "no 32-bit compiler: no 32-bit program is tried"
[ -z "$(command -v javac)" ] || javac -d "$B" "$TESTS/hygiene/Opens.java"
echo 'int x;' >"$B/x.c"
printf '%s/out/make: x.c\n\t@:\n' "$T" >"$B/mk"
chmod u+s "$B/setuid"

# Prints NAME STATUS of each; what is no file is left out.
cat >"$B/all" <<ALL
cd "$B"
try() {
	name=\$1
	shift
	"\$@" "$T/out/\$name"
	echo "\$name \$?"
}
have() {
	command -v "\$1" >/dev/null
}
for p in plain small tls asan-gcc ubsan setuid asan-clang jemalloc-linked \\
    static musl m32; do
	[ ! -e "\$p" ] || try "\$p" "./\$p"
done
for m in jemalloc.so.2 tcmalloc_minimal.so.4 mimalloc.so.2; do
	try "\$m" env LD_PRELOAD="lib\$m" ./plain
done
HYGIENE="$T/out/constructor" LD_PRELOAD=./libctor.so ./plain "$T/out/behind"
echo "constructor \$?"
try closed sh -c 'exec "\$0" "\$1" <&- >&- 2>&-' ./plain
try python python3 -c 'import sys
try: open(sys.argv[1], "w")
except OSError as e: sys.exit(e.errno)'
try node node -e 'try { require("fs").writeFileSync(process.argv[1], "x") }
catch (e) { process.exit(-e.errno) }'
[ ! -e Opens.class ] || try java java -Xshare:auto Opens
! have bun || try bun bun -e 'try {
require("fs").writeFileSync(process.argv[1], "x") } catch (e) {
process.exit(-e.errno) }'
try git git init -q
try make make -s -t -f mk
try gcc gcc -c x.c -o
try bash bash -c ': >"\$0"'
ALL

for who in $WHOS; do
	W=$(workspace "$who")
	for how in shim noshim; do
		# The listener would tell of them as well.
		pretend=nonotify
		[ "$how" = shim ] || pretend=nonotify,noshim
		capture "$who" env FENCE_PRETEND="$pretend" "$FENCE_RUN" \
		    --trace-file "$W/$how.trace" -- sh "$B/all"
		printf '%s\n' "$out" >"$T/$who.$how"
		# Without pids and addresses.
		printf '%s\n' "$err" | grep -v '^fence: ' >"$T/$who.$how.err"
	done
	is "$(diff "$T/$who.shim" "$T/$who.noshim")" "" \
	    "$who: each ends as it does without"
	is "$(diff "$T/$who.shim.err" "$T/$who.noshim.err")" "" \
	    "$who: and says what it says without"
	while read -r name status; do
		case $name in
		git)		want=128 ;;
		make)		want=2 ;;
		gcc | bash)	want=1 ;;
		*)		want=30 ;;
		esac
		is "$status" "$want" "$who: $name ends so"
		case $name in
		static | musl | m32 | bun)	want=0 ;;
		*)					want=1 ;;
		esac
		is "$(denials "$W/shim.trace" "$T/out/$name")" "$want" \
		    "$who: $name: told $want times"
	done <"$T/$who.shim"
done
finish
