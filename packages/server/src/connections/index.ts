/** Limits for connections: their number, and how long they may stall. */
export { limitConnections } from './connection-limit.ts'
export { connectionSlots } from './connection-slots.ts'
export { endStalledConnections } from './stalled-connections.ts'
