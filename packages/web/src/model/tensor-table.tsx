import { formatBytes, formatCount } from '@shoal/core/units'
import type { FileRecord } from '@shoal/protocol/client'

/** The tensor types of the weights, with the type that takes up the most bytes first. */
export function TensorTable({ tensors }: { tensors: NonNullable<FileRecord['tensors']> }) {
  const types = Object.entries(tensors.types).sort(([, a], [, b]) => b.bytes - a.bytes)
  return (
    <section aria-labelledby="tensors-title" className="mt-10">
      <h2 id="tensors-title" className="mb-2 font-semibold text-[20px]">
        Tensors
      </h2>
      <table className="w-full text-[14px] tabular-nums">
        <thead>
          <tr className="text-left text-ink-3 *:py-2 *:font-medium">
            <th scope="col">Type</th>
            <th scope="col" className="text-right">
              Tensors
            </th>
            <th scope="col" className="text-right">
              Weights
            </th>
            <th scope="col" className="text-right">
              Size
            </th>
          </tr>
        </thead>
        <tbody className="font-mono text-[13px]">
          {types.map(([type, { count, parameters, bytes }]) => (
            <tr key={type} className="border-line border-t *:py-2">
              <th scope="row" className="text-left font-normal">
                {type}
              </th>
              <td className="text-right">{count.toLocaleString('en')}</td>
              <td className="text-right">{formatCount(parameters)}</td>
              <td className="text-right">{formatBytes(bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
