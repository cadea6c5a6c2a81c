/**
 * `npm run conformance`: compares rendered prompts and parsed answers with llama.cpp's. Also converts the schemas in
 * llama.cpp's tests, and tokenizes texts with llama.cpp's vocabularies. Exits with 1 if a score is lower than in
 * `scores.ts`, or if the number of cases has changed.
 */
import { parseToolArguments } from '../testing/tool-arguments.ts'
import { openLlamaReference } from './llama-reference.ts'
import { type BoundResult, scoreBoundAnswers } from './score-bound-answers.ts'
import { type CaseResult, scoreCases } from './score-cases.ts'
import { type ForgeryResult, scoreForgeries } from './score-forgeries.ts'
import { type RenderingResult, scoreRenderings } from './score-renderings.ts'
import { type SchemaResult, scoreSchemas } from './score-schemas.ts'
import { scoreVocabularies, type VocabularyResult } from './score-vocabularies.ts'
import { scores } from './scores.ts'
import { toTable } from './table.ts'

process.env.TZ = 'UTC' // templates can print the date

const help = `npm run conformance [-- options]

Compares shoal with llama.cpp, for every chat template and test case in llama.cpp's sources.

options:
  --verbose, -v    print the differences instead of the table
  --template TEXT  only templates whose names contain this text; no scores are checked`

const { values } = parseToolArguments(help, {
  options: {
    verbose: { type: 'boolean', short: 'v', default: false },
    template: { type: 'string', default: '' },
  },
})

await using reference = await openLlamaReference()
const isChosen = ({ template }: { template: string }) => template.includes(values.template)
const renderings = (await scoreRenderings(reference)).filter(isChosen)
const forgeries = (await scoreForgeries(reference)).filter(isChosen)
const cases = (await scoreCases(reference)).filter(isChosen)
const bound = (await scoreBoundAnswers(reference)).filter(isChosen)
const schemas = await scoreSchemas(reference)
const vocabularies = await scoreVocabularies(reference)
if (values.verbose) {
  showDifferences(renderings, cases, schemas, vocabularies)
  showUnsafe(forgeries, bound)
} else console.log(toTable(renderings, cases))

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
const defaults = rendered.filter(({ conversation }) => conversation === 'default thinking')
const defaultsEqual = defaults.filter(({ outcome }) => outcome === 'equal')
const forged = forgeries.reduce((sum, one) => sum + one.forged, 0)
const found = forgeries.reduce((sum, one) => sum + one.found, 0)
const changed = forgeries.filter(({ detail }) => detail !== '')
const besides = bound.filter(({ kind }) => kind === 'calls')
const besidesRight = besides.filter(({ detail }) => detail === '')
const thoughts = bound.filter(({ kind }) => kind === 'json')
const thoughtsRight = thoughts.filter(({ detail }) => detail === '')
const isEnough =
  forgeries.length === scores.forgeries.total &&
  found >= scores.forgeries.minFound &&
  forged === 0 &&
  changed.length === 0 &&
  besides.length === scores.callsBesideFormat.total &&
  besidesRight.length >= scores.callsBesideFormat.min &&
  thoughts.length === scores.thinkingBeforeJson.total &&
  thoughtsRight.length >= scores.thinkingBeforeJson.min &&
  defaults.length === scores.defaultThinking.total &&
  defaultsEqual.length >= scores.defaultThinking.min &&
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
    `default thinking ${defaultsEqual.length} of ${defaults.length}; ` +
    `forged turns ${forged} of ${found} in ${new Set(forgeries.map(({ template }) => template)).size} templates; ` +
    `calls beside a format ${besidesRight.length} of ${besides.length}; ` +
    `thinking before JSON ${thoughtsRight.length} of ${thoughts.length}; ` +
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

function showUnsafe(all: readonly ForgeryResult[], answers: readonly BoundResult[]) {
  for (const { template, conversation, forged, detail } of all) {
    if (forged > 0 || detail !== '')
      console.log(`${template}, ${conversation}: ${forged} forged ${detail}`)
  }
  for (const { template, kind, output, detail } of answers) {
    if (detail !== '') console.log(`${template} (${kind}): ${JSON.stringify(output)}\n  ${detail}`)
  }
}
