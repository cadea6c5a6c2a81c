/**
 * Full-text search over models, once per engine: FTS5 on SQLite, `tsvector` and `pg_trgm` on PostgreSQL. Text is split
 * and misspellings are corrected here, so that both return the same models for the same query.
 */
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Database } from './schema.ts'
import { keepingTerms, resolveWords, type TermSource } from './search-terms.ts'
import { splitWords } from './words.ts'

export type SearchableModel = {
  id: string
  name: string
  display_name: string
  tags: string[]
  architecture: string | null
  description: string | null
}

export type FullText = {
  /**
   * Indexes a model again. Call it at the end of the transaction that writes the model; the model's row says whether it
   * is public.
   */
  index(db: Kysely<Database>, model: SearchableModel): Promise<void>
  /** Removes a model from the index. Call it in the transaction that deletes the model, before its row is deleted. */
  remove(db: Kysely<Database>, modelId: string): Promise<void>
  /** Parses a query; `nothing` if it contains no word. */
  search(db: Kysely<Database>, text: string): Promise<ModelSearch | 'nothing'>
}

/** Conditions on rows of `model`. */
export type ModelSearch = {
  /** The words are anywhere in the model. */
  matches: RawBuilder<SqlBool>
  /** The name or display name contains all words. */
  matchesByName: RawBuilder<SqlBool>
  /** The words are in the model, but not all in its names. */
  matchesElsewhere: RawBuilder<SqlBool>
  /** At least this many models match, including private ones. */
  minCount: number
}

const maxCandidates = 200
const maxFewMatches = 2_000
/** Up to this many matches are read once, and then looked up in the result. */
const maxCountedMatches = 12_000

const sqliteTerms: TermSource = {
  async listPublicTerms(db, modelId) {
    const { rows } = await sql<Fields>`
      select name, display_name, tags, architecture, description from model_search
      where rowid = (select seq from model where id = ${modelId}) and is_public = 1`.execute(db)
    const words = rows.flatMap((fields) => Object.values(fields)).flatMap((text) => text.split(' '))
    return words.filter((word) => word !== '')
  },

  isInPublicModel: (term) => sql<SqlBool>`exists (
    select 1 from model_search where model_search match ${`"${term}"`} and is_public = 1)`,

  near(word) {
    // Marks at both ends of a word form trigrams with its first and last letters, as in `pg_trgm`.
    const marked = `^^${word}$`
    const trigrams = Array.from({ length: marked.length - 2 }, (_, at) => marked.slice(at, at + 3))
    const match = trigrams.map((trigram) => `"${trigram}"`).join(' OR ')
    return sql<{ term: string }>`
      select substr(term, 3, length(term) - 3) as term from search_term_trigram
      where search_term_trigram match ${match} order by rank limit ${maxCandidates}`
  },

  takeTurn: async () => undefined, // transactions never overlap on SQLite
}

export const sqliteFullText: FullText = {
  async index(db, model) {
    const fields = toFields(model)
    await keepingTerms(db, sqliteTerms, model.id, async () => {
      await removeOnSqlite(db, model.id)
      await sql`
        insert into model_search
          (rowid, is_public, name, display_name, tags, architecture, description)
        select seq, is_public, ${fields.name}, ${fields.display_name}, ${fields.tags},
          ${fields.architecture}, ${fields.description}
        from model where id = ${model.id}`.execute(db)
    })
  },

  remove: (db, modelId) =>
    keepingTerms(db, sqliteTerms, modelId, () => removeOnSqlite(db, modelId)),

  async search(db, text) {
    const alternatives = await resolveWords(db, sqliteTerms, text)
    if (!alternatives) return 'nothing'
    const match = alternatives
      .map((terms) => `(${terms.map((term) => `"${term}"*`).join(' OR ')})`)
      .join(' AND ')
    const inNames = `{name display_name} : (${match})`
    const { rows } = await sql<{ count: number; rowids: string }>`
      select count(*) as count, json_group_array(rowid) as rowids from (
        select rowid from model_search where model_search match ${match} limit ${maxCountedMatches})`.execute(
      db,
    )
    const { count, rowids } = rows[0] ?? { count: 0, rowids: '[]' }
    // Few matches are looked up one by one. With many, reading in the order of the list finds
    // enough for a page sooner; the plus sign makes SQLite do that, because it cannot estimate
    // their number.
    const seq = sql.raw(count > maxFewMatches ? '+model.seq' : 'model.seq')
    const among = (query: string) =>
      sql<SqlBool>`${seq} in (select rowid from model_search where model_search match ${query})`
    // A search costs its time in every statement that contains it: up to 0.1 s for short words with 200,000 models.
    const isRead = count < maxCountedMatches
    const matches = isRead
      ? sql<SqlBool>`${seq} in (select value from json_each(${rowids}))`
      : among(match)
    return {
      matches,
      matchesByName: among(inNames),
      matchesElsewhere: isRead
        ? sql<SqlBool>`${matches} and not (${among(inNames)})`
        : among(`(${match}) NOT (${inNames})`),
      minCount: count,
    }
  },
}

