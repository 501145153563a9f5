import { useState, type CSSProperties, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react'
import { kit } from './texts.ts'

/** Custom properties travel through the style object; React sets them one by one, so no policy is touched. */
export const vars = (values: Record<`--${string}`, string>): CSSProperties => values

export const round = (value: number): number => Math.round(value * 100) / 100

type ChartReaderProps = {
  /** How many places can be read. */
  length: number
  /** Where a place lies, 0 at the start of the field and 1 at its end. */
  at: (index: number) => number
  /** The values of a place in words, for whoever hears them. */
  words: (index: number) => string
  /** The same in a box beside the line. */
  children: (index: number) => ReactNode
}

/** One line and one box that read a chart at a place: the pointer and the arrow keys move it, Escape puts it away. */
export function ChartReader({ length, at, words, children }: ChartReaderProps) {
  const [read, setRead] = useState<number | null>(null)
  const shown = read === null ? null : Math.min(read, length - 1)

  const byPointer = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    const wanted = (event.clientX - box.left) / box.width
    let nearest = 0
    for (let index = 1; index < length; index++)
      if (Math.abs(at(index) - wanted) < Math.abs(at(nearest) - wanted)) nearest = index
    setRead(nearest)
  }
  const byKey = (event: KeyboardEvent<HTMLElement>) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (event.key === 'Escape') setRead(null)
    if (step === 0 || length === 0) return
    event.preventDefault()
    event.stopPropagation()
    setRead((index) => Math.min(length - 1, Math.max(0, index === null ? (step > 0 ? 0 : length - 1) : index + step)))
  }

  return (
    <>
      <span
        className="reader"
        role="slider"
        tabIndex={0}
        aria-label={kit.readValues}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, length - 1)}
        aria-valuenow={shown ?? 0}
        aria-valuetext={shown === null ? kit.nothingRead : words(shown)}
        onPointerMove={byPointer}
        onPointerLeave={() => setRead(null)}
        onBlur={() => setRead(null)}
        onKeyDown={byKey}
      />
      {shown === null ? null : <Reading at={at(shown) * 100}>{children(shown)}</Reading>}
    </>
  )
}

function Reading({ at, children }: { at: number; children: ReactNode }) {
  const style =
    at > 60
      ? { insetInlineStart: 'auto', insetInlineEnd: `calc(${round(100 - at)}% + 12px)` }
      : vars({ '--x': `${round(at)}%` })
  return (
    <>
      <span className="hoverline" style={vars({ '--x': `${round(at)}%` })} />
      <span className="tip" style={style} aria-hidden="true">
        {children}
      </span>
    </>
  )
}
