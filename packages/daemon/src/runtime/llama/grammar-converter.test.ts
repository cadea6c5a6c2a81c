import { expect, test } from 'vitest'
import { jsonGrammar } from './json-grammar.ts'
import { schemaConverter } from './schema-converter.ts'
import { SchemaError } from './schema-error.ts'

const text = { type: 'string', pattern: '^a+$' }
/** Takes about half a second, until a limit on the number of states is reached. */
const hard = { type: 'string', pattern: '^((a{0,60}b?){0,60})$' }

test('schemas are converted in the order of the calls', async () => {
  const convert = schemaConverter()
  const schemas = [text, { type: 'null' }, text]
  const grammars = await Promise.all(schemas.map((schema) => convert(JSON.stringify(schema))))
  expect(grammars).toEqual(schemas.map(jsonGrammar))
})

test('a schema that is refused does not end the thread', async () => {
  const convert = schemaConverter()
  const refused = convert(JSON.stringify({ type: 'string', pattern: '(?<=x)y' }))
  await expect(refused).rejects.toThrow('pattern cannot be enforced: it has a lookbehind')
  await expect(refused).rejects.toThrow(SchemaError)
  expect(await convert(JSON.stringify(text))).toBe(jsonGrammar(text))
})

test('a conversion that takes too long is stopped, and the next one succeeds', async () => {
  const convert = schemaConverter({ maxCpuMs: 50, maxHeapMb: 256 })
  await convert('{}')
  const [slow, next] = [convert(JSON.stringify(hard)), convert(JSON.stringify(text))]
  await expect(slow).rejects.toThrow(
    'its conversion to a grammar takes more than 0.05 s of processor time',
  )
  await expect(slow).rejects.toThrow(SchemaError)
  expect(await next).toBe(jsonGrammar(text))
})
