/** Describes the contents of the fixture. */
import { join } from 'node:path'

/** The folder and addresses used when version 0.1 was recorded. */
export const recorded = {
  root: '/tmp/shoal-0.1',
  registryUrl: 'http://localhost:61080',
  daemonUrl: 'http://localhost:61434',
}

export const fixture = {
  archivePath: join(import.meta.dirname, 'data.tar.zst'),
  browserPath: join(import.meta.dirname, 'browser.json'),
  answersPath: join(import.meta.dirname, 'answers.json'),
  spokenPath: join(import.meta.dirname, 'spoken.json'),
  chunkSize: 16 * 1024 * 1024,
  ana: { username: 'ana', password: 'the tide of ana' },
  bea: { username: 'bea', password: 'the tide of bea' },
  card: '# Tide\n\nSpeaks of the *sea*.\n',
  /** Paths in the registry's API for which the responses are recorded. */
  answered: [
    '/v1/auth/me',
    '/v1/users/ana',
    '/v1/models',
    '/v1/models?q=tid',
    '/v1/models?sort=likes&order=asc',
    ...['tide', 'surge', 'reef', 'gale', 'storm'].flatMap((name) => [
      `/v1/models/${name}`,
      `/v1/models/${name}/files?status=all`,
    ]),
    '/v1/facets',
    '/v1/stats',
  ],
  settings: {
    registry: recorded.registryUrl,
    'limit-rate': '100MB',
    connections: '3',
    peers: 'off',
    'limit-upload': '5MB',
    ratio: '2',
    'local-peers': 'off',
  },
}
