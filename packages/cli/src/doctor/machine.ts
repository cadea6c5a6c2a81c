import { access, constants, readdir, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ignoreMissing, reasonOfErrno } from '@shoal/files'
import type { Context } from '../context.ts'
import { formatBytes, formatMachine } from '../terminal/units.ts'
import type { Finding } from './finding.ts'
import { portFinding } from './port-finding.ts'

const minFreeDiskBytes = 10e9
const minMemoryBytes = 2e9

/** Checks whether this machine can store and run models. */
export async function machineFindings({
  places,
  environment,
  modelFolders,
}: Context): Promise<Finding[]> {
  const { memoryBytes } = environment
  const machine = formatMachine(memoryBytes)
  return [
    { check: 'node', state: 'ok', text: `Node ${process.versions.node}` },
    ...(await storing(places.models)),
    ...(await Promise.all(modelFolders.map(reading))),
    memoryBytes < minMemoryBytes
      ? {
          check: 'memory',
          state: 'warning',
          text: `${machine} of memory`,
          advice: 'Only very small models fit in this much memory.',
        }
      : { check: 'memory', state: 'ok', text: `${machine} of memory` },
    await portFinding(8000, { name: 'a registry', expected: 'registry' }),
  ]
}

/** Checks the models folder, and the space on its disk. */
async function storing(models: string): Promise<Finding[]> {
  try {
    const folder = await nearestThere(models)
    const { bavail, bsize } = await statfs(folder)
    await access(folder, constants.W_OK)
    const text = `Models are stored in ${models}`
    return [{ check: 'models-folder', state: 'ok', text }, room(models, bavail * bsize)]
  } catch (error) {
    return [
      {
        check: 'models-folder',
        state: 'problem',
        text: `Models cannot be written to ${models}: ${reasonOfErrno(error as Error)}`,
        advice:
          "Change the folder's permissions, connect its disk, or set SHOAL_HOME to another folder.",
      },
    ]
  }
}

/** Returns the path or its nearest existing ancestor: the models folder does not exist before the first pull. */
async function nearestThere(path: string): Promise<string> {
  const isThere = await statfs(path).catch(ignoreMissing)
  return isThere ? path : nearestThere(dirname(path))
}

/** Checks a read-only model folder. */
async function reading(folder: string): Promise<Finding> {
  const check = 'model-folders'
  const refusal = await readdir(folder).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => reasonOfErrno(error),
  )
  if (refusal === undefined) {
    return { check, state: 'ok', text: `The model folder ${folder} can be read` }
  }
  return {
    check,
    state: 'warning',
    text: `The model folder ${folder} cannot be read: ${refusal}`,
    advice: 'Mount its disk, or change the model-folders setting.',
  }
}

function room(models: string, freeBytes: number): Finding {
  const text = `${formatBytes(freeBytes)} of disk space free for models`
  if (freeBytes >= minFreeDiskBytes) return { check: 'disk', state: 'ok', text }
  return {
    check: 'disk',
    state: 'warning',
    text,
    advice: `Free up space in ${models} (shoal ls, shoal rm), or set SHOAL_HOME to a folder on a larger disk.`,
  }
}
