import { hasCode } from '@shoal/core/errors'
import { type GgufHeader, readGgufFile } from '@shoal/model-file'
import { getLlama, type Llama, LlamaLogLevel, type LlamaModel, TokenBias } from 'node-llama-cpp'
import { useBackends } from '../../backends/use-backends.ts'
import { modelUnusable, type RuntimeOptions } from '../runtime.ts'
import { meanPooling } from './embedder.ts'
import { getBiases } from './llama-internals.ts'

/** Matches the library's messages about a lack of memory. Any other message means that the file is not supported. */
const aboutMemory = /memory|VRAM|alloc|mmap/i

/** Loads the library and a model, and reads its chat templates. Never builds or downloads anything. */
export async function loadModel(options: RuntimeOptions) {
  const { modelPath, threads, template, backendsDirectory } = options
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
    // The daemon plans the memory of all models. The library would refuse contexts that this plan allows, because it
    // keeps up to 6 GB of memory free by default.
    ramPadding: 0,
  })
  // Our own parser reads the file first, because llama.cpp may crash on a malformed file.
  const { metadata } = await readGgufFile(modelPath).catch((error) => {
    throw hasCode(error, 'invalid_gguf') ? modelUnusable(error.message, error) : error
  })
  const model = await openFile(llama, modelPath, metadata).catch((error) => {
    const why = complaint ?? error.message
    const isUnusable = !aboutMemory.test(`${why} ${error.message}`)
    throw isUnusable ? modelUnusable(why, error) : new Error(why, { cause: error })
  })
  getBiases(TokenBias.for(model)) // fails now rather than when a request needs the biases
  const templates = template === undefined ? findTemplates(metadata) : { plain: template }
  return { llama, model, templates }
}

async function openFile(
  llama: Llama,
  modelPath: string,
  metadata: GgufHeader['metadata'],
): Promise<LlamaModel> {
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

export type ChatTemplates = {
  plain: string
  /** An additional template, which some models have, for chats with tools. */
  toolUse?: string
}

/** Finds the chat templates in a file's metadata. A file without a template uses ChatML, as in llama-server. */
export function findTemplates(metadata: GgufHeader['metadata']): ChatTemplates {
  const find = (key: string) => {
    const text = metadata.get(key)
    return typeof text === 'string' && text.trim() !== '' ? text : undefined
  }
  const toolUse = find('tokenizer.chat_template.tool_use')
  return {
    plain: find('tokenizer.chat_template') ?? toolUse ?? chatMl,
    ...(toolUse !== undefined && { toolUse }),
  }
}

/** https://github.com/openai/openai-python/blob/release-v0.28.0/chatml.md */
const chatMl = `{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`
