/** The face to `npm run release`, which makes releases. */
export { compareVersions, parseArchiveName } from '../format/index.ts'
export { packArchive } from './pack-archive.ts'
export { describeProgram, listFiles } from './program.ts'
export { signRelease } from './sign-release.ts'
export { readSigningKey } from './signing-key.ts'
