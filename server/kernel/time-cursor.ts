import { z } from 'zod'
import { invalid } from './errors.ts'

/** Time and id of the last entry of a page. */
export type TimeCursor = { readonly at: Date; readonly id: string }

const Parts = z.tuple([z.iso.datetime(), z.uuid()])

export const encodeTimeCursor = ({ at, id }: TimeCursor): string =>
  Buffer.from(JSON.stringify([at.toISOString(), id])).toString('base64url')

/** @throws AppError invalid when the text is not a cursor */
export function decodeTimeCursor(text: string): TimeCursor {
  let given: unknown
  try {
    given = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    given = null
  }
  const parts = Parts.safeParse(given)
  if (!parts.success) throw invalid('cursor is not valid for this list. Use next_cursor of its previous page.')
  return { at: new Date(parts.data[0]), id: parts.data[1] }
}
