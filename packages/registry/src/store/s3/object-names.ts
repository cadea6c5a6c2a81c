/**
 * Object names in the bucket. All names begin with the prefix, so that several registries can share a bucket. Keys are
 * UUIDs; objects with other names are never listed or removed.
 */

export type ObjectNames = ReturnType<typeof objectNames>

const keyForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export function objectNames(prefix: string) {
  const objects = `${prefix}objects/`
  return {
    /** The prefix of all objects' names. */
    objects,
    identity: `${prefix}identity`,
    /** The name of the object that the probe uploads at startup. */
    probe: (id: string) => `${prefix}probes/${id}`,
    toName: (key: string) => objects + key,
    /** Returns the key of an object, or undefined if the name is not one of the registry's object names. */
    toKey(name: string): string | undefined {
      const key = name.startsWith(objects) ? name.slice(objects.length) : ''
      return keyForm.test(key) ? key : undefined
    },
  }
}
