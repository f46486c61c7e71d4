#!/usr/bin/env bash
# Executions by the thousand: races, signals, many at one time, Java, Go.
# tags: long serial
# limit: 900
. "$(dirname "$0")/../lib.sh"

cat >"$T/p.json" <<'POLICY'
{ "filesystem": { "allowWrite": ["."] },
  "command": { "deny": ["id", "execrace say forbidden", "forbidden"] } }
POLICY
# By a file, into which nobody looks before the run.
run() {		# run COMMAND…
	printf 'exec %s\n' "$(printf '%q ' "$@")" >"$W/command"
	fence "$who" -s "$T/p.json" -- bash ./command
}
for who in $WHOS; do
	W=$(workspace "$who")
	for name in permitted forbidden permittee; do
		cp "$PROBES/execrace" "$W/$name"
	done
	for way in spawn vfork thread shared written path; do
		n=1000
		[ "$way" != spawn ] || n=5000
		run "$PROBES/execrace" "$way" $n
		like "$out" 'permitted [0-9]+ forbidden 0 refused [0-9]+ killed [0-9]+ other 0' \
		    "$who: $way: nothing forbidden runs, of $n"
		note "$out"
		run "$PROBES/execrace" "$way" $n twin
		is "$out" "permitted $n forbidden 0 refused 0 killed 0 other 0" \
		    "$who: $way: and everything else does"
	done
	for way in '' restart; do
		# shellcheck disable=SC2086
		run "$PROBES/execstorm" 2000 $way
		is "$out" 'bad 0' "$who: signals ${way:-without SA_RESTART}"
	done
	run bash -c 'for i in {1..1000}; do /bin/sleep 1 & p+=" $!"; done
	    n=0; for i in $p; do wait $i && n=$((n+1)); done; echo $n'
	is "$out" 1000 "$who: a thousand at one time"
	if command -v javac >/dev/null; then
		cat >"$W/J.java" <<'JAVA'
public class J {
	public static void main(String[] a) throws Exception {
		int bad = 0;
		for (int i = 0; i < 50; i++) {
			Process p = new ProcessBuilder("/bin/echo", "j").start();
			String s = new String(p.getInputStream().readAllBytes());
			if (p.waitFor() != 0 || !s.equals("j\n"))
				bad++;
		}
		try {
			new ProcessBuilder("id").start().waitFor();
			bad++;
		} catch (java.io.IOException e) {
			System.out.println("bad " + bad);
		}
	}
}
JAVA
		javac -d "$W" "$W/J.java"
		run java -cp . J
		is "$out" 'bad 0' "$who: Java: ProcessBuilder"
	fi
	command -v go >/dev/null || continue
	cat >"$W/x.go" <<'GO'
package main

import (
	"fmt"
	"os/exec"
	"sync"
	"sync/atomic"
)

func main() {
	var bad int32
	var wg sync.WaitGroup
	for g := 0; g < 8; g++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < 100; i++ {
				out, err := exec.Command("/bin/echo", "hi").Output()
				if err != nil || string(out) != "hi\n" ||
					exec.Command("id").Run() == nil {
					atomic.AddInt32(&bad, 1)
				}
				for x := 0; x < 200000; x++ {
				}
			}
		}()
	}
	wg.Wait()
	fmt.Println("bad", bad)
}
GO
	(cd "$W" && HOME=$T GOFLAGS=-mod=mod GOTOOLCHAIN=local CGO_ENABLED=0 \
	    go build -o x x.go) && chmod 755 "$W/x"
	run ./x
	is "$out" 'bad 0' "$who: Go: os/exec, with its SIGURG"
done
finish
