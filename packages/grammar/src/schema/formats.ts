/**
 * The formats that are enforced, as regular expressions. Other formats are annotations, as JSON Schema specifies. If
 * validators disagree about a format, only strings that all of them accept are allowed.
 */
const byte = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const ipv4 = `(?:${byte}\\.){3}${byte}`
const group = '[0-9a-fA-F]{1,4}'
const ipv6 = [
  `(?:${group}:){7}${group}`,
  ...[1, 2, 3, 4, 5, 6].map((left) => `(?:${group}:){${left}}(?::${group}){1,${7 - left}}`),
  `(?:${group}:){1,7}:`,
  `:(?::${group}){1,7}`,
  '::',
].join('|')

const leapYear = '(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)'
const date = [
  '\\d{4}-(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])',
  '\\d{4}-(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)',
  '\\d{4}-02-(?:0[1-9]|1\\d|2[0-8])',
  `${leapYear}-02-29`,
].join('|')
const clock = '(?:[01]\\d|2[0-3]):[0-5]\\d'
const time = `${clock}:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-]${clock})`
/** In a duration, no unit may be skipped: seconds may follow hours only if there are minutes in between. */
const days = '(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)'
const hours = '(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)'
const duration = `P(?:\\d+W|${days}(?:T${hours})?|T${hours})`

/** A label without two consecutive hyphens, because such a label could be an invalid internationalized name. */
const label = '[a-zA-Z0-9](?:-?[a-zA-Z0-9])*'
/** A label of at most 61 characters. A hostname of four such labels is shorter than the limit of 253 characters. */
const shortLabel = '[a-zA-Z0-9](?:-?[a-zA-Z0-9]){0,30}'
const topLabel = '[a-zA-Z]{2,}'
const hostname = `(?:${shortLabel}\\.){0,3}${shortLabel}`
/** The local part of an email address: at most 64 characters before the @ (RFC 5321). */
const mailbox = '(?=[^@]{1,64}@)[A-Za-z0-9_+-]+(?:\\.[A-Za-z0-9_+-]+)*'
const email = `${mailbox}@(?:${shortLabel}\\.){1,3}[a-zA-Z]{2,24}`

const pathChar = "(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})"
const query = `(?:${pathChar}|[/?])*`
const port = '(?::(?:6[0-4]\\d{3}|[1-5]\\d{4}|[1-9]\\d{0,3}))?'
const host = `(?:(?:${label}\\.)*${topLabel}|${ipv4})`
const webAddress = `(?:ftp|https?|wss?)://${host}${port}(?:/${pathChar}*)*(?:\\?${query})?(?:#${query})?`
/** Addresses such as `mailto:…`, `urn:…` and `s3://…`. */
const scheme = '(?!(?:file|ftp|https?|wss?):)[a-z][a-z0-9+-]*'
const otherHost = `//${label}(?:\\.${label})*(?:/${pathChar}*)*`
const plainPath = `[A-Za-z0-9]${pathChar}*(?:/${pathChar}+)*`
const otherAddress = `${scheme}:(?:${otherHost}|${plainPath})(?:\\?${query})?(?:#${query})?`
const fileAddress = `file:///${pathChar}+(?:/${pathChar}+)*`
const uri = `${webAddress}|${otherAddress}|${fileAddress}`

/** Only these headers are allowed, because a grammar for any JSON encoded in base64 would be too large. */
const jwtHeaders = ['HS', 'RS', 'ES', 'PS']
  .flatMap((kind) => ['256', '384', '512'].map((bits) => kind + bits))
  .map((alg) => Buffer.from(JSON.stringify({ alg, typ: 'JWT' })).toString('base64url'))
const jwt = `(?:${jwtHeaders.join('|')})\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+`
const pointer = '(?:/(?:[^/~\\u0000-\\u001f]|~[01])*)*'

const formats: Record<string, string> = {
  date,
  time,
  'date-time': `(?:${date})T${time}`,
  duration,
  email,
  'idn-email': email,
  hostname,
  'idn-hostname': hostname,
  ipv4,
  ipv6,
  uri,
  'uri-reference': uri,
  'uri-template': uri,
  iri: uri,
  'iri-reference': uri,
  uuid: '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}',
  'json-pointer': pointer,
  'relative-json-pointer': `(?:0|[1-9]\\d{0,8})(?:#|${pointer})`,
  jwt,
}

/** Returns the pattern of a format; undefined if the format is only an annotation. */
export const patternOfFormat = (format: unknown): string | undefined =>
  typeof format === 'string' && Object.hasOwn(formats, format)
    ? `^(?:${formats[format]})$`
    : undefined

/**
 * The patterns that zod adds to these formats. They are ignored, because every string in the format matches them, and
 * an automaton for both the format and its pattern would be too large.
 */
const implied: Record<string, readonly string[]> = {
  hostname: [
    '^(?=.{1,253}\\.?$)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[-0-9a-zA-Z]{0,61}[0-9a-zA-Z])?)*\\.?$',
  ],
  email: ['^[^\\s@"]{1,64}@[^\\s@]{1,255}$'],
}

/** Whether all strings in the format are known to match the pattern. */
export const isImplied = (pattern: unknown, format: unknown): boolean =>
  typeof format === 'string' &&
  Object.hasOwn(implied, format) &&
  Boolean(implied[format]?.some((one) => one === pattern))
