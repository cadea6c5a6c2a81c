/** Every setting of a registry. It loads nothing of the server, so that help and docs can print it. */
import { resolve } from 'node:path'
import { choice, list, port, setting, size, wholeNumber, word } from '@shoal/core/settings'
import { defaultRateLimits, parseRateLimits } from './rate-limits.ts'
import {
  parseBaseUrl,
  parseDatabaseUrl,
  parseMetricsToken,
  parsePeerPort,
  parseTrashDays,
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
  /** 0 takes a port that the system gives. */
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
    description: 'folder of the database and the model files',
    details: 'one registry at a time',
  }),
  /** Without a trailing slash; undefined means `http://localhost:<port>`. */
  baseUrl: setting({
    variable: 'SHOAL_BASE_URL',
    flag: '--base-url <address>',
    parse: parseBaseUrl,
    defaultPhrase: '`http://localhost:<port>`',
    description: 'address that clients use, such as `https://models.example.org`',
    details: 'every URL in an answer begins with it',
  }),
  databaseUrl: setting({
    variable: 'DATABASE_URL',
    parse: parseDatabaseUrl,
    defaultPhrase: 'SQLite in the data folder',
    description: 'PostgreSQL database, as in `postgres://user:password@host/name`',
    details: 'needs the extension `pg_trgm`',
  }),
  allowedHosts: setting({
    variable: 'SHOAL_ALLOWED_HOSTS',
    parse: list((host) => host.toLowerCase()),
    default: '',
    description: 'further hostnames to serve, separated by commas',
  }),
  trustProxy: setting({
    variable: 'SHOAL_TRUST_PROXY',
    parse: choice({ off: false, on: true }),
    default: 'off',
    description: "`on` behind a proxy: the last address in `X-Forwarded-For` is the client's",
    details: 'the proxy has to add it',
  }),
  isRegistrationOpen: setting({
    variable: 'SHOAL_REGISTRATION',
    parse: choice({ open: true, closed: false }),
    default: 'open',
    description: '`closed`: no new accounts except the first',
  }),
  isAnonymousReadAllowed: setting({
    variable: 'SHOAL_ANONYMOUS_READ',
    parse: choice({ on: true, off: false }),
    default: 'on',
    description: '`off`: reading needs an account too',
  }),
  /** In bytes; undefined: no limit. */
  quotaBytes: setting({
    variable: 'SHOAL_QUOTA',
    parse: size({ min: 0, example: '500GB' }),
    description: 'bytes that an account may publish, such as `500GB`',
  }),
  reserveBytes: setting({
    variable: 'SHOAL_RESERVE',
    parse: size({ min: 0, example: '500GB' }),
    defaultPhrase: 'the smaller of 1 GB and 2 % of the disk',
    description: 'disk space that uploads leave free, such as `5GB`',
    details: '`0`: none',
  }),
  /** 0 removes them at once. */
  trashDays: setting({
    variable: 'SHOAL_TRASH_DAYS',
    parse: parseTrashDays,
    default: '7',
    description: 'days that the bytes of deleted files are kept, or a time such as `12h`',
    details: 'at least `1h`, or `0`: removed at once',
  }),
  /** Undefined: no limits. */
  rateLimits: setting({
    variable: 'SHOAL_RATE_LIMITS',
    parse: parseRateLimits,
    default: defaultRateLimits,
    description: 'requests per credential, or per network without one; `off`: no limits',
    details:
      '`auth` is always per network, which is an IPv4 address or an IPv6 /64. Classes that are left out keep their default',
  }),
  maxConnectionsPerAddress: setting({
    variable: 'SHOAL_MAX_CONNECTIONS_PER_ADDRESS',
    parse: wholeNumber({ min: 1 }),
    default: '512',
    description: 'HTTP connections at a time from one network',
    details: 'further ones are closed. No limit for this machine, nor with `SHOAL_TRUST_PROXY=on`',
  }),
  /** Undefined: no token may read `/metrics`. */
  metricsToken: setting({
    variable: 'SHOAL_METRICS_TOKEN',
    parse: parseMetricsToken,
    description: 'bearer token that may read `/metrics` from anywhere',
    details: 'at least 16 characters',
  }),
  /** 0 takes a port that the system gives; undefined: no metadata peer. */
  peerPort: setting({
    variable: 'SHOAL_PEER_PORT',
    parse: parsePeerPort,
    default: '0',
    defaultPhrase: 'a free port',
    description: 'TCP port of the metadata peer, which gives magnets their metadata; `off`: none',
    details: 'see [bittorrent.md](bittorrent.md#the-metadata-peer)',
  }),
  logLevel: setting({
    variable: 'SHOAL_LOG_LEVEL',
    parse: choice(Object.fromEntries(logLevels.map((level) => [level, level]))),
    default: 'info',
    description: 'least severe lines to log: `trace`, `debug`, `info`, `warn`, `error`, `silent`',
    details: '`debug` also logs each announce and health check',
  }),
}
