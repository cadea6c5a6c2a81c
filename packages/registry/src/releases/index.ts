/** Code that is used both to make releases and to pack a registry's own program. */
export { packArchive } from './pack-archive.ts'
export { describeProgram, listFiles } from './program.ts'
export { signRelease } from './sign-release.ts'
