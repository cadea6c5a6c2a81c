import { hasCode } from '@shoal/core/errors'
import { registryOption } from '@shoal/core/references'
import { ApiError, NetworkError } from '@shoal/protocol/client'
import { localModelName } from '@shoal/transfer'
import { Fault } from '../errors.ts'

type Asked = { model: string; registry: string }
type Pulled = Asked & { modelsDirectory: string }

/**
 * Converts a known pull error to a `Fault` for the client that requested the pull. Returns any other error unchanged.
 */
export function pullFault(error: unknown, { model, registry, modelsDirectory }: Pulled): unknown {
  if (error instanceof ApiError) return refusal(error, { model, registry })
  if (error instanceof NetworkError) {
    const { code, reason, detail } = error.failure
    const message = `no usable response from the registry at ${registry} (${code}, ${reason}): ${detail}`
    return new Fault('registry_unreachable', message)
  }
  if (hasCode(error, 'bytes_refused')) {
    const message = `the registry at ${registry} did not send the data: ${error.message}`
    return new Fault('registry_failed', message)
  }
  if (hasCode(error, 'no_room')) return new Fault('no_room', error.message)
  if (hasCode(error, 'file_in_the_way')) return new Fault(409, error.message)
  if (hasCode(error, 'is_link')) return new Fault('model_linked', error.message)
  if (hasCode(error, 'damaged_file')) {
    const name = localModelName(modelsDirectory, error.details.path)
    return new Fault(
      'damaged_file',
      `${error.message}; repair it with: shoal verify --repair ${name}`,
    )
  }
  if (hasCode(error, 'verification_failed')) {
    return new Fault('verification_failed', error.message)
  }
  return error
}

function refusal({ status, message }: ApiError, { model, registry }: Asked): Fault {
  if (status === 404) {
    return new Fault(
      'model_not_found',
      `model '${model}' not found in the registry at ${registry}`,
      { param: 'model' },
    )
  }
  if (status === 401) {
    const message = `the registry at ${registry} requires you to sign in again: shoal login${registryOption(registry)}`
    return new Fault('registry_refused', message)
  }
  if (status === 403) {
    const why = `the registry at ${registry} does not allow the request: ${message}`
    return new Fault('registry_refused', why)
  }
  return new Fault('registry_failed', `the registry at ${registry} returned an error: ${message}`)
}
