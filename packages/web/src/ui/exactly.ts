/** For links of which one is current: the router's own mark goes by the whole address, ours by what the screen shows. */
export const exactly = { exact: true, includeSearch: true }
