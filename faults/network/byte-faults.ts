/** Faults in which the registry responds, but its response arrives damaged, changed or late. */
import { dash, fails, onRequests, rightBytes } from './declare.ts'
import * as harms from './harms.ts'
import type { NetworkFault } from './network-fault.ts'

const noRange = dash('Ranges are requested only for file bytes.')
/** At these places, the registry has processed the request even if the response is damaged. A push detects this. */
const heard = { part: rightBytes, complete: rightBytes }
const broken = fails('unreachable', 'reset')
const silent = fails('unreachable', 'timeout')
const notBencoded = fails('not_a_registry', 'other_program')
const refused = fails('registry_failed', 'bytes_refused')

export const byteFaults: NetworkFault[] = [
  {
    name: 'corrupt',
    summary: 'Corrupt bytes',
    harm: () => harms.corrupt,
    ends: onRequests(fails('not_a_registry', 'not_json'), {
      isAnswer: true,
      others: {
        chunk: fails('verification_failed'),
        part: rightBytes,
        complete: rightBytes,
        torrent: notBencoded,
        tracker: notBencoded,
      },
    }),
  },
  {
    name: 'cut',
    summary: 'Connection closed in the middle of a response',
    harm: () => harms.cut,
    ends: onRequests(broken, { others: heard }),
  },
  {
    name: 'reset-middle',
    summary: 'Connection reset in the middle of a response',
    harm: () => harms.resetInTheMiddle,
    ends: onRequests(broken, { others: heard }),
  },
  {
    name: 'stalled',
    summary: 'Silence in the middle of a response',
    harm: () => harms.stalled,
    times: 1,
    ends: onRequests(silent, { others: heard }),
  },
  {
    name: 'slow',
    summary: 'Slow response without long pauses',
    harm: () => harms.slow,
    ends: onRequests(rightBytes),
  },
  {
    name: 'gzip',
    summary: 'Response compressed with gzip',
    harm: () => harms.gzipped,
    ends: onRequests(rightBytes, { others: { chunk: refused } }),
  },
  {
    name: 'length-longer',
    summary: 'Content-Length too large',
    harm: () => harms.longerLength,
    ends: onRequests(broken, { others: heard }),
  },
  {
    name: 'length-shorter',
    summary: 'Content-Length too small',
    harm: () => harms.shorterLength,
    ends: onRequests(fails('not_a_registry', 'not_json'), {
      isAnswer: true,
      others: {
        chunk: refused,
        part: rightBytes,
        complete: rightBytes,
        torrent: notBencoded,
        tracker: notBencoded,
      },
    }),
  },
  {
    name: 'range-other',
    summary: 'Different range from the one requested',
    harm: () => harms.anotherRange,
    ends: onRequests(rightBytes, {
      columns: {
        api: noRange,
        push: noRange,
        torrent: { stays: { 'web seed': rightBytes } },
        tracker: noRange,
      },
    }),
  },
  {
    name: 'range-ignored',
    summary: 'Whole file instead of a range',
    harm: () => harms.wholeFile,
    ends: onRequests(rightBytes, {
      columns: {
        api: noRange,
        push: noRange,
        torrent: { stays: { 'web seed': rightBytes } },
        tracker: noRange,
      },
    }),
  },
  {
    name: 'replayed',
    summary: 'Old response to another request',
    harm: () => harms.replayed,
    ends: onRequests(fails('not_a_registry', 'other_program'), {
      isAnswer: true,
      others: { chunk: refused },
    }),
  },
  {
    name: 'changed',
    summary: 'Content changed between two requests',
    harm: (place) =>
      place === 'api'
        ? harms.rewritten(
            (_, { url = '' }) => url.includes('/download/'),
            harms.replacing(/(?<="sha256_hash":")[0-9a-f]{8}/g, '00000000'),
          )
        : harms.changedAfterFirst(),
    ends: {
      api: { stays: { api: fails('verification_failed') } },
      chunk: { 'goes away': rightBytes, stays: { chunk: fails('verification_failed') } },
      push: dash('A push does not download any content.'),
      torrent: { stays: { 'web seed': rightBytes } },
      tracker: dash('Each response to an announce may differ from the previous one.'),
    },
  },
]
