import type { StoredEvent } from './event.ts'

/** A stored event on its way to another thread: a copy of a Buffer is a plain array there, and takes the memory around it. */
export type ClonedEvent = Omit<StoredEvent, 'body'> & { readonly body: Uint8Array }

export const eventForThread = (stored: StoredEvent): ClonedEvent => ({ ...stored, body: new Uint8Array(stored.body) })

export const eventFromThread = (cloned: ClonedEvent): StoredEvent => ({
  ...cloned,
  body: Buffer.from(cloned.body.buffer, cloned.body.byteOffset, cloned.body.byteLength),
})
