import { formatAge, formatContext, formatCount } from '@shoal/core/units'
import { ApiError, type ModelFile, type ModelRecord } from '@shoal/protocol/client'
import { formatPath, pageFiles, pages } from '@shoal/protocol/pages'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, Navigate } from '@tanstack/react-router'
import { useClient } from '../api/context.ts'
import { filesQuery, modelQuery } from '../api/queries.ts'
import { PageHead } from '../app/head.tsx'
import { exactly } from '../ui/exactly.ts'
import { Failure } from '../ui/problem.tsx'
import { CardTab } from './card-tab.tsx'
import { listChoices } from './choices.ts'
import { FilesTab } from './files-tab.tsx'
import { MetadataTab } from './metadata-tab.tsx'
import { ModelHeader } from './model-header.tsx'
import type { ModelScreenSearch } from './model-search.ts'
import { ModelSkeleton } from './model-skeleton.tsx'
import { NoModel } from './no-model.tsx'
import { UseThisModel } from './use-this-model.tsx'

const route = getRouteApi('/m/$name')

export function ModelScreen() {
  const { name } = route.useParams()
  const { tab } = route.useSearch()
  const client = useClient()
  const model = useQuery(modelQuery(client, name))
  const files = useQuery(filesQuery(client, name))
  if (model.isError) {
    const isUnknown =
      model.error instanceof ApiError && model.error.problem.code === 'model_unknown'
    return (
      <div className="page py-16">
        <PageHead title={name} isHidden />
        {isUnknown ? (
          <NoModel name={name} />
        ) : (
          <Failure error={model.error} onRetry={() => model.refetch()} />
        )}
      </div>
    )
  }
  if (model.isPending) return <ModelSkeleton />
  if (model.data.name !== name) {
    // The URL contains the model's ID or a former name.
    return (
      <Navigate to="/m/$name" params={{ name: model.data.name }} search={(all) => all} replace />
    )
  }
  const filesCount = files.data ? listChoices(files.data).length : model.data.files_count
  return (
    <div className="page pt-8">
      <PageHead {...makeHead(model.data)} />
      <ModelHeader model={model.data} />
      <Numbers model={model.data} filesCount={filesCount} />
      <div className={`mt-6 grid gap-x-14 gap-y-8 ${tab ? '' : 'lg:grid-cols-[1fr_348px]'}`}>
        <div className="min-w-0">
          <Tabs {...(tab && { tab })} filesCount={filesCount} />
          {files.isError && <Failure as="h2" error={files.error} onRetry={() => files.refetch()} />}
          {!files.isError && <Tab tab={tab} model={model.data} files={files.data} />}
        </div>
        {!tab && !files.isError && (
          <aside aria-label="Use this model" className="order-first min-w-0 lg:order-none lg:pt-2">
            {files.data ? (
              <UseThisModel model={model.data} files={files.data} />
            ) : (
              <div className="skeleton h-64" aria-busy="true" />
            )}
          </aside>
        )}
      </div>
    </div>
  )
}

type TabProps = {
  tab: ModelScreenSearch['tab']
  model: ModelRecord
  files: ModelFile[] | undefined
}

function Tab({ tab, model, files }: TabProps) {
  if (tab === 'files') return <FilesTab model={model} files={files} />
  if (tab === 'metadata') return <MetadataTab model={model} files={files} />
  return <CardTab model={model} />
}

const tabs = [
  { tab: undefined, title: 'Model card' },
  { tab: 'files', title: 'Files' },
  { tab: 'metadata', title: 'GGUF metadata' },
] as const

function Tabs({ tab, filesCount }: { tab?: ModelScreenSearch['tab']; filesCount: number }) {
  return (
    <nav aria-label="About this model" className="flex gap-7 overflow-x-auto border-line border-b">
      {tabs.map((one) => (
        <Link
          key={one.title}
          to="."
          search={one.tab ? { tab: one.tab } : {}}
          replace
          resetScroll={false}
          activeOptions={exactly}
          aria-current={one.tab === tab ? 'page' : undefined}
          className="-mb-px inline-flex h-12 items-center whitespace-nowrap border-transparent border-b-2 font-medium text-[15px] text-ink-2 hover:text-ink aria-[current]:border-roe aria-[current]:text-ink"
        >
          {one.title}
          {one.tab === 'files' && (
            <span className="ml-1.5 font-mono text-[13px] text-ink-3">{filesCount}</span>
          )}
        </Link>
      ))}
    </nav>
  )
}

/** `filesCount` is the number of choices; a split file is one choice. */
function Numbers({ model, filesCount }: { model: ModelRecord; filesCount: number }) {
  const { parameter_count, context_length } = model
  const numbers = [
    ['Parameters', parameter_count === null ? '–' : formatCount(parameter_count)],
    ['Context', context_length === null ? '–' : `${formatContext(context_length)} tokens`],
    ['Files', String(filesCount)],
    ['Downloads', formatCount(model.downloads)],
    ['Published', formatAge(model.created_at)],
  ] as const
  return (
    <dl className="mt-8 hidden grid-cols-5 divide-x divide-line border-line border-y sm:grid">
      {numbers.map(([title, value]) => (
        <div key={title} className="px-5 py-4 first:pl-0">
          <dt className="text-[13px] text-ink-3">{title}</dt>
          <dd className="mt-0.5 font-display font-semibold text-[19px] tabular-nums tracking-tight">
            {value}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function makeHead(model: ModelRecord) {
  const { name, display_name, architecture, license, owner, created_at, updated_at, tags } = model
  const description = model.description ?? `${display_name}, a language model in the GGUF format.`
  return {
    title: display_name,
    description,
    path: formatPath(pages.model, { name }),
    image: pageFiles.linkPreview,
    isHidden: !model.is_public,
    data: {
      '@context': 'https://schema.org',
      '@type': 'SoftwareSourceCode',
      name: display_name,
      description,
      author: { '@type': 'Person', name: owner },
      dateCreated: created_at,
      dateModified: updated_at,
      ...(license && { license }),
      keywords: [...tags, ...(architecture ? [architecture] : [])],
      runtimePlatform: 'GGUF',
    },
  }
}
