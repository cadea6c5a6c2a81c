import { splitAtQuantizations } from '@shoal/model-file/choices'

/** The name of a model or file. Where lines may break anywhere (`break-all`), they still don't within a quantization. */
export function Name({ text }: { text: string }) {
  return splitAtQuantizations(text).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other key
      <span key={index} className="whitespace-nowrap">
        {part}
      </span>
    ) : (
      part
    ),
  )
}
