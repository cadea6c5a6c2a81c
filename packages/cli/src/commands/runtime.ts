import { dirname, join } from 'node:path'
import type { Backend, BackendName } from '@shoal/daemon'
import { Command } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import type { Environment } from '../environment.ts'
import { Failure, misuse } from '../terminal/failure.ts'
import { type Column, table } from '../terminal/table.ts'
import { formatBytes, formatMemory } from '../terminal/units.ts'
import { whileWaiting } from '../terminal/waiting.ts'

export function runtimeCommand(open: OpenContext): Command {
  const runtime = new Command('runtime').description('list, install and remove GPU backends')

  runtime
    .command('ls')
    .description('list GPU backends and the device in use')
    .action(async () => reportBackends(await open()))

  runtime
    .command('install <backend>')
    .description('install a GPU backend: cuda or vulkan')
    .action(async (name: string) => {
      const context = await open()
      const { printer, places, environment } = context
      const signal = context.takeStopSignal()
      const { installBackend } = await import('@shoal/daemon')
      const backend = await backendNamed(name)
      const npm = npmCommand(environment.env)
      const work = () => installBackend({ directory: places.backends, name: backend, signal, npm })
      await whileWaiting(printer, `Downloading ${backend} from npm`, work).catch((error: Error) => {
        if (signal.aborted) throw new Failure('stopped', 'Stopped. Nothing was changed.')
        throw new Failure('failed', `${backend} could not be installed.`, {
          hint: error.message,
          cause: error,
        })
      })
      printer.success(`Installed ${backend}. Models loaded from now on can use it.`)
      await reportBackends(context)
    })

  runtime
    .command('rm <backend>')
    .description('delete a GPU backend')
    .action(async (name: string) => {
      const { printer, places } = await open()
      const { removeBackend } = await import('@shoal/daemon')
      const backend = await backendNamed(name)
      const wasThere = await removeBackend(places.backends, backend)
      if (wasThere) printer.success(`Deleted ${backend}.`)
      else printer.note(`${backend} is not installed.`)
      await printer.answer({ removed: wasThere ? backend : null }, () => [])
    })

  return runtime
}

async function reportBackends({ printer, places }: Context) {
  const { listBackends, probeDevice } = await import('@shoal/daemon')
  const backends = await listBackends(places.backends)
  const device = await whileWaiting(printer, 'Detecting the device', () =>
    probeDevice(places.backends),
  )
  await printer.answer({ backends, device }, async () => [
    ...(await table(columns, backends, { paintTitle: printer.out.dim })),
    '',
    `Models run on ${device.kind === 'cpu' ? 'the CPU' : `${device.names.join(', ')} (${device.kind}, ${formatMemory(device.memoryBytes)})`}.`,
  ])
}

const columns: Column<Backend>[] = [
  { title: 'BACKEND', text: ({ name }) => name },
  { title: 'INSTALLED', text: formatStatus },
]

function formatStatus({ name, isOffered, isInstalled, sizeBytes }: Backend): string {
  if (isInstalled) return formatBytes(sizeBytes)
  return isOffered
    ? `no; to install: shoal runtime install ${name}`
    : 'not available for this system'
}

async function backendNamed(name: string): Promise<BackendName> {
  const { backendNames } = await import('@shoal/daemon')
  const found = backendNames.find((one) => one === name.toLowerCase())
  if (found) return found
  throw misuse(`Unknown GPU backend “${name}”.`, `Available backends: ${backendNames.join(', ')}.`)
}

/**
 * Returns the command for the npm that started this process, or else for the npm on the `PATH`. On Windows, the npm on
 * the `PATH` is a shell script, so the npm that is installed next to Node is used instead.
 */
export function npmCommand(
  { npm_execpath: script }: Environment,
  platform: NodeJS.Platform = process.platform,
): [string, ...string[]] {
  if (script?.endsWith('.js')) return [process.execPath, script]
  if (platform !== 'win32') return ['npm']
  const folder = join(dirname(process.execPath), 'node_modules', 'npm', 'bin')
  return [process.execPath, join(folder, 'npm-cli.js')]
}
