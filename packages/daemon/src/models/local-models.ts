import { basename, dirname } from 'node:path'
import { hostOf, isFromHost, parseReference, type Reference } from '@shoal/core/references'
import { reasonOfErrno } from '@shoal/files'
import type { Log } from '@shoal/log'
import {
  extractFacts,
  type GgufFacts,
  isOtherRole,
  memoryToRun,
  otherRoles,
  readGgufFile,
} from '@shoal/model-file'
import { fileChoices, findBestFit, findChoices, getStem } from '@shoal/model-file/choices'
import {
  getPresetPath,
  type LocalFile,
  listLocalFiles,
  type Preset,
  readPreset,
  type Unreadable,
} from '@shoal/transfer'

/** A model that can be run on this machine, with all parts of its file. */
export type LocalModel = {
  /** `<name>` for the default file, and `<name>:<label>` for any other file. */
  id: string
  name: string
  quantization: string
  /** The quantization, or the filename if the quantization does not identify the file. */
  label: string
  /** The path of the file, or of the first part of a split file. */
  path: string
  /** Paths of all parts, in order. */
  paths: string[]
  /** The base URL of the registry from which the file was pulled; undefined if it is not known. */
  registry: string | undefined
  /**
   * The hash of the file at `path`, if the file has been hashed and has not changed since then. Otherwise, for an
   * imported file, the hash in the name of the other program's blob.
   */
  sha256: string | undefined
  /** The read-only model folder that contains the file, if any. */
  folder: string | undefined
  /** The files that have changed since they were hashed. They must be hashed again before they are loaded. */
  changed: LocalFile[]
  fileSizeBytes: number
  modifiedAt: Date
  /** The facts in the header of the file at `path`, with the template of `preset`, if it has one. */
  facts: GgufFacts
  /** The number of weights in all parts; null if the headers do not contain it. */
  parameterCount: number | null
  /** The user's settings for the model. */
  preset: Preset
}

/** The models in a folder. Each call checks the files again. Unreadable files are logged once and omitted. */
export interface LocalModels {
  /** The folder, as configured. */
  readonly directory: string
  list(): Promise<LocalModel[]>
  /** Finds a model in the same way as `findModel`. */
  find(id: string): Promise<LocalModel | undefined>
  /** Resolves with the reason why a model that has files cannot be run, or with undefined if no problem was found. */
  findProblem(id: string): Promise<string | undefined>
}

type Entry = Omit<LocalModel, 'id' | 'label'>

/**
 * The models in a folder: all files `<name>/*.gguf` and `<host>/<name>/*.gguf`, including files that shoal did not
 * download.
 */
