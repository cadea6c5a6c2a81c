export { type Gbnf, parseGbnf } from '../matching/gbnf-parser.ts'
export { openStacks, type Stacks } from '../matching/gbnf-stacks.ts'
export { matchesGbnf, randomNumbers, textGenerator } from './gbnf.ts'
export { findInvalidTexts } from './invalid-texts.ts'
