/** Simulates a new user of an installed release, who starts a registry, and publishes, pulls and runs a model. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'

const model = join(import.meta.dirname, '../../models/shoal-nano/shoal-nano-Q8_0.gguf')

/** A command line that ends with shoal's program, such as `['node', 'shoal.js']`. */
export type Command = readonly [string, ...string[]]

type Options = {
  /** Runs the registry. */
  registry: Command
  /** Runs all other commands. */
  shoal: Command
  /** A folder that the commands may write to. */
  folder: string
  /** Converts a path to the one that the commands see, if they run in another root folder. */
  inside?: (path: string) => string
  /** The user that the commands run as, who must be able to use the files. */
  owner?: { uid: number; gid: number }
  /** The environment of all commands. */
  env?: Record<string, string>
}

/** What was seen on a journey. */
export type Journey = {
  url: string
  /** The commands until the first one that failed. */
  steps: Step[]
  /** The model's page, unless a command failed. */
  page: string
}

type Step = { words: string[]; code: number | null; stdout: string; stderr: string }

/** Leaves no process behind. */
export async function runJourney(options: Options): Promise<Journey> {
  const { registry, shoal, folder, inside = (path) => path, owner, env = {} } = options
  const place = await mkdtemp(join(folder, 'journey-'))
  const settings = { SHOAL_THREADS: '1', NO_COLOR: '1', HOME: inside(place), ...env }
  const homes = { publisher: join(place, 'publisher'), reader: join(place, 'reader') }
  await Promise.all(Object.values(homes).map((home) => mkdir(home)))
  const file = join(place, 'reef-Q8_0.gguf')
  await copyFile(model, file)
  if (owner) {
    for (const path of [place, file, ...Object.values(homes)])
      await chown(path, owner.uid, owner.gid)
  }

  const server = start(
    registry,
    ['registry', '--port', '0', '--data', inside(join(place, 'data'))],
    {
      ...settings,
      SHOAL_HOME: inside(homes.publisher),
    },
  )
  try {
    const url = await readUrl(server)
    const steps: Step[] = []
    const run = async (home: string, words: string[], input = '') => {
      if (steps.some(({ code }) => code !== 0)) return
      const child = start(shoal, words, {
        ...settings,
        SHOAL_REGISTRY: url,
        SHOAL_HOME: inside(home),
      })
      child.stdin?.end(input)
      const ended = once(child, 'close')
      const [stdout, stderr] = await Promise.all([readAll(child.stdout), readAll(child.stderr)])
      const [code] = await ended
      steps.push({ words, code, stdout, stderr })
    }
    const answers = ['run', 'reef', '--max-tokens', '8']
    const registration = ['register', '--username', 'ana', '--password-stdin']
    await run(homes.publisher, registration, 'a long secret')
    await run(homes.publisher, ['push', inside(file)])
    await run(homes.reader, ['pull', 'reef'])
    await run(homes.reader, [...answers, 'Hello'])
    await run(homes.reader, answers, 'Hello\n')
    const page = await fetch(`${url}/m/reef`, { headers: { accept: 'text/html' } })
    return { url, steps, page: await page.text() }
  } finally {
    server.kill('SIGTERM')
    if (server.exitCode === null && server.signalCode === null) await once(server, 'close')
    await rm(place, { recursive: true })
  }
}

/** Fails if a step has failed or printed something unexpected. */
export function expectJourney({ url, steps, page }: Journey): void {
  for (const { words, code, stdout, stderr } of steps) {
    expect(code, `shoal ${words.join(' ')}\n${stdout}${stderr}`).toBe(0)
    expect(stderr).not.toContain('Warning')
  }
  expect(steps.map(({ stdout }) => stdout)).toEqual([
    expect.anything(),
    `${url}/m/reef\n`,
    expect.stringMatching(/reef-Q8_0\.gguf\n$/),
    expect.stringMatching(/\w/),
    expect.stringMatching(/\w/),
  ])
  expect(page).toContain('reef')
}

function start([program, ...first]: Command, words: string[], env: Record<string, string>) {
  const { PATH, TMPDIR } = process.env
  return spawn(program, [...first, ...words], {
    cwd: '/',
    env: { PATH, ...(TMPDIR && { TMPDIR }), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

const readAll = async (stream: ChildProcess['stdout']) => (stream ? await text(stream) : '')

/** Resolves to the URL that a registry prints on stderr when it is ready. */
async function readUrl({ stdout, stderr }: ChildProcess): Promise<string> {
  stdout?.resume()
  let printed = ''
  stderr?.setEncoding('utf8')
  return await new Promise((resolve, reject) => {
    stderr?.on('data', (chunk: string) => {
      printed += chunk
      const [, url] = /running at (http:\S+?)\.?\s/.exec(printed) ?? []
      if (url) resolve(url)
    })
    stderr?.on('end', () => reject(new Error(`the registry did not start: ${printed}`)))
  })
}
