/** Documents, and the order in which they are listed. */
export type Sorting = {
  documents: Uint32Array
  /** The key of each document, at the same index. Documents are sorted by key, largest first. */
  keys: Float64Array
  /** Orders documents with equal keys: negative if `a` comes first. */
  breakTie: (a: number, b: number) => number
  /**
   * Approximates `breakTie`: the document for which it returns the larger number comes first. If the returned numbers
   * are equal, `breakTie` decides.
   */
  tieKey: (document: number) => number
}

export type Selected = { document: number; key: number }

/** Fewer documents than this are partitioned directly, without discarding distant ones first. */
const minCounted = 4_096
const buckets = 2 ** 16

/**
 * Returns the documents of one page, in order. Discards the documents that are certainly before or after the page,
 * partitions the rest in place until the page's documents are together (quickselect), and then sorts only the page.
 * @param offset the position of the page's first document, counted from 0
 */
export function selectPage(sorting: Sorting, offset: number, limit: number): Selected[] {
  const end = Math.min(offset + limit, sorting.documents.length)
  if (offset >= end) return []
  const near = discardDistant(sorting, offset, end)
  const key = near.keys[0] ?? 0
  if (near.documents.length < minCounted || !near.keys.every((one) => one === key)) {
    return selectByPartition(near, offset - near.before, end - near.before)
  }
  const keys = new Float64Array(near.documents.length)
  for (let at = 0; at < keys.length; at += 1) keys[at] = sorting.tieKey(near.documents[at] ?? 0)
  const ties = discardDistant({ ...near, keys }, offset - near.before, end - near.before)
  const before = near.before + ties.before
  const page = selectByPartition(ties, offset - before, end - before)
  return page.map(({ document }) => ({ document, key }))
}

/**
 * Returns the documents whose keys are close to those of the page, and the number of documents before them. Counts the
 * keys in buckets of equal width, keeps only the page's buckets, and repeats this with the documents in these buckets
 * until no more documents are discarded.
 */
function discardDistant(
  { documents, keys, ...rest }: Sorting,
  offset: number,
  end: number,
): Sorting & { before: number } {
  let near = { ...rest, documents, keys, before: 0 }
  for (let size = Number.POSITIVE_INFINITY; near.documents.length < size; ) {
    size = near.documents.length
    if (size < minCounted) break
    const { min, max } = findRange(near.keys)
    if (min === max) break
    near = keepBuckets(near, { min, max }, offset - near.before, end - near.before)
  }
  return near
}

function keepBuckets(
  near: Sorting & { before: number },
  { min, max }: { min: number; max: number },
  offset: number,
  end: number,
) {
  const { documents, keys } = near
  const perKey = (buckets - 1) / (max - min)
  const counts = new Uint32Array(buckets)
  const places = new Uint16Array(keys.length)
  for (let at = 0; at < keys.length; at += 1) {
    const place = (max - (keys[at] ?? 0)) * perKey // the largest keys are in the first bucket
    places[at] = place
    const bucket = places[at] ?? 0
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  let first = 0
  let before = 0
  while (before + (counts[first] ?? 0) <= offset) before += counts[first++] ?? 0
  let last = first
  let through = before + (counts[first] ?? 0)
  while (through < end) through += counts[++last] ?? 0
  const kept = {
    ...near,
    documents: new Uint32Array(through - before),
    keys: new Float64Array(through - before),
    before: near.before + before,
  }
  let length = 0
  for (let at = 0; at < keys.length; at += 1) {
    const bucket = places[at] ?? 0
    if (bucket < first || bucket > last) continue
    kept.documents[length] = documents[at] ?? 0
    kept.keys[length++] = keys[at] ?? 0
  }
  return kept
}

function findRange(keys: Float64Array): { min: number; max: number } {
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at] ?? 0
    if (key < min) min = key
    if (key > max) max = key
  }
  return { min, max }
}

function selectByPartition(sorting: Sorting, offset: number, end: number): Selected[] {
  const { documents, keys, breakTie } = sorting
  partitionAt(sorting, end, 0, documents.length)
  partitionAt(sorting, offset, 0, end)
  const places = Array.from({ length: end - offset }, (_, at) => offset + at)
  places.sort(
    (a, b) => (keys[b] ?? 0) - (keys[a] ?? 0) || breakTie(documents[a] ?? 0, documents[b] ?? 0),
  )
  return places.map((place) => ({ document: documents[place] ?? 0, key: keys[place] ?? 0 }))
}

/**
 * Moves the documents that come first in the order to the first `count` positions. The documents before `from`, and
 * from `to` on, are already on the correct side.
 */
function partitionAt(
  { documents, keys, breakTie }: Sorting,
  count: number,
  from: number,
  to: number,
) {
  let low = from
  let high = to - 1
  while (low < high) {
    if (count <= low || count > high) return
    const middle = (low + high) >>> 1
    const pivotKey = keys[middle] ?? 0
    const pivot = documents[middle] ?? 0
    const compare = (at: number) =>
      pivotKey - (keys[at] ?? 0) || breakTie(documents[at] ?? 0, pivot)
    let left = low
    let right = high
    while (left <= right) {
      while (compare(left) < 0) left += 1
      while (compare(right) > 0) right -= 1
      if (left > right) break
      swap(documents, left, right)
      swap(keys, left, right)
      left += 1
      right -= 1
    }
    // documents in [low, right] come before the pivot or are equal to it; those in [left, high] come after it or are
    // equal
    if (count - 1 <= right) high = right
    else if (count - 1 >= left) low = left
    else return
  }
}

function swap(values: Uint32Array | Float64Array, a: number, b: number) {
  const value = values[a] ?? 0
  values[a] = values[b] ?? 0
  values[b] = value
}
