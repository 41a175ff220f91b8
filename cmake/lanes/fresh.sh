#!/bin/bash
# fresh.sh SOURCE FOLDER SUITE: README's two commands, ./cook demo and ./cook test, in a fresh root of
# SUITE: bookworm (Debian 12), trixie (Debian 13) or noble (Ubuntu 24.04). debootstrap makes it in
# FOLDER/SUITE, with git and certificates alone, each time anew. What runs is a clone: what is not
# committed is not in it. The root is left for a look where a command fails.
set -u
source=$1 folder=$2 suite=$3
root=$folder/$suite

skip() {
  echo "SKIP: $*"
  exit 77
}
fail() {
  echo "FAILED: $*; the root is $root"
  exit 1
}
[ "$(id -u)" -eq 0 ] || skip "a root of $suite is entered with chroot, which needs root"
unshare -m --propagation private true 2>/dev/null || skip "this machine allows no mount namespaces"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
distribution=Debian options=() default=http://deb.debian.org/debian script=$suite
if [ "$suite" = noble ]; then
  distribution=Ubuntu options=("--components=main,universe") default=http://archive.ubuntu.com/ubuntu
  script=gutsy  # of all Ubuntus since; Debian 12's debootstrap does not know noble by name
fi
keyring=/usr/share/keyrings/${distribution,}-archive-keyring.gpg
[ -e "$keyring" ] || skip "$keyring is not there, which $suite is signed with"
# The mirror that this machine's apt uses, if that is one of the distribution.
# shellcheck disable=SC2016  # apt's own placeholder
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
  "Label: $distribution" 2>/dev/null | head -n 1)

rm -rf --one-file-system "$root"
mkdir -p "$root"
echo "Making a root of $suite in $root"
debootstrap --variant=minbase --include=git,ca-certificates "--keyring=$keyring" \
  ${options[@]+"${options[@]}"} "$suite" "$root" "${mirror:-$default}" "$script" >"$root.log" 2>&1 || {
  tail -n 20 "$root.log"
  fail "debootstrap; the whole log is $root.log"
}
# The network is this machine's: its names, its certificates, and below its proxies and pip's settings.
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
mapfile -t network < <(env | grep -E '^(PIP_[A-Z_]*|[a-zA-Z]*_(proxy|PROXY))=')
git clone -q "$source" "$root/root/clcook" || fail "git clone"

# inside COMMAND: in a mount namespace whose mounts nobody else sees and that end with the command.
inside() {
  # shellcheck disable=SC2016  # the inner shell's variables
  unshare -m --propagation private bash -euc '
root=$1
shift
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount --rbind /dev "$root/dev"
exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' _ "$root" \
    ${network[@]+"${network[@]}"} chroot "$root" bash -c "cd /root/clcook && $1" </dev/null
}
status=0
for command in demo test; do
  SECONDS=0
  echo "== ./cook $command on $suite"
  inside "./cook $command" >"$root-$command.log" 2>&1 || status=1
  tail -n 60 "$root-$command.log"  # of the tests: what failed, what was skipped and why
  echo "== ./cook $command on $suite took $((SECONDS / 60)) min $((SECONDS % 60)) s"
done
[ $status -eq 0 ] || fail "the logs are $root-demo.log and $root-test.log"
rm -rf --one-file-system "$root"
