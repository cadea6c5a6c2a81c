/** The daemons whose chat pages appear in screenshots. */
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type DaemonConfig, readDaemonConfig, startDaemon } from '@shoal/daemon'
import { scriptedRuntime } from '../../../packages/daemon/src/testing/scripted-runtime.ts'
import { breakableLine } from '../../../packages/registry/src/testing/breakable-line.ts'
import { temporaryFolder } from '../../harness/temporary-folder.ts'
import { spokenAnswer } from './answer.ts'
import { writeHollowGguf } from './gguf-files.ts'

export type ShownDaemons = Awaited<ReturnType<typeof startShownDaemons>>

const demoModels = join(import.meta.dirname, '../../../models')
const pieceMs = 12

/** Starts three daemons: one with the demo models, one with models that give long answers, and one without models. */
export async function startShownDaemons() {
  await using stack = new AsyncDisposableStack()
  const makeFolder = (write: (folder: string) => unknown) => {
    const { path } = stack.use(temporaryFolder())
    return Promise.resolve(write(path)).then(() => path)
  }
  const run = async (...args: Parameters<typeof start>) => {
    const daemon = await start(...args)
    stack.defer(() => daemon.close())
    return daemon
  }
  const demo = await run(await makeFolder(copyDemoModels))
  const none = await run(await makeFolder(() => undefined))
  const talkative = await run(
    await makeFolder(writeModels),
    scriptedRuntime({ pieces: spokenAnswer, pace }),
  )
  const line = await breakableLine({ port: talkative.port })
  stack.defer(line.cut)
  const all = stack.move()
  return {
    demo: demo.url,
    none: none.url,
    talkative: talkative.url,
    /** A proxy in front of the daemon that gives long answers. The proxy's connections can be cut. */
    line: { origin: `http://localhost:${line.port}`, ...line },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

function start(models: string, runtime?: ReturnType<typeof scriptedRuntime>) {
  const config: DaemonConfig = {
    ...readDaemonConfig({}, { models, port: '0' }),
    threads: 1,
    memoryBytes: 64e9, // enough for the models, which are never loaded
    log: 'silent',
  }
  return startDaemon(config, runtime)
}

/** Delays each piece of an answer, so that answers arrive about as fast as on a good machine. */
const pace = () => new Promise<void>((resolve) => setTimeout(resolve, pieceMs))

function copyDemoModels(folder: string) {
  for (const name of ['shoal-tiny', 'shoal-nano']) {
    const isModel = (path: string) => !path.includes('scripts') && !/\.(md|py)$/.test(path)
    cpSync(join(demoModels, name), join(folder, name), { recursive: true, filter: isModel })
  }
}

/** Pulled models by name, with their architectures and weights. */
const pulled = {
  'gemma-3-4b-tutor': { architecture: 'gemma3', weights: { Q4_K: 3.88e9 } },
  'llama-3.2-3b-instruct': { architecture: 'llama', weights: { Q4_K: 3.21e9 } },
  'qwen-2.5-7b-coder': { architecture: 'qwen2', weights: { Q4_K: 7.62e9 } },
  'qwen-3-14b-medical': { architecture: 'qwen3', weights: { Q4_K: 14.8e9 } },
}

async function writeModels(folder: string) {
  for (const [name, { architecture, weights }] of Object.entries(pulled)) {
    mkdirSync(join(folder, name))
    await writeHollowGguf(join(folder, name, `${name}-Q4_K_M.gguf`), {
      metadata: {
        'general.architecture': architecture,
        'general.file_type': 15,
        [`${architecture}.context_length`]: 32_768,
      },
      weights,
    })
  }
}
