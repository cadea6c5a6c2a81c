import { type FileChoice, fileChoices, findBestFit, runnable } from '@shoal/model-file/choices'
import type { ModelFile } from '@shoal/protocol/client'

export type Choice = FileChoice<ModelFile>

export const choicesOf = (files: readonly ModelFile[]): Choice[] =>
  fileChoices(files, (file) => file.file_size_bytes)

export const bestFitOf = (choices: readonly Choice[], memoryGb: number): Choice | undefined =>
  findBestFit(runnable(choices), memoryGb * 1e9)

export const memoryOf = ({ memoryBytes }: Choice): number => memoryBytes
