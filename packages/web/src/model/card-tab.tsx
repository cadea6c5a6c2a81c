import type { ModelRecord } from '@shoal/protocol/client'

export function CardTab({ model }: { model: ModelRecord }) {
  return <pre className="whitespace-pre-wrap pt-6">{model.readme}</pre>
}
