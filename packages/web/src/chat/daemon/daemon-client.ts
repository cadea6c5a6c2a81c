/** The daemon that sent this page, asked as any program asks it. */
import { readEvents } from './read-events.ts'

export type LocalModel = {
  id: string
  isLoaded: boolean
  quantization: string
  parameters: number | null
  sizeBytes: number
}

export type WireMessage = { role: 'system' | 'user' | 'assistant'; content: string }

export type ChatOrder = {
  model: string
  messages: WireMessage[]
  temperature?: number
  top_p?: number
  max_tokens?: number
  seed?: number
}

/** What comes of an answer, as it comes. */
export type Part =
  | { text: string; reasoning: string }
  | { finish: string }
  | { completionTokens: number }

export type DaemonClient = ReturnType<typeof daemonClient>

/** What the daemon refused, in its words. */
export class RefusedError extends Error {
  override name = 'RefusedError'
  readonly status: number
  readonly code: string | null
  readonly retryAfterSeconds: number | undefined

  constructor(
    status: number,
    { message, code }: { message: string; code: string | null },
    retryAfterSeconds?: number,
  ) {
    super(message)
    this.status = status
    this.code = code
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** It did not answer, or stopped in the middle. */
export class UnreachableError extends Error {
  override name = 'UnreachableError'
}

/** `getKey`: the daemon's API key, where it has one. */
export function daemonClient(getKey: () => string | undefined) {
  async function ask(path: string, init: RequestInit = {}): Promise<Response> {
    const key = getKey()
    const headers = {
      ...(init.body ? { 'content-type': 'application/json' } : {}),
      ...(key ? { authorization: `Bearer ${key}` } : {}),
    }
    const response = await fetch(path, { ...init, headers }).catch((error: Error) => {
      throw unlessAborted(error)
    })
    if (response.ok) return response
    throw await refusalOf(response)
  }

  return {
    /** Those that can chat: the loaded ones, then the others, the newest first. */
    async listModels(): Promise<LocalModel[]> {
      const [local, loaded] = await Promise.all(
        ['/api/tags', '/api/ps'].map(async (path) => {
          const response = await ask(path)
          return ((await response.json()) as { models: OllamaModel[] }).models
        }),
      )
      const loadedIds = new Set(loaded?.map(idOf))
      return (local ?? [])
        .filter(({ capabilities }) => capabilities?.includes('completion'))
        .map((model) => localModelOf(model, loadedIds))
        .toSorted((a, b) => Number(b.isLoaded) - Number(a.isLoaded))
    },

    async *chat(order: ChatOrder, signal: AbortSignal): AsyncGenerator<Part> {
      const body = { ...order, stream: true, stream_options: { include_usage: true } }
      const response = await ask('/v1/chat/completions', {
        method: 'POST',
        body: JSON.stringify(body),
        signal,
      })
      if (!response.body) throw new UnreachableError('the answer has no body')
      let isWhole = false
      try {
        for await (const data of readEvents(response.body)) {
          isWhole = data === '[DONE]'
          if (!isWhole) yield* partsOf(JSON.parse(data) as Chunk)
        }
      } catch (error) {
        throw unlessAborted(error as Error)
      }
      if (!isWhole) throw new UnreachableError('the answer was cut off')
    },
  }
}

type OllamaModel = {
  name: string
  size: number
  details: { parameter_size: string; quantization_level: string }
  capabilities?: string[]
}

/** Ollama's clients want a tag behind every name; ours are shorter. */
const idOf = ({ name }: OllamaModel) => name.replace(/:latest$/, '')

function localModelOf(model: OllamaModel, loadedIds: ReadonlySet<string>): LocalModel {
  const id = idOf(model)
  const { parameter_size, quantization_level } = model.details
  return {
    id,
    isLoaded: loadedIds.has(id),
    quantization: quantization_level,
    parameters: parametersOf(parameter_size),
    sizeBytes: model.size,
  }
}

const unitOf: Record<string, number> = { B: 1e9, M: 1e6, K: 1e3, '': 1 }

/** Out of `8.0B` and the like. */
function parametersOf(text: string): number | null {
  const [, number, unit = ''] = /^([\d.]+)([BMK]?)$/.exec(text) ?? []
  return number === undefined ? null : Number(number) * (unitOf[unit] ?? 1)
}

type Chunk = {
  choices?: {
    delta?: { content?: string | null; reasoning_content?: string | null }
    finish_reason?: string | null
  }[]
  usage?: { completion_tokens: number } | null
  error?: { message: string; code: string | null }
}

function* partsOf({ choices, usage, error }: Chunk): Generator<Part> {
  if (error) throw new RefusedError(500, error)
  const [choice] = choices ?? []
  const { content, reasoning_content } = choice?.delta ?? {}
  if (content || reasoning_content) {
    yield { text: content ?? '', reasoning: reasoning_content ?? '' }
  }
  if (choice?.finish_reason) yield { finish: choice.finish_reason }
  if (usage) yield { completionTokens: usage.completion_tokens }
}

async function refusalOf(response: Response): Promise<RefusedError> {
  const text = await response.text()
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  const { detail, error, code } = jsonOf(text) as {
    detail?: string
    error?: string | { code?: string | null }
    code?: string
  }
  return new RefusedError(
    response.status,
    {
      message: detail ?? `the daemon answered ${response.status}`,
      code: code ?? (typeof error === 'object' ? error.code : null) ?? null,
    },
    Number.isFinite(retryAfter) ? retryAfter : undefined,
  )
}

/** What stands between us and the daemon may answer in words of its own. */
function jsonOf(text: string): object {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

function unlessAborted(error: Error): Error {
  if (error.name === 'AbortError' || error instanceof RefusedError) return error
  return new UnreachableError(error.message, { cause: error })
}
