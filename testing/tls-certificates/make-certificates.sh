#!/usr/bin/env bash
# Regenerates the certificates for tests, with new keys: a private CA, and server certificates for this machine.
# Requires openssl.
set -euo pipefail
cd "$(dirname "$0")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
touch "$work/index"
cat >"$work/openssl.cnf" <<CONFIG
[ca]
default_ca = here
[here]
database = $work/index
new_certs_dir = $work
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = empty
[empty]
[authority]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:false
extendedKeyUsage = serverAuth
subjectAltName = \${ENV::NAMES}
CONFIG

export NAMES='' # the configuration refers to it in each step
here='DNS:localhost, DNS:registry.test, IP:127.0.0.1, IP:::1'
always=(-startdate 20200101000000Z -enddate 21200101000000Z)

request() { # file, common name
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -config "$work/openssl.cnf" \
    -subj "/CN=$2" -keyout "$1-key.pem" -out "$work/$1.csr"
}

sign() { # file, names, options of `openssl ca`
  NAMES=$2 openssl ca -batch -notext -config "$work/openssl.cnf" -in "$work/$1.csr" -out "$1.pem" \
    "${@:3}"
}

by_ca=(-extensions server -cert ca.pem -keyfile ca-key.pem)

request ca 'shoal test CA'
sign ca - -selfsign -extensions authority -keyfile ca-key.pem "${always[@]}"

request server localhost
sign server "$here" "${by_ca[@]}" "${always[@]}"

request expired localhost
sign expired "$here" "${by_ca[@]}" -startdate 20200101000000Z -enddate 20200201000000Z

request not-yet-valid localhost
sign not-yet-valid "$here" "${by_ca[@]}" -startdate 21190101000000Z -enddate 21200101000000Z

request wrong-name elsewhere.test
sign wrong-name 'DNS:elsewhere.test' "${by_ca[@]}" "${always[@]}"

request self-signed localhost
sign self-signed "$here" -selfsign -extensions server -keyfile self-signed-key.pem "${always[@]}"

rm ca-key.pem # so that nothing else can be signed with it
