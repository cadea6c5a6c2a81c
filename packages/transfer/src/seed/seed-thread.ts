/** The thread behind `startSeeder`. */
import { serveParent } from '@shoal/threads/parent'
import { startSeeding } from './seed-client.ts'

serveParent(startSeeding)
