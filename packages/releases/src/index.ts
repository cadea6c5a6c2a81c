/** The face to a server that offers releases of its own program. */

export { releaseRoutes } from './offer/release-routes.ts'
export { type Offered, openReleases, type Release, type Releases } from './offer/releases.ts'
export { type Packing, startPacking } from './pack/pack-own-program.ts'
export { ownProgramFolder } from './pack/program-folder.ts'
