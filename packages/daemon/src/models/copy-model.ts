import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { hasCode } from '@shoal/core/errors'
import { parseReference } from '@shoal/core/references'
import { copyLocalFile } from '@shoal/transfer'
import { Fault, modelNotFound } from '../errors.ts'
import type { LocalModel, LocalModels } from './local-models.ts'

/**
 * Makes a model available under a second name. The copy needs no additional disk space if the file system supports hard
 * links.
 */
export async function copyModel(local: LocalModels, source: string, destination: string) {
  const model = await local.find(source)
  if (!model) throw modelNotFound(source)
  const name = nameIn(destination, model)
  const known = await local.find(name)
  if (known && (await isSameFile(known, model))) return
  if (known) throw inTheWay(destination)
  for (const path of model.paths) {
    await copyLocalFile(path, join(local.directory, name, basename(path))).catch((error) => {
      throw hasCode(error, 'file_in_the_way') ? inTheWay(destination) : error
    })
  }
}

/**
 * Returns the destination's model name. The only tag allowed is the file's quantization, because tags are not stored.
 */
function nameIn(destination: string, { quantization }: LocalModel): string {
  const reference = parseReference(destination)
  const tag = reference?.quantization
  const isTagTrue = tag === undefined || tag.toUpperCase() === quantization.toUpperCase()
  if (reference && reference.registry === undefined && isTagTrue) return reference.name
  const message = `'${destination}' is not a valid model name: use 2 to 96 characters (lowercase letters, digits, dots, hyphens or underscores), start and end with a letter or digit, and omit the tag (or use ${quantization})`
  throw new Fault(400, message, { param: 'destination' })
}

async function isSameFile(one: LocalModel, other: LocalModel): Promise<boolean> {
  if (one.sha256 !== undefined && one.sha256 === other.sha256) return true
  const [a, b] = await Promise.all([stat(one.path), stat(other.path)])
  return a.ino === b.ino && a.dev === b.dev
}

function inTheWay(destination: string): Fault {
  return new Fault(409, `another model is already named '${destination}'`, {
    param: 'destination',
  })
}
