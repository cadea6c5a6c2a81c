/**
 * The words of public models: a search treats them as correctly spelt, and corrects misspellings to them. Words that
 * only private models contain are never among them, or a search would reveal that they exist.
 */
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from './schema.ts'
import { isOneTypoAway, splitWords } from './words.ts'

/** The differences between the engines. */
export type TermSource = {
  /** The words in a model's index entry, if the model is public. */
  listPublicTerms(db: Kysely<Database>, modelId: string): Promise<string[]>
  isInPublicModel(term: string): RawBuilder<SqlBool>
  /** Terms similar to `word`, the most similar first. */
  near(word: string): RawBuilder<{ term: string }>
  /** Makes transactions that change the terms wait for each other, if there can be several at once. */
  takeTurn(db: Kysely<Database>): Promise<unknown>
}

/** For each word of a query, the index terms that it stands for; each also matches longer words that begin with it. */
export type Alternatives = string[][]

/** Words of a query that are used; a longer query is cut. */
const maxWords = 12
const maxCorrections = 8
const minCorrectedLength = 4

/** Runs `write`, which changes a model's document, and keeps the terms in step with it. */
export async function keepingTerms(
  db: Kysely<Database>,
  source: TermSource,
  modelId: string,
  write: () => Promise<unknown>,
) {
  const before = new Set(await source.listPublicTerms(db, modelId))
  await write()
  const after = new Set(await source.listPublicTerms(db, modelId))
  const added = [...after].filter((term) => !before.has(term))
  const gone = [...before].filter((term) => !after.has(term))
  if (added.length === 0 && gone.length === 0) return

  await source.takeTurn(db) // or a term could be removed while another transaction, not yet visible, relies on it
  if (added.length > 0) {
    await db
      .insertInto('search_term')
      .values(added.map((term) => ({ term })))
      .onConflict((known) => known.doNothing())
      .execute()
  }
  for (const term of gone) {
    await db
      .deleteFrom('search_term')
      .where('term', '=', term)
      .where(sql<SqlBool>`not ${source.isInPublicModel(term)}`)
      .execute()
  }
}

/** The terms for each word of `text`, or undefined if it has no word. */
export async function resolveWords(
  db: Kysely<Database>,
  source: TermSource,
  text: string,
): Promise<Alternatives | undefined> {
  const words = [...new Set(splitWords(text))].slice(0, maxWords)
  if (words.length === 0) return undefined
  const alternatives: Alternatives = []
  for (const word of words) {
    const isKnown = await isBeginningOfTerm(db, word)
    // An unknown word also stands for itself: owners of private models find them by it.
    alternatives.push(isKnown ? [word] : [word, ...(await findCorrections(db, source, word))])
  }
  return alternatives
}

async function isBeginningOfTerm(db: Kysely<Database>, word: string): Promise<boolean> {
  const term = await db
    .selectFrom('search_term')
    .select('term')
    .where('term', '>=', word)
    .orderBy('term')
    .limit(1)
    .executeTakeFirst()
  return term?.term.startsWith(word) ?? false
}

async function findCorrections(
  db: Kysely<Database>,
  source: TermSource,
  word: string,
): Promise<string[]> {
  if (word.length < minCorrectedLength) return []
  const { rows } = await source.near(word).execute(db)
  const near = rows.map(({ term }) => term).filter((term) => isOneTypoAway(word, term))
  return near.sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, maxCorrections)
}
