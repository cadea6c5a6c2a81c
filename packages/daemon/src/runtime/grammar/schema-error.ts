/**
 * The error for a schema that no grammar can enforce. Its message is the end of a sentence that begins with
 * `the schema:`.
 */
export class SchemaError extends Error {
  override name = 'SchemaError'
}
