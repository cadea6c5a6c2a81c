/** A model file of another program, before it is imported. */
import { realpath, stat } from 'node:fs/promises'
import { sep } from 'node:path'
import { isModelFilename, isModelName, suggestModelName } from '@shoal/core/references'
import { reasonOfErrno } from '@shoal/files'
import { extractFacts, type GgufFacts, isOtherRole, readGgufFile } from '@shoal/model-file'
import { getStem } from '@shoal/model-file/choices'
import type { Preset } from '../disk/preset.ts'

/** The programs whose stores shoal can read. */
export type StoreName = 'ollama' | 'lmstudio' | 'hf' | 'llama.cpp'

export type FoundFile = {
  /** The absolute path of the file, without links. */
  path: string
  /** The file's name in the models folder. */
  filename: string
  modelName: string
  /**
   * The publisher in the store; if there is none, the store itself, the read-only model folder, or `local`.
   * Distinguishes models with the same name.
   */
  publisher: string
  /** The store and its name for the model, such as `ollama llama3.2:3b`; the file's path if it is not in a store. */
  origin: string
  quantization: string
  license: string | null
  sizeBytes: number
  /** The SHA-256 according to the store; undefined if the store does not specify it. */
  sha256: string | undefined
  /** The settings with which the other program runs the model. */
  preset?: Preset
}

/** A file or folder that is not imported, and the reason, as a phrase such as `permission denied`. */
export type Skipped = { path: string; why: string }

export type Found = { files: FoundFile[]; skipped: Skipped[] }

type Described = Pick<FoundFile, 'publisher' | 'origin' | 'sha256'> & {
  /** The name in the store's manifest or folder; by default, it is derived from the filename and header. */
  modelName?: string | undefined
  /** Default: `<model>-<quantization>.gguf`. */
  filename?: string | undefined
  license?: string | undefined
}

/** Reads the header of a store's file. Throws `invalid_gguf` if the file is half-written or not a model. */
export async function readFoundFile(path: string, described: Described): Promise<FoundFile> {
  const real = await realpath(path)
  const { size } = await stat(real)
  const given = described.filename
  const facts = extractFacts(await readGgufFile(real), given ?? '')
  const modelName = described.modelName ?? nameModel(given ?? '', facts)
  return {
    path: real,
    filename: given && isModelFilename(given) ? given : nameFile(modelName, facts),
    modelName,
    publisher: described.publisher,
    origin: described.origin,
    quantization: facts.quantization,
    license: facts.license ?? described.license ?? null,
    sizeBytes: size,
    sha256: described.sha256,
  }
}

/** Derives a valid model name from another program's name, which may contain any characters. */
export function toModelName(text: string): string {
  const name = text
    .toLowerCase()
    .replace(/-gguf$/, '')
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 96)
    .replace(/[^a-z0-9]+$/, '')
  return isModelName(name) ? name : `model-${name}`.replace(/[^a-z0-9]+$/, '')
}

/** Derives the name from the filename. If the filename is a hash, uses the name in the header, if there is one. */
function nameModel(filename: string, { quantization, name }: GgufFacts): string {
  const stem = getStem({ filename })
  const suggested = suggestModelName({ stem, quantization })
  const isHash = stem === '' || /^(sha256-)?[0-9a-f]{32,64}$/i.test(stem)
  return toModelName(isHash ? (name ?? 'model') : suggested)
}

function nameFile(modelName: string, { quantization, role, shard }: GgufFacts): string {
  const prefix = isOtherRole(role) ? `${role}-` : ''
  const digits = (value: number) => String(value).padStart(5, '0')
  const part = shard ? `-${digits(shard.index)}-of-${digits(shard.count)}` : ''
  const label = quantization.replace(/[^A-Za-z0-9._-]+/g, '-')
  return `${prefix}${modelName}-${label}${part}.gguf`
}

/** Whether `path` is in the folder `root`. Both must be real paths, without links. */
export const isInside = (root: string, path: string): boolean =>
  path.startsWith(root.endsWith(sep) ? root : root + sep)

/** Returns the reason for an error, as a phrase. Rethrows the error if it is not about the file. */
export function reasonOf(error: unknown): string {
  const failure = error as NodeJS.ErrnoException
  if (failure.code === undefined) throw error
  return reasonOfErrno(failure)
}
