/**
 * The separate process, started by `start-card-process.ts`, in which cards are rendered. A hostile card may crash this
 * process. Within the process, a separate thread renders the cards, so that the main thread can measure the processor
 * time that rendering takes.
 */
import { openRpc, parentProcessPort } from '@shoal/core/rpc'
import { limitedThread, type ThreadLimits } from '@shoal/threads'
import type { CardQuestion } from './card-thread.ts'

export type CardMethods = { render(question: CardQuestion): Promise<string> }

const limits: ThreadLimits = JSON.parse(process.argv[2] ?? '')
const render = limitedThread<CardQuestion, string>(
  { name: 'card-thread', parentUrl: import.meta.url },
  'render',
  limits,
)
openRpc(parentProcessPort(process, { ignoresInterrupt: true }), { render })
