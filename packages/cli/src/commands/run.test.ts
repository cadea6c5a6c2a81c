import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { realRegistry } from '../testing/real-registry.ts'
import { makeHome, startShoal } from '../testing/run-shoal.ts'
import { counts, ends, says, scriptedDaemon, thinks } from '../testing/scripted-daemon.ts'
import { scriptedRegistry } from '../testing/scripted-registry.ts'
import { shoalHere } from '../testing/shoal-here.ts'

type Options = Partial<Parameters<typeof shoalHere>[1]> & { inference: string }

async function run(words: string[], { inference, env, ...runOptions }: Options) {
  await using home = await makeHome()
  return await shoalHere(['run', ...words], {
    home: home.path,
    env: { SHOAL_INFERENCE: inference, ...env },
    ...runOptions,
  })
}

test('only the answer is printed on stdout, with a newline at its end', async () => {
  await using daemon = await scriptedDaemon({
    answer: () => [thinks('Let me see. '), says('Hel'), says('lo!'), ends(), counts],
  })
  expect(await run(['shoal-nano', 'Say', 'hello'], { inference: daemon.url })).toEqual({
    stdout: 'Hello!\n',
    stderr: '',
    exitCode: 0,
  })
  expect(daemon.questions()).toEqual([
    {
      model: 'shoal-nano',
      messages: [{ role: 'user', content: 'Say hello' }],
      stream: true,
      stream_options: { include_usage: true },
    },
  ])
})

test('a renamed model is downloaded and run by its former name', async () => {
  await using registry = await realRegistry()
  await registry.publish('tide', 2_000)
  await registry.rename('tide', 'reef')
  await using daemon = await scriptedDaemon({ models: ['reef'] })
  const { stdout, stderr } = await run(['tide', 'Hi'], {
    inference: daemon.url,
    registry: registry.url,
  })
  expect(stderr).toContain('tide was renamed to reef.')
  expect(stdout).toBe('Hello!\n')
  expect(daemon.questions()).toMatchObject([{ model: 'reef' }])
})

test('piped input follows the typed prompt, after a blank line', async () => {
  await using daemon = await scriptedDaemon()
  const inference = daemon.url
  await run(['shoal-nano', 'Summarise'], { inference, input: 'some notes\n' })
  await run(['shoal-nano'], { inference, input: 'only notes\n' })
  expect(daemon.questions().map(({ messages }) => messages)).toEqual([
    [{ role: 'user', content: 'Summarise\n\nsome notes' }],
    [{ role: 'user', content: 'only notes' }],
  ])
})

test('the options are sent with the prompt', async () => {
  await using daemon = await scriptedDaemon()
  const options = '--system Short --temperature 0.5 --top-p 0.9 --max-tokens 20 --seed 7'
  await run(['shoal-nano', 'Hi', ...options.split(' ')], { inference: daemon.url })
  expect(daemon.questions()).toMatchObject([
    {
      messages: [
        { role: 'system', content: 'Short' },
        { role: 'user', content: 'Hi' },
      ],
      temperature: 0.5,
      top_p: 0.9,
      max_tokens: 20,
      seed: 7,
    },
  ])
})

test('under --json, the answer is a document that includes the reasoning', async () => {
  await using daemon = await scriptedDaemon({
    answer: () => [thinks('Hm.'), says('Hello!'), ends('length'), counts],
  })
  const { stdout, exitCode } = await run(['shoal-nano', 'Hi', '--json'], { inference: daemon.url })
  expect(JSON.parse(stdout)).toEqual({
    model: 'shoal-nano',
    quantization: 'Q8_0',
    content: 'Hello!',
    reasoning: 'Hm.',
    finish_reason: 'length',
    usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    load_seconds: expect.any(Number),
    first_token_seconds: expect.any(Number),
    seconds: expect.any(Number),
  })
  expect(exitCode).toBe(0)
})

test('on a terminal, reasoning is printed dimmed on stderr', async () => {
  await using daemon = await scriptedDaemon({
    answer: () => [thinks('Hm'), thinks('.'), says('Hello!\n'), ends()],
  })
  const inference = daemon.url
  const shown = await run(['shoal-nano', 'Hi'], { inference, isTerminal: true })
  expect(shown.stdout).toBe('Hello!\n')
  expect(shown.stderr).toContain('\x1b[2mHm\x1b[22m\x1b[2m.\x1b[22m\n\n')
  const plain = await run(['shoal-nano', 'Hi', '--no-color'], { inference, isTerminal: true })
  expect(plain.stderr).toContain('Thinking: Hm.\n\n')
})

test('control characters are removed from an answer', async () => {
  await using daemon = await scriptedDaemon({
    answer: () => [thinks('\x1b[2J'), says('\x1b]0;own'), says('ed\x07\r\x9b31m a\tb\nc'), ends()],
  })
  const { stdout, stderr } = await run(['shoal-nano', 'Hi', '--no-color'], {
    inference: daemon.url,
    isTerminal: true,
  })
  expect(stdout).toBe(']0;owned31m a\tb\nc\n')
  expect(stderr).toContain('Thinking: [2J\n')
})

