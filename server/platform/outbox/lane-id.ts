import { createHash } from 'node:crypto'
import { hyphenate } from '../kernel/ids.ts'

/** The lane of what the text names: always the same UUID, for a lane that no row of another table stands for. */
export function laneIdFor(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return hyphenate(`${hex.slice(0, 12)}8${hex.slice(13, 16)}8${hex.slice(17, 32)}`)
}
