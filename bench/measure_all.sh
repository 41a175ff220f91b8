#!/bin/bash
# measure_all.sh CLCOOK PREFIX FOLDER [RECIPE...]: everything that the pages show of one device, as
# FOLDER/PREFIX_check.json, PREFIX_bench_RECIPE.json and PREFIX_explore_RECIPE.json. Without names,
# every recipe. CLCOOK_DEVICE chooses the device, BENCH_OPTIONS and EXPLORE_OPTIONS are passed on
# (--smoke tries the script). A recipe that fails is named at the end; the others are measured.
set -u
if [ $# -lt 3 ]; then
  sed -n '2,5s/^# //p' "$0"
  exit 2
fi
clcook=$1 prefix=$2 folder=$3
shift 3
mkdir -p "$folder"
read -r -a bench_options <<<"${BENCH_OPTIONS:-}"
read -r -a explore_options <<<"${EXPLORE_OPTIONS:-}"
if [ $# -eq 0 ]; then
  mapfile -t recipes < <("$clcook" list | sed -n 's/^\([a-z][a-z0-9_]*\): .*/\1/p')
  set -- "${recipes[@]}"
fi
failed=()
"$clcook" check "$@" --out "$folder/${prefix}_check.json" | tail -n 1 || failed+=(check)
for recipe in "$@"; do
  echo "== $recipe"
  "$clcook" bench "$recipe" --processes 5 ${bench_options[@]+"${bench_options[@]}"} \
    --out "$folder/${prefix}_bench_$recipe.json" || failed+=("bench $recipe")
  error=$("$clcook" explore "$recipe" ${explore_options[@]+"${explore_options[@]}"} \
    --out "$folder/${prefix}_explore_$recipe.json" 2>&1 >/dev/null)
  code=$?
  case $code:$error in
    0:*) echo "explored" ;;
    2:*"declares no sweep"*) ;;
    *)
      echo "$error"
      failed+=("explore $recipe")
      ;;
  esac
done
if [ ${#failed[@]} -gt 0 ]; then
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
fi
