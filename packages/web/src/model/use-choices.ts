import { cacheBytesPerToken, memoryOfMachine, usualContext } from '@shoal/model-file/choices'
import type { ModelFile, ModelRecord } from '@shoal/protocol/client'
import { useQuery } from '@tanstack/react-query'
import { useClient } from '../api/context.ts'
import { fileQuery } from '../api/queries.ts'
import { usePrefs } from '../app/use-prefs.ts'
import { type Choice, findBestChoice, listChoices, withContext } from './choices.ts'
import { findHeaderFile } from './find-header-file.ts'

export type Choices = {
  /** The memory of each choice is that for a context of `contextTokens`. */
  choices: Choice[]
  best: Choice | undefined
  contextTokens: number
  memoryGb: number
  /** The memory that models may use on the visitor's machine. */
  memoryBytes: number
}

/**
 * Lists the choices among a model's files for the visitor's machine and context length. A context other than the usual
 * one needs the header of a file, which is loaded only then; until it is there, the usual context counts.
 */
export function useChoices(model: ModelRecord, files: readonly ModelFile[]): Choices {
  const prefs = usePrefs()
  const { memoryGb } = prefs
  const listed = listChoices(files)
  const isUsual = prefs.contextTokens === usualContext
  const file = findHeaderFile(files)
  const header = useQuery({
    ...fileQuery(useClient(), model.id, file?.id ?? ''),
    enabled: !isUsual && file !== undefined,
  })
  const contextTokens = header.isPending ? usualContext : prefs.contextTokens
  const context = {
    tokens: contextTokens,
    maxTokens: model.context_length,
    bytesPerToken: header.data?.metadata ? cacheBytesPerToken(header.data.metadata) : undefined,
  }
  const choices = contextTokens === usualContext ? listed : withContext(listed, context)
  return {
    choices,
    best: findBestChoice(choices, memoryGb),
    contextTokens: Math.min(contextTokens, model.context_length ?? contextTokens),
    memoryGb,
    memoryBytes: memoryOfMachine(memoryGb),
  }
}
