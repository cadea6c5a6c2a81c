import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export type Script<Answer> = AsyncDisposable & {
  pid: number
  answer: Answer
  /** Sends a message to the process, and waits for its answer. */
  ask<Reply>(message: string): Promise<Reply>
  /** Asks the process to end, and waits until it has exited. */
  stop(): Promise<void>
}

type ScriptOptions = {
  /** Node.js options, for example `--cpu-prof`. */
  nodeArguments?: string[]
  env?: Record<string, string>
}

const scripts = join(import.meta.dirname, '../children')

/** Starts `bench/children/<name>.ts` in its own process, and waits for its first answer. */
export async function startScript<Answer>(
  name: string,
  input: object,
  { nodeArguments = [], env = {} }: ScriptOptions = {},
): Promise<Script<Answer>> {
  const child = spawn(process.execPath, [...nodeArguments, join(scripts, `${name}.ts`)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, NODE_NO_WARNINGS: '1', ...env },
  })
  const endWithUs = () => child.kill('SIGKILL')
  process.once('exit', endWithUs)
  const failed = ([code, killedBy]: unknown[]) =>
    Promise.reject(new Error(`${name} exited with ${code ?? killedBy}`))
  const exited = once(child, 'exit').finally(() => process.off('exit', endWithUs))
  child.send(input)
  const answer = await Promise.race([
    once(child, 'message').then(([message]) => message as Answer),
    exited.then(failed),
  ])
  const ask = async <Reply>(message: string) => {
    const replied = once(child, 'message').then(([reply]) => reply as Reply)
    child.send(message)
    return Promise.race([replied, exited.then(failed)])
  }
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
  }
  return { pid: child.pid ?? 0, answer, ask, stop, [Symbol.asyncDispose]: stop }
}

/** Runs a script that sends one answer and then ends. */
export async function runScript<Answer>(
  name: string,
  input: object,
  options?: ScriptOptions,
): Promise<Answer> {
  await using script = await startScript<Answer>(name, input, options)
  return script.answer
}
