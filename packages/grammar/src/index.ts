export { type AnswerSyntax, answerGrammar } from './answers/answer-grammar.ts'
export { callGrammar } from './calls/call-grammar.ts'
export type {
  CallSyntax,
  JsonSyntax,
  LiteralSyntax,
  MessageSyntax,
  NamedSyntax,
  OptionalCalls,
  TagSyntax,
  TextPart,
} from './calls/call-syntax.ts'
export { jsonGrammar } from './json/json-grammar.ts'
export { checkGrammar } from './matching/check-grammar.ts'
export { type JsonCloser, jsonCloser } from './matching/json-closer.ts'
export { movedTo } from './schema/schema.ts'
export { SchemaError } from './schema/schema-error.ts'
export { itemSchema, propertySchema, typeOf, typesOf } from './schema/schema-types.ts'
export { choiceGrammar, patternGrammar } from './text/text-grammars.ts'
