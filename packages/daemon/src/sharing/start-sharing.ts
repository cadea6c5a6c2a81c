import type { Logger } from '@shoal/log'
import { type Sharing, shareFolder } from '@shoal/transfer'
import type { DaemonConfig } from '../config.ts'

type Settings = Pick<DaemonConfig, 'sharing' | 'modelsDirectory' | 'registry'>

/** Shares the folder of local models with peers. Returns undefined if sharing is off. Later failures are logged. */
export async function startSharing(settings: Settings, log: Logger): Promise<Sharing | undefined> {
  const { sharing, modelsDirectory, registry } = settings
  if (!sharing) return undefined
  return shareFolder({
    ...sharing,
    modelsDirectory,
    registry,
    network: registry?.network,
    onDropped: (file, reason) => log.warn({ file, reason }, 'not shared'),
    onFailed: (reason) => log.error({ reason }, 'sharing has stopped'),
  })
}
