import { type Fish, fishShape, school } from '@shoal/web/school'
import { encodePng } from './encode-png.ts'

/**
 * The size of a picture in link previews. https://ogp.me does not define a size, but most sites crop pictures to about
 * this size.
 */
const width = 1200
const height = 630
/** Number of sample rows per pixel row. */
const rowsPerPixel = 4

type Color = readonly [red: number, green: number, blue: number]
const water: Color = [235, 242, 244]
const sea: Color = [58, 140, 158]
const roe: Color = [240, 84, 32]

type Point = { x: number; y: number }

/** Draws a model's school of fish as a PNG. */
export function drawSchool(name: string, parameters: number): Buffer {
  const pixels = Buffer.alloc(width * height * 3)
  for (let at = 0; at < pixels.length; at += 3) pixels.set(water, at)
  const size = 64
  const scale = height / size
  for (const fish of school(name, parameters, size)) {
    const outline = computeOutline(fish).map(({ x, y }) => ({
      x: (x - size / 2) * scale + width / 2,
      y: y * scale,
    }))
    fill(pixels, outline, { color: fish.isLead ? roe : sea, opacity: fish.opacity })
  }
  return encodePng(pixels, { width, height })
}

/** Computes the outline of one fish as a polygon. */
function computeOutline({ x, y, angle, scale }: Fish): Point[] {
  const turn = (angle * Math.PI) / 180
  const [cos, sin] = [Math.cos(turn) * scale, Math.sin(turn) * scale]
  return shape.map((point) => ({
    x: x + point.x * cos - point.y * sin,
    y: y + point.x * sin + point.y * cos,
  }))
}

const curveSteps = 12

/** The points of the path `fishShape`, which contains only the commands `M`, `C`, `L` and `Z`. */
const shape: Point[] = (() => {
  const points: Point[] = []
  for (const [, command, text = ''] of fishShape.matchAll(/([MCLZ])([^MCLZ]*)/g)) {
    const numbers = (text.match(/-?\d*\.?\d+/g) ?? []).map(Number)
    const coordinates = Array.from({ length: numbers.length / 2 }, (_, index) => ({
      x: numbers[index * 2] ?? 0,
      y: numbers[index * 2 + 1] ?? 0,
    }))
    if (command !== 'C') points.push(...coordinates)
    else {
      for (let at = 0; at < coordinates.length; at += 3) {
        const curve = [points.at(-1), ...coordinates.slice(at, at + 3)] as [
          Point,
          Point,
          Point,
          Point,
        ]
        for (let step = 1; step <= curveSteps; step += 1) {
          points.push(pointOn(curve, step / curveSteps))
        }
      }
    }
  }
  return points
})()

function pointOn([a, b, c, d]: [Point, Point, Point, Point], t: number): Point {
  const s = 1 - t
  const mix = (coordinate: (point: Point) => number) =>
    s ** 3 * coordinate(a) +
    3 * s * s * t * coordinate(b) +
    3 * s * t * t * coordinate(c) +
    t ** 3 * coordinate(d)
  return { x: mix(({ x }) => x), y: mix(({ y }) => y) }
}

/** Fills a polygon with anti-aliasing. */
function fill(
  pixels: Buffer,
  outline: readonly Point[],
  { color, opacity }: { color: Color; opacity: number },
) {
  const ys = outline.map(({ y }) => y)
  const first = Math.max(0, Math.floor(Math.min(...ys)))
  const last = Math.min(height - 1, Math.ceil(Math.max(...ys)))
  for (let row = first; row <= last; row += 1) {
    const covered = new Float32Array(width)
    for (let sample = 0; sample < rowsPerPixel; sample += 1) {
      coverRow(covered, crossingsAt(outline, row + (sample + 0.5) / rowsPerPixel))
    }
    for (let column = 0; column < width; column += 1) {
      const share = ((covered[column] ?? 0) / rowsPerPixel) * opacity
      if (share === 0) continue
      for (const [part, value] of color.entries()) {
        const at = (row * width + column) * 3 + part
        pixels[at] = Math.round((pixels[at] ?? 0) * (1 - share) + value * share)
      }
    }
  }
}

/** Returns the intersections of a horizontal line with the polygon, from left to right. */
function crossingsAt(outline: readonly Point[], y: number): number[] {
  return outline
    .flatMap((from, index) => {
      const to = outline[(index + 1) % outline.length] as Point
      const crosses = from.y <= y !== to.y <= y
      return crosses ? [from.x + ((y - from.y) / (to.y - from.y)) * (to.x - from.x)] : []
    })
    .sort((a, b) => a - b)
}

/** Adds to the coverage of each pixel in a row the share of the pixel's width that lies between a pair of crossings. */
function coverRow(covered: Float32Array, crossings: number[]) {
  for (let pair = 0; pair + 1 < crossings.length; pair += 2) {
    const start = Math.max(0, crossings[pair] ?? 0)
    const end = Math.min(width, crossings[pair + 1] ?? 0)
    for (let column = Math.floor(start); column < end; column += 1) {
      const share = Math.min(end, column + 1) - Math.max(start, column)
      covered[column] = (covered[column] ?? 0) + share
    }
  }
}
