/** Options for links that are active only if the path and the parameters match exactly. */
export const exactly = { exact: true, includeSearch: true }
