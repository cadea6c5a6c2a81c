import { shellWord } from '@shoal/core/references'
import {
  defaultChoice,
  type FileChoice,
  findBestFit,
  findChoices,
  memoryForModels,
  missingParts,
  runnable,
} from '@shoal/model-file/choices'
import type { ModelFile } from '@shoal/protocol/client'
import { Failure } from '../terminal/failure.ts'
import { toTerminalLine } from '../terminal/terminal-text.ts'
import { formatMachine, formatMemory, plural } from '../terminal/units.ts'
import type { FoundModel } from './find-model.ts'

export type Pick = {
  choice: FileChoice<ModelFile>
  /** Why shoal chose the file, such as `best fit for 16 GB`. Undefined if only this file matches the reference. */
  reason?: string
}

/** Returns the choice that the user specified, or else the best fit for this machine. */
export function pickFile(
  { reference, model, choices, registry }: FoundModel,
  memoryBytes: number,
): Pick {
  const { name } = model
  const wanted = reference.quantization
  const candidates = runnable(choices)
  if (choices.length === 0) {
    throw new Failure('not_found', `${name} on ${registry.label} has no files that are ready.`)
  }
  if (wanted !== undefined) {
    const found = findChoices(choices, wanted)
    const choice = defaultChoice(found, memoryForModels(memoryBytes))
    if (choice && missingParts(choice).length > 0) throw partsMissing(choice, name)
    if (choice && found.length > 1) {
      return {
        choice,
        reason: `the default among the ${plural(found.length, 'file')} with quantization ${wanted}`,
      }
    }
    if (choice) return { choice }
    const labels = choices.map(({ label }) => label)
    throw new Failure('not_found', `${name} has no ${wanted} file.`, {
      hint: `Available: ${labels.map(toTerminalLine).join(', ')}.`,
      details: { quantizations: labels },
    })
  }
  const machine = formatMachine(memoryBytes)
  const [smallest] = candidates
  const choice = findBestFit(candidates, memoryForModels(memoryBytes))
  if (choice) return { choice, reason: `best fit for ${machine}` }
  if (!smallest) {
    const [incomplete] = choices.filter(({ isCompanion }) => !isCompanion)
    if (incomplete) throw partsMissing(incomplete, name)
    throw new Failure('not_found', `${name} has no file that can run on its own.`, {
      hint: `To use one of its files anyway, name it: ${choices.map(({ label }) => toTerminalLine(`${name}:${label}`)).join(', ')}.`,
    })
  }
  throw new Failure('no_room', `No file of ${name} fits in this machine's ${machine} of memory.`, {
    hint: [
      `The smallest, ${smallest.label}, needs ${formatMemory(smallest.memoryBytes)}.`,
      `To download it anyway: shoal pull ${shellWord(`${name}:${smallest.label}`)}`,
    ].join('\n'),
  })
}

function partsMissing(choice: FileChoice<ModelFile>, name: string): Failure {
  const { label, parts } = choice
  const ready = parts - missingParts(choice).length
  return new Failure(
    'not_found',
    `${name}:${label} has ${parts} parts, of which ${ready} ${ready === 1 ? 'is' : 'are'} ready.`,
    { hint: 'Try again when the publisher has uploaded all parts.' },
  )
}
