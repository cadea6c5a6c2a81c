/** The names, checksums and versions of the files that `npm run release` writes. */
export { parseChecksums, releaseFiles } from './checksums.ts'
export { type Archive, compareVersions, parseArchiveName } from './versions.ts'
