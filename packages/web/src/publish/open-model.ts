import { ApiError, type ModelRecord, type RegistryClient } from '@shoal/protocol/client'
import { type Details, newModelOf } from './details.ts'

export class NameTakenError extends Error {
  override name = 'NameTakenError'
}

/** The model to publish to: a new one, or the visitor's own of that name. Throws a `NameTakenError` for another's. */
export async function openModel(
  client: RegistryClient,
  details: Details,
  username: string,
): Promise<{ model: ModelRecord; isNew: boolean }> {
  try {
    return { model: await client.createModel(newModelOf(details)), isNew: true }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
    const model = await findModel(client, details.name)
    if (model?.owner === username) return { model, isNew: false }
    throw new NameTakenError(model ? `Taken, by ${model.owner}.` : 'Taken, by a private model.')
  }
}

export async function findModel(
  client: RegistryClient,
  name: string,
  signal?: AbortSignal,
): Promise<ModelRecord | null> {
  try {
    return await client.getModel(name, signal)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}
