import { dirname } from 'node:path'
import { type ModelFile, NetworkError, type RegistryClient } from '@shoal/protocol/client'
import { isFull, roomFor } from '../disk/room.ts'
import { noRoom } from '../errors.ts'
import type { Patience } from '../patience.ts'
import { errorOfTrouble, type Trouble } from '../trouble.ts'

/** All ways to the bytes are tried at once, then once more after a wait. */
const quickRefusals = 3
const maxRefusals = 6

type Context = {
  client: RegistryClient
  modelName: string
  file: ModelFile
  partialPath: string
  patience: Patience
  signal: AbortSignal
}

/** What to do after a request failed: waits as long as is right, or throws what the pull fails with. */
export async function endureTrouble(
  trouble: Trouble,
  inARow: number,
  { client, modelName, file, partialPath, patience, signal }: Context,
): Promise<void> {
  if (trouble.kind === 'disk') {
    if (!isFull(trouble.code)) throw new Error(`${partialPath}: ${trouble.message}`)
    throw noRoom(dirname(partialPath), await roomFor(partialPath, file.file_size_bytes))
  }
  if (trouble.kind !== 'refused') return patience.endure(trouble, inARow)

  if (trouble.status === 404 || trouble.status === 410) {
    // Perhaps only this way to it is gone. If the file is, this throws.
    await client.getFile(modelName, file.id, signal).catch((error) => {
      if (!(error instanceof NetworkError)) throw error
    })
  }
  if (inARow > maxRefusals) throw errorOfTrouble(trouble)
  if (inARow > quickRefusals) await patience.endure(trouble, inARow)
}
