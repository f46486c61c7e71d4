# embed.awk: built-in policies as rows of C: { "name", "text" },
# usage: awk -f embed.awk templates/NAME.jsonc ... > builtin.inc

FNR == 1 {
	if (NR > 1)
		print "\t},"
	name = FILENAME
	sub(/^.*\//, "", name)
	sub(/\.jsonc$/, "", name)
	print "\t{ \"" name "\","
}

{
	gsub(/\\/, "\\\\")
	gsub(/"/, "\\\"")
	print "\t\"" $0 "\\n\""
}

END {
	print "\t},"
}
