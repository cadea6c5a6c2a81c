/** Compares the stacks for old versions of Node with those that are built into this version. */
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'

const { AsyncStack, SyncStack } = createRequire(import.meta.url)('./bin/disposable-stack.js') as {
  AsyncStack: typeof AsyncDisposableStack
  SyncStack: typeof DisposableStack
}

/** The members that both kinds of stacks have. */
type AnyStack = Pick<AsyncDisposableStack, 'defer' | 'disposed'> & {
  use(value: never): unknown
  move(): AnyStack
  dispose?(): void
  disposeAsync?(): Promise<void>
}

async function describeBehavior(Stack: new () => AnyStack) {
  const steps: unknown[] = []
  const end = async (stack: AnyStack) => {
    try {
      await (stack.disposeAsync?.() ?? stack.dispose?.())
    } catch (error) {
      const { name, error: last, suppressed } = error as SuppressedError
      steps.push(name, String(last), String(suppressed))
    }
  }
  const attempt = (run: () => unknown) => {
    try {
      run()
    } catch (error) {
      steps.push((error as Error).name)
    }
  }
  const stack = new Stack()
  const both = {
    [Symbol.dispose]: () => steps.push('disposed'),
    [Symbol.asyncDispose]: async () => steps.push('disposed asynchronously'),
  }
  const use = (value: unknown) => stack.use(value as never)
  steps.push(use(both) === both, use(null), use(undefined))
  use({ [Symbol.dispose]: () => steps.push('disposed synchronously') })
  stack.defer(() => {
    throw new Error('second')
  })
  stack.defer(() => {
    throw new Error('first')
  })
  attempt(() => use({}))
  const moved = stack.move()
  steps.push(stack.disposed, moved.disposed)
  attempt(() => stack.defer(() => undefined))
  attempt(() => stack.move())
  await end(stack)
  await end(moved)
  await end(moved)
  steps.push(moved.disposed)
  return steps
}

test('the stacks use, defer, move and dispose like the built-in ones', async () => {
  const sync = await describeBehavior(SyncStack)
  expect(sync).toEqual(await describeBehavior(DisposableStack))
  expect(sync).toContain('SuppressedError')
  const async = await describeBehavior(AsyncStack)
  expect(async).toEqual(await describeBehavior(AsyncDisposableStack))
  expect(async).toContain('disposed asynchronously')
})
