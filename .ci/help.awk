# Prints the Makefile's targets with their `##` texts, and its parameters: the
# variables that are set with ?=, with the comment above them.
/^# /             { comment = substr($0, 3); next }
/^[A-Z]+ \?= ?/   { parameters = parameters sprintf("  %-10s%s\n", $1, comment) }
/^[a-z]+:.*## /   { text = $0; sub(/.*## /, "", text); name = $0; sub(/:.*/, "", name)
                    targets = targets sprintf("  %-10s%s\n", name, text) }
                  { comment = "" }
END {
	print "Usage: make TARGET [NAME=value]\n\nTargets:\n" targets
	print "Parameters:\n" parameters
	print "Start here: make run ROOT=/usr/share"
}
