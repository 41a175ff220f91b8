#!/bin/bash
# For the other scripts, which source it: in_slice NUMBER N says whether the check with this number
# belongs to the run, as tests/support/grid.hpp does: all in the full grid, every N-th in the short.
in_slice() {
  case ${CLCOOK_TEST_GRID:-full} in
    full) return 0 ;;
    short) [ $((($1 + ${CLCOOK_TEST_SLICE:-0}) % $2)) -eq 0 ] ;;
    *)
      echo "CLCOOK_TEST_GRID is '$CLCOOK_TEST_GRID'; it must be short or full" >&2
      exit 1
      ;;
  esac
}
