import { hash as digestOf } from 'node:crypto'

/**
 * Identifies a user of an app in counts: 52 bits of a hash of the project and the client's key (an event's user, a
 * session's distinct id). It differs between projects.
 */
export const hashUser = (projectId: string, key: string): number =>
  Number.parseInt(digestOf('sha256', `${projectId}\n${key}`, 'hex').slice(0, 13), 16)
