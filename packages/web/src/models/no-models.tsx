import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useCommands } from '../api/use-commands.ts'

/** Loaded only if there are no models, so that the model list loads less code. */
const CommandLine = lazy(async () => ({
  default: (await import('../ui/command-line.tsx')).CommandLine,
}))

export function NothingFound() {
  return (
    <div className="border-line border-t py-16">
      <p className="font-display font-semibold text-xl">No models found</p>
      <p className="mt-2 text-ink-2">Remove a filter, or search by architecture or tag.</p>
      <Link to="/" className="ctl mt-5">
        Clear all
      </Link>
    </div>
  )
}

export function EmptyRegistry() {
  const { registryOption } = useCommands()
  const command = `shoal push ./model.gguf --name my-model${registryOption}`
  return (
    <div className="border-line border-t py-16">
      <p className="font-display font-semibold text-xl">No models yet</p>
      <p className="mt-2 text-ink-2">
        <Link to="/publish" className="link">
          Publish one
        </Link>{' '}
        here or with the CLI:
      </p>
      <Suspense fallback={<PlainCommand text={command} />}>
        <CommandLine text={command} className="mt-4 max-w-xl" />
      </Suspense>
    </div>
  )
}

/** Looks like a `CommandLine`. Rendered on the server, and shown until the code of `CommandLine` has loaded. */
function PlainCommand({ text }: { text: string }) {
  return (
    <p className="mt-4 flex min-h-12 max-w-xl items-center rounded-xl bg-sunken py-1 pr-14 pl-4">
      <code className="font-mono text-[14px] leading-5">{text}</code>
    </p>
  )
}
