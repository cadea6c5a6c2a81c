import { basename, dirname } from 'node:path'
import { ApiError, NetworkError } from '@shoal/protocol/client'
import {
  BytesRefusedError,
  DamagedFileError,
  FileInTheWayError,
  NoRoomError,
  VerificationError,
} from '@shoal/transfer'
import { Fault } from '../errors.ts'

type Asked = { model: string; registry: string }

/** What went wrong with a pull, as whoever asked the daemon for it is to read it. */
export function pullFault(error: unknown, { model, registry }: Asked): unknown {
  if (error instanceof ApiError) return refusal(error, { model, registry })
  if (error instanceof NetworkError) {
    const { code, reason, detail } = error.failure
    const message = `no usable answer from the registry at ${registry} (${code}, ${reason}): ${detail}`
    return new Fault(502, message, { code: 'registry_unreachable' })
  }
  if (error instanceof BytesRefusedError) {
    const message = `the registry at ${registry} does not give the bytes: ${error.message}`
    return new Fault(502, message, { code: 'registry_failed' })
  }
  if (error instanceof NoRoomError) return new Fault(507, error.message, { code: 'no_room' })
  if (error instanceof FileInTheWayError) return new Fault(409, error.message)
  if (error instanceof DamagedFileError) {
    const name = basename(dirname(error.path))
    return new Fault(409, `${error.message}; mend it with: shoal verify --repair ${name}`, {
      code: 'damaged_file',
    })
  }
  if (error instanceof VerificationError) {
    return new Fault(502, error.message, { code: 'verification_failed' })
  }
  return error
}

function refusal({ status, message }: ApiError, { model, registry }: Asked): Fault {
  if (status === 404) {
    return new Fault(404, `model '${model}' not found at the registry ${registry}`, {
      code: 'model_not_found',
      param: 'model',
    })
  }
  if (status === 401 || status === 403) {
    return new Fault(403, `the registry at ${registry} wants another sign-in: shoal login`, {
      code: 'registry_refused',
    })
  }
  return new Fault(502, `the registry at ${registry} says: ${message}`, { code: 'registry_failed' })
}
