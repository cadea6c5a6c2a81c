/** Reads the form of the answer from a request: from OpenAI's field, or those of llama.cpp's server and vLLM. */
import type { ChatRequest, ResponseRequest } from '@shoal/protocol'
import { Fault } from '../errors.ts'
import { refuseFields } from '../http/request-fields.ts'
import type { AnswerForm, FormSource } from '../runtime/runtime.ts'

const anyObject: FormSource = { schema: { type: 'object' } }

type FormRequest = Pick<
  ChatRequest,
  | 'response_format'
  | 'grammar'
  | 'json_schema'
  | 'structured_outputs'
  | 'guided_json'
  | 'guided_regex'
  | 'guided_choice'
  | 'guided_grammar'
>

/** Returns the form that an answer in the Responses API must have; undefined for any text. */
export const getResponseForm = (request: ResponseRequest): AnswerForm | undefined =>
  getForm(request, readTextFormat(request))

/** Returns the form that an answer must have; undefined for any text. `own` is the form in a field of the API itself. */
export function getForm(request: FormRequest, own?: AnswerForm): AnswerForm | undefined {
  const guides = request.structured_outputs ?? {}
  refuseFields(guides, unsupportedGuides, 'structured_outputs.')
  const forms = [
    own,
    readResponseFormat(request),
    readForm('grammar', request.grammar, toGrammar),
    readForm('json_schema', request.json_schema, toSchema),
    readForm('guided_json', request.guided_json, toSchema),
    readForm('guided_regex', request.guided_regex, toPattern),
    readForm('guided_choice', request.guided_choice, toChoices),
    readForm('guided_grammar', request.guided_grammar, toGrammar),
    readForm('structured_outputs.json', guides.json, toSchema),
    readForm('structured_outputs.regex', guides.regex, toPattern),
    readForm('structured_outputs.choice', guides.choice, toChoices),
    readForm('structured_outputs.grammar', guides.grammar, toGrammar),
    readForm('structured_outputs.json_object', guides.json_object, () => anyObject),
  ]
  const [form, other] = forms.filter((one) => one !== undefined)
  if (form && other) {
    const message = `${form.param} and ${other.param} cannot be combined`
    throw new Fault(400, message, { param: other.param })
  }
  return form
}

/** vLLM's other guides, and the values that have no effect. */
const unsupportedGuides = {
  structural_tag: [],
  whitespace_pattern: [],
  disable_any_whitespace: [false],
}

function readForm<Value>(
  param: string,
  value: Value | null | undefined,
  convert: (value: Value, param: string) => FormSource,
): AnswerForm | undefined {
  return value ? { param, ...convert(value, param) } : undefined
}

const toGrammar = (gbnf: string) => ({ gbnf })
const toPattern = (pattern: string) => ({ pattern })
const toChoices = (choices: string[]) => ({ choices })

function toSchema(given: object | string, param: string): FormSource {
  if (typeof given === 'object') return { schema: given }
  try {
    const schema: unknown = JSON.parse(given)
    if (typeof schema === 'object' && schema !== null) return { schema }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new Fault(400, `${param} is not a JSON schema`, { param })
}

function readResponseFormat({ response_format: format }: FormRequest): AnswerForm | undefined {
  const param = 'response_format'
  if (format?.type === 'json_object') {
    return { param, ...(format.schema ? { schema: format.schema } : anyObject) }
  }
  if (format?.type !== 'json_schema') return undefined
  const schema = format.json_schema?.schema
  if (schema) return { param, schema }
  throw new Fault(422, 'response_format.json_schema.schema is required', { param })
}

function readTextFormat({ text }: ResponseRequest): AnswerForm | undefined {
  const param = 'text.format'
  const format = text?.format
  if (format?.type === 'json_object') return { param, ...anyObject }
  if (format?.type !== 'json_schema') return undefined
  if (format.schema) return { param, schema: format.schema }
  throw new Fault(422, 'text.format.schema is required', { param })
}
