#!/bin/bash
# isa.sh CLCOOK: kernels that changed since bench/isa_gate.json was recorded, and a sample of the others,
# have no worse machine code than the committed figures say.
set -eu
sample=20
[ "${CLCOOK_TEST_GRID:-full}" = full ] || sample=1
exec "$1" isa --gate --sample $sample --seed "${CLCOOK_TEST_SLICE:-1}"
