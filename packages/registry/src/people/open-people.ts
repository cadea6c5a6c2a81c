import type { Kysely } from 'kysely'
import type { Database } from '../database/schema.ts'
import { type InvitationRepository, invitationRepository } from './invitation-repository.ts'
import { type PeopleRepository, peopleRepository } from './people-repository.ts'

/** The repositories with which administrators manage accounts and invitations. */
export type People = { people: PeopleRepository; invitations: InvitationRepository }

export const openPeople = (
  db: Kysely<Database>,
  defaultQuotaBytes: number | undefined,
): People => ({
  people: peopleRepository(db, defaultQuotaBytes),
  invitations: invitationRepository(db),
})
