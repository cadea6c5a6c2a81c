/** Scales an embedding to length 1, because embeddings are compared only by direction. */
export function normalize(vector: ArrayLike<number>): Float32Array {
  const length = Math.hypot(...Array.from(vector))
  return Float32Array.from(vector, (value) => (length > 0 ? value / length : 0))
}

/**
 * Truncates an embedding to its first components, and scales these to length 1 again. Use this only for models trained
 * for truncation (Matryoshka).
 */
export function shortened(vector: Float32Array, dimensions: number): Float32Array {
  return dimensions < vector.length ? normalize(vector.subarray(0, dimensions)) : vector
}