export function localModels(
  directory: string,
  memoryBytes: number,
  log: Pick<Log, 'warn'>,
): LocalModels {
  /** Files that could not be read, each as a path and a reason. Each problem is logged only once. */
  const reported = new Set<string>()
  /** Parsed headers by path. Each header is valid while its file is unchanged. */
  const read = new Map<string, { stamp: string; outcome: Outcome }>()

  async function outcomeAt(file: LocalFile): Promise<Outcome> {
    const stamp = `${file.fileSizeBytes} ${file.modifiedAt.getTime()}`
    const known = read.get(file.path)
    if (known?.stamp === stamp) return known.outcome
    const outcome = await readGgufFile(file.path).then(
      (header): Outcome => ({ facts: extractFacts(header, file.filename) }),
      (error: Error): Outcome => ({ failure: `${file.filename} cannot be read: ${error.message}` }),
    )
    read.set(file.path, { stamp, outcome })
    return outcome
  }

  function report({ path, why }: Unreadable) {
    const known = `${path} ${why}`
    if (!reported.has(known))
      log.warn({ path, why }, 'an entry in the models folder cannot be read')
    reported.add(known)
  }

  async function readAll(): Promise<{ file: LocalFile; outcome: Outcome }[]> {
    const all = await listLocalFiles(directory, report)
    const finished = all.filter(({ isFinished }) => isFinished)
    return Promise.all(finished.map(async (file) => ({ file, outcome: await outcomeAt(file) })))
  }

  /** Settings that cannot be read are reported, and the model is listed without them. */
  async function addPreset(entry: Omit<Entry, 'preset'>): Promise<Entry> {
    const folder = dirname(entry.path)
    const preset = await readPreset(folder).catch((error: NodeJS.ErrnoException): Preset => {
      if (error.code === undefined) throw error
      report({ path: getPresetPath(folder), why: reasonOfErrno(error) })
      return {}
    })
    const chat_template = preset.template ?? entry.facts.chat_template
    return { ...entry, preset, facts: { ...entry.facts, chat_template } }
  }

  async function list(): Promise<LocalModel[]> {
    const readable = (await readAll()).flatMap(({ file, outcome }) =>
      'facts' in outcome ? [{ file, facts: outcome.facts }] : [],
    )
    const entries = await Promise.all(withCompleteShards(readable).map(addPreset))
    return [...Map.groupBy(entries, ({ name }) => name).values()].flatMap((files) => {
      const chosen = chooseDefault(files, memoryBytes)
      return withLabels(files).map(({ file, label }) => {
        const model = { ...file, label }
        return { ...model, id: file === chosen ? file.name : formatLongId(model) }
      })
    })
  }

  return {
    directory,
    list,

    find: async (id) => findModel(await list(), id),

    async findProblem(id) {
      const wanted = parseReference(id)?.name ?? id.toLowerCase().replace(/:.*$/, '')
      const missing = (await listLocalFiles(directory, report)).find(
        (file) => file.isMissing && file.modelName.toLowerCase() === wanted,
      )
      if (missing) return `${missing.target ?? missing.path} no longer exists`
      const files = (await readAll()).filter(({ file }) => file.modelName.toLowerCase() === wanted)
      const broken = files.flatMap(({ outcome }) => ('failure' in outcome ? outcome.failure : []))
      if (broken.length > 0) return broken.join('; ')
      const parts = files.filter(({ outcome }) => 'facts' in outcome && outcome.facts.shard)
      if (parts.length > 0) return `some parts of ${wanted} are missing`
      const [other] = files.flatMap(({ file, outcome }) => describeOther(file, outcome) ?? [])
      return other
    },
  }
}

/**
 * Finds a model by its ID or a reference. A name without a tag, or with `:latest`, means the default file; a label,
 * quantization or filename means another file. If several files have the same quantization, the default file is
 * preferred, then the smallest. Case is ignored. An alias means the default file of a model, unless it is also a name.
 */
export const findModel = (all: readonly LocalModel[], id: string): LocalModel | undefined =>
  findByName(all, id) ?? all.find((model) => hasAlias(model, id))

/** Whether this is the default file of a model with this alias. */
export const hasAlias = ({ id, name, preset }: LocalModel, alias: string): boolean =>
  id === name && (preset.aliases?.includes(alias.replace(/:latest$/i, '').toLowerCase()) ?? false)

function findByName(all: readonly LocalModel[], id: string): LocalModel | undefined {
  const wanted = id.replace(/:latest$/i, '')
  const byId = (is: (text: string) => boolean) =>
    all.find((model) => is(model.id)) ?? all.find((model) => is(formatLongId(model)))
  const exact = byId((text) => text === wanted)
  if (exact) return exact
  const reference = parseReference(id)
  if (!reference) return byId((text) => text.toLowerCase() === wanted.toLowerCase())
  const { quantization } = reference
  const named = findNamed(all, reference)
  const isDefault = ({ id, name }: LocalModel) => id === name
  if (quantization === undefined) return named.find(isDefault)
  const choices = named.map((model) => ({ ...model, files: [{ filename: basename(model.path) }] }))
  const found = findChoices(choices, quantization).map(({ path }) => path)
  const alike = named.filter(({ path }) => found.includes(path))
  return alike.find(isDefault) ?? alike[0]
}

/**
 * Returns the files of the model that a reference refers to. If the reference contains a registry, these are the files
 * in the folder `<host>/<name>` or, if there are none, the files in the folder `<name>`, except those that are known to
 * be from a different registry. Otherwise, these are all files in the folder `<name>`.
 */
