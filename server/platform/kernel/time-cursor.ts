import { z } from 'zod'
import { readCursor, writeCursor } from './cursor.ts'

/** Time and id of the last entry of a page. */
export type TimeCursor = { readonly at: Date; readonly id: string }

// Any 128 bits: trace ids are no UUIDs of a version.
const Parts = z.tuple([z.iso.datetime(), z.guid()])

export const encodeTimeCursor = ({ at, id }: TimeCursor): string => writeCursor(at, id)

/** @throws AppError invalid when the text is not a cursor */
export function decodeTimeCursor(text: string): TimeCursor {
  const [at, id] = readCursor(text, Parts)
  return { at: new Date(at), id }
}
