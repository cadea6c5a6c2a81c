import { createHash } from 'node:crypto'
import { isModelName } from '@shoal/core/references'
import { describe, expect, test } from 'vitest'
import { makeCatalogue } from './catalogue.ts'
import { gradeModel, judgedQueries } from './judged-queries.ts'

const catalogue = makeCatalogue()

describe('the catalogue of the judged queries', () => {
  test('is the one with which the queries were judged', () => {
    // A change to the catalogue changes the search results. Judge the queries again before updating this hash.
    const hash = createHash('sha256').update(JSON.stringify(catalogue)).digest('hex')
    expect(hash.slice(0, 16)).toBe('297a6917cec2a000')
  })

  test('has at least 5,000 models, at least 400 of which exist', () => {
    const real = catalogue.filter(({ origin }) => origin === 'official' || origin === 'fine-tune')
    expect(catalogue.length).toBeGreaterThanOrEqual(5_000)
    expect(real.length).toBeGreaterThanOrEqual(400)
  })

  test('has only models that a registry accepts', () => {
    const names = catalogue.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => !isModelName(name))).toEqual([])
    for (const { name, display_name, tags, parameter_count } of catalogue) {
      expect(display_name, name).not.toBe('')
      expect(tags.filter((tag) => tag.length === 0 || tag.length > 64)).toEqual([])
      expect(new Set(tags).size, name).toBe(tags.length)
      expect(Number.isSafeInteger(parameter_count), name).toBe(true)
    }
  })
})

describe('the judged queries', () => {
  test('are 60 different queries', () => {
    expect(new Set(judgedQueries.map(({ q }) => q)).size).toBe(60)
  })

  test.each(judgedQueries)(
    '“$q” has a model with the best grade, and every rule determines the grade of some model',
    (query) => {
      expect(catalogue.some((model) => gradeModel(query, model) === 3)).toBe(true)
      for (const [index, rule] of query.rules.entries()) {
        const earlier = { ...query, rules: query.rules.slice(0, index) }
        const isUsed = catalogue.some(
          (model) =>
            gradeModel(earlier, model) === 0 && gradeModel({ ...query, rules: [rule] }, model) > 0,
        )
        expect(isUsed, JSON.stringify(rule)).toBe(true)
      }
    },
  )

  test('prefer the original to its copies, and the copies to other models of the family', () => {
    const grade = (q: string, name: string) => {
      const query = judgedQueries.find((one) => one.q === q)
      const model = catalogue.find((one) => one.name === name)
      return query && model && gradeModel(query, model)
    }
    expect(grade('llama 3.3', 'llama-3.3-70b-instruct')).toBe(3)
    expect(grade('llama 3.3', 'llama-3.3-70b-instruct-gguf')).toBe(2)
    expect(grade('llama 3.3', 'llama-3.2-3b-instruct')).toBe(1)
    expect(grade('llama 3.3', 'smollm2-1.7b-instruct')).toBe(0)
  })
})
