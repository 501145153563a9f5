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

  const read = useEffectEvent(async (signal: AbortSignal) => {
    const known = [...tail.lines, ...tail.waiting]
    const newest = tail.waiting.at(-1) ?? tail.lines[0]
    const from = askFrom(newest, Date.now())
    try {
      const page = await readNewLines(projectId, filters, from, signal)
      const isFirst = lastReadMs.current === 0
      const now = performance.now()
      const taken = takeNew(known, page, from, isFirst ? Infinity : now - lastReadMs.current)
      lastReadMs.current = now
      dispatch({
        kind: 'took',
        fresh: taken.fresh.toReversed(),
        perSecond: taken.perSecond,
        left: isFirst ? 0 : taken.left,
      })
    } catch {
      if (!signal.aborted) dispatch({ kind: 'failed' })
    }
  })
  useEffect(() => {
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const next = async () => {
      if (document.visibilityState === 'visible') await read(stop.signal)
      if (!stop.signal.aborted) timer = setTimeout(() => void next(), READ_MS)
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
