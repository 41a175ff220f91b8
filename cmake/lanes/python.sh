#!/bin/bash
# python.sh SOURCE PLAIN CLCOOK WORK: the Python package becomes a source distribution and, of that, a
# wheel, which installs and passes tests/python, and in full works in a fresh environment too; the Python of README and of the pages runs, and so
# does the notebook. The short grid leaves out the editable installation and the tests that are marked
# slow, and builds without optimisation. PLAIN is the program of tests/python/plain.cpp, CLCOOK the
# command.
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
options=() slow=()  # in full: pip 23.0 of Debian 12 does not know -C
if [ "${CLCOOK_TEST_GRID:-full}" = short ]; then
  slow=(-m "not slow")
  options=(--config-settings cmake.build-type=None --config-settings cmake.define.CMAKE_CXX_FLAGS=-O0
    --config-settings cmake.define.CMAKE_UNITY_BUILD=ON)  # for nanobind's own files
  ! command -v clang++ >/dev/null || export CXX=clang++
fi
# Of the sources that a distribution has. Its files are all of one old time: those that changed get
# today's, the others keep theirs, so that a second run compiles no more than it must.
rm -rf --one-file-system "$work/wheel" "$work/sdist" "$work/unpacked"
mkdir "$work/unpacked"
"$python" -c 'import scikit_build_core.build as b, sys; b.build_sdist(sys.argv[1])' "$work/sdist" >"$work/sdist.log"
tar -xmf "$work"/sdist/*.tar.gz --strip-components 1 -C "$work/unpacked"
(
  cd "$work/unpacked"
  find . -type f | while read -r file; do
    ! cmp -s "$file" "../source/$file" || touch -r "../source/$file" "$file"
  done
)
rm -rf --one-file-system "$work/source"
mv "$work/unpacked" "$work/source"
options+=(--config-settings "build-dir=$work/build" --config-settings cmake.define.CLCOOK_WERROR=ON)
pip=("$python" -m pip --quiet --disable-pip-version-check)
"${pip[@]}" wheel --no-deps --no-build-isolation "${options[@]}" -w "$work/wheel" "$work/source"
wheels=("$work"/wheel/*.whl)
if [ "${CLCOOK_TEST_GRID:-full}" != short ]; then
  "${pip[@]}" install --no-deps --no-build-isolation "${options[@]}" -e "$work/source"
  (cd "$work" && "$python" -m pytest -q -p no:cacheprovider --rootdir "$source" "$source/tests/python/test_package.py" \
    -k "device_headers or type_checkers")
fi
"${pip[@]}" install --no-deps --force-reinstall "${wheels[0]}"
[ "${CLCOOK_TEST_GRID:-full}" = short ] ||
  PIP_CONSTRAINT=$source/tests/python/requirements.txt "$source/packaging/wheels/test.sh" "$work/wheel" ""
export CLCOOK_PLAIN=$plain CLCOOK_WHEEL=${wheels[0]}
[ -z "$clcook" ] || export CLCOOK=$clcook
cd "$work"  # so that no module of the sources is found
"$python" -m pytest -q -p no:cacheprovider -rs ${slow[@]+"${slow[@]}"} --rootdir "$source" "$source/tests/python"