test('the API key from the environment is sent', async () => {
  await using daemon = await scriptedDaemon()
  await run(['shoal-nano', 'Hi'], { inference: daemon.url, env: { SHOAL_API_KEY: 'secret\n' } })
  expect(daemon.asked.at(-1)?.authorization).toBe('Bearer secret')
})

test.each([
  [401, 'invalid_api_key', 'This API key is not the right one', 4],
  [400, 'context_length_exceeded', 'The prompt has 900 tokens and the context 512', 1],
  [
    503,
    'insufficient_memory',
    'It needs 40.0 GB of memory, but models on this machine may use at most 13.6 GB',
    8,
  ],
  [503, 'model_not_loaded', 'shoal-nano cannot be loaded: the file is damaged', 1],
])(
  'a response with status %i (%s) ends the command with the reason',
  async (status, code, sentence, exitCode) => {
    const message = sentence.replace(/^[A-Z][a-z]/, (letters) => letters.toLowerCase())
    const body = { detail: message, error: { message, code } }
    await using daemon = await scriptedDaemon({
      at: { '/v1/chat/completions': { status, body } },
    })
    const outcome = await run(['shoal-nano', 'Hi'], { inference: daemon.url })
    expect(outcome.stderr).toContain(`✗ ${sentence}.\n`)
    expect(outcome).toMatchObject({ stdout: '', exitCode })
  },
)

test('run ends with exit code 8 if the model needs too much memory, even if the error is in the /api format', async () => {
  const error =
    'model shoal-nano needs 134 MB of memory, but models on this machine may use at most 50.0 MB'
  const body = { error, detail: error, code: 'insufficient_memory' }
  await using daemon = await scriptedDaemon({ at: { '/api/load': { status: 503, body } } })
  const outcome = await run(['shoal-nano', 'Hi'], { inference: daemon.url })
  expect(outcome.stderr).toContain('✗ Model shoal-nano needs 134 MB of memory')
  expect(outcome.exitCode).toBe(8)
})

test('an error during an answer or the loss of the daemon ends the command', async () => {
  await using failing = await scriptedDaemon({
    answer: () => [says('Hel'), { error: { message: 'the model was lost', code: 'model_lost' } }],
  })
  expect(await run(['shoal-nano', 'Hi'], { inference: failing.url })).toEqual({
    stdout: 'Hel\n',
    stderr: '✗ The model was lost.\n',
    exitCode: 1,
  })
  const shown = Promise.withResolvers<void>()
  await using leaving = await scriptedDaemon({
    async *answer() {
      yield says('Hel')
      await shown.promise
      throw new Error('gone')
    },
  })
  const { stderr, exitCode } = await run(['shoal-nano', 'Hi'], {
    inference: leaving.url,
    onOutput: () => shown.resolve(),
  })
  expect(stderr).toContain('stopped during the request')
  expect(exitCode).toBe(6)
})

test('run ends with exit code 6 if the specified daemon is not running', async () => {
  const { stderr, exitCode } = await run(['shoal-nano', 'Hi'], { inference: 'localhost:9/v1' })
  expect(stderr).toBe(
    '✗ No daemon responds at localhost:9.\n' +
      '  Start a daemon with shoal serve, or pass another address with --inference or SHOAL_INFERENCE.\n',
  )
  expect(exitCode).toBe(6)
})

test('run without a prompt is a usage error if there is no terminal', async () => {
  await using daemon = await scriptedDaemon()
  const { stderr, exitCode } = await run(['shoal-nano'], { inference: daemon.url })
  expect(stderr).toBe('✗ No prompt given.\n  Pass a prompt after the model name, or pipe one in.\n')
  expect(exitCode).toBe(2)
})

test('run ends with exit code 3 for an unknown model and suggests similar names', async () => {
  await using daemon = await scriptedDaemon()
  await using registry = await scriptedRegistry({
    'GET /v1/models': { body: [] },
    'GET /v1/models/nobody-7b': {
      status: 404,
      body: { detail: 'no model nobody-7b', code: 'model_unknown' },
    },
  })
  const { stderr, exitCode } = await run(['nobody-7b', 'Hi'], {
    inference: daemon.url,
    registry: registry.address,
  })
  expect(stderr).toContain('  nobody-7b is not on this machine. Downloading it:\n')
  expect(stderr).toContain(`✗ No model called “nobody-7b” on ${registry.label}.\n`)
  expect(exitCode).toBe(3)
})

test('Ctrl-C during an answer ends run with exit code 130 and cancels the request', async () => {
  await using home = await makeHome()
  let isLeft = false
  await using daemon = await scriptedDaemon({
    async *answer() {
      try {
        for (;;) {
          yield says('on and ')
          await sleep(20)
        }
      } finally {
        isLeft = true
      }
    },
  })
  const { child, outcome } = startShoal(['run', 'shoal-nano', 'Tell me a story'], {
    home: home.path,
    env: { SHOAL_INFERENCE: daemon.url },
  })
  child.stdin.end()
  await once(child.stdout, 'data')
  child.kill('SIGINT')
  const { stdout, stderr, exitCode } = await outcome
  expect(stdout).toMatch(/^(on and )+\n$/)
  expect(stderr).toBe('■ Stopped.\n')
  expect(exitCode).toBe(130)
  await expect.poll(() => isLeft).toBe(true)
})
