/**
 * Messages between a benchmark and a script that it runs as a child process. The benchmark sends one input, and the
 * script sends answers.
 */

export async function readInput<T>(): Promise<T> {
  return new Promise((resolve) => process.once('message', (input) => resolve(input as T)))
}

export async function answer(value: unknown): Promise<void> {
  await new Promise<void>((resolve, reject) =>
    process.send?.(value, undefined, undefined, (error) => (error ? reject(error) : resolve())),
  )
}

/** Resolves when the parent process has sent SIGTERM or has itself ended. */
export async function waitForStop(): Promise<void> {
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', () => resolve())
    process.once('disconnect', () => resolve())
  })
}
