#!/usr/bin/env bash
# The Debian packages in a Debian 12 that has nothing else: nb-sim with a kernel made elsewhere runs
# without LLVM, and the compiler package brings what it needs. Needs root, debootstrap and a network,
# so that it is no part of ctest.
#   usage: test/packages/clean_debian.sh BUILD [MIRROR]   (default: where this machine gets its packages)
set -euo pipefail

build=$(realpath "${1:?usage: $0 BUILD [MIRROR]}")
mirror=${2:-$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/ | head -n 1 | tr -d ' ')}
mirror=${mirror%/}
work=$(mktemp -d)
root=$work/root
flags=(-cell 100 100 100 90 90 90 -misset 10 0 0 -N 5 -default_F 100 -lambda 1 -distance 100
  -pixel 0.1 -detpixels 256 -oversample 1 -nonoise -nopgm)

clean_up() {
  if mountpoint -q "$root/proc"; then umount "$root/proc"; fi
  rm -rf "$work"
}
trap clean_up EXIT

inside() { chroot "$root" env DEBIAN_FRONTEND=noninteractive HOME=/root "$@"; }
install_package() {
  inside apt-get install -y -q --no-install-recommends "/root/$1" >"$work/apt.log" 2>&1 ||
    { cat "$work/apt.log"; exit 1; }
}
expect() { # what it is about, the command
  printf '%s: ' "$1"
  shift
  if "$@"; then echo ok; else echo FAILED; exit 1; fi
}

echo "making a Debian 12 in $root"
debootstrap --variant=minbase bookworm "$root" "$mirror" >"$work/debootstrap.log" ||
  { tail "$work/debootstrap.log"; exit 1; }
printf 'deb %s bookworm main\ndeb %s-security bookworm-security main\n' "$mirror" "$mirror" \
  >"$root/etc/apt/sources.list"
cp /etc/resolv.conf "$root/etc/"
mount -t proc proc "$root/proc"
inside apt-get update -q >"$work/apt.log"

(cd "$build" && cpack -G DEB -B "$root/root" >"$work/cpack.log") || { cat "$work/cpack.log"; exit 1; }
rm -rf "$root/root/_CPack_Packages"
runtime=$(basename "$root"/root/nanobragg_*.deb)
compiler=$(basename "$root"/root/nanobragg-compiler_*.deb)
"$build/bin/nb-compile" "${flags[@]}" --target=x86-64-v2,x86-64-v3,x86-64-v4 -o "$root/root/k.so"
"$build/bin/nb-sim" "${flags[@]}" --quiet -floatfile "$root/root/native.bin"

install_package "$runtime"
expect "no LLVM is installed" bash -c "! ls '$root'/usr/lib/x86_64-linux-gnu | grep -q -E 'LLVM|MLIR'"
expect "nb-sim runs a kernel file" inside nb-sim "${flags[@]}" --quiet \
  --kernel=/root/k.so -floatfile /root/file.bin
expect "its image is that of the compiler here" cmp "$root"/root/{file,native}.bin
says_what_to_install() {
  local said
  said=$(inside nb-sim "${flags[@]}" --quiet 2>&1) && return 1
  [[ $said == *"install the package nanobragg-compiler"* ]]
}
expect "without one it says what to install" says_what_to_install
install_package "$compiler"
expect "nb-sim compiles" inside nb-sim "${flags[@]}" --quiet --no-fallback -floatfile /root/own.bin
expect "its image is the same" cmp "$root"/root/{own,native}.bin
expect "nb-compile compiles" inside nb-compile "${flags[@]}" -o /root/own.so
expect "nb-opt starts" bash -c "chroot '$root' nb-opt --version >'$work/version'"
expect "the manual pages are there" test -f "$root/usr/share/man/man1/nb-sim.1.gz"
