/** Code completion in the format of llama.cpp's server, for editors. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { InfillRequest } from '@shoal/protocol'
import type { DaemonConfig } from '../config.ts'
import { plainEvents } from '../http/body-stream.ts'
import { clientGone } from '../http/client-gone.ts'
import { toErrorBody } from '../http/error-handler.ts'
import { requireGaps } from '../http/gaps.ts'
import { refuseFields, unsupportedFields } from '../http/request-fields.ts'
import { toSampling } from '../http/sampling.ts'
import { answerSteps, readSteps, streamAnswer } from '../http/stream-answer.ts'
import type { LoadedModels } from '../models/loaded-models.ts'
import { getOnlyModel } from '../models/only-model.ts'
import { getForm } from '../openai/answer-form.ts'
import { toMaxTokens } from '../openai/generation.ts'
import type { Finish, Generation, Piece } from '../runtime/runtime.ts'

type Steps = AsyncGenerator<Piece, Finish>

type Dependencies = { config: DaemonConfig; models: LoadedModels }

export const infillRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { config: { silenceMs }, models },
) => {
  app.post('/infill', { schema: { body: InfillRequest } }, async ({ body }, reply) => {
    const generation = createInfillGeneration(body)
    const model = body.model || getOnlyModel(models)
    const signal = clientGone(reply)
    const steps = answerSteps(
      () => models.use(model, { signal }),
      ({ runtime }) => {
        requireGaps(runtime, 'input_suffix')
        return runtime.generate(generation, signal)
      },
    )
    if (!body.stream) {
      const { all, end } = await readSteps(steps)
      const content = all.map(({ text = '' }) => text).join('')
      return { ...toEnd(model, generation, end), content }
    }
    return await streamAnswer(reply, steps, {
      ...{ ...plainEvents, ending: '', silenceMs },
      toParts: (all) => infillEvents(all, model, generation),
      toSign: () => toPart(''),
      toFailure: toErrorBody,
    })
  })
}

function createInfillGeneration(request: InfillRequest): Generation {
  refuseFields(request, unsupportedFields.infill)
  const { samplers } = request
  return {
    prompt: {
      gap: {
        before: request.input_prefix,
        after: request.input_suffix,
        files: (request.input_extra ?? []).map(({ filename, text }) => ({
          filename: filename || 'tmp', // llama.cpp's default
          text,
        })),
        begun: request.prompt ?? '',
      },
    },
    maxTokens: toMaxTokens(request.n_predict),
    stop: request.stop ?? [],
    lines: { minIndent: request.n_indent ?? 0, maxMs: request.t_max_predict_ms ?? 0 },
    // Editors list llama.cpp's sampler `infill`, which the library lacks. It only joins tokens with a common beginning.
    sampling: toSampling({
      ...request,
      samplers: samplers?.filter((name) => name !== 'infill') ?? null,
    }),
    form: getForm(request),
    topLogprobs: undefined,
  }
}

const toPart = (content: string) => ({ index: 0, content, tokens: [], stop: false })

async function* infillEvents(
  steps: Steps,
  model: string,
  generation: Generation,
): AsyncGenerator<object> {
  for (;;) {
    const step = await steps.next()
    if (step.done) {
      yield { ...toEnd(model, generation, step.value), content: '' }
      return
    }
    const { text = '' } = step.value
    if (text !== '') yield toPart(text)
  }
}

/** The members at the end of an answer, except for its text. */
function toEnd(model: string, { sampling, maxTokens, stop }: Generation, finish: Finish) {
  const { reason, stopString, promptTokens, cachedTokens, completionTokens } = finish
  const { firstTokenMs, generationMs } = finish
  const isStopped = stopString !== undefined
  return {
    index: 0,
    tokens: [],
    stop: true,
    model,
    tokens_predicted: completionTokens,
    tokens_evaluated: promptTokens,
    tokens_cached: cachedTokens,
    truncated: false,
    stop_type: isStopped ? 'word' : reason === 'length' ? 'limit' : 'eos',
    stopping_word: stopString ?? '',
    generation_settings: {
      seed: sampling.seed,
      temperature: sampling.temperature,
      top_k: sampling.topK,
      top_p: sampling.topP,
      min_p: sampling.minP,
      n_predict: maxTokens ?? -1,
      stop,
    },
    timings: {
      cache_n: cachedTokens,
      prompt_n: promptTokens - cachedTokens,
      prompt_ms: firstTokenMs,
      predicted_n: completionTokens,
      predicted_ms: Math.max(0, generationMs - firstTokenMs),
    },
  }
}
