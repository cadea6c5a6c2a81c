#!/bin/sh
# Starts a registry from the archive in the folder RELEASE, waits until it has packed its own program, and installs shoal
# from it. Runs in a network namespace without any interface but loopback, in the empty folder HOME.
set -eu
ip link set lo up
cd "$HOME"
tar -xzf "$RELEASE"/shoal-*-*.tar.gz
cd shoal-*
export SHOAL_HOME="$HOME/operator"
# The data folder is inside the program's folder, and must not be packed.
bin/shoal registry --port 8000 >"$HOME/log" 2>&1 &
registry=$!
trap 'kill $registry; wait $registry' EXIT
until curl -fs http://localhost:8000/install | grep -q shoal_install; do
  if ! kill -0 $registry || grep -F 'could not be packed' "$HOME/log" >&2; then exit 1; fi
  sleep 0.5
done
unset SHOAL_HOME
cd "$HOME"
curl -fsS http://localhost:8000/install | sh
shoal=$HOME/.local/bin/shoal
"$shoal" config get registry
"$shoal" search --json
"$shoal" upgrade
# The archive has the same bytes as the release's.
platform=$(basename "$RELEASE"/shoal-*-*.tar.gz .tar.gz | cut -d- -f3-)
curl -fsS "http://localhost:8000/install/$platform/SHA256SUMS" >packed
grep -xF -f packed "$RELEASE"/SHA256SUMS
