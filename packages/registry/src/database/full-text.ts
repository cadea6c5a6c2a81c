/**
 * Full-text search over models, once per engine: FTS5 on SQLite, `tsvector` and `pg_trgm` on PostgreSQL. Words are cut
 * and misspellings are resolved here, so that both give the same models for the same query.
 */
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from './schema.ts'
import { isOneTypoAway, wordsOf } from './words.ts'

export type SearchableModel = {
  id: string
  name: string
  display_name: string
  tags: string[]
  architecture: string | null
  description: string | null
}

export type FullText = {
  /** Indexes a model anew. Belongs into the transaction that writes the model. */
  index(db: Kysely<Database>, model: SearchableModel): Promise<void>
  /** Takes a model out of the index. Belongs into the transaction that deletes it, before the row goes. */
  remove(db: Kysely<Database>, modelId: string): Promise<void>
  /** What `text` looks for, or `nothing` when it holds no word that any model has. */
  search(db: Kysely<Database>, text: string): Promise<ModelSearch | 'nothing'>
}

/** Conditions on the rows of `model`. */
export type ModelSearch = {
  /** The words are somewhere in the model. */
  matches: RawBuilder<SqlBool>
  /** The words are all in its name or display name. */
  matchesByName: RawBuilder<SqlBool>
  /** So many models match, whoever may see them, or more. */
  countAtLeast: number
}

/** For each word of the query the index terms that stand for it; each also matches what begins with it. */
type Alternatives = string[][]

/** Words of a query that count; a longer query is cut. */
const wordsAtMost = 12
const candidatesAtMost = 200
const correctionsAtMost = 8
const shortestCorrected = 4
const fewAtMost = 2_000
const countedAtMost = 12_000

export const sqliteFullText: FullText = {
  async index(db, model) {
    const fields = fieldsOf(model)
    await sqliteFullText.remove(db, model.id)
    await sql`
      insert into model_search (rowid, name, display_name, tags, architecture, description)
      select seq, ${fields.name}, ${fields.display_name}, ${fields.tags}, ${fields.architecture},
        ${fields.description}
      from model where id = ${model.id}`.execute(db)
    for (const term of termsOf(fields)) {
      const added = await db
        .insertInto('search_term')
        .values({ term })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst()
      if (added.numInsertedOrUpdatedRows) {
        await sql`insert into search_term_trigram (term) values (${padded(term)})`.execute(db)
      }
    }
  },

  async remove(db, modelId) {
    await sql`
      delete from model_search where rowid = (select seq from model where id = ${modelId})`.execute(
      db,
    )
  },

  async search(db, text) {
    const alternatives = await resolveWords(db, text, (word) => {
      const near = padded(word)
      const trigrams = Array.from({ length: near.length - 2 }, (_, at) => near.slice(at, at + 3))
      const match = trigrams.map((trigram) => `"${trigram}"`).join(' OR ')
      return sql<{ term: string }>`
        select substr(term, 3, length(term) - 3) as term from search_term_trigram
        where search_term_trigram match ${match} order by rank limit ${candidatesAtMost}`
    })
    if (!alternatives) return 'nothing'
    const match = alternatives
      .map((terms) => `(${terms.map((term) => `"${term}"*`).join(' OR ')})`)
      .join(' AND ')
    // Few matches are looked up one by one; of many the list's own order finds enough for a page sooner, which
    // the plus sign makes SQLite do: it knows nothing of how many there are.
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from (
        select 1 from model_search where model_search match ${match} limit ${countedAtMost})`.execute(
      db,
    )
    const count = rows[0]?.count ?? 0
    const seq = sql.raw(count > fewAtMost ? '+model.seq' : 'model.seq')
    const among = (query: string) =>
      sql<SqlBool>`${seq} in (select rowid from model_search where model_search match ${query})`
    return {
      matches: among(match),
      matchesByName: among(`{name display_name} : (${match})`),
      countAtLeast: count,
    }
  },
}

export const postgresFullText: FullText = {
  async index(db, model) {
    const fields = fieldsOf(model)
    const document = tsvectorOf([
      ['A', fields.name],
      ['B', fields.display_name],
      ['C', `${fields.tags} ${fields.architecture}`],
      ['D', fields.description],
    ])
    await sql`
      insert into model_search (model_id, document) values (${model.id}, ${document}::tsvector)
      on conflict (model_id) do update set document = excluded.document`.execute(db)
    const terms = termsOf(fields)
    if (terms.length === 0) return
    await db
      .insertInto('search_term')
      .values(terms.map((term) => ({ term })))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  },

  async remove(db, modelId) {
    await sql`delete from model_search where model_id = ${modelId}`.execute(db)
  },

  async search(db, text) {
    const alternatives = await resolveWords(
      db,
      text,
      (word) => sql<{ term: string }>`
        select term from search_term where term % ${word}
        order by similarity(term, ${word}) desc, term limit ${candidatesAtMost}`,
    )
    if (!alternatives) return 'nothing'
    const among = (weights: string) => {
      const query = alternatives
        .map((terms) => `(${terms.map((term) => `'${term}':*${weights}`).join(' | ')})`)
        .join(' & ')
      return sql<SqlBool>`model.id in (
        select model_id from model_search where document @@ ${query}::tsquery)`
    }
    return { matches: among(''), matchesByName: among('AB'), countAtLeast: 0 }
  },
}

type Fields = Record<'name' | 'display_name' | 'tags' | 'architecture' | 'description', string>

function fieldsOf(model: SearchableModel): Fields {
  const words = (text: string | null) => wordsOf(text ?? '').join(' ')
  return {
    name: words(model.name),
    display_name: words(model.display_name),
    tags: words(model.tags.join(' ')),
    architecture: words(model.architecture),
    description: words(model.description),
  }
}

function termsOf(fields: Fields): string[] {
  const words = Object.values(fields).flatMap((field) => field.split(' '))
  return [...new Set(words.filter((word) => word !== ''))].sort()
}

/** Marks a word's ends, so that its first and last letters make trigrams of their own, as `pg_trgm` does. */
function padded(word: string) {
  return `^^${word}$`
}

/** A literal `tsvector`: words are letters and digits only, so that nothing in them needs a quote. */
function tsvectorOf(parts: [weight: string, words: string][]): string {
  const words = parts.flatMap(([weight, text]) => text.split(' ').map((word) => ({ word, weight })))
  return words
    .filter(({ word }) => word !== '')
    .map(({ word, weight }, position) => `'${word}':${Math.min(position + 1, 16_383)}${weight}`)
    .join(' ')
}

/** The terms that stand for each word of `text`, or undefined when some word has none. */
async function resolveWords(
  db: Kysely<Database>,
  text: string,
  candidates: (word: string) => RawBuilder<{ term: string }>,
): Promise<Alternatives | undefined> {
  const words = [...new Set(wordsOf(text))].slice(0, wordsAtMost)
  if (words.length === 0) return undefined
  const alternatives: Alternatives = []
  for (const word of words) {
    const terms = (await isBeginningOfTerm(db, word))
      ? [word]
      : await correctionsOf(db, word, candidates)
    if (terms.length === 0) return undefined
    alternatives.push(terms)
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

async function correctionsOf(
  db: Kysely<Database>,
  word: string,
  candidates: (word: string) => RawBuilder<{ term: string }>,
): Promise<string[]> {
  if (word.length < shortestCorrected) return []
  const { rows } = await candidates(word).execute(db)
  const near = rows.map(({ term }) => term).filter((term) => isOneTypoAway(word, term))
  return near.sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, correctionsAtMost)
}
