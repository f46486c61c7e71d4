#!/usr/bin/env bash
# fence-names conquered: behind its walls runs hostile code, which has what it
# needs for looking up names and nothing else; what it says of a name leads
# nowhere that the policy does not allow.
. "$(dirname "$0")/../lib.sh"
each_world "$@"
mkdir "$T/bare"
mkdir -p "$T/prefix/libexec"
cp -R "$FENCE_PREFIX/bin" "$T/prefix/bin"
cp -R "$FENCE_PREFIX/libexec/fence" "$T/prefix/libexec/fence"
cp -f "$PROBES/fence-names-hostile" "$T/prefix/libexec/fence/fence-names"
cat >"$T/p.json" <<'POLICY'
{
	"network": { "allowedDomains": ["*.wild.test"] },
	"filesystem": { "allowWrite": ["."] }
}
POLICY
# "FLAGS NAME ANSWER" a row; 2 is what fence-names needs.
mapfile -t rows < <(cd "$T/bare" && "$PROBES/hostile")
urls=()
for i in "${!rows[@]}"; do
	urls+=("http://t$i.wild.test/")
done
capture "$who" "$T/prefix/bin/fence-run" --settings "$T/p.json" -- \
    curl -sS -m 60 "${urls[@]}"
mapfile -t answers <<<"$out"
is "${#answers[@]}" "${#rows[@]}" "$who: every row was answered"
for i in "${!rows[@]}"; do
	read -r flags name bare <<<"${rows[$i]}"
	want="http allowed.test"
	[ "$flags" != 2 ] || want="http denied.test"
	[ "${answers[$i]}" = "$want" ] ||
	    is "${answers[$i]}" "$want" "$who: $name ($bare without a wall)"
done
is "$(grep -c allowed <<<"$out")" \
    "$(printf '%s\n' "${rows[@]}" | grep -vc '^2 ')" \
    "$who: all but what it needs is refused"

capture "$who" "$T/prefix/bin/fence-run" --settings "$T/p.json" -- \
    curl -sS -m 60 -o /dev/null -w '%{http_code} ' \
    -o /dev/null http://a7f000001.wild.test/ \
    -o /dev/null http://a0a010203.wild.test/ \
    -o /dev/null http://aa9fea9fe.wild.test/ \
    -o /dev/null http://acb007102.wild.test/ \
    -o /dev/null http://a00000000000000000000000000000001.wild.test/ \
    -o /dev/null http://ac633640a.wild.test/ \
    -o /dev/null http://forge.wild.test/ \
    -o /dev/null http://ac6336414.wild.test/
is "$out" "403 403 403 403 403 200 200 200 " \
    "$who: an address it makes up is judged as any other"
exit 0
