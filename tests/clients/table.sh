# table.sh: clients of all kinds.  c_NAME HOST calls HOST as its users do,
# says nothing of proxies, and succeeds only if HOST answered; the answer
# names the host.  Bash; what they need beside programs is in $CLIENTS.
# shellcheck shell=bash disable=SC2317

# The suite's: nothing here is larger than what builds and tests need anyway.
few=(curl curl_tls wget git_http node_fetch node_net python_urllib
    python_asyncio perl go_http go_dial busybox_wget busybox_nc nc openssl
    bash raw)
# --long: these, too.
many=(wget2 git_ssh node_http bun bun_ws deno deno_ws
    python_http python_tls ruby php java musl psql mysql redis ssh rsync
    rsync_ssh h2 h2_node sse)

# The process that a record of its refusal names, if not the client's name up
# to the first underscore.
declare -A process=([curl_tls]=curl [git_http]=git-remote-http
    [git_ssh]=ssh [go_http]=goclient [go_dial]=goclient
    [python_urllib]=python3 [python_asyncio]=python3 [python_http]=python3
    [python_tls]=python3 [raw]=rawclient [redis]=redis-cli
    [rsync_ssh]=ssh [h2]=curl [h2_node]=node [sse]=curl [mysql]=mariadb
    [musl]=musl-client)

named() {	# named HOST: what came in, if it names HOST
	local text
	text=$(cat)
	printf '%s\n' "$text"
	[[ $text == *"$1"* ]]
}

c_curl() { curl -fsS "http://$1/"; }
c_curl_tls() { curl -fsS "https://$1/"; }
c_h2() {
	curl -fsS --http2 -w '%{http_version}\n' "https://$1:8443/" |
	    named "h2.0 $1:8443
2"
}
c_sse() { curl -fsSN "http://$1/events" | named "data: 2 $1"; }
c_wget() { wget -nv -O - "http://$1/"; }
# 1.99 asks twenty times for a name that does not exist, in a jail or not, and
# calls an answer of 403 a success.
c_wget2() { wget2 -q --tries=1 -O - "http://$1/" | named "http $1"; }
c_git_http() {
	local into
	into=$(mktemp -d ./clone.XXXXXX)
	git clone -q "http://$1/repo.git" "$into" && cat "$into/file" &&
	    echo "$1"
}
ssh_options() {
	install -m 600 "$FENCE_WORLD_CA/ssh_login" login
	echo -F none -i login -o StrictHostKeyChecking=no \
	    -o UserKnownHostsFile=/dev/null -o BatchMode=yes \
	    -o LogLevel=ERROR
}
# shellcheck disable=SC2046 # words
c_ssh() { ssh $(ssh_options) "$FENCE_WORLD_LOGIN@$1" echo "hello $1"; }
c_git_ssh() {
	local into
	into=$(mktemp -d ./clone.XXXXXX)
	GIT_SSH_COMMAND="ssh $(ssh_options)" git clone -q \
	    "ssh://$FENCE_WORLD_LOGIN@$1$FENCE_WORLD_CA/repo.git" "$into" &&
	    cat "$into/file" && echo "$1"
}
c_rsync() { rsync "rsync://$1/files/HEAD" head && echo "$1"; }
c_rsync_ssh() {
	rsync -e "ssh $(ssh_options)" \
	    "$FENCE_WORLD_LOGIN@$1:$FENCE_WORLD_CA/repo.git/HEAD" head &&
	    echo "$1"
}
c_node_fetch() {
	node -e 'fetch(process.argv[1]).then(r => { if (!r.ok) throw r.status;
	    return r.text() }).then(console.log).catch(e => {
	    console.error(e); process.exit(1) })' "http://$1/"
}
c_node_http() { node "$CLIENTS/http.js" "http://$1/"; }
c_node_net() { node "$CLIENTS/net.js" "$1" 7; }
c_h2_node() { node "$CLIENTS/h2.js" "https://$1:8443" "$FENCE_WORLD_CA"; }
c_bun() {
	bun -e 'const r = await fetch(process.argv[1]);
	    if (!r.ok) throw r.status; console.log(await r.text())' "http://$1/"
}
c_bun_ws() { bun "$CLIENTS/ws.js" "$1"; }
c_deno() {
	deno eval 'const r = await fetch(Deno.args[0]);
	    if (!r.ok) throw r.status; console.log(await r.text())' "http://$1/"
}
c_deno_ws() { deno run -A "$CLIENTS/ws.js" "$1"; }
c_python_urllib() {
	/usr/bin/python3 -c 'import sys, urllib.request as u
print(u.urlopen(sys.argv[1]).read().decode())' "http://$1/"
}
c_python_tls() {
	/usr/bin/python3 -c 'import sys, urllib.request as u
print(u.urlopen(sys.argv[1]).read().decode())' "https://$1/"
}
c_python_http() {
	/usr/bin/python3 -c 'import sys, http.client
c = http.client.HTTPConnection(sys.argv[1])
c.request("GET", "/")
print(c.getresponse().read().decode())' "$1"
}
c_python_asyncio() {
	/usr/bin/python3 -c 'import sys, asyncio
async def main():
    r, w = await asyncio.open_connection(sys.argv[1], 7)
    w.write(f"hello {sys.argv[1]}\n".encode())
    print((await r.readline()).decode())
asyncio.run(main())' "$1"
}
c_perl() {
	perl -MHTTP::Tiny -e '$r = HTTP::Tiny->new->get($ARGV[0]);
	    die "$r->{status} $r->{content}" unless $r->{success};
	    print $r->{content}' "http://$1/"
}
c_ruby() {
	ruby -rnet/http -e 'r = Net::HTTP.get_response(URI(ARGV[0]));
	    abort(r.code) unless r.code == "200"; puts r.body' "http://$1/"
}
c_php() {
	php -r '$t = file_get_contents($argv[1]);
	    if ($t === false) exit(1); echo $t;' "http://$1/"
}
c_java() { java -XX:TieredStopAtLevel=1 -cp . Client "http://$1/"; }
c_go_http() { "$PROBES/goclient" -env "http://$1/" && echo "$1"; }
c_go_dial() { "$PROBES/goclient" -dial "$1:7"; }
c_busybox_wget() { busybox wget -q -O - "http://$1/"; }
c_busybox_nc() {
	printf 'GET / HTTP/1.0\r\n\r\n' | busybox nc "$1" 80 | named "http $1"
}
c_nc() { echo "hello $1" | nc -N "$1" 7 | named "hello $1"; }
c_openssl() {
	printf 'GET / HTTP/1.0\r\n\r\n' | openssl s_client -quiet \
	    -verify_return_error -servername "$1" -connect "$1:443" |
	    named "https $1"
}
c_bash() {
	exec 3<>"/dev/tcp/$1/7" || return
	echo "hello $1" >&3
	read -r line <&3 && echo "$line"
}
c_raw() {
	"$PROBES/rawclient" "$1" 80 \
	    "$(awk '/^nameserver/ { print $2; exit }' /etc/resolv.conf)" &&
	    echo "$1"
}
c_musl() { ./musl-client "$1" 80; }
c_psql() { psql -At -h "$1" -U "$USER" -d any -c 'select who'; }
c_mysql() { mariadb -h "$1" -u "$USER" -e 'do 1' && echo "$1"; }
c_redis() { redis-cli -h "$1" echo "hello $1" | named "hello $1"; }
