#!/bin/bash
# demo.sh SOURCE WORK interrupted|full_disk: ./cook demo, ended by Ctrl-C in each of its stages, and on a
# disk that fills up in each of them: says what happened, leaves no process and nothing half written, and
# run again completes as if nothing had been. What it calls are fakes, this script under other names, so
# that a run takes a tenth of a second.
set -euo pipefail

# ---- the fakes ----

# Of the environment: DEMO_STAGE, where there is trouble; DEMO_TROUBLE, which; DEMO_NOTES, a folder on
# another disk for notes; and DEMO_TREE, where cook lies.

fill_disk() { cat /dev/zero >"$DEMO_TREE/filler" 2>/dev/null || true; }
# What a stage writes in a file; half of it comes first.
content() { head -c 40000 /dev/zero | tr '\0' "${1:0:1}"; }
# trouble KIND: whether this stage has it.
trouble() { [ "$stage/$1" = "${DEMO_STAGE-}/${DEMO_TROUBLE-}" ]; }

# produce FILE: does the work of a stage, the file.
produce() {
  echo "$stage" >>"$DEMO_NOTES/calls"
  if trouble wait || trouble finish; then
    head -c 20000 /dev/zero >"$1"
    ! trouble finish || trap 'content "$stage" >"$1"; exit 0' INT
    : >"$DEMO_NOTES/waits"
    trouble finish || exec sleep 300
    while :; do sleep 0.01; done
  fi
  ! trouble fill || fill_disk
  content "$stage" >"$1" || {
    echo "$stage: cannot write $1: No space left on device" >&2
    exit 1
  }
  ! trouble fill_after || fill_disk
}

# program NAME: what the build makes. Its content does not depend on where it lies.
program() {
  # shellcheck disable=SC2016  # expanded when it runs
  printf '#!/bin/bash\nDEMO_FAKE=%s exec "$DEMO_SCRIPT" "$@"\n' "$1" >"build/bin/$1" &&
    chmod +x "build/bin/$1"
}

fake_cmake() {
  local target
  if [ "$1" != --build ]; then
    stage=configure
    mkdir -p build/bin
    produce build/build.ninja
    return
  fi
  stage=build
  [ "$4" = example_gaussian_blur ] && stage=first
  for target in 1 2 3; do echo "@$target 3 [$target/3] Building"; done
  produce "build/$stage"
  if [ $stage = first ]; then
    program gaussian_blur
  else
    for target in clcook clcook_peers other; do program $target; done
  fi
}
fake_example() {
  stage=$1
  produce "$2"
  # Written as programs print: what does not fit is lost, and nobody looks.
  ! trouble fill_silently || fill_disk
  content "$stage" 2>/dev/null || true
}
fake_peers() {
  stage=loops
  produce "${*: -1}.json"
}
fake_clcook() {
  stage=$1
  case $* in
    "bench --quick --resume "*) produce "$4" ;;
    "check --out "*) produce "$3" ;;
    "report --out "*) produce "$3" ;;
    "report --demo "*) stage=page; produce "$3/index.html" ;;
    *) echo "clcook: unknown command '$*'" >&2; exit 1 ;;
  esac
}

case ${DEMO_FAKE:-$(basename "$0")} in
  cmake) fake_cmake "$@"; exit ;;
  gaussian_blur | other) fake_example "${DEMO_FAKE}" "$@"; exit ;;
  clcook) fake_clcook "$@"; exit ;;
  run) fake_peers "$@"; exit ;;
  dpkg-query) [ ! -e "$DEMO_NOTES/installed" ] || printf installed; exit ;;
  apt-cache) exit ;;
  sudo) exec "$@" ;;
  apt-get)
    [ "$1" = install ] || exit 0
    stage=install
    produce "$DEMO_NOTES/installed.part"
    mv "$DEMO_NOTES/installed.part" "$DEMO_NOTES/installed"
    exit
    ;;
esac

# ---- the checks ----

source=$(cd "$1" && pwd) work=$2 kind=$3
stages=(configure first gaussian_blur build bench loops check other report page)
export DEMO_SCRIPT=$source/cmake/lanes/demo.sh

