import type { DaemonConfig, DaemonFlags } from '@shoal/daemon'
import type { Surroundings } from '../surroundings.ts'
import { misuse } from '../terminal/failure.ts'
import { sentence } from '../terminal/plain-text.ts'

/** A daemon's configuration from flags and environment. An invalid value is a usage error. */
export async function readConfig(
  { env }: Surroundings,
  flags: DaemonFlags & { models: string },
): Promise<DaemonConfig> {
  const { ConfigError, readDaemonConfig } = await import('@shoal/daemon')
  try {
    return readDaemonConfig(env, flags)
  } catch (error) {
    throw error instanceof ConfigError ? misuse(sentence(error.message)) : error
  }
}
