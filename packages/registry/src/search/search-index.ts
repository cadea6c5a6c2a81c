import { memoryWithContext, usualCacheBytesPerToken, usualContext } from '@shoal/model-file/choices'
import { Column } from './column.ts'
import { DocumentSet } from './document-set.ts'
import { IdColumn, parseId } from './id-column.ts'
import type { IndexedModel, ModelNumbers } from './indexed-model.ts'
import { type Label, type LabelCount, Labels } from './labels.ts'
import { NameWords } from './name-words.ts'
import { Relevance } from './relevance.ts'
import { type Selected, selectPage } from './select-page.ts'
import { TopDocuments } from './top-documents.ts'
import { Vocabulary } from './vocabulary.ts'
import { findCorrections, splitQuery, splitWords } from './words.ts'

export type SearchFilter = {
  /** Every word must match. */
  text?: string | undefined
  labels: Label[]
  ranges: Range[]
  memory?: MemoryLimit | undefined
  /**
   * The user who searches. Private models are found only if `username` owns them, if the account with the ID `memberId`
   * is a member, or if `seesAll` is true.
   */
  viewer: { username: string | undefined; memberId?: string | undefined; seesAll: boolean }
}

/** `min` and `max` are inclusive. */
export type Range = { field: SizeField; min?: number | undefined; max?: number | undefined }
export type SizeField = 'parameterCount' | 'minFileSizeBytes'

/**
 * The maximum memory that a model may need with a context of `contextTokens`, or with its own context length if that is
 * shorter. Models whose memory requirement is unknown are not found.
 */
export type MemoryLimit = { maxBytes: number; contextTokens: number }

export type SearchQuery = SearchFilter & {
  sort: 'downloads' | 'likes' | 'createdAt' | 'relevance'
  order: 'asc' | 'desc'
  offset: number
  limit: number
  /** Selects the models that follow this position. If set, `offset` is ignored. */
  after?: Position | undefined
}

/**
 * The position of a model in a sorted list: the value by which the list is sorted (a time is in ms), and the ID, which
 * orders models with equal values.
 */
export type Position = { value: number; id: string }

export type Found = {
  /** `model.seq` of the models on the page. */
  seqs: number[]
  total: number
  /** The position of the last model on the page. */
  last: Position | undefined
}

export type Totals = {
  models: number
  files: number
  bytes: number
  downloads: number
  /** The parameter counts of the most downloaded models. */
  parameterCounts: (number | null)[]
}

const numberFields = [
  'downloads',
  'likes',
  'parameterCount',
  'minFileSizeBytes',
  'minMemoryBytes',
  'cacheBytesPerToken',
  'contextLength',
  'filesCount',
  'totalSizeBytes',
] as const satisfies (keyof ModelNumbers)[]

/**
 * Pages beyond this offset are selected by partitioning all matches, which is faster than keeping more than this many
 * documents in a heap.
 */
const maxHeapOffset = 2_000

/** The prefixes that match one query word: the word itself and its corrections. */
type QueryWord = readonly string[]

/**
 * An in-memory index of all models: an inverted index of their words and labels, and a column for each numeric
 * property. If a model's text changes, the model is added as a new document, and its old document is ignored from then
 * on.
 */
