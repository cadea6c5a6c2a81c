#!/bin/sh
# Starts a registry from the archive in the folder RELEASE, adds that release to it, and installs shoal from it. Runs in a
# network namespace without any interface but loopback, in the empty folder HOME.
set -eu
ip link set lo up
cd "$HOME"
tar -xzf "$RELEASE"/shoal-*-*.tar.gz
program=$(echo "$PWD"/shoal-*/bin/shoal)
export SHOAL_HOME="$HOME/operator"
"$program" registry --port 8000 --data data >log 2>&1 &
registry=$!
trap 'kill $registry; wait $registry' EXIT
until curl -fs http://localhost:8000/readyz >/dev/null; do
  kill -0 $registry
  sleep 0.2
done
"$program" admin releases add "$RELEASE" --data data
unset SHOAL_HOME
curl -fsS http://localhost:8000/install | sh
shoal=$HOME/.local/bin/shoal
"$shoal" config get registry
"$shoal" search --json
"$shoal" upgrade
