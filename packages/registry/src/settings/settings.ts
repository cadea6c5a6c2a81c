/**
 * The registry's settings, except those of the S3 store (`s3-settings.ts`). This module loads no server code, so that
 * the help text and the documentation can be generated from it.
 */
import { resolve } from 'node:path'
import { choice, list, port, setting, size, wholeNumber, word } from '@shoal/core/settings'
import { readSecretFile } from '@shoal/files/secret'
import { defaultRateLimits, parseRateLimits } from './rate-limits.ts'
import {
  parseBaseUrl,
  parseDatabaseUrl,
  parseMetricsToken,
  parsePeerAddress,
  parsePeerPort,
  parseRedisUrl,
  parseTrashDays,
  parseTrustProxy,
} from './values.ts'

const logLevels = ['info', 'trace', 'debug', 'warn', 'error', 'silent']

export const registrySettings = {
  host: setting({
    variable: 'SHOAL_HOST',
    flag: '--host <address>',
    parse: word,
    default: '127.0.0.1',
    description: 'address to listen on',
  }),
  /** 0 picks a free port. */
  port: setting({
    variable: 'SHOAL_PORT',
    flag: '--port <number>',
    parse: port,
    default: '8000',
    description: 'port to listen on',
  }),
  dataDirectory: setting({
    variable: 'SHOAL_DATA',
    flag: '--data <folder>',
    parse: (path) => resolve(path),
    default: './data',
    description: 'folder for the database and the model files',
    details: 'only one registry at a time can use it',
  }),
  /** Undefined means `releases` in the data folder. */
  releasesDirectory: setting({
    variable: 'SHOAL_RELEASES',
    parse: (path) => resolve(path),
    defaultPhrase: 'a folder named `releases` in the data folder',
    description: 'folder with the releases of shoal that the registry offers at `/install`',
    details: 'see [releases.md](releases.md#installing-from-a-registry)',
  }),
  /** Without a trailing slash; undefined means `http://localhost:<port>`. */
  baseUrl: setting({
    variable: 'SHOAL_BASE_URL',
    flag: '--base-url <address>',
    parse: parseBaseUrl,
    defaultPhrase: '`http://localhost:<port>`',
    description: 'public URL of the registry, such as `https://models.example.org`',
    details: "the registry's own URLs in responses begin with it",
  }),
  databaseUrl: setting({
    variable: 'DATABASE_URL',
    readFile: readSecretFile,
    parse: parseDatabaseUrl,
    defaultPhrase: 'SQLite in the data folder',
    description: 'URL of the PostgreSQL database, such as `postgres://user:password@host/name`',
    details: 'the database requires the `pg_trgm` extension',
  }),
  databaseListenUrl: setting({
    variable: 'SHOAL_DATABASE_LISTEN_URL',
    readFile: readSecretFile,
    parse: parseDatabaseUrl,
    defaultPhrase: '`DATABASE_URL`',
    description: 'URL for a direct connection to PostgreSQL, if `DATABASE_URL` points to PgBouncer',
    details:
      'in transaction mode, PgBouncer does not pass on the notifications that the registry needs to cache responses',
  }),
  databasePool: setting({
    variable: 'SHOAL_DATABASE_POOL',
    parse: wholeNumber({ min: 2 }),
    default: '10',
    description:
      'maximum number of connections from each node to PostgreSQL, in addition to one for notifications',
  }),
  /** Undefined means that this is the only node. */
  redisUrl: setting({
    variable: 'SHOAL_REDIS_URL',
    readFile: readSecretFile,
    parse: parseRedisUrl,
    description:
      'URL of the Redis server that all nodes of the registry share, such as `redis://host:6379`',
    details: 'needed only with several nodes. Several registries can share one Redis server',
  }),
  allowedHosts: setting({
    variable: 'SHOAL_ALLOWED_HOSTS',
    parse: list((host) => host.toLowerCase()),
    default: '',
    description: 'additional hostnames to serve, separated by commas',
  }),
  trustProxy: setting({
    variable: 'SHOAL_TRUST_PROXY',
    parse: parseTrustProxy,
    default: 'off',
    description:
      "whether to take the client's address from the last entry of `X-Forwarded-For`; set to `on` only behind a reverse proxy",
    details:
      'the proxy must append that entry. For several proxies, set this to the number of proxies or to their networks, such as `10.0.0.0/8,fd00::/8`',
  }),
  isRegistrationOpen: setting({
    variable: 'SHOAL_REGISTRATION',
    parse: choice({ open: true, closed: false }),
    default: 'open',
    description:
      'set to `closed` to refuse registrations without an invitation, except for the first account',
  }),
  isAnonymousReadAllowed: setting({
    variable: 'SHOAL_ANONYMOUS_READ',
    parse: choice({ on: true, off: false }),
    default: 'on',
    description: 'set to `off` to require an account even for reading',
  }),
  /** In bytes; undefined means no limit. */
  quotaBytes: setting({
    variable: 'SHOAL_QUOTA',
    parse: size({ min: 0, example: '500GB' }),
    description: 'storage quota per account, such as `500GB`',
  }),
  reserveBytes: setting({
    variable: 'SHOAL_RESERVE',
    parse: size({ min: 0, example: '5GB' }),
    defaultPhrase: 'the smaller of 1 GB and 2% of the disk',
    description: 'disk space that uploads must leave free, such as `5GB`',
    details: '`0` reserves nothing',
  }),
  /** 0 deletes files immediately. */
  trashDays: setting({
    variable: 'SHOAL_TRASH_DAYS',
    parse: parseTrashDays,
    default: '7',
    description: 'how long to keep deleted files, in days or as a duration such as `12h`',
    details: 'at least `1h`, or `0` to delete them immediately',
  }),
  /** Undefined means no limits. */
  rateLimits: setting({
    variable: 'SHOAL_RATE_LIMITS',
    parse: parseRateLimits,
    default: defaultRateLimits,
    description:
      'rate limits per credential, or per network (IPv4 address or IPv6 /64) for anonymous requests; set to `off` for no limits',
    details:
      'omitted classes keep their default limits. The class `auth` is limited per network even for requests with a credential',
  }),
  maxConnectionsPerAddress: setting({
    variable: 'SHOAL_MAX_CONNECTIONS_PER_ADDRESS',
    parse: wholeNumber({ min: 1 }),
    default: '512',
    description: 'maximum number of concurrent HTTP connections from one IPv4 address or IPv6 /64',
    details:
      'connections above the limit are closed. There is no limit for connections from this machine, or if `SHOAL_TRUST_PROXY` is set',
  }),
  peersPerSwarm: setting({
    variable: 'SHOAL_TRACKER_PEERS_PER_SWARM',
    parse: wholeNumber({ min: 1 }),
    default: '50000',
    description: 'maximum number of peers in the swarm of one torrent',
    details: 'see [bittorrent.md](bittorrent.md#the-tracker)',
  }),
  peersPerAddress: setting({
    variable: 'SHOAL_TRACKER_PEERS_PER_ADDRESS',
    parse: wholeNumber({ min: 1 }),
    default: '20000',
    description:
      'maximum number of peers in all swarms together from one IPv4 address or IPv6 /64, which all machines of a university may share',
    details: 'a machine counts once for each torrent',
  }),
  /** Undefined means that no token grants access to `/metrics`. */
  metricsToken: setting({
    variable: 'SHOAL_METRICS_TOKEN',
    readFile: readSecretFile,
    parse: parseMetricsToken,
    description: 'bearer token for reading `/metrics` from any address',
    details: 'at least 16 visible ASCII characters',
  }),
  /** 0 picks a free port; undefined means no metadata peer. */
  peerPort: setting({
    variable: 'SHOAL_PEER_PORT',
    parse: parsePeerPort,
    default: '0',
    defaultPhrase: 'a free port',
    description:
      'TCP port of the metadata peer, which serves metadata for magnet links; set to `off` for no metadata peer',
    details: 'see [bittorrent.md](bittorrent.md#the-metadata-peer)',
  }),
  /** Undefined means the address at which the client reached the registry. */
  peerAddress: setting({
    variable: 'SHOAL_PEER_ADDRESS',
    parse: parsePeerAddress,
    defaultPhrase: 'the address at which clients reach the registry',
    description: "IP address at which clients reach this node's metadata peer",
    details:
      'with `SHOAL_REDIS_URL`, the tracker returns the metadata peer only if this address is set',
  }),
  logLevel: setting({
    variable: 'SHOAL_LOG_LEVEL',
    parse: choice(Object.fromEntries(logLevels.map((level) => [level, level]))),
    default: 'info',
    description: 'log level: `trace`, `debug`, `info`, `warn`, `error` or `silent`',
    details: '`debug` also logs each announce and health check',
  }),
}
