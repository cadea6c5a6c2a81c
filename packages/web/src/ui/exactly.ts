/** Options for links that are only active if path and parameters match exactly. */
export const exactly = { exact: true, includeSearch: true }
