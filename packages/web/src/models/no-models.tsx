import { Link } from '@tanstack/react-router'
import { CopyButton } from '../ui/copy-button.tsx'

export function NothingFound() {
  return (
    <div className="border-line border-t py-16">
      <p className="font-display font-semibold text-xl">Nothing in the net</p>
      <p className="mt-2 text-ink-2">
        No model matches. Loosen a filter, or search by architecture or tag.
      </p>
      <Link to="/" className="ctl mt-5">
        Clear everything
      </Link>
    </div>
  )
}

const pushCommand = 'shoal push ./model.gguf --name my-model'

export function EmptyRegistry() {
  return (
    <div className="border-line border-t py-16">
      <p className="font-display font-semibold text-xl">No models yet</p>
      <p className="mt-2 text-ink-2">
        <Link to="/publish" className="link">
          Publish one
        </Link>{' '}
        from here, or with the command line:
      </p>
      <p className="mt-4 flex max-w-xl items-center justify-between gap-3 rounded-xl bg-sunken py-1.5 pr-1.5 pl-4">
        <code className="overflow-x-auto font-mono text-[14px]">{pushCommand}</code>
        <CopyButton value={pushCommand} label="Copy the command" className="ctl-quiet" />
      </p>
    </div>
  )
}
