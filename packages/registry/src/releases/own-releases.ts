/** The releases of shoal that this registry offers, and what they need from the registry. */
import { join } from 'node:path'
import type { OpenLog } from '@shoal/log'
import { openReleases, type Packing, type Releases, startPacking } from '@shoal/releases'
import type { Kysely } from 'kysely'
import type { RegistryConfig } from '../config.ts'
import type { Database } from '../database/schema.ts'
import { readSecret } from '../database/secret.ts'
import { readFileSystemSpace } from '../store/disk-space.ts'

export const openOwnReleases = ({
  releasesDirectory,
  dataDirectory,
}: Pick<RegistryConfig, 'releasesDirectory' | 'dataDirectory'>): Releases =>
  openReleases(releasesDirectory ?? join(dataDirectory, 'releases'))

type Options = {
  config: Pick<RegistryConfig, 'programFolder' | 'dataDirectory' | 'reserveBytes'>
  db: Kysely<Database>
  releases: Releases
  log: OpenLog['log']
}

/** Packs the registry's program in the background, if necessary. The key is the same on all nodes. */
export const startPackingOwn = ({ config, db, releases, log }: Options): Packing =>
  startPacking({
    ...config,
    releases,
    log,
    readKeySeed: () => readSecret(db, 'release-key'),
    readSpace: (folder) => readFileSystemSpace(folder, config.reserveBytes),
  })
