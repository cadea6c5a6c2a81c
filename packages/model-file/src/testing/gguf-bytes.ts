import { type GgufValueType, valueTypes } from '../gguf/gguf-values.ts'

export type Scalar = string | boolean | number | bigint

/**
 * A metadata value. The default type is u32 for an integer (i32 if negative), f32 for any other number, u64 for a
 * bigint, and the type of the first item for an array. For an array, `type` is the type of its items.
 */
export type MetadataInput = Scalar | Scalar[] | { type: GgufValueType; value: Scalar | Scalar[] }

/** Writes a little-endian header step by step, so that tests can also write invalid headers. */
export class GgufBytes {
  readonly #parts: Uint8Array[] = []

  raw(bytes: Uint8Array | string): this {
    this.#parts.push(typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes)
    return this
  }

  u32(value: number): this {
    return this.scalar('u32', value)
  }

  u64(value: number | bigint): this {
    return this.scalar('u64', value)
  }

  string(text: string): this {
    const bytes = new TextEncoder().encode(text)
    return this.u64(bytes.length).raw(bytes)
  }

  type(type: GgufValueType): this {
    return this.u32(valueTypes.indexOf(type))
  }

  /** Writes a value preceded by its type. */
  value(input: MetadataInput): this {
    if (Array.isArray(input)) return this.#array(findType(input[0] ?? ''), input)
    const { type, value } =
      typeof input === 'object' ? input : { type: findType(input), value: input }
    if (Array.isArray(value)) return this.#array(type, value)
    return this.type(type).scalar(type, value)
  }

  #array(type: GgufValueType, items: Scalar[]): this {
    this.type('array').type(type).u64(items.length)
    for (const item of items) this.scalar(type, item)
    return this
  }

  scalar(type: GgufValueType, value: Scalar): this {
    if (type === 'string') return this.string(String(value))
    const view = new DataView(new ArrayBuffer(8))
    return this.raw(new Uint8Array(view.buffer, 0, write(view, type, value)))
  }

  toBytes(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.#parts))
  }
}

function findType(value: Scalar): GgufValueType {
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'u64'
  if (!Number.isInteger(value)) return 'f32'
  return value < 0 ? 'i32' : 'u32'
}

/** Returns the number of bytes written. */
function write(view: DataView, type: GgufValueType, value: Scalar): number {
  switch (type) {
    case 'u8':
    case 'i8':
    case 'bool':
      view.setUint8(0, Number(value))
      return 1
    case 'u16':
    case 'i16':
      view.setUint16(0, Number(value), true)
      return 2
    case 'u32':
    case 'i32':
      view.setUint32(0, Number(value), true)
      return 4
    case 'u64':
    case 'i64':
      view.setBigUint64(0, BigInt(value), true)
      return 8
    case 'f32':
      view.setFloat32(0, Number(value), true)
      return 4
    case 'f64':
      view.setFloat64(0, Number(value), true)
      return 8
    default:
      throw new TypeError(`cannot write a single ${type}`)
  }
}
