import { registryOption } from '@shoal/core/references'
import { formatMemory } from '@shoal/core/units'
import type { DaemonRegistry, RegistryModel, RegistryPage } from '@shoal/protocol/inference-client'
import { type FormEvent, useState } from 'react'
import { CommandLine } from '../../ui/command-line.tsx'
import { useObservable } from '../../use-observable.ts'
import { FaultNotice } from '../messages/models-problem.tsx'
import { FoundModel } from './found-model.tsx'
import type { ModelStore } from './model-store.ts'
import { toRegistryFailure } from './to-registry-failure.ts'
import { useAnswer } from './use-answer.ts'

type Props = { store: ModelStore; onChat: (id: string) => void }

const pageSize = 20

/** Searches the registries known to this machine. The daemon sends the requests to the registries. */
export function RegistrySearch({ store, onChat }: Props) {
  const registries = useAnswer('', store.listRegistries)
  const [chosen, setChosen] = useState<string>()
  const registry = chosen ?? registries.value?.[0]?.address
  return (
    <section aria-labelledby="find" className="mt-12">
      <h2 id="find" className="font-semibold text-[20px]">
        Find a model
      </h2>
      {registries.error !== undefined && (
        <div className="mt-3">
          <FaultNotice fault={toRegistryFailure(registries.error, undefined)} />
        </div>
      )}
      {registries.value?.length === 0 && <NoRegistries />}
      {registry !== undefined && (
        <Results
          store={store}
          onChat={onChat}
          registry={registry}
          registries={registries.value ?? []}
          onRegistry={setChosen}
        />
      )}
    </section>
  )
}

function NoRegistries() {
  return (
    <>
      <p className="mt-2 text-ink-2">
        No registry is configured. Sign in to one, or start the daemon with a registry’s address:
      </p>
      <CommandLine text="shoal serve --registry <address>" className="mt-3 max-w-md" />
    </>
  )
}

type ResultsProps = Props & {
  registry: string
  registries: readonly DaemonRegistry[]
  onRegistry: (address: string) => void
}

function Results({ store, onChat, registry, registries, onRegistry }: ResultsProps) {
  const [typed, setTyped] = useState('')
  const [q, setQuery] = useState('')
  const [isFitting, setFitting] = useState(true)
  const [limit, setLimit] = useState(pageSize)
  const [tries, setTries] = useState(0)
  const removals = useObservable(store.removals)
  const key = JSON.stringify([registry, q, isFitting, limit, tries, removals])
  const { value, error, isLoading } = useAnswer(key, (signal) =>
    store.search({ registry, q, fits: isFitting, limit }, signal),
  )

  function submit(event: FormEvent) {
    event.preventDefault()
    setLimit(pageSize)
    setQuery(typed.trim())
  }

  const page = value?.registry === registry ? value : undefined
  return (
    <>
      <form onSubmit={submit} className="mt-3 flex flex-wrap gap-2">
        <label className="min-w-0 flex-1">
          <span className="sr-only">Search models</span>
          <input
            type="search"
            className="field"
            placeholder="Search models"
            maxLength={500}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        </label>
        {registries.length > 1 && (
          <select
            aria-label="Registry"
            className="ctl max-w-full min-w-0 text-ellipsis font-mono text-[14px]"
            value={registry}
            onChange={({ target }) => {
              setLimit(pageSize)
              onRegistry(target.value)
            }}
          >
            {registries.map(({ address }) => (
              <option key={address} value={address}>
                {address.replace(/^https:\/\//, '')}
              </option>
            ))}
          </select>
        )}
        <button type="submit" className="ctl">
          Search
        </button>
      </form>
      <label className="mt-3 flex w-fit items-center gap-2 text-[15px] text-ink-2">
        <input
          type="checkbox"
          className="fits-only"
          checked={isFitting}
          onChange={({ target }) => setFitting(target.checked)}
        />
        Only models that fit in this machine’s memory
        {page && ` (${formatMemory(page.memory_limit_bytes)} for models)`}
      </label>
      <p className="sr-only" role="status">
        {!isLoading && page && countModels(page)}
      </p>
      {error !== undefined && (
        <div className="mt-4 grid justify-items-start gap-3">
          <FaultNotice fault={toRegistryFailure(error, registry)} />
          <button type="button" className="ctl" onClick={() => setTries(tries + 1)}>
            Try again
          </button>
        </div>
      )}
      {page?.is_token_refused && <SignedOut registry={registry} />}
      {isLoading && !page && <div className="skeleton mt-4 h-40" aria-busy="true" />}
      {page?.models.length === 0 && (
        <Nothing q={q} isFitting={isFitting} registry={registry} onAll={() => setFitting(false)} />
      )}
      {page && page.models.length > 0 && (
        <FoundList page={page} store={store} onChat={onChat} isStale={isLoading} />
      )}
      {page && page.models.length < Math.min(page.total, 100) && (
        <button
          type="button"
          className="ctl mt-4"
          disabled={isLoading}
          onClick={() => setLimit(Math.min(limit + pageSize, 100))}
        >
          Show more
        </button>
      )}
    </>
  )
}

function SignedOut({ registry }: { registry: string }) {
  return (
    <div role="status" className="mt-4 text-[15px] text-ink-2">
      <p>
        This machine’s sign-in to the registry is no longer valid, so only public models are shown.
        To sign in again:
      </p>
      <CommandLine text={`shoal login${registryOption(registry)}`} className="mt-2 max-w-md" />
    </div>
  )
}

function countModels({ total, is_total_exact }: RegistryPage): string {
  const number = is_total_exact ? String(total) : `more than ${total}`
  return total === 1 ? '1 model found' : `${number} models found`
}

type ListProps = Props & { page: RegistryPage; isStale: boolean }

function FoundList({ page, store, onChat, isStale }: ListProps) {
  return (
    <ul className="mt-4" aria-busy={isStale}>
      {page.models.map((model: RegistryModel) => (
        <FoundModel
          key={model.name}
          model={model}
          registry={page.registry}
          store={store}
          onChat={onChat}
        />
      ))}
    </ul>
  )
}

type NothingProps = { q: string; isFitting: boolean; registry: string; onAll: () => void }

function Nothing({ q, isFitting, registry, onAll }: NothingProps) {
  return (
    <div className="mt-4 border-line border-t py-10">
      <p className="break-words font-display font-semibold text-[18px]">
        {q ? `No models found for “${q}”` : 'No models found'}
      </p>
      <p className="mt-1 text-ink-2">
        {isFitting
          ? 'Models that do not fit in this machine’s memory are not shown.'
          : 'Try other search terms, or publish a model in the registry.'}
      </p>
      {isFitting ? (
        <button type="button" className="ctl mt-4" onClick={onAll}>
          Show all models
        </button>
      ) : (
        <a href={`${registry}/`} target="_blank" rel="noreferrer" className="ctl mt-4">
          Open the registry
        </a>
      )}
    </div>
  )
}
