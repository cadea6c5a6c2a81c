/** The methods that the other side, a thread or a process, implements in the RPC tests. */
import type { Notify } from '../rpc.ts'

export type Far = typeof farMethods extends (notify: never) => infer M ? M : never
export type Near = { progress(percent: number): void }

const never = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })

export function farMethods(notify: Notify<Near>) {
  const ended: string[] = []
  return {
    double: async (value: number) => 2 * value,
    vectors: (size: number) => new Float32Array(size).fill(0.5),
    fail(code: string) {
      const cause = Object.assign(new Error('no such file'), { code: 'ENOENT' })
      throw Object.assign(new TypeError('it went wrong', { cause }), { code, details: { size: 7 } })
    },
    failWithFunction() {
      const listener = () => undefined
      throw Object.assign(new Error('it holds a function'), { listener, code: 'no_room' })
    },
    failInCircles() {
      const error = new Error('first')
      error.cause = new Error('second', { cause: error })
      throw error
    },
    functionOf: () => () => undefined,
    async wait(name: string, signal: AbortSignal): Promise<void> {
      notify('progress', 0)
      await never(signal).finally(() => ended.push(name))
    },
    /** Finishes its work even if the call is aborted. */
    async finish(name: string, signal: AbortSignal) {
      notify('progress', 0)
      await never(signal).catch(() => undefined)
      return name
    },
    ended: () => ended,
    async *count(to: number, _signal: AbortSignal) {
      try {
        for (let at = 1; at <= to; at += 1) {
          await new Promise((resolve) => setImmediate(resolve))
          yield at
        }
        return 'done'
      } finally {
        ended.push('count')
      }
    },
    async *failAfter(count: number) {
      for (let at = 0; at < count; at += 1) yield at
      throw Object.assign(new Error('the stream broke'), { code: 'broken' })
    },
    /** Yields a value that cannot be cloned, in the same turn as one that can. */
    async *functionAfter(value: number) {
      yield value
      yield () => undefined
    },
    work(steps: number) {
      for (let step = 1; step <= steps; step += 1) notify('progress', step)
      return steps
    },
    exit: (code: number) => process.exit(code),
    kill: () => process.kill(process.pid, 'SIGKILL'),
    throwLater() {
      setImmediate(() => {
        throw new Error('nobody catches this')
      })
      return new Promise<never>(() => undefined)
    },
  }
}