if [ "$kind" = full_disk ] && [ -z "${DEMO_OWN_DISK-}" ]; then
  # A small disk of our own, in a namespace that ends with this script.
  enter=(unshare -m --propagation private)
  [ "$(id -u)" -eq 0 ] || enter=(unshare -rm --propagation private)
  "${enter[@]}" mount -t tmpfs -o size=2m tmpfs /mnt 2>/dev/null || {
    echo "SKIP: this machine lets us mount no small disk"
    exit 77
  }
  DEMO_OWN_DISK=yes exec "${enter[@]}" "$DEMO_SCRIPT" "$@"
fi

rm -rf --one-file-system "$work"
mkdir -p "$work/fakes" "$work/disk" "$work/notes"
work=$(cd "$work" && pwd)
for fake in cmake dpkg-query apt-get apt-cache sudo; do ln -s "$DEMO_SCRIPT" "$work/fakes/$fake"; done
export DEMO_NOTES=$work/notes DEMO_TREE=$work/disk/tree PATH=$work/fakes:$PATH
unset CLCOOK_DEVICE DEMO_STAGE DEMO_TROUBLE
if [ "$kind" = full_disk ]; then mount -t tmpfs -o size=2m tmpfs "$work/disk"; fi

failures=0
failed() {
  echo "FAILED: $*"
  [ ! -e "$work/said" ] || sed 's/^/  | /' "$work/said"
  failures=$((failures + 1))
}

# fresh COOK: a tree that has never run, with this cook; packages are there.
fresh() {
  rm -rf --one-file-system "$DEMO_TREE"
  rm -f "$DEMO_NOTES"/*
  mkdir -p "$DEMO_TREE/examples" "$DEMO_TREE/bench/results" "$DEMO_TREE/bench/peers"
  ln -s "$DEMO_SCRIPT" "$DEMO_TREE/bench/peers/run"
  cp "$1" "$DEMO_TREE/cook"
  echo '{}' >"$DEMO_TREE/bench/results/one.json"
  for name in gaussian_blur other; do
    echo "// demo: {out}/$name.png" >"$DEMO_TREE/examples/$name.cpp"
  done
  : >"$DEMO_NOTES/installed"
}
# demo: runs it to its end.
demo() {
  rm -f "$DEMO_NOTES/calls"
  local code=0
  "$DEMO_TREE/cook" demo --full >"$work/said" 2>&1 </dev/null || code=$?
  return $code
}
said() { grep -qE -e "$1" "$work/said" || failed "$what: did not say '$1'"; }
# listing: all that a demo leaves, without its log.
listing() { (cd "$DEMO_TREE" && find . -type f ! -path ./out/build.log -exec cksum {} + | sort -k 3); }
# no_leftovers: nothing half written lies about.
no_leftovers() {
  local found
  found=$(cd "$DEMO_TREE" && find . -name '*.part' -o -name '*.err' -o -name '*.tmp*' -o -name '*.new')
  [ -z "$found" ] || failed "$what: left $(paste -sd ' ' <<<"$found")"
}
# completes STAGE: run again it completes, does not repeat the example that was done before the stage,
# and leaves what an undisturbed run leaves.
completes() {
  local code=0
  demo || code=$?
  [ $code -eq 0 ] || failed "$what: run again it ended with $code"
  said '^Done after .* Open .*/out/index.html'
  listing >"$work/is"
  cmp -s "$work/undisturbed" "$work/is" ||
    failed "$what: run again it left something else: $(diff "$work/undisturbed" "$work/is" | paste -sd ' ')"
  case $1 in
    install | configure | first | gaussian_blur) ;;
    *) ! grep -qx gaussian_blur "$DEMO_NOTES/calls" || failed "$what: the first picture was made again" ;;
  esac
}

