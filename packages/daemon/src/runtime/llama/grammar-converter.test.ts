import { jsonGrammar, SchemaError } from '@shoal/grammar'
import { expect, test } from 'vitest'
import { grammarConverter } from './grammar-converter.ts'

const text = { type: 'string', pattern: '^a+$' }
/** A schema whose conversion fails after about half a second, when it reaches a limit on the number of states. */
const hard = { type: 'string', pattern: '^((a{0,60}b?){0,60})$' }

const schemaJson = (schema: object) => JSON.stringify({ schema })

test('schemas are converted in the order of the calls', async () => {
  const convert = grammarConverter()
  const schemas = [text, { type: 'null' }, text]
  const grammars = await Promise.all(schemas.map((schema) => convert(schemaJson(schema))))
  expect(grammars).toEqual(schemas.map(jsonGrammar))
})

test('a schema that is refused does not end the thread', async () => {
  const convert = grammarConverter()
  const refused = convert(schemaJson({ type: 'string', pattern: '(?<=x)y' }))
  await expect(refused).rejects.toThrow('pattern cannot be enforced: it has a lookbehind')
  await expect(refused).rejects.toThrow(SchemaError)
  expect(await convert(schemaJson(text))).toBe(jsonGrammar(text))
})

test('a conversion that takes too long is stopped, and the next one succeeds', async () => {
  const convert = grammarConverter({ maxCpuMs: 50, maxHeapMb: 256 })
  await convert(schemaJson({}))
  const [slow, next] = [convert(schemaJson(hard)), convert(schemaJson(text))]
  await expect(slow).rejects.toThrow(
    'its conversion to a grammar takes more than 0.05 s of processor time',
  )
  await expect(slow).rejects.toThrow(SchemaError)
  expect(await next).toBe(jsonGrammar(text))
})
