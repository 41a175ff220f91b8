#!/bin/bash
# build.sh CLCOOK WORK OUT: makes the site in the folder OUT, with WORK for what it needs on the way:
# MkDocs of cmake/site/requirements.txt in a Python environment of its own, the reference, the report.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
clcook=$1 work=$2 out=$3
for tool in python3 doxygen; do
  command -v $tool >/dev/null || { echo "FAILED: $tool is not installed (on Debian: apt-get install $tool)"; exit 1; }
done
mkdir -p "$work"
cmake/site/environment.sh cmake/site/requirements.txt "$work/venv"
python3 cmake/site/reference.py "$clcook" "$work"
"$clcook" report --out "$work/report.html" >/dev/null
cmake/site/mkdocs.sh "$work" "$out"
