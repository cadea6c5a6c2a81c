import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { OllamaCreateRequest, ollamaOptions } from '@shoal/protocol'
import type { Preset } from '@shoal/transfer'
import { Fault, modelNotFound, unsupported } from '../errors.ts'
import { jsonLines, startStream } from '../http/body-stream.ts'
import { refuseFields, unsupportedFields } from '../http/request-fields.ts'
import { copyFiles } from '../models/copy-model.ts'
import type { LocalModel, LocalModels } from '../models/local-models.ts'
import type { Uploads } from '../models/uploads.ts'
import { readDigest } from './digest.ts'
import { parseModelfile } from './modelfile.ts'
import { namedModel } from './named-model.ts'

type Dependencies = { local: LocalModels; uploads: Uploads }

export const createRoutes: FastifyPluginAsyncTypebox<Dependencies> = async (
  app,
  { local, uploads },
) => {
  const schema = { body: OllamaCreateRequest }
  app.post('/api/create', { schema }, async (request, reply) => {
    const { body } = request
    for (const name of ['quantize', 'adapters', 'messages'] as const) {
      if (body[name] && Object.keys(body[name]).length > 0) throw unsupported(name)
    }
    const { from, files, ...wanted } = withModelfile(body)
    const name = namedModel(body)
    const source = from || Object.values(files ?? {})[0]
    if (!source) throw new Fault(400, 'from is required', { param: 'from' })
    const base = await findBase(source)
    const preset = toPreset(base === 'upload' ? {} : base.preset, wanted)
    const isValid = request.compileValidationSchema(ollamaOptions)
    if (!isValid(preset.parameters ?? {})) throw invalidParameters(isValid.errors)
    if (base === 'upload') await uploads.take(readDigest(source) ?? '', name, preset)
    else await copyFiles(local, base, name, preset)
    if (body.stream === false) return { status: 'success' }
    const stream = startStream(reply, jsonLines)
    await stream.send({ status: `using existing layer ${source}` })
    await stream.send({ status: 'writing manifest' })
    stream.end({ status: 'success' })
    return reply
  })

  async function findBase(from: string): Promise<LocalModel | 'upload'> {
    const digest = readDigest(from)
    const all = await local.list()
    const model = digest ? all.find(({ sha256 }) => sha256 === digest) : await local.find(from)
    if (model) return model
    if (digest && (await uploads.has(digest))) return 'upload'
    if (digest || !/^([./~\\]|[a-z]:)|\.gguf$/i.test(from)) throw modelNotFound(from)
    const message = `from must be the name of a model on this machine, or sha256: and the hash of its file or of an uploaded one, not a path: ${from}`
    throw new Fault(400, message, { param: 'from' })
  }
}

type Wanted = Omit<OllamaCreateRequest, 'from' | 'files'>

function withModelfile(body: OllamaCreateRequest): OllamaCreateRequest {
  if (!body.modelfile) return body
  const { parameters, ...created } = parseModelfile(body.modelfile)
  const wrong = Object.entries(parameters).find(([, value]) => Number.isNaN(value))
  if (wrong) throw badParameter(wrong[0], 'has no numeric value')
  return { ...body, ...created, parameters }
}

/** Parameters in a Modelfile are not validated with the body. */
const invalidParameters = (
  errors: { instancePath: string; message?: string }[] | null | undefined,
) => badParameter(errors?.[0]?.instancePath.slice(1) ?? '', errors?.[0]?.message ?? 'is invalid')

const badParameter = (name: string, why: string) =>
  new Fault(400, `the parameter ${name} ${why}`, { param: 'parameters' })

/** Templates in Go's format, which Ollama uses, have fields such as `.Prompt`, or keywords without `%`. */
const goTemplate = /\{\{-?\s*(\.|\$|(if|else|end|range|with|define|template|block)\b)/

/** The settings of the new model: those of the base, and the new ones. */
function toPreset(before: Preset, { system, template, parameters }: Wanted): Preset {
  refuseFields(parameters ?? {}, unsupportedFields.ollamaOptions, 'parameters.')
  const unknown = Object.keys(parameters ?? {}).find((name) => !(name in ollamaOptions.properties))
  if (unknown !== undefined) throw badParameter(unknown, 'is unknown')
  if (template && goTemplate.test(template)) {
    const message =
      'template must be in Jinja format, as in model files; Go templates are not supported'
    throw new Fault(400, message, { param: 'template' })
  }
  const { aliases: _aliases, ...base } = before
  return {
    ...base,
    ...(system && { system }),
    ...(template && { template }),
    ...((parameters || base.parameters) && { parameters: { ...base.parameters, ...parameters } }),
  }
}
