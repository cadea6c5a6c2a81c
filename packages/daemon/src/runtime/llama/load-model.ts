import { readGgufFile } from '@shoal/model-file'
import { getLlama, type Llama, LlamaLogLevel, type LlamaModel, TokenBias } from 'node-llama-cpp'
import { useBackends } from '../../backends/use-backends.ts'
import type { AnswerFormat } from '../chat/formats/answer-format.ts'
import type { RuntimeOptions } from '../runtime.ts'
import { meanPooling } from './embedder.ts'
import { getBiases } from './llama-internals.ts'

/** Loads the library and a model. Never builds or downloads anything. */
export async function loadModel({ modelPath, threads, backendsDirectory }: RuntimeOptions) {
  if (backendsDirectory !== undefined) useBackends(backendsDirectory)
  /** The library's first message, which explains the error. Later messages only report that there was an error. */
  let complaint: string | undefined
  const llama = await getLlama({
    build: 'never',
    skipDownload: true,
    gpu: 'auto',
    logLevel: LlamaLogLevel.error,
    logger(_level, message) {
      complaint ??= message.trim()
    },
    progressLogs: false,
    maxThreads: threads,
  })
  const model = await openFile(llama, modelPath).catch((error) => {
    throw complaint === undefined ? error : new Error(complaint, { cause: error })
  })
  getBiases(TokenBias.for(model)) // fails now rather than when a request needs the biases
  return { llama, model }
}

async function openFile(llama: Llama, modelPath: string): Promise<LlamaModel> {
  // Our own parser reads the file first, because llama.cpp may crash on a malformed file.
  const { metadata } = await readGgufFile(modelPath)
  const architecture = String(metadata.get('general.architecture'))
  const hasPooling = metadata.has(`${architecture}.pooling_type`)
  const metadataOverrides = { [architecture]: { pooling_type: meanPooling } }
  return llama.loadModel({ modelPath, ...(!hasPooling && { metadataOverrides }) })
}

/** Whether the model is an encoder like BERT, which reads the entire text in both directions. */
export function isEncoder({ fileInfo: { metadata } }: LlamaModel): boolean {
  const { architecture } = metadata.general
  const own = (metadata as Record<string, unknown>)[architecture] as
    | { attention?: { causal?: boolean } }
    | undefined
  return own?.attention?.causal === false || architecture.includes('bert')
}

export function getTemplate({ fileInfo }: LlamaModel): string | undefined {
  const template = fileInfo.metadata.tokenizer?.chat_template
  return typeof template === 'string' ? template : undefined
}

/** The tokens of the format's markers. For a marker of several tokens, only its control tokens. */
export function markerTokens(model: LlamaModel, { reasoning, content, calls }: AnswerFormat) {
  const { open = '', close = '', begin = '', end = '' } = reasoning ?? {}
  const inContent = content ? [content.open, content.close] : []
  const inCalls = [...calls.opens, ...calls.closes, calls.opening, calls.example]
  const marks = [open, close, begin, end, ...inContent, ...inCalls].filter((mark) => mark !== '')
  const tokens = marks.flatMap((mark) => {
    const all = model.tokenize(mark, true)
    return all.length === 1 ? all : all.filter((token) => model.isSpecialToken(token))
  })
  return new Set(tokens)
}
