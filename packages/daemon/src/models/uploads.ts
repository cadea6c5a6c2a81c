/** Files that clients have uploaded, each under its SHA-256, until a model is created from it. */
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { hasCode } from '@shoal/core/errors'
import { exists, ignoreMissing, makeFolder, unfinishedPath } from '@shoal/files'
import { extractFacts, hashFileInWorker, readGgufFile } from '@shoal/model-file'
import { type Preset, writePreset } from '@shoal/transfer'
import { Fault } from '../errors.ts'
import { createModel, inTheWay, readNewName } from './copy-model.ts'
import type { LocalModels } from './local-models.ts'

/** A folder in the models folder. Names of models do not begin with a dot. */
const uploadsFolder = '.uploads'
/** Uploads that have not been used for this long are removed. */
const keepMs = 24 * 60 * 60_000

export type Uploads = ReturnType<typeof openUploads>

export function openUploads(local: LocalModels) {
  const folder = join(local.directory, uploadsFolder)
  const getPath = (sha256: string) => join(folder, `sha256-${sha256}`)

  async function removeOld() {
    for (const name of await readdir(folder)) {
      const path = join(folder, name)
      const found = await stat(path).catch(ignoreMissing)
      if (found && Date.now() - found.mtimeMs > keepMs) await rm(path, { force: true })
    }
  }

  return {
    has: (sha256: string) => exists(getPath(sha256)),

    /** Saves a file. Throws a `Fault` if its content has another hash, or if the disk is full. */
    async receive(sha256: string, content: Readable) {
      makeFolder(folder)
      await removeOld()
      const unfinished = unfinishedPath(getPath(sha256))
      const hash = createHash('sha256')
      async function* hashed(parts: AsyncIterable<Buffer>) {
        for await (const part of parts) {
          hash.update(part)
          yield part
        }
      }
      try {
        await pipeline(content, hashed, createWriteStream(unfinished, { flush: true }))
        const actual = hash.digest('hex')
        if (actual !== sha256) throw new Fault(400, `the uploaded file has the SHA-256 ${actual}`)
        await rename(unfinished, getPath(sha256))
      } catch (error) {
        await rm(unfinished, { force: true })
        throw error
      }
    },

    /** Turns an uploaded file into a model with these settings. Repeats what a crash has interrupted. */
    async take(sha256: string, destination: string, preset: Preset): Promise<void> {
      const path = getPath(sha256)
      const { role, quantization } = await readFacts(path)
      if (role !== 'model')
        throw new Fault('model_unusable', `the uploaded file is not a model: ${role}`)
      const name = readNewName(destination, quantization)
      const folder = join(local.directory, name)
      const target = join(folder, `${name}-${quantization}.gguf`)
      const known = await local.find(name)
      if (known === undefined) {
        await createModel(folder, [{ path, target }], { preset, destination })
      } else {
        if (known.path !== target || !(await isSame(target, path, sha256)))
          throw inTheWay(destination)
        await writePreset(folder, preset)
      }
      await rm(path, { force: true })
    },
  }
}

async function isSame(target: string, path: string, sha256: string): Promise<boolean> {
  const [one, other] = await Promise.all([stat(target), stat(path)])
  if (one.ino === other.ino && one.dev === other.dev) return true
  return one.size === other.size && (await hashFileInWorker(target)).sha256_hash === sha256
}

async function readFacts(path: string) {
  try {
    return extractFacts(await readGgufFile(path), 'model.gguf')
  } catch (error) {
    if (hasCode(error, 'invalid_gguf')) throw new Fault('model_unusable', error.message)
    throw error
  }
}
