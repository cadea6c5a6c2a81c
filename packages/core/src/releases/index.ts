/** The files of a release, as `npm run release` writes them: their names, their checksums and their versions. */
export { parseChecksums, releaseFiles } from './checksums.ts'
export { type Archive, compareVersions, parseArchiveName } from './versions.ts'
