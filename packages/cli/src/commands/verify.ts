import { hasCode } from '@shoal/core/errors'
import { shellWord } from '@shoal/core/references'
import type { LocalFile, VerifyResult } from '@shoal/transfer'
import { Command } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import {
  formatChoiceName,
  getLocalChoices,
  isComplete,
  type LocalChoice,
  listLocalChoices,
} from '../models/local-models.ts'
import { openProgress } from '../terminal/progress.ts'
import { plural } from '../terminal/units.ts'
import { type LimitOptions, readLimits } from '../transfers/limits.ts'
import { pullReport } from '../transfers/pull-report.ts'

type Verdict = 'intact' | 'damaged' | 'mismatch' | 'repaired' | 'unknown'
type Checked = {
  model: string
  /** The model's name, with the filename if the model has several files. */
  label: string
  path: string
  verdict: Verdict
  badChunks: number
}

export function verifyCommand(open: OpenContext): Command {
  return new Command('verify')
    .description('check local models against their hashes')
    .argument('[model[:quant]]', 'model name, optionally with a quantization (default: all models)')
    .option('--repair', 'download damaged chunks again')
    .action(async (reference: string | undefined, { repair }: { repair?: boolean }) => {
      const context = await open()
      const { printer } = context
      const choices = reference
        ? await getLocalChoices(context, reference)
        : await listLocalChoices(context)
      const checked: Checked[] = []
      for (const choice of choices.filter(isComplete)) {
        for (const file of choice.files) {
          const model = formatChoiceName(choice)
          const label = choice.files.length > 1 ? `${model}  ${file.filename}` : model
          const one = { model, label, path: file.path, ...(await check(context, label, file)) }
          const isMended = one.verdict === 'damaged' && repair === true
          checked.push(isMended ? await mend(context, one, file) : one)
        }
      }
      reportUnfinished(context, choices)
      if (choices.length === 0) printer.note(`No models in ${context.places.models} to verify.`)
      await printer.answer(checked.map(toDocument), () =>
        checked.map((one) => formatLine(one, context)),
      )
      const damaged = checked.filter(({ verdict }) => verdict === 'damaged')
      const isMismatched = checked.some(({ verdict }) => verdict === 'mismatch')
      if (isMismatched) context.endWith('verification_failed')
      if (damaged.length === 0) return
      context.endWith('verification_failed')
      printer.warn(`${plural(damaged.length, 'file')} damaged. To repair: shoal verify --repair`)
    })
}

async function check(
  context: Context,
  name: string,
  file: LocalFile,
): Promise<Pick<Checked, 'verdict' | 'badChunks'>> {
  const { path } = file
  const signal = context.takeStopSignal()
  const { checkImport, verifyFile } = await import('@shoal/transfer')
  const progress = await openProgress(context.printer, name)
  if (file.imported && !file.record) {
    const bytesTotal = file.fileSizeBytes ?? 0
    const onProgress = (bytesDone: number) => {
      progress.event({ type: 'verifying', bytesDone, bytesTotal })
      progress.update({ bytesDone, bytesTotal, remarks: [`checking ${name}`] })
    }
    try {
      await checkImport(file, { signal, onProgress })
      return { verdict: 'intact', badChunks: 0 }
    } catch (error) {
      if (!hasCode(error, 'damaged_file')) throw error
      return { verdict: 'mismatch', badChunks: 0 }
    } finally {
      progress.end()
    }
  }
  const result = await verifyFile({
    path,
    signal,
    onProgress(event) {
      progress.event({ type: 'verifying', ...event })
      progress.update({ ...event, remarks: [`checking ${name}`] })
    },
  }).finally(progress.end)
  return toVerdict(result)
}

function toVerdict(result: VerifyResult): Pick<Checked, 'verdict' | 'badChunks'> {
  if (result.status === 'no-record') return { verdict: 'unknown', badChunks: 0 }
  if (result.status === 'intact') return { verdict: 'intact', badChunks: 0 }
  return { verdict: 'damaged', badChunks: result.badChunks.length }
}

/** Repairs the file with data from the registry that it was pulled from. */
async function mend(context: Context, checked: Checked, file: LocalFile): Promise<Checked> {
  const { printer } = context
  const { repairFile } = await import('@shoal/transfer')
  const registry = await context.openRegistry(file.record?.registry)
  const progress = await openProgress(printer, checked.label)
  const report = pullReport(printer, progress, file.fileSizeBytes ?? 0)
  const limits: LimitOptions = {}
  await repairFile({
    client: registry.client,
    network: await context.networkSettings(),
    path: file.path,
    ...readLimits(limits, context, 'pull'),
    signal: context.takeStopSignal(),
    onEvent: report.onEvent,
  }).finally(progress.end)
  return { ...checked, verdict: 'repaired' }
}

function reportUnfinished({ printer }: Context, choices: readonly LocalChoice[]) {
  for (const choice of choices.filter((one) => !isComplete(one))) {
    const missing = choice.files.find(({ isMissing }) => isMissing)
    if (missing) {
      const place = missing.target ?? missing.path
      printer.note(`  ${formatChoiceName(choice)} is missing: ${place} no longer exists.`)
      continue
    }
    printer.note(
      `  ${formatChoiceName(choice)} is incomplete. To resume: shoal pull ${shellWord(formatChoiceName(choice))}`,
    )
  }
}

function formatLine({ label, path, verdict, badChunks }: Checked, { printer }: Context): string {
  const { green, red, yellow } = printer.out
  const lines = {
    intact: `${green('✓')} ${label}  intact`,
    repaired: `${green('✓')} ${label}  repaired`,
    damaged: `${red('✗')} ${label}  ${plural(badChunks, 'bad chunk')}`,
    mismatch: `${red('✗')} ${label}  does not match the hash in the original store: ${path}`,
    unknown: `${yellow('!')} ${label}  not pulled by shoal, so its hash is unknown: ${path}`,
  }
  return lines[verdict]
}

const toDocument = ({ model, path, verdict, badChunks }: Checked) => ({
  model,
  path,
  status: verdict,
  bad_chunks: badChunks,
})
