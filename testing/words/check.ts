/** `npm run words`: lists unwanted phrases in documents, comments and strings, and fails if there are any. */
import { join } from 'node:path'
import { checkWords } from './check-words.ts'
import { phrases } from './phrases.ts'
import { readPassages } from './read-passages.ts'

const passages = readPassages(join(import.meta.dirname, '../..'))
const found = checkWords(passages, phrases)
for (const line of found) console.error(line)
if (found.length > 0) {
  console.error(`\n${found.length} phrases to rewrite; CONTRIBUTING.md describes the style`)
  process.exitCode = 1
} else console.log(`no unwanted phrases in ${passages.length} passages`)
