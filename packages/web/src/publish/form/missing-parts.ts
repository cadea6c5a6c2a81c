import { useQuery } from '@tanstack/react-query'
import { useClient } from '../../api/context.ts'
import { filesQuery } from '../../api/queries.ts'
import type { ChosenChoice } from './chosen-file.ts'

const maxListed = 5

/**
 * Removes the shards that the model already has from the missing shards of each choice. `modelName` is the name of the
 * existing model to which the files will be added; undefined for a new model.
 */
export function useMissingParts(
  choices: readonly ChosenChoice[],
  modelName: string | undefined,
): ChosenChoice[] {
  const isIncomplete = choices.some(({ missing }) => missing.length > 0)
  const published = useQuery({
    ...filesQuery(useClient(), modelName ?? ''),
    enabled: isIncomplete && modelName !== undefined,
  })
  const here = new Set(modelName && published.data?.map(({ filename }) => filename))
  return choices.map((choice) => ({
    ...choice,
    missing: choice.missing.filter((filename) => !here.has(filename)),
  }))
}

/** Formats filenames as a list. A split file can have tens of thousands of shards, so only the first are listed. */
export function formatFilenames(filenames: readonly string[]): string {
  const others = filenames.length - maxListed
  const listed = filenames.slice(0, maxListed).join(', ')
  return others > 0 ? `${listed} and ${others.toLocaleString('en')} more` : listed
}

/** Returns the form's error if shards of split files are missing; otherwise undefined. */
export function describeMissing(choices: readonly ChosenChoice[]): string | undefined {
  const missing = choices.flatMap((choice) => choice.missing)
  if (missing.length === 0) return undefined
  const [these, them] = missing.length === 1 ? ['This part is', 'it'] : ['These parts are', 'them']
  return `A split model cannot run without all its parts. ${these} missing: ${formatFilenames(missing)}. Add ${them}, or remove the model’s other parts.`
}
