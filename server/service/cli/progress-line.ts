const LINE_EVERY_MS = 10_000
/** Redrawing costs more than the work, otherwise. */
const REDRAW_MS = 100

/** A bar on a terminal, a line every ten seconds elsewhere. */
export function progressLine(): (done: number, total: number, what: string) => void {
  let shownMs = -Infinity
  return (done, total, what) => {
    const share = total === 0 ? 0 : Math.min(1, done / total)
    const percent = `${Math.floor(share * 100)} %`
    const sinceMs = performance.now() - shownMs
    if (process.stdout.isTTY) {
      if (share < 1 && sinceMs < REDRAW_MS) return
      shownMs = performance.now()
      const bar = '#'.repeat(Math.round(share * 30)).padEnd(30, '.')
      const columns = process.stdout.columns === 0 ? 80 : process.stdout.columns
      process.stdout.write(`\r\u001B[2K${`[${bar}] ${percent}  ${what}`.slice(0, columns - 1)}`)
      if (share === 1) process.stdout.write('\n')
      return
    }
    if (sinceMs < LINE_EVERY_MS) return
    shownMs = performance.now()
    console.log(`${percent}  ${what}`)
  }
}
