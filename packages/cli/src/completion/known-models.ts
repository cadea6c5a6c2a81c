/** A cache of model names, which completion uses while a registry is slow or offline. */
import { join } from 'node:path'
import type { Model } from '@shoal/protocol/client'
import { type JsonObject, readJsonFile, writeJsonFile } from '../settings/json-file.ts'
import type { Places } from '../settings/places.ts'
import { Failure } from '../terminal/failure.ts'

export type KnownModel = Pick<Model, 'name' | 'display_name' | 'quantizations'>

/** The mode of the cache file, which may contain names of private models. */
const onlyOwner = 0o600
const maxRegistries = 8
const maxModels = 500

const pathIn = (places: Places) => join(places.state, 'known-models.json')

/** Returns a registry's cached models, most recently seen first. Returns none if the file is invalid. */
export async function readKnownModels(places: Places, address: string): Promise<KnownModel[]> {
  const models = (await readAll(places))[address]
  return Array.isArray(models) ? models.filter(isModel) : []
}

/**
 * Adds models from a registry's response. If two commands write at the same time, the second one overwrites the names
 * that the first one added.
 */
export async function keepKnownModels(places: Places, address: string, seen: readonly Model[]) {
  const { [address]: _, ...others } = await readAll(places)
  const former = await readKnownModels(places, address)
  const names = new Set(seen.map(({ name }) => name))
  const models = [
    ...seen.map(({ name, display_name, quantizations }) => ({ name, display_name, quantizations })),
    ...former.filter(({ name }) => !names.has(name)),
  ].slice(0, maxModels)
  const kept = Object.entries(others).slice(0, maxRegistries - 1)
  await write(places, Object.fromEntries([[address, models], ...kept]))
}

export async function forgetKnownModels(places: Places, address: string): Promise<void> {
  const { [address]: forgotten, ...others } = await readAll(places)
  if (forgotten !== undefined) await write(places, others)
}

async function readAll(places: Places): Promise<JsonObject> {
  return readJsonFile(pathIn(places)).catch((error: unknown) => {
    if (error instanceof Failure || isSystemError(error)) return {} // the next write replaces the invalid file
    throw error
  })
}

/** Writes the cache. A failure is ignored, because it does not affect the result of the command. */
async function write(places: Places, content: object): Promise<void> {
  await writeJsonFile(pathIn(places), onlyOwner, content).catch((error: unknown) => {
    if (!isSystemError(error)) throw error
  })
}

const isSystemError = (error: unknown) => error instanceof Error && 'syscall' in error

function isModel(value: unknown): value is KnownModel {
  if (typeof value !== 'object' || value === null) return false
  const { name, display_name, quantizations } = value as Partial<KnownModel>
  return (
    typeof name === 'string' &&
    typeof display_name === 'string' &&
    Array.isArray(quantizations) &&
    quantizations.every((label) => typeof label === 'string')
  )
}
