import { useState, type KeyboardEvent, type PointerEvent } from 'react'

/** First and last position, inclusive. */
export type Buckets = readonly [from: number, to: number]

/** Selection of a range: by dragging, or by Shift with the arrow keys and Enter. */
export type BarChoice = {
  /** The selected range; null for all. */
  chosen: Buckets | null
  onChoose: (buckets: Buckets | null) => void
  /** The time of a range as text. */
  label: (buckets: Buckets) => string
}

/** A shorter movement is no drag. */
const DRAG_PX = 4

type Drag = { startPx: number; anchor: number; to: number; far: boolean; byKeys: boolean }

const ordered = ({ anchor, to }: Pick<Drag, 'anchor' | 'to'>): Buckets => [Math.min(anchor, to), Math.max(anchor, to)]

/**
 * Reads one position by pointer and arrow keys, and selects a range where the chart allows it.
 * @param at where a position is: 0 at the start of the plot, 1 at its end
 */
export function useChartReading(length: number, at: (index: number) => number, choice: BarChoice | undefined) {
  const [read, setRead] = useState<number | null>(null)
  const [drag, setDrag] = useState<Drag | null>(null)
  const marked = drag === null || !drag.far ? null : ordered(drag)

  const clamp = (index: number): number => Math.min(length - 1, Math.max(0, index))
  const nearest = (event: PointerEvent<HTMLElement>): number => {
    const box = event.currentTarget.getBoundingClientRect()
    const wanted = (event.clientX - box.left) / box.width
    let best = 0
    for (let index = 1; index < length; index++)
      if (Math.abs(at(index) - wanted) < Math.abs(at(best) - wanted)) best = index
    return best
  }
  const stop = () => {
    setRead(null)
    setDrag(null)
  }

  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    if (choice === undefined || event.button !== 0 || length === 0) return
    // The drag must not select text beside the chart.
    event.preventDefault()
    event.currentTarget.setPointerCapture(event.pointerId)
    const anchor = nearest(event)
    setDrag({ startPx: event.clientX, anchor, to: anchor, far: false, byKeys: false })
  }
  const onPointerMove = (event: PointerEvent<HTMLElement>) => {
    // The page may move below a pointer that rests, while the keys select.
    if (length === 0 || drag?.byKeys === true) return
    const to = nearest(event)
    setRead(to)
    setDrag((before) =>
      before === null
        ? before
        : { ...before, to, far: before.far || Math.abs(event.clientX - before.startPx) >= DRAG_PX },
    )
  }
  const onPointerUp = () => {
    if (drag === null || drag.byKeys) return
    setDrag(null)
    if (drag.far) choice?.onChoose(ordered(drag))
  }
  const onPointerLeave = () => {
    // Captured, because a dragged pointer may leave the chart.
    if (drag === null || drag.byKeys) setRead(null)
  }

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey || length === 0) return
    const take = () => {
      event.preventDefault()
      event.stopPropagation()
    }
    if (event.key === 'Escape' && (drag !== null || read !== null)) {
      take()
      stop()
      return
    }
    if (event.key === 'Escape' && choice !== undefined && choice.chosen !== null) {
      take()
      choice.onChoose(null)
      return
    }
    if (event.key === 'Enter' && choice !== undefined && read !== null) {
      take()
      choice.onChoose(marked ?? [read, read])
      stop()
      return
    }
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    take()
    const next = read === null ? (step > 0 ? 0 : length - 1) : clamp(read + step)
    setRead(next)
    if (choice === undefined || !event.shiftKey) setDrag(null)
    else setDrag({ startPx: 0, anchor: drag?.anchor ?? read ?? next, to: next, far: true, byKeys: true })
  }

  return {
    read: read === null || length === 0 ? null : Math.min(read, length - 1),
    marked,
    handlers: {
      onPointerDown,
      onPointerMove,
      onPointerUp,
      onPointerCancel: stop,
      onPointerLeave,
      onBlur: stop,
      onKeyDown,
    },
  }
}
