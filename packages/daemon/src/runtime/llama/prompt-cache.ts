/**
 * Caches a conversation when its slot is needed for another conversation. When agents take turns, their prompts
 * therefore do not have to be processed again in each turn. llama.cpp can write a conversation's keys and values only
 * to a file, so they are written to an in-memory file system.
 */
import { randomUUID } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { type FileHandle, open, rm, statfs } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import type { Token } from 'node-llama-cpp'
import { commonLength, type Slot } from './slots.ts'

/** Linux's in-memory file system. */
const defaultFolder = '/dev/shm'
/** The share of the machine's memory that is left to other programs. */
const reservedShare = 1 / 16
/**
 * The minimum number of tokens that caching or restoring must save. Processing fewer tokens is faster than copying
 * them.
 */
const defaultMinTokens = 256

export type PromptCacheOptions = {
  /** The maximum total size of all cached conversations. */
  maxBytes: number
  /** The size of one token's keys and values. */
  bytesPerToken: number
  minTokens?: number
  /** A folder in an in-memory file system. */
  folder?: string
}

type Entry = { tokens: Token[]; file: FileHandle; bytes: number; usedAt: number }

export interface PromptCache {
  /**
   * Caches the slot's conversation before a prompt overwrites it, and restores a cached conversation that the prompt
   * continues.
   */
  prepare(slot: Slot, tokens: Token[]): Promise<void>
  /** Frees the memory. */
  clear(): Promise<void>
}

/**
 * A cache that stores nothing. Used if caching is off, if no memory is planned for it, or if the system has no
 * in-memory file system to which this user may write.
 */
const noCache: PromptCache = { prepare: async () => undefined, clear: async () => undefined }

export function openPromptCache(options: PromptCacheOptions | undefined): PromptCache {
  if (!options || options.maxBytes === 0) return noCache
  const { maxBytes, minTokens = defaultMinTokens, folder = defaultFolder } = options
  if (!isWritable(folder)) return noCache
  let { bytesPerToken } = options
  const entries = new Set<Entry>()
  let clock = 0

  async function remove(entry: Entry) {
    entries.delete(entry)
    await entry.file.close()
  }

  /** Removes the least recently used conversations until `bytes` fit. Resolves to false if they cannot fit. */
  async function makeRoom(bytes: number): Promise<boolean> {
    const { bavail, bsize } = await statfs(folder)
    const sum = () => [...entries].reduce((total, entry) => total + entry.bytes, 0)
    const freeBytes = Math.min(
      bavail * bsize,
      process.availableMemory() - reservedShare * totalmem(),
    )
    if (bytes > maxBytes || bytes > freeBytes) return false
    for (const entry of [...entries].toSorted((a, b) => a.usedAt - b.usedAt)) {
      if (sum() + bytes <= maxBytes) break
      await remove(entry)
    }
    return true
  }

  async function keep({ sequence }: Slot) {
    const tokens = sequence.contextTokens
    const isKept = [...entries].some((entry) => countCommon(entry.tokens, tokens) === tokens.length)
    if (isKept || !(await makeRoom(tokens.length * bytesPerToken))) return
    for (const entry of entries) {
      if (countCommon(entry.tokens, tokens) === entry.tokens.length) await remove(entry)
    }
    const path = join(folder, `shoal-${randomUUID()}`)
    try {
      const { fileSize: bytes } = await sequence.saveStateToFile(path)
      const file = await open(path, constants.O_RDONLY)
      bytesPerToken = bytes / tokens.length
      entries.add({ tokens, file, bytes, usedAt: ++clock })
    } finally {
      await rm(path, { force: true }) // the content remains readable until the file is closed or this process exits
    }
  }

  function findBest(tokens: Token[]) {
    const found = [...entries].map((entry) => ({
      entry,
      common: Math.min(countCommon(entry.tokens, tokens), tokens.length - 1),
    }))
    return found.toSorted((a, b) => b.common - a.common)[0]
  }

  return {
    async prepare(slot, tokens) {
      const { sequence } = slot
      if (sequence.needsCheckpoints) return // the model cannot return to an earlier position
      const common = commonLength(slot, tokens)
      const best = findBest(tokens)
      if (sequence.nextTokenIndex - common >= minTokens) await keep(slot)
      if (!best || best.common - common < minTokens || !entries.has(best.entry)) return
      best.entry.usedAt = ++clock
      const path = `/proc/self/fd/${best.entry.file.fd}`
      await sequence.loadStateFromFile(path, { acceptRisk: true }) // safe: this process wrote the file for this model
    },
    async clear() {
      await Promise.all([...entries].map(remove))
    },
  }
}

function countCommon(a: readonly Token[], b: readonly Token[]): number {
  const length = Math.min(a.length, b.length)
  let common = 0
  while (common < length && a[common] === b[common]) common += 1
  return common
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false // the folder does not exist, or this user may not write to it
  }
}
