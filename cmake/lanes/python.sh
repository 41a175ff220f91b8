#!/bin/bash
# python.sh SOURCE PLAIN CLCOOK WORK: the Python package builds as a wheel, installs, and passes
# tests/python; the Python of README and of the pages runs, and so does the notebook. The short grid
# leaves out the tests that are marked slow, and builds without optimisation. PLAIN is the program of
# tests/python/plain.cpp, CLCOOK the command.
set -euo pipefail
source=$1 plain=$2 clcook=$3 work=$4
mkdir -p "$work"
cd "$source"
if ! cmake/site/environment.sh tests/python/requirements.txt "$work/venv" >"$work/venv.log" 2>&1; then
  cat "$work/venv.log"
  [ "${CLCOOK_TEST_GRID:-full}" = short ] || exit 1
  echo "SKIP: Python packages cannot be installed here"
  exit 77
fi
python=$work/venv/bin/python
options=() slow=()
if [ "${CLCOOK_TEST_GRID:-full}" = short ]; then
  slow=(-m "not slow")
  options=(--config-settings cmake.build-type=None
    --config-settings cmake.define.CMAKE_CXX_FLAGS=-O0)
  ! command -v clang++ >/dev/null || export CXX=clang++
fi
rm -rf --one-file-system "$work/wheel"
# In full: pip 23.0 of Debian 12 does not know -C.
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
  --config-settings "build-dir=$work/build" --config-settings cmake.define.CLCOOK_WERROR=ON \
  ${options[@]+"${options[@]}"} \
  -w "$work/wheel" .
wheels=("$work"/wheel/*.whl)
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "${wheels[0]}"
export CLCOOK_PLAIN=$plain CLCOOK_WHEEL=${wheels[0]}
[ -z "$clcook" ] || export CLCOOK=$clcook
cd "$work"  # so that no module of the sources is found
"$python" -m pytest -q -p no:cacheprovider -rs ${slow[@]+"${slow[@]}"} --rootdir "$source" "$source/tests/python"
