import type { WriteStream } from 'node:tty'
import { sizeText } from './check-size.ts'

/** The lines of the command, with a bar below them on a terminal. */
export type Screen = {
  line(text: string): void
  /** A line on standard error. */
  error(text: string): void
  /** Shows how far the work is; nothing where no terminal is. */
  bar(done: number, total: number, what: string): void
}

type Output = Pick<WriteStream, 'write'> & { readonly isTTY?: boolean; readonly columns?: number }

const BAR_WIDTH = 30
/** Redrawing costs more than sending, otherwise. */
const REDRAW_MS = 100

export function createScreen(out: Output, errors: Output, now: () => number = () => performance.now()): Screen {
  let isDrawn = false
  let drawnAt = -Infinity
  const clear = (): void => {
    if (isDrawn) out.write('\r\u001B[2K')
    isDrawn = false
  }
  return {
    line(text) {
      clear()
      out.write(`${printable(text)}\n`)
    },
    error(text) {
      clear()
      errors.write(`faultline: ${printable(text)}\n`)
    },
    bar(done, total, what) {
      if (out.isTTY !== true || now() - drawnAt < REDRAW_MS) return
      drawnAt = now()
      const share = Math.min(1, done / Math.max(1, total))
      const filled = '#'.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, '.')
      const text = `[${filled}] ${sizeText(done)} of ${sizeText(total)}  ${printable(what)}`
      // A line that wraps would not be cleared. Some terminals say that they have no columns.
      const columns = out.columns === undefined || out.columns === 0 ? 80 : out.columns
      out.write(`\r\u001B[2K${text.slice(0, columns - 1)}`)
      isDrawn = true
    },
  }
}

/** Names of files and answers of servers must not control the terminal. */
const printable = (text: string): string => text.replace(/\p{Cc}/gu, ' ')
