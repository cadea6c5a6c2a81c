/** Compiles response schemas to functions that write JSON. */
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'

type Build = ReturnType<typeof SerializerSelector>
type Serializer = ReturnType<ReturnType<Build>>

const build: Build = SerializerSelector()
/** Compiled serializers, keyed first by the named schemas and options, and then by the response schema. */
const compiled = new Map<string, WeakMap<object, Serializer>>()

/**
 * Like Fastify's own compiler, but compiles a schema when it is first used, and only once per process, because many
 * routes share the schemas of errors. Compiling the schemas of all responses and requests at the start would take a
 * quarter of the processor time that the registry needs to start.
 */
export const buildSerializer: Build = (namedSchemas, options) => {
  const compile = build(namedSchemas, options)
  const key = JSON.stringify([namedSchemas, options])
  const known = compiled.get(key) ?? new WeakMap<object, Serializer>()
  compiled.set(key, known)
  return (route) => {
    const schema = route.schema as object
    let serializer: Serializer | undefined
    return (data) => {
      if (!serializer) {
        serializer = known.get(schema) ?? compile(route)
        known.set(schema, serializer)
      }
      return serializer(data)
    }
  }
}
