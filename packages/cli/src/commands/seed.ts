import { resolve } from 'node:path'
import type { SharingStatus } from '@shoal/protocol/inference-client'
import { Command, Option } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { findDaemonClient } from '../daemon/find-daemon.ts'
import { type InferenceOption, inferenceOption } from '../daemon/inference-option.ts'
import { findRunningDaemon } from '../daemon/state-file.ts'
import { untilStopped } from '../server/until-stopped.ts'
import { readSaved } from '../settings/config.ts'
import { Failure, misuse } from '../terminal/failure.ts'
import { printList } from '../terminal/print-list.ts'
import type { Column } from '../terminal/table.ts'
import { formatBytes, plural, wholeNumberParser } from '../terminal/units.ts'
import {
  ratioOption,
  readSharingSettings,
  type SharingOptions,
  uploadLimitOption,
} from '../transfers/peer-options.ts'

type SeedOptions = SharingOptions & { private?: boolean; port: number; host?: string }

export function seedCommand(open: OpenContext): Command {
  const seed = new Command('seed')
    .description('share local models with peers until Ctrl-C')
    .addOption(uploadLimitOption())
    .addOption(ratioOption())
    .option('--private', 'also share private models, with anyone who has their torrents')
    .addOption(
      new Option('--port <number>', 'port that peers connect to')
        .argParser(wholeNumberParser(0, 65_535))
        .default(0, 'any free port'),
    )
    .option(
      '--host <address>',
      'address to listen on (default: loopback if the registry is on this machine, otherwise all addresses)',
    )
    .action(async (options: SeedOptions) => seedHere(await open(), options))

  seed
    .command('status')
    .description(
      'show the files that the running daemon shares, with the peers and uploaded bytes of each',
    )
    .addOption(inferenceOption())
    .action(async ({ inference }: InferenceOption) => {
      const context = await open()
      const client = await findDaemonClient(context, inference)
      await printStatus(context, await client.sharing())
    })

  for (const [name, paused] of [
    ['pause', true],
    ['resume', false],
  ] as const) {
    seed
      .command(name)
      .description(
        paused ? 'pause sharing in the running daemon' : 'resume sharing in the running daemon',
      )
      .addOption(inferenceOption())
      .action(async ({ inference }: InferenceOption) => {
        const context = await open()
        const client = await findDaemonClient(context, inference)
        await printStatus(context, await client.setSharing(paused))
      })
  }
  return seed
}

async function printStatus({ printer }: Context, sharingStatus: SharingStatus) {
  const { enabled, error, looking, paused, files, bytes_per_second } = sharingStatus
  await printList(printer, files, { columns, document: sharingStatus })
  if (error !== null) printer.warn(`Sharing has stopped: ${error}`)
  else if (!enabled) printer.note('This daemon does not share models.')
  else if (looking)
    printer.note(`Scanning for models to share: ${plural(files.length, 'file')} found so far.`)
  else if (paused) printer.note('Sharing is paused. To resume: shoal seed resume')
  else
    printer.note(
      `Sharing ${plural(files.length, 'file')}, uploading at ${formatBytes(bytes_per_second)}/s.`,
    )
}

const columns: Column<SharingStatus['files'][number]>[] = [
  { title: 'FILE', text: ({ name }) => name },
  { title: 'PEERS', text: ({ peers }) => String(peers), align: 'right' },
  { title: 'UPLOADED', text: ({ uploaded_bytes }) => formatBytes(uploaded_bytes), align: 'right' },
]

async function seedHere(context: Context, options: SeedOptions) {
  const { printer, config, places } = context
  if (readSaved('peers', config) === 'off') {
    throw misuse(
      'Sharing is turned off by the peers setting.',
      'To turn it on: shoal config set peers on',
    )
  }
  await refuseBesideDaemon(context)
  const { port, host } = options
  const stopSignal = context.takeStopSignal()
  const failed = new AbortController()
  const { address, token } = await context.openRegistry()
  const { shareFolder, sharedName } = await import('@shoal/transfer')
  const sharing = await shareFolder({
    modelsDirectory: places.models,
    registry: { address, token },
    network: await context.networkSettings(),
    isPrivateShared: options.private,
    ...readSharingSettings(options, context),
    port,
    ...(host !== undefined && { host }),
    onDropped: (file, message) => printer.warn(`${file} is not shared: ${message}`),
    onFailed: (message, code) => failed.abort(toSharingFailure(message, code, port)),
  })
  const ended = AbortSignal.any([stopSignal, failed.signal])
  const stopped = untilStopped(ended)
  if (sharing.isScanning()) printer.note('  Scanning for models to share. Press Ctrl-C to stop.')
  await Promise.race([sharing.firstScan, stopped])
  if (!ended.aborted) {
    const files = plural(sharing.fileCount(), 'file')
    printer.note(`  Sharing the models on this machine (${files}). Peers can see your IP address.`)
    printer.note('  Press Ctrl-C to stop.')
  }
  await stopped
  await sharing.close().catch((error: Error) => {
    printer.warn(`Sharing did not stop cleanly: ${error.message}`)
  })
  failed.signal.throwIfAborted()
  const sharingStatus = sharing.status()
  await printer.answer(sharingStatus.files, () => [])
  for (const { path, uploadedBytes } of sharingStatus.files) {
    printer.note(`  ${sharedName(path)}   uploaded ${formatBytes(uploadedBytes)}`)
  }
}

/**
 * Throws if the daemon shares the same folder. Otherwise, the same files would be offered on two ports, and the share
 * ratio would be limited separately on each port.
 */
async function refuseBesideDaemon({ places }: Context) {
  const running = await findRunningDaemon(places)
  if (running?.shared_directory !== resolve(places.models)) return
  throw new Failure('failed', 'The models on this machine are already shared by shoal serve.', {
    hint: 'To see what is shared: shoal seed status. To share the models with shoal seed instead, restart the daemon with --no-share.',
  })
}

function toSharingFailure(message: string, code: string | undefined, port: number): Failure {
  if (code !== 'EADDRINUSE') return new Failure('failed', `Sharing has stopped: ${message}`)
  const hint = 'Pass another port, or omit --port to use any free port.'
  return new Failure('failed', `Port ${port} is in use by another program.`, { hint })
}
