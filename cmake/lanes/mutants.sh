#!/bin/bash
# mutants.sh SOURCE BUILD: a sample of single edits of kernels and device headers; for each there must be
# a check that notices, on PoCL or under Oclgrind, unless tests/mutants/equivalent.txt says why it makes
# no difference. The short grid takes a tenth of them.
#
# The sample depends on the seed, not on the day, so that no change fails for a hole that another one left.
# Change the seed by hand, with time to look at what survives.
set -u
source=$1 build=$2
sample=60 seed=1
for tool in python3 clang; do
  command -v $tool >/dev/null || { echo "SKIP: $tool is not installed"; exit 77; }
done
# What broken kernels do to the driver of a GPU is not asked here.
export CLCOOK_DEVICE=pocl
if ! "$build/bin/clcook" devices 2>/dev/null | grep -q "Portable Computing Language"; then
  echo "SKIP: there is no PoCL"
  exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
python3 "$source/tests/mutants/edits_test.py" || exit 1
exec python3 "$source/tests/mutants/mutants.py" --source "$source" --build "$build" --sample $sample --seed $seed
