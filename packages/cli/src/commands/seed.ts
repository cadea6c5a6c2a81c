import type { SeedStanding } from '@shoal/transfer'
import { Command, Option } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { untilStopped } from '../server/until-stopped.ts'
import { shareModels, titleOf } from '../sharing/share-models.ts'
import { misuse } from '../terminal/failure.ts'
import { formatBytes, plural, wholeNumber } from '../terminal/units.ts'
import { peersOf, uploadLimitOption } from '../transfers/peer-options.ts'

type SeedOptions = { limitUpload?: number; ratio?: number; port: number; host: string }

/** So often it is told how things stand, where they have changed. */
const tellEveryMs = 10_000

export function seedCommand(open: OpenContext): Command {
  return new Command('seed')
    .description('give others the models on this machine, until Ctrl-C')
    .addOption(uploadLimitOption())
    .addOption(
      new Option('--ratio <number>', 'give each file at most so many times').argParser(ratioOf),
    )
    .addOption(
      new Option('--port <number>', 'where others connect (default: any that is free)')
        .argParser(wholeNumber(0, 65_535))
        .default(0, 'any'),
    )
    .option('--host <address>', 'on which address', '0.0.0.0')
    .action(async (options: SeedOptions) => {
      const context = await open()
      if (context.config.peers === 'off') {
        throw misuse(
          'Sharing is switched off here: shoal config set peers off.',
          'To allow it: shoal config set peers on',
        )
      }
      await seed(context, options)
    })
}

async function seed(context: Context, { ratio, port, host, limitUpload }: SeedOptions) {
  const { printer, config } = context
  const stopSignal = context.takeStopSignal()
  const { uploadLimit } = peersOf(limitUpload === undefined ? {} : { limitUpload }, config)
  const sharing = await shareModels(context, {
    ratio,
    port,
    host,
    uploadLimit,
    onDropped: (file, message) => printer.warn(`${file} is not shared: ${message}`),
  })
  let told = ''
  const tell = () => {
    const line = lineOf(sharing.seeder.standing())
    if (line !== told) printer.note(line)
    told = line
  }
  const telling = setInterval(tell, tellEveryMs)
  try {
    printer.note(`  Sharing     ${plural(sharing.fileCount(), 'file')}; others see this address.`)
    printer.note('  Ctrl-C ends it.')
    await untilStopped(stopSignal)
  } finally {
    clearInterval(telling)
    const { files } = sharing.seeder.standing()
    await sharing.close()
    await printer.answer(files, () => [])
    for (const { path, uploadedBytes } of files) {
      printer.note(`  ${titleOf(path)}   gave ${formatBytes(uploadedBytes)}`)
    }
  }
}

function lineOf({ files, bytesPerSecond }: SeedStanding): string {
  const peers = files.reduce((sum, one) => sum + one.peers, 0)
  const given = files.reduce((sum, one) => sum + one.uploadedBytes, 0)
  const speed = bytesPerSecond > 0 ? `, up ${formatBytes(bytesPerSecond)}/s` : ''
  return `  Sharing     ${plural(files.length, 'file')}, ${plural(peers, 'peer')}, gave ${formatBytes(given)}${speed}`
}

function ratioOf(text: string): number {
  const value = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && value > 0) return value
  throw misuse(`“${text}” is not a ratio such as 2 or 0.5.`)
}
