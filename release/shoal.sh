#!/bin/sh
# Starts shoal with the Node next to it. Needs only a shell and glibc 2.28 or newer.
set -eu

program=$0
while [ -h "$program" ]; do
  target=$(readlink "$program")
  case $target in
    /*) program=$target ;;
    *) program=${program%/*}/$target ;;
  esac
done
folder=$(CDPATH='' cd -- "${program%/*}/.." && pwd -P)

# Node needs libstdc++. The system's own is preferred, because programs that shoal starts, such as an editor, may need a
# newer one than ours.
has_library=
machine=$(uname -m)
for directory in "/lib/$machine-linux-gnu" "/usr/lib/$machine-linux-gnu" /lib64 /usr/lib64; do
  if [ -e "$directory/libstdc++.so.6" ] && [ -e "$directory/libgcc_s.so.1" ]; then has_library=1; fi
done
if [ -z "$has_library" ]; then
  export LD_LIBRARY_PATH="$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi

exec "$folder/node/bin/node" "$folder/program/packages/cli/bin/shoal.js" "$@"
