import { ChartReader, round, vars } from './chart-reader.tsx'
import { lineAxis, linePath, type Band } from './line-shapes.ts'

export type ChartLine = {
  label: string
  /** Class of its colour: `l0`… */
  tone: string
  /** One per place; null is a gap. */
  values: readonly (number | null)[]
}

type LineChartProps = {
  /** A sentence that states the finding. */
  label: string
  heightPx: number
  lines: readonly ChartLine[]
  /** Names of the places, as many as the longest line can have. */
  places: readonly string[]
  xLabels: readonly string[]
  /** Stretches of values that mean something, with the word for it. */
  bands: readonly (Band & { label: string; tone: 'warn' | 'bad' })[]
  formatTick: (value: number) => string
  formatValue: (value: number | null) => string
}

/** Share of the height, in percent, under which a band has no room for its word. */
const LEAST_LABELLED = 9

/** Lines over places, with bands behind them. The first line carries its newest value. */
export function LineChart(props: LineChartProps) {
  const { label, heightPx, lines, places, xLabels, bands, formatTick, formatValue } = props
  const length = places.length
  const axis = lineAxis(lines.flatMap((line) => line.values))
  const y = (value: number): number => ((value - axis.low) / (axis.high - axis.low)) * 100
  const x = (index: number): number => (length <= 1 ? 0 : index / (length - 1))
  const shown = bands.flatMap((band) => {
    const [from, to] = [Math.max(axis.low, band.from), Math.min(axis.high, band.to)]
    return from < to ? [{ ...band, from, to }] : []
  })
  const end = endOf(lines[0])
  const text = (index: number) =>
    `${places[index] ?? ''}: ${lines.map((line) => `${line.label} ${formatValue(line.values[index] ?? null)}`).join(', ')}`
  return (
    <div className="plot" style={vars({ '--h': `${heightPx}px` })}>
      <div className="y" aria-hidden="true">
        {axis.ticks.map((tick) => (
          <span key={tick} style={vars({ '--y': `${round(y(tick))}%` })}>
            {formatTick(tick)}
          </span>
        ))}
      </div>
      <div className="field">
        <svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label={label}>
          {shown.map((band) => (
            <rect
              key={band.label}
              className={`band-${band.tone}`}
              x="0"
              width="1000"
              y={round(100 - y(band.to))}
              height={round(y(band.to) - y(band.from))}
            />
          ))}
          {axis.ticks.map((tick) => (
            <path key={tick} className="grid" d={`M0 ${round(100 - y(tick))}H1000`} />
          ))}
          {lines.toReversed().map((line) => (
            <path key={line.label} className={`ln ${line.tone}`} d={linePath(line.values, x, y)} />
          ))}
        </svg>
        {shown
          .filter((band) => y(band.to) - y(band.from) > LEAST_LABELLED)
          .map((band) => (
            <span
              key={band.label}
              className={`blabel blabel-${band.tone}`}
              style={vars({ '--y': `${round(y(band.from))}%` })}
              aria-hidden="true"
            >
              {band.label}
            </span>
          ))}
        {end === null ? null : (
          <span
            className={`pt ${lines[0]?.tone ?? ''}${x(end.index) > 0.8 ? ' pt-r' : ''}`}
            style={vars({ '--x': `${round(x(end.index) * 100)}%`, '--y': `${round(y(end.value))}%` })}
            aria-hidden="true"
          >
            <span>{formatValue(end.value)}</span>
          </span>
        )}
        <ChartReader length={length} at={x} words={text}>
          {(index) => (
            <>
              <b>{places[index]}</b>
              {lines.map((line) => (
                <span key={line.label}>
                  <i className={`k l ${line.tone}`} />
                  {line.label}
                  <span className="num">{formatValue(line.values[index] ?? null)}</span>
                </span>
              ))}
            </>
          )}
        </ChartReader>
      </div>
      <div className="x" aria-hidden="true">
        {xLabels.map((one, index) => (
          <span key={`${one}-${index}`}>{one}</span>
        ))}
      </div>
    </div>
  )
}

function endOf(line: ChartLine | undefined): { index: number; value: number } | null {
  if (line === undefined) return null
  const index = line.values.findLastIndex((value) => value !== null)
  const value = line.values[index] ?? null
  return value === null ? null : { index, value }
}
