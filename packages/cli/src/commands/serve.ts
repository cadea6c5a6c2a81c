import type { DaemonConfig } from '@shoal/daemon'
import { Command } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { startInBackground } from '../daemon/detach.ts'
import {
  addServeOptions,
  formatTypedFlags,
  readServeConfig,
  type ServeOptions,
} from '../daemon/serve-options.ts'
import { type StartedDaemon, startNotedDaemon } from '../daemon/start-daemon.ts'
import { type DaemonState, findRunningDaemon } from '../daemon/state-file.ts'
import { formatChoiceName, isComplete, listLocalChoices } from '../models/local-models.ts'
import { untilStopped } from '../server/until-stopped.ts'
import { Failure, misuse } from '../terminal/failure.ts'
import { plural, shortList } from '../terminal/units.ts'

export function serveCommand(open: OpenContext): Command {
  const command = new Command('serve')
    .description('serve models over an OpenAI-compatible API')
    .option('-d, --detach', 'run the daemon in the background; to stop it: shoal stop')
  type Options = ServeOptions & { detach?: boolean }
  return addServeOptions(command).action(async ({ detach, ...options }: Options) => {
    const context = await open()
    if (detach) await serveInBackground(context, command, options)
    else await serveHere(context, options)
  })
}

async function serveHere(context: Context, options: ServeOptions) {
  const { printer } = context
  const stopSignal = context.takeStopSignal()
  const config = await readServeConfig(context, options)
  const isLogOnStdout = config.log === 'stdout'
  if (isLogOnStdout && printer.isJson) {
    throw misuse(
      'The log and a JSON document cannot both go to stdout.',
      'Log to a file with --log <file>.',
    )
  }
  const serveOptions = { config, command: 'serve', portOption: 'shoal serve --port' } as const
  const running = await startNotedDaemon(context, serveOptions)
  try {
    if (options.model !== undefined) await running.preload(options.model)
    const document = await createDocument(context, { running, config, loaded: options.model })
    if (isLogOnStdout) for (const line of formatLines(document)) printer.note(line)
    else await printer.answer(document, () => formatLines(document))
    if (running.other) {
      printer.warn(
        `Another daemon is running at ${running.other.url}, and shoal ps, load and stop use that daemon.`,
      )
      printer.note(
        `  To use the new daemon with shoal ps and load, set SHOAL_INFERENCE=${running.url}`,
      )
    }
    await untilStopped(stopSignal)
    printer.note(
      'Stopping when responses in progress have finished. Press Ctrl-C again to stop now.',
    )
  } finally {
    await running.close()
  }
}

async function serveInBackground(context: Context, command: Command, options: ServeOptions) {
  const { places, printer, registryAddress, environment } = context
  if (options.log === '-')
    throw misuse('A background process cannot log to stdout. Pass a file with --log <file>.')
  const running = await findRunningDaemon(places)
  if (running) throw runsAlready(running)
  const { log } = await readServeConfig(context, options)
  const { cacert } = context.options
  const caWords = cacert ? ['--cacert', cacert] : []
  const document = await startInBackground<Document>({
    words: [
      'serve',
      '--registry',
      registryAddress,
      ...caWords,
      ...formatTypedFlags(command, 'detach'),
    ],
    env: environment.env,
    logFile: typeof log === 'object' ? log.file : '',
    signal: context.takeStopSignal(),
  })
  await printer.answer(document, () => [
    ...formatLines(document),
    `  Process     ${document.pid}     to stop it: shoal stop`,
  ])
}

function runsAlready({ url, pid }: DaemonState): Failure {
  return new Failure('failed', `A daemon is already running at ${url} (process ${pid}).`, {
    hint: 'To stop it: shoal stop',
    details: { url, pid },
  })
}

type Document = Awaited<ReturnType<typeof createDocument>>

type Served = { running: StartedDaemon; config: DaemonConfig; loaded: string | undefined }

async function createDocument(context: Context, { running, config, loaded }: Served) {
  const { url, port, needsKey, sharedFiles } = running
  const { modelsDirectory, log } = config
  const places = { ...context.places, models: modelsDirectory }
  const here = await listLocalChoices({ ...context, places })
  return {
    url,
    api_url: `${url}/v1`,
    port,
    pid: process.pid,
    needs_key: needsKey,
    models_directory: modelsDirectory,
    models: here.filter((one) => isComplete(one) && !one.isCompanion).map(formatChoiceName),
    loaded: loaded ?? null,
    shared_files: sharedFiles ?? null,
    log_file: typeof log === 'object' ? log.file : null,
  }
}

function formatLines(document: Document): string[] {
  const { api_url, needs_key, models, loaded, shared_files, log_file } = document
  const here =
    models.length > 0 ? shortList(models) : 'none yet; download one with: shoal pull <model>'
  return [
    `  Local API   ${api_url}     ${needs_key ? 'requires its API key' : 'no API key required'}`,
    `  Models      ${here}`,
    ...(loaded === null ? [] : [`  Loaded      ${loaded}`]),
    ...(shared_files === null ? [] : [`  Sharing     ${formatSharing(shared_files)}`]),
    ...(log_file === null ? [] : [`  Log         ${log_file}`]),
  ]
}

const formatSharing = (files: number) =>
  files === 0
    ? 'none found yet; models you pull will be shared (to turn off: --no-share)'
    : `${plural(files, 'file')}; peers can see your IP address (to turn off: --no-share)`
