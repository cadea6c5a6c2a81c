/**
 * A `model` runs on its own. A `shard` is one part of a split model. The other files cannot be run: an `mmproj` is the
 * vision or audio projector of a model, an `adapter` is a LoRA adapter, an `imatrix` is an importance matrix for
 * quantization, and a `vocabulary` is a model without weights.
 */
export type GgufRole =
  | 'model'
  | 'shard'
  | 'mmproj'
  | 'adapter'
  | 'control-vector'
  | 'imatrix'
  | 'vocabulary'

/** The roles of files that cannot be run, in words. */
export const otherRoles: Record<Exclude<GgufRole, 'model' | 'shard'>, string> = {
  mmproj: 'projector',
  adapter: 'LoRA adapter',
  'control-vector': 'control vector',
  imatrix: 'importance matrix',
  vocabulary: 'vocabulary without weights',
}

export const isOtherRole = (role: GgufRole): role is keyof typeof otherRoles => role in otherRoles