export class SearchIndex {
  #vocabulary = new Vocabulary()
  #labels = new Labels()
  /** Label counts of the public models. Updated with each change, because recounting a million models takes 30 ms. */
  #publicLabels = this.#labels.counter()
  #names = new NameWords()
  #relevance = new Relevance({
    vocabulary: this.#vocabulary,
    names: this.#names,
    labels: this.#labels,
  })
  #ids = new IdColumn()
  #seqs = new Column()
  #createdAt = new Column()
  #numbers = Object.fromEntries(numberFields.map((field) => [field, new Column()])) as Record<
    keyof ModelNumbers,
    Column
  >
  /** The current documents, without outdated ones. */
  #live = new DocumentSet(0)
  #public = new DocumentSet(0)
  /** Totals for the public models. Updated with each change, because adding up a million models takes 50 ms. */
  #totals = { models: 0, files: 0, bytes: 0, downloads: 0 }
  /** The document of each model, by `model.seq`; NaN if the model is not in the index. */
  #documents = new Column()
  #count = 0
  #outdated = 0

  /** Adds or replaces a model. */
  put(model: IndexedModel) {
    this.remove(model.seq)
    const document = this.#count++
    this.#names.add(this.#addWords(document, `${model.name} ${model.displayName}`))
    const { tags, architecture, description } = model
    this.#addWords(document, `${tags.join(' ')} ${architecture ?? ''} ${description ?? ''}`)
    this.#labels.add(toLabels(model))
    this.#ids.set(document, model.id)
    this.#seqs.set(document, model.seq)
    this.#createdAt.set(document, Date.parse(model.createdAt))
    this.#documents.set(model.seq, document)
    this.#live.add(document)
    if (model.isPublic) this.#public.add(document)
    this.#setNumbers(document, model)
    this.#addToTotals(document, 1)
    if (model.isPublic) this.#publicLabels.add(document)
  }

  /** Updates a model's counts and sizes, if the model is in the index. */
  update(seq: number, numbers: ModelNumbers) {
    const document = this.#find(seq)
    if (document === undefined) return
    this.#addToTotals(document, -1)
    this.#setNumbers(document, numbers)
    this.#addToTotals(document, 1)
  }

  remove(seq: number) {
    const document = this.#find(seq)
    if (document === undefined) return
    this.#addToTotals(document, -1)
    if (this.#public.has(document)) this.#publicLabels.add(document, -1)
    this.#live.delete(document)
    this.#public.delete(document)
    this.#documents.set(seq, null)
    this.#outdated += 1
  }

  /** The number of documents, including outdated ones. */
  get size(): number {
    return this.#count
  }

  /**
   * The share of outdated documents, whose models have since been changed or deleted. They take memory until the index
   * is rebuilt.
   */
  get outdatedShare(): number {
    return this.#outdated / Math.max(1, this.#count)
  }

  /** Sorts the words and frees reserved memory. Should be called after many models have been added. */
  settle() {
    this.#vocabulary.settle()
  }

  find(query: SearchQuery): Found {
    const words = this.#readWords(query.text)
    const matches = this.#match(query, words)
    const sign = toSign(query.order)
    const page = this.#withValues(query, words, (toValue) =>
      this.#select(matches, (document) => -sign * toValue(document), query),
    )
    const last = page.at(-1)
    return {
      seqs: page.map(({ document }) => this.#seqs.get(document)),
      total: matches.count(),
      last: last && { value: -sign * last.key, id: this.#ids.get(last.document) },
    }
  }

  #select(
    matches: DocumentSet,
    toKey: (document: number) => number,
    { order, after, offset, limit }: SearchQuery,
  ): Selected[] {
    const sign = toSign(order)
    const breakTie = (a: number, b: number) => sign * this.#ids.compare(a, b)
    if (!after && offset > maxHeapOffset) {
      const documents = matches.toArray()
      const keys = new Float64Array(documents.length)
      for (let at = 0; at < keys.length; at += 1) keys[at] = toKey(documents[at] ?? 0)
      const tieKey = (document: number) => -sign * this.#ids.getPrefix(document)
      return selectPage({ documents, keys, breakTie, tieKey }, offset, limit)
    }
    const key = after && -sign * after.value
    const id = parseId(after?.id ?? '')
    const top = new TopDocuments(after ? limit : offset + limit, breakTie)
    const offer = (document: number) => {
      const own = toKey(document)
      const isBefore =
        key !== undefined &&
        (own > key || (own === key && sign * this.#ids.compareWith(document, id) <= 0))
      if (!isBefore) top.offer(document, own)
    }
    // Documents are roughly in the order in which models were created. If the list is sorted by creation time, starting
    // with the documents that come first in the list avoids most changes to the heap.
    if (order === 'desc') matches.forEachReversed(offer)
    else matches.forEach(offer)
    return top.toArray().slice(after ? 0 : offset)
  }

  /** Counts how many of the matching models have each label. */
  countLabels(filter: SearchFilter): LabelCount[] {
    const { text, labels, ranges, memory } = filter
    const isEveryModel = !text?.trim() && labels.length === 0 && ranges.length === 0 && !memory
    const { username, seesAll } = filter.viewer
    if (isEveryModel && username === undefined && !seesAll) {
      return this.#labels.name(this.#publicLabels.counts())
    }
    return this.#labels.name(this.#labels.count(this.#match(filter, this.#readWords(filter.text))))
  }

  /** Returns totals of the public models. */
  total(maxParameterCounts: number): Totals {
    const { downloads, parameterCount } = this.#numbers
    const top = new TopDocuments(maxParameterCounts, (a, b) => this.#ids.compare(b, a))
    this.#public.forEach((document) => {
      top.offer(document, downloads.get(document))
    })
    const parameterCounts = top.toArray().map(({ document }) => {
      const count = parameterCount.get(document)
      return Number.isNaN(count) ? null : count
    })
    return { ...this.#totals, parameterCounts }
  }

  #match(filter: SearchFilter, words: readonly QueryWord[]): DocumentSet {
    const { text, labels, ranges, memory, viewer } = filter
    // Text without letters or digits matches no model.
    if (text?.trim() && words.length === 0) return new DocumentSet(0)
    const matches = this.#visibleTo(viewer)
    for (const label of labels) matches.intersect(this.#labels.toSet(label))
    for (const beginnings of words) {
      const documents = new DocumentSet(this.#count)
      for (const beginning of beginnings) this.#vocabulary.addDocuments(beginning, documents)
      matches.intersect(documents)
    }
    for (const {
      field,
      min = Number.NEGATIVE_INFINITY,
      max = Number.POSITIVE_INFINITY,
    } of ranges) {
      const column = this.#numbers[field]
      matches.retain((document) => column.get(document) >= min && column.get(document) <= max)
    }
    if (memory) {
      const findMemory = this.#findMemory(memory.contextTokens)
      matches.retain((document) => findMemory(document) <= memory.maxBytes)
    }
    return matches
  }

  /**
   * Returns a function that computes how much memory a model needs with this context length. The function returns NaN
   * if the amount is unknown.
   */
  #findMemory(contextTokens: number): (document: number) => number {
    const { minMemoryBytes, minFileSizeBytes, cacheBytesPerToken, contextLength } = this.#numbers
    if (contextTokens === usualContext) return (document) => minMemoryBytes.get(document)
    return (document) => {
      const maxTokens = contextLength.get(document)
      const bytesPerToken = cacheBytesPerToken.get(document)
      return memoryWithContext(minMemoryBytes.get(document), {
        tokens: contextTokens,
        maxTokens: Number.isNaN(maxTokens) ? null : maxTokens,
        bytesPerToken: Number.isNaN(bytesPerToken)
          ? usualCacheBytesPerToken(minFileSizeBytes.get(document))
          : bytesPerToken,
      })
    }
  }

  #visibleTo({ username, memberId, seesAll }: SearchFilter['viewer']): DocumentSet {
    if (seesAll) return this.#live.copy()
    const visible = this.#public.copy()
    const labels: Label[] = [
      ...(username === undefined ? [] : [{ kind: 'owner' as const, value: username }]),
      ...(memberId === undefined ? [] : [{ kind: 'member' as const, value: memberId }]),
    ]
    for (const document of labels.flatMap((label) => [...this.#labels.find(label)])) {
      if (this.#live.has(document)) visible.add(document)
    }
    return visible
  }

  /**
   * Splits a query into words. Corrections are added to a word if no word in a public model begins with it. Private
   * models are not considered, because the results must not reveal whether a private model contains the word.
   */
  #readWords(text = ''): QueryWord[] {
    return splitQuery(text).map((word) =>
      this.#vocabulary.has(word, this.#public)
        ? [word]
        : [word, ...findCorrections(word, this.#vocabulary, this.#public)],
    )
  }

  /** Calls `use` with a function that returns the value by which a document is to be sorted. */
  #withValues<T>(
    { sort }: SearchQuery,
    words: readonly QueryWord[],
    use: (toValue: (document: number) => number) => T,
  ): T {
    const { downloads, likes } = this.#numbers
    if (sort === 'createdAt') return use((document) => this.#createdAt.get(document))
    if (sort === 'likes') return use((document) => likes.get(document))
    if (sort === 'downloads' || words.length === 0)
      return use((document) => downloads.get(document))
    return this.#relevance.withScores(words, (score) =>
      use((document) => score(document, downloads.get(document))),
    )
  }

  /** Adds the words of a text to a document, and returns their term numbers without duplicates. */
  #addWords(document: number, text: string): number[] {
    const words = new Set(splitWords(text))
    return Array.from(words, (word) => this.#vocabulary.add(word, document))
  }

  #find(seq: number): number | undefined {
    const document = this.#documents.get(seq)
    return Number.isNaN(document) ? undefined : document
  }

  #addToTotals(document: number, sign: 1 | -1) {
    if (!this.#public.has(document)) return
    const { filesCount, totalSizeBytes, downloads } = this.#numbers
    this.#totals.models += sign
    this.#totals.files += sign * filesCount.get(document)
    this.#totals.bytes += sign * totalSizeBytes.get(document)
    this.#totals.downloads += sign * downloads.get(document)
  }

  #setNumbers(document: number, numbers: ModelNumbers) {
    for (const field of numberFields) this.#numbers[field].set(document, numbers[field])
  }
}

const toSign = (order: SearchQuery['order']) => (order === 'asc' ? 1 : -1)

function toLabels(model: IndexedModel): Label[] {
  const { architecture, license, owner, members = [] } = model
  return [
    ...(architecture === null ? [] : [{ kind: 'architecture' as const, value: architecture }]),
    ...(license === null ? [] : [{ kind: 'license' as const, value: license }]),
    ...[...new Set(model.tags)].map((value) => ({ kind: 'tag' as const, value })),
    ...[...new Set(model.quantizations)].map((value) => ({ kind: 'quantization' as const, value })),
    { kind: 'owner', value: owner },
    ...members.map((value) => ({ kind: 'member' as const, value })),
  ]
}
