import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { arrowUp, atTerminal, controlC, controlD } from '../testing/at-terminal.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { counts, ends, says, scriptedDaemon } from '../testing/scripted-daemon.ts'

type Script = NonNullable<Parameters<typeof scriptedDaemon>[0]>

/** Starts a chat with a scripted daemon, and waits for the first prompt. */
async function startChat(script: Script = {}, words: string[] = []) {
  const home = await makeHome()
  const daemon = await scriptedDaemon(script)
  const person = atTerminal(['run', 'shoal-nano', ...words], {
    home: home.path,
    env: { SHOAL_INFERENCE: daemon.url },
  })
  const { stderr: greeting } = await person.prompted()
  return {
    ...person,
    daemon,
    greeting,
    /** Types a line and returns the output up to the next prompt. */
    async say(line: string) {
      person.type(line)
      return await person.prompted()
    },
    async [Symbol.asyncDispose]() {
      person.press(controlD)
      await person.outcome
      await daemon[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}

const lastMessages = ({ questions }: Awaited<ReturnType<typeof scriptedDaemon>>) =>
  questions().at(-1)?.messages

test('a chat prints a greeting, answers on stdout, remembers the conversation, and ends at Ctrl-D', async () => {
  await using chat = await startChat()
  expect(chat.greeting).toMatch(
    / {2}Q8_0 ready in \d\.\d s\. Type \/help for commands, or press Ctrl-D to leave\.\n/,
  )
  expect((await chat.say('Hi')).stdout).toBe('Hello!\n')
  await chat.say('Again')
  expect(lastMessages(chat.daemon)).toEqual([
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello!' },
    { role: 'user', content: 'Again' },
  ])
  chat.press(controlD)
  expect(await chat.outcome).toMatchObject({ exitCode: 0, stdout: 'Hello!\nHello!\n' })
})

test('lines enclosed in """ are sent as one message', async () => {
  await using chat = await startChat()
  chat.type('"""one')
  await chat.prompted()
  chat.type('two')
  await chat.prompted()
  expect((await chat.say('three"""')).stdout).toBe('Hello!\n')
  expect(lastMessages(chat.daemon)).toEqual([{ role: 'user', content: 'one\ntwo\nthree' }])
  await chat.say('"""all on one"""')
  expect(lastMessages(chat.daemon)).toContainEqual({ role: 'user', content: 'all on one' })
})

test('the up arrow recalls the previous line', async () => {
  await using chat = await startChat()
  await chat.say('Name a fish')
  await chat.say(`${arrowUp}!`)
  expect(lastMessages(chat.daemon)).toContainEqual({ role: 'user', content: 'Name a fish!' })
})

test('text typed during an answer is read after the answer', async () => {
  const go = Promise.withResolvers<void>()
  await using chat = await startChat({
    async *answer() {
      yield says('Hel')
      await go.promise
      yield says('lo!')
      yield ends()
    },
  })
  chat.type('first')
  await chat.sees(/Hel/)
  chat.type('second')
  await setImmediate() // what was typed has been read
  go.resolve()
  expect((await chat.prompted()).stderr).toContain('> second\n')
  expect(chat.daemon.questions()).toHaveLength(2)
})

test('Ctrl-C stops an answer, the partial answer is kept, and the chat continues', async () => {
  let isEndless = true
  await using chat = await startChat({
    async *answer() {
      for (; isEndless; await sleep(10)) yield says('on ')
      yield says('Hello!')
      yield ends()
    },
  })
  chat.type('Tell me a story')
  await chat.sees(/on on /)
  chat.press(controlC)
  expect((await chat.prompted()).stderr).toContain('  Stopped.\n')
  isEndless = false
  expect((await chat.say('Hi')).stdout).toBe('Hello!\n')
  expect(lastMessages(chat.daemon)).toEqual([
    { role: 'user', content: 'Tell me a story' },
    { role: 'assistant', content: expect.stringMatching(/^(on )+$/) },
    { role: 'user', content: 'Hi' },
  ])
})

test('Ctrl-C clears the line; at an empty prompt, pressing it twice ends the chat', async () => {
  await using chat = await startChat()
  chat.press('half a questi')
  chat.press(controlC)
  expect((await chat.prompted()).stderr).not.toContain('once more')
  chat.press(controlC)
  expect((await chat.prompted()).stderr).toContain('  Press Ctrl-C again')
  expect((await chat.say('Hi')).stdout).toBe('Hello!\n')
  chat.press(controlC)
  await chat.prompted()
  chat.press(controlC)
  expect((await chat.outcome).exitCode).toBe(130)
  expect(lastMessages(chat.daemon)).toEqual([{ role: 'user', content: 'Hi' }])
})

test('an error is shown, the failed question is not remembered, and the chat continues', async () => {
  const message = 'the conversation has 600 tokens, and the context holds 512'
  const refusal = { detail: message, error: { message, code: 'context_length_exceeded' } }
  const at: NonNullable<Script['at']> = {
    '/v1/chat/completions': { status: 400, body: refusal },
  }
  await using chat = await startChat({ at })
  expect((await chat.say('too long')).stderr).toContain(
    '✗ The conversation has 600 tokens, and the context holds 512.\n' + '  To start over: /clear\n',
  )
  delete at['/v1/chat/completions']
  await chat.say('Hi')
  expect(lastMessages(chat.daemon)).toEqual([{ role: 'user', content: 'Hi' }])
})

test('/system, /set and /clear change the next request', async () => {
  await using chat = await startChat({}, ['--temperature', '0.5'])
  await chat.say('/system Answer in French.')
  await chat.say('/set max-tokens 20')
  expect((await chat.say('/set')).stderr).toMatch(/temperature +0\.5\n.*top-p +default\n/s)
  await chat.say('Hi')
  expect(chat.daemon.questions().at(-1)).toMatchObject({
    messages: [
      { role: 'system', content: 'Answer in French.' },
      { role: 'user', content: 'Hi' },
    ],
    temperature: 0.5,
    max_tokens: 20,
  })
  await chat.say('/clear')
  await chat.say('/system -')
  await chat.say('/set max-tokens')
  await chat.say('Hi')
  expect(lastMessages(chat.daemon)).toEqual([{ role: 'user', content: 'Hi' }])
  expect(chat.daemon.questions().at(-1)).not.toHaveProperty('max_tokens')
})

test('an unknown command or setting is refused with a hint', async () => {
  await using chat = await startChat()
  expect((await chat.say('/hepl')).stderr).toContain(
    '✗ Unknown command /hepl.\n  Did you mean /help?\n',
  )
  expect((await chat.say('/set colour red')).stderr).toContain('Unknown setting “colour”')
  expect((await chat.say('/set temperature 9')).stderr).toContain('is not a number from 0 to 2')
  expect((await chat.say('/help')).stderr).toContain('/stats')
  expect(chat.daemon.questions()).toEqual([])
})

test('/stats shows statistics for the last answer', async () => {
  await using chat = await startChat()
  expect((await chat.say('/stats')).stderr).toContain('There is no answer yet.')
  await chat.say('Hi')
  const { stderr } = await chat.say('/stats')
  expect(stderr).toMatch(/ {2}3 tokens in \d+\.\d s, the first after \d\.\d\d s/)
  expect(stderr).toContain('  12 of 512 tokens of context used.\n')
})

test('/model switches to another model and keeps the conversation', async () => {
  await using chat = await startChat({ models: ['shoal-nano', 'shoal-tiny'] })
  await chat.say('Hi')
  expect((await chat.say('/model shoal-tiny')).stderr).toMatch(/shoal-tiny Q8_0 ready in/)
  await chat.say('And now?')
  expect(chat.daemon.questions().at(-1)).toMatchObject({
    model: 'shoal-tiny',
    messages: [{ content: 'Hi' }, { content: 'Hello!' }, { content: 'And now?' }],
  })
})

test('/save saves a conversation, and /load resumes it', async () => {
  await using chat = await startChat()
  await chat.say('Hi')
  await chat.say('/save fish')
  await chat.say('/clear')
  expect((await chat.say('/load fihs')).stderr).toContain('Saved conversations: fish.')
  expect((await chat.say('/load fish')).stderr).toContain('  Loaded 2 messages.\n')
  await chat.say('Again')
  expect(lastMessages(chat.daemon)).toEqual([
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello!' },
    { role: 'user', content: 'Again' },
  ])
  expect((await chat.say('/save ../../etc')).stderr).toContain(
    'is not a valid name for a conversation',
  )
})

test('/bye ends the chat', async () => {
  await using chat = await startChat({ answer: () => [says('Hello!'), ends(), counts] })
  chat.type('/bye')
  expect((await chat.outcome).exitCode).toBe(0)
})

test('an external signal ends the chat with exit code 130', async () => {
  const home = await makeHome()
  await using daemon = await scriptedDaemon()
  const stop = new AbortController()
  const person = atTerminal(['run', 'shoal-nano'], {
    home: home.path,
    env: { SHOAL_INFERENCE: daemon.url },
    stopSignal: stop.signal,
  })
  await person.prompted()
  stop.abort(new DOMException('SIGTERM', 'AbortError'))
  expect((await person.outcome).exitCode).toBe(130)
  await home[Symbol.asyncDispose]()
})