# interrupted COOK STAGE...: Ctrl-C in each stage, where it ends what runs, and where that finishes first.
interrupted() {
  local stage trouble process code i
  set -m # a process group for each run, as on a terminal
  for stage in "${@:2}"; do
    for trouble in wait finish; do
      what="Ctrl-C in $stage ($trouble)"
      fresh "$1"
      [ "$stage" != install ] || rm "$DEMO_NOTES/installed"
      DEMO_STAGE=$stage DEMO_TROUBLE=$trouble env --default-signal=INT "$DEMO_TREE/cook" demo --full \
        >"$work/said" 2>&1 </dev/null &
      process=$!
      while [ ! -e "$DEMO_NOTES/waits" ] && kill -0 $process 2>/dev/null; do sleep 0.01; done
      [ -e "$DEMO_NOTES/waits" ] || failed "$what: the stage did not begin"
      kill -INT -- -$process 2>/dev/null || true
      code=0
      wait $process 2>/dev/null || code=$?
      [ $code -eq 130 ] || failed "$what: ended with $code, not 130"
      said '^Stopped\. What is done is kept: \./cook demo goes on from here\.'
      for ((i = 0; i < 6000; ++i)); do
        kill -0 -- -$process 2>/dev/null || break
        sleep 0.01
      done
      if kill -0 -- -$process 2>/dev/null; then
        failed "$what: left a process"
        kill -KILL -- -$process
      fi
      no_leftovers
      completes "$stage"
      no_leftovers
    done
  done
  set +m
}

# full_disk COOK STAGE...: the disk fills up before a stage writes, behind it, or while a program prints
# that does not look whether it can.
full_disk() {
  local stage trouble code
  for stage in "${@:2}"; do
    for trouble in fill fill_after fill_silently; do
      what="the disk is full in $stage ($trouble)"
      case $stage/$trouble in
        gaussian_blur/fill_silently | other/fill_silently | install/fill) ;;
        */fill_silently | install/*) continue ;;
      esac
      fresh "$1"
      [ "$stage" != install ] || fill_disk # before all that writes
      code=0
      DEMO_STAGE=$stage DEMO_TROUBLE=$trouble demo || code=$?
      if [ "$stage/$trouble" = page/fill_after ]; then
        [ $code -eq 0 ] || failed "$what: all was done, but it ended with $code"
      else
        [ $code -eq 1 ] || failed "$what: ended with $code, not 1"
        said '^cook: .*the disk is full: [0-9]+ MiB are free in .*, the demo needs about 500'
        no_leftovers
      fi
      rm -f "$DEMO_TREE/filler"
      completes "$stage"
      no_leftovers
    done
  done
}

# planted TEXT EXPRESSION: the checks find a cook that sed changed so.
planted() {
  sed "$2" "$source/cook" >"$work/cook"
  ! cmp -s "$work/cook" "$source/cook" || {
    failed "planted: sed changed nothing: $1"
    return
  }
  chmod +x "$work/cook"
  "$kind" "$work/cook" gaussian_blur >"$work/planted"
  if [ $failures -gt 0 ]; then failures=0; else failed "not found: $1"; fi
}

what="undisturbed"
fresh "$source/cook"
demo || failed "$what: ended with $?"
listing >"$work/undisturbed"
[ "$(sort -u "$DEMO_NOTES/calls" | wc -l)" -eq ${#stages[@]} ] || failed "a stage did not run"
demo || failed "done before: ended with $?"
listing | cmp -s "$work/undisturbed" - || failed "done before: changed something"
[ $failures -eq 0 ] || exit 1

"$kind" "$source/cook" install "${stages[@]}"
[ $failures -eq 0 ] || exit 1

# shellcheck disable=SC2016  # cook's own variables
plant() {
  planted "what an example prints goes into its file directly" 's/^  } | cat >/  } >/'
  planted "a stage counts as done when it begins" 's/^  status "running \$name/  stamp "$name" "$key"\n&/'
  if [ "$kind" = interrupted ]; then
    planted "no trap" "/^  trap 'status/d"
    planted "halves stay" 's/remove_halves; echo/echo/'
  else
    planted "no word of the disk" '/^  \[ "\${free:-/,+1d'
    planted "what failed is passed over" 's/^    stop "\$name .* failed\..*/    return 0/'
  fi
}
plant
[ $failures -eq 0 ] || exit 1
echo "./cook demo bears it: $kind"
