import { hasCode } from '@shoal/core/errors'
import type { DaemonConfig, DaemonFlags } from '@shoal/daemon'
import type { CliEnvironment } from '../environment.ts'
import { misuse } from '../terminal/failure.ts'
import { toSentence } from '../terminal/terminal-text.ts'

/** Reads a daemon's configuration from flags and environment variables. An invalid value is a usage error. */
export async function parseDaemonConfig(
  { env }: CliEnvironment,
  flags: DaemonFlags & { models: string },
): Promise<DaemonConfig> {
  const { readDaemonConfig } = await import('@shoal/daemon')
  try {
    return readDaemonConfig(env, flags)
  } catch (error) {
    throw hasCode(error, 'invalid_setting') ? misuse(toSentence(error.message)) : error
  }
}
