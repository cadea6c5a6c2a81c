import { formatBytes } from '@shoal/core/units'
import { editCalls, type ModelFile, type ModelRecord } from '@shoal/protocol/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useCalls, useClient } from '../api/context.ts'
import { allFilesQuery } from '../api/queries.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Name } from '../ui/name.tsx'
import { Failure } from '../ui/problem.tsx'

/** All files of a model, including those that are not ready. */
export function EditFiles({ model }: { model: ModelRecord }) {
  const files = useQuery(allFilesQuery(useClient(), model.name))
  const push = `/publish?${new URLSearchParams({ model: model.name })}`
  return (
    <section aria-labelledby="edit-files-title">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-3">
        <h2 id="edit-files-title" className="font-semibold text-[22px]">
          Files
        </h2>
        <a href={push} className="ctl h-9">
          Add a file
        </a>
      </div>
      {files.isError && <Failure as="h2" error={files.error} onRetry={() => files.refetch()} />}
      {files.isPending && <div className="skeleton h-24" aria-busy="true" />}
      {files.data?.length === 0 && <p className="text-ink-3">No files yet.</p>}
      <ul>
        {files.data?.map((file) => (
          <FileLine key={file.id} model={model} file={file} />
        ))}
      </ul>
    </section>
  )
}

const statusWords: Record<string, string> = {
  uploading: 'uploading',
  processing: 'checking',
  failed: 'failed',
  expired: 'expired',
}

function FileLine({ model, file }: { model: ModelRecord; file: ModelFile }) {
  const { deleteFile } = useCalls(editCalls)
  const queryClient = useQueryClient()
  const dialog = useRef<HTMLDialogElement>(null)
  const remove = useMutation({
    mutationFn: () => deleteFile(model.id, file.id),
    onSuccess: () => queryClient.invalidateQueries(),
  })
  const { filename, file_size_bytes, status, status_detail, quantization } = file
  const fileStatus = statusWords[status]
  return (
    <li className="flex items-center gap-4 border-line border-t py-3 text-[15px] sm:gap-6">
      <div className="min-w-0 flex-1">
        <p className="break-all font-mono text-[14px]">
          <Name text={filename} />
        </p>
        <p className="text-[14px] text-ink-3">
          {[quantization, formatBytes(file_size_bytes), fileStatus].filter(Boolean).join(' · ')}
        </p>
        {status_detail && <p className="text-[14px] text-roe-ink">{status_detail}</p>}
      </div>
      <button type="button" className="ctl h-9" onClick={() => dialog.current?.showModal()}>
        Delete<span className="sr-only"> {filename}</span>
      </button>
      <ConfirmDialog
        dialog={dialog}
        title={`Delete ${filename}?`}
        action="Delete file"
        isBusy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
      >
        Once deleted, the file can no longer be pulled from this registry. Existing copies are not
        affected.
      </ConfirmDialog>
    </li>
  )
}
