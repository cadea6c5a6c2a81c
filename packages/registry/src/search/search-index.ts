import { Column } from './column.ts'
import { DocumentSet } from './document-set.ts'
import { IdColumn, parseId } from './id-column.ts'
import type { IndexedModel, ModelNumbers } from './indexed-model.ts'
import { type Label, type LabelCount, Labels } from './labels.ts'
import { NameWords } from './name-words.ts'
import { Relevance } from './relevance.ts'
import { type Sorting, selectPage } from './select-page.ts'
import { Vocabulary } from './vocabulary.ts'
import { findCorrections, splitQuery, splitWords } from './words.ts'

export type SearchFilter = {
  /** Every word must match. */
  text?: string | undefined
  labels: Label[]
  ranges: Range[]
  /** The user whose private models are found in addition to the public ones. */
  viewer: { username: string | undefined; seesAll: boolean }
}

/** Both ends are included. */
export type Range = { field: SizeField; min?: number | undefined; max?: number | undefined }
export type SizeField = 'parameterCount' | 'minFileSizeBytes' | 'minMemoryBytes'

export type SearchQuery = SearchFilter & {
  sort: 'downloads' | 'likes' | 'createdAt' | 'relevance'
  order: 'asc' | 'desc'
  offset: number
  limit: number
  /** The models that follow this position, instead of those from `offset`. */
  after?: Position | undefined
}

/** The place of a model in an order: the value that it is sorted by (a time in ms), and its ID among equal values. */
export type Position = { value: number; id: string }

export type Found = {
  /** `model.seq` of the models of the page. */
  seqs: number[]
  total: number
  /** The position of the last model of the page. */
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
  'filesCount',
  'totalSizeBytes',
] as const satisfies (keyof ModelNumbers)[]

/** The beginnings of words that match: the word itself, and its corrections. */
type QueryWord = readonly string[]

/**
 * All models, in memory: an inverted index of their words and labels, and their numbers as columns. A changed model is a
 * new document, and its old one is ignored from then on.
 */
