import type { OllamaChatRequest } from '@shoal/protocol'
import type { LoadedModels } from '../models/loaded-models.ts'
import { readOptions } from './generation.ts'

type Request = Pick<OllamaChatRequest, 'model' | 'options' | 'keep_alive'>

/** Handles a request without a prompt, which loads the model or, with a `keep_alive` of 0, unloads it. */
export async function loadOrRelease(
  models: LoadedModels,
  request: Request,
  signal: AbortSignal,
): Promise<'load' | 'unload'> {
  const options = readOptions(request, signal)
  if (options.keepAliveMs === 0) {
    await models.release(request.model)
    return 'unload'
  }
  await models.load(request.model, options)
  return 'load'
}
