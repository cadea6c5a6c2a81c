import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { findPortHolder } from '../doctor/port-holder.ts'
import { untilStopped } from '../server/until-stopped.ts'
import { isErrno } from '../terminal/errno.ts'
import { Failure } from '../terminal/failure.ts'
import { repeatable } from '../terminal/repeatable.ts'

type ServeOptions = {
  model?: string
  models?: string
  port?: string
  host?: string
  origin?: string[]
  apiKeyFile?: string
  anyKey?: boolean
}

export function serveCommand(open: OpenContext): Command {
  return new Command('serve')
    .description('answer an OpenAI-compatible API with the models on this machine')
    .option('--model <model[:quant]>', 'load this one now, and keep it')
    .option('--port <number>', 'where to listen (default: 11434)')
    .option('--host <address>', 'on which address (default: 127.0.0.1)')
    .option('--models <folder>', 'where the models are')
    .addOption(repeatable('--origin <origin>', 'a web page that may call; repeat it for several'))
    .option('--api-key-file <file>', 'the key that every call must carry')
    .option('--any-key', 'beyond this machine: let everybody in')
    .action(async ({ model, ...options }: ServeOptions) => {
      const { printer, surroundings, places, takeStopSignal } = await open()
      const stopSignal = takeStopSignal()
      const { readDaemonConfig, startDaemon } = await import('@shoal/daemon')
      const flags = { ...options, models: options.models ?? places.models }
      const config = readDaemonConfig(surroundings.env, flags)
      const running = await startDaemon(config).catch(async (error) => {
        throw (await takenByOllama(error)) ?? error
      })
      try {
        if (model !== undefined) await running.preload(model)
        printer.note(
          `  Local API   ${running.url}/v1     ${running.needsKey ? 'with its key' : 'any key works'}`,
        )
        await untilStopped(stopSignal)
        printer.note('Ending: running answers may finish.')
      } finally {
        await running.close()
      }
    })
}

/** Ollama listens on the same port: the one other program that is worth its name. */
async function takenByOllama(error: unknown): Promise<Failure | undefined> {
  if (!isErrno(error, 'EADDRINUSE')) return undefined
  const { port = 0 } = error as { port?: number }
  if ((await findPortHolder(port)) !== 'Ollama') return undefined
  return new Failure('failed', `Port ${port} is taken by Ollama.`, {
    hint: `Stop it, or run shoal serve --port ${port + 1}.`,
    cause: error,
  })
}
