/** Helpers for commands that run on the registry's host and access the registry's data folder directly. */
import type { Admin, RegistryConfig } from '@shoal/registry'
import type { Context, OpenContext } from '../context.ts'
import { misuse } from '../terminal/failure.ts'
import { type DataOption, toRegistryFlags } from './server-options.ts'

/** Opens the data folder, calls `work`, and then closes the folder, even if `work` fails. */
export async function withAdmin(
  open: OpenContext,
  options: DataOption,
  work: (admin: Admin, context: Context) => Promise<void>,
): Promise<void> {
  const context = await open()
  const config = await readDataConfig(context, options)
  const { openAdmin } = await import('@shoal/registry')
  const admin = await openAdmin(config)
  try {
    await work(admin, context)
  } finally {
    await admin.close()
  }
}

/** Reads the registry's configuration from the environment and `--data`. Throws if `--registry` is given. */
export async function readDataConfig(
  { options, environment }: Context,
  data: DataOption,
): Promise<RegistryConfig> {
  if (options.registry !== undefined) {
    throw misuse(
      'shoal admin does not accept --registry, because it accesses a data folder directly.',
      'Pass the data folder with --data.',
    )
  }
  const { readRegistryConfig } = await import('@shoal/registry')
  return readRegistryConfig(environment.env, toRegistryFlags(data))
}
