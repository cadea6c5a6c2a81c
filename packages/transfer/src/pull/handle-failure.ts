import { dirname } from 'node:path'
import { type ModelFile, NetworkError, type RegistryClient } from '@shoal/protocol/client'
import { isFull, roomFor } from '../disk/room.ts'
import { noRoom } from '../errors.ts'
import { type TransferFailure, toError } from '../failure.ts'
import type { Retrier } from '../retrier.ts'

/**
 * Up to `quickRefusals` consecutive refusals are retried immediately, because there are three kinds of URLs
 * (`http-source.ts`), and another kind may work. After more than `maxRefusals`, the pull fails.
 */
const quickRefusals = 3
const maxRefusals = 6

type Context = {
  client: RegistryClient
  modelName: string
  file: ModelFile
  partialPath: string
  retrier: Retrier
  signal: AbortSignal
}

/** Waits for a suitable time after a failed request, or throws the error with which the pull fails. */
export async function handleFailure(
  failure: TransferFailure,
  inARow: number,
  { client, modelName, file, partialPath, retrier, signal }: Context,
): Promise<void> {
  if (failure.kind === 'disk') {
    if (!isFull(failure.code))
      throw new Error(`${partialPath} cannot be written: ${failure.message}`)
    throw noRoom(dirname(partialPath), await roomFor(partialPath, file.file_size_bytes))
  }
  if (failure.kind !== 'refused') return retrier.waitOrThrow(failure, inARow)

  if (failure.status === 404 || failure.status === 410) {
    // Perhaps only this URL is gone. If the file is gone too, this call throws.
    await client.getFile(modelName, file.id, signal).catch((error) => {
      if (!(error instanceof NetworkError)) throw error
    })
  }
  if (inARow > maxRefusals) throw toError(failure)
  if (inARow > quickRefusals) await retrier.waitOrThrow(failure, inARow)
}
