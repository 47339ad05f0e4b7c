#!/bin/sh
# An agent in POSIX sh, sed and awk, without jq: it lists old files, asks two questions at once (may they go, and
# how?), hears the answers one by one, and clears the files away.
#
# hitl-tui runs it with one JSON object on standard input and reads one from standard output. While its questions are open
# no process waits: whenever one is answered the script is run again, from the start, with every answer so far. Lines
# on standard error are shown as progress; with a failure, the last ones are its message.
#
# What it does not do: shell has no JSON. `leaves` below reads any JSON, but gives values as they are written, texts with
# their quotes and escapes. They can be compared and printed into a reply again, not used as plain text. Where an agent
# has to look into texts or lists, write it in Python (invoice_agent.py).
set -eu

# leaves prints each value of the JSON on standard input as a line: path, tab, value as written. For example
#   resume_inputs.clear.action	"approve"
leaves() {
	LC_ALL=C awk '
	{ text = text $0 " " }
	END {
		while (match(text, /^[ \t\r]*([][{}:,]|"([^"\\]|\\.)*"|[^][{}:, \t\r"]+)/)) {
			token = substr(text, 1, RLENGTH)
			text = substr(text, RLENGTH + 1)
			sub(/^[ \t\r]+/, "", token)
			if (token == "]" || token == "}") depth--
			else if (token == ",") named = 0
			else if (token == ":") named = 1
			else if (depth && !list[depth] && !named) key = substr(token, 2, length(token) - 2)
			else {
				name = !depth ? "" : path[depth] (list[depth] ? count[depth]++ : key)
				if (token == "[" || token == "{") {
					depth++
					path[depth] = name == "" ? "" : name "."
					list[depth] = token == "["
					count[depth] = named = 0
				} else print name "\t" token
			}
		}
	}'
}

request=$(leaves)
tab=$(printf '\t')

# get prints the value at a path as JSON, nothing where there is none.
get() {
	printf '%s\n' "$request" | awk -F "$tab" -v path="$1" '$1 == path { sub(/^[^\t]*\t/, ""); print; exit }'
}

say() { printf '%s\n' "$*" >&2; }

# quote prints a text as a JSON text. Control characters are left out.
quote() { printf '"%s"' "$(printf '%s' "$1" | tr -d '\000-\037\177' | sed 's/[\\"]/\\&/g')"; }

# plain keeps of the names on standard input those of letters, digits and ._- alone, and prints them as one line. Sh splits
# and expands texts: that no other name gets this far, and not trust in names, makes the loop below safe.
plain() {
	sed 's|^\./||' | LC_ALL=C sort | LC_ALL=C sed '/^[A-Za-z0-9][A-Za-z0-9._-]*$/!d' | tr '\n' ' ' | sed 's/ $//'
}

# The first run lists the files and gives them as output beside its questions. Later runs get that back as prior_output:
# what was approved is what goes, whatever has come into the folder since.
files=$(get prior_output.files | tr -d '"')
if [ -z "$files" ]; then
	say "looking for files older than $DAYS days in $FOLDER"
	found=$(cd -- "$FOLDER" && find . ! -name . -prune -type f -mtime "+$DAYS") # a failure ends the script: set -e
	files=$(printf '%s\n' "$found" | plain)
fi
if [ -z "$files" ]; then
	printf '{"output": {"cleared": 0}, "route": "nothing"}'
	exit
fi
# shellcheck disable=SC2086 # the names hold no space
set -- $files

may=$(get resume_inputs.clear.action)
how=$(get resume_inputs.how.value)

if [ "$may" = '"reject"' ]; then
	# A rejection is for the agent to hear. The other question has no sense any more: it is withdrawn if it is still open.
	closed=
	[ -n "$how" ] || closed='"how"'
	say "kept $# files"
	printf '{"output": {"cleared": 0, "reason": %s}, "route": "kept", "closed": [%s]}' \
		"$(get resume_inputs.clear.comment)" "$closed"
	exit
fi

if [ -n "$may" ] && [ -n "$how" ]; then
	# It may run twice with the same answers: when the machine fails after the files are gone and before hitl-tui has stored
	# the result. The idempotency key is the same in both runs, and so is the folder named by it, so the second run goes on
	# where the first ended: a file that is not there any more was cleared by it.
	archive=archive-$HITL_IDEMPOTENCY_KEY
	cd -- "$FOLDER"
	for file in "$@"; do
		[ -f "$file" ] || continue
		case $how in
		'"archive"')
			mkdir -p "$archive"
			mv "$file" "$archive/"
			;;
		*) rm -f "$file" ;;
		esac
		say "$file: done"
	done
	printf '{"output": {"cleared": %d, "how": %s, "approved_by": %s}, "route": "cleared"}' \
		"$#" "$how" "$(get resume_inputs.clear.by)"
	exit
fi

# ask prints the questions that are not answered yet. One that is asked again under the same key is the same question:
# whoever has it on the screen notices nothing.
ask() {
	comma=
	if [ -z "$may" ]; then
		printf '{"key": "clear", "kind": "approval", "title": %s, "message": %s, "content": %s, "content_type": "text",' \
			"$(quote "Clear $FOLDER")" "$(quote "May these $1 files go?")" "$(quote "$files" | sed 's/ /\\n/g')"
		printf ' "actions": ["approve", "reject"], "require_comment": ["reject"], "group": "operations"}'
		comma=,
	fi
	if [ -z "$how" ]; then
		printf '%s{"key": "how", "kind": "choice", "title": %s, "message": "Where do they go?", "group": "operations",' \
			"$comma" "$(quote "How to clear $FOLDER")"
		printf ' "options": [{"value": "archive", "label": "Into a folder beside them"}, {"value": "delete", "label": "Away for good"}],'
		printf ' "actions": ["choose", "stop"]}'
	fi
}
say "$# files"
printf '{"output": {"files": %s}, "interrupts": [%s]}' "$(quote "$files")" "$(ask "$#")"
