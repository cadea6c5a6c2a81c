/** A file that the visitor gave, with the handle by which it can be had again where the browser has such. */
export type Picked = { file: File; handle?: FileSystemFileHandle | undefined }

/** Chromium alone, on pages that came by HTTPS or from this machine. */
type WithHandle = { getAsFileSystemHandle?: () => Promise<FileSystemHandle | null> }
type WithPermission = {
  queryPermission?: (mode: { mode: 'read' }) => Promise<PermissionState>
  requestPermission?: (mode: { mode: 'read' }) => Promise<PermissionState>
}

/** To be called while the drop is handled: later its items are gone. */
export async function pickedByDrop({ items }: DataTransfer): Promise<Picked[]> {
  const dropped = [...items].flatMap((item) => {
    const file = item.getAsFile()
    const handle = (item as WithHandle).getAsFileSystemHandle?.()
    return file ? [{ file, handle }] : []
  })
  return Promise.all(
    dropped.map(async ({ file, handle }) => {
      const found = await handle?.catch(() => null) // what another page gave has none
      return { file, handle: found?.kind === 'file' ? (found as FileSystemFileHandle) : undefined }
    }),
  )
}

/** The file again, after the visitor has allowed it. Undefined where it is gone or not allowed. */
export async function fileAgain(handle: FileSystemFileHandle): Promise<File | undefined> {
  const asked = handle as WithPermission
  const read = { mode: 'read' } as const
  const before = await asked.queryPermission?.(read)
  const state = before === 'granted' ? before : await asked.requestPermission?.(read)
  if (state !== 'granted') return undefined
  try {
    return await handle.getFile()
  } catch (error) {
    if (error instanceof DOMException && error.name === 'NotFoundError') return undefined
    throw error
  }
}
