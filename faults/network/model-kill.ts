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
    "Kill a model's process (kill -9) before an answer's first token; the daemon must load the model again and answer.",
  run: killModel,
}

async function killModel(scene: Scene): Promise<string> {
  const { timeoutFactor, seed } = scene
  const random = randomFrom(seed)
  const daemon = await startDaemon(scene)
  const kills = [false, true, false, true]
  for (const isStreamed of kills) {
    await expectAnswer(daemon.url)
    const pid = findModelProcess(daemon.pid)
    // The process is suspended first, so that it is killed before the first token.
    process.kill(pid, 'SIGSTOP')
    const answer = ask(daemon.url, isStreamed, timeoutFactor)
    await sleep(random.integer(300))
    process.kill(pid, 'SIGKILL')
    checkAnswer(await answer)
  }
  await expectAnswer(daemon.url)
  expectSo(daemon.isRunning(), 'the daemon is no longer running')
  return `${kills.length} answers were complete although their model's process was killed`
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

async function ask(url: string, isStreamed: boolean, timeoutFactor: number): Promise<Reply> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      messages: [{ role: 'user', content: 'Tell me about the sea.' }],
      stream: isStreamed,
    }),
    signal: AbortSignal.timeout(60_000 * timeoutFactor),
  })
  return { status: response.status, text: await response.text() }
}

async function expectAnswer(url: string) {
  checkAnswer(await ask(url, false, 1))
}

/** Fails if a response has no text, or does not end like a complete answer. */
function checkAnswer({ status, text }: Reply) {
  const hasText = /"content":"[^"]/.test(text)
  const isComplete = /"finish_reason":"(stop|length)"/.test(text)
  expectSo(status === 200 && hasText && isComplete, `no answer: ${status} ${text}`)
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
