/** The face to `shoal upgrade`, which installs releases. */
export { compareVersions } from '../format/index.ts'
export { installRelease } from './install-release.ts'
export { findInstallation } from './installation.ts'
export { findOfferedRelease } from './offered-release.ts'
export type { ReleaseSource } from './release-source.ts'
export { UpgradeError, type UpgradeFailure } from './upgrade-error.ts'
