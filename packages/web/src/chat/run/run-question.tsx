import { formatRunTarget, type RunTarget } from '@shoal/core/references'
import { formatBytes } from '@shoal/core/units'
import type { DaemonRegistry, RegistryFile } from '@shoal/protocol/inference-client'
import { useEffect, useRef, useState } from 'react'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useObservable } from '../../use-observable.ts'
import type { ChatFailure } from '../conversation/conversation.ts'
import { FaultNotice } from '../messages/models-problem.tsx'
import type { ModelStore } from '../models/model-store.ts'
import { PullProgress } from '../models/pull-progress.tsx'
import { toRegistryFailure } from '../models/to-registry-failure.ts'
import { RunFacts } from './run-facts.tsx'
import { useIsSettled } from './use-is-settled.ts'

type Props = {
  target: RunTarget
  /** The registry, if it is known to this machine. */
  known: DaemonRegistry | undefined
  store: ModelStore
  onChat: (id: string) => void
  onClose: () => void
}

/**
 * After the first click, the daemon requests the file's size from the registry. After the second click, it downloads
 * the file. If the registry is unknown, a dialog asks for confirmation before the first request.
 */
export function RunQuestion({ target, known, store, onChat, onClose }: Props) {
  const model = formatRunTarget(target)
  const options = { allowUnknown: known === undefined }
  const pull = useObservable(store.pulls).get(model)
  const [file, setFile] = useState<RegistryFile>()
  const [isAsking, setAsking] = useState(false)
  const [fault, setFault] = useState<ChatFailure>()
  const dialog = useRef<HTMLDialogElement>(null)
  const abort = useRef<AbortController>(undefined)
  const isSettled = useIsSettled()
  const { host } = new URL(target.registry)

  useEffect(() => () => abort.current?.abort(), [])
  const pulledId = pull?.state === 'done' ? (pull.id ?? target.name) : undefined
  useEffect(() => {
    if (pulledId === undefined) return
    store.forget(model)
    onChat(pulledId)
  }, [pulledId, model, store, onChat])

  async function ask() {
    abort.current = new AbortController()
    const { signal } = abort.current
    setFault(undefined)
    setAsking(true)
    try {
      setFile(await store.findFile(model, { ...options, signal }))
    } catch (error) {
      if (!signal.aborted) setFault(toRegistryFailure(error, target.registry))
    } finally {
      if (!signal.aborted) setAsking(false)
    }
  }

  const isPulling = pull?.state === 'starting' || pull?.state === 'running'
  const shown = pull?.state === 'failed' ? pull.fault : fault
  const download = file && (file.fits ? 'Download and run' : 'Download anyway')
  return (
    <>
      <RunFacts target={target} known={known} file={file} />
      {shown && (
        <div className="mt-4" role="alert">
          <FaultNotice fault={shown} />
        </div>
      )}
      <div className="mt-6 flex flex-wrap gap-3">
        {isPulling && (
          <PullProgress name={target.name} pull={pull} onCancel={() => store.cancel(model)} />
        )}
        {!(isPulling || file) && (
          <button
            key="continue"
            type="button"
            className="ctl-ink"
            disabled={!isSettled || isAsking}
            onClick={() => (known ? void ask() : dialog.current?.showModal())}
          >
            {isAsking ? 'Contacting the registry …' : fault ? 'Try again' : 'Continue'}
          </button>
        )}
        {!isPulling && file?.local_model && (
          <button
            key="chat"
            type="button"
            className="ctl-ink"
            disabled={!isSettled}
            onClick={() => file.local_model && onChat(file.local_model)}
          >
            Chat
          </button>
        )}
        {!isPulling && file && !file.local_model && (
          <button
            key="download"
            type="button"
            className="ctl-ink"
            disabled={!isSettled}
            onClick={() => void store.pull(model, { ...options, file })}
          >
            {download} ({formatBytes(file.size_bytes)})
          </button>
        )}
        {!isPulling && (
          <button type="button" className="ctl" onClick={onClose}>
            Cancel
          </button>
        )}
      </div>
      <p className="mt-4 text-[14px] text-ink-3" role="status">
        {file?.local_model && 'This file is already on this machine.'}
        {!(file || isAsking || fault) &&
          'A link opened this page. Nothing has been sent to the registry yet.'}
      </p>
      <ConfirmDialog
        dialog={dialog}
        title={`Contact ${host}?`}
        action="Contact this registry"
        onConfirm={() => {
          dialog.current?.close()
          void ask()
        }}
      >
        This registry is not configured on this machine. The daemon will request details about{' '}
        {target.name} without signing in. Nothing will be downloaded until you have seen the size.
      </ConfirmDialog>
    </>
  )
}
