/** Faults in which another program responds instead of the registry, or the registry responds with an error. */

import { fails, onRequests, rightBytes } from './declare.ts'
import type { End } from './ends.ts'
import * as harms from './harms.ts'
import type { NetworkFault } from './network-fault.ts'
import type { Place } from './places.ts'

const bytesRefused = fails('registry_failed', 'bytes_refused')
/** The end of a pull that finds no peers. The pull's error message includes the tracker's error. */
const tracker = fails('unreachable', 'no_peers')
const refused = { chunk: bytesRefused, part: bytesRefused, tracker }
const limited = fails('rate_limited', 'bytes_refused')
const moved = fails('redirect_refused', 'moved')

function answer(
  name: string,
  summary: string,
  harm: ReturnType<typeof harms.respondWithPage>,
  {
    end,
    others = {},
    isPassing = false,
  }: {
    end: End
    others?: Partial<Record<Place, End>>
    /** Whether the client retries the request after a delay. */
    isPassing?: boolean
  },
): NetworkFault {
  const ends = onRequests(end, { isAnswer: !isPassing, others })
  return { name, summary, harm: () => harm, ends }
}

const waitASecond = { 'retry-after': '1' }
const webPage = fails('not_a_registry', 'html')
const failed = (status: number) => fails('registry_failed', `http_${status}`)

export const answerFaults: NetworkFault[] = [
  answer(
    'html-200',
    'Web page with status 200, as from a captive portal',
    harms.respondWithPage(200, 'Hotel'),
    {
      end: webPage,
    },
  ),
  answer(
    'html-511',
    'Web page with status 511',
    harms.respondWithPage(511, 'Network Authentication Required'),
    {
      end: webPage,
    },
  ),
  answer('html-403', 'Web page with status 403', harms.respondWithPage(403, '403 Forbidden'), {
    end: webPage,
  }),
  answer(
    'html-502',
    'Web page with status 502, as from nginx',
    harms.respondWithPage(502, '502 Bad Gateway'),
    {
      end: failed(502),
      others: refused,
      isPassing: true,
    },
  ),
  answer('403', '403', harms.respondWithProblem(403, 'not for you'), {
    end: fails('not_permitted'),
    others: refused,
  }),
  answer('404', '404', harms.respondWithProblem(404, 'not here'), {
    end: fails('not_found'),
    others: refused,
  }),
  answer(
    '429',
    '429 with Retry-After',
    harms.respondWithProblem(429, 'too many requests', waitASecond),
    {
      end: fails('rate_limited'),
      others: { chunk: limited, part: limited, tracker },
      isPassing: true,
    },
  ),
  answer('500', '500', harms.respondWithProblem(500, 'internal server error'), {
    end: failed(500),
    others: refused,
    isPassing: true,
  }),
  answer('503', '503', harms.respondWithProblem(503, 'not now'), {
    end: failed(503),
    others: refused,
    isPassing: true,
  }),
  answer(
    '503-retry-after',
    '503 with Retry-After',
    harms.respondWithProblem(503, 'not now', waitASecond),
    {
      end: failed(503),
      others: refused,
      isPassing: true,
    },
  ),
  answer('other-program', 'JSON from another program', harms.otherProgram, {
    end: fails('not_a_registry', 'other_program'),
    others: { chunk: bytesRefused },
  }),
  answer(
    'redirect-loop',
    'Redirect to itself',
    harms.redirectTo(({ path }) => path),
    {
      end: fails('redirect_refused', 'loop'),
      others: { start: moved, part: moved, complete: moved },
    },
  ),
  {
    name: 'redirect-elsewhere',
    summary: 'Redirect to another host',
    harm: (_, { elsewhere }) => harms.redirectTo(({ path }) => elsewhere.origin + path),
    ends: onRequests(fails('redirect_refused', 'other_host'), {
      isAnswer: true,
      others: { chunk: rightBytes, part: moved },
    }),
  },
  {
    name: 'redirect-to-http',
    summary: 'Redirect from HTTPS to HTTP',
    over: 'https',
    harm: (_, { address }) =>
      harms.redirectTo(({ path }) => address.replace('https:', 'http:') + path),
    ends: onRequests(fails('redirect_refused', 'insecure'), {
      isAnswer: true,
      others: { part: moved },
    }),
  },
]
