#!/bin/bash
# order.sh CLCOOK PLANTED_BUGS SOURCE WORK RECIPE: the kernels of a recipe with their items and groups
# in reversed and in shuffled order (tests/support/order.clh), on its tiny shapes, and the variants with
# planted bugs for this lane on the shapes of those: they must pass, and each kernel that the test
# program planted_bugs breaks must fail in one of the two. A barrier that is missing shows in one order
# and not in another. The short grid takes one order, one tiny shape and one planted bug.
set -u
# shellcheck source=cmake/lanes/grid.sh
. "$(dirname "$0")/grid.sh"
clcook=$1 planted_bugs=$2 source=$3 work=$4 recipe=$5
export CLCOOK_TEST_RECIPE=$recipe CLCOOK_TENSOR_EMULATE=1
rm -rf "$work"
mkdir -p "$work/bugs"

# in_order FROM TO ORDER: a copy of a folder of kernels with the ids in that order.
in_order() {
  cp -r "$1" "$2"
  local file
  while read -r file; do
    {
      [ "$3" = shuffled ] || echo "#define CLCOOK_ORDER_REVERSED"
      cat "$source/tests/support/order.clh"
      echo "#line 1"
      cat "${file/#"$2"/"$1"}"
    } >"$file"
  done < <(find "$2" -name '*.cl')
}
# check KERNELS OUT ARGUMENTS...
check() {
  CLCOOK_KERNEL_DIR=$1 timeout -k 10 600 "$clcook" check "$recipe" --in-order "${@:3}" >"$2" 2>&1
}
# must_pass KERNELS ARGUMENTS...
must_pass() {
  if check "$1" "$1.out" "${@:2}"; then
    echo "$(basename "$1") ${*:2}: $(tail -n 1 "$1.out")"
  else
    cat "$1.out"
    echo "FAILED: clcook check $recipe ${*:2}, $(basename "$1")"
    failed=1
  fi
}

failed=0
list=$(CLCOOK_PLANTED_DIR="$work/bugs" CLCOOK_PLANTED_CATCHER=order "$planted_bugs" --no-skip \
  --test-case="child: write the kernels for another lane") || {
  echo "FAILED: no kernels were written: $list"
  exit 1
}
bugs=() number=0
all=$(grep -c '^BUG ' <<<"$list")
while read -r mark bug _ variant shape; do
  [ "$mark" = BUG ] || continue
  ! in_slice $number "$all" || bugs+=("$bug $variant $shape")
  number=$((number + 1))
done <<<"$list"
tiny=() number=0
shapes=$("$clcook" check "$recipe" --tiny --plan | cut -f3 | sort -u)
while read -r shape; do
  ! in_slice $number "$(wc -l <<<"$shapes")" || tiny+=(--shape "$shape")
  number=$((number + 1))
done <<<"$shapes"

number=0
for order in reversed shuffled; do
  in_order "$source/kernels" "$work/$order" $order
  if in_slice $number 2; then
    must_pass "$work/$order" --tiny "${tiny[@]}"
    while read -r variant shape; do
      [ -z "$shape" ] || must_pass "$work/$order" --variant "$variant" --shape "$shape"
    done < <(printf '%s\n' ${bugs[@]+"${bugs[@]#* }"} | sort -u)
  fi
  number=$((number + 1))
done

caught=0
for one in ${bugs[@]+"${bugs[@]}"}; do
  read -r bug variant shape <<<"$one"
  # With every tune where it names a shape.
  arguments=(--variant "$variant" --tiny)
  [ -z "$shape" ] || arguments=(--variant "$variant" --shape "$shape")
  by=
  for order in reversed shuffled; do
    out=$work/$bug.$order.out
    in_order "$work/bugs/$bug" "$work/$bug" $order
    check "$work/$bug" "$out" "${arguments[@]}"
    code=$?
    rm -rf "${work:?}/$bug"
    if grep -q "does not build" "$out"; then
      cat "$out"
      by=
      break
    fi
    # A signal, or rows that failed; a bug may damage memory.
    if [ $code -ge 128 ] || grep -q ", [1-9][0-9]* failed" "$out"; then
      by=$order
      break
    fi
  done
  if [ -n "$by" ]; then
    caught=$((caught + 1))
    echo "caught, $by: $recipe/$variant $bug"
  else
    failed=1
    echo "FAILED: neither order shows $bug in $recipe/$variant"
  fi
done
[ ${#bugs[@]} -eq 0 ] || echo "$caught of ${#bugs[@]} planted bugs caught in another order"
exit $failed
