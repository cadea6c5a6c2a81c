/** Embeddings are compared by their direction alone. */
export function normalize(vector: ArrayLike<number>): Float32Array {
  const length = Math.hypot(...Array.from(vector))
  return Float32Array.from(vector, (value) => (length > 0 ? value / length : 0))
}

/** The first numbers, of length 1 again: for models that were trained to be cut (Matryoshka). */
export function shortened(vector: Float32Array, dimensions: number): Float32Array {
  return dimensions < vector.length ? normalize(vector.subarray(0, dimensions)) : vector
}
