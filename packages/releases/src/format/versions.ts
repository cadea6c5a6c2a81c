/** An archive that includes Node: `shoal-<version>-<platform>.tar.gz`. */
export type Archive = {
  name: string
  version: string
  /** In Node's terms: `linux-x64`. */
  platform: string
}

const archiveName =
  /^shoal-(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+?)?)-((?:linux|darwin|win32)-(?:x64|arm64))\.tar\.gz$/

/** Parses the filename of an archive. Returns undefined if the file is not such an archive. */
export function parseArchiveName(name: string): Archive | undefined {
  const [, version, platform] = archiveName.exec(name) ?? []
  return version === undefined || platform === undefined ? undefined : { name, version, platform }
}

/**
 * Compares two versions by their precedence (https://semver.org, rule 11). Returns a negative number if `a` precedes
 * `b`, a positive number if `b` precedes `a`, and 0 if their precedence is equal.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [split(a), split(b)]
  return (
    compareLists(left.numbers, right.numbers) ||
    // A version with a suffix, such as 1.0.0-rc.1, comes before the version without it.
    Number(right.suffix.length > 0) - Number(left.suffix.length > 0) ||
    compareLists(left.suffix, right.suffix)
  )
}

function split(version: string) {
  const [, numbers = '', suffix] = /^([^-+]*)(?:-([^+]*))?/.exec(version) ?? []
  return { numbers: numbers.split('.'), suffix: suffix?.split('.') ?? [] }
}

/** Compares two lists item by item. Numbers come before words, and a list comes after each of its prefixes. */
function compareLists(a: string[], b: string[]): number {
  for (const [at, left] of a.entries()) {
    const right = b[at]
    if (right === undefined) return 1
    const areNumbers = [left, right].map((word) => /^\d+$/.test(word))
    const order =
      areNumbers[0] && areNumbers[1]
        ? Number(left) - Number(right)
        : Number(areNumbers[1]) - Number(areNumbers[0]) ||
          (left < right ? -1 : Number(left > right))
    if (order !== 0) return order
  }
  return a.length - b.length
}
