/**
 * Whether Windows reserves a name for a device, such as `con` or `nul.gguf`, so that no file or folder can have it. The
 * rest of the name after a dot does not matter, and neither do spaces before the dot.
 */
export const isReservedName = (name: string): boolean =>
  /^(con|prn|aux|nul|com\d|lpt\d) *(\.|$)/i.test(name)
