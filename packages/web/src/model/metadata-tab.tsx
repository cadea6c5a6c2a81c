import type { ModelFile, ModelRecord } from '@shoal/protocol/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient } from '../api/context.ts'
import { fileQuery } from '../api/queries.ts'
import { Failure } from '../ui/problem.tsx'
import { listChoices } from './choices.ts'
import { MetadataTable } from './metadata-table.tsx'
import { TensorTable } from './tensor-table.tsx'

type Props = { model: ModelRecord; files: readonly ModelFile[] | undefined }

/** The header of a file, as parsed by the registry. */
export function MetadataTab({ model, files }: Props) {
  const choices = listChoices(files ?? [])
  const [chosen, setChosen] = useState<string>()
  const choice = choices.find(({ label }) => label === chosen) ?? choices[0]
  if (!files) return <div className="skeleton mt-6 h-64" aria-busy="true" />
  if (!choice) return <p className="py-12 text-ink-2">No file is ready yet.</p>
  return (
    <div className="pt-6">
      {choices.length > 1 && (
        <label className="mb-5 inline-flex items-center gap-2.5 text-[15px] text-ink-2">
          File
          <select
            className="ctl h-9 font-mono"
            value={choice.label}
            onChange={({ target }) => setChosen(target.value)}
          >
            {choices.map(({ label }) => (
              <option key={label}>{label}</option>
            ))}
          </select>
        </label>
      )}
      <FileMetadata model={model} file={choice.files[0]} />
    </div>
  )
}

function FileMetadata({ model, file }: { model: ModelRecord; file: ModelFile }) {
  const record = useQuery(fileQuery(useClient(), model.id, file.id))
  if (record.isError) {
    return <Failure as="h2" error={record.error} onRetry={() => record.refetch()} />
  }
  if (record.isPending) return <div className="skeleton h-64" aria-busy="true" />
  const { metadata, tensors } = record.data
  return (
    <>
      <MetadataTable metadata={metadata ?? {}} />
      {tensors && <TensorTable tensors={tensors} />}
    </>
  )
}
