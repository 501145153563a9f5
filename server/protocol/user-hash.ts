import { hash as digestOf } from 'node:crypto'

/**
 * Stands for a person in everything that is counted: 52 bits of a hash over project and the key a client names them by
 * (an event's user, a session's distinct id). The same person in two projects is two.
 */
export const hashUser = (projectId: string, key: string): number =>
  Number.parseInt(digestOf('sha256', `${projectId}\n${key}`, 'hex').slice(0, 13), 16)
