#!/bin/bash
# environment.sh REQUIREMENTS FOLDER: a Python environment in FOLDER with just these packages; made
# anew when the file changes.
set -eu
requirements=$1 folder=$2
mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9  # lanes that share one run side by side
cmp -s "$requirements" "$folder/installed.txt" && exit 0
fail() {
  echo "FAILED: $1"
  exit 1
}
python3 -c 'import ensurepip' 2>/dev/null ||
  fail "Python has no module ensurepip (on Debian: apt-get install python3-venv)"
rm -rf --one-file-system "$folder"
python3 -m venv "$folder"
# Most of the modules are never imported: what is compiled as it is installed takes half a minute.
"$folder/bin/python" -m pip install --quiet --no-compile --disable-pip-version-check -r "$requirements" ||
  fail "pip cannot install what $requirements lists; it needs the network"
cp "$requirements" "$folder/installed.txt"
