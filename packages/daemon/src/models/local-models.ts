import { dirname } from 'node:path'
import { factsOf, type GgufFacts, memoryOf, readGgufFile } from '@shoal/model-file'
import { type LocalFile, listLocalFiles } from '@shoal/transfer'

/** A model file on this machine that can be run, with all its parts. */
export type LocalModel = {
  /** `<name>`, or `<name>:<QUANT>` for another than the default quantization. */
  id: string
  name: string
  quantization: string
  /** Of the file, or of its first part. */
  path: string
  fileSizeBytes: number
  modifiedAt: Date
  facts: GgufFacts
}

export type LocalModels = ReturnType<typeof localModels>

type Entry = Omit<LocalModel, 'id'>

/** The models in a folder: any `<folder>/<name>/*.gguf`, whoever put it there. */
export function localModels(directory: string, memoryBytes: number) {
  /** Headers that were read, by path, as long as the file is the same. Undefined for a file that is no model. */
  const read = new Map<string, { stamp: string; facts: GgufFacts | undefined }>()

  async function factsAt(file: LocalFile): Promise<GgufFacts | undefined> {
    const stamp = `${file.fileSizeBytes} ${file.modifiedAt.getTime()}`
    const known = read.get(file.path)
    if (known?.stamp === stamp) return known.facts
    // A file that cannot be read is not offered; `shoal verify` says what is wrong with it.
    const header = await readGgufFile(file.path).catch(() => undefined)
    const facts = header && factsOf(header, file.filename)
    read.set(file.path, { stamp, facts })
    return facts
  }

  async function list(): Promise<LocalModel[]> {
    const finished = (await listLocalFiles(directory)).filter(({ isFinished }) => isFinished)
    const withFacts = await Promise.all(
      finished.map(async (file) => ({ file, facts: await factsAt(file) })),
    )
    const entries = withWholeShards(
      withFacts.flatMap(({ file, facts }) => (facts ? [{ file, facts }] : [])),
    )
    return [...Map.groupBy(entries, ({ name }) => name).values()].flatMap((files) => {
      const chosen = defaultOf(files, memoryBytes)
      return files.map((file) => ({
        ...file,
        id: file === chosen ? file.name : `${file.name}:${file.quantization}`,
      }))
    })
  }

  return {
    directory,
    list,

    /** By name, or by name and quantization; letters may be large or small, and Ollama's `:latest` is the default. */
    async find(id: string): Promise<LocalModel | undefined> {
      const wanted = id.toLowerCase().replace(/:latest$/, '')
      const all = await list()
      return (
        all.find((model) => model.id.toLowerCase() === wanted) ??
        all.find(({ name, quantization }) => `${name}:${quantization}`.toLowerCase() === wanted)
      )
    },
  }
}

type Read = { file: LocalFile; facts: GgufFacts }

/** Files that run by themselves, and the first parts of those that have all their parts. */
function withWholeShards(files: Read[]): Entry[] {
  const alone = files.filter(({ facts }) => facts.role === 'model').map((one) => entryOf([one]))
  const shards = files.filter(({ facts }) => facts.role === 'shard')
  const groups = Map.groupBy(shards, ({ file, facts }) => {
    const stem = file.filename.replace(/-\d{5}-of-\d{5}\.gguf$/, '')
    return `${dirname(file.path)}/${stem} ${facts.shard?.count}`
  })
  const whole = [...groups.values()].filter(
    (group) => group.length === group[0]?.facts.shard?.count,
  )
  const sharded = whole.map((group) =>
    entryOf(group.toSorted((a, b) => (a.facts.shard?.index ?? 0) - (b.facts.shard?.index ?? 0))),
  )
  return [...alone, ...sharded]
}

function entryOf(parts: Read[]): Entry {
  const [{ file, facts }] = parts as [Read]
  return {
    name: file.modelName,
    quantization: file.record?.quantization ?? facts.quantization,
    path: file.path,
    fileSizeBytes: parts.reduce((sum, part) => sum + (part.file.fileSizeBytes ?? 0), 0),
    modifiedAt: file.modifiedAt,
    facts,
  }
}

/** F32, F16 and BF16 are originals: good to make other files from, seldom the one to run. */
const isOriginal = ({ quantization }: Entry) => /^(BF16|F16|F32|F64)$/i.test(quantization)
const usualContext = 4096

/** The largest that fits in memory, and the smallest where none does. */
function defaultOf(files: Entry[], memoryBytes: number): Entry | undefined {
  const reduced = files.filter((file) => !isOriginal(file))
  const bySize = (reduced.length > 0 ? reduced : files).toSorted(
    (a, b) => b.fileSizeBytes - a.fileSizeBytes,
  )
  const fits = ({ facts, fileSizeBytes }: Entry) => {
    const use = { weightBytes: fileSizeBytes, contextLength: usualContext, conversations: 1 }
    return memoryOf(facts, use).totalBytes <= memoryBytes
  }
  return bySize.find(fits) ?? bySize.at(-1)
}
