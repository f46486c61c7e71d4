# As refused.c: makes the calls of a plan on stdin by a shell and its tools.
# The process is the tool: its number is not known beforehand ("-").
while read -r id kind a b; do
	rv=0
	case $kind in
	open_write|open_trunc)	(: >"$a") ;;
	open_append)	(: >>"$a") ;;
	open_make)	tee "$a" </dev/null ;;
	truncate)	truncate -s 1 "$a" ;;
	unlink)		rm "$a" ;;
	unlinkat)	unlink "$a" ;;
	rmdir)		rmdir "$a" ;;
	mkdir)		mkdir "$a" ;;
	mkfifo)		mkfifo "$a" ;;
	symlink)	ln -s to "$a" ;;
	link)		ln "$a" "$b" ;;
	rename)		mv "$a" "$b" ;;
	chmod)		chmod 644 "$a" ;;
	chown)		chown "$(id -u)" "$a" ;;
	utimes)		touch "$a" ;;
	mkstemp)	mktemp "$a.XXXXXX" ;;
	open_read)	cat "$a" ;;
	stat)		stat "$a" ;;
	opendir)	ls "$a" ;;
	chdir)		(cd "$a") ;;
	exec)		("$a") ;;
	*)		echo "$id - skip" >&3; continue ;;
	esac >/dev/null 2>&1 || rv=-1
	echo "$id - $rv" >&3
done
