/**
 * Computes the school of fish that represents a model. The arrangement is determined by the model's name, and the
 * number of fish by its parameter count. One of the fish leads the school.
 */

export type Fish = {
  x: number
  y: number
  /** The rotation in degrees. */
  angle: number
  scale: number
  opacity: number
  isLead: boolean
}

/** The SVG path of a fish that faces right. It is centered at 0,0 and about 12 units long. */
export const fishShape =
  'M6.2 0C4.3-2.3 1.2-2.9-1.6-1.5L-4-.4-6.4-2.3C-5.9-.9-5.9.9-6.4 2.3L-4 .4-1.6 1.5C1.2 2.9 4.3 2.3 6.2 0Z'

type Point = { x: number; y: number }
type Place = () => Point

/** Places a model's fish in a square with sides of length `size`. */
export function school(name: string, parameters: number, size = 64): Fish[] {
  const random = randomFrom(hashText(name))
  const billions = parameters / 1e9
  const count = clamp(Math.round(2.4 + Math.log2(1 + billions) * 1.7), 3, 13)
  const course = (random() - 0.5) * 1.5
  const curl = (random() - 0.5) * 1.3
  const reach = count > 7 ? 0.355 : count > 4 ? 0.32 : 0.27
  const anywhere: Place = () => {
    const angle = random() * 2 * Math.PI
    const radius = Math.sqrt(random()) * reach * size
    return { x: size / 2 + Math.cos(angle) * radius, y: size / 2 + Math.sin(angle) * radius }
  }
  const places = spread(count, anywhere, { tries: 26, stretch: [0.62, 1.7] })
  const base = count > 10 ? 1.2 : count > 7 ? 1.26 : count > 4 ? 1.42 : 1.72
  const fish = places.map(({ x, y }): Fish => {
    const angle = course + curl * ((y - size / 2) / size) * 2
    return {
      x,
      y,
      angle: degrees(angle),
      scale: base * (0.9 + random() * 0.22),
      opacity: 0.55 + random() * 0.45,
      isLead: false,
    }
  })
  return withLead(fish, course)
}

type Swimmer = { parameters: number; isLead: boolean }

/** Places one large school, with one fish for each swimmer, in a box of this width and height. */
export function greatSchool(swimmers: readonly Swimmer[], width: number, height: number): Fish[] {
  const random = randomFrom(41)
  const bend = 4.4
  const roominess = clamp(Math.sqrt(90 / swimmers.length), 1, 3)
  const inTheStream: Place = () => {
    const along = random()
    const room = Math.sin(Math.PI * Math.min(1, along * 0.94 + 0.05)) ** 0.8
    const aside = (random() + random() - 1) * height * 0.4 * room
    const middle = height * (0.5 + 0.13 * Math.sin(along * bend + 0.5))
    return { x: 14 + along * (width - 28), y: middle + aside }
  }
  const places = spread(swimmers.length, inTheStream, { tries: 9, stretch: [0.5, 1.6] })
  return places.map(({ x, y }, index): Fish => {
    const { parameters, isLead } = swimmers[index] as Swimmer
    const slope = 0.13 * bend * Math.cos((x / width) * bend + 0.5) * (height / width)
    return {
      x,
      y,
      angle: degrees(Math.atan(slope)) + (random() - 0.5) * 16,
      scale: (0.62 + Math.min(1.3, Math.log2(1 + parameters / 1e9) * 0.19)) * roominess,
      opacity: isLead ? 1 : 0.28 + random() * 0.6,
      isLead,
    }
  })
}

/** Makes the foremost fish the leader, which is drawn in orange. */
function withLead(fish: Fish[], course: number): Fish[] {
  const ahead = ({ x, y }: Fish) => x * Math.cos(course) + y * Math.sin(course)
  const lead = fish.reduce((best, one) => (ahead(one) > ahead(best) ? one : best))
  return fish.map((one) => (one === lead ? { ...one, isLead: true, opacity: 1 } : one))
}

type Spread = {
  tries: number
  /** Weights of horizontal and vertical distances. */
  stretch: readonly [x: number, y: number]
}

/**
 * Places the points one by one. Each point gets the best of `tries` random positions: the one farthest from the points
 * already placed.
 */
function spread(count: number, place: Place, { tries, stretch: [sx, sy] }: Spread): Point[] {
  const points: Point[] = []
  const room = ({ x, y }: Point) =>
    points.reduce(
      (least, one) => Math.min(least, (one.x - x) ** 2 * sx + (one.y - y) ** 2 * sy),
      1e9,
    )
  for (let index = 0; index < count; index += 1) {
    const candidates = Array.from({ length: tries }, place)
    points.push(candidates.reduce((best, one) => (room(one) > room(best) ? one : best)))
  }
  return points
}

const clamp = (value: number, least: number, most: number) => Math.max(least, Math.min(most, value))
const degrees = (radians: number) => (radians * 180) / Math.PI

/** Computes an FNV-1a hash. */
function hashText(text: string): number {
  let hash = 2166136261
  for (const character of text) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16777619)
  }
  return hash >>> 0
}

/** Returns a generator of pseudorandom numbers from 0 to 1, determined by the seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
