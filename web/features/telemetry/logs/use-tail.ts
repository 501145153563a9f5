import { serviceNow } from '../../../ui/clock.ts'
import { useEffect, useEffectEvent, useReducer, useRef } from 'react'
import { readNewLines, type LogFilters, type LogLine } from '../../../api/log-queries.ts'
import { addLines, askFrom, BATCH_MS, batchSize, takeNew } from './model.ts'

/** Lines that arrive while one looks. */

type Tail = {
  readonly lines: readonly LogLine[]
  /** Read, and not shown yet: oldest first. */
  readonly waiting: readonly LogLine[]
  readonly perSecond: number
  /** Lines that were too many for an answer. */
  readonly left: number
  readonly isFailing: boolean
}

type Step =
  | { readonly kind: 'took'; readonly fresh: readonly LogLine[]; readonly perSecond: number; readonly left: number }
  | { readonly kind: 'show'; readonly all?: boolean }
  | { readonly kind: 'failed' }

const EMPTY: Tail = { lines: [], waiting: [], perSecond: 0, left: 0, isFailing: false }
const READ_MS = 1_000
/** While reads fail, they become rarer up to this. */
const MAX_READ_MS = 30_000
/** Lines that wait while one reads; older ones go. */
const MAX_WAITING = 1_000

function reduce(tail: Tail, step: Step): Tail {
  switch (step.kind) {
    case 'took':
      return {
        ...tail,
        waiting: [...tail.waiting, ...step.fresh].slice(-MAX_WAITING),
        perSecond: step.perSecond,
        left: tail.left + step.left,
        isFailing: false,
      }
    case 'show': {
      if (tail.waiting.length === 0) return tail
      const size = step.all === true ? tail.waiting.length : batchSize(tail.waiting.length, tail.perSecond)
      return { ...tail, lines: addLines(tail.lines, tail.waiting.slice(0, size)), waiting: tail.waiting.slice(size) }
    }
    case 'failed':
      return { ...tail, isFailing: true }
  }
}

/**
 * Follows the newest lines. Remount it when the filters change.
 * @param isHeld whether new lines wait instead of being shown
 */
export function useTail(projectId: string, filters: LogFilters, isHeld: boolean) {
  const [tail, dispatch] = useReducer(reduce, EMPTY)
  const lastReadMs = useRef(0)
  /** Lines that were too many for an answer, with the time of the oldest that fitted: they are older. */
  const leftOut = useRef<readonly { readonly before: string; readonly count: number }[]>([])

  const read = useEffectEvent(async (signal: AbortSignal) => {
    const known = [...tail.lines, ...tail.waiting]
    const newest = tail.waiting.at(-1) ?? tail.lines[0]
    const from = askFrom(newest, serviceNow())
    try {
      const page = await readNewLines(projectId, filters, from, signal)
      const isFirst = lastReadMs.current === 0
      const now = performance.now()
      const still = leftOut.current.filter(({ before }) => before >= from)
      const leftBefore = still.reduce((sum, { count }) => sum + count, 0)
      const taken = takeNew(known, page, from, isFirst ? Infinity : now - lastReadMs.current, leftBefore)
      lastReadMs.current = now
      leftOut.current =
        taken.left === 0 ? still : [...still, { before: page.items.at(-1)?.occurred_at ?? from, count: taken.left }]
      dispatch({
        kind: 'took',
        fresh: taken.fresh.toReversed(),
        perSecond: taken.perSecond,
        left: isFirst ? 0 : taken.left,
      })
      return true
    } catch {
      if (!signal.aborted) dispatch({ kind: 'failed' })
      return false
    }
  })
  useEffect(() => {
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let waitMs = READ_MS
    const next = async () => {
      if (document.visibilityState === 'visible')
        waitMs = (await read(stop.signal)) ? READ_MS : Math.min(MAX_READ_MS, 2 * waitMs)
      if (!stop.signal.aborted) timer = setTimeout(() => void next(), waitMs)
    }
    void next()
    return () => {
      stop.abort()
      clearTimeout(timer)
    }
  }, [])

  const isWaiting = tail.waiting.length > 0
  useEffect(() => {
    if (isHeld || !isWaiting) return
    const timer = setInterval(() => dispatch({ kind: 'show' }), BATCH_MS)
    return () => clearInterval(timer)
  }, [isHeld, isWaiting])

  return { ...tail, showAll: () => dispatch({ kind: 'show', all: true }) }
}
