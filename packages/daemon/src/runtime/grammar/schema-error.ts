/** A schema that no grammar can hold to. The message is the end of a sentence that names it. */
export class SchemaError extends Error {
  override name = 'SchemaError'
}
