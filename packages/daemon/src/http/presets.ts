/** Fills in what a request leaves open with the user's settings for the model. */
import type { OllamaOptions } from '@shoal/protocol'
import type { Preset } from '@shoal/transfer'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { LoadedModels } from '../models/loaded-models.ts'

type Body = Record<string, unknown>

const isUnset = (value: unknown) => value === undefined || value === null

function fill(body: Body, defaults: Body) {
  for (const [name, value] of Object.entries(defaults)) if (isUnset(body[name])) body[name] = value
}

/** OpenAI's, llama.cpp's and vLLM's names differ from Ollama's only for the number of tokens. */
function fillSampling(body: Body, { parameters }: Preset, limit = 'n_predict') {
  const { num_ctx: _context, num_predict, ...others }: OllamaOptions = parameters ?? {}
  fill(body, others)
  const limits = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'n_predict']
  if (limits.every((name) => isUnset(body[name]))) fill(body, { [limit]: num_predict })
}

const systemRoles = ['system', 'developer']

function fillSystemMessage(body: Body, { system }: Preset) {
  const messages = (body.messages ?? []) as { role: string; content?: unknown }[]
  if (!system || messages.some(({ role }) => systemRoles.includes(role))) return
  if (messages.length > 0) body.messages = [{ role: 'system', content: system }, ...messages]
}

function fillChat(body: Body, preset: Preset) {
  fillSampling(body, preset)
  fillSystemMessage(body, preset)
}

function fillResponse(body: Body, preset: Preset) {
  fillSampling(body, preset, 'max_output_tokens')
  fill(body, { instructions: preset.system })
}

function fillMessages(body: Body, { parameters, system }: Preset) {
  const { temperature, top_p, top_k, stop } = parameters ?? {}
  const stop_sequences = isUnset(stop) ? undefined : [stop].flat()
  fill(body, { temperature, top_p, top_k, stop_sequences, system })
}

function fillOllama(body: Body, preset: Preset) {
  const options = { ...((body.options ?? {}) as Body) }
  fill(options, preset.parameters ?? {})
  body.options = options
  if ('messages' in body) fillSystemMessage(body, preset)
  else fill(body, { system: preset.system })
}

/** How each endpoint is filled in. Others have no such fields. */
const fillers: Record<string, (body: Body, preset: Preset) => void> = {
  '/v1/chat/completions': fillChat,
  '/apply-template': fillChat,
  '/v1/completions': (body, preset) => fillSampling(body, preset),
  '/infill': (body, preset) => fillSampling(body, preset),
  '/v1/responses': fillResponse,
  '/v1/messages': fillMessages,
  '/v1/messages/count_tokens': fillMessages,
  '/api/chat': fillOllama,
  '/api/generate': fillOllama,
}

/** Runs after the validation of a request, and before its handler. */
export const presets = fp(async (app: FastifyInstance, { models }: { models: LoadedModels }) => {
  app.addHook('preHandler', async ({ method, routeOptions, body }) => {
    const filler = method === 'POST' && fillers[routeOptions.url ?? '']
    if (!filler) return
    const [only] = models.status()
    const model = (body as { model?: string | null }).model || only?.model.id
    const preset = model === undefined ? undefined : await models.findPreset(model)
    if (preset && Object.keys(preset).length > 0) filler(body as Body, preset)
  })
})
