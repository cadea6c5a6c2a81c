/**
 * The error for a schema that no grammar can enforce. Its message completes a sentence that starts with `the schema:`.
 */
export class SchemaError extends Error {
  override name = 'SchemaError'
}

const maxPathLength = 200

/** Formats the path of a part of the schema for an error message. */
export function at(path: string): string {
  if (path === '') return 'it'
  return path.length > maxPathLength ? `${path.slice(0, maxPathLength)}…` : path
}

/** The error for a keyword that no grammar can enforce. */
export function cannot(path: string, what: string, reason?: string): SchemaError {
  const place = path === '' ? '' : `${at(path)}: `
  return new SchemaError(`${place}${what} cannot be enforced${reason ? `: ${reason}` : ''}`)
}
