import { AppError } from '@shoal/core/errors'
import { ApiError, type ModelRecord, type NewModel } from '@shoal/protocol/client'
import type { PublishClient } from './publish-client.ts'

/**
 * Creates `newModel`, or returns the model with that name if the user can change it. Throws `name_taken` if the user
 * cannot.
 */
export async function openModel(
  client: PublishClient,
  newModel: NewModel,
): Promise<{ model: ModelRecord; isNew: boolean }> {
  try {
    return { model: await client.createModel(newModel), isNew: true }
  } catch (error) {
    if (!(error instanceof ApiError) || error.problem.code !== 'name_taken') throw error
    const model = await lookUpModel(client, newModel.name)
    if (model?.can_write) return { model, isNew: false }
    const message = model ? `Already taken by ${model.owner}.` : 'Already taken by a private model.'
    throw new AppError('name_taken', message, {})
  }
}

/** Returns the model that has this name now; null if there is none, or if it was renamed. */
export async function lookUpModel(
  client: Pick<PublishClient, 'getModel'>,
  name: string,
  signal?: AbortSignal,
): Promise<ModelRecord | null> {
  try {
    const model = await client.getModel(name, signal)
    return model.name === name ? model : null
  } catch (error) {
    if (error instanceof ApiError && error.problem.code === 'model_unknown') return null
    throw error
  }
}

/** Creates a job's model again if it has been deleted in the meantime. */
export async function ensureModel(
  client: Pick<PublishClient, 'getModel' | 'createModel'>,
  model: NewModel,
): Promise<void> {
  if (await lookUpModel(client, model.name)) return
  await client.createModel(model)
}
