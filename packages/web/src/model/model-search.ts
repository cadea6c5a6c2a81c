/** The URL parameters of a model's page. */
export type ModelScreenSearch = { tab?: 'files' | 'metadata'; images?: boolean }

export function readModelSearch(given: Record<string, unknown>): ModelScreenSearch {
  const { tab, images } = given
  return {
    ...((tab === 'files' || tab === 'metadata') && { tab }),
    ...(images === true || images === '1' || images === 'true' ? { images: true } : {}),
  }
}
