import { memoryOfMachine } from '@shoal/model-file/choices'
import type { ModelFile, ModelRecord } from '@shoal/protocol/client'
import { usePrefs } from '../app/use-prefs.ts'
import { type Choice, findBestChoice, listChoices, withContext } from './choices.ts'

export type Choices = {
  /** The choices, with the memory that each needs for a context of `contextTokens`. */
  choices: Choice[]
  best: Choice | undefined
  contextTokens: number
  memoryGb: number
  /** The memory that models may use on the visitor's machine. */
  memoryBytes: number
}

/** Returns the choices among a model's files, and the best one for the visitor's machine and context length. */
export function useChoices(model: ModelRecord, files: readonly ModelFile[]): Choices {
  const { memoryGb, contextTokens } = usePrefs()
  const choices = withContext(listChoices(files), model, contextTokens)
  return {
    choices,
    best: findBestChoice(choices, memoryGb),
    contextTokens: Math.min(contextTokens, model.context_length ?? contextTokens),
    memoryGb,
    memoryBytes: memoryOfMachine(memoryGb),
  }
}
