import { DocumentSet } from './document-set.ts'
import { PostingList } from './posting-list.ts'

export const labelKinds = [
  'architecture',
  'license',
  'tag',
  'quantization',
  'owner',
  'member',
] as const
export type LabelKind = (typeof labelKinds)[number]
export type Label = { kind: LabelKind; value: string }
export type LabelCount = Label & { count: number }

export type LabelCounter = {
  /** @param times 1 to add the document (default), -1 to remove it */
  add(document: number, times?: 1 | -1): void
  /** Returns the counts, indexed by label number. */
  counts(): Uint32Array
}

/** The labels of the documents: values that are matched exactly, such as tags and owners. */
export class Labels {
  #numbers = new Map<string, number>()
  #labels: Label[] = []
  #postings: PostingList[] = []
  /** The label numbers of all documents, one document after the other. */
  #all = new Uint32Array(256)
  /** The index in `#all` at which each document's labels begin. */
  #starts = new Uint32Array(64)
  #documents = 0
  #used = 0

  /** Adds the labels of the next document. Documents are numbered from 0, in the order in which they are added. */
  add(labels: readonly Label[]) {
    const document = this.#documents++
    this.#starts = withRoom(this.#starts, document + 2)
    this.#all = withRoom(this.#all, this.#used + labels.length)
    for (const label of labels) {
      const number = this.#toNumber(label)
      this.#postings[number]?.append(document)
      this.#all[this.#used++] = number
    }
    this.#starts[document + 1] = this.#used
  }

  /** Returns the documents with this label. */
  find({ kind, value }: Label): Uint32Array {
    const number = this.#numbers.get(`${kind} ${value}`)
    return number === undefined
      ? new Uint32Array(0)
      : (this.#postings[number]?.numbers() ?? new Uint32Array(0))
  }

  /** Returns the documents with at least one of these labels, as a set. */
  toSet(...labels: Label[]): DocumentSet {
    const set = new DocumentSet(this.#documents)
    for (const label of labels) for (const document of this.find(label)) set.add(document)
    return set
  }

  /** Creates a counter for the labels of documents that are added and removed one by one. */
  counter(): LabelCounter {
    let counts = new Uint32Array(64)
    return {
      add: (document, times = 1) => {
        const end = this.#starts[document + 1] ?? 0
        counts = withRoom(counts, this.#labels.length)
        for (let at = this.#starts[document] ?? 0; at < end; at += 1) {
          const label = this.#all[at] ?? 0
          counts[label] = (counts[label] ?? 0) + times
        }
      },
      counts: () => counts,
    }
  }

  /** Counts how many of these documents have each label. */
  count(documents: DocumentSet): Uint32Array {
    const counts = new Uint32Array(this.#labels.length)
    const all = this.#all
    const starts = this.#starts
    documents.forEach((document) => {
      const end = starts[document + 1] ?? 0
      for (let at = starts[document] ?? 0; at < end; at += 1) {
        const label = all[at] ?? 0
        counts[label] = (counts[label] ?? 0) + 1
      }
    })
    return counts
  }

  /** Converts counts by label number into labels with counts. Omits labels that no document has. */
  name(counts: Uint32Array): LabelCount[] {
    return this.#labels.flatMap((label, number) => {
      const count = counts[number] ?? 0
      return count > 0 ? { ...label, count } : []
    })
  }

  #toNumber(label: Label): number {
    const key = `${label.kind} ${label.value}`
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = this.#labels.length
    this.#numbers.set(key, number)
    this.#labels.push(label)
    this.#postings.push(new PostingList())
    return number
  }
}

function withRoom(values: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  if (length <= values.length) return values
  const grown = new Uint32Array(Math.ceil(1.5 * length))
  grown.set(values)
  return grown
}
