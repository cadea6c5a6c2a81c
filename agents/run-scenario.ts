/** Runs an agent with the scripted model, to the end of its task. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readDaemonConfig, startDaemon } from '../packages/daemon/src/main.ts'
import type { Agent, Place } from './agent.ts'
import { cuttingProxy } from './cutting-proxy.ts'
import { imageFile, makeTask, resultFile, type Scenario, scriptedModel } from './scripted-model.ts'

const model = 'qwen3-8b'
const demoModel = join(import.meta.dirname, '../models/shoal-tiny/shoal-tiny-Q8_0.gguf')
const contextLength = 40_000
const timeLimitMs = 180_000

type Options = {
  /** The folder with the installed packages. */
  installed: string
  /** An empty folder for everything that the agent and the daemon write. */
  folder: string
}

/** Throws if the agent does not finish the task. The error contains what the agent has printed. */
export async function runScenario(
  agent: Agent,
  scenario: Scenario,
  { installed, folder }: Options,
) {
  const models = join(folder, 'models')
  await mkdir(join(models, model), { recursive: true })
  await cp(demoModel, join(models, model, 'model.gguf'))
  const { startRuntime, full } = scriptedModel(contextLength)
  const config = { ...readDaemonConfig({}, { models, port: '0' }), log: 'silent' as const }
  const daemon = await startDaemon(config, startRuntime)
  try {
    await using proxy = await cuttingProxy(daemon.url)
    if (scenario === 'cut') proxy.cutNext()
    const names = scenario === 'two' ? ['one', 'two'] : ['one']
    const runs = names.map((name) => {
      const place = { url: proxy.url, model, contextLength, ...placesIn(join(folder, name)) }
      return runAgent(agent, scenario, place, installed)
    })
    await Promise.all(runs)
    if (proxy.cutsLeft() > 0) throw new Error('no connection was cut')
    const how = [...full.values()].join()
    const expected = agent.compactsAfterError ? 'error' : 'noticed'
    if (scenario === 'overflow' && how !== expected) {
      throw new Error(`the agent found that the context is full: ${how}, not ${expected}`)
    }
  } finally {
    await daemon.close()
  }
}

const placesIn = (folder: string) => ({ home: join(folder, 'home'), folder: join(folder, 'work') })

async function runAgent(agent: Agent, scenario: Scenario, place: Place, installed: string) {
  await mkdir(place.folder, { recursive: true })
  await mkdir(place.home, { recursive: true })
  await writeFile(join(place.folder, imageFile), image)
  for (const [path, text] of Object.entries(agent.files?.(place) ?? {})) {
    await mkdir(dirname(join(place.home, path)), { recursive: true })
    await writeFile(join(place.home, path), text)
  }
  const command = join(installed, 'node_modules/.bin', agent.command)
  const task = makeTask(scenario, place.folder)
  const child = spawn(command, agent.args(task, place), {
    cwd: place.folder,
    env: { PATH: process.env.PATH, HOME: place.home, TERM: 'dumb', ...agent.env(place) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // with its children, so that all can be ended
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const overdue = setTimeout(() => {
    output += `\nstill running after ${timeLimitMs / 1000} s`
    endGroup(child.pid)
  }, timeLimitMs)
  const [code] = await once(child, 'close')
  clearTimeout(overdue)
  const result = await readFile(join(place.folder, resultFile), 'utf8').catch(() => 'missing')
  const expected = scenario === 'overflow' ? (agent.exitCodeAfterError ?? 0) : 0
  if (code === expected && result === 'done') return
  throw new Error(`exit code ${code}, ${resultFile}: ${result}\n${output.slice(-1500)}`)
}

function endGroup(pid: number | undefined) {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL')
}

/** A red PNG image with 8 × 8 pixels. */
const image = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC',
  'base64',
)
