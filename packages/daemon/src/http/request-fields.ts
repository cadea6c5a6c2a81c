/**
 * The documented fields of each API that would change the answer, but that the daemon does not support. A request that
 * contains one of them is refused, unless the value has no effect. Other fields that are not in the schemas in
 * `protocol` do not change the answer, and are ignored. `docs/request-fields.md` lists all of them.
 */
import { isDeepStrictEqual } from 'node:util'
import { unsupported } from '../errors.ts'

/** Maps the name of each field to the values that have no effect. */
export type UnsupportedFields = Readonly<Record<string, readonly unknown[]>>

const off: readonly unknown[] = [false, '', [], {}]
const on: readonly unknown[] = [true]

/** Fields of llama.cpp's server. */
const llamaServer: UnsupportedFields = {
  typical_p: [1],
  top_n_sigma: [-1, 0],
  mirostat: [0],
  dynatemp_range: [0],
  adaptive_target: [-1],
  min_keep: [0],
  n_probs: [0],
  n_cmpl: [1],
  post_sampling_probs: off,
  grammar_lazy: off,
  grammar_triggers: off,
  lora: off,
}

/** Fields of vLLM. */
const vllm: UnsupportedFields = {
  use_beam_search: off,
  watermarking: off,
  stop_token_ids: off,
  include_stop_str_in_output: off,
  skip_special_tokens: on,
  spaces_between_special_tokens: on,
  truncate_prompt_tokens: off,
  prompt_logprobs: off,
  logprob_token_ids: off,
  allowed_token_ids: off,
  bad_words: off,
  logits_processors: off,
  repetition_detection: off,
  return_tokens_as_token_ids: off,
  return_token_ids: off,
  return_prompt_text: off,
  guided_whitespace_pattern: off,
  vllm_xargs: off,
}

const chatTemplate: UnsupportedFields = {
  add_generation_prompt: on,
  add_special_tokens: off,
  chat_template: off,
  documents: off,
  echo: off,
  include_reasoning: on,
  reasoning_format: ['auto', 'deepseek'],
  thinking_forced_open: off,
  parse_tool_calls: on,
}

/** `moderation` asks OpenAI to check inputs and outputs. */
const openai: UnsupportedFields = { moderation: off }

/** Limits of llama.cpp's server for code completion, which only `/infill` supports. */
const lineLimits: UnsupportedFields = { n_indent: [0], t_max_predict_ms: [-1, 0] }

/** Fields of Cohere, vLLM and Text Embeddings Inference. */
const ranking: UnsupportedFields = {
  max_chunks_per_doc: off,
  max_tokens_per_doc: off,
  rank_fields: [['text']],
  truncate_prompt_tokens: off,
  truncation_direction: ['right', 'Right'],
}

export const unsupportedFields = {
  rerank: ranking,
  infill: llamaServer,
  chat: {
    ...openai,
    ...llamaServer,
    ...lineLimits,
    ...vllm,
    ...chatTemplate,
    audio: off,
    function_call: off,
    functions: off,
    modalities: [['text']],
    web_search_options: off,
  },
  completions: {
    ...llamaServer,
    ...lineLimits,
    ...vllm,
    add_special_tokens: on,
    echo: off,
  },
  responses: {
    ...openai,
    ...llamaServer,
    ...lineLimits,
    ...vllm,
    ...chatTemplate,
    background: off,
    context_management: off,
    conversation: off,
    max_tool_calls: off,
    prompt: off,
    truncation: ['disabled'],
  },
  messages: {
    compaction: off,
    container: off,
    // Claude Code always sends the second value, which keeps the whole conversation.
    context_management: [
      { edits: [] },
      { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    ],
    mcp_servers: off,
    thread: off,
  },
  ollama: {
    context: off,
    images: off,
    template: off,
    width: [0],
    height: [0],
    steps: [0],
  },
  ollamaOptions: {
    mirostat: [0],
    penalize_newline: on,
    tfs_z: [0, 1],
    typical_p: [0, 1],
  },
} satisfies Record<string, UnsupportedFields>

/** Throws a `Fault` that names the first unsupported field. `place` is the path of the object in the request. */
export function refuseFields(request: object, fields: UnsupportedFields, place = '') {
  const values = request as Record<string, unknown>
  for (const [name, neutral] of Object.entries(fields)) {
    const value = values[name] ?? null
    const hasEffect = value !== null && !neutral.some((one) => isDeepStrictEqual(one, value))
    if (hasEffect) throw unsupported(place + name)
  }
}
