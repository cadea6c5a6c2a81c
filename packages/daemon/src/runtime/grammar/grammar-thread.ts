/** The thread of `schemaConverter`: converts the schemas that it receives as JSON. */
import { parentPort } from 'node:worker_threads'
import { jsonGrammar } from './json-grammar.ts'
import { SchemaError } from './schema-error.ts'

/** `refusal`: why no grammar can enforce the schema. `failure`: an unexpected error. */
export type Converted = { grammar: string } | { refusal: string } | { failure: string }

function convert(schema: string): Converted {
  try {
    return { grammar: jsonGrammar(JSON.parse(schema)) }
  } catch (error) {
    return error instanceof SchemaError ? { refusal: error.message } : { failure: String(error) }
  }
}

parentPort?.on('message', (schema: string) => parentPort?.postMessage(convert(schema)))
parentPort?.postMessage('ready')
