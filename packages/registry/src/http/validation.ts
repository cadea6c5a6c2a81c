import { Ajv } from 'ajv'
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify'

/**
 * Ajv, once for bodies and once for what arrives as text. In a body `"5"` is no number; in a query it is. Both fill in
 * defaults; bodies lose members that no schema names.
 */
export function useValidation(app: FastifyInstance) {
  const shared = { useDefaults: true, allErrors: false, strict: false, formats }
  const forBodies = new Ajv({ ...shared, coerceTypes: false, removeAdditional: true })
  const forTexts = new Ajv({ ...shared, coerceTypes: 'array', removeAdditional: false })
  const compiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
    const ajv = httpPart === 'body' ? forBodies : forTexts
    return ajv.compile(schema)
  }
  app.setValidatorCompiler(compiler)
  return (schema: { $id: string }) => {
    forBodies.addSchema(schema)
    forTexts.addSchema(schema)
  }
}

const formats = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  'date-time': (text: string) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text)),
  email: /^[^\s@]+@[^\s@]+$/,
  uri: true,
  binary: true,
} as const
