/** Documents, and the order in which they are listed. */
export type Sorting = {
  documents: Uint32Array
  /** The key of each document, at the same index. Documents are sorted by key, largest first. */
  keys: Float64Array
  /** Orders documents with equal keys: negative if `a` comes first. */
  breakTie: (a: number, b: number) => number
}

export type Selected = { document: number; key: number }

/**
 * Selects the documents on one page of a sorted list without sorting the entire list. Partitions both arrays in place
 * until the documents of the page are at their positions (quickselect), and then sorts only the page.
 * @param offset the position of the page's first document, counted from 0
 */
export function selectPage(sorting: Sorting, offset: number, limit: number): Selected[] {
  const { documents, keys, breakTie } = sorting
  const end = Math.min(offset + limit, documents.length)
  if (offset >= end) return []
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
