/** The entry point of the thread that `threadFrontierHash` starts. */
import { createHash } from 'node:crypto'
import { openSync } from 'node:fs'
import type { Notify } from '@shoal/core/rpc'
import { serveParent } from '@shoal/threads/parent'
import { hashPart } from '../disk/hash-part.ts'

export type FrontierSetup = { path: string; fileSizeBytes: number }
export type FrontierEvents = {
  /** Number of bytes hashed so far, from the start of the file. */
  progress(hashedBytes: number): void
  /** The SHA-256 of the whole file, in lowercase hexadecimal. */
  done(sha256: string): void
}

export type FrontierMethods = {
  /** The first `goodBytes` bytes of the file have been verified and can be hashed. */
  advance(goodBytes: number): void
}

function frontierHash(
  { path, fileSizeBytes }: FrontierSetup,
  notify: Notify<FrontierEvents>,
): FrontierMethods {
  const fd = openSync(path, 'r') // closed when the thread ends
  const hash = createHash('sha256')
  let at = 0
  return {
    advance(goodBytes) {
      at += hashPart(fd, hash, at, goodBytes - at)
      notify('progress', at)
      if (at === fileSizeBytes) notify('done', hash.digest('hex'))
    },
  }
}

serveParent(frontierHash)
