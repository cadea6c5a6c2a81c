import type { OllamaChatRequest } from '@shoal/protocol'
import type { LoadedModels } from '../models/loaded-models.ts'
import { readOptions } from './generation.ts'

type Request = Pick<OllamaChatRequest, 'model' | 'options' | 'keep_alive'>

/** Who asks a model nothing wants it loaded, or with no time to stay, unloaded. */
export async function loadOrRelease(
  models: LoadedModels,
  request: Request,
): Promise<'load' | 'unload'> {
  const options = readOptions(request)
  if (options.keepAliveMs === 0) {
    await models.release(request.model)
    return 'unload'
  }
  await models.load(request.model, options)
  return 'load'
}
