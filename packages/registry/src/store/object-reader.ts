import { type FileHandle, open } from 'node:fs/promises'
import { isErrno } from '@shoal/files'
import { notFound } from '../errors.ts'

/** An object opened for reading. */
export type ObjectReader = {
  /**
   * Fills the buffers, in order, with the object's bytes starting at `position`. Throws if the object ends before the
   * buffers are full.
   */
  fill(buffers: Uint8Array[], position: number): Promise<void>
  close(): Promise<void>
}

/** @throws not-found if the file does not exist */
export async function openObjectReader(path: string): Promise<ObjectReader> {
  const file = await open(path, 'r').catch((error) => {
    if (isErrno(error, 'ENOENT')) throw bytesGone()
    throw error
  })
  return {
    fill: (buffers, position) => fill(file, buffers, position),
    close: () => file.close(),
  }
}

export function bytesGone() {
  return notFound('these bytes are no longer stored')
}

async function fill(file: FileHandle, buffers: Uint8Array[], position: number) {
  const wanted = buffers.reduce((sum, { byteLength }) => sum + byteLength, 0)
  let { bytesRead } = await file.readv(buffers, position) // fills all buffers with one system call
  while (bytesRead < wanted) {
    const got = await file.readv(after(buffers, bytesRead), position + bytesRead)
    if (got.bytesRead === 0) throw new Error(`the file ends at byte ${position + bytesRead}`)
    bytesRead += got.bytesRead
  }
}

/** Returns the parts of the buffers that are not filled yet. */
function after(buffers: Uint8Array[], filled: number): Uint8Array[] {
  let skipped = 0
  return buffers.flatMap((buffer) => {
    const skip = Math.min(buffer.byteLength, Math.max(0, filled - skipped))
    skipped += buffer.byteLength
    return skip < buffer.byteLength ? [buffer.subarray(skip)] : []
  })
}
