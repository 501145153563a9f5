import { useState, type UIEvent } from 'react'

/** Up to so many rows are drawn as they are. */
const ALL_UP_TO = 400
/** Rows that are drawn outside the seen part. */
const SPARE = 20

/**
 * The rows of a long list that are drawn: those in the seen part of its own scroll area.
 * @param rowPx the height of every row
 */
export function useSlice(count: number, rowPx: number) {
  const [seen, setSeen] = useState({ topPx: 0, heightPx: 800 })
  const isLong = count > ALL_UP_TO
  const first = isLong ? Math.max(0, Math.min(count - 1, Math.floor(seen.topPx / rowPx) - SPARE)) : 0
  const end = isLong ? Math.min(count, Math.ceil((seen.topPx + seen.heightPx) / rowPx) + SPARE) : count
  return {
    isLong,
    first,
    end,
    beforePx: first * rowPx,
    afterPx: (count - end) * rowPx,
    onScroll: ({ currentTarget: { scrollTop, clientHeight } }: UIEvent<HTMLElement>) =>
      setSeen({ topPx: scrollTop, heightPx: clientHeight }),
  }
}
