/** Kills a model's process (kill -9) while it is generating an answer. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomFrom } from '../../bench/harness/random.ts'
import { until } from '../harness/waiting.ts'
import { startCommand } from './command.ts'
import { expectSo, type NetworkRound, type Scene } from './round.ts'

const model = 'shoal-nano'
const demo = join(import.meta.dirname, '../../models', model, `${model}-Q8_0.gguf`)

export const modelKill: NetworkRound = {
  name: 'kill-model',
  summary:
    "Kill a model's process (kill -9) during an answer; the daemon must load the model again.",
  run: killModel,
}

async function killModel(scene: Scene): Promise<string> {
  const { timeoutFactor, seed } = scene
  const random = randomFrom(seed)
  const daemon = await startDaemon(scene)
  const failed: string[] = []
  for (const isStreamed of [false, true, false, true]) {
    await expectAnswer(daemon.url)
    const pid = findModelProcess(daemon.pid)
    // The process is suspended first, so that it is still generating when it is killed.
    process.kill(pid, 'SIGSTOP')
    const answer = ask(daemon.url, isStreamed, timeoutFactor)
    await sleep(random.integer(300))
    process.kill(pid, 'SIGKILL')
    failed.push(errorIn(await answer, isStreamed))
  }
  await expectAnswer(daemon.url)
  expectSo(daemon.isRunning(), 'the daemon is no longer running')
  return `${failed.length} answers ended with ${[...new Set(failed)].join(', ')}; every following request succeeded`
}

async function startDaemon({ folder, timeoutFactor, cleanup }: Scene) {
  const models = join(folder, 'data', 'models', model)
  mkdirSync(models, { recursive: true })
  copyFileSync(demo, join(models, `${model}-Q8_0.gguf`))
  const words = ['serve', '--port', '0', '--no-share', '--threads', '1', '--json']
  const { child, output } = startCommand({ words, home: folder, env: {} })
  output.catch(() => undefined) // the daemon is killed at the end
  cleanup.defer(() => child.kill('SIGKILL'))
  let stdout = ''
  child.stdout?.on('data', (text) => {
    stdout += text
  })
  await until('the daemon answers', 30_000 * timeoutFactor, () => {
    expectSo(child.exitCode === null, `the daemon exited with ${child.exitCode}`)
    return stdout.trimEnd().endsWith('}')
  })
  const { url, pid } = JSON.parse(stdout) as { url: string; pid: number }
  return { url, pid, isRunning: () => child.exitCode === null && child.signalCode === null }
}

type Reply = { status: number; text: string }

let askedCount = 0

async function ask(url: string, isStreamed: boolean, timeoutFactor: number): Promise<Reply> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      // The prompts differ, because a prompt that has crashed the model twice is refused for a minute.
      messages: [{ role: 'user', content: `Tell me about the sea. (${++askedCount})` }],
      stream: isStreamed,
    }),
    signal: AbortSignal.timeout(60_000 * timeoutFactor),
  })
  return { status: response.status, text: await response.text() }
}

async function expectAnswer(url: string) {
  const { status, text } = await ask(url, false, 1)
  const content = status === 200 ? JSON.parse(text).choices?.[0]?.message?.content : undefined
  expectSo(typeof content === 'string' && content !== '', `no answer: ${status} ${text}`)
}

/**
 * Returns the code of an error in OpenAI's format, which is either the entire response or the last event of a stream.
 */
function errorIn({ status, text }: Reply, isStreamed: boolean): string {
  const isWhole = status >= 500
  expectSo(isWhole || isStreamed, `the response from a killed model is ${status} ${text}`)
  const last = isWhole
    ? text
    : (text
        .match(/^data: (\{.*)$/gm)
        ?.at(-1)
        ?.slice(6) ?? '{}')
  const { error } = JSON.parse(last) as {
    error?: { message?: string; type?: string; code?: string }
  }
  expectSo(
    typeof error?.message === 'string' && typeof error.type === 'string',
    `not an error in OpenAI's format: ${last}`,
  )
  return error.code ?? error.type
}

/** Returns the ID of the daemon's child process in which a model is loaded. */
function findModelProcess(daemonPid: number): number {
  const found = readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1]
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      return Number(parent) === daemonPid && command.includes('model-process')
    } catch {
      return false // it has just exited
    }
  })
  expectSo(found.length === 1, `the daemon has ${found.length} model processes, not one`)
  return Number(found[0])
}
