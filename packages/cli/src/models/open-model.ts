import { type FileChoice, fileChoices } from '@shoal/model-file/choices'
import type { ModelFile, RegistryClient } from '@shoal/protocol/client'
import type { Context } from '../context.ts'
import { misuse } from '../terminal/failure.ts'
import { namingNeighbours } from './find-model.ts'
import { readReference } from './reference.ts'

/** The published model that a command reads or changes. */
export type OpenModel = {
  name: string
  /** The registry's host and port, for messages. */
  label: string
  address: string
  /** Runs `run`. If the model does not exist, the error suggests similar names. */
  call<T>(run: (client: RegistryClient) => Promise<T>): Promise<T>
}

/**
 * Returns the model that a reference refers to, without checking whether the model exists.
 * @throws `usage` if the reference names a file of the model
 */
export async function openModel(context: Context, text: string): Promise<OpenModel> {
  const { quantization, ...model } = await openModelOrFile(context, text)
  if (quantization === undefined) return model
  throw misuse(
    `“${text}” names a file, but this command is for a whole model.`,
    `Pass only the name of the model: ${model.name}.`,
  )
}

/** Like `openModel`, but also accepts a file or a quantization in the reference, and returns it. */
export async function openModelOrFile(
  context: Context,
  text: string,
): Promise<OpenModel & { quantization: string | undefined }> {
  const { registry: host, name, quantization } = readReference(text)
  const registry = await context.openRegistry(host)
  const { label, address, client } = registry
  return {
    name,
    quantization,
    label,
    address,
    call: (run) => namingNeighbours(registry, name, () => run(client)),
  }
}

/**
 * Lists all files of a model, including those that are not ready. All parts of a split file together count as one
 * choice.
 */
export async function listAllFiles({ name, call }: OpenModel): Promise<FileChoice<ModelFile>[]> {
  const files = await call((client) => client.listFiles(name, { status: 'all' }))
  return fileChoices(files, (file) => file.file_size_bytes)
}
