/** Scales an embedding to length 1, because embeddings are compared only by direction. */
export function normalize(vector: ArrayLike<number>): Float32Array {
  const length = Math.hypot(...Array.from(vector))
  return Float32Array.from(vector, (value) => (length > 0 ? value / length : 0))
}

/**
 * Returns the first components, scaled to length 1 again, for models that were trained to be truncated (Matryoshka).
 */
export function shortened(vector: Float32Array, dimensions: number): Float32Array {
  return dimensions < vector.length ? normalize(vector.subarray(0, dimensions)) : vector
}
