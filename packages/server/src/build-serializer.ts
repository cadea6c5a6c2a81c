/** Compiles response schemas to functions that write JSON. */
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'

type Build = ReturnType<typeof SerializerSelector>
type Serializer = ReturnType<ReturnType<Build>>

const build: Build = SerializerSelector()
/** By the schemas that others refer to, and then by the schema itself. */
const compiled = new Map<string, WeakMap<object, Serializer>>()

/**
 * Fastify's own compiler, but each schema is compiled only once in a process: many routes share the schemas of errors,
 * and compiling them took more than half of the processor time of a start.
 */
export const buildSerializer: Build = (namedSchemas, options) => {
  const compile = build(namedSchemas, options)
  const key = JSON.stringify([namedSchemas, options])
  const known = compiled.get(key) ?? new WeakMap<object, Serializer>()
  compiled.set(key, known)
  return (route) => {
    const schema = route.schema as object
    const serializer = known.get(schema) ?? compile(route)
    known.set(schema, serializer)
    return serializer
  }
}
