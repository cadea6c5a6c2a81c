/** The names, checksums, versions and keys of the files that `npm run release` writes. */
export { parseChecksums, releaseFiles } from './checksums.ts'
export { fingerprintOf } from './fingerprint.ts'
export { type Archive, compareVersions, parseArchiveName } from './versions.ts'
