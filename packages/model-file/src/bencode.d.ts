declare module 'bencode' {
  type Value =
    | number
    | string
    | Uint8Array
    | readonly Value[]
    | { readonly [key: string]: Value | undefined }

  const bencode: {
    /** Sorts the keys of dictionaries. Leaves out what is undefined. */
    encode(value: Value): Uint8Array
    decode(bytes: Uint8Array): unknown
  }
  export default bencode
}