function findNamed(
  all: readonly LocalModel[],
  { name, registry }: Pick<Reference, 'name' | 'registry'>,
): LocalModel[] {
  const host = registry === undefined ? undefined : hostOf(registry)
  const named = (wanted: string) => all.filter((model) => model.name.toLowerCase() === wanted)
  if (host === undefined) return named(name)
  const nested = named(`${host}/${name}`)
  if (nested.length > 0) return nested
  return named(name).filter((model) => isFromHost(model.registry, host))
}

/** An ID that does not depend on which file is the default. */
export const formatLongId = ({ name, label }: Pick<LocalModel, 'name' | 'label'>) =>
  `${name}:${label}`

/** Adds the label that the CLI shows to each of a model's files. */
const withLabels = (files: Entry[]) =>
  fileChoices(
    files.map((file) => ({ ...file, file, filename: basename(file.path) })),
    ({ fileSizeBytes }) => fileSizeBytes,
  ).map(({ label, files: [{ file }] }) => ({ file, label }))

/** The facts in a file's header, or the reason why the header cannot be read. */
type Outcome = { facts: GgufFacts } | { failure: string }

/** A sentence about a file that is not a model, such as a LoRA adapter. */
function describeOther({ filename }: LocalFile, outcome: Outcome): string | undefined {
  if ('failure' in outcome || !isOtherRole(outcome.facts.role)) return undefined
  return `${filename} is not a model, but a file of the kind '${otherRoles[outcome.facts.role]}'`
}

type Read = { file: LocalFile; facts: GgufFacts }

/** Creates an entry for each file that can be run by itself, and for each split file whose parts are all present. */
function withCompleteShards(files: Read[]): Omit<Entry, 'preset'>[] {
  const alone = files.filter(({ facts }) => facts.role === 'model').map((one) => createEntry([one]))
  const shards = files.filter(({ facts }) => facts.role === 'shard')
  const groups = Map.groupBy(shards, ({ file, facts }) => {
    return `${dirname(file.path)}/${getStem(file)} ${facts.shard?.count}`
  })
  const complete = [...groups.values()].filter(
    (group) => group.length === group[0]?.facts.shard?.count,
  )
  const sharded = complete.map((group) =>
    createEntry(
      group.toSorted((a, b) => (a.facts.shard?.index ?? 0) - (b.facts.shard?.index ?? 0)),
    ),
  )
  return [...alone, ...sharded]
}

function createEntry(parts: Read[]): Omit<Entry, 'preset'> {
  const [{ file, facts }] = parts as [Read]
  const parameters = parts.reduce((sum, part) => sum + (part.facts.parameter_count ?? 0), 0)
  return {
    name: file.modelName,
    // Another program may replace an imported file, and its record then still has the former quantization.
    quantization: (!file.imported && file.record?.quantization) || facts.quantization,
    registry: file.record?.registry,
    path: file.path,
    paths: parts.map((part) => part.file.path),
    sha256: getSha256(file),
    folder: file.imported?.folder,
    changed: parts.map((part) => part.file).filter(isChanged),
    fileSizeBytes: parts.reduce((sum, part) => sum + (part.file.fileSizeBytes ?? 0), 0),
    modifiedAt: file.modifiedAt,
    facts,
    parameterCount: parameters || null,
  }
}

function getSha256({ record, imported, isVerified }: LocalFile): string | undefined {
  if (isVerified) return record?.sha256_hash
  return imported?.mismatch ? undefined : (imported?.claimed_sha256 ?? undefined)
}

/**
 * Whether a file must be hashed before it is loaded, because it has changed since it was hashed or because it is
 * damaged. An imported file that has never been hashed may be loaded.
 */
const isChanged = ({ record, imported, target, isVerified }: LocalFile): boolean =>
  !isVerified &&
  (imported?.mismatch !== undefined ||
    (record !== undefined && (imported !== undefined || target !== undefined)))

/** Returns the file that fits best in this much memory, or the smallest file if none fits. */
function chooseDefault(files: Entry[], memoryBytes: number): Entry | undefined {
  const choices = files.map((file) => ({
    file,
    label: file.quantization,
    sizeBytes: file.fileSizeBytes,
    memoryBytes: memoryToRun(file.facts, file.fileSizeBytes),
  }))
  const [smallest] = choices.toSorted((a, b) => a.sizeBytes - b.sizeBytes)
  return (findBestFit(choices, memoryBytes) ?? smallest)?.file
}
