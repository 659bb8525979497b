# A Debian that has nothing else, to be sourced: make_root SUITE [PACKAGE,...] makes it in $root, inside COMMAND
# runs there without this machine's environment, expect WHAT COMMAND says whether it did. Needs root, debootstrap and a network.
work=$(mktemp -d)
root=$work/root
mirror=$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/ | head -n 1 | tr -d ' ')
mirror=${mirror%/}

clean_up() {
  if mountpoint -q "$root/proc"; then umount "$root/proc"; fi
  rm -rf "$work"
}
trap clean_up EXIT

inside() {
  chroot "$root" env -i PATH=/root/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive \
    PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_DISABLE_PIP_VERSION_CHECK=1 "$@"
}

expect() {
  printf '%s: ' "$1"
  shift
  if "$@" >"$work/said" 2>&1; then echo ok; else echo FAILED; tail -n 40 "$work/said"; exit 1; fi
}

make_root() {
  echo "making a Debian ($1) in $root"
  debootstrap --variant=minbase ${2:+--include=$2} "$1" "$root" "$mirror" >"$work/debootstrap.log" ||
    { tail "$work/debootstrap.log"; exit 1; }
  mount -t proc proc "$root/proc"
  cp /etc/resolv.conf "$root/etc/"
  mkdir -p "$root/etc/ssl/certs"
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" # of the machine's network
  printf 'deb %s %s main\ndeb %s-security %s-security main\n' "$mirror" "$1" "$mirror" "$1" >"$root/etc/apt/sources.list"
  inside apt-get update -q >"$work/apt.log" 2>&1 || { cat "$work/apt.log"; exit 1; }
}
