#!/bin/bash
# build.sh CLCOOK WORK OUT: makes the site in the folder OUT, with WORK for what it needs on the way:
# MkDocs of cmake/site/requirements.txt in a Python environment of its own, and in WORK/made the pages
# that are no files of the repository.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
clcook=$1 work=$2 out=$3
for tool in python3 doxygen; do
  command -v $tool >/dev/null || { echo "FAILED: $tool is not installed (on Debian: apt-get install $tool)"; exit 1; }
done
mkdir -p "$work"
cmake/site/environment.sh cmake/site/requirements.txt "$work/venv"
rm -rf --one-file-system "$work/made"
mkdir -p "$work/made"
{ cat cmake/site/doxyfile; echo "OUTPUT_DIRECTORY = $work/made"; } | doxygen -
"$clcook" report --out "$work/made/report.html" >/dev/null

help_of() { COLUMNS=100 "$clcook" "$@" --help | sed "s,$clcook,clcook,"; }
part() { printf '\n## %s\n\n%s~~~text\n%s\n~~~\n' "$@"; }
{
  printf '# Commands\n\nWhat --help prints.\n'
  part clcook "" "$(help_of)"
  for command in $(help_of | awk '/^  [a-z]/ && commands { print $1 } /^Subcommands:/ { commands = 1 }'); do
    words=""
    [ ! -e "docs/$command.md" ] || words="In words: [clcook $command]($command.md)."$'\n\n'
    part "clcook $command" "$words" "$(help_of "$command")"
  done
  part ./cook "" "$(./cook help)"
} >"$work/made/commands.md"
cmake/site/mkdocs.sh "$work" "$out"
