import { join } from 'node:path'
import { syntheticContext, writeSyntheticModel } from '@shoal/model-file/testing/synthetic-model'
import type { Bench } from './harness/bench.ts'
import { startDaemon } from './harness/daemon.ts'
import { digits, median } from './harness/numbers.ts'
import { inTurns } from './harness/rounds.ts'
import { temporaryFolder } from './harness/temporary-folder.ts'

const model = '100m-Q4_0'
const goalMs = 200

/** The paths and bodies of requests that need a lot of processing before the first token. A 4xx status is accepted. */
const largeRequests: Record<string, [path: string, body: object]> = {
  'counting the tokens of 4 MB of text': [
    '/v1/messages/count_tokens',
    { messages: ask(words(4e6)) },
  ],
  'counting the tokens of 15 MB of text': [
    '/v1/messages/count_tokens',
    { messages: ask(words(15e6)) },
  ],
  'counting the tokens of 4 MB of text without spaces': [
    '/v1/messages/count_tokens',
    { messages: ask('x1y2z3'.repeat(4e6 / 6)) },
  ],
  'a prompt of 4 MB': ['/v1/completions', { prompt: words(4e6), max_tokens: 1 }],
  'a chat of 5,000 messages': [
    '/v1/messages/count_tokens',
    { messages: Array.from({ length: 5000 }, () => ask(words(200))).flat() },
  ],
  'a schema with 800 properties': [
    '/v1/chat/completions',
    { messages: ask('Hello'), max_tokens: 1, response_format: schemaOf(800) },
  ],
}

export const bench: Bench = {
  summary: 'latency of a short request while a large request is being processed',

  async run({ rounds, threads }, report) {
    using folder = temporaryFolder()
    const models = join(folder.path, 'models')
    await writeSyntheticModel(join(models, model, `${model}.gguf`), 'Q4_0')
    await using daemon = await startDaemon({ models, threads, contextLength: syntheticContext })
    const { url } = daemon
    const short = () => post(url, '/v1/completions', { prompt: 'Hello', max_tokens: 1 })
    await short()

    report.title(
      `fairness: the wait of a request for one token during a large request, --threads ${threads}`,
    )
    const alone = { 'no other request': () => waitsBeside(short, sleepUntilMeasured()) }
    const beside = Object.fromEntries(
      Object.entries(largeRequests).map(([name, [path, body]]) => [
        name,
        () => waitsBeside(short, post(url, path, body)),
      ]),
    )
    const results = await inTurns(rounds, { ...alone, ...beside })
    report.table(
      [
        'large request',
        'median wait, ms',
        `longest wait, ms (goal ≤ ${goalMs})`,
        'duration of the large request, s',
      ],
      Object.entries(results).map(([name, runs]) => [
        name,
        digits(median(runs.map((run) => median(run.waitsMs)))),
        digits(median(runs.map((run) => Math.max(...run.waitsMs)))),
        digits(median(runs.map((run) => run.largeMs / 1000))),
      ]),
    )
  },
}

/** Repeats the short request until the large one has ended. */
async function waitsBeside(short: () => Promise<number>, large: Promise<number>) {
  let largeMs: number | undefined
  const ended = large.then((ms) => {
    largeMs = ms
  })
  const waitsMs: number[] = []
  do waitsMs.push(await short())
  while (largeMs === undefined)
  await ended
  return { waitsMs, largeMs }
}

/** Takes the place of the large request in the baseline, which measures the short request alone. */
async function sleepUntilMeasured(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 2000))
  return 0
}

/** Returns the time in ms until the response is complete. */
async function post(url: string, path: string, body: object): Promise<number> {
  const startedAt = performance.now()
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, ...body }),
  })
  await response.text()
  if (response.status >= 500) throw new Error(`${path} answered with ${response.status}`)
  return performance.now() - startedAt
}

function ask(content: string) {
  return [{ role: 'user', content }]
}

/** Returns a text of about this many characters. */
function words(characters: number): string {
  const text = 'A registry stores models, and every chunk of a file is verified.\n'
  return text.repeat(characters / text.length)
}

function schemaOf(count: number) {
  const properties = Array.from({ length: count }, (_, index) => [
    `property_${index}`,
    { type: 'string', pattern: `^[a-z]{1,${1 + (index % 20)}}-[0-9]+$` },
  ])
  const names = properties.map(([name]) => name)
  const schema = {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: names,
    additionalProperties: false,
  }
  return { type: 'json_schema', json_schema: { name: 'large', strict: true, schema } }
}
