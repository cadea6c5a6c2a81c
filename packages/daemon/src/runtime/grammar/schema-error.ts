/** A schema that no grammar can enforce. The message continues a sentence that names it. */
export class SchemaError extends Error {
  override name = 'SchemaError'
}
