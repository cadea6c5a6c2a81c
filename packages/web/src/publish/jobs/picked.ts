/** A file chosen by the visitor, with a handle to read it again later, if the browser supports that. */
export type Picked = { file: File; handle?: FileSystemFileHandle | undefined }

/** A method that only Chromium supports, and only on pages loaded over HTTPS or from localhost. */
type WithHandle = { getAsFileSystemHandle?: () => Promise<FileSystemHandle | null> }
type WithPermission = {
  queryPermission?: (mode: { mode: 'read' }) => Promise<PermissionState>
  requestPermission?: (mode: { mode: 'read' }) => Promise<PermissionState>
}

/**
 * Returns the dropped files. Must be called in the handler of the drop event, because the event's items become
 * unavailable later.
 */
export async function pickedByDrop({ items }: DataTransfer): Promise<Picked[]> {
  const dropped = [...items].flatMap((item) => {
    const file = item.getAsFile()
    const handle = (item as WithHandle).getAsFileSystemHandle?.()
    return file ? [{ file, handle }] : []
  })
  return Promise.all(
    dropped.map(async ({ file, handle }) => {
      const found = await handle?.catch(() => null) // files dragged from another page have no handle
      return { file, handle: found?.kind === 'file' ? (found as FileSystemFileHandle) : undefined }
    }),
  )
}

/**
 * Reads the file again, with the visitor's permission. Returns undefined if the file no longer exists or permission is
 * denied.
 */
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
