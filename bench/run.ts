/** Reproducible side-by-side measurements: `npm run bench -- NAME [options]`. */
import { join } from 'node:path'
import { parseSize } from '@shoal/core/units'
import { misuse, parseToolArguments } from '../testing/tool-arguments.ts'
import type { Bench, BenchOptions } from './harness/bench.ts'
import { machine } from './harness/machine.ts'
import { reportTo } from './harness/report.ts'

const names = [
  'api',
  'search',
  'relevance',
  'scale',
  'pull',
  'push',
  'nodes',
  'inference',
  'fairness',
] as const

const optionTexts = `options, with their defaults:
  --rounds 3          number of rounds for each side of a comparison; the sides alternate
  --seconds 5         duration of a round of load
  --connections 32    concurrent requests in a round of load
  --models 100000     number of models in the registry
  --size 2147483648   size of the transferred file, in bytes or with a unit, for example 2GB
  --threads 1         number of threads for inference
  --data FOLDER       folder of the filled registry, kept for the next run (default: a temporary one)
  --only A,B          parts to run (default: all, except memory)
                      api: endpoints
                      search, scale: sqlite, postgres
                      scale: memory
                      nodes: requests, announces, push
                      inference: tiny, 100m-Q4_0, 100m-Q8_0, logprobs, prompts
                      pull: the names of the sides in the report
  --profile           also report a CPU profile of the registry
  --build-llama-server  build llama.cpp's server in the cache folder, to measure it in \`inference\``

const { values, positionals } = parseToolArguments(
  `npm run bench -- NAME [options]\n\n${optionTexts}`,
  {
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
      connections: { type: 'string', default: '32' },
      models: { type: 'string', default: '100000' },
      size: { type: 'string', default: String(2 * 1024 ** 3) },
      threads: { type: 'string', default: '1' },
      data: { type: 'string' },
      only: { type: 'string' },
      profile: { type: 'boolean', default: false },
      'build-llama-server': { type: 'boolean', default: false },
    },
  },
)

process.setMaxListeners(0) // one exit handler for each child process
// `process.exit` runs the `exit` handlers, which end child processes and delete temporary folders.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

const [name] = positionals
if (name === undefined) {
  for (const one of names) process.stdout.write(`${one.padEnd(15)}${(await load(one)).summary}\n`)
  process.stdout.write(`\n${optionTexts}\n`)
} else {
  const known = names.find((one) => one === name)
  if (!known) misuse(`unknown benchmark "${name}"; expected one of: ${names.join(', ')}`)
  const options: BenchOptions = {
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    connections: Number(values.connections),
    models: Number(values.models),
    sizeBytes: sizeIn(values.size),
    threads: Number(values.threads),
    data: values.data,
    only: values.only?.split(',') ?? [],
    profile: values.profile,
    buildsLlamaServer: values['build-llama-server'],
  }
  const report = reportTo(join(import.meta.dirname, 'results', `${known}.md`))
  report.say(
    `${machine()}. Medians (--rounds ${options.rounds}); the compared programs take turns.`,
  )
  await (await load(known)).run(options, report)
}

function sizeIn(text: string): number {
  const bytes = parseSize(text)
  if (bytes) return bytes
  return misuse(`invalid --size "${text}": expected a size such as 2GB`)
}

async function load(one: (typeof names)[number]): Promise<Bench> {
  const { bench }: { bench: Bench } = await import(`./${one}.ts`)
  return bench
}
