/** The entry point of the thread that `startSeeder` starts. */
import { serveParent } from '@shoal/threads/parent'
import { startSeeding } from './seed-client.ts'

serveParent(startSeeding)