function removeOnSqlite(db: Kysely<Database>, modelId: string) {
  return sql`
    delete from model_search where rowid = (select seq from model where id = ${modelId})`.execute(
    db,
  )
}

const postgresTerms: TermSource = {
  async listPublicTerms(db, modelId) {
    const { rows } = await sql<{ terms: string[] }>`
      select tsvector_to_array(document) as terms from model_search
      where model_id = ${modelId} and is_public = 1`.execute(db)
    return rows.flatMap(({ terms }) => terms)
  },

  // Materialized: otherwise PostgreSQL expects to find a rare word soon and reads the whole table for it.
  isInPublicModel: (term) => sql<SqlBool>`exists (
    with found as materialized (
      select is_public from model_search where document @@ ${`'${term}'`}::tsquery)
    select 1 from found where is_public = 1)`,

  near: (word) => sql<{ term: string }>`
    select term from search_term where term % ${word}
    order by similarity(term, ${word}) desc, term limit ${maxCandidates}`,

  takeTurn: (db) => sql`select pg_advisory_xact_lock(hashtext('search_term'))`.execute(db),
}

export const postgresFullText: FullText = {
  async index(db, model) {
    const fields = toFields(model)
    const document = formatTsvector([
      ['A', fields.name],
      ['B', fields.display_name],
      ['C', `${fields.tags} ${fields.architecture}`],
      ['D', fields.description],
    ])
    await keepingTerms(db, postgresTerms, model.id, () =>
      sql`
        insert into model_search (model_id, is_public, document)
        select id, is_public, ${document}::tsvector from model where id = ${model.id}
        on conflict (model_id)
        do update set is_public = excluded.is_public, document = excluded.document`.execute(db),
    )
  },

  remove: (db, modelId) =>
    keepingTerms(db, postgresTerms, modelId, () =>
      sql`delete from model_search where model_id = ${modelId}`.execute(db),
    ),

  async search(db, text) {
    const alternatives = await resolveWords(db, postgresTerms, text)
    if (!alternatives) return 'nothing'
    const among = (weights: string) => {
      const query = alternatives
        .map((terms) => `(${terms.map((term) => `'${term}':*${weights}`).join(' | ')})`)
        .join(' & ')
      return sql<SqlBool>`model.id in (
        select model_id from model_search where document @@ ${query}::tsquery)`
    }
    const matches = among('')
    return {
      matches,
      // Both: otherwise PostgreSQL expects many matches and reads all models in the order of the page to find the few.
      matchesByName: sql<SqlBool>`${matches} and ${among('AB')}`,
      matchesElsewhere: sql<SqlBool>`${matches} and not (${among('AB')})`,
      minCount: 0,
    }
  },
}

type Fields = Record<'name' | 'display_name' | 'tags' | 'architecture' | 'description', string>

function toFields(model: SearchableModel): Fields {
  const words = (text: string | null) => splitWords(text ?? '').join(' ')
  return {
    name: words(model.name),
    display_name: words(model.display_name),
    tags: words(model.tags.join(' ')),
    architecture: words(model.architecture),
    description: words(model.description),
  }
}

/** A literal `tsvector`: words consist of letters and digits, so they need no quoting. */
function formatTsvector(parts: [weight: string, words: string][]): string {
  const words = parts.flatMap(([weight, text]) => text.split(' ').map((word) => ({ word, weight })))
  return words
    .filter(({ word }) => word !== '')
    .map(({ word, weight }, position) => `'${word}':${Math.min(position + 1, 16_383)}${weight}`)
    .join(' ')
}
