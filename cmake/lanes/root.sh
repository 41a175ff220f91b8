#!/bin/bash
# root.sh FOLDER COMMAND...: runs COMMAND with the OpenCL implementations of Debian 13, PoCL 6 and
# rusticl 25, which lie in a root of their own in FOLDER. FOLDER/cache is /tmp/cache in there, the
# folder of the program /tmp/bin.
#
# The root is made once, by mmdebstrap, of packages that are unpacked and never set up. It is entered
# in a mount namespace whose mounts nobody else sees and that end with the command. Programs are
# those built here: to build inside would cost minutes and a compiler's packages at every run.
set -u
folder=$1
shift
suite=trixie
packages=base-files,pocl-opencl-icd,mesa-opencl-icd,ocl-icd-libopencl1,libstdc++6
root=$folder/$suite
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

skip() {
  echo "SKIP: $*"
  exit 77
}
fail() {
  echo "FAILED: $*"
  exit 1
}
[ "$(id -u)" -eq 0 ] || skip "a root of Debian 13 is entered with chroot, which needs root"
unshare -m --propagation private true 2>/dev/null || skip "this machine allows no mount namespaces"

make_root() {
  command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed"
  [ -e "$keyring" ] || skip "$keyring is not there (Debian package debian-archive-keyring)"
  rm -rf --one-file-system "$root" "$root.complete"
  mkdir -p "$folder"
  # The mirror that this machine's apt uses, if that is one of Debian.
  local mirror sources=()
  # shellcheck disable=SC2016  # apt's own placeholder
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' |
    head -n 1)
  [ -z "$mirror" ] || sources=("deb [signed-by=$keyring] $mirror $suite main")
  echo "Making a root of Debian 13 in $root"
  unshare -m --propagation private mmdebstrap --mode=root --variant=extract --keyring="$keyring" \
    --include="$packages" "$suite" "$root" ${sources[@]+"${sources[@]}"} >"$folder/mmdebstrap.log" \
    2>&1 || {
    tail -n 20 "$folder/mmdebstrap.log"
    if grep -q "expired\|not valid yet" "$folder/mmdebstrap.log"; then
      fail "the mirror's Release file is not valid by this machine's clock ($(date -u +%F)): set the" \
        "clock, or let apt use a mirror that is kept up to date"
    fi
    if grep -q "NO_PUBKEY\|no public key" "$folder/mmdebstrap.log"; then
      fail "the keyring is older than Debian 13: upgrade the package debian-archive-keyring"
    fi
    fail "mmdebstrap; the whole log is $folder/mmdebstrap.log"
  }
  mkdir -p "$root"/{proc,sys,dev,tmp}
  echo "$packages" >"$root.complete"
}
[ "$(cat "$root.complete" 2>/dev/null)" = "$packages" ] || make_root

# The libraries that the program needs and Debian 13 has in other versions.
libraries=$folder/libraries
rm -rf --one-file-system "$libraries" "$folder/cache"  # caches of an earlier run must not decide this one
mkdir -p "$libraries" "$folder/cache"
while read -r library; do
  case $(basename "$library") in
    libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so* | libstdc++.so* | libgcc_s.so* | \
      libOpenCL.so*) ;;
    *) cp -L "$library" "$libraries" ;;
  esac
done < <(ldd "$1" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p')

program=$(realpath "$1")
shift
export POCL_CACHE_DIR=/tmp/cache/pocl CLCOOK_CACHE_DIR=/tmp/cache/clcook HOME=/tmp/cache
export LD_LIBRARY_PATH=/tmp/libraries
unset OCL_ICD_VENDORS XDG_CACHE_HOME
mkdir -p "$folder/cache/pocl"
# shellcheck disable=SC2016  # the inner shell's variables
exec unshare -m --propagation private bash -euc '
root=$1 folder=$2 program=$3
shift 3
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"  # PoCL reads the processor from it
mount --bind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
mkdir "$root"/tmp/{bin,cache,libraries}
mount --bind "$(dirname "$program")" "$root/tmp/bin"
mount -o remount,bind,ro "$root/tmp/bin"
mount --bind "$folder/libraries" "$root/tmp/libraries"
mount --bind "$folder/cache" "$root/tmp/cache"
exec chroot "$root" "/tmp/bin/$(basename "$program")" "$@"' _ "$root" "$folder" "$program" "$@"
