import { z } from 'zod'
import { readCursor, writeCursor } from './cursor.ts'

/** Time and id of the last entry of a page. */
export type TimeCursor = { readonly at: Date; readonly id: string }

const Parts = z.tuple([z.iso.datetime(), z.uuid()])

export const encodeTimeCursor = ({ at, id }: TimeCursor): string => writeCursor(at, id)

/** @throws AppError invalid when the text is not a cursor */
export function decodeTimeCursor(text: string): TimeCursor {
  const [at, id] = readCursor(text, Parts)
  return { at: new Date(at), id }
}
