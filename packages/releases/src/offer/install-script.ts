/** The installation script, which the registry generates for the releases that it offers. */
import type { Offered } from './releases.ts'

/** For each platform, the output of `uname -s` and `uname -m`. */
const systems: Record<string, string> = {
  'linux-x64': 'Linux-x86_64',
  'linux-arm64': 'Linux-aarch64',
  'darwin-x64': 'Darwin-x86_64',
  'darwin-arm64': 'Darwin-arm64',
}

/**
 * Returns a script for POSIX shells. The script is a single command in braces. A shell runs such a command only after
 * reading its last byte, so an incomplete download does nothing. The script installs shoal into `lib/shoal` and `bin`
 * in `~/.local`, does not need root, and does not change configuration files of shells.
 */
export function installScript(baseUrl: string, offered: readonly Offered[]): string {
  const cases = offered.flatMap((one) => {
    const system = systems[one.archive.platform]
    return system === undefined ? [] : [platformCase(system, one)]
  })
  return script
    .replace('@BASE@', () => quote(baseUrl))
    .replace('@CASES@', () => cases.join('\n'))
    .replace('@PLATFORMS@', () => quote(offered.map(({ archive }) => archive.platform).join(', ')))
}

/** Returns a script that prints a message and fails. */
export const messageScript = (message: string): string =>
  `#!/bin/sh\n{ printf '%s\\n' ${quote(message)} >&2; exit 1; }\n`