export class SearchIndex {
  #vocabulary = new Vocabulary()
  #labels = new Labels()
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
  /** The documents of existing models. */
  #live = new DocumentSet(0)
  #public = new DocumentSet(0)
  /** By `model.seq`; NaN if there is none. */
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
  }

  /** Updates the numbers of a model; one that is not in the index is ignored. */
  update(seq: number, numbers: ModelNumbers) {
    const document = this.#find(seq)
    if (document !== undefined) this.#setNumbers(document, numbers)
  }

  remove(seq: number) {
    const document = this.#find(seq)
    if (document === undefined) return
    this.#live.delete(document)
    this.#public.delete(document)
    this.#documents.set(seq, null)
    this.#outdated += 1
  }

  /** The number of documents, including outdated ones. */
  get size(): number {
    return this.#count
  }

  /** The share of documents whose models have changed or were deleted since. They take memory until the index is built again. */
  get outdatedShare(): number {
    return this.#outdated / Math.max(1, this.#count)
  }

  /** Call it after adding many models: it sorts the words and frees reserved memory. */
  settle() {
    this.#vocabulary.settle()
  }

  find(query: SearchQuery): Found {
    const words = this.#readWords(query.text)
    const documents = this.#match(query, words).toArray()
    const sign = query.order === 'asc' ? 1 : -1
    const breakTie = (a: number, b: number) => sign * this.#ids.compare(a, b)
    const values = this.#toValues(documents, query, words)
    const all = { documents, keys: values.map((value) => -sign * value), breakTie }
    const { after, offset, limit } = query
    const page = after
      ? selectPage(this.#follow(all, after, sign), 0, limit)
      : selectPage(all, offset, limit)
    return {
      seqs: page.map(({ document }) => this.#seqs.get(document)),
      total: documents.length,
      last: page
        .slice(-1)
        .map(({ document, key }) => ({ value: -sign * key, id: this.#ids.get(document) }))[0],
    }
  }

  /** The documents after a position. */
  #follow({ documents, keys, breakTie }: Sorting, after: Position, sign: 1 | -1): Sorting {
    const key = -sign * after.value
    const id = parseId(after.id)
    const isAfter = (document: number, at: number) => {
      const own = keys[at] ?? 0
      return own < key || (own === key && sign * this.#ids.compareWith(document, id) > 0)
    }
    return {
      documents: documents.filter(isAfter),
      keys: keys.filter((_, at) => isAfter(documents[at] ?? 0, at)),
      breakTie,
    }
  }

  /** How many of the matching models have each label. */
  countLabels(filter: SearchFilter): LabelCount[] {
    return this.#labels.count(this.#match(filter, this.#readWords(filter.text)))
  }

  /** Totals of the public models. */
  total(maxParameterCounts: number): Totals {
    const documents = this.#public.toArray()
    const sum = (field: keyof ModelNumbers) => {
      let total = 0
      for (const document of documents) total += this.#numbers[field].get(document)
      return total
    }
    const totals = {
      models: documents.length,
      files: sum('filesCount'),
      bytes: sum('totalSizeBytes'),
      downloads: sum('downloads'),
    }
    const keys = this.#numbers.downloads.pick(documents)
    const breakTie = (a: number, b: number) => this.#ids.compare(b, a)
    const most = selectPage({ documents, keys, breakTie }, 0, maxParameterCounts)
    const parameterCounts = most.map(({ document }) => {
      const count = this.#numbers.parameterCount.get(document)
      return Number.isNaN(count) ? null : count
    })
    return { ...totals, parameterCounts }
  }

  #match({ text, labels, ranges, viewer }: SearchFilter, words: readonly QueryWord[]): DocumentSet {
    if (text?.trim() && words.length === 0) return new DocumentSet(0) // no letter and no digit: in no model
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
    return matches
  }

  #visibleTo({ username, seesAll }: SearchFilter['viewer']): DocumentSet {
    if (seesAll) return this.#live.copy()
    const visible = this.#public.copy()
    if (username === undefined) return visible
    for (const document of this.#labels.find({ kind: 'owner', value: username })) {
      if (this.#live.has(document)) visible.add(document)
    }
    return visible
  }

  /**
   * The words of a query. A word that begins none in a public model is also corrected: whether a private model has it must not
   * show.
   */
  #readWords(text = ''): QueryWord[] {
    return splitQuery(text).map((word) =>
      this.#vocabulary.has(word, this.#public)
        ? [word]
        : [word, ...findCorrections(word, this.#vocabulary, this.#public)],
    )
  }

  /** The values that the documents are sorted by. */
  #toValues(
    documents: Uint32Array,
    { sort }: SearchQuery,
    words: readonly QueryWord[],
  ): Float64Array {
    if (sort === 'createdAt') return this.#createdAt.pick(documents)
    const values = this.#numbers[sort === 'likes' ? sort : 'downloads'].pick(documents)
    const isScored = sort === 'relevance' && words.length > 0
    return isScored ? this.#relevance.score(words, documents, values) : values
  }

  /** Returns the numbers of the words, without duplicates. */
  #addWords(document: number, text: string): number[] {
    const words = new Set(splitWords(text))
    return Array.from(words, (word) => this.#vocabulary.add(word, document))
  }

  #find(seq: number): number | undefined {
    const document = this.#documents.get(seq)
    return Number.isNaN(document) ? undefined : document
  }

  #setNumbers(document: number, numbers: ModelNumbers) {
    for (const field of numberFields) this.#numbers[field].set(document, numbers[field])
  }
}

function toLabels(model: IndexedModel): Label[] {
  const { architecture, license, owner } = model
  return [
    ...(architecture === null ? [] : [{ kind: 'architecture' as const, value: architecture }]),
    ...(license === null ? [] : [{ kind: 'license' as const, value: license }]),
    ...[...new Set(model.tags)].map((value) => ({ kind: 'tag' as const, value })),
    ...[...new Set(model.quantizations)].map((value) => ({ kind: 'quantization' as const, value })),
    { kind: 'owner', value: owner },
  ]
}
