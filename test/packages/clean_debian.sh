#!/usr/bin/env bash
# The Debian packages in a Debian 12 that has nothing else: nb-sim with a kernel made elsewhere runs
# without LLVM, the compiler package brings what it needs, and a C program is built. Says what
# lintian finds, where that is installed. By hand, since it needs root, debootstrap and a network.
#   usage: test/packages/clean_debian.sh BUILD
set -euo pipefail

build=$(realpath "${1:?usage: $0 BUILD}")
source=$(realpath "$(dirname "$0")/../..")
source "$source/test/packages/empty_root.sh"
flags=(-cell 100 100 100 90 90 90 -misset 10 0 0 -N 5 -default_F 100 -lambda 1 -distance 100
  -pixel 0.1 -detpixels 256 -oversample 1 -nonoise -nopgm)
install_packages() {
  inside apt-get install -y -q --no-install-recommends "$@"
}
says_what_to_install() {
  local said
  said=$(inside nb-sim "${flags[@]}" --quiet 2>&1) && return 1
  [[ $said == *"install the package nanobragg-compiler"* ]]
}

make_root bookworm
(cd "$build" && cpack -G DEB -B "$root/root" >"$work/cpack.log") || { cat "$work/cpack.log"; exit 1; }
rm -rf "$root/root/_CPack_Packages"
runtime=$(basename "$root"/root/nanobragg_*.deb)
compiler=$(basename "$root"/root/nanobragg-compiler_*.deb)
if command -v lintian >/dev/null; then
  expect "lintian has nothing to say" lintian --allow-root --fail-on error,warning "$root"/root/*.deb
else
  echo "lintian is not installed here: the packages are not checked by it"
fi
"$build/bin/nb-compile" "${flags[@]}" --target=x86-64-v2,x86-64-v3,x86-64-v4 -o "$root/root/k.so"
"$build/bin/nb-sim" "${flags[@]}" --quiet -floatfile "$root/root/native.bin"

expect "$runtime is installed" install_packages "/root/$runtime"
expect "no LLVM is installed" bash -c "! ls '$root'/usr/lib/x86_64-linux-gnu | grep -q -E 'LLVM|MLIR'"
expect "nb-sim runs a kernel file" inside nb-sim "${flags[@]}" --quiet \
  --kernel=/root/k.so -floatfile /root/file.bin
expect "its image is that of the compiler here" cmp "$root"/root/{file,native}.bin
expect "without one it says what to install" says_what_to_install
expect "$compiler is installed" install_packages "/root/$compiler"
expect "nb-sim compiles" inside nb-sim "${flags[@]}" --quiet --no-fallback -floatfile /root/own.bin
expect "its image is the same" cmp "$root"/root/{own,native}.bin
expect "nb-compile compiles" inside nb-compile "${flags[@]}" -o /root/own.so
expect "nb-opt starts" inside nb-opt --version
expect "the manual pages are there" test -f "$root/usr/share/man/man1/nb-sim.1.gz"

cp -r "$source/docs/examples/c" "$root/root/c"
expect "a C compiler is installed" install_packages gcc libc6-dev make cmake pkg-config
expect "CMake builds the example in C" inside sh -c 'cd /root/c && cmake -B build && cmake --build build'
expect "it renders" inside /root/c/build/render /root/cmake.pgm
expect "pkg-config builds the same" inside sh -c 'cd /root/c &&
  gcc -Ibuild render.c build/round_crystal.o $(pkg-config --cflags --libs nanobragg) -o render && ./render /root/own.pgm'
expect "it renders the same" cmp "$root"/root/{cmake,own}.pgm
