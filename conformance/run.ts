/**
 * `npm run conformance`: compares rendered prompts and parsed answers with llama.cpp's. Also converts the schemas in
 * llama.cpp's tests, and tokenizes texts with llama.cpp's vocabularies. Exits with 1 if a score is lower than in
 * `scores.ts`, or if the number of cases has changed.
 */
import { parseArgs } from 'node:util'
import { openLlamaReference } from './llama-reference.ts'
import { type CaseResult, scoreCases } from './score-cases.ts'
import { type RenderingResult, scoreRenderings } from './score-renderings.ts'
import { type SchemaResult, scoreSchemas } from './score-schemas.ts'
import { scoreVocabularies, type VocabularyResult } from './score-vocabularies.ts'
import { scores } from './scores.ts'
import { toTable } from './table.ts'

process.env.TZ = 'UTC' // templates can print the date

const { values } = parseArgs({
  options: {
    verbose: { type: 'boolean', short: 'v', default: false },
    template: { type: 'string', default: '' },
  },
})

await using reference = await openLlamaReference()
const isChosen = ({ template }: { template: string }) => template.includes(values.template)
const renderings = (await scoreRenderings(reference)).filter(isChosen)
const cases = (await scoreCases(reference)).filter(isChosen)
const schemas = await scoreSchemas(reference)
const vocabularies = await scoreVocabularies(reference)
if (values.verbose) showDifferences(renderings, cases, schemas, vocabularies)
else console.log(toTable(renderings, cases))

const rendered = renderings.filter(({ outcome }) => outcome !== 'none')
const equal = rendered.filter(({ outcome }) => outcome === 'equal')
const failed = rendered.filter(({ outcome }) => outcome === 'failed')
const withCalls = cases.filter(({ expectsCalls }) => expectsCalls)
const callsRight = withCalls.filter(({ areCallsRight }) => areCallsRight)
const withGrammars = cases.filter(({ isGrammarRight }) => isGrammarRight !== undefined)
const grammarsRight = withGrammars.filter(({ isGrammarRight }) => isGrammarRight)
const textsRight = cases.filter(({ areTextsRight }) => areTextsRight)
const schemasRight = schemas.filter(({ detail }) => detail === '')
const vocabulariesRight = vocabularies.filter(({ detail }) => detail === '')
const isEnough =
  rendered.length === scores.renderings.total &&
  equal.length >= scores.renderings.minEqual &&
  failed.length <= scores.renderings.maxFailed &&
  withCalls.length === scores.calls.total &&
  callsRight.length >= scores.calls.min &&
  withGrammars.length === scores.grammars.total &&
  grammarsRight.length >= scores.grammars.min &&
  cases.length === scores.cases.total &&
  textsRight.length >= scores.cases.min &&
  schemas.length === scores.schemas.total &&
  schemasRight.length >= scores.schemas.min &&
  vocabularies.length === scores.vocabularies.total &&
  vocabulariesRight.length >= scores.vocabularies.min
if (values.template === '' && !isEnough) {
  console.log(
    `\na score is too low, or the number of cases has changed; expected: ${JSON.stringify(scores)}`,
  )
  process.exitCode = 1
}
console.log(
  `\nconformance: rendered ${equal.length} of ${rendered.length}, failed ${failed.length}; ` +
    `calls ${callsRight.length} of ${withCalls.length}; ` +
    `call grammars ${grammarsRight.length} of ${withGrammars.length}; ` +
    `content and reasoning ${textsRight.length} of ${cases.length}; ` +
    `schemas ${schemasRight.length} of ${schemas.length}; ` +
    `vocabularies ${vocabulariesRight.length} of ${vocabularies.length}`,
)

function showDifferences(
  all: readonly RenderingResult[],
  tests: readonly CaseResult[],
  schemaTests: readonly SchemaResult[],
  tokenized: readonly VocabularyResult[],
) {
  for (const { template, conversation, outcome, detail } of all) {
    if (detail !== '') console.log(`${outcome}: ${template}, ${conversation}\n  ${detail}`)
  }
  for (const { template, output, detail, isGrammarRight } of tests) {
    if (isGrammarRight === false)
      console.log(`${template}: not allowed by the grammar: ${JSON.stringify(output)}`)
    if (detail !== '') console.log(`${template}: ${JSON.stringify(output)}\n  ${detail}`)
  }
  for (const { name, detail } of schemaTests) {
    if (detail !== '') console.log(`schema: ${name}\n  ${detail}`)
  }
  for (const { vocabulary, detail } of tokenized) {
    if (detail !== '') console.log(`${vocabulary}: different tokens in ${detail}`)
  }
}
