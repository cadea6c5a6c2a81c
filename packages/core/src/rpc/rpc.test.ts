import { fork } from 'node:child_process'
import { getEventListeners, once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { describe, expect, onTestFinished, test } from 'vitest'
import { childPort, threadPort } from './ports.ts'
import { type Methods, openRpc } from './rpc.ts'
import type { Far } from './testing/far-methods.ts'

const getScript = (name: string) => new URL(`./testing/${name}.ts`, import.meta.url)

function startThread(name: string) {
  const thread = new Worker(getScript(name))
  onTestFinished(async () => void (await thread.terminate()))
  return { port: threadPort(thread), end: () => thread.terminate() }
}

function startProcess(name: string) {
  const child = fork(fileURLToPath(getScript(name)), {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const ended = once(child, 'close')
  const end = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(end)
  return { port: childPort(child, ({ how }) => new Error(`the process ${how}`)), end }
}

const stop = new Error('enough')

describe.each([
  ['a thread', startThread, 'far-thread', 'the thread exited with code 3'],
  ['a process', startProcess, 'far-process', 'the process exited with code 3'],
])('%s', (_, start, name, ending) => {
  function open(ours: Methods = {}) {
    const { port, end } = start(name)
    return { rpc: openRpc<Far>(port, ours), end }
  }

  /** Opens a connection. `begun` resolves when the other side has started its work. */
  function opened() {
    const begun = Promise.withResolvers<void>()
    return { ...open({ progress: () => begun.resolve() }), begun: begun.promise }
  }

  test('a call returns, even if it was made before the other side had loaded', async () => {
    const { rpc } = open()
    expect(await rpc.call('double', 21)).toBe(42)
    await rpc.ready
    expect(await rpc.call('vectors', 3)).toEqual(new Float32Array([0.5, 0.5, 0.5]))
  })

  test('a thousand concurrent calls get their own results', async () => {
    const { rpc } = open()
    const numbers = Array.from({ length: 1000 }, (_, index) => index)
    const answers = await Promise.all(numbers.map((number) => rpc.call('double', number)))
    expect(answers).toEqual(numbers.map((number) => 2 * number))
  })

  test('an error keeps its name, message, code, details, stack and cause', async () => {
    const { rpc } = open()
    const error = await rpc.call('fail', 'no_room').catch((caught) => caught)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      name: 'TypeError',
      message: 'it went wrong',
      code: 'no_room',
      details: { size: 7 },
      stack: expect.stringContaining('far-methods.ts'),
      cause: { message: 'no such file', code: 'ENOENT' },
    })
    expect(error.cause).toBeInstanceOf(Error)
    expect(Object.keys(error).toSorted()).toEqual(['code', 'details'])
  })

  test('a value that cannot be cloned causes an error, and the call still settles', async () => {
    const { rpc } = open()
    await expect(rpc.call('functionOf')).rejects.toThrow('could not be cloned')
    await expect(rpc.call('failWithFunction')).rejects.toMatchObject({
      message: 'it holds a function',
      code: 'no_room',
      cause: { message: expect.stringContaining('could not be cloned') },
    })
    await expect(rpc.call('double', (() => undefined) as never)).rejects.toThrow('be cloned')
    const circle = { message: 'first', cause: { message: 'second', cause: { message: 'first' } } }
    await expect(rpc.call('failInCircles')).rejects.toMatchObject(circle)
    rpc.notify('toString' as never) // nobody is listening
    await expect(rpc.call('toString' as never)).rejects.toThrow('unknown method: toString')
    await expect(rpc.call('nothing' as never)).rejects.toThrow('unknown method: nothing')
    expect(await rpc.call('double', 1)).toBe(2)
  })

  test('a call with an aborted signal starts nothing', async () => {
    const { rpc } = open()
    const { signal } = new AbortController()
    await expect(rpc.call('wait', 'early', AbortSignal.abort(stop))).rejects.toBe(stop)
    await expect(rpc.stream('count', 3, AbortSignal.abort(stop)).next()).rejects.toBe(stop)
    expect(await rpc.call('ended')).toEqual([])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test("an abort during a call ends the work, then rejects with the signal's reason", async () => {
    const { rpc, begun } = opened()
    const abort = new AbortController()
    const waiting = rpc.call('wait', 'late', abort.signal)
    await begun
    abort.abort(stop)
    await expect(waiting).rejects.toBe(stop)
    expect(await rpc.call('ended')).toEqual(['late'])
    expect(getEventListeners(abort.signal, 'abort')).toEqual([])
  })

  test('a call that finishes despite an abort still returns its result', async () => {
    const { rpc, begun } = opened()
    const abort = new AbortController()
    const finishing = rpc.call('finish', 'whole', abort.signal)
    await begun
    abort.abort(stop)
    expect(await finishing).toBe('whole')
  })

  test('an abort after the result has no effect', async () => {
    const { rpc } = open()
    const abort = new AbortController()
    const counting = rpc.stream('count', 1, abort.signal)
    expect(await counting.next()).toEqual({ done: false, value: 1 })
    expect(await counting.next()).toEqual({ done: true, value: 'done' })
    expect(getEventListeners(abort.signal, 'abort')).toEqual([])
    abort.abort(stop)
    expect(await rpc.call('double', 1)).toBe(2)
  })

  test("a stream yields items in order and returns the generator's return value", async () => {
    const { rpc } = open()
    const counting = rpc.stream('count', 3, new AbortController().signal)
    const steps = [await counting.next(), await counting.next(), await counting.next()]
    expect(steps.map(({ value }) => value)).toEqual([1, 2, 3])
    expect(await counting.next()).toEqual({ done: true, value: 'done' })
  })

  test('a stream that fails first yields the items before the error', async () => {
    const { rpc } = open()
    const items: number[] = []
    const reading = (async () => {
      for await (const item of rpc.stream('failAfter', 3)) items.push(item)
    })()
    await expect(reading).rejects.toMatchObject({ message: 'the stream broke', code: 'broken' })
    expect(items).toEqual([0, 1, 2])
  })

  test('an item that cannot be cloned fails its stream after the items before it', async () => {
    const { rpc } = open()
    const counting = rpc.stream('count', 3, new AbortController().signal)
    const failing = rpc.stream('functionAfter', 7)
    expect(await failing.next()).toEqual({ done: false, value: 7 })
    await expect(failing.next()).rejects.toThrow('could not be cloned')
    for (const value of [1, 2, 3]) expect(await counting.next()).toEqual({ done: false, value })
  })

  test('leaving a stream ends its generator', async () => {
    const { rpc } = open()
    for await (const _ of rpc.stream('count', 1e9, new AbortController().signal)) break
    await expect.poll(() => rpc.call('ended')).toEqual(['count'])
  })

  test("aborting a stream rejects immediately and ends the stream's generator", async () => {
    const { rpc } = open()
    const abort = new AbortController()
    const counting = rpc.stream('count', 1e9, abort.signal)
    await counting.next()
    abort.abort(stop)
    await expect(counting.next()).rejects.toBe(stop)
    await expect.poll(() => rpc.call('ended')).toEqual(['count'])
  })

  test('notifications arrive in order, before a result sent after them', async () => {
    const percents: number[] = []
    const { rpc } = open({ progress: (percent: number) => percents.push(percent) })
    expect(await rpc.call('work', 100)).toBe(100)
    expect(percents).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
  })

  test('when the other side exits, pending and later calls and streams fail with the reason', async () => {
    const { rpc } = opened()
    const { signal } = new AbortController()
    const waiting = [
      rpc.call('wait', 'for ever', signal),
      rpc
        .stream('count', 1e9, signal)
        .return('done')
        .then(() => rpc.call('exit', 3)),
    ]
    const outcomes = await Promise.allSettled(waiting)
    expect(outcomes.map((one) => one.status === 'rejected' && one.reason.message)).toEqual([
      ending,
      ending,
    ])
    expect(rpc.isClosed).toBe(true)
    await expect(rpc.call('double', 1)).rejects.toThrow(ending)
    await expect(rpc.stream('count', 1, signal).next()).rejects.toThrow(ending)
    rpc.notify('work', 1) // nobody is listening
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('when the other side is killed, pending calls fail', async () => {
    const { rpc, end, begun } = opened()
    const { signal } = new AbortController()
    const waiting = rpc.call('wait', 'for ever', signal)
    const failed = expect(waiting).rejects.toThrow(
      /^the (thread|process) (exited with code 1|was killed)/,
    )
    await begun
    await end()
    await failed
  })

  test('an uncaught error on the other side fails pending calls', async () => {
    const { rpc } = open()
    await expect(rpc.call('throwLater')).rejects.toThrow(/nobody catches this|exited with code 1/)
  })

  test('a side that fails to load is never ready', async () => {
    const rpc = openRpc<Far>(start('broken-far').port)
    await expect(rpc.call('double', 1)).rejects.toThrow(/it does not load|exited with code 1/)
    await expect(rpc.ready).rejects.toThrow(/it does not load|exited with code 1/)
  })

  test('after closing, pending calls have failed and all messages except `ready` are ignored', async () => {
    const percents: number[] = []
    const { rpc } = open({ progress: (percent: number) => percents.push(percent) })
    const waiting = rpc.call('work', 3)
    rpc.close(stop)
    await expect(waiting).rejects.toBe(stop)
    await expect(rpc.call('double', 1)).rejects.toBe(stop)
    await rpc.ready
    rpc.close(new Error('again'))
    await expect(rpc.call('double', 1)).rejects.toBe(stop)
    expect(percents).toEqual([])
  })
})

test('the error for a killed process contains the signal', async () => {
  const rpc = openRpc<Far>(startProcess('far-process').port)
  await expect(rpc.call('kill')).rejects.toThrow('the process was killed by SIGKILL')
})
