/** The thread behind `startSeeder`. */
import { serveParent } from '../serve-parent.ts'
import { startSeeding } from './seed-client.ts'

serveParent(startSeeding)
