/** The thread behind `threadFrontierHash`. */
import { createHash } from 'node:crypto'
import { openSync } from 'node:fs'
import type { Notify } from '@shoal/core/rpc'
import { hashPart } from '../disk/hash-part.ts'
import { serveParent } from '../serve-parent.ts'

export type FrontierSetup = { path: string; fileSizeBytes: number }
export type FrontierEvents = { progress(hashedBytes: number): void; done(sha256: string): void }

export type FrontierMethods = ReturnType<typeof frontierHash>

function frontierHash({ path, fileSizeBytes }: FrontierSetup, notify: Notify<FrontierEvents>) {
  const fd = openSync(path, 'r') // closed with the thread
  const hash = createHash('sha256')
  let at = 0
  return {
    /** All bytes before `goodBytes` are good. */
    advance(goodBytes: number) {
      at += hashPart(fd, hash, at, goodBytes - at)
      notify('progress', at)
      if (at === fileSizeBytes) notify('done', hash.digest('hex'))
    },
  }
}

serveParent(frontierHash)
