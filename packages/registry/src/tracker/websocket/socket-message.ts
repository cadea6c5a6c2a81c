import { invalid } from '../../errors.ts'
import { type Announce, toAnnounce, twentyBytes } from '../announce/announce.ts'
import { maxScrapedTorrents } from '../announce/read-http-scrape.ts'

/** A message from a browser to the tracker, in JSON. Binary values are strings with one character per byte. */
export type SocketMessage =
  | { action: 'announce'; announce: Announce; offers: Offer[]; answer: Answer | undefined }
  | { action: 'scrape'; infoHashes: string[] }

/** An offer to connect, addressed to any other peer. */
export type Offer = { offer: Description; offerId: string }
/** The answer from a peer that received an offer. */
export type Answer = { answer: Description; offerId: string; toPeerId: string }
/** A WebRTC session description. The tracker relays only these fields. */
export type Description = { type: 'offer' | 'answer'; sdp: string }

type Fields = Record<string, unknown>

/** Maximum number of offers in an announce. Clients send 5 or 10. */
const maxOffers = 10
const maxOfferIdLength = 64

export function readSocketMessage(text: string): SocketMessage {
  const fields = parse(text)
  if (fields.action === 'scrape') return { action: 'scrape', infoHashes: readInfoHashes(fields) }
  if (fields.action !== 'announce') throw invalid('action must be announce or scrape')
  return {
    action: 'announce',
    announce: toAnnounce((name) => textIn(fields, name)),
    offers: readOffers(fields.offers),
    answer: fields.answer == null ? undefined : readAnswer(fields),
  }
}

function parse(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text)
    if (isFields(value)) return value
  } catch {
    throw invalid('the message is not valid JSON')
  }
  throw invalid('the message must be a JSON object')
}

function readInfoHashes({ info_hash }: Fields): string[] {
  const hashes = Array.isArray(info_hash) ? info_hash : [info_hash]
  if (hashes.length > maxScrapedTorrents)
    throw invalid(`a scrape may contain at most ${maxScrapedTorrents} torrents`)
  return hashes.map((hash) => twentyBytes('info_hash', typeof hash === 'string' ? hash : undefined))
}

function readOffers(offers: unknown): Offer[] {
  if (offers == null) return []
  if (!Array.isArray(offers)) throw invalid('offers must be a list')
  return offers.slice(0, maxOffers).map((entry: unknown) => {
    if (!isFields(entry)) throw invalid('an offer must be an object')
    return { offer: readDescription(entry.offer, 'offer'), offerId: readOfferId(entry) }
  })
}

function readAnswer(fields: Fields): Answer {
  return {
    answer: readDescription(fields.answer, 'answer'),
    offerId: readOfferId(fields),
    toPeerId: twentyBytes('to_peer_id', textIn(fields, 'to_peer_id')),
  }
}

function readDescription(value: unknown, type: 'offer' | 'answer'): Description {
  if (!isFields(value) || value.type !== type || typeof value.sdp !== 'string') {
    throw invalid(`an ${type} must be an object with the type "${type}" and a string sdp`)
  }
  return { type, sdp: value.sdp }
}

function readOfferId({ offer_id }: Fields): string {
  if (typeof offer_id === 'string' && offer_id.length <= maxOfferIdLength) return offer_id
  throw invalid(`offer_id must be a string of at most ${maxOfferIdLength} characters`)
}

/** Returns a field as text. Clients may send a number as a string or as a JSON number. */
function textIn(fields: Fields, name: string): string | undefined {
  const value = fields[name]
  if (value == null) return undefined
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw invalid(`${name} must be a string or a number`)
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