function platformCase(system: string, { archive, release, file }: Offered): string {
  return `    ${system})
      path=${quote(`${archive.platform}/${archive.name}`)}
      version=${quote(archive.version)}
      sha256=${quote(file.sha256)}
      key=${quote(release.publicKey.trim())}
      ;;`
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

const script = `#!/bin/sh
# Installs shoal from this registry, for the current user: sh shoal-install.sh [--prefix FOLDER]
{ shoal_install() {
  set -eu
  base=@BASE@
  prefix=\${HOME:?}/.local
  if [ "\${1-}" = --prefix ] && [ $# -eq 2 ]; then
    prefix=$2
  elif [ $# -ne 0 ]; then
    echo 'usage: sh shoal-install.sh [--prefix FOLDER]' >&2
    return 2
  fi
  case $prefix in
    /*) ;;
    *) prefix=$PWD/$prefix ;;
  esac
  lib=$prefix/lib/shoal

  refuse() {
    printf 'shoal was not installed: %s\\n' "$1" >&2
    exit 1
  }

  system=$(uname -s)-$(uname -m)
  case $system in
@CASES@
    *) refuse "this registry has no shoal for $system, only for: "@PLATFORMS@ ;;
  esac
  archive=\${path##*/}

  if [ -e "$prefix/bin/shoal" ] || [ -h "$prefix/bin/shoal" ]; then
    case $(readlink "$prefix/bin/shoal" || :) in
      ../lib/shoal/*) ;;
      *) refuse "$prefix/bin/shoal was not installed by this script. Remove it, or pass --prefix." ;;
    esac
  fi
  if [ -e "$lib/release-key.pem" ] && [ "$(cat "$lib/release-key.pem")" != "$key" ]; then
    refuse "this registry's release is signed with a different key than the installed release. If you trust the new key, delete $lib/release-key.pem"
  fi

  mkdir -p "$lib" "$prefix/bin"
  # Delete what installations that were killed more than a day ago have left behind. Errors are ignored.
  find "$lib/." ! -name . -prune -type d -name '.install-??????' -mtime +0 -exec rm -rf {} + || :
  draft=$(mktemp -d "$lib/.install-XXXXXX")
  trap 'rm -rf "$draft"' EXIT
  trap 'exit 1' HUP INT TERM

  download() {
    if command -v curl >/dev/null; then
      curl --fail --silent --show-error --output "$draft/$1" "$base/install/\${path%/*}/$1" || refuse "the download failed"
    elif command -v wget >/dev/null; then
      wget -q -O "$draft/$1" "$base/install/\${path%/*}/$1" || refuse "the download failed"
    else
      refuse "curl or wget is needed"
    fi
  }

  # Verifies the signature of the checksums with the key that the first installation saved. Uses the Node of an installed
  # release, or OpenSSL 3. Returns 1 if neither works.
  verify() {
    for release in "$lib"/*/; do
      status=0
      LD_LIBRARY_PATH=$release/lib "$release/node/bin/node" -e "$verification" \\
        "$draft/SHA256SUMS" "$lib/release-key.pem" "$draft/SHA256SUMS.sig" 2>/dev/null || status=$?
      case $status in
        0) return 0 ;;
        3) refuse "the signature of this registry's release is wrong" ;;
      esac
    done
    if openssl pkeyutl -help 2>&1 | grep -q -e -rawin; then
      openssl pkeyutl -verify -pubin -inkey "$lib/release-key.pem" -rawin -in "$draft/SHA256SUMS" \\
        -sigfile "$draft/SHA256SUMS.sig" >/dev/null 2>&1 || refuse "the signature of this registry's release is wrong"
    else
      return 1
    fi
  }
  verification='
    const [sums, key, signature] = process.argv.slice(1).map((path) => require("node:fs").readFileSync(path))
    process.exit(require("node:crypto").verify(null, sums, key, signature) ? 0 : 3)'

  printf 'Downloading shoal %s from %s\\n' "$version" "$base" >&2
  download "$archive"
  if [ -e "$lib/release-key.pem" ]; then
    download SHA256SUMS
    download SHA256SUMS.sig
    if verify; then
      grep -qxF "$sha256  $archive" "$draft/SHA256SUMS" ||
        refuse "the SHA-256 of $archive is not among the signed checksums of this registry's release"
    else
      echo 'The signature of the release was not verified, because OpenSSL 3 is not installed.' >&2
    fi
  fi

  if command -v sha256sum >/dev/null; then
    found=$(sha256sum <"$draft/$archive")
  elif command -v shasum >/dev/null; then
    found=$(shasum -a 256 <"$draft/$archive")
  else
    refuse "sha256sum or shasum is needed"
  fi
  found=\${found%% *}
  if [ "$found" != "$sha256" ]; then
    refuse "the SHA-256 of $archive is $found, not $sha256"
  fi

  tar -xzof "$draft/$archive" -C "$draft"
  unpacked=$draft/\${archive%.tar.gz}
  "$unpacked/bin/shoal" --version >/dev/null ||
    refuse "the program does not run on this machine. On Linux, it needs glibc 2.28 or newer."
  if [ -e "$lib/$version" ]; then mv "$lib/$version" "$draft/previous"; fi
  mv "$unpacked" "$lib/$version"
  printf '%s\\n' "$key" >"$draft/release-key.pem"
  mv "$draft/release-key.pem" "$lib/release-key.pem"
  ln -s "../lib/shoal/$version/bin/shoal" "$draft/shoal"
  mv -f "$draft/shoal" "$prefix/bin/shoal"

  registry=$("$prefix/bin/shoal" config get registry 2>/dev/null) || registry=
  if [ -z "$registry" ]; then
    "$prefix/bin/shoal" config set registry "$base" || refuse "the address of the registry could not be saved"
  elif [ "$registry" != "$base" ]; then
    printf 'The saved registry is still %s. To change it: shoal config set registry %s\\n' "$registry" "$base" >&2
  fi
  printf 'Installed shoal %s as %s\\n' "$version" "$prefix/bin/shoal" >&2
  case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) printf '%s is not in PATH. To add it, put this line in the configuration file of your shell:\\n  export PATH="%s:$PATH"\\n' "$prefix/bin" "$prefix/bin" >&2 ;;
  esac
}
shoal_install "$@"; }
`
