#!/bin/bash
# reproduce.sh RECIPE [CLCOOK]: is a page right on this machine? Checks the recipe, compares its machine
# code with the committed counts, and measures again what bench/results/ has of this device, in as many
# processes. CLCOOK is the program, by default build/bin/clcook, which is built where it is missing;
# CLCOOK_DEVICE chooses the device, BENCH_OPTIONS are passed on. Exit code 0 when nothing failed and at least 95 % of the rows agree within their intervals, 1
# when not, 2 when nothing can be compared.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
recipe=${1:-} clcook=${2:-$root/build/bin/clcook}
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  sed -n '2,7s/^# //p' "$0"
  exit 2
fi
if ! [ -e "$root/lib/clcook/cookbook/$recipe.hpp" ]; then
  echo "reproduce.sh: there is no recipe '$recipe'; lib/clcook/cookbook/ has one file each"
  exit 2
fi
if [ $# -eq 1 ] && ! [ -x "$clcook" ]; then
  cmake -S "$root" -B "$root/build" >&2 && cmake --build "$root/build" --parallel --target clcook_tool >&2 || exit 2
fi
if ! [ -x "$clcook" ]; then
  echo "reproduce.sh: there is no program '$clcook'"
  exit 2
fi
read -r -a options <<<"${BENCH_OPTIONS:-}"
shopt -s nullglob
results=("$root"/bench/results/*_bench_"$recipe".json)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
wrong=0

echo "== is it right?"
"$clcook" check "$recipe" | tail -n 1
[ "${PIPESTATUS[0]}" -eq 0 ] || wrong=1

echo "== is its machine code the committed one?"
"$clcook" isa "$recipe" "--gate=$root/bench/isa_gate.json" >"$scratch/isa"
case $? in
  0) echo "no kernel is worse" ;;
  77) tail -n 1 "$scratch/isa" ;;
  *)
    cat "$scratch/isa"
    wrong=1
    ;;
esac

echo "== are its times the committed ones?"
for result in "${results[@]}"; do
  # A result of another device is refused before anything is measured.
  processes=$(sed -n 's/^"processes": \([0-9]*\),$/\1/p' "$result")
  "$clcook" bench "$recipe" --processes "${processes:-1}" ${options[@]+"${options[@]}"} --out "$scratch/bench.json" \
    --compare "$result" >"$scratch/out" 2>"$scratch/err"
  if grep -q "the results are of different devices" "$scratch/err"; then continue; fi
  cat "$scratch/err"
  echo "bench/results/${result##*/} and now:"
  sed -n '/^SLOWER /p; /^faster /p; /^note: /p; / rows compared: /p' "$scratch/out"
  same=$(sed -n 's/.* rows compared: .*(\([0-9]*\)[.0-9]* %).*/\1/p' "$scratch/out")
  [ "${same:-0}" -ge 95 ] || wrong=1
  exit "$wrong"
done
echo "bench/results/ has no times of $recipe on this device; it has:"
for result in "${results[@]}"; do
  sed -n 's/.*"device": {"name":"\([^"]*\)".*"platform":"\([^"]*\)".*/  \2, \1/p' "$result" | head -n 1
done
[ "$wrong" -eq 0 ] && exit 2
exit 1
