#!/usr/bin/env bash
# fence-net's serving half is killed in the middle of a hundred transfers:
# they are lost, the run is not, it is told, and the next connection works.
. "$(dirname "$0")/../lib.sh"

each_world "$@"
cat >"$T/p.json" <<'POLICY'
{
	"network": { "allowedDomains": ["allowed.test"] },
	"filesystem": { "allowWrite": ["."] }
}
POLICY
cat >"$W/client.py" <<'PYTHON'
import asyncio
async def transfer(up):
    r, w = await asyncio.open_connection('allowed.test', 7)
    try:
        for n in range(1 << 30):
            w.write(b'x' * 1000)
            await r.readexactly(1000)
            if n == 0:
                up.append(1)
    except (OSError, asyncio.IncompleteReadError):
        return
async def main():
    up = []
    tasks = [asyncio.create_task(transfer(up)) for _ in range(100)]
    while len(up) < 100:
        await asyncio.sleep(0.01)
    open('up', 'w').close()
    got = await asyncio.wait_for(asyncio.gather(*tasks), 60)
    print(len(got), 'over')
asyncio.run(main())
PYTHON

server() {	# prints the pid of the serving half
	local p
	for p in $(cat "/proc/$pid/task/$pid/children"); do
		[ "$(cat "/proc/$p/comm")" != fence-net ] ||
		    tr -d ' ' <"/proc/$p/task/$p/children"
	done
}
is_new() {	# is_new PID: another one serves by now
	local now
	now=$(server)
	[ -n "$now" ] && [ "$now" != "$1" ]
}

start "$who" "$FENCE_RUN" -m --settings "$T/p.json" -- sh -c '
	/usr/bin/python3 client.py
	curl -sS http://allowed.test/ https://allowed.test/
	curl -sS --noproxy "*" http://allowed.test/
	curl -sS -o /dev/null -w "%{http_code}\n" http://denied.test/
	touch next
	until [ -e again ]; do sleep 0.05; done
	curl -sS -m 10 https://allowed.test/
	exit 7' >"$T/out" 2>"$T/err"
wait_for 60 test -e "$W/up"
ok $? "$who: a hundred transfers"
first=$(server)
like "$first" '^[0-9]+$' "$who: one process serves them"
sets='^Cap(Inh|Prm|Eff|Amb)'
is "$(grep -E "$sets" "/proc/$first/status" | cut -f2 | tr -d '0\n')" "" \
    "$who: it has no capability"
is "$(grep -E '^(NoNewPrivs|Seccomp):' "/proc/$first/status" | cut -f2 |
    tr -d '\n')" 12 "$who: nor other rights"
kill -KILL "$first"
wait_for 60 test -e "$W/next"
ok $? "$who: the run goes on"
is_new "$first"
ok $? "$who: another one serves"
# Once more, while nothing is open.
kill -KILL "$(server)"
touch "$W/again"
wait "$pid"
is $? 7 "$who: the command's own status"
is "$(cat "$T/out")" "100 over
http allowed.test
https allowed.test
http allowed.test
403
https allowed.test" "$who: all transfers end, and the next connections work"
err=$(cat "$T/err")
like "$err" 'fence-net ended \(signal 9\) and was started again: open connections are lost' \
    "$who: it is told"
is "$(grep -c 'fence-net ended' <<<"$err")" 2 "$who: each time"
unlike "$err" 'network is closed' "$who: and not as the end"

# A server that cannot live is given up, and that is told, too.
start "$who" "$FENCE_RUN" --settings "$T/p.json" -- sh -c '
	touch ready
	until [ -e enough ]; do
		curl -s -m 0.1 --noproxy "*" http://allowed.test/ >/dev/null
	done
	curl -sS -m 10 --noproxy "*" http://allowed.test/
	exit 0' >"$T/out" 2>"$T/err"
wait_for 20 test -e "$W/ready"
last=
for _ in $(seq 17); do
	wait_for 20 is_new "$last" || break
	last=$(server)
	kill -KILL "$last"
done
wait_for 20 grep -q 'network is closed' "$T/err"
ok $? "$who: seventeen quick deaths are the end of the network"
touch "$W/enough"
wait "$pid"
is $? 0 "$who: not of the run"
unlike "$(cat "$T/out")" 'http allowed.test' "$who: nothing is reached"
exit 0
