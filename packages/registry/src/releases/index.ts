/** What making a release and packing a registry's own program have in common. */
export { packArchive } from './pack-archive.ts'
export { describeProgram, listFiles } from './program.ts'
export { signRelease } from './sign-release.ts'
