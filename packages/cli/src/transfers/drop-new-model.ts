import type { RegistryClient } from '@shoal/protocol/client'
import { dropEmptyModel } from '@shoal/transfer/push'
import type { Printer } from '../terminal/printer.ts'

type DropOptions = {
  client: RegistryClient
  modelName: string
  files: readonly { filename: string }[]
}

/**
 * Timeout for deleting the model. It is short, because the user has just seen an error or pressed Ctrl-C and should not
 * have to wait.
 */
const timeoutMs = 5_000

/**
 * Deletes a model that a failed push has created, if it is empty. If the model cannot be deleted, prints only a note,
 * because the push has already failed for another reason.
 */
export async function dropNewModel(printer: Printer, { client, modelName, files }: DropOptions) {
  const filenames = files.map(({ filename }) => filename)
  const signal = AbortSignal.timeout(timeoutMs)
  await dropEmptyModel({ client, modelName, filenames, signal }).catch(() =>
    printer.note(`  The new model ${modelName} may remain on the registry without files.`),
  )
}
